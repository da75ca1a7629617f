//! The one pass over a file: physical lines into facts, by the reading rule of the agent's own loader.
//!
//! What counts as a line differs between loaders ([`Cut`]): some split at a lone CR too, some also at U+2028 and U+2029, some
//! trim the whole text first. The physical line number stays with each piece.
//!
//! Longer than other files only by its tests.

use std::io;

use super::agent::{Cut, Records, Trouble};
use super::damage::{self, BOM, BadKind};
use super::facts::{BadLine, Defect, DefectKind, Facts, KEPT_BAD_LINES, StrictStop};
use super::json::{self, Grammar};
use super::kind;
use super::read::{At, RecordReader, note};
use crate::store::meter::Meter;
use crate::store::{Line, Source};

/// A line longer than this is named: L117.
pub const OVERSIZED_LINE: u64 = 16 * 1024 * 1024;

/// What a text search for tool results looks for.
pub const TOOL_RESULT: &[u8] = b"\"type\":\"tool_result\"";

/// A nesting of this depth or more fails in some loaders.
pub const DEEPEST: u32 = 1000;

/// Reads a file once, as its agent's loader does.
///
/// # Errors
/// I/O errors of the file; `Interrupted` when the meter was stopped. What was read before is lost: a finding about
/// half a file would be wrong.
pub fn read(source: &Source, agent: &'static dyn Records, meter: &Meter) -> io::Result<Facts> {
    read_cut(source, agent, agent.cut(source.size()), meter)
}

