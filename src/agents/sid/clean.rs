//! sid-code's own cleaning of a loaded history, pass by pass, and its integrity check (`docs/formats/sid-code.md`,
//! sections 3 and 4).
//!
//! The passes run in the agent's order, because each sees what the ones before it left: a message that thinks and calls
//! becomes one that only thinks when its call goes. Order and neighbourhood are not checked by the agent, only sets.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use crate::record::facts::{Block, BlockKind, Facts, Kind, Record, block, flag};
use crate::request::pairing::is_nameless;
use crate::request::{CleanupPass, Dropped, IdMap, Integrity, Interruption, KeyedHasher, Request, WHOLE, is_thinking};
use crate::session::{Session, Shape};

type IdSet = HashSet<u64, BuildHasherDefault<KeyedHasher>>;

/// Runs the passes over the rows and fills in what they drop.
pub(super) fn clean(session: &Session, sent: &mut Request) {
    let facts = &session.facts;
    let raw = integrity(facts, sent);
    if session.shape == Shape::Sidechain {
        sidechain(facts, sent);
    } else {
        let throws = sent.rows.iter().find(|r| cannot_be_walked(facts, session.record(r.record)));
        if let Some(row) = throws {
            sent.throws = Some(row.record);
            return;
        }
        sent.drops = passes(facts, sent);
        stopped(facts, sent);
    }
    sent.drops.sort_unstable();
    let cleaned = integrity(facts, sent);
    sent.integrity = Some([raw, cleaned]);
}

/// The passes walk `message.content` without looking first: null, a number or an object throws, and so does a null among
/// its blocks. A string is walked character by character.
fn cannot_be_walked(facts: &Facts, record: &Record) -> bool {
    let null = |b: &Block| b.kind == BlockKind::NotObject && b.flags & block::EMPTY != 0;
    record.kind == Kind::NonObject
        || !record.has(flag::MESSAGE)
        || !record.any(flag::CONTENT_ARRAY | flag::CONTENT_STRING)
        || facts.blocks_of(record).iter().any(null)
}

fn passes(facts: &Facts, sent: &Request) -> Vec<Dropped> {
    let mut answered = IdSet::default();
    for row in &sent.rows {
        if facts.records[row.record as usize].has(flag::CONTENT_ARRAY) {
            let results = facts.blocks_of(&facts.records[row.record as usize]).iter();
            answered.extend(results.filter(|b| b.kind == BlockKind::Result).map(|b| b.id));
        }
    }
    let mut drops = Vec::new();
    for (row, r) in (0..).zip(&sent.rows) {
        let record = &facts.records[r.record as usize];
        let blocks = facts.blocks_of(record);
        if record.has(flag::MODE_UNKNOWN) {
            drops.push(Dropped { row, block: WHOLE, pass: CleanupPass::PermissionMode });
        }
        let array = record.has(flag::CONTENT_ARRAY);
        let assistant = record.has(flag::ROLE_ASSISTANT);
        let open = |b: &Block| array && assistant && b.kind == BlockKind::Call && !answered.contains(&b.id);
        for (place, _) in (0..).zip(blocks).filter(|(_, b)| open(b)) {
            drops.push(Dropped { row, block: place, pass: CleanupPass::OpenCalls });
        }
        let mut left = blocks.iter().filter(|b| !open(b));
        let whole = if assistant && array && !blocks.is_empty() && left.clone().count() > 0 {
            if left.clone().all(|b| is_thinking(b.kind)) { Some(CleanupPass::ThinkingOnly) } else { None }
        } else if assistant && (array || blocks.iter().all(|b| b.flags & block::EMPTY != 0)) {
            Some(CleanupPass::Empty)
        } else {
            None
        };
        let whole = whole.or_else(|| (array && left.any(is_nameless)).then_some(CleanupPass::Nameless));
        drops.extend(whole.map(|pass| Dropped { row, block: WHOLE, pass }));
    }
    drops
}

