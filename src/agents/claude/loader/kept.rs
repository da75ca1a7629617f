//! What compactions keep, hung where the newer loader hangs it (rule D in `docs/formats/claude-code.md`).

use std::collections::HashMap;

use super::sdk_npm::{Raises, TYPE_ERROR};
use crate::chain::graph::{Graph, MISSING, NO_PARENT, numbered};
use crate::record::facts::{Facts, Id, Kind, Record, flag};
use crate::record::json::Kind as Json;
use crate::record::reread;
use crate::record::value::Value;
use crate::store::Source;

/// Parents that are no id, told apart as JavaScript tells them apart. No hash of an id begins with 0.
const ABSENT: Id = Id(0, 1);
const EMPTY: Id = Id(0, 2);
const NULL: Id = Id::NONE;

/// The parent of each record once what is kept is hung in; none when no compaction keeps anything.
pub(super) fn parents(source: &Source, facts: &Facts, graph: &Graph) -> Result<Option<Vec<u32>>, Raises> {
    let boundaries = in_order_of_appearance(facts, graph);
    if boundaries.is_empty() {
        return Ok(None);
    }
    let mut links = Links::new(facts, graph);
    for n in boundaries {
        let text = reread::text(source, &facts.records[n as usize]).unwrap_or_default();
        let Some(meta) = Value::parse(&text).and_then(|row| row.get("compactMetadata")) else { continue };
        let truthy = |key| meta.get(key).filter(Value::truthy);
        if let Some(kept) = truthy("preservedMessages") {
            list(&kept, &mut links)?;
        } else if let Some(segment) = truthy("preservedSegment") {
            let anchor = key(segment.get("anchorUuid"));
            let head = links.find(key(segment.get("headUuid")));
            if let Some(head) = head {
                links.hang(head, anchor);
            }
            links.hang_rest(anchor, head, key(segment.get("tailUuid")));
        }
    }
    Ok(Some(links.parents()))
}

/// Boundaries that say what they keep: the last copy of each, in the order in which their ids first appear.
fn in_order_of_appearance(facts: &Facts, graph: &Graph) -> Vec<u32> {
    let keeps = |r: &Record| r.kind == Kind::System && r.has(flag::BOUNDARY | flag::LOOK);
    let is_last = |n: u32| graph.has(n, facts) && graph.canonical(n, facts) == n;
    let nodes = numbered(&facts.records).filter(|(n, r)| keeps(r) && is_last(*n));
    let mut all: Vec<u32> = nodes.map(|(n, _)| n).collect();
    if all.len() > 1 {
        let before: HashMap<u32, u32> = graph.repeats.iter().map(|&(earlier, n)| (n, earlier)).collect();
        let first = |n: &u32| std::iter::successors(Some(*n), |n| before.get(n).copied()).last();
        all.sort_by_cached_key(first);
    }
    all
}

/// `preservedMessages`: each under the one before, the first under the anchor, and what hung there under the last.
fn list(kept: &Value<'_>, links: &mut Links<'_>) -> Result<(), Raises> {
    let uuids = match kept.get("uuids") {
        Some(uuids) if uuids.kind() == Json::Array => uuids,
        // It asks for the number of entries, and then for the first.
        Some(other) => match other.kind() {
            Json::Null => return Err(TYPE_ERROR),
            Json::String if other.truthy() => return Err(TYPE_ERROR),
            Json::Object if other.get("0").is_some() => return Err(TYPE_ERROR),
            _ => return Ok(()),
        },
        None => return Err(TYPE_ERROR),
    };
    let items = uuids.items();
    let found: Option<Vec<u32>> = items.iter().map(|id| links.find(key(Some(*id)))).collect();
    let Some(found) = found.filter(|found| !found.is_empty()) else { return Ok(()) };
    let anchor = key(kept.get("anchorUuid"));
    let mut link = anchor;
    for (&n, id) in found.iter().zip(&items) {
        links.hang(n, link);
        link = key(Some(*id));
    }
    links.hang_rest(anchor, found.first().copied(), link);
    Ok(())
}

/// What a value is as a parent.
fn key(value: Option<Value<'_>>) -> Id {
    let Some(value) = value else { return ABSENT };
    match value.kind() {
        Json::Null => NULL,
        Json::String => value.text().filter(|t| !t.as_bytes().is_empty()).map_or(EMPTY, |t| Id::of(t.as_bytes())),
        _ => Id::of_other(value.raw()),
    }
}

/// Records in groups that have one parent. Hanging all children of one record under another joins two groups, however
/// many they are.
struct Links<'a> {
    facts: &'a Facts,
    graph: &'a Graph,
    /// Of each record its group; of a record that is not the last of its id none.
    group: Vec<u32>,
    /// Groups that were joined: each points towards the one that it became.
    joined: Vec<u32>,
    /// The parent of each group.
    parent: Vec<Id>,
    by_parent: HashMap<Id, u32>,
}

impl<'a> Links<'a> {
    fn new(facts: &'a Facts, graph: &'a Graph) -> Self {
        let mut links = Links {
            facts,
            graph,
            group: vec![u32::MAX; facts.records.len()],
            joined: Vec::new(),
            parent: Vec::new(),
            by_parent: HashMap::new(),
        };
        for (n, record) in numbered(&facts.records) {
            if graph.has(n, facts) && graph.canonical(n, facts) == n {
                let parent = match record.parent {
                    Id::NONE if !record.has(flag::PARENT_KEY) => ABSENT,
                    Id::NONE if record.has(flag::PARENT_STRING) => EMPTY,
                    parent => parent,
                };
                links.group[n as usize] = links.group_of(parent);
            }
        }
        links
    }

    fn find(&self, id: Id) -> Option<u32> {
        self.graph.find(id, self.facts)
    }

    fn group_of(&mut self, parent: Id) -> u32 {
        let next = self.joined.len() as u32;
        let group = *self.by_parent.entry(parent).or_insert(next);
        if group == next {
            self.joined.push(next);
            self.parent.push(parent);
        }
        group
    }

    /// What a group became.
    fn root(&mut self, mut group: u32) -> u32 {
        while self.joined[group as usize] != group {
            let above = self.joined[self.joined[group as usize] as usize];
            self.joined[group as usize] = above;
            group = above;
        }
        group
    }

    /// Gives one record a parent.
    fn hang(&mut self, n: u32, parent: Id) {
        self.group[n as usize] = self.group_of(parent);
    }

    /// Gives all children of one record but its head another parent.
    fn hang_rest(&mut self, anchor: Id, head: Option<u32>, tail: Id) {
        let Some(from) = self.by_parent.remove(&anchor) else { return };
        if let Some(head) = head {
            let group = self.group[head as usize];
            if self.root(group) == from {
                self.hang(head, anchor);
            }
        }
        let to = self.group_of(tail);
        self.joined[from as usize] = to;
    }

    /// The number of each record's parent.
    fn parents(mut self) -> Vec<u32> {
        let mut parents = self.graph.parent.clone();
        for (n, parent) in parents.iter_mut().enumerate() {
            if self.group[n] == u32::MAX {
                continue;
            }
            let group = self.root(self.group[n]);
            *parent = match self.parent[group as usize] {
                ABSENT | EMPTY | NULL => NO_PARENT,
                id => self.graph.find(id, self.facts).unwrap_or(MISSING),
            };
        }
        parents
    }
}
