//! Halves of pairs that are in the file and not in the request: cut off by a compaction or an edit, or left behind when the
//! agent dropped the message with the other half.

use std::collections::{HashMap, HashSet};

use crate::record::facts::BlockKind;
use crate::request::{CleanupPass, IdMap};
use crate::rules::Context;
use crate::rules::api_verdict::Case;

/// Rows that the agent's cleaning drops for a nameless block although what belongs to them stays: row, and the record of
/// what is left behind.
pub(super) fn left_behind(context: &Context<'_>) -> HashMap<u32, u32> {
    let session = context.session;
    let sent = context.request;
    let mut left = HashMap::new();
    let Some([raw, cleaned]) = &sent.integrity else { return left };
    let new = |now: &[(u32, u32)], before: &[(u32, u32)]| {
        let known: HashSet<_> = before.iter().copied().collect();
        now.iter().copied().filter(move |p| !known.contains(p)).collect::<Vec<_>>()
    };
    let mut halves = new(&cleaned.orphans, &raw.orphans);
    halves.extend(new(&cleaned.dangling, &raw.dangling));
    if halves.is_empty() {
        return left;
    }
    let block = |(row, place): (u32, u32)| {
        let record = sent.rows[row as usize].record;
        (sent.blocks(&session.facts, record)[place as usize], record)
    };
    let wanted: IdMap<u32> = halves.into_iter().map(block).map(|(b, record)| (b.id, record)).collect();
    for d in sent.drops.iter().filter(|d| d.pass == CleanupPass::Nameless) {
        let blocks = sent.blocks(&session.facts, sent.rows[d.row as usize].record).iter();
        let halves = blocks.filter(|b| matches!(b.kind, BlockKind::Call | BlockKind::Result));
        if let Some(record) = halves.filter_map(|b| wanted.get(&b.id)).next() {
            left.insert(d.row, *record);
        }
    }
    left
}

/// Halves of pairs that a compaction or an edit parted from the other half.
#[derive(Debug, Default)]
pub struct Split {
    /// Results in the request whose call was left out: record and call id.
    pub results: HashSet<(u32, u64)>,
    /// Calls in the request whose result was left out.
    pub calls: HashSet<(u32, u64)>,
    /// What else breaks T308.
    pub cases: Vec<Case>,
}
