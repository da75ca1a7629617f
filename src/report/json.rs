//! How JSON is written: compact, but each member of the document and each element of its lists on a line of its own, so
//! that a report of a large store can be searched, compared and paged. Never built whole in memory.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use super::sanitize::is_active;

/// Writes a document, then a line feed.
///
/// # Errors
/// Whatever the writer says.
pub fn document<W: Write>(mut writer: W, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut writer, Rows::of(1)))?;
    writer.write_all(b"\n")
}

/// Writes a document in which the object at this depth (the document itself is 1) is the one whose members and list
/// elements stand on lines of their own.
///
/// # Errors
/// Whatever the writer says.
pub fn nested<W: Write>(mut writer: W, value: &impl Serialize, depth: usize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut writer, Rows::of(depth)))?;
    writer.write_all(b"\n")
}

/// Writes a list, each element on a line of its own, then a line feed.
///
/// # Errors
/// Whatever the writer says.
pub fn rows<W: Write>(mut writer: W, values: &[impl Serialize]) -> io::Result<()> {
    // One deeper than it is: as if it were a member of a document.
    values.serialize(&mut Serializer::with_formatter(&mut writer, Rows { depth: 1, at: 1 }))?;
    writer.write_all(b"\n")
}

/// Writes a value on one line, then a line feed.
///
/// # Errors
/// Whatever the writer says.
pub fn line<W: Write>(mut writer: W, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut writer, OneLine))?;
    writer.write_all(b"\n")
}

/// Characters that a terminal would act on become escapes: the same JSON value, harmless in any log.
fn fragment<W: Write + ?Sized>(writer: &mut W, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = rest.find(is_active) {
        let (plain, tail) = rest.split_at(at);
        writer.write_all(plain.as_bytes())?;
        let mut chars = tail.chars();
        if let Some(c) = chars.next() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        rest = chars.as_str();
    }
    writer.write_all(rest.as_bytes())
}

/// One line, whatever it holds.
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        fragment(writer, text)
    }
}

/// Members of the object at depth `at` and elements of its lists on lines of their own.
struct Rows {
    depth: usize,
    at: usize,
}

impl Rows {
    fn of(at: usize) -> Self {
        Rows { depth: 0, at }
    }

    fn separate<W: Write + ?Sized>(&self, writer: &mut W, first: bool, depth: usize) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth == depth { writer.write_all(b"\n") } else { Ok(()) }
    }
}

impl Formatter for Rows {
    fn begin_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        CompactFormatter.begin_object(writer)
    }

    fn end_object<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.depth + 1 == self.at {
            writer.write_all(b"\n")?;
        }
        CompactFormatter.end_object(writer)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.separate(writer, first, self.at)
    }

    fn begin_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        CompactFormatter.begin_array(writer)
    }

    fn end_array<W: Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        CompactFormatter.end_array(writer)
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.separate(writer, first, self.at + 1)
    }

    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        fragment(writer, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(value: &serde_json::Value) -> String {
        let mut bytes = Vec::new();
        document(&mut bytes, value).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn elements_of_lists_stand_on_lines_of_their_own() {
        assert_eq!(
            written(&json!({"a": 1, "b": [{"c": [1, 2]}, 2], "d": {"e": []}})),
            "{\n\"a\":1,\n\"b\":[\n{\"c\":[1,2]},\n2],\n\"d\":{\"e\":[]}\n}\n"
        );
    }

    #[test]
    fn active_characters_become_escapes_of_the_same_value() {
        let value = json!({"a\u{202e}": "x\u{9b}y\u{e0001}\u{7f}\n"});
        let text = written(&value);
        assert!(!text.trim_end().chars().any(|c| is_active(c) && c != '\n'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
