//! Whose sessions are read: the value that stands for an agent in every room, and what the agent says of itself.

use std::fmt;
use std::sync::OnceLock;

use serde::{Serialize, Serializer};

/// What an agent says of itself.
#[derive(Debug)]
pub struct Identity {
    /// The word for it on the command line and in JSON.
    pub name: &'static str,
    /// Its own name, for a sentence.
    pub agent: &'static str,
    /// The loader whose rules judge: name and version that was run or read.
    pub loader: &'static str,
    /// The formats of its sessions that are read here.
    pub formats: &'static str,
    /// What the command line says of it.
    pub about: &'static str,
}

/// An agent's way of writing and loading sessions. One byte: it is kept for every file of a store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dialect {
    /// The first one.
    Sid,
    /// The second one.
    Claude,
    /// The third one.
    Pi,
    /// The fourth one.
    Openclaw,
}

/// What the agents said of themselves, by their place.
static KNOWN: [OnceLock<&'static Identity>; 4] = [const { OnceLock::new() }; 4];

/// What is said of an agent that said nothing.
static NOBODY: Identity =
    Identity { name: "unknown", agent: "unknown", loader: "unknown", formats: "none", about: "nothing is known of it" };

impl Dialect {
    /// The agent with this identity.
    #[must_use]
    pub fn of(self, identity: &'static Identity) -> Self {
        KNOWN[self as usize].get_or_init(|| identity);
        self
    }

    /// What it says of itself.
    pub fn identity(self) -> &'static Identity {
        KNOWN[self as usize].get().copied().unwrap_or(&NOBODY)
    }

    /// The loader whose rules judge: name and version that was run or read.
    pub fn loader(self) -> &'static str {
        self.identity().loader
    }

    /// The word for it on the command line and in JSON.
    pub fn name(self) -> &'static str {
        self.identity().name
    }

    /// The agent's own name, for a sentence.
    pub fn agent(self) -> &'static str {
        self.identity().agent
    }

    /// Whether the records are pi's entries (`id`, `parentId`).
    pub fn is_pi(self) -> bool {
        matches!(self, Dialect::Pi | Dialect::Openclaw)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
