//! How records hang together, and which of them the agent's own loader brings back.
//!
//! One graph, and each agent's rule as data over it. The rules are restated from `docs/formats/`; where an agent never
//! returns (pi on a cycle) the walk ends with a mark instead.

pub mod agent;
pub mod format;
pub mod graph;
pub mod linear;
pub mod recover;
pub mod shape;
pub mod survey;
pub mod walk;

use crate::record::facts::Facts;
use crate::store::Source;

/// How the loader reads the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// sid-code: upwards from the tail.
    Chain,
    /// sid-code: every line in physical order; pi v1.
    Linear,
    /// By a map of ids.
    Tree,
    /// One JSON document.
    File,
    /// Nothing to read.
    None,
}

impl Mode {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Chain => "chain",
            Mode::Linear => "linear",
            Mode::Tree => "tree",
            Mode::File => "file",
            Mode::None => "none",
        }
    }
}

/// Where the walk towards the root ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// At a record without a parent.
    Root,
    /// At this record, whose parent no record bears.
    MissingParent(u32),
    /// At this record, whose parent was met before.
    Repeat(u32),
    /// At this record, whose parent stands further down, where the loader does not look (sid-code).
    ParentBelow(u32),
}

/// Why the loader brings nothing back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// No line is JSON.
    NothingParses,
    /// No start record with a session id among what was adopted.
    NoStart,
    /// The loader throws at this record.
    Throws(u32, &'static str),
    /// The loader raises at this line.
    Raises(u32, &'static str),
    /// The header is missing or unreadable.
    NoHeader,
    /// The loader never returns.
    NeverReturns(u32),
    /// A whole-file session that is no JSON, or holds no messages.
    BadDocument(&'static str),
}

impl Refusal {
    /// What the loader raises, where it raises.
    pub fn raises(self) -> Option<&'static str> {
        match self {
            Refusal::Throws(_, what) | Refusal::Raises(_, what) => Some(what),
            _ => None,
        }
    }
}

/// What a loader that does not judge brings back of a file: agents have several, and they differ.
#[derive(Debug)]
pub struct Reading {
    /// Its name, as in reports.
    pub loader: &'static str,
    /// The records that it returns as messages, in its order.
    pub messages: Vec<u32>,
    /// What it raises instead.
    pub raises: Option<&'static str>,
    /// Where it takes other records from the file than the loader that judges: those that the numbers are of.
    pub own: Option<Box<Own>>,
}

/// The records that one loader takes from a file.
#[derive(Debug)]
pub struct Own {
    /// The part of the file that it reads.
    pub source: Source,
    /// What is known of its lines.
    pub facts: Facts,
    /// How many lines stand before that part.
    pub lines_before: u32,
}

/// What a loader makes of one file. Numbers are places in [`records`](crate::record::facts::Facts::records).
#[derive(Debug)]
pub struct Chain {
    /// How it reads.
    pub mode: Mode,
    /// The leaf or tail it starts from.
    pub leaf: Option<u32>,
    /// The records it takes, in its order.
    pub adopted: Vec<u32>,
    /// The messages it returns, in its order.
    pub messages: Vec<u32>,
    /// Where its walk ended.
    pub stop: Stop,
    /// Why it returns nothing.
    pub refusal: Option<Refusal>,
    /// pi: the compaction whose first kept entry is not on the path.
    pub kept_range_lost: Option<u32>,
}

impl Chain {
    /// Nothing was read.
    pub fn none(refusal: Option<Refusal>) -> Self {
        Chain {
            mode: Mode::None,
            leaf: None,
            adopted: Vec::new(),
            messages: Vec::new(),
            stop: Stop::Root,
            refusal,
            kept_range_lost: None,
        }
    }

    /// Whether the loader returns at least one message.
    pub fn loads(&self) -> bool {
        self.refusal.is_none() && !self.messages.is_empty()
    }
}
