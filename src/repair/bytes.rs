//! Edits of the class `bytes`, and the replacements inside strings (L108, L109) that are of the class `content`: line
//! ends, separators, and fragments that are no record for any loader.

use std::collections::HashSet;
use std::io;

use super::edit::{Action, Edit};
use super::text::Splice;
use crate::finding::Fix;
use crate::record::damage::{self, BOM, BadKind, Segment};
use crate::record::facts::{BadLine, DefectKind, Kind};
use crate::record::json::Scratch;
use crate::record::value::Value;
use crate::session::Session;

/// The edits that answer one code of this class in a session.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn edits(session: &Session, code: &'static str) -> io::Result<Vec<Edit>> {
    match code {
        "L101" => bad_lines(session, code, &[BadKind::Torn]),
        "L102" => Ok(terminate(session)),
        "L103" => bad_lines(session, code, &[BadKind::Spliced]),
        "L104" => bad_lines(session, code, &[BadKind::Glued]),
        "L105" => bad_lines(session, code, &[BadKind::Nul]),
        "L106" => bad_lines(session, code, &[BadKind::Unparsable]),
        "L107" => bad_lines(session, code, &[BadKind::Split]),
        "L108" => invalid_utf8(session),
        "L109" => surrogates(session),
        "L110" => Ok(mark(session)),
        "L113" => Ok(not_objects(session)),
        "L114" => separators(session),
        _ => Ok(Vec::new()),
    }
}

fn bad_lines(session: &Session, code: &'static str, kinds: &[BadKind]) -> io::Result<Vec<Edit>> {
    let mut edits = Vec::new();
    for bad in session.facts.bad_lines.iter().filter(|b| kinds.contains(&b.kind)) {
        let bytes = session.source.read_range(bad.offset, bad.length)?;
        match bad.kind {
            BadKind::Split => edits.push(join(code, bad, &bytes)),
            BadKind::Torn => {
                edits.push(
                    Edit::quarantine(code, Fix::Bytes, Action::Quarantine, bad.offset, bad.length)
                        .reason("a cut record"),
                );
            }
            BadKind::Unparsable => {
                let whole = bad.length + u64::from(bad.terminated);
                edits.push(
                    Edit::quarantine(code, Fix::Bytes, Action::Quarantine, bad.offset, whole)
                        .reason("no record for any loader"),
                );
            }
            _ => edits.push(split(session, code, bad, &bytes)),
        }
    }
    Ok(edits)
}

/// Raw newlines inside a string become escaped ones; one that stands within an escape goes.
fn join(code: &'static str, bad: &BadLine, bytes: &[u8]) -> Edit {
    let splices = memchr::memchr_iter(b'\n', bytes)
        .map(|i| {
            let backslashes = bytes[..i].iter().rev().take_while(|b| **b == b'\\').count();
            let escape = matches!(bytes.get(i + 1), Some(b'b' | b'f' | b'n' | b'r' | b't' | b'/'));
            let at = bad.offset + i as u64;
            if backslashes % 2 == 1 && escape { Splice::remove(at, 1) } else { Splice::replace(at, 1, *b"\\n") }
        })
        .collect();
    Edit::new(code, Fix::Bytes, Action::Join, bad.offset, splices).reason("raw newlines inside a string")
}

/// A damaged line becomes its whole records, each on a line of its own; the fragments go to quarantine.
fn split(session: &Session, code: &'static str, bad: &BadLine, bytes: &[u8]) -> Edit {
    let mut scratch = Scratch::default();
    let action = if bad.kind == BadKind::Nul { Action::StripNuls } else { Action::Split };
    let mut edit = Edit::new(code, Fix::Bytes, action, bad.offset, Vec::new());
    let mut parts = damage::segments(bytes, session.agent, &mut scratch);
    if bad.kind == BadKind::Nul && !parts.iter().any(|p| p.whole) {
        // NULs inside a record: it is whole without them.
        let stripped: Vec<u8> = bytes.iter().copied().filter(|b| *b != 0).collect();
        if Value::parse(&stripped).is_some() {
            edit.splices = runs(bytes, 0)
                .map(|(start, end)| Splice::remove(bad.offset + start as u64, (end - start) as u64))
                .collect();
            return edit.reason("NUL bytes inside a record");
        }
    }
    // A copy of a record that also stands on a line of its own goes, or the repair would repeat its id.
    let own_line = |p: &Segment| {
        session.facts.hidden.iter().any(|h| {
            h.offset == bad.offset + p.start as u64
                && session.agent.is_node(h)
                && session.graph.find(h.id, &session.facts).is_some()
        })
    };
    for part in &mut parts {
        if part.whole && own_line(part) {
            part.whole = false;
        }
    }
    let kept: Vec<Segment> = parts.iter().copied().filter(|p| p.whole).collect();
    let mut quarantine = |start: usize, end: usize, inserted: &[u8]| {
        if end > start || !inserted.is_empty() {
            edit.splices.push(Splice::replace(bad.offset + start as u64, (end - start) as u64, inserted));
        }
        for part in parts.iter().filter(|p| !p.whole && p.start >= start && p.end <= end) {
            edit.quarantined.push((bad.offset + part.start as u64, (part.end - part.start) as u64));
        }
    };
    if kept.is_empty() {
        quarantine(0, bytes.len() + usize::from(bad.terminated), b"");
        return edit.reason("no whole record on the line");
    }
    let mut at = 0;
    for (n, part) in kept.iter().enumerate() {
        // Between two records stands one line feed, whatever was there.
        quarantine(at, part.start, if n == 0 { b"" } else { b"\n" });
        at = part.end;
    }
    quarantine(at, bytes.len(), if bad.terminated { b"" } else { b"\n" });
    let count = kept.len();
    edit.reason(format!("{count} whole record{} on the line", if count == 1 { "" } else { "s" }))
}

