//! Claude Code's chain as the open SDK loads it: `claude-agent-sdk 0.2.189`; `docs/formats/claude-code.md`,
//! section 3, rules 2 to 7.

use std::collections::{HashMap, HashSet};

use crate::chain::graph::{Graph, MISSING, NO_PARENT, numbered};
use crate::chain::walk::{self, Inherited};
use crate::chain::{Chain, Mode, Refusal, Stop};
use crate::record::facts::{BlockKind, Facts, Kind, Record, block, flag};

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
    let adopted = with_parallel(facts, graph, walked);
    // As long as it can become: a list that grows is copied, and both copies cost memory.
    let mut messages = Vec::with_capacity(adopted.len());
    messages.extend(adopted.iter().copied().filter(|&n| is_visible(&facts.records[n as usize])));
    Chain { mode: Mode::Tree, leaf: Some(leaf), adopted, messages, stop, refusal: None, kept_range_lost: None }
}

/// A chain with the rows of its responses that the way up does not meet, put back (rule 6).
pub(crate) fn with_parallel(facts: &Facts, graph: &Graph, walked: Vec<u32>) -> Vec<u32> {
    Repair::new(facts, graph, &walked).whole().unwrap_or(walked)
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

/// Rule 6: rows of a response that the walk did not meet, put back behind its last row that it did.
///
/// Only what is off the chain can be put back, so every table here holds only the responses and calls that such a row may
/// belong to: on a plain chain there is none, and a long one costs nothing beside it.
struct Repair<'a> {
    facts: &'a Facts,
    graph: &'a Graph,
    chain: &'a [u32],
    /// Records shown so far, by the record that stands for their id.
    shown: Vec<bool>,
    /// Rows of the responses that have rows off the chain: response, order of first appearance, row. Sorted.
    members: Vec<(u64, u32, u32)>,
    /// The row that owns a call; none when two responses claim it. Only calls that rows off the chain answer.
    owner: HashMap<u64, Option<u32>>,
    /// Results off the chain by a row that they may belong to: row, order, result. Sorted.
    near: Vec<(u32, u32, u32)>,
}

impl<'a> Repair<'a> {
    fn new(facts: &'a Facts, graph: &'a Graph, chain: &'a [u32]) -> Self {
        let mut shown = vec![false; facts.records.len()];
        for &n in chain {
            shown[graph.canonical(n, facts) as usize] = true;
        }
        Repair { facts, graph, chain, shown, members: Vec::new(), owner: HashMap::new(), near: Vec::new() }
    }

    /// The chain with them; none when all is on it.
    fn whole(mut self) -> Option<Vec<u32>> {
        let order = self.in_order_of_appearance();
        if order.iter().all(|&n| self.shown[n as usize]) {
            return None;
        }
        let wanted = self.index(&order);
        let lost = order.iter().copied().filter(|&n| !self.shown[n as usize]);
        let torn = lost.chain(self.near.iter().map(|near| near.0)).map(|n| self.response(n));
        let torn: HashSet<u64> = torn.filter(|response| *response != 0).collect();
        // Behind which record of the chain a response's lost rows go, and in which order responses appear.
        let (mut anchor, mut responses) = (HashMap::new(), Vec::new());
        for &n in self.chain {
            let response = self.response(n);
            if torn.contains(&response) && anchor.insert(response, n).is_none() {
                responses.push(response);
            }
        }
        let members = (0..).zip(order.iter().copied()).map(|(place, n)| (self.response(n), place, n));
        self.members = members.filter(|(response, ..)| anchor.contains_key(response)).collect();
        self.members.sort_unstable();
        let answers = self.chain.iter().flat_map(|&n| self.answers(n));
        let answered: HashSet<u64> = answers.filter(|call| wanted.contains(call)).collect();
        let mut inserted: HashMap<u32, Vec<u32>> = HashMap::new();
        for response in responses {
            let rows = self.lost_rows(response, &answered);
            for &n in &rows {
                self.shown[n as usize] = true;
            }
            if !rows.is_empty() {
                inserted.insert(anchor[&response], rows);
            }
        }
        let mut whole = Vec::with_capacity(self.chain.len());
        for &n in self.chain {
            whole.push(n);
            whole.extend(inserted.remove(&n).unwrap_or_default());
        }
        Some(whole)
    }

    /// Rule 3: the last copy of each id, in the order in which ids first appear.
    fn in_order_of_appearance(&self) -> Vec<u32> {
        let mut later = vec![false; self.facts.records.len()];
        for &(_, n) in &self.graph.repeats {
            later[n as usize] = true;
        }
        numbered(&self.facts.records)
            .filter(|(n, _)| self.graph.has(*n, self.facts) && !later[*n as usize])
            .map(|(n, _)| self.graph.canonical(n, self.facts))
            .collect()
    }

