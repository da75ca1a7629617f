//! Claude Code's file layer: whole-file backups in `file-history/<session>/`, named by rows of the session.
//!
//! A snapshot row (`file-history-snapshot`) names a backup for each tracked file; a row with `isSnapshotUpdate` gives an
//! older snapshot its files again; a delta row (`file-history-delta`, from client 2.1.220 on) adds one file to the
//! snapshot that it names and never overwrites. A backup that is `null` says that the file was not there. Facts come in
//! as data: nothing here reads the session or the folder.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::text::Text;

/// One backup as a row names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Backup {
    /// The file that it is of.
    pub(super) path: Text,
    /// Its name in the folder, `<16 hex>@v<n>`; none: the file was not there.
    pub(super) file_name: Option<Text>,
    /// Its version.
    pub(super) version: Option<u64>,
}

/// What kind of row, and what it carries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum RowKind {
    /// `file-history-snapshot`.
    Snapshot {
        /// Whether it gives an older snapshot its files again.
        update: bool,
        /// The files that it tracks.
        backups: Vec<Backup>,
    },
    /// `file-history-delta`.
    Delta(Backup),
}

/// One row of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    /// Its physical line.
    pub(super) line: u64,
    /// `messageId`: the record that it was written for.
    pub(super) message_id: Text,
    /// The message of the snapshot that it makes, updates or adds to.
    pub(super) snapshot_message_id: Text,
    /// What it carries.
    pub(super) kind: RowKind,
}

/// A snapshot after all rows were folded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Folded {
    /// The line of the row that made it.
    pub(super) line: u64,
    /// Its files: the backup and the line that names it.
    pub(super) files: BTreeMap<Text, (Backup, u64)>,
}

/// The rows of one session, folded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct History {
    /// Snapshots by their message, in the order in which they were made.
    pub(super) snapshots: Vec<(Text, Folded)>,
    /// Deltas whose snapshot stands nowhere in the session: place in the list of rows.
    pub(super) dangling: Vec<usize>,
    /// Every backup that any row names, with the first line that does, also those of deltas that hang.
    pub(super) named: BTreeMap<Text, (Backup, u64)>,
}

/// Folds the rows of a session, in file order.
pub(super) fn fold(rows: &[Row]) -> History {
    let mut history = History::default();
    let mut at: HashMap<&Text, usize> = HashMap::new();
    // Rows are not always flushed in order, so a delta may stand above its snapshot.
    for row in rows {
        let RowKind::Snapshot { backups, .. } = &row.kind else { continue };
        let slot = *at.entry(&row.snapshot_message_id).or_insert_with(|| {
            history.snapshots.push((row.snapshot_message_id.clone(), Folded { line: row.line, ..Folded::default() }));
            history.snapshots.len() - 1
        });
        if let Some((_, folded)) = history.snapshots.get_mut(slot) {
            // A later row of the same snapshot has the last word on all its files.
            folded.files = backups.iter().map(|b| (b.path.clone(), (b.clone(), row.line))).collect();
        }
    }
    for (place, row) in rows.iter().enumerate() {
        let RowKind::Delta(backup) = &row.kind else { continue };
        match at.get(&row.snapshot_message_id).and_then(|slot| history.snapshots.get_mut(*slot)) {
            Some((_, folded)) => {
                folded.files.entry(backup.path.clone()).or_insert_with(|| (backup.clone(), row.line));
            }
            None => history.dangling.push(place),
        }
    }
    for row in rows {
        let backups = match &row.kind {
            RowKind::Snapshot { backups, .. } => backups.as_slice(),
            RowKind::Delta(backup) => std::slice::from_ref(backup),
        };
        for backup in backups {
            if let Some(name) = &backup.file_name {
                history.named.entry(name.clone()).or_insert_with(|| (backup.clone(), row.line));
            }
        }
    }
    history
}

/// A backup that is named and not there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Missing {
    /// Its name.
    pub(super) name: Text,
    /// The file that it is of.
    pub(super) path: Text,
    /// The first line that names it.
    pub(super) line: u64,
    /// The newest version of the same file that is there, when it is newer: the client has pruned this one.
    pub(super) newer: Option<u64>,
}

