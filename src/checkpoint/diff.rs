//! A difference, applied as the agent applies it, and checked as the agent does not.
//!
//! Its operations carry every line they keep, remove or add, but sid-code 3f3215144f68 uses of `keep` and `remove` only
//! how many lines there are: on another base it makes a text that never was, in silence, and a line past the end of the
//! base becomes an empty one. Because all lines are carried, a difference also tells by itself what the whole text was,
//! with no base at all: that is the truth against which the agent's moves are measured.

use super::text::js_string;
use crate::record::json::{Bad, Grammar, Kind, Reader, Scratch, Str, Why};

/// How a difference does not fit its base.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Misfit {
    /// A line that it keeps is another line in the base.
    Keep,
    /// A line that it removes is another line in the base.
    Remove,
    /// It keeps or removes lines past the end of the base.
    PastEnd,
    /// Lines of the base are left over when it ends.
    LeftOver,
}

impl Misfit {
    /// A few words, for a report.
    pub fn words(self) -> &'static str {
        match self {
            Misfit::Keep => "keeps a line that the base has not",
            Misfit::Remove => "removes a line that the base has not",
            Misfit::PastEnd => "goes past the end of the base",
            Misfit::LeftOver => "ends before the base does",
        }
    }
}

/// What a difference makes.
#[derive(Debug)]
pub(super) struct Applied {
    /// The text as the agent makes it; without a base, the text that the difference carries. In WTF-8.
    pub(super) text: Vec<u8>,
    /// The first place where it does not fit: its offset in the operations, its length.
    pub(super) misfit: Option<(Misfit, usize, usize)>,
    /// Whether each kept line is the base's: then the text is also what the difference carries.
    pub(super) own: bool,
}

/// Reused from one difference to the next.
#[derive(Default)]
pub(super) struct Memory {
    json: Scratch,
    lines: Vec<Line>,
}

/// A line of an operation: none for an element that is no string, with its place.
struct Line {
    text: Str,
    string: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Keep,
    Add,
    Remove,
    Other,
}

/// Applies the operations `ops` (an array in JSON) to a base, or reads the text that they carry when there is none.
/// Nothing when they have a shape at which the agent throws.
pub(super) fn apply(base: Option<&[u8]>, ops: &[u8], memory: &mut Memory) -> Option<Applied> {
    let Memory { json, lines } = memory;
    let mut reader = Reader::new(ops, Grammar::default(), json);
    let mut work = Work {
        base: base.map(|text| Lines { text, next: Some(0) }),
        out: Vec::with_capacity(base.map_or(ops.len() / 2, <[u8]>::len) + 1024),
        first: true,
        misfit: None,
        own: true,
    };
    let broken = |reader: &Reader<'_, '_>| Bad { at: reader.position(), why: Why::Unexpected };
    let read = reader.array(|reader| {
        match reader.peek()? {
            Kind::Object => {}
            Kind::Null => return Err(broken(reader)),
            // `type` of a number or a word is undefined, and the agent passes over it.
            _ => return reader.skip().map(drop),
        }
        let mut op = Op::Other;
        let mut listed = false;
        lines.clear();
        reader.object(|reader, key| {
            match &*js_string(reader.raw(key)) {
                b"type" => {
                    op = Op::Other;
                    if reader.peek()? == Kind::String {
                        let s = reader.string()?;
                        op = match &*js_string(reader.raw(s)) {
                            b"keep" => Op::Keep,
                            b"add" => Op::Add,
                            b"remove" => Op::Remove,
                            _ => Op::Other,
                        };
                        return Ok(());
                    }
                }
                b"lines" => {
                    lines.clear();
                    listed = reader.peek()? == Kind::Array;
                    if listed {
                        return reader.array(|reader| line(reader, lines));
                    }
                }
                _ => {}
            }
            reader.skip().map(drop)
        })?;
        if op != Op::Other && !listed {
            return Err(broken(reader));
        }
        work.run(op, lines, ops);
        Ok(())
    });
    read.ok()?;
    if work.misfit.is_none() && ops_left(&work) {
        work.misfit = Some((Misfit::LeftOver, 0, ops.len()));
    }
    Some(Applied { text: work.out, misfit: work.misfit, own: work.own })
}

fn ops_left(work: &Work<'_>) -> bool {
    work.base.as_ref().is_some_and(|base| base.next.is_some())
}

fn line(reader: &mut Reader<'_, '_>, lines: &mut Vec<Line>) -> Result<(), Bad> {
    if reader.peek()? == Kind::String {
        let text = reader.string()?;
        lines.push(Line { text, string: true });
    } else {
        let (start, end) = reader.skip()?;
        lines.push(Line { text: Str { start, end, escaped: false }, string: false });
    }
    Ok(())
}

struct Work<'b> {
    base: Option<Lines<'b>>,
    out: Vec<u8>,
    first: bool,
    misfit: Option<(Misfit, usize, usize)>,
    own: bool,
}

