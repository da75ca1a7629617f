//! What a session of sid-code and its checkpoints say to each other.

use std::io;
use std::path::Path;

use crate::checkpoint::layers::{Held, destructive_word};
use crate::checkpoint::model::{Index, IndexRead};
use crate::finding::Finding;
use crate::record::again;
use crate::record::facts::{Kind, flag};
use crate::record::value::Value;
use crate::rules::checkpoints::{Change, ChangedBy, Named, unknown_snapshots, unprotected_changes};
use crate::session::{Session, Shape};
use crate::store::Source;

/// Whether a session says that it changed files.
pub(super) fn changed_files(session: &Session) -> bool {
    let key = session.facts.names.find(b"file_changes");
    key != 0 && session.facts.records.iter().any(|r| r.kind == Kind::Metadata && r.agent == key)
}

/// What is found where they do not agree.
pub(super) fn findings(session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
    if session.shape != Shape::Main || !changed_files(session) {
        return Ok(Vec::new());
    }
    let names = &session.facts.names;
    let (changes_key, trace_key) = (names.find(b"file_changes"), names.find(b"trace_session_id"));
    let mut ids: Vec<String> = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).into_iter().collect();
    let (mut named, mut changes) = (Vec::new(), Vec::new());
    for (n, record) in (0..).zip(&session.facts.records) {
        if record.kind == Kind::Assistant {
            calls(session, n, &mut changes)?;
        }
        if record.kind != Kind::Metadata || record.agent == 0 || ![changes_key, trace_key].contains(&record.agent) {
            continue;
        }
        let text = again::text(&session.source, record)?;
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
    let shell = |b: &crate::record::facts::Block| {
        let name = session.facts.names.get(b.name).unwrap_or_default();
        b.kind == crate::record::facts::BlockKind::Call && matches!(name, b"bash" | b"shell" | b"Bash")
    };
    if record.has(flag::LOSSY) || !session.facts.blocks_of(record).iter().any(shell) {
        return Ok(());
    }
    let text = again::text(&session.source, record)?;
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

/// The indexes that are there for these sessions.
pub(super) fn indexes<'a>(home: &Path, ids: &'a [String]) -> impl Iterator<Item = (&'a str, Source)> {
    let folder = home.join("checkpoints");
    let plain = ids.iter().filter(|id| !id.is_empty() && !id.contains(['/', '\\']));
    plain.filter_map(move |id| Some((id.as_str(), Source::open(&folder.join(id).join("index.json")).ok()?)))
}

/// An index that is beyond the limits.
struct NotRead;

/// What the indexes of these sessions hold: the first that is there.
fn held(store: Option<&Path>, ids: &[String]) -> io::Result<Result<Option<Held>, NotRead>> {
    let Some(store) = store else { return Ok(Ok(None)) };
    for (id, source) in indexes(store, ids) {
        match Index::read(&source, Some(id))? {
            IndexRead::Readable(index) => return Ok(Ok(Some(Held::of(&index)))),
            IndexRead::TooLarge { .. } => return Ok(Err(NotRead)),
            _ => {}
        }
    }
    Ok(Ok(None))
}

/// The ids that a session is known by: its file's name and the processes that resumed it.
pub(super) fn known_by(session: &Session) -> Vec<String> {
    let mut ids: Vec<String> = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).into_iter().collect();
    let key = session.facts.names.find(b"trace_session_id");
    if key != 0 {
        let traces = session.facts.records.iter().filter(|r| r.kind == Kind::Metadata && r.agent == key);
        ids.extend(traces.filter_map(|r| again::field(&session.source, r, &["value"])).map(|t| t.lossy()));
    }
    ids
}
