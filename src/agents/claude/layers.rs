//! What a session of Claude Code and its backups of files say to each other.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::checkpoint::file_history::{Backup, Row, RowKind, fold, join};
use crate::finding::{Finding, Severity};
use crate::record::again;
use crate::record::facts::Kind;
use crate::record::value::Value;
use crate::rules::checkpoints::{dangling_deltas, missing_backups};
use crate::session::{Session, Shape};
use crate::text::Text;

/// What is found where they do not agree.
pub(super) fn findings(session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
    if session.shape != Shape::Main {
        return Ok(Vec::new());
    }
    let all = rows(session)?;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let history = fold(&all);
    let mut findings = dangling_deltas(&all, &history, places);
    let id = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(store) = store {
        let backups = store.join("file-history");
        let folder = backups.join(&id);
        let there = names_in(&folder);
        let mut missing = missing_backups(&join(&history, &there), folder.is_dir(), places);
        if !backups.is_dir() {
            // A home without the folder is a copy of its sessions: what the client itself would have is not known.
            missing = missing.into_iter().map(|f| f.severity(Severity::Info)).collect();
        }
        findings.extend(missing);
    }
    Ok(findings)
}

/// The rows about files that a session has.
pub(super) fn rows(session: &Session) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for record in session.facts.records.iter().filter(|r| matches!(r.kind, Kind::FileSnapshot | Kind::FileDelta)) {
        let text = again::text(&session.source, record)?;
        rows.extend(Value::parse(&text).and_then(|v| row(&v, record.kind, u64::from(record.line))));
    }
    Ok(rows)
}

fn row(value: &Value<'_>, kind: Kind, line: u64) -> Option<Row> {
    let message_id = value.get("messageId")?.text()?;
    let backup = |path: Text, v: &Value<'_>| Backup {
        path,
        file_name: v.get("backupFileName").and_then(|n| n.text()),
        version: v.get("version").and_then(|n| n.count()),
    };
    if kind == Kind::FileDelta {
        let of = value.get("snapshotMessageId")?.text()?;
        let one = backup(value.get("trackingPath")?.text()?, &value.get("backup")?);
        return Some(Row { line, message_id, snapshot_message_id: of, kind: RowKind::Delta(one) });
    }
    let snapshot = value.get("snapshot")?;
    let of = snapshot.get("messageId").and_then(|v| v.text()).unwrap_or_else(|| message_id.clone());
    let files = snapshot.get("trackedFileBackups").map(|v| v.members()).unwrap_or_default();
    let backups = files.into_iter().map(|(path, v)| backup(path, &v)).collect();
    let update = value.get("isSnapshotUpdate").is_some_and(|v| v.truthy());
    Some(Row { line, message_id, snapshot_message_id: of, kind: RowKind::Snapshot { update, backups } })
}

/// The names in a folder; none where it cannot be read.
pub(super) fn names_in(folder: &Path) -> BTreeSet<Text> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| Text::new(e.file_name().as_encoded_bytes())).collect()
}