impl Work<'_> {
    fn run(&mut self, op: Op, lines: &[Line], ops: &[u8]) {
        if op == Op::Other {
            return;
        }
        for line in lines {
            let raw = ops.get(line.text.start..line.text.end).unwrap_or_default();
            let held = if op == Op::Add { None } else { self.base.as_mut().map(Lines::take) };
            match (op, held) {
                (Op::Add, _) | (Op::Keep, None) => {
                    self.line_feed();
                    if line.string {
                        self.out.extend_from_slice(&js_string(raw));
                    } else if raw != b"null" {
                        // `join` writes nothing for null, and the value's own word for a number or a flag.
                        self.out.extend_from_slice(raw);
                    }
                }
                (Op::Remove | Op::Other, None) => {}
                (_, Some(held)) => {
                    let same = held.is_some_and(|held| line.string && same(raw, held));
                    if op == Op::Keep {
                        self.line_feed();
                        self.out.extend_from_slice(held.unwrap_or_default());
                        self.own &= same;
                    }
                    if !same && self.misfit.is_none() {
                        let how = match (held, op) {
                            (None, _) => Misfit::PastEnd,
                            (Some(_), Op::Keep) => Misfit::Keep,
                            (Some(_), _) => Misfit::Remove,
                        };
                        self.misfit = Some((how, line.text.start, line.text.end - line.text.start));
                    }
                }
            }
        }
    }

    fn line_feed(&mut self) {
        if !self.first {
            self.out.push(b'\n');
        }
        self.first = false;
    }
}

/// The lines of a text as `split("\n")` has them: one more than there are line feeds.
struct Lines<'b> {
    text: &'b [u8],
    next: Option<usize>,
}

impl<'b> Lines<'b> {
    fn take(&mut self) -> Option<&'b [u8]> {
        let rest = self.text.get(self.next?..)?;
        match memchr::memchr(b'\n', rest) {
            Some(end) => {
                self.next = self.next.map(|n| n + end + 1);
                rest.get(..end)
            }
            None => {
                self.next = None;
                Some(rest)
            }
        }
    }
}

/// Whether a string of the file is this line, without decoding it where that can be helped.
fn same(raw: &[u8], line: &[u8]) -> bool {
    if raw == line {
        return true;
    }
    let (mut at, mut to) = (0, 0);
    while let Some(&byte) = raw.get(at) {
        let (meant, step) = match (byte, raw.get(at + 1)) {
            (b'\\', Some(b'n')) => (b'\n', 2),
            (b'\\', Some(b't')) => (b'\t', 2),
            (b'\\', Some(b'r')) => (b'\r', 2),
            (b'\\', Some(b'b')) => (8, 2),
            (b'\\', Some(b'f')) => (12, 2),
            (b'\\', Some(b'u')) => return *js_string(raw) == *line,
            (b'\\', Some(&other)) => (other, 2),
            _ => (byte, 1),
        };
        if line.get(to) != Some(&meant) {
            // Bytes that are no UTF-8 were replaced when the base was read.
            return simdutf8::basic::from_utf8(raw).is_err() && *js_string(raw) == *line;
        }
        at += step;
        to += 1;
    }
    to == line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(base: Option<&str>, ops: &str) -> Option<(String, Option<Misfit>, bool)> {
        let applied = apply(base.map(str::as_bytes), ops.as_bytes(), &mut Memory::default())?;
        let text = String::from_utf8(applied.text).unwrap();
        Some((text, applied.misfit.map(|(how, ..)| how), applied.own))
    }

    #[test]
    fn lines_are_taken_by_count() {
        let ops = r#"[{"type":"keep","lines":["a"]},{"type":"remove","lines":["b"]},{"type":"add","lines":["\u0042\t"]},
            {"type":"keep","lines":["c\u00e9",""]}]"#;
        let good = Some(("a\nB\t\nc\u{e9}\n".to_owned(), None, true));
        assert_eq!(run(Some("a\nb\nc\u{e9}\n"), ops), good);
        assert_eq!(run(None, ops), good);
        assert_eq!(run(Some("x\nb\nc\u{e9}\n"), ops).unwrap().1, Some(Misfit::Keep));
        assert_eq!(run(Some("a\nx\nc\u{e9}\n"), ops), Some(("a\nB\t\nc\u{e9}\n".into(), Some(Misfit::Remove), true)));
        assert_eq!(run(Some("a\nb"), ops), Some(("a\nB\t\n\n".into(), Some(Misfit::PastEnd), false)));
        assert_eq!(run(Some("a\nb\nc\u{e9}\n\nmore"), ops).unwrap().1, Some(Misfit::LeftOver));
    }

    #[test]
    fn odd_shapes_are_taken_as_the_agent_takes_them() {
        assert_eq!(run(Some("a"), "[]"), Some((String::new(), Some(Misfit::LeftOver), true)));
        assert_eq!(
            run(Some("a"), r#"[7,"keep",{"type":"move","lines":["x"]},{"type":"keep","lines":["a"]}]"#),
            Some(("a".into(), None, true))
        );
        assert_eq!(
            run(Some("a"), r#"[{"type":"add","lines":[null,1,true]},{"lines":["a"],"type":"keep"}]"#).unwrap().0,
            "\n1\ntrue\na"
        );
        for throws in ["[null]", r#"[{"type":"keep"}]"#, r#"[{"type":"add","lines":null}]"#, "{}", "[", "7"] {
            assert_eq!(run(Some("a"), throws), None, "{throws}");
        }
    }
}
