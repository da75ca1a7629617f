//! Claude Code's chain as the open SDK loads it: `claude-agent-sdk 0.2.189`; `docs/formats/claude-code.md`,
//! section 3, rules 2 to 7.

use super::parallel;
use crate::chain::graph::{Graph, MISSING, NO_PARENT, numbered};
use crate::chain::walk::{self, Inherited};
use crate::chain::{Chain, Mode, Refusal, Stop};
use crate::record::facts::{Facts, Kind, Record, flag};

/// Hidden from the messages, and only the second choice as a leaf.
const ASIDE: u64 = flag::META | flag::SIDECHAIN | flag::TEAM;

/// Follows the loader: leaf, walk, parallel repair, visibility.
pub(crate) fn load(facts: &Facts, graph: &Graph) -> Chain {
    if let Some((line, why)) = facts.raises {
        return Chain::none(Some(Refusal::Raises(line, why)));
    }
    if let Some(record) = facts.records.iter().find(|r| raises(r)) {
        return Chain::none(Some(Refusal::Raises(record.line, "TypeError")));
    }
    let Some(leaf) = leaf(facts, graph) else {
        return Chain { mode: Mode::Tree, ..Chain::none(None) };
    };
    load_from(facts, graph, leaf)
}

/// The chain of a leaf that is given.
pub(crate) fn load_from(facts: &Facts, graph: &Graph, leaf: u32) -> Chain {
    let (walked, stop) = walk(facts, graph, leaf);
    let adopted = parallel::with_parallel(facts, graph, walked);
    // As long as it can become: a list that grows is copied, and both copies cost memory.
    let mut messages = Vec::with_capacity(adopted.len());
    messages.extend(adopted.iter().copied().filter(|&n| is_visible(&facts.records[n as usize])));
    Chain { mode: Mode::Tree, leaf: Some(leaf), adopted, messages, stop, refusal: None, kept_range_lost: None }
}

/// The five chain types with a string `uuid` (rule 2).
pub(crate) fn is_node(record: &Record) -> bool {
    record.has(flag::ID_STRING)
        && matches!(record.kind, Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress)
}

/// Whether a record is shown (rule 7).
pub(crate) fn is_visible(record: &Record) -> bool {
    is_spoken(record) && !record.any(ASIDE)
}

fn is_spoken(record: &Record) -> bool {
    matches!(record.kind, Kind::User | Kind::Assistant)
}

/// A type that cannot be hashed, or a chain record whose parent cannot (rule 13).
fn raises(record: &Record) -> bool {
    record.has(flag::TYPE_CONTAINER) || (record.has(flag::PARENT_CONTAINER) && is_node(record))
}

/// Rule 4. Of all records that nobody names as parent, the nearest user or assistant record above each is a candidate;
/// the one that stands last in the file wins, times are never looked at.
pub(crate) fn leaf(facts: &Facts, graph: &Graph) -> Option<u32> {
    let records = &facts.records;
    // Of each record the nearest spoken one at or above it: none where a root, a gap or a loop comes first.
    let own = |(n, r)| if graph.has(n, facts) && is_spoken(r) { n } else { MISSING };
    let mut nearest = Inherited::new(numbered(records).map(own).collect(), MISSING, NO_PARENT);
    // Position and record of the best candidate, and of the best that is only the second choice.
    let mut best: Option<(u32, u32)> = None;
    let mut best_aside: Option<(u32, u32)> = None;
    for (n, record) in numbered(records) {
        if !graph.has(n, facts) || !graph.children(graph.canonical(n, facts)).is_empty() {
            continue;
        }
        let candidate = if is_spoken(record) {
            n
        } else {
            match graph.parent[n as usize] {
                NO_PARENT | MISSING => continue,
                p => match nearest.of(graph, p, |_, _| NO_PARENT) {
                    NO_PARENT => continue,
                    found => found,
                },
            }
        };
        // Two copies of one terminal tie in position; the first is the leaf.
        let position = graph.canonical(candidate, facts);
        let slot = if records[candidate as usize].any(ASIDE) { &mut best_aside } else { &mut best };
        if slot.is_none_or(|(at, _)| position > at) {
            *slot = Some((position, candidate));
        }
    }
    best.or(best_aside).map(|(_, n)| n)
}

/// Rule 5. From a record to the root; the result is root first.
pub(crate) fn walk(facts: &Facts, graph: &Graph, leaf: u32) -> (Vec<u32>, Stop) {
    walk::path(facts.records.len(), leaf, |n| graph.parent[n as usize], |n| graph.canonical(n, facts))
}

/// Rule 8: a subagent's transcript. The leaf is its last user or assistant line, the walk is plain, meta records stay.
pub(crate) fn load_subagent(facts: &Facts, graph: &Graph) -> Chain {
    if let Some((line, why)) = facts.raises {
        return Chain::none(Some(Refusal::Raises(line, why)));
    }
    let last = numbered(&facts.records).rev().find(|(n, r)| graph.has(*n, facts) && is_spoken(r));
    let Some((leaf, _)) = last else {
        return Chain { mode: Mode::Tree, ..Chain::none(None) };
    };
    let (adopted, stop) = walk(facts, graph, leaf);
    let messages = adopted.iter().copied().filter(|&n| is_spoken(&facts.records[n as usize])).collect();
    Chain { mode: Mode::Tree, leaf: Some(leaf), adopted, messages, stop, refusal: None, kept_range_lost: None }
}
