//! Whose sessions are read: the value that stands for an agent in every room, and what the agent says of itself.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Serialize, Serializer};

/// What an agent says of itself.
#[derive(Debug)]
pub struct Identity {
    /// The word for it on the command line and in JSON. No two agents have the same.
    pub name: &'static str,
    /// Its own name, for a sentence.
    pub agent: &'static str,
    /// The loader whose rules judge: name and version that was run or read.
    pub loader: &'static str,
    /// The formats of its sessions that are read here.
    pub formats: &'static str,
    /// What the command line says of it.
    pub about: &'static str,
    /// Its place where agents are listed.
    pub place: u8,
}

/// An agent, by what it says of itself.
#[derive(Clone, Copy)]
pub struct AgentId(&'static Identity);

impl AgentId {
    /// The agent with this identity.
    pub const fn new(identity: &'static Identity) -> Self {
        AgentId(identity)
    }

    /// What it says of itself.
    pub fn identity(self) -> &'static Identity {
        self.0
    }

    /// The loader whose rules judge: name and version that was run or read.
    pub fn loader(self) -> &'static str {
        self.0.loader
    }

    /// The word for it on the command line and in JSON.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The agent's own name, for a sentence.
    pub fn agent(self) -> &'static str {
        self.0.agent
    }
}

impl PartialEq for AgentId {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for AgentId {}

impl PartialOrd for AgentId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AgentId {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.0.place, self.0.name).cmp(&(other.0.place, other.0.name))
    }
}

impl Hash for AgentId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for AgentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
