//! The safe tail of a cleaned history: the last messages that do not begin with a result whose call was cut away
//! (`docs/formats/sid-code.md`, section 4: safeSliceTail). Nothing here reads the file.

use super::{IdMap, Request};
use crate::record::facts::{BlockKind, Facts, Kind, flag};

/// How far sid-code widens a tail upwards before it narrows it.
pub const WIDENED: usize = 5;
/// Up to this many cleaned messages sid-code shows all of them.
pub const SHOWN_WHOLE: usize = 20;
/// The tail shown beyond that, beside a summary.
pub const TAIL_WITH_SUMMARY: usize = 10;
/// The tail shown beyond that when there is no summary.
pub const TAIL_ALONE: usize = 15;

/// Where the last `asked` of the cleaned messages may begin, as a place among them: extended upwards by at most
/// [`WIDENED`] while a result in the window lacks its call, else narrowed until none does.
///
/// Linear whatever is asked for: a window is unsafe from behind an id's last call down to its last result, so all unsafe
/// starts are a union of such stretches.
pub fn safe_tail(facts: &Facts, sent: &Request, asked: usize) -> usize {
    let cleaned: Vec<u32> = sent.cleaned().collect();
    if cleaned.len() <= asked {
        return 0;
    }
    let unsafe_from = unsafe_starts(facts, sent, &cleaned);
    let mut start = cleaned.len() - asked;
    let lowest = start.saturating_sub(WIDENED);
    while start > lowest && unsafe_from[start] {
        start -= 1;
    }
    while start < cleaned.len() && unsafe_from[start] {
        start += 1;
    }
    start
}

/// A safe tail beside the plain one that was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tail {
    /// How many messages were asked for.
    pub asked: usize,
    /// Where a plain cut would begin, as a place among all messages that are left after cleaning.
    pub plain: usize,
    /// Where the safe tail begins.
    pub start: usize,
    /// The records of all messages that are left after cleaning.
    pub messages: Vec<u32>,
    /// Records with results whose calls a plain cut would cut away, in order.
    pub broken: Vec<u32>,
}

impl Tail {
    /// The last `asked` messages that stand by themselves.
    pub fn new(facts: &Facts, sent: &Request, asked: usize) -> Self {
        let cleaned: Vec<u32> = sent.cleaned().collect();
        let plain = cleaned.len().saturating_sub(asked);
        let record = |at: usize| sent.rows[cleaned[at] as usize].record;
        let cut = spans(facts, sent, &cleaned).filter(|&(call, result)| plain > 0 && call <= plain && plain <= result);
        let mut broken: Vec<u32> = cut.map(|(_, result)| record(result)).collect();
        broken.sort_unstable();
        broken.dedup();
        let messages = (0..cleaned.len()).map(record).collect();
        Tail { asked, plain, start: safe_tail(facts, sent, asked), messages, broken }
    }

    /// The records of the safe tail.
    pub fn kept(&self) -> &[u32] {
        self.messages.get(self.start..).unwrap_or_default()
    }
}

/// How many messages the model is shown after a resume, a summary not counted.
pub fn shown(facts: &Facts, sent: &Request, summary: bool) -> usize {
    let count = sent.cleaned_count();
    if count <= SHOWN_WHOLE {
        return count;
    }
    count - safe_tail(facts, sent, if summary { TAIL_WITH_SUMMARY } else { TAIL_ALONE })
}

fn unsafe_starts(facts: &Facts, sent: &Request, cleaned: &[u32]) -> Vec<bool> {
    let mut depth = vec![0_i64; cleaned.len() + 2];
    for (call, result) in spans(facts, sent, cleaned) {
        depth[call] += 1;
        depth[result + 1] -= 1;
    }
    let mut open = 0;
    depth[..=cleaned.len()]
        .iter()
        .map(|d| {
            open += d;
            open > 0
        })
        .collect()
}

/// Of each id with results: the first start that cuts its last call away, and the place of its last result.
fn spans(facts: &Facts, sent: &Request, cleaned: &[u32]) -> impl Iterator<Item = (usize, usize)> + use<> {
    let mut ids: IdMap<(usize, Option<usize>)> = IdMap::default();
    for (at, &row) in cleaned.iter().enumerate() {
        let n = sent.rows[row as usize].record;
        let record = &facts.records[n as usize];
        if !record.has(flag::CONTENT_ARRAY) {
            continue;
        }
        for (place, b) in (0..).zip(facts.blocks_of(record)) {
            if !matches!(b.kind, BlockKind::Call | BlockKind::Result) || sent.fate(row, place).is_some() {
                continue;
            }
            let entry = ids.entry(b.id).or_default();
            // pi's results are messages of their own; sid-code counts those of the user only, whatever the record's type.
            let answers =
                record.has(flag::ROLE_USER) || (record.kind == Kind::ToolMessage && !record.has(flag::ROLE_BAD));
            match b.kind {
                BlockKind::Call if record.has(flag::ROLE_ASSISTANT) => entry.0 = at + 1,
                BlockKind::Result if answers => entry.1 = Some(at),
                _ => {}
            }
        }
    }
    ids.into_values().filter_map(|(call, result)| result.filter(|&r| r >= call).map(|r| (call, r)))
}
