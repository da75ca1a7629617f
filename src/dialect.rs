//! The agents whose sessions are read here, and the versions that their rules were taken from.

use serde::Serialize;
use std::fmt;

/// An agent's way of writing and loading sessions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that
    Sid,
    /// Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it
    Claude,
    /// pi: `id`/`parentId`, versions 1 to 3
    Pi,
    /// OpenClaw: pi's entries, its own leaf rule
    Openclaw,
}

impl Dialect {
    /// The loader whose rules judge: name and version that was run or read.
    pub fn loader(self) -> &'static str {
        match self {
            Dialect::Sid => "sid-code 3f3215144f68",
            Dialect::Claude => "claude-agent-sdk 0.2.189",
            Dialect::Pi => "pi 1.6.0",
            Dialect::Openclaw => "openclaw 2026.7.35",
        }
    }

    /// The formats of its sessions that are read here.
    pub fn formats(self) -> &'static str {
        match self {
            Dialect::Sid => "formats 2.0 and 3.0, and whole-file JSON before that",
            Dialect::Claude => "clients 2.0 and 2.1, which state no format of their own",
            Dialect::Pi => "formats 1 to 3",
            Dialect::Openclaw => "pi's format 3, with its own leaf rule",
        }
    }

    /// The word for it on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Sid => "sid",
            Dialect::Claude => "claude",
            Dialect::Pi => "pi",
            Dialect::Openclaw => "openclaw",
        }
    }

    /// The agent's own name, for a sentence.
    pub fn agent(self) -> &'static str {
        match self {
            Dialect::Sid => "sid-code",
            Dialect::Claude => "Claude Code",
            Dialect::Pi => "pi",
            Dialect::Openclaw => "OpenClaw",
        }
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