/// Runs of one byte value.
fn runs(bytes: &[u8], value: u8) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + memchr::memchr(value, &bytes[at..])?;
        let end = start + bytes[start..].iter().take_while(|b| **b == value).count();
        at = end;
        Some((start, end))
    })
}

fn terminate(session: &Session) -> Vec<Edit> {
    if session.facts.terminated {
        return Vec::new();
    }
    let end = session.source.size();
    let at = session.facts.records.last().map_or(end, |r| r.offset);
    vec![
        Edit::new("L102", Fix::Bytes, Action::Terminate, at, vec![Splice::insert(end, *b"\n")])
            .reason("the last record has no line feed"),
    ]
}

fn mark(session: &Session) -> Vec<Edit> {
    if !session.facts.bom {
        return Vec::new();
    }
    vec![Edit::quarantine("L110", Fix::Bytes, Action::StripMark, 0, BOM.len() as u64).reason("a byte order mark")]
}

fn not_objects(session: &Session) -> Vec<Edit> {
    let values = session.facts.records.iter().filter(|r| r.kind == Kind::NonObject);
    values
        .map(|r| {
            let length = u64::from(r.length);
            let feed = session.source.read_range(r.offset + length, 2).unwrap_or_default();
            let feed = match feed.as_slice() {
                [b'\n', ..] => 1,
                [b'\r', b'\n'] => 2,
                _ => 0,
            };
            Edit::quarantine("L113", Fix::Bytes, Action::Quarantine, r.offset, length + feed)
                .reason("a line that is no object")
        })
        .collect()
}

/// U+2028 and U+2029 become escapes, where the reader splits at them.
fn separators(session: &Session) -> io::Result<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut lines = session.source.lines();
    while let Some(line) = lines.next_line()? {
        let splices: Vec<Splice> = memchr::memchr_iter(0xe2, line.bytes)
            .filter_map(|i| match line.bytes.get(i + 1..i + 3)? {
                [0x80, 0xa8] => Some((i, &b"\\u2028"[..])),
                [0x80, 0xa9] => Some((i, &b"\\u2029"[..])),
                _ => None,
            })
            .map(|(i, escape)| Splice::replace(line.offset + i as u64, 3, escape))
            .collect();
        if !splices.is_empty() {
            edits.push(
                Edit::new("L114", Fix::Bytes, Action::Replace, line.offset, splices)
                    .reason("a raw line separator inside a string"),
            );
        }
    }
    Ok(edits)
}

/// Lines that no loader reads: what is inside them is not a string's.
fn bad_numbers(session: &Session) -> HashSet<u64> {
    session.facts.bad_lines.iter().map(|b| u64::from(b.line)).collect()
}

/// Each sequence of bytes that is not UTF-8 becomes the one U+FFFD that replacing loaders read.
fn invalid_utf8(session: &Session) -> io::Result<Vec<Edit>> {
    let bad = bad_numbers(session);
    let mut edits = Vec::new();
    let mut lines = session.source.lines();
    while let Some(line) = lines.next_line()? {
        if simdutf8::basic::from_utf8(line.bytes).is_ok() || bad.contains(&line.number) {
            continue;
        }
        let mut edit = Edit::new("L108", Fix::Content, Action::Replace, line.offset, Vec::new())
            .reason("bytes that are not UTF-8");
        let (mut at, mut rest) = (0, line.bytes);
        while let Err(bad) = std::str::from_utf8(rest) {
            let start = at + bad.valid_up_to();
            let length = bad.error_len().unwrap_or(rest.len() - bad.valid_up_to());
            let offset = line.offset + start as u64;
            edit.splices.push(Splice::replace(offset, length as u64, *b"\xef\xbf\xbd"));
            edit.quarantined.push((offset, length as u64));
            at = start + length;
            rest = &line.bytes[at..];
        }
        edits.push(edit);
    }
    Ok(edits)
}

/// Each lone half of a surrogate pair becomes `\ufffd`: as long as it was.
fn surrogates(session: &Session) -> io::Result<Vec<Edit>> {
    let listed = |k: DefectKind| session.facts.defect_counts.get(&k).copied().unwrap_or(0);
    if listed(DefectKind::HighSurrogate) + listed(DefectKind::LowSurrogate) == 0 {
        return Ok(Vec::new());
    }
    let bad = bad_numbers(session);
    let mut edits = Vec::new();
    let mut lines = session.source.lines();
    while let Some(line) = lines.next_line()? {
        let halves = lone_halves(line.bytes);
        if halves.is_empty() || bad.contains(&line.number) {
            continue;
        }
        let splices: Vec<Splice> =
            halves.iter().map(|i| Splice::replace(line.offset + *i as u64, 6, *b"\\ufffd")).collect();
        edits.push(
            Edit::new("L109", Fix::Content, Action::Replace, line.offset, splices).reason("half of a surrogate pair"),
        );
    }
    Ok(edits)
}

/// Where escaped halves stand alone in a text that is JSON: a backslash that is not itself escaped begins an escape.
fn lone_halves(line: &[u8]) -> Vec<usize> {
    let unit = |at: usize| {
        let digits = line.get(at + 2..at + 6)?;
        (line.get(at..at + 2) == Some(b"\\u"))
            .then(|| u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok())?
    };
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(step) = memchr::memchr(b'\\', &line[at..]) {
        at += step;
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                found.push(at);
                at += 6;
            }
            _ => at += 2,
        }
        if at >= line.len() {
            break;
        }
    }
    found
}
