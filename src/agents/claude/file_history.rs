//! Rows of a session about its file layer, and the folder of backups that they name.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::checkpoint::anchors::Anchor;
use crate::checkpoint::file_history::{Backup, Row, RowKind, fold, join};
use crate::finding::{Finding, Severity};
use crate::record::facts::Kind;
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::checkpoints::{dangling_deltas, missing_backups};
use crate::session::Session;
use crate::text::Text;

/// The folder of a home in which each session has one with its backups.
const BACKUPS: &str = "file-history";

/// What a session and its backups say to each other (K817, K819).
pub(super) fn check(session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
    let all = rows(session)?;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let history = fold(&all);
    let mut findings = dangling_deltas(&all, &history, places);
    let id = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(store) = store {
        let backups = store.join(BACKUPS);
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

/// The rows in file order.
fn rows(session: &Session) -> io::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for record in session.facts.records.iter().filter(|r| matches!(r.kind, Kind::FileSnapshot | Kind::FileDelta)) {
        let text = reread::text(&session.source, record)?;
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

fn names_in(folder: &Path) -> BTreeSet<Text> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| Text::new(e.file_name().as_encoded_bytes())).collect()
}

/// Each of these prompts: a rewind finds the snapshot by the prompt's own id.
pub(super) fn anchors(session: &Session, store: Option<&Path>, prompts: &[u32]) -> io::Result<Vec<Anchor>> {
    let history = fold(&rows(session)?);
    let stem = session.path.file_stem().unwrap_or_default();
    let backups = store.map(|store| store.join(BACKUPS)).filter(|folder| folder.is_dir());
    let there = backups.map(|folder| names_in(&folder.join(stem)));
    let made = prompts.iter().map(|&n| {
        let id = session.id(n);
        let own = history.snapshots.iter().find(|(of, _)| Some(of) == id.as_ref());
        let names =
            || own.into_iter().flat_map(|(_, folded)| folded.files.values()).filter_map(|(b, _)| b.file_name.as_ref());
        let lost = there.as_ref().map(|there| names().filter(|name| !there.contains(name)).count() as u64);
        let files = own.map_or(0, |(_, folded)| folded.files.len() as u64);
        Anchor {
            record: n,
            snapshot: own.map(|(of, _)| of.clone()),
            evicted: lost.is_some_and(|lost| lost > 0),
            files: own.and(lost).map(|lost| (files, lost)),
        }
    });
    Ok(made.collect())
}
