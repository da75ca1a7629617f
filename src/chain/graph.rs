//! The graph that records make: ids, parents, children. One for every agent; what differs is which records count.
//!
//! Linear in the number of records whatever the shape: a million children of one parent, a million records with one id.

use super::agent::Loader;
use crate::record::facts::{Facts, Id, IdTable, Record};

/// A parent that is null, absent or empty.
pub const NO_PARENT: u32 = u32::MAX;
/// A parent that no record of the file bears.
pub const MISSING: u32 = u32::MAX - 1;

/// Ids, parents and children of one file. Numbers are places in [`Facts::records`].
#[derive(Debug)]
pub struct Graph {
    table: IdTable,
    /// Of each record its parent's number, [`NO_PARENT`] or [`MISSING`]. Of several records with one id the last is meant.
    pub parent: Vec<u32>,
    /// Records whose id stood before: the earlier one and this one, in file order.
    pub repeats: Vec<(u32, u32)>,
    starts: Vec<u32>,
    children: Vec<u32>,
    agent: &'static dyn Loader,
}

impl Graph {
    /// Links the records of a file.
    pub fn new(agent: &'static dyn Loader, facts: &Facts) -> Self {
        let records = &facts.records;
        let of = |n: u32| records[n as usize].id;
        let mut table = IdTable::with_capacity(records.len());
        let mut repeats = Vec::new();
        for (n, record) in numbered(records) {
            if agent.is_node(record)
                && let Some(earlier) = table.put(record.id, n, true, of)
            {
                repeats.push((earlier, n));
            }
        }
        let mut parent = vec![NO_PARENT; records.len()];
        for (n, record) in numbered(records) {
            if agent.is_node(record) && !record.parent.is_none() && !agent.begins(record) {
                parent[n as usize] = table.get(record.parent, of).unwrap_or(MISSING);
            }
        }
        Graph { table, parent: Vec::new(), repeats, starts: Vec::new(), children: Vec::new(), agent }
            .with_parents(parent)
    }

    /// The same records under these parents.
    #[must_use]
    pub fn with_parents(self, parent: Vec<u32>) -> Self {
        let mut starts = vec![0_u32; parent.len() + 1];
        for &found in parent.iter().filter(|p| **p < MISSING) {
            starts[found as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut children = vec![0_u32; *starts.last().unwrap_or(&0) as usize];
        let mut next = starts.clone();
        for (n, &p) in parent.iter().enumerate() {
            if p < MISSING {
                let slot = &mut next[p as usize];
                children[*slot as usize] = n as u32;
                *slot += 1;
            }
        }
        Graph { parent, starts, children, ..self }
    }

    /// The last record that bears an id.
    pub fn find(&self, id: Id, facts: &Facts) -> Option<u32> {
        self.table.get(id, |n| facts.records[n as usize].id)
    }

    /// The record that stands for this one's id: the last with it.
    pub fn canonical(&self, n: u32, facts: &Facts) -> u32 {
        self.find(facts.records[n as usize].id, facts).unwrap_or(n)
    }

    /// The records that name this one as their parent, in file order (for an id that several bear: those of the last).
    pub fn children(&self, n: u32) -> &[u32] {
        let n = n as usize;
        &self.children[self.starts[n] as usize..self.starts[n + 1] as usize]
    }

    /// Whether the record takes part in the chain.
    pub fn has(&self, n: u32, facts: &Facts) -> bool {
        self.agent.is_node(&facts.records[n as usize])
    }

    /// Records without a parent, in file order.
    pub fn heads(&self, facts: &Facts) -> Vec<u32> {
        self.select(facts, |n| self.parent[n as usize] == NO_PARENT)
    }

    /// Records that nobody names as parent, in file order.
    pub fn leaves(&self, facts: &Facts) -> Vec<u32> {
        self.select(facts, |n| self.children(self.canonical(n, facts)).is_empty())
    }

    fn select(&self, facts: &Facts, keep: impl Fn(u32) -> bool) -> Vec<u32> {
        (0..facts.records.len() as u32).filter(|&n| self.has(n, facts) && keep(n)).collect()
    }
}

/// Records with their numbers.
pub fn numbered(records: &[Record]) -> impl DoubleEndedIterator<Item = (u32, &Record)> + ExactSizeIterator {
    records.iter().enumerate().map(|(n, r)| (n as u32, r))
}

impl Graph {
    /// Whether a record takes part in the chain, by the record alone.
    pub fn has_kind(&self, record: &Record) -> bool {
        self.agent.is_node(record)
    }
}
