//! Halves of pairs that are in the file and not in the request: cut off by a compaction or an edit, or left behind when the
//! agent dropped the message with the other half.

use std::collections::{HashMap, HashSet};

use crate::record::facts::{BlockKind, Id, block, flag};
use crate::record::{reread, value::Value};
use crate::request::pairing::{NONE, Pairing, State};
use crate::request::{CleanupPass, IdMap};
use crate::rules::Context;
use crate::session::Session;

/// sid-code: rows that its cleaning drops for a nameless block although what belongs to them stays: row, and the record of
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

/// pi: halves of pairs that stand on the path and not in the request.
#[derive(Default)]
pub(super) struct Split {
    /// Results in the request whose call was left out: record and call id.
    results: HashMap<(u32, u64), ()>,
    /// Calls in the request whose result was left out.
    calls: HashMap<(u32, u64), ()>,
}

impl Split {
    pub(super) fn new(context: &Context<'_>, pairing: &Pairing) -> Split {
        let mut split = Split::default();
        let (session, sent) = (context.session, context.request);
        let off = session.dialect.is_pi()
            && (pairing.results.iter().any(|r| r.state == State::Dangling)
                || pairing.calls.iter().any(|c| c.answer == NONE));
        if !off {
            return split;
        }
        let mut latest: IdMap<u32> = IdMap::default();
        for &n in &session.chain.adopted {
            let record = session.record(n);
            if !record.is_message() || record.has(flag::FAILED) {
                continue;
            }
            let here = sent.reaches(n);
            for b in session.facts.blocks_of(record).iter().filter(|b| b.flags & block::NO_ID == 0) {
                match b.kind {
                    BlockKind::Call => drop(latest.insert(b.id, n)),
                    BlockKind::Result => {
                        let Some(&call) = latest.get(&b.id) else { continue };
                        // An edit may have put a text in the place of a message with calls.
                        let called = sent.reaches(call) && !sent.is_edited(call);
                        match (here, called) {
                            (true, false) => drop(split.results.insert((n, b.id), ())),
                            (false, true) => drop(split.calls.insert((call, b.id), ())),
                            _ => {}
                        }
                    }
                    _ => {}
                }
            }
        }
        split
    }

    pub(super) fn omits_call_of(&self, result: u32, id: u64) -> bool {
        self.results.contains_key(&(result, id))
    }

    pub(super) fn omits_result_of(&self, call: u32, id: u64) -> bool {
        self.calls.contains_key(&(call, id))
    }
}

/// The first kept record whose call has no result among the kept ones or behind the boundary, or the other way round.
pub(super) fn torn_preserve(session: &Session, pairing: &Pairing, boundary: u32) -> Option<u32> {
    let text = reread::text(&session.source, session.record(boundary)).ok()?;
    let uuids = Value::parse(&text)?.at(&["compactMetadata", "preservedMessages", "uuids"])?;
    let kept: Vec<u32> =
        uuids.items().iter().filter_map(|v| session.graph.find(Id::of(v.text()?.as_bytes()), &session.facts)).collect();
    let (mut calls, mut results): (IdMap<u32>, IdMap<u32>) = (IdMap::default(), IdMap::default());
    for &n in &kept {
        for b in session.facts.blocks_of(session.record(n)).iter().filter(|b| b.flags & block::NO_ID == 0) {
            match b.kind {
                BlockKind::Call => drop(calls.insert(b.id, n)),
                BlockKind::Result => drop(results.insert(b.id, n)),
                _ => {}
            }
        }
    }
    if calls.keys().all(|id| results.contains_key(id)) && results.keys().all(|id| calls.contains_key(id)) {
        return None;
    }
    let called: IdMap<()> = pairing.calls.iter().map(|c| (c.id, ())).collect();
    let answered: IdMap<()> = pairing.results.iter().map(|r| (r.id, ())).collect();
    let open = calls.iter().find(|(id, _)| !results.contains_key(*id) && !answered.contains_key(*id));
    let dangling = results.iter().find(|(id, _)| !calls.contains_key(*id) && !called.contains_key(*id));
    open.or(dangling).map(|(_, &n)| n)
}