/// Reads a file cut in a way of its own: an agent's list or clean-up may cut it otherwise than its loader.
///
/// # Errors
/// As [`read`].
pub fn read_cut(source: &Source, agent: &'static dyn Records, cut: Cut, meter: &Meter) -> io::Result<Facts> {
    let mut pass = Pass::new(source, agent, cut)?;
    let mut lines = source.lines();
    let (mut since, mut count) = (0_u64, 0_u32);
    while let Some(line) = lines.next_line()? {
        pass.line(&line);
        since += line.length + 1;
        count += 1;
        if since > 4 << 20 || count > 20_000 {
            meter.read(since);
            (since, count) = (0, 0);
            if meter.stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
    }
    meter.read(since);
    pass.finish(source)
}

struct Pass {
    agent: &'static dyn Records,
    reader: RecordReader,
    facts: Facts,
    cut: Cut,
    /// Bytes of the file that are left when it is trimmed first.
    content: (u64, u64),
    lossy: Vec<u8>,
    /// Whether the line in hand was one record for the loader, as it stands.
    plain: bool,
}

impl Pass {
    fn new(source: &Source, agent: &'static dyn Records, cut: Cut) -> io::Result<Self> {
        let content = if cut == Cut::TrimmedLines { trimmed(source)? } else { (0, u64::MAX) };
        let facts = Facts { terminated: true, ..Facts::with_room_for(source.size()) };
        let reader = RecordReader::new(agent);
        Ok(Pass { agent, reader, facts, cut, content, lossy: Vec::new(), plain: false })
    }

    fn line(&mut self, line: &Line<'_>) {
        let records = self.facts.records.len();
        self.plain = false;
        if !self.loader_line(line) {
            self.other_readers(line, records);
        }
    }

    /// What a text search finds on the line, and whether a strict reader stops there. Both are told by what the pass
    /// noted; only a line that is no plain record is looked at again. A line that the loader itself takes apart counts as
    /// refused: there is no record of it that could be counted.
    fn other_readers(&mut self, line: &Line<'_>, records: usize) {
        let (facts, notes) = (&mut self.facts, &self.reader.scratch.notes);
        facts.raw.hits += if self.plain {
            u64::from(notes.tool_results)
        } else {
            memchr::memmem::find_iter(line.bytes, TOOL_RESULT).count() as u64
        };
        // serde_json gives up at the 128th level.
        let strict =
            self.plain && notes.surrogate_count == 0 && notes.depth < 128 && !notes.infinite && !notes.not_a_number;
        if !strict && facts.strict_stop.is_none() {
            let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
            facts.strict_stop = Some(StrictStop { line: small(line.number), records: small(records as u64) });
        }
    }

    /// The line as the agent's own loader takes it. Returns whether it is blank for every reader.
    fn loader_line(&mut self, line: &Line<'_>) -> bool {
        let facts = &mut self.facts;
        facts.lines.physical = line.number;
        let number = u32::try_from(line.number).unwrap_or(u32::MAX);
        if line.number == 1 {
            facts.bom = line.bytes.starts_with(BOM);
        }
        if !line.terminated {
            facts.terminated = false;
        }
        if line.length > facts.longest.0 {
            facts.longest = (line.length, number);
        }
        if line.length > OVERSIZED_LINE {
            let length = u32::try_from(line.length).unwrap_or(u32::MAX);
            let record = u32::try_from(facts.records.len()).unwrap_or(u32::MAX);
            let defect = Defect {
                kind: DefectKind::OversizedLine,
                record,
                line: number,
                offset: line.offset,
                length,
                detail: 0,
            };
            note(facts, defect, 1);
        }
        if line.bytes.last() == Some(&b'\r') && line.terminated {
            facts.lines.crlf += 1;
            if facts.lines.crlf == 1 {
                facts.lines.first_crlf = line.number;
            }
        }
        if line.bytes.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')) {
            facts.lines.blank += 1;
            if facts.lines.blank == 1 {
                facts.lines.first_blank = line.number;
            }
            return true;
        }
        if !line.whole() {
            self.bad(line, number, BadKind::TooLong, (0, 0));
            return false;
        }
        // What the whole-file reader trims away at either end of the file.
        let from = self.content.0.saturating_sub(line.offset).min(line.length) as usize;
        let to = self.content.1.saturating_sub(line.offset).min(line.length) as usize;
        let kept = line.bytes.get(from..to).unwrap_or_default();
        if kept.is_empty() {
            // White space that is not JSON's: trimmed now, in the way of the next append.
            if !line.terminated {
                self.bad(line, number, BadKind::Torn, (0, 0));
            } else {
                self.facts.lines.blank += 1;
            }
            return false;
        }
        // Most lines are ASCII, and nothing else is asked of those.
        let ascii = kept.is_ascii();
        if ascii || simdutf8::basic::from_utf8(kept).is_ok() {
            self.text(line, kept, At { line: number, offset: line.offset + from as u64, exact: true }, ascii);
            let trimmed = [&line.bytes[..from], &line.bytes[to..]];
            self.plain &= trimmed.iter().all(|cut| cut.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')));
        } else {
            let mut lossy = std::mem::take(&mut self.lossy);
            lossy.clear();
            lossy.extend_from_slice(String::from_utf8_lossy(kept).as_bytes());
            self.invalid(line, kept, number, from);
            self.text(line, &lossy, At { line: number, offset: line.offset + from as u64, exact: false }, false);
            self.lossy = lossy;
            self.plain = false;
        }
        false
    }

    /// Bytes that are not UTF-8: replaced by most loaders, fatal for one that decodes the file as one text.
    fn invalid(&mut self, line: &Line<'_>, kept: &[u8], number: u32, from: usize) {
        self.raise(number, Trouble::NotUtf8);
        let (mut at, mut rest, mut first, mut count) = (0, kept, None, 0_u64);
        while let Err(bad) = std::str::from_utf8(rest) {
            let length = bad.error_len().unwrap_or(rest.len() - bad.valid_up_to());
            first.get_or_insert((at + bad.valid_up_to(), length));
            count += 1;
            at += bad.valid_up_to() + length;
            rest = &rest[bad.valid_up_to() + length..];
        }
        if let Some((start, length)) = first {
            let record = u32::try_from(self.facts.records.len()).unwrap_or(u32::MAX);
            let defect = Defect {
                kind: DefectKind::InvalidUtf8,
                record,
                line: number,
                offset: line.offset + (from + start) as u64,
                length: length as u32,
                detail: u32::try_from(count).unwrap_or(u32::MAX),
            };
            note(&mut self.facts, defect, count);
        }
    }

    fn text(&mut self, line: &Line<'_>, text: &[u8], at: At, ascii: bool) {
        let separator = if ascii { None } else { raw_separator(text) };
        let separators = self.cut == Cut::Separators;
        let splits_at_separators = separators && separator.is_some();
        let read = if splits_at_separators { None } else { Some(self.reader.read(text, at, false, &mut self.facts)) };
        let parsed = matches!(read, Some(Ok(())));
        let splits_at_cr = matches!(self.cut, Cut::Returns | Cut::Separators);
        let inner_cr = splits_at_cr
            && memchr::memchr(b'\r', &text[..text.len() - 1]).is_some_and(|_| !parsed || self.reader.carriage_return);
        if let (Some((start, length)), true) = (separator, at.exact) {
            let record = u32::try_from(self.facts.records.len()).unwrap_or(u32::MAX).saturating_sub(u32::from(parsed));
            let defect = Defect {
                kind: DefectKind::RawSeparator,
                record,
                line: at.line,
                offset: at.offset + start as u64,
                length: length as u32,
                detail: 0,
            };
            note(&mut self.facts, defect, 1);
        }
        if splits_at_separators || (inner_cr && pieces(text, false).len() > 1) {
            self.facts.read_otherwise = true;
            if parsed {
                self.take_back();
            }
            let all = pieces(text, separators);
            let last = all.len() - 1;
            for (n, (start, end)) in all.into_iter().enumerate() {
                let piece = &text[start..end];
                let at = At { offset: at.offset + start as u64, ..at };
                if piece.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                if self.reader.read(piece, at, false, &mut self.facts).is_err() {
                    let part = Line {
                        bytes: piece,
                        offset: at.offset,
                        length: piece.len() as u64,
                        terminated: line.terminated || n < last,
                        ..*line
                    };
                    self.refused(&part, piece, at);
                } else {
                    self.accepted(at);
                }
            }
            return;
        }
        if parsed {
            self.accepted(at);
            self.plain = true;
            return;
        }
        // Some loaders strip more white space than JSON has before they parse.
        let left = self.agent.strip(text);
        if left.len() < text.len() && !left.is_empty() {
            let at = At { offset: at.offset + left.start as u64, ..at };
            if self.reader.read(&text[left], at, false, &mut self.facts).is_ok() {
                self.facts.read_otherwise = true;
                self.accepted(at);
                return;
            }
        }
        if self.reader.grammar().python && !self.facts.read_otherwise {
            let start = text.iter().position(|byte| *byte > b' ').unwrap_or(text.len());
            let json = Grammar { python: false };
            self.facts.read_otherwise = json::check(&text[start..], json, &mut self.reader.scratch).is_ok();
        }
        self.refused(line, text, at);
    }

    fn accepted(&mut self, at: At) {
        self.facts.lines.records += 1;
        self.facts.read_otherwise |= self.reader.scratch.notes.not_a_number;
        if self.reader.scratch.notes.depth >= DEEPEST {
            self.raise(at.line, Trouble::TooDeep);
        }
    }

    /// Notes the first thing at which the loader raises.
    fn raise(&mut self, line: u32, trouble: Trouble) {
        self.facts.read_otherwise = true;
        if self.facts.raises.is_none() {
            self.facts.raises = self.agent.raises(trouble).map(|what| (line, what));
        }
    }

    /// Undoes the reading of a whole line of which the loader sees only pieces.
    fn take_back(&mut self) {
        if let Some(record) = self.facts.records.pop() {
            self.facts.blocks.truncate(record.first_block as usize);
            if let Some(count) = self.facts.type_counts.get_mut(usize::from(record.type_name)) {
                count.records -= 1;
                count.bytes -= u64::from(record.length);
            }
            let number = u32::try_from(self.facts.records.len()).unwrap_or(u32::MAX);
            while self.facts.usage.last().is_some_and(|u| u.record == number) {
                self.facts.usage.pop();
            }
            self.facts.costs.truncate(self.facts.usage.len());
        }
    }

    fn refused(&mut self, line: &Line<'_>, text: &[u8], at: At) {
        let parts = damage::segments(text, self.agent, &mut self.reader.scratch);
        let kind = damage::kind(text, &parts, line.terminated);
        let first = u32::try_from(self.facts.hidden.len()).unwrap_or(u32::MAX);
        for part in parts.iter().filter(|p| p.whole) {
            let at = At { offset: at.offset + part.start as u64, ..at };
            // A whole record was read once already; it cannot fail now.
            let _ = self.reader.read(&text[part.start..part.end], at, true, &mut self.facts);
        }
        if kind == BadKind::Nul && !parts.iter().any(|p| p.whole) {
            // NULs inside a record: without them it may be whole. If not, there is nothing to know of it.
            let without: Vec<u8> = text.iter().copied().filter(|b| *b != 0).collect();
            let _ = self.reader.read(&without, At { exact: false, ..at }, true, &mut self.facts);
        }
        let found = u32::try_from(self.facts.hidden.len()).unwrap_or(u32::MAX) - first;
        if kind == BadKind::Torn {
            // A cut inside a character is part of the cut.
            let line = at.line;
            if self.facts.defects.last().is_some_and(|d| d.line == line && d.kind == DefectKind::InvalidUtf8) {
                let gone = self.facts.defects.pop().map_or(0, |d| u64::from(d.detail));
                if let Some(n) = self.facts.defect_counts.get_mut(&DefectKind::InvalidUtf8) {
                    *n -= gone.min(*n);
                }
            }
        }
        self.bad(line, at.line, kind, (first, found));
    }

    fn bad(&mut self, line: &Line<'_>, number: u32, kind: BadKind, hidden: (u32, u32)) {
        let facts = &mut self.facts;
        if kind == BadKind::Torn {
            facts.lines.torn += 1;
        }
        facts.lines.bad += 1;
        *facts.bad_counts.entry(kind).or_default() += 1;
        if facts.bad_lines.len() < KEPT_BAD_LINES {
            facts.bad_lines.push(BadLine {
                kind,
                terminated: line.terminated,
                line: number,
                offset: line.offset,
                length: line.length,
                hidden,
                before: u32::try_from(facts.records.len()).unwrap_or(u32::MAX),
            });
        }
    }

    fn finish(mut self, source: &Source) -> io::Result<Facts> {
        self.join_split_records(source)?;
        let mut facts = self.facts;
        kind::settle_types(&mut facts);
        facts.fields.finish();
        facts.records.shrink_to_fit();
        facts.blocks.shrink_to_fit();
        Ok(facts)
    }

    /// Looks for records that raw newlines broke: neighbouring lines that make one when the newline is escaped.
    fn join_split_records(&mut self, source: &Source) -> io::Result<()> {
        /// How many broken openings are tried, and how many bytes behind each are looked at.
        const TRIED: usize = 1000;
        const AHEAD: u64 = 1 << 20;
        let mut tried = 0;
        let mut n = 0;
        while let Some(&bad) = self.facts.bad_lines.get(n) {
            n += 1;
            if bad.kind != BadKind::Unparsable || !bad.terminated || tried >= TRIED || bad.length > AHEAD {
                continue;
            }
            tried += 1;
            let bytes = source.read_range(bad.offset, AHEAD)?;
            let lines: Vec<&[u8]> = bytes.split(|b| *b == b'\n').collect();
            let Some(count) = damage::joined(&lines, self.agent, &mut self.reader.scratch) else { continue };
            let text = lines[..count].join(&b"\\n"[..]);
            let first = u32::try_from(self.facts.hidden.len()).unwrap_or(u32::MAX);
            let at = At { line: bad.line, offset: bad.offset, exact: false };
            if self.reader.read(&text, at, true, &mut self.facts).is_err() {
                continue;
            }
            let length = lines[..count].iter().map(|l| l.len() as u64 + 1).sum::<u64>() - 1;
            let until = bad.line + u32::try_from(count).unwrap_or(u32::MAX);
            let entry = &mut self.facts.bad_lines[n - 1];
            (entry.kind, entry.length, entry.hidden) = (BadKind::Split, length, (first, 1));
            while let Some(next) = self.facts.bad_lines.get(n).copied().filter(|b| b.line < until) {
                self.facts.bad_lines.remove(n);
                let left = self.facts.bad_counts.entry(next.kind).or_default();
                *left = left.saturating_sub(1);
            }
            let left = self.facts.bad_counts.entry(BadKind::Unparsable).or_default();
            *left = left.saturating_sub(1);
            *self.facts.bad_counts.entry(BadKind::Split).or_default() += 1;
        }
        self.facts.bad_counts.retain(|_, n| *n > 0);
        Ok(())
    }
}

/// The first U+2028, U+2029 or U+0085 that stands raw in a text.
fn raw_separator(text: &[u8]) -> Option<(usize, usize)> {
    let three = memchr::memchr_iter(0xe2, text).find(|&i| matches!(text.get(i + 1..i + 3), Some([0x80, 0xa8 | 0xa9])));
    let two = memchr::memchr_iter(0xc2, text).find(|&i| text.get(i + 1) == Some(&0x85));
    match (three, two) {
        (Some(a), Some(b)) if b < a => Some((b, 2)),
        (Some(a), _) => Some((a, 3)),
        (None, Some(b)) => Some((b, 2)),
        (None, None) => None,
    }
}

/// The pieces of a line between carriage returns and, in a stream reader, U+2028 and U+2029.
fn pieces(text: &[u8], separators: bool) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < text.len() {
        let skip = match text[at] {
            b'\r' => 1,
            0xe2 if separators && matches!(text.get(at + 1..at + 3), Some([0x80, 0xa8 | 0xa9])) => 3,
            _ => 0,
        };
        if skip > 0 {
            all.push((start, at));
            start = at + skip;
        }
        at += skip.max(1);
    }
    if start < text.len() {
        all.push((start, text.len()));
    }
    all
}