/// What a session's rows and the folder say to each other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Joined {
    /// Backups that are named and not there, by line.
    pub(super) missing: Vec<Missing>,
    /// How many backups are named.
    pub(super) named: u64,
    /// How many files of the folder no row names.
    pub(super) orphaned: u64,
}

/// Joins a session's rows with the names of the files in its folder.
pub(super) fn join(history: &History, on_disk: &BTreeSet<Text>) -> Joined {
    let mut newest: HashMap<&[u8], u64> = HashMap::new();
    for name in on_disk {
        if let Some((file, version)) = version_of(name) {
            let slot = newest.entry(file).or_default();
            *slot = version.max(*slot);
        }
    }
    let mut missing: Vec<Missing> = history
        .named
        .iter()
        .filter(|(name, _)| !on_disk.contains(*name))
        .map(|(name, (backup, line))| {
            let own = version_of(name);
            let there = own.and_then(|(file, _)| newest.get(file).copied());
            let newer = there.filter(|there| own.is_some_and(|(_, own)| *there > own));
            Missing { name: name.clone(), path: backup.path.clone(), line: *line, newer }
        })
        .collect();
    missing.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
    let known: HashSet<&Text> = history.named.keys().collect();
    Joined {
        missing,
        named: history.named.len() as u64,
        orphaned: on_disk.iter().filter(|name| !known.contains(name)).count() as u64,
    }
}

/// `<16 hex>@v<n>`: the file that a backup is of, and its version.
fn version_of(name: &Text) -> Option<(&[u8], u64)> {
    let name = name.as_bytes();
    let at = memchr::memmem::rfind(name, b"@v")?;
    let version = std::str::from_utf8(name.get(at + 2..)?).ok()?.parse().ok()?;
    Some((name.get(..at)?, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backup(path: &str, version: u64) -> Backup {
        let name = format!("{path}0000@v{version}");
        Backup { path: path.into(), file_name: Some(Text::new(name)), version: Some(version) }
    }

    fn snapshot(line: u64, of: &str, backups: Vec<Backup>) -> Row {
        let kind = RowKind::Snapshot { update: false, backups };
        Row { line, message_id: of.into(), snapshot_message_id: of.into(), kind }
    }

    fn delta(line: u64, of: &str, backup: Backup) -> Row {
        Row { line, message_id: "m".into(), snapshot_message_id: of.into(), kind: RowKind::Delta(backup) }
    }

    fn names(list: &[&str]) -> BTreeSet<Text> {
        list.iter().map(|n| Text::from(*n)).collect()
    }

    #[test]
    fn a_delta_adds_one_file_and_never_overwrites() {
        let rows = [
            delta(1, "u1", backup("b", 1)),
            snapshot(2, "u1", vec![backup("a", 1)]),
            delta(3, "u1", backup("a", 2)),
            snapshot(4, "u2", Vec::new()),
            delta(5, "gone", backup("c", 3)),
        ];
        let history = fold(&rows);
        let files = &history.snapshots[0].1.files;
        assert_eq!(files.keys().cloned().collect::<Vec<_>>(), ["a".into(), "b".into()]);
        assert_eq!(files[&Text::from("a")].1, 2);
        assert_eq!(history.dangling, [4]);
        let joined = join(&history, &names(&["a0000@v1", "a0000@v2", "b0000@v4", "x0000@v1"]));
        let missing: Vec<_> = joined.missing.iter().map(|m| (m.name.lossy(), m.line, m.newer)).collect();
        assert_eq!(missing, [("b0000@v1".into(), 1, Some(4)), ("c0000@v3".into(), 5, None)]);
        assert_eq!((joined.named, joined.orphaned), (4, 2));
    }

    #[test]
    fn a_file_that_was_not_there_has_no_backup() {
        let mut none = backup("a", 1);
        none.file_name = None;
        let joined = join(&fold(&[snapshot(1, "u", vec![none])]), &BTreeSet::new());
        assert_eq!(joined, Joined::default());
    }
}
