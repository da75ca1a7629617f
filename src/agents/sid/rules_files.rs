//! What a session of sid-code and its index say to each other (K812, K816).

use std::io;
use std::path::Path;

use super::files::{CHANGES, changed_files};
use crate::checkpoint::layers::{Held, destructive_word};
use crate::checkpoint::model::{Index, IndexRead};
use crate::finding::Finding;
use crate::record::facts::{Block, BlockKind, Kind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::checkpoints::{Change, ChangedBy, Named, unknown_snapshots, unprotected_changes};
use crate::session::Session;
use crate::store::Source;

/// Finds it; `store` is the home that the session lies in.
pub(super) fn check(session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
    if !changed_files(session) {
        return Ok(Vec::new());
    }
    let names = &session.facts.names;
    let (changes_key, trace_key) = (names.find(CHANGES), names.find(b"trace_session_id"));
    let mut ids: Vec<String> = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).into_iter().collect();
    let (mut named, mut changes) = (Vec::new(), Vec::new());
    for (n, record) in (0..).zip(&session.facts.records) {
        if record.kind == Kind::Assistant {
            calls(session, n, &mut changes)?;
        }
        if record.kind != Kind::Metadata || record.agent == 0 || ![changes_key, trace_key].contains(&record.agent) {
            continue;
        }
        let text = reread::text(&session.source, record)?;
        let Some(value) = Value::parse(&text).and_then(|v| v.get("value")) else { continue };
        if record.agent == trace_key {
            ids.extend(value.string());
            continue;
        }
        let line = u64::from(record.line);
        let listed = value.get("snapshotIds").map(|v| v.items()).unwrap_or_default();
        for id in listed.into_iter().chain(value.get("lastSnapshotId")).filter_map(|v| v.text()) {
            named.push(Named { line, record: session.id(n), snapshot: id });
        }
        for path in value.get("files").map(|v| v.items()).unwrap_or_default().iter().filter_map(Value::text) {
            changes.push(Change { line, record: session.id(n), path: Some(path), by: ChangedBy::Write, time: None });
        }
    }
    // What an index beyond the limits holds is not known: that it is one is told where indexes are read.
    let Ok(held) = held(store, &ids)? else { return Ok(Vec::new()) };
    let mut findings = unknown_snapshots(&named, held.as_ref(), places);
    findings.extend(unprotected_changes(&changes, held.as_ref(), places));
    Ok(findings)
}

/// Shell commands that may destroy files without a snapshot.
fn calls(session: &Session, n: u32, changes: &mut Vec<Change>) -> io::Result<()> {
    let record = session.record(n);
    let shell = |b: &Block| {
        let name = session.facts.names.get(b.name).unwrap_or_default();
        b.kind == BlockKind::Call && matches!(name, b"bash" | b"shell" | b"Bash")
    };
    if record.has(flag::LOSSY) || !session.facts.blocks_of(record).iter().any(shell) {
        return Ok(());
    }
    let text = reread::text(&session.source, record)?;
    let blocks = Value::parse(&text).and_then(|v| v.at(&["message", "content"])).map(|c| c.items()).unwrap_or_default();
    for command in blocks.iter().filter_map(|b| b.at(&["input", "command"])).filter_map(|c| c.string()) {
        if let Some(word) = destructive_word(&command) {
            let by = ChangedBy::Command(word);
            changes.push(Change {
                line: u64::from(record.line),
                record: session.id(n),
                path: None,
                by,
                time: Some(record.time as f64),
            });
        }
    }
    Ok(())
}

/// An index that is beyond the limits.
struct NotRead;

/// What the indexes of these sessions hold: the first that is there.
fn held(store: Option<&Path>, ids: &[String]) -> io::Result<Result<Option<Held>, NotRead>> {
    let Some(store) = store else { return Ok(Ok(None)) };
    for id in ids.iter().filter(|id| !id.is_empty() && !id.contains(['/', '\\'])) {
        let path = store.join("checkpoints").join(id).join("index.json");
        let Ok(source) = Source::open(&path) else { continue };
        match Index::read(&source, Some(id))? {
            IndexRead::Readable(index) => return Ok(Ok(Some(Held::of(&index)))),
            IndexRead::TooLarge { .. } => return Ok(Err(NotRead)),
            _ => {}
        }
    }
    Ok(Ok(None))
}
