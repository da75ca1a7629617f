//! Why a line cannot be read: what whole records and what fragments it is made of.

use super::agent::Records;
use super::json::{Kind, Reader, Scratch};

/// What explains a line that the loader's parser refuses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum BadKind {
    /// The unterminated last line is no whole record.
    Torn,
    /// A fragment and at least one whole record.
    Spliced,
    /// Two or more whole records.
    Glued,
    /// NUL bytes.
    Nul,
    /// One record broken by raw newlines; stands for all of its lines.
    Split,
    /// A byte order mark in front of a whole record.
    Marked,
    /// None of these.
    Unparsable,
    /// Longer than any loader can hold.
    TooLong,
}

/// A stretch of a damaged line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// First byte in the line.
    pub start: usize,
    /// Byte behind the last.
    pub end: usize,
    /// A whole record, else a fragment.
    pub whole: bool,
}

/// The UTF-8 byte order mark.
pub const BOM: &[u8] = b"\xef\xbb\xbf";

/// How often the bytes of one damaged line may be read again in search of whole records. Each start of an object is
/// tried; without a bound a line of a million openings would cost a million times its length.
const EFFORT: usize = 16;

/// Takes a damaged line apart.
pub fn segments(line: &[u8], agent: &dyn Records, scratch: &mut Scratch) -> Vec<Segment> {
    let mut found = Vec::new();
    let mut budget = line.len().saturating_mul(EFFORT).saturating_add(64 * 1024);
    let mut fragment = 0;
    let mut at = 0;
    while let Some(step) = memchr::memmem::find(&line[at..], b"{\"") {
        let start = at + step;
        match whole_record(line, start, agent, scratch, &mut budget) {
            Some(end) => {
                push_fragment(&mut found, line, fragment, start);
                found.push(Segment { start, end, whole: true });
                (fragment, at) = (end, end);
            }
            None => at = start + 1,
        }
        if budget == 0 {
            break;
        }
    }
    push_fragment(&mut found, line, fragment, line.len());
    found
}

fn push_fragment(found: &mut Vec<Segment>, line: &[u8], start: usize, end: usize) {
    let meaningless = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0);
    if !line[start..end].iter().all(meaningless) {
        found.push(Segment { start, end, whole: false });
    }
}

/// The end of a whole record that begins at `start`, when one does: an object with a `type` and one of the fields that
/// only records have, followed by the end, by white space or NULs, or by another object.
fn whole_record(
    line: &[u8],
    start: usize,
    agent: &dyn Records,
    scratch: &mut Scratch,
    budget: &mut usize,
) -> Option<usize> {
    let mut reader = Reader::new_at(line, start, agent.grammar(), scratch);
    let (mut typed, mut rooted) = (false, false);
    let read = reader.object(|reader, key| {
        let name = reader.raw(key);
        match name {
            b"type" => typed = reader.peek()? == Kind::String,
            _ => rooted |= agent.marks_record(name),
        }
        reader.skip().map(drop)
    });
    let end = match read {
        Ok(()) => reader.position(),
        Err(bad) => {
            *budget = budget.saturating_sub(bad.at.saturating_sub(start).max(1));
            return None;
        }
    };
    *budget = budget.saturating_sub(end - start);
    let next = line[end..].iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0));
    let follows = match next {
        None | Some(b'{') => true,
        Some(_) => false,
    };
    (typed && rooted && follows).then_some(end)
}

/// What explains the line, from its parts.
pub fn kind(line: &[u8], parts: &[Segment], terminated: bool) -> BadKind {
    let whole = parts.iter().filter(|p| p.whole).count();
    let fragments = parts.len() - whole;
    if memchr::memchr(0, line).is_some() {
        return BadKind::Nul;
    }
    match (whole, fragments) {
        (1, 1)
            if line.starts_with(BOM) && parts.first() == Some(&Segment { start: 0, end: BOM.len(), whole: false }) =>
        {
            BadKind::Marked
        }
        (1.., 1..) => BadKind::Spliced,
        (1.., 0) => BadKind::Glued,
        (0, _) if terminated => BadKind::Unparsable,
        (0, _) => BadKind::Torn,
    }
}

/// How many lines are joined at most in search of a record that raw newlines broke.
const JOINED: usize = 64;

/// How many of the first lines of `lines`, joined by an escaped newline, make one whole record; none when they do not.
/// A tool's output of some thousand lines written raw is not searched for: it costs the square of its length.
pub fn joined(lines: &[&[u8]], agent: &dyn Records, scratch: &mut Scratch) -> Option<usize> {
    let first = lines.first()?;
    if !first.starts_with(b"{") {
        return None;
    }
    let mut text = first.to_vec();
    for (n, next) in lines.iter().enumerate().skip(1).take(JOINED) {
        text.extend_from_slice(b"\\n");
        text.extend_from_slice(next);
        if next.ends_with(b"}") && whole_record(&text, 0, agent, scratch, &mut usize::MAX.clone()) == Some(text.len()) {
            return Some(n + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;

    fn agent() -> &'static dyn Records {
        agents::of(crate::agents::CLAUDE)
    }

    fn parts(line: &[u8]) -> (BadKind, Vec<(usize, usize, bool)>) {
        let parts = segments(line, agent(), &mut Scratch::default());
        (kind(line, &parts, true), parts.iter().map(|p| (p.start, p.end, p.whole)).collect())
    }

    #[test]
    fn parts_of_damaged_lines() {
        let whole = br#"{"type":"user","uuid":"u","message":{"content":[{"type":"text","text":"x"}]}}"#;
        let n = whole.len();
        assert_eq!(parts(&[&whole[..], whole].concat()), (BadKind::Glued, vec![(0, n, true), (n, 2 * n, true)]));
        let spliced = [&whole[..40], &whole[..60], whole].concat();
        assert_eq!(parts(&spliced), (BadKind::Spliced, vec![(0, 100, false), (100, 100 + n, true)]));
        assert_eq!(parts(&whole[..50]).0, BadKind::Unparsable);
        assert_eq!(parts(&[BOM, whole].concat()).0, BadKind::Marked);
        assert_eq!(parts(&[&[0; 9], &whole[..]].concat()).0, BadKind::Nul);
    }

    #[test]
    fn a_record_broken_by_a_raw_newline_joins() {
        let lines: [&[u8]; 3] = [br#"{"type":"user","uuid":"u","text":"a"#, b"b", br#"c"}"#];
        assert_eq!(joined(&lines, agent(), &mut Scratch::default()), Some(3));
        assert_eq!(joined(&lines[..2], agent(), &mut Scratch::default()), None);
    }

    #[test]
    fn a_line_of_openings_costs_a_bounded_effort() {
        let line = b"{\"".repeat(200_000);
        assert_eq!(parts(&line).0, BadKind::Unparsable);
    }
}
