//! One value of a line that is known to be JSON, looked into without building a tree: for what is read a second time
//! (metadata, boundaries, a plan's spans). The last of several equal keys counts, as in JavaScript.

use std::borrow::Cow;

use super::json::{Grammar, Kind, Reader, Scratch, decode};
use crate::text::Text;

/// The bytes of one value and where they stand in their line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// The whole text that the value stands in.
    line: &'a [u8],
    /// First byte of the value.
    pub start: usize,
    /// Byte behind its last.
    pub end: usize,
}

impl<'a> Value<'a> {
    /// The value that a text is, or none when it is no JSON.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let mut scratch = Scratch::default();
        let mut reader = Reader::new(line, GRAMMAR, &mut scratch);
        let (start, end) = reader.skip().ok()?;
        reader.end().ok()?;
        Some(Value { line, start, end })
    }

    /// A value of which it is known where it stands in a text.
    pub fn standing(line: &'a [u8], (start, end): (usize, usize)) -> Option<Self> {
        line.get(start..end).map(|_| Value { line, start, end })
    }

    /// Its bytes.
    pub fn raw(&self) -> &'a [u8] {
        &self.line[self.start..self.end]
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self.line.get(self.start) {
            Some(b'"') => Kind::String,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'n') => Kind::Null,
            Some(b't') => Kind::True,
            Some(b'f') => Kind::False,
            _ => Kind::Number,
        }
    }

    /// Whether JavaScript takes it for true.
    pub fn truthy(&self) -> bool {
        match self.kind() {
            Kind::Null | Kind::False => false,
            Kind::Number => self.number().is_some_and(|n| n != 0.0 && !n.is_nan()),
            Kind::String => self.end - self.start > 2,
            Kind::True | Kind::Array | Kind::Object => true,
        }
    }

    /// The member of an object; none for other kinds and for a key that is not there.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        let mut found = None;
        self.each_member(|name, value| {
            if *name == *key.as_bytes() {
                found = Some(value);
            }
        });
        found
    }

    /// The member at the end of a path of keys.
    pub fn at(&self, path: &[&str]) -> Option<Value<'a>> {
        path.iter().try_fold(*self, |value, key| value.get(key))
    }

    /// Calls `f` with each member in file order, repeated keys included; nothing for other kinds.
    pub fn each_member(&self, mut f: impl FnMut(&[u8], Value<'a>)) {
        self.each_member_spanned(|key, _, value| f(key, value));
    }

    /// As [`Value::each_member`], with the place of the key's opening quote.
    pub fn each_member_spanned(&self, mut f: impl FnMut(&[u8], usize, Value<'a>)) {
        if self.kind() != Kind::Object {
            return;
        }
        let mut scratch = Scratch::default();
        let line = self.line;
        let mut reader = Reader::new_at(line, self.start, GRAMMAR, &mut scratch);
        // The text was checked before: an error cannot come, and would end the walk.
        let _ = reader.object(|reader, key| {
            let (start, end) = reader.skip()?;
            let name = &line[key.start..key.end];
            let name = if key.escaped { Cow::Owned(decode(name)) } else { Cow::Borrowed(name) };
            f(&name, key.start - 1, Value { line, start, end });
            Ok(())
        });
    }

    /// Its members in file order, the last of equal keys only.
    pub fn members(&self) -> Vec<(Text, Value<'a>)> {
        let mut all: Vec<(Text, Value<'a>)> = Vec::new();
        self.each_member(|name, value| {
            let name = Text::from(name);
            match all.iter_mut().find(|(n, _)| *n == name) {
                Some(slot) => slot.1 = value,
                None => all.push((name, value)),
            }
        });
        all
    }

    /// The elements of an array; none for other kinds.
    pub fn items(&self) -> Vec<Value<'a>> {
        let mut items = Vec::new();
        if self.kind() == Kind::Array {
            let mut scratch = Scratch::default();
            let line = self.line;
            let mut reader = Reader::new_at(line, self.start, GRAMMAR, &mut scratch);
            let _ = reader.array(|reader| {
                let (start, end) = reader.skip()?;
                items.push(Value { line, start, end });
                Ok(())
            });
        }
        items
    }

    /// A string's text in WTF-8.
    pub fn text(&self) -> Option<Text> {
        (self.kind() == Kind::String).then(|| Text::new(decode(&self.line[self.start + 1..self.end - 1])))
    }

    /// A string's text with U+FFFD for lone surrogates.
    pub fn string(&self) -> Option<String> {
        self.text().map(|t| t.lossy())
    }

    /// A number as JavaScript reads it.
    pub fn number(&self) -> Option<f64> {
        if self.kind() != Kind::Number {
            return None;
        }
        std::str::from_utf8(self.raw()).ok()?.parse().ok()
    }

    /// A whole number that is not negative.
    pub fn count(&self) -> Option<u64> {
        let n = self.number()?;
        (n >= 0.0 && n.fract() == 0.0 && n < 9e15).then_some(n as u64)
    }
}

/// What is looked into was judged before; the wider grammar reads both.
const GRAMMAR: Grammar = Grammar { python: true };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_keys_counts() {
        let value = Value::parse(br#" {"a":1,"b":{"c":["x\ud83d",2]},"a":3} "#).unwrap();
        assert_eq!(value.get("a").unwrap().count(), Some(3));
        let items = value.at(&["b", "c"]).unwrap().items();
        assert_eq!(items[0].string().unwrap(), "x\u{fffd}");
        assert_eq!(items[1].raw(), b"2");
        assert!(Value::parse(b"{\"a\":01}").is_none());
    }
}
