//! Rows of parallel calls, which are not on the way up from the leaf: both loaders put them back (rule 6, and F for the
//! newer one), `docs/formats/claude-code.md`.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::chain::graph::{Graph, MISSING, NO_PARENT, numbered};
use crate::record::facts::{BlockKind, Facts, Kind, Record, block, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::store::Source;

/// A chain with the rows of its responses that the way up does not meet, put back.
pub(crate) fn with_parallel(facts: &Facts, graph: &Graph, walked: Vec<u32>) -> Vec<u32> {
    Repair::new(facts, graph, &walked, None).whole().unwrap_or(walked)
}

/// The same as the newer loader does it; none when it raises.
pub(super) fn with_parallel_by_text(
    facts: &Facts,
    graph: &Graph,
    walked: Vec<u32>,
    source: &Source,
) -> Option<Vec<u32>> {
    let mut repair = Repair::new(facts, graph, &walked, Some(source));
    let whole = repair.whole();
    let raised = repair.raised.get();
    (!raised).then(|| whole.unwrap_or(walked))
}

/// A record's time as it is written: empty for none, none when it is no text.
fn stamp(source: &Source, record: &Record) -> Option<String> {
    let text = reread::text(source, record).unwrap_or_default();
    match Value::parse(&text).and_then(|row| row.get("timestamp")) {
        Some(time) if time.raw() != b"null" => time.string(),
        _ => Some(String::new()),
    }
}

/// As JavaScript's `localeCompare` orders ASCII: signs, digits, letters whatever their case; then small before large.
fn order_key(text: &str) -> (Vec<(u8, u32)>, Vec<bool>) {
    const SIGNS: &str = "\t\n\u{b}\u{c}\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";
    let weight = |c: char| match SIGNS.chars().position(|sign| sign == c) {
        Some(place) => (0, place as u32),
        None if c.is_ascii_alphabetic() => (1, c.to_ascii_lowercase() as u32),
        None => (2, c as u32),
    };
    let counts = |c: &char| SIGNS.contains(*c) || !c.is_control();
    (text.chars().filter(counts).map(weight).collect(), text.chars().filter(counts).map(char::is_uppercase).collect())
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
    /// The file, for the newer loader: it puts rows in the order of their times as texts.
    times: Option<&'a Source>,
    /// Whether a time that is no text had to be compared.
    raised: Cell<bool>,
}

impl<'a> Repair<'a> {
    fn new(facts: &'a Facts, graph: &'a Graph, chain: &'a [u32], times: Option<&'a Source>) -> Self {
        let mut shown = vec![false; facts.records.len()];
        for &n in chain {
            shown[graph.canonical(n, facts) as usize] = true;
        }
        Repair {
            facts,
            graph,
            chain,
            shown,
            members: Vec::new(),
            owner: HashMap::new(),
            near: Vec::new(),
            times,
            raised: Cell::new(false),
        }
    }

    /// The chain with them; none when all is on it.
    fn whole(&mut self) -> Option<Vec<u32>> {
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
        self.sort_by_time(&mut siblings);
        self.sort_by_time(&mut own);
        siblings.extend(own);
        siblings
    }

    /// Both loaders compare times as texts; where all are times, that is their order.
    fn sort_by_time(&self, rows: &mut [u32]) {
        let record = |n: &u32| &self.facts.records[*n as usize];
        let Some(source) = self.times.filter(|_| rows.len() > 1 && rows.iter().any(|n| record(n).has(flag::TIME_BAD)))
        else {
            return rows.sort_by_key(|n| record(n).time);
        };
        let stamps: HashMap<u32, Option<String>> =
            rows.iter().map(|&n| (n, stamp(source, &self.facts.records[n as usize]))).collect();
        if rows[1..].iter().any(|n| stamps[n].is_none()) {
            self.raised.set(true);
        }
        rows.sort_by_cached_key(|n| order_key(stamps[n].as_deref().unwrap_or_default()));
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
        let has_parent = match self.times {
            Some(_) => self.graph.parent[n as usize] != NO_PARENT,
            None => record.has(flag::PARENT_STRING) && !record.parent.is_none(),
        };
        record.kind == Kind::User
            && has_parent
            && self.facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result)
    }
}
