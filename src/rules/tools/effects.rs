//! What an open call may have done: its side-effect class, by the tool's name.
//!
//! Names are those of each agent's own tools; a name that is none of them is "outside or unknown", never harmless. A
//! command may do anything, so it is never read-only here, whatever it says.

use super::held::Held;
use crate::dialect::Dialect;
use crate::record::facts::{Kind, Record};
use crate::record::{reread, value::Value};
use crate::request::Role;
use crate::session::Session;

/// What a call may have done before its result was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SideEffect {
    /// Nothing: it can be asked for again.
    ReadOnly,
    /// It writes a file.
    FileWrite,
    /// A command, another service, another agent, or a tool that is not known here.
    Outside,
}

impl SideEffect {
    pub(super) fn name(self) -> &'static str {
        match self {
            SideEffect::ReadOnly => "read-only",
            SideEffect::FileWrite => "file write",
            SideEffect::Outside => "outside or unknown",
        }
    }
}

const CLAUDE_READS: &[&str] = &[
    "Read",
    "Grep",
    "Glob",
    "LS",
    "LSP",
    "NotebookRead",
    "TodoRead",
    "TodoWrite",
    "BashOutput",
    "TaskOutput",
    "TaskList",
    "TaskGet",
    "ToolSearch",
    "AskUserQuestion",
    "ExitPlanMode",
    "EnterPlanMode",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "WebSearch",
    "WebFetch",
];
const CLAUDE_WRITES: &[&str] = &["Write", "Edit", "MultiEdit", "NotebookEdit"];
const SID_READS: &[&str] = &[
    "read",
    "read_file",
    "ls",
    "list",
    "grep",
    "glob",
    "find",
    "search",
    "todo",
    "todo_read",
    "todo_write",
    "web_fetch",
    "web_search",
    "ask_user",
];
const SID_WRITES: &[&str] = &["write", "write_file", "edit", "edit_file", "multi_edit", "notebook_edit"];
const PI_READS: &[&str] = &["read", "grep", "find", "ls"];
const PI_WRITES: &[&str] = &["write", "edit"];

/// The class of a tool.
pub(super) fn class(dialect: Dialect, tool: &str) -> SideEffect {
    let (reads, writes) = match dialect {
        Dialect::Claude => (CLAUDE_READS, CLAUDE_WRITES),
        Dialect::Sid => (SID_READS, SID_WRITES),
        Dialect::Pi | Dialect::Openclaw => (PI_READS, PI_WRITES),
    };
    if reads.contains(&tool) {
        SideEffect::ReadOnly
    } else if writes.contains(&tool) {
        SideEffect::FileWrite
    } else {
        SideEffect::Outside
    }
}

/// How many file-history rows are read for one call.
const ROWS: usize = 64;

/// Whether the file that a call would write is in a snapshot of its turn. None where the session cannot tell: sid-code
/// keeps its snapshots in another layer.
pub(super) fn snapshot(session: &Session, held: &Held, record: u32, block: u32) -> Option<bool> {
    match session.dialect {
        Dialect::Sid => None,
        Dialect::Pi | Dialect::Openclaw => Some(false),
        Dialect::Claude => file_history(session, held, record, block),
    }
}

/// Claude Code writes the files that it is about to change into a file-history row beside the prompt of the turn, or as a
/// delta to it.
fn file_history(session: &Session, held: &Held, record: u32, block: u32) -> Option<bool> {
    let path = held.block(session, record, block as usize, |call| {
        let input = call.get("input")?;
        input.get("file_path").or_else(|| input.get("notebook_path"))?.string()
    })?;
    let is_prompt =
        |r: &Record| r.kind == Kind::User && crate::agents::of_session(session).role(&session.facts, r) == Role::Prompt;
    let records = &session.facts.records;
    let prompt = records[..record as usize].iter().rposition(is_prompt).unwrap_or(0);
    let end = records[record as usize..].iter().position(is_prompt).map_or(records.len(), |n| record as usize + n);
    let is_history = |r: &&Record| matches!(r.kind, Kind::FileSnapshot | Kind::FileDelta);
    // The row of the prompt may stand just in front of it.
    let history = records[prompt.saturating_sub(2)..end].iter().filter(is_history);
    Some(history.take(ROWS).any(|row| names(session, row, &path)))
}

fn names(session: &Session, row: &Record, path: &str) -> bool {
    let Ok(text) = reread::text(&session.source, row) else { return false };
    let Some(value) = Value::parse(&text) else { return false };
    // Paths below the working directory are written relative to it.
    let same = |key: &str| key == path || (!key.is_empty() && path.ends_with(&format!("/{key}")));
    let mut found = value.get("trackingPath").and_then(|v| v.string()).is_some_and(|key| same(&key));
    if let Some(files) = value.at(&["snapshot", "trackedFileBackups"]) {
        files.each_member(|key, _| found |= same(&crate::text::lossy(key)));
    }
    found
}
