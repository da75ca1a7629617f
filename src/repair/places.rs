//! Places of a plan are those of the file as it is now, whatever the steps before did to the text: a person looks them up
//! in the file that is there, beside the plan.

use std::collections::BTreeMap;
use std::io;

use super::plan::{Fragment, Planned};
use super::text::Text;
use crate::finding::Finding;
use crate::store::Source;

/// Numbers the lines that edits are about, and puts what goes to quarantine in file order.
pub(super) fn number(base: &Source, edits: &mut [Planned], quarantined: &mut [Fragment]) -> io::Result<()> {
    quarantined.sort_by_key(|q| q.offset);
    let lines = lines_at(base, edits.iter().map(|e| e.offset).chain(quarantined.iter().map(|q| q.offset)))?;
    let line = |offset| lines.get(&offset).copied().unwrap_or(1);
    edits.iter_mut().for_each(|e| e.line = line(e.offset));
    quarantined.iter_mut().for_each(|q| q.line = line(q.offset));
    Ok(())
}

/// Moves the places of findings from the repaired text to the file.
pub(super) fn of_file(base: &Source, text: &Text, findings: &mut [Finding]) -> io::Result<()> {
    let mut starts: BTreeMap<u64, u64> = findings.iter().filter_map(|f| Some((f.place.line?, 0))).collect();
    let Some(last) = starts.keys().next_back().copied() else { return Ok(()) };
    let repaired = text.source();
    let mut lines = repaired.lines();
    while let Some(line) = lines.next_line()? {
        if let Some(start) = starts.get_mut(&line.number) {
            *start = text.in_file(line.offset);
        }
        if line.number >= last {
            break;
        }
    }
    let numbers = lines_at(base, starts.values().copied())?;
    for place in findings.iter_mut().map(|f| &mut f.place) {
        place.line = place.line.and_then(|n| numbers.get(starts.get(&n)?).copied());
        place.offset = place.offset.map(|offset| text.in_file(offset));
    }
    Ok(())
}

/// How many lines are named before it is only said that there are more.
const NAMED: usize = 6;

/// The lines of some places of the file, in words.
pub(super) fn lines_of(base: &Source, offsets: &[u64]) -> io::Result<String> {
    let mut lines: Vec<u64> = lines_at(base, offsets.iter().copied())?.into_values().collect();
    lines.dedup();
    let named: Vec<String> = lines.iter().take(NAMED).map(u64::to_string).collect();
    let more = if lines.len() > NAMED { " and more" } else { "" };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    Ok(format!("{word} {}{more}", named.join(", ")))
}

/// The physical lines in which these offsets stand, in one reading of the line feeds; the last line for what lies behind.
fn lines_at(base: &Source, offsets: impl Iterator<Item = u64>) -> io::Result<BTreeMap<u64, u64>> {
    let mut found: BTreeMap<u64, u64> = offsets.map(|offset| (offset, 0)).collect();
    let mut next = found.iter_mut().peekable();
    let (mut lines, mut last) = (base.lines(), 0);
    while next.peek().is_some() {
        let Some(line) = lines.next_line()? else { break };
        last = line.number;
        while let Some((_, number)) = next.next_if(|(offset, _)| **offset <= line.offset + line.length) {
            *number = line.number;
        }
    }
    next.for_each(|(_, number)| *number = last.max(1));
    Ok(found)
}
