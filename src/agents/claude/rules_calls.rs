//! Claude Code: its tools, the files that it keeps before it changes them, and pairs that a compaction parts.

use super::CLAUDE;
use crate::record::facts::{BlockKind, Id, Kind, Record, block, flag};
use crate::record::{reread, value::Value};
use crate::request::agent::Sender;
use crate::request::pairing::Pairing;
use crate::request::{IdMap, Role, WHOLE};
use crate::rules::api_verdict::{Case, Does, Treatment, Weight};
use crate::rules::tools::{Held, PAIR_SPLIT_BY_BOUNDARY, Split, Tools};
use crate::session::Session;

pub(super) static TOOLS: Tools = Tools {
    reads: &[
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
    ],
    writes: &["Write", "Edit", "MultiEdit", "NotebookEdit"],
};

/// What becomes of messages that a boundary keeps by name, without the other half of a call.
const SPLICED_IN: Treatment = (
    Weight::Warned,
    Does::Says("Claude Code splices the kept messages in and sends half a pair; {loader} leaves them out"),
);

/// Messages that a boundary keeps by name, without the other half of a call among them or behind it.
pub(super) fn split_pairs(session: &Session, pairing: &Pairing) -> Split {
    let mut split = Split::default();
    for &n in session.chain.adopted.iter().filter(|&&n| session.record(n).has(flag::BOUNDARY | flag::PRESERVES)) {
        if let Some(half) = torn_preserve(session, pairing, n) {
            split.cases.push(Case::new(&PAIR_SPLIT_BY_BOUNDARY, SPLICED_IN, n, WHOLE).with(half));
        }
    }
    split
}

/// How many file-history rows are read for one call.
const ROWS: usize = 64;

/// Claude Code writes the files that it is about to change into a file-history row beside the prompt of the turn, or as a
/// delta to it.
pub(super) fn snapshot(session: &Session, held: &Held, record: u32, block: u32) -> Option<bool> {
    let path = held.block(session, record, block as usize, |call| {
        let input = call.get("input")?;
        input.get("file_path").or_else(|| input.get("notebook_path"))?.string()
    })?;
    let is_prompt = |r: &Record| r.kind == Kind::User && CLAUDE.role(&session.facts, r) == Role::Prompt;
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

/// The first kept record whose call has no result among the kept ones or behind the boundary, or the other way round.
fn torn_preserve(session: &Session, pairing: &Pairing, boundary: u32) -> Option<u32> {
    let text = reread::text(&session.source, session.record(boundary)).ok()?;
    let uuids = Value::parse(&text)?.at(&["compactMetadata", "preservedMessages", "uuids"])?;
    let kept: Vec<u32> =
        uuids.items().iter().filter_map(|v| session.graph.find(Id::of(v.text()?.as_bytes()), &session.facts)).collect();
    let (mut calls, mut results): (IdMap<u32>, IdMap<u32>) = (IdMap::default(), IdMap::default());
    for &n in &kept {
        for b in session.facts.blocks_of(session.record(n)).iter().filter(|b| b.flags & block::NO_ID == 0) {
            match b.kind {
                BlockKind::Call => drop(calls.insert(b.id, n)),
                BlockKind::Result => drop(results.insert(b.id, n)),
                _ => {}
            }
        }
    }
    if calls.keys().all(|id| results.contains_key(id)) && results.keys().all(|id| calls.contains_key(id)) {
        return None;
    }
    let called: IdMap<()> = pairing.calls.iter().map(|c| (c.id, ())).collect();
    let answered: IdMap<()> = pairing.results.iter().map(|r| (r.id, ())).collect();
    let open = calls.iter().find(|(id, _)| !results.contains_key(*id) && !answered.contains_key(*id));
    let dangling = results.iter().find(|(id, _)| !calls.contains_key(*id) && !called.contains_key(*id));
    open.or(dangling).map(|(_, &n)| n)
}
