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
    let mut work = Work::new(base, ops);
    if Walk::new(ops).run(&mut work).is_none() {
        work = Work::new(base, ops);
        read(ops, &mut work, memory)?;
    }
    if work.misfit.is_none() && work.base.as_ref().is_some_and(|base| base.next.is_some()) {
        work.misfit = Some((Misfit::LeftOver, 0, ops.len()));
    }
    Some(Applied { text: work.out, misfit: work.misfit, own: work.own })
}

/// Reads operations of any shape.
fn read(ops: &[u8], work: &mut Work<'_>, memory: &mut Memory) -> Option<()> {
    let Memory { json, lines } = memory;
    let mut reader = Reader::new(ops, Grammar::default(), json);
    let broken = |reader: &Reader<'_, '_>| Bad { at: reader.position(), why: Why::Unexpected };
    let done = reader.array(|reader| {
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
        for line in lines.iter().filter(|_| op != Op::Other) {
            work.line(op, ops, line.text.start, line.text.end, line.string);
        }
        Ok(())
    });
    done.ok()
}

fn line(reader: &mut Reader<'_, '_>, lines: &mut Vec<Line>) -> Result<(), Bad> {
    // Nearly every element is a string, and the text was found to be JSON before.
    let line = match reader.string() {
        Ok(text) => Line { text, string: true },
        Err(_) => {
            let (start, end) = reader.skip()?;
            Line { text: Str { start, end, escaped: false }, string: false }
        }
    };
    lines.push(line);
    Ok(())
}

struct Work<'b> {
    base: Option<Lines<'b>>,
    out: Vec<u8>,
    first: bool,
    misfit: Option<(Misfit, usize, usize)>,
    own: bool,
}

impl<'b> Work<'b> {
    fn new(base: Option<&'b [u8]>, ops: &[u8]) -> Self {
        Work {
            base: base.map(|text| Lines { text, next: Some(0) }),
            out: Vec::with_capacity(base.map_or(ops.len() / 2, <[u8]>::len) + 1024),
            first: true,
            misfit: None,
            own: true,
        }
    }

    /// One line of an operation, which stands at `start..end`: of a string without its quotes.
    fn line(&mut self, op: Op, ops: &[u8], start: usize, end: usize, string: bool) {
        let raw = ops.get(start..end).unwrap_or_default();
        let held = if op == Op::Add { None } else { self.base.as_mut().map(Lines::take) };
        match (op, held) {
            (Op::Add, _) | (Op::Keep, None) => {
                self.line_feed();
                if string {
                    self.out.extend_from_slice(&js_string(raw));
                } else if raw != b"null" {
                    // `join` writes nothing for null, and the value's own word for a number or a flag.
                    self.out.extend_from_slice(raw);
                }
            }
            (Op::Remove | Op::Other, None) => {}
            (_, Some(held)) => {
                let same = held.is_some_and(|held| string && same(raw, held));
                if op == Op::Keep {
                    self.keep(held.unwrap_or_default());
                    self.own &= same;
                }
                if !same && self.misfit.is_none() {
                    let how = match (held, op) {
                        (None, _) => Misfit::PastEnd,
                        (Some(_), Op::Keep) => Misfit::Keep,
                        (Some(_), _) => Misfit::Remove,
                    };
                    self.misfit = Some((how, start, end - start));
                }
            }
        }
    }

    fn keep(&mut self, line: &[u8]) {
        self.line_feed();
        self.out.extend_from_slice(line);
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
        let (line, next) = self.peek()?;
        self.next = next;
        Some(line)
    }

    /// The next line and where the one behind it begins.
    fn peek(&self) -> Option<(&'b [u8], Option<usize>)> {
        let at = self.next?;
        let rest = self.text.get(at..)?;
        match memchr::memchr(b'\n', rest) {
            Some(end) => Some((rest.get(..end)?, Some(at + end + 1))),
            None => Some((rest, None)),
        }
    }
}

/// Walks operations of the shape that the agent writes, `{"type": …, "lines": [strings]}` and nothing else; anything
/// else ends the walk, and the whole list is read the general way. The text was found to be JSON by the first pass, so
/// strings end where their quote is; most lines are kept, stand in the base as they stand here, and are only compared.
struct Walk<'o> {
    ops: &'o [u8],
    at: usize,
    /// What stood between two lines the last time: in one file it is always the same.
    between: &'o [u8],
}

impl<'o> Walk<'o> {
    fn new(ops: &'o [u8]) -> Self {
        Walk { ops, at: 0, between: b"" }
    }

    fn white(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.ops.get(self.at) {
            self.at += 1;
        }
    }

    /// Steps over white space and this byte; none when another one stands there.
    fn byte(&mut self, byte: u8) -> Option<()> {
        self.white();
        (self.ops.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    /// Steps over white space and this string.
    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.byte(b'"')?;
        let rest = self.ops.get(self.at..)?.strip_prefix(word)?;
        (rest.first() == Some(&b'"')).then(|| self.at += word.len() + 1)
    }

    fn run(mut self, work: &mut Work<'_>) -> Option<()> {
        self.byte(b'[')?;
        if self.byte(b']').is_some() {
            return Some(());
        }
        loop {
            self.byte(b'{')?;
            self.word(b"type")?;
            self.byte(b':')?;
            let at = self.at;
            let op =
                [(&b"keep"[..], Op::Keep), (b"add", Op::Add), (b"remove", Op::Remove)].into_iter().find(|(w, _)| {
                    self.at = at;
                    self.word(w).is_some()
                });
            let (_, op) = op?;
            self.byte(b',')?;
            self.word(b"lines")?;
            self.byte(b':')?;
            self.byte(b'[')?;
            self.white();
            if self.byte(b']').is_none() {
                self.lines(op, work)?;
            }
            self.byte(b'}')?;
            if self.byte(b']').is_some() {
                return Some(());
            }
            self.byte(b',')?;
        }
    }

    fn lines(&mut self, op: Op, work: &mut Work<'_>) -> Option<()> {
        loop {
            self.byte(b'"')?;
            if !self.kept(op, work) {
                let start = self.at;
                loop {
                    self.at += memchr::memchr2(b'"', b'\\', self.ops.get(self.at..)?)?;
                    match self.ops.get(self.at) {
                        Some(b'"') => break,
                        _ => self.at += 2,
                    }
                }
                work.line(op, self.ops, start, self.at, true);
                self.at += 1;
            }
            if !self.between.is_empty() && self.ops.get(self.at..)?.starts_with(self.between) {
                self.at += self.between.len();
                continue;
            }
            let end = self.at;
            self.white();
            match self.ops.get(self.at) {
                Some(b',') => {
                    self.at += 1;
                    self.white();
                    self.between = self.ops.get(end..self.at)?;
                }
                Some(b']') => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Steps over a line that is the next one of the base, letter by letter, and keeps or removes it.
    fn kept(&mut self, op: Op, work: &mut Work<'_>) -> bool {
        let Some((line, next)) = work.base.as_ref().filter(|_| op != Op::Add).and_then(Lines::peek) else {
            return false;
        };
        let rest = self.ops.get(self.at..).unwrap_or_default();
        // A quote would end the string and a backslash means something else there than here.
        let same = rest.get(line.len()) == Some(&b'"')
            && rest.starts_with(line)
            && memchr::memchr2(b'"', b'\\', line).is_none();
        if same {
            if let Some(base) = &mut work.base {
                base.next = next;
            }
            if op == Op::Keep {
                work.keep(line);
            }
            self.at += line.len() + 1;
        }
        same
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