/// What JavaScript's `trim` takes away.
fn js_white(c: char) -> bool {
    matches!(
        c,
        '\t' | '\n' | '\x0b' | '\x0c' | '\r' | ' ' | '\u{a0}' | '\u{feff}' | '\u{1680}' | '\u{2000}'
            ..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
    )
}

/// The stretch of a file that is left when JavaScript trims its text. Read from both ends, a chunk at a time: a file
/// may begin or end with any amount of white space.
fn trimmed(source: &Source) -> io::Result<(u64, u64)> {
    const CHUNK: u64 = 64 * 1024;
    let size = source.size();
    let mut start = size;
    let mut at = 0;
    while at < size {
        let bytes = source.read_range(at, CHUNK + 4)?;
        let (white, all) = white_prefix(&bytes, at + bytes.len() as u64 >= size);
        at += white as u64;
        if !all {
            start = at;
            break;
        }
        if white == 0 {
            break;
        }
    }
    let mut end = start;
    let mut upto = size;
    while upto > start {
        let from = upto.saturating_sub(CHUNK).max(start);
        let bytes = source.read_range(from, upto - from)?;
        let white = white_suffix(&bytes);
        upto -= white as u64;
        if white < bytes.len() && (white == 0 || (bytes.len() - white) > 4 || from == start) {
            end = upto;
            break;
        }
    }
    Ok((start, end.max(start)))
}