/// Where it stopped, by what is left. The last prompt is taken off; tools are looked up in the message right before only.
fn stopped(facts: &Facts, sent: &mut Request) {
    sent.drops.sort_unstable();
    let left: Vec<u32> = {
        let mut last = (0..sent.rows.len() as u32).rev().filter(|&row| sent.fate(row, WHOLE).is_none());
        last.by_ref().take(2).collect()
    };
    let Some(&last) = left.first() else { return };
    let record = sent.rows[last as usize].record;
    let r = &facts.records[record as usize];
    if !r.has(flag::ROLE_USER) {
        return;
    }
    let results: Vec<u64> = match r.has(flag::CONTENT_ARRAY) {
        true => facts.blocks_of(r).iter().filter(|b| b.kind == BlockKind::Result).map(|b| b.id).collect(),
        false => Vec::new(),
    };
    if results.is_empty() {
        sent.interruption = Interruption::Prompt(record);
        sent.drops.push(Dropped { row: last, block: WHOLE, pass: CleanupPass::UnansweredPrompt });
        return;
    }
    let mut names = IdMap::default();
    if let Some(&before) = left.get(1) {
        let b = &facts.records[sent.rows[before as usize].record as usize];
        if b.has(flag::ROLE_ASSISTANT | flag::CONTENT_ARRAY) {
            for (place, call) in (0..).zip(facts.blocks_of(b)).filter(|(_, b)| b.kind == BlockKind::Call) {
                if sent.fate(before, place).is_none() {
                    names.insert(call.id, call.name);
                }
            }
        }
    }
    let tools = results.iter().filter_map(|id| names.get(id).copied()).filter(|&name| name != 0).collect();
    sent.interruption = Interruption::Turn(record, tools);
}

/// A subagent's transcript is put together by other rules (section 3): messages that only think go first, then calls
/// without a result anywhere, then whatever is empty; what would begin with the model gets a placeholder in front.
fn sidechain(facts: &Facts, sent: &mut Request) {
    let answered: IdSet = sent
        .rows
        .iter()
        .flat_map(|r| facts.blocks_of(&facts.records[r.record as usize]))
        .filter(|b| b.kind == BlockKind::Result)
        .map(|b| b.id)
        .collect();
    let mut first = true;
    for (row, r) in (0..).zip(&sent.rows) {
        let record = &facts.records[r.record as usize];
        let blocks = facts.blocks_of(record);
        let assistant = record.has(flag::ROLE_ASSISTANT);
        let whole = |pass| Dropped { row, block: WHOLE, pass };
        if assistant && blocks.iter().all(|b| is_thinking(b.kind)) {
            sent.drops.push(whole(if blocks.is_empty() { CleanupPass::Empty } else { CleanupPass::ThinkingOnly }));
            continue;
        }
        let mut left = 0;
        for (place, b) in (0..).zip(blocks) {
            if b.kind == BlockKind::Call && !answered.contains(&b.id) {
                sent.drops.push(Dropped { row, block: place, pass: CleanupPass::OpenCalls });
            } else {
                left += 1;
            }
        }
        if left == 0 {
            sent.drops.push(whole(CleanupPass::Empty));
            continue;
        }
        sent.placeholder |= first && assistant;
        first = false;
    }
}

/// The agent's integrity check over what is left. A sidechain's results stand in messages of any role but the model's.
fn integrity(facts: &Facts, sent: &Request) -> Integrity {
    let (mut calls, mut results): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for (row, r) in (0..).zip(&sent.rows) {
        let record = &facts.records[r.record as usize];
        let side = record.kind == Kind::TranscriptMessage;
        let (model, user) = (record.has(flag::ROLE_ASSISTANT), record.has(flag::ROLE_USER));
        if !record.has(flag::CONTENT_ARRAY) || sent.fate(row, WHOLE).is_some() {
            continue;
        }
        for (place, b) in (0..).zip(facts.blocks_of(record)) {
            let list = match b.kind {
                BlockKind::Call if model => &mut calls,
                BlockKind::Result if user || (side && !model) => &mut results,
                _ => continue,
            };
            if sent.fate(row, place).is_none() {
                list.push((b.id, row, place));
            }
        }
    }
    let ids = |list: &[(u64, u32, u32)]| list.iter().map(|e| e.0).collect::<IdSet>();
    let (made, named) = (ids(&calls), ids(&results));
    let first_without = |list: Vec<(u64, u32, u32)>, others: &IdSet| {
        let mut met = IdSet::default();
        list.into_iter().filter(|e| !others.contains(&e.0) && met.insert(e.0)).map(|e| (e.1, e.2)).collect()
    };
    Integrity { orphans: first_without(calls, &named), dangling: first_without(results, &made) }
}