    /// Finds to which rows results off the chain may belong. Returns the calls that those answer.
    fn index(&mut self, order: &[u32]) -> HashSet<u64> {
        let facts = self.facts;
        let results: Vec<(u32, u32)> =
            (0..).zip(order.iter().copied()).filter(|&(_, n)| !self.shown[n as usize] && self.is_result(n)).collect();
        let wanted: HashSet<u64> = results.iter().flat_map(|&(_, n)| self.answers(n)).collect();
        let named: HashSet<u64> = results.iter().map(|&(_, n)| facts.records[n as usize].target()).collect();
        let mut by_id: HashMap<u64, u32> = HashMap::new();
        for &n in order {
            let response = self.response(n);
            if response == 0 {
                continue;
            }
            let id = facts.records[n as usize].id.short();
            if named.contains(&id) {
                by_id.insert(id, n);
            }
            for call in self.ids(n, BlockKind::Call).filter(|c| wanted.contains(c)).collect::<Vec<_>>() {
                let same = match self.owner.get(&call) {
                    None => true,
                    Some(None) => false,
                    Some(Some(first)) => self.response(*first) == response,
                };
                self.owner.insert(call, same.then_some(n));
            }
        }
        for (place, result) in results {
            let parent = self.graph.parent[result as usize];
            if parent < MISSING {
                self.near.push((parent, place, result));
            }
            if let Some(&named) = by_id.get(&facts.records[result as usize].target()) {
                self.near.push((named, place, result));
            }
            for call in self.answers(result).collect::<Vec<_>>() {
                if let Some(Some(owner)) = self.owner.get(&call) {
                    self.near.push((*owner, place, result));
                }
            }
        }
        self.near.sort_unstable();
        self.near.dedup();
        wanted
    }

    /// The rows of a response that were not shown yet, and its results: in the order in which they are put back.
    fn lost_rows(&self, response: u64, answered_on_chain: &HashSet<u64>) -> Vec<u32> {
        let from = self.members.partition_point(|m| m.0 < response);
        let members: Vec<u32> = self.members[from..].iter().take_while(|m| m.0 == response).map(|m| m.2).collect();
        let inside: HashSet<u32> = members.iter().copied().collect();
        let mut siblings: Vec<u32> = members.iter().copied().filter(|&n| !self.shown[n as usize]).collect();
        let (mut own, mut strays, mut met) = (Vec::new(), Vec::new(), HashSet::new());
        for &member in &members {
            let from = self.near.partition_point(|n| n.0 < member);
            for &(_, place, result) in self.near[from..].iter().take_while(|n| n.0 == member) {
                if self.shown[result as usize] || met.contains(&result) || !self.belongs(result, member) {
                    continue;
                }
                met.insert(result);
                if inside.contains(&self.graph.parent[result as usize]) {
                    own.push(result);
                } else {
                    strays.push((place, result));
                }
            }
        }
        let mut answered: HashSet<u64> = own.iter().flat_map(|&n| self.answers(n)).collect();
        strays.sort_unstable();
        for (_, result) in strays {
            let opens = self.answers(result).any(|call| {
                let owned_here = self.owner.get(&call).is_some_and(|o| o.is_some_and(|n| inside.contains(&n)));
                owned_here && !answered.contains(&call) && !answered_on_chain.contains(&call)
            });
            if opens {
                answered.extend(self.answers(result));
                own.push(result);
            }
        }
        let time = |n: &u32| self.facts.records[*n as usize].time;
        siblings.sort_by_key(time);
        own.sort_by_key(time);
        siblings.extend(own);
        siblings
    }

    /// Whether a result belongs to a row: it is its parent, or the row is named or owns an answered call, by the same writer.
    fn belongs(&self, result: u32, member: u32) -> bool {
        if self.graph.parent[result as usize] == member {
            return true;
        }
        let (r, m) = (&self.facts.records[result as usize], &self.facts.records[member as usize]);
        let named = r.target() != 0 && r.target() == m.id.short();
        let owned = || self.answers(result).any(|call| self.owner.get(&call) == Some(&Some(member)));
        (named || owned()) && r.has(flag::SIDECHAIN) == m.has(flag::SIDECHAIN) && r.agent == m.agent
    }

    fn ids(&self, n: u32, kind: BlockKind) -> impl Iterator<Item = u64> + use<'a> {
        let blocks = self.facts.blocks_of(&self.facts.records[n as usize]);
        blocks.iter().filter(move |b| b.kind == kind && b.flags & block::NO_ID == 0).map(|b| b.id)
    }

    fn answers(&self, n: u32) -> impl Iterator<Item = u64> + use<'a> {
        self.ids(n, BlockKind::Result)
    }

    /// The response that an assistant record is a row of, 0 for none.
    fn response(&self, n: u32) -> u64 {
        let record = &self.facts.records[n as usize];
        if record.kind == Kind::Assistant { record.group() } else { 0 }
    }

    /// A user record with a parent and at least one result.
    fn is_result(&self, n: u32) -> bool {
        let record = &self.facts.records[n as usize];
        record.kind == Kind::User
            && record.has(flag::PARENT_STRING)
            && !record.parent.is_none()
            && self.facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result)
    }
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
