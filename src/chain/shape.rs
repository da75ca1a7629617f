//! The shape of a graph around what was adopted: what each record's subtree holds, and where branches part.
//!
//! Linear time, four words a record: a subtree's figures are added up once, in an order in which children come first.

use std::cell::OnceCell;

use super::Chain;
use super::agent::Loader;
use super::graph::{Graph, MISSING};
use crate::record::facts::{BlockKind, Facts, Kind, Record, flag};

/// What the subtree of one record holds, itself included. Positions are record numbers.
#[derive(Clone, Copy, Debug)]
pub struct Below {
    /// The first typed prompt.
    pub first_prompt: u32,
    /// The last message that is shown.
    pub last_message: u32,
    /// Messages that are shown.
    pub messages: u32,
    /// Shown messages of the model that were not adopted.
    pub left_assistants: u32,
}

/// No such record.
pub const NOWHERE: u32 = u32::MAX;

/// Subtrees and adoption of one file.
#[derive(Debug)]
pub struct Shape<'a> {
    agent: &'static dyn Loader,
    facts: &'a Facts,
    graph: &'a Graph,
    /// Added up when a rule first asks: a plain chain never does, and a million records would cost 16 MB for nothing.
    below: OnceCell<Vec<Below>>,
    /// Whether the loader took the record (by the record that stands for its id).
    pub adopted: Vec<bool>,
}

impl<'a> Shape<'a> {
    /// The shape of a file around what was adopted.
    pub fn new(agent: &'static dyn Loader, facts: &'a Facts, graph: &'a Graph, chain: &Chain) -> Self {
        let mut adopted = vec![false; facts.records.len()];
        for &n in &chain.adopted {
            adopted[n as usize] = true;
        }
        Shape { agent, facts, graph, below: OnceCell::new(), adopted }
    }

    /// What the subtree of a record holds.
    pub fn below(&self, n: u32) -> Below {
        self.below.get_or_init(|| self.add_up())[n as usize]
    }

    /// Adds up every subtree.
    fn add_up(&self) -> Vec<Below> {
        let Shape { agent, facts, graph, adopted, .. } = self;
        let mut below: Vec<Below> = (0..)
            .zip(&facts.records)
            .map(|(n, r)| {
                let shown = agent.is_shown(r);
                Below {
                    first_prompt: if is_prompt(facts, r) { n } else { NOWHERE },
                    last_message: if shown { n } else { NOWHERE },
                    messages: u32::from(shown),
                    left_assistants: u32::from(shown && r.kind == Kind::Assistant && !adopted[n as usize]),
                }
            })
            .collect();
        for n in super::walk::leaves_first(graph) {
            let p = graph.parent[n as usize];
            if p >= MISSING {
                continue;
            }
            let child = below[n as usize];
            let parent = &mut below[p as usize];
            parent.first_prompt = parent.first_prompt.min(child.first_prompt);
            parent.last_message = match (parent.last_message, child.last_message) {
                (NOWHERE, other) | (other, NOWHERE) => other,
                (a, b) => a.max(b),
            };
            parent.messages = parent.messages.saturating_add(child.messages);
            parent.left_assistants = parent.left_assistants.saturating_add(child.left_assistants);
        }
        below
    }
}

/// A prompt that a person typed: a user's text that is no tool result, meta row, own command, interrupt marker or summary.
pub fn is_prompt(facts: &Facts, record: &Record) -> bool {
    const NOT_TYPED: u64 =
        flag::META | flag::SIDECHAIN | flag::TEAM | flag::LOCAL_COMMAND | flag::INTERRUPT | flag::COMPACT_SUMMARY;
    record.kind == Kind::User
        && !record.any(NOT_TYPED)
        && !facts.blocks_of(record).is_empty()
        && !facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result)
}
