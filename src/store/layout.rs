//! The folders of each agent's store as a table: what a folder is, and what the folders in it are.
//!
//! Only names decide here, from the home downwards. How a home is recognised stands in `home`, what the files in each
//! folder are in `classify`. Folders of a home that hold no part of its session store (plugins, caches, logs) have no
//! row: they are counted and not entered.

use crate::dialect::Dialect;

/// What a folder is, or what a root was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Layout {
    /// Standard input.
    Stdin,
    /// One file that a person passed.
    File,
    /// A folder of no agent's layout; what its files are is decided by their content.
    Plain,
    /// sid-code: the home.
    SidHome,
    /// sid-code: `sessions/`, and `.jsonl` directly in it (before 2026-07).
    SidSessions,
    /// sid-code: `sessions/<projectKey>/`, `sessions/_legacy/`.
    SidProject,
    /// sid-code: `summaries/` in either of them.
    SidSummaries,
    /// sid-code: `checkpoints/`.
    SidCheckpoints,
    /// sid-code: `checkpoints/<sessionId>/`.
    SidCheckpoint,
    /// sid-code: `active-sessions/`.
    SidActive,
    /// sid-code: `file-intents/`.
    SidIntents,
    /// sid-code: `progress/`.
    SidProgress,
    /// sid-code: `protocol-violations/`.
    SidViolations,
    /// Claude Code: the home.
    ClaudeHome,
    /// Claude Code: `projects/`.
    ClaudeProjects,
    /// Claude Code: `projects/<slug>/`.
    ClaudeProject,
    /// Claude Code: `projects/<slug>/<session>/`.
    ClaudeSession,
    /// Claude Code: `subagents/` and whatever lies in it.
    ClaudeSubagents,
    /// Claude Code: `tool-results/`.
    ClaudeSpilled,
    /// Claude Code: `file-history/`.
    ClaudeBackups,
    /// Claude Code: `file-history/<session>/`.
    ClaudeBackup,
    /// Claude Code: `sessions/`, the registry of live processes.
    ClaudeRegistry,
    /// pi: the agent folder.
    PiHome,
    /// pi: `sessions/`, and `.jsonl` directly in it (`--session-dir`).
    PiSessions,
    /// pi: `sessions/<encoded cwd>/`.
    PiProject,
    /// OpenClaw: the home.
    OpenclawHome,
    /// OpenClaw: `agents/`.
    OpenclawAgents,
    /// OpenClaw: `agents/<agent>/`.
    OpenclawAgent,
    /// OpenClaw: `agents/<agent>/agent/`, where newer versions keep a database.
    OpenclawDatabase,
    /// OpenClaw: `agents/<agent>/sessions/`.
    OpenclawSessions,
}

impl Layout {
    /// The agent whose layout it is; none for what no agent laid out.
    pub fn dialect(self) -> Option<Dialect> {
        use Layout::{
            ClaudeBackup, ClaudeBackups, ClaudeHome, ClaudeProject, ClaudeProjects, ClaudeRegistry, ClaudeSession,
            ClaudeSpilled, ClaudeSubagents, File, OpenclawAgent, OpenclawAgents, OpenclawDatabase, OpenclawHome,
            OpenclawSessions, PiHome, PiProject, PiSessions, Plain, SidActive, SidCheckpoint, SidCheckpoints, SidHome,
            SidIntents, SidProgress, SidProject, SidSessions, SidSummaries, SidViolations, Stdin,
        };
        match self {
            Stdin | File | Plain => None,
            SidHome | SidSessions | SidProject | SidSummaries | SidCheckpoints | SidCheckpoint | SidActive
            | SidIntents | SidProgress | SidViolations => Some(Dialect::Sid),
            ClaudeHome | ClaudeProjects | ClaudeProject | ClaudeSession | ClaudeSubagents | ClaudeSpilled
            | ClaudeBackups | ClaudeBackup | ClaudeRegistry => Some(Dialect::Claude),
            PiHome | PiSessions | PiProject => Some(Dialect::Pi),
            OpenclawHome | OpenclawAgents | OpenclawAgent | OpenclawDatabase | OpenclawSessions => {
                Some(Dialect::Openclaw)
            }
        }
    }

    /// What a folder of that name in this one is; none if it holds no part of a session store.
    pub(crate) fn child(self, name: &[u8]) -> Option<Layout> {
        match (self, name) {
            // a copied session folder still has its subagents in a folder of that name
            (Layout::Plain, b"subagents") => Some(Layout::ClaudeSubagents),
            (Layout::Plain, _) => Some(Layout::Plain),
            (Layout::SidHome, b"sessions") => Some(Layout::SidSessions),
            (Layout::SidHome, b"checkpoints") => Some(Layout::SidCheckpoints),
            (Layout::SidHome, b"active-sessions") => Some(Layout::SidActive),
            (Layout::SidHome, b"file-intents") => Some(Layout::SidIntents),
            (Layout::SidHome, b"progress") => Some(Layout::SidProgress),
            (Layout::SidHome, b"protocol-violations") => Some(Layout::SidViolations),
            (Layout::SidSessions | Layout::SidProject, b"summaries") => Some(Layout::SidSummaries),
            (Layout::SidSessions, _) => Some(Layout::SidProject),
            (Layout::SidCheckpoints, _) => Some(Layout::SidCheckpoint),
            (Layout::ClaudeHome, b"projects") => Some(Layout::ClaudeProjects),
            (Layout::ClaudeHome, b"file-history") => Some(Layout::ClaudeBackups),
            (Layout::ClaudeHome, b"sessions") => Some(Layout::ClaudeRegistry),
            (Layout::ClaudeProjects, _) => Some(Layout::ClaudeProject),
            (Layout::ClaudeProject, b"memory") => None,
            (Layout::ClaudeProject, _) => Some(Layout::ClaudeSession),
            (Layout::ClaudeSession, b"subagents") => Some(Layout::ClaudeSubagents),
            (Layout::ClaudeSession, b"tool-results") => Some(Layout::ClaudeSpilled),
            (Layout::ClaudeSubagents, _) => Some(Layout::ClaudeSubagents),
            (Layout::ClaudeBackups, _) => Some(Layout::ClaudeBackup),
            (Layout::PiHome, b"sessions") => Some(Layout::PiSessions),
            (Layout::PiSessions, _) => Some(Layout::PiProject),
            (Layout::OpenclawHome, b"agents") => Some(Layout::OpenclawAgents),
            // older homes kept one agent's sessions directly below
            (Layout::OpenclawHome, b"sessions") => Some(Layout::OpenclawSessions),
            (Layout::OpenclawAgents, _) => Some(Layout::OpenclawAgent),
            (Layout::OpenclawAgent, b"sessions") => Some(Layout::OpenclawSessions),
            (Layout::OpenclawAgent, b"agent") => Some(Layout::OpenclawDatabase),
            _ => None,
        }
    }

    /// Whether it is an agent's home.
    pub fn is_home(self) -> bool {
        matches!(self, Layout::SidHome | Layout::ClaudeHome | Layout::PiHome | Layout::OpenclawHome)
    }

    /// Whether a person who insists on that agent may still have this layout: pi and OpenClaw write the same entries.
    pub(crate) fn agrees_with(self, insist: Option<Dialect>) -> bool {
        match (self.dialect(), insist) {
            (Some(own), Some(asked)) => own == asked || (own.is_pi() && asked.is_pi()),
            _ => true,
        }
    }
}
