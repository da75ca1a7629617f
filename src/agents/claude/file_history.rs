//! Rows of a session about its file layer, and the folder of backups that they name.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::backups::{Backup, History, Joined, Row, RowKind, fold, join};
use crate::checkpoint::anchors::Anchor;
use crate::finding::{Finding, Place, Severity};
use crate::record::facts::Kind;
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::Collector;
use crate::rules::checkpoints::{DANGLING_DELTA, MISSING_BACKUP};
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

/// Backups that a session's rows name and that are not there. `folder` tells whether the session's folder is there at
/// all; where `file-history` itself cannot be seen, do not ask.
fn missing_backups(joined: &Joined, folder: bool, places: usize) -> Vec<Finding> {
    let mut found = Collector::new(places);
    let leaves = "a rewind of Claude Code to a snapshot that names it cannot bring the file back";
    if let (false, Some(first)) = (folder, joined.missing.first()) {
        let finding = MISSING_BACKUP
            .at(Place::line(first.line))
            .fact("backup", &first.name)
            .fact("file", &first.path)
            .fact("folder", false)
            .count(joined.missing.len() as u64)
            .effect("a rewind of Claude Code can bring no file of this session back: its folder of backups is gone");
        found.add(finding);
        return found.finish();
    }
    for missing in &joined.missing {
        let mut finding = MISSING_BACKUP
            .at(Place::line(missing.line))
            .fact("backup", &missing.name)
            .fact("file", &missing.path)
            .effect(leaves);
        if let Some(newer) = missing.newer {
            finding = finding.severity(Severity::Info).fact("newest_version", newer);
        }
        found.add(finding);
    }
    found.finish()
}

/// Deltas of snapshots that no row of the session makes.
fn dangling_deltas(rows: &[Row], history: &History, places: usize) -> Vec<Finding> {
    let mut found = Collector::new(places);
    for row in history.dangling.iter().filter_map(|place| rows.get(*place)) {
        let RowKind::Delta(backup) = &row.kind else { continue };
        let finding = DANGLING_DELTA
            .at(Place::line(row.line).with_id(Some(row.message_id.clone())))
            .fact("snapshot", &row.snapshot_message_id)
            .fact("file", &backup.path)
            .effect("a rewind of Claude Code knows no snapshot that this file belongs to, and leaves it as it is");
        found.add(finding);
    }
    found.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backup(path: &str, name: &str) -> Backup {
        Backup { path: path.into(), file_name: Some(name.into()), version: None }
    }

    #[test]
    fn backups_are_missed_one_by_one_or_all_at_once() {
        let rows = [
            Row {
                line: 3,
                message_id: "m".into(),
                snapshot_message_id: "u".into(),
                kind: RowKind::Snapshot { update: false, backups: vec![backup("/a", "aa@v1"), backup("/b", "bb@v2")] },
            },
            Row {
                line: 7,
                message_id: "n".into(),
                snapshot_message_id: "gone".into(),
                kind: RowKind::Delta(backup("/c", "cc@v3")),
            },
        ];
        let history = fold(&rows);
        let disk: BTreeSet<Text> = ["aa@v2".into(), "bb@v2".into()].into();
        let found = missing_backups(&join(&history, &disk), true, 100);
        let loud: Vec<_> = found.iter().map(|f| (f.place.line, f.severity)).collect();
        assert_eq!(loud, [(Some(3), Severity::Info), (Some(7), Severity::Warning)]);
        let found = missing_backups(&join(&history, &BTreeSet::new()), false, 100);
        assert_eq!((found.len(), found[0].count), (1, Some(3)));
        let found = dangling_deltas(&rows, &history, 100);
        assert_eq!((found.len(), found[0].rule.code, found[0].place.line), (1, "K817", Some(7)));
    }
}