/// How many bytes of white space a text begins with, and whether nothing else was seen.
fn white_prefix(bytes: &[u8], last: bool) -> (usize, bool) {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(bad) => std::str::from_utf8(&bytes[..bad.valid_up_to()]).unwrap_or_default(),
    };
    let white = text.len() - text.trim_start_matches(js_white).len();
    // A character cut by the end of the chunk is seen whole in the next one.
    let cut = !last && bytes.len() - text.len() < 4;
    (white, white == text.len() && (text.len() == bytes.len() || cut))
}

fn white_suffix(bytes: &[u8]) -> usize {
    let mut end = bytes.len();
    while end > 0 {
        let length = match &bytes[..end] {
            [.., a, b, c]
                if std::str::from_utf8(&[*a, *b, *c])
                    .is_ok_and(|s| s.chars().count() == 1 && s.chars().all(js_white)) =>
            {
                3
            }
            [.., a, b]
                if std::str::from_utf8(&[*a, *b]).is_ok_and(|s| s.chars().count() == 1 && s.chars().all(js_white)) =>
            {
                2
            }
            [.., a] if a.is_ascii() && js_white(*a as char) => 1,
            _ => break,
        };
        end -= length;
    }
    bytes.len() - end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::AgentId;
    use proptest::prelude::*;

    fn read_as(agent_id: AgentId, text: &[u8]) -> Facts {
        read(&Source::from_bytes(text), crate::agents::of(agent_id), &Meter::default()).unwrap()
    }

    /// The first line that serde_json refuses, and the records before it.
    fn strictly(text: &[u8]) -> Option<StrictStop> {
        let mut records = 0;
        for (n, line) in text.split(|b| *b == b'\n').enumerate() {
            if line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')) {
                continue;
            }
            if serde_json::from_slice::<serde_json::Value>(line).is_err() {
                return Some(StrictStop { line: n as u32 + 1, records });
            }
            records += 1;
        }
        None
    }

    const PIECES: &[&str] = &[
        r#"{"type":"user","message":{"content":[{"type":"tool_result","x":1}]}}"#,
        r#"{"type":"tool_result"}"#,
        r#"{"type": "tool_result","a":{"type":"tool_result"}}"#,
        r#"{"a\"type":"tool_result","type":"b"}"#,
        r#"{"text":"\"type\":\"tool_result\""}"#,
        r#"{"a":"\ud83d"}"#,
        r#"{"a":"\ud83d\ude00"}"#,
        r#"{"a":1e999,"b":1e-999,"c":123456789012345678901234567890}"#,
        r#"{"a":NaN}"#,
        r#"["type":"tool_result"]"#,
        "7",
        "null",
        "  ",
        "\r",
        "",
        "\u{feff}{}",
        "\u{a0}{}",
        "{}",
        "{\"a\":\"\u{2028}\"}",
        "{\"type\":\"tool_result\",\u{c}}",
    ];

    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let deep = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        let deep = prop::sample::select(vec![deep(125), deep(126), deep(127), deep(128), deep(200)]);
        let known = prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned);
        let piece = prop_oneof![8 => known, 1 => deep].prop_map(String::into_bytes);
        let cut = (piece.clone(), any::<prop::sample::Index>()).prop_map(|(piece, at)| match piece.len() {
            0 => piece,
            n => piece[..at.index(n)].to_vec(),
        });
        let line = prop_oneof![10 => piece, 1 => cut, 1 => Just(b"{\"a\":\"\xff\"}".to_vec())];
        prop::collection::vec(line, 0..12).prop_map(|lines| lines.join(&b'\n'))
    }

    proptest! {
        #[test]
        fn a_strict_reader_stops_where_serde_json_does(text in lines()) {
            let facts = read_as(crate::agents::PI, &text);
            prop_assert_eq!(facts.strict_stop, strictly(&text));
        }

        #[test]
        fn a_text_search_finds_what_it_finds(text in lines(), n in 0..3) {
            let agent_id = [crate::agents::PI, crate::agents::CLAUDE, crate::agents::SID][n as usize];
            let facts = read_as(agent_id, &text);
            prop_assert_eq!(facts.raw.hits, memchr::memmem::find_iter(&text, TOOL_RESULT).count() as u64);
            prop_assert!(facts.raw.record_level <= facts.raw.hits);
        }
    }

    #[test]
    fn a_records_own_type_is_told_apart() {
        let text = PIECES[..5].join("\n");
        let raw = read_as(crate::agents::SID, text.as_bytes()).raw;
        assert_eq!((raw.hits, raw.record_level), (4, 1));
    }
}
