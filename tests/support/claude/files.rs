//! The file history: a snapshot for each prompt, one more entry for each file that is edited after it, and the backups
//! on disk that they name.

use super::Session;
use crate::support::time::iso;
use serde_json::{Value, json};

/// A file that the session has edited.
#[derive(Clone, Debug)]
pub struct Tracked {
    pub path: String,
    hash: String,
    version: u32,
    /// Whether there was a file before the first edit, or there is a newer backup.
    stored: bool,
    time: i64,
    /// Edited since the newest snapshot.
    dirty: bool,
}

impl Tracked {
    fn backup_name(&self) -> Option<String> {
        self.stored.then(|| format!("{}@v{}", self.hash, self.version))
    }

    fn entry(&self) -> Value {
        json!({"backupFileName": self.backup_name(), "version": self.version, "backupTime": iso(self.time)})
    }
}

impl Session {
    /// Writes the snapshot that belongs to a prompt: files that were edited since the one before get a new backup.
    pub fn snapshot_for(&mut self, prompt: &str) {
        let now = self.clock;
        for n in 0..self.tracked.len() {
            if self.tracked[n].dirty {
                let file = &mut self.tracked[n];
                (file.version, file.stored, file.time, file.dirty) = (file.version + 1, true, now, false);
                let name = self.tracked[n].backup_name().unwrap_or_default();
                let text = self.rng.code(6);
                self.backups.push((name, text));
            }
        }
        self.snapshot = Some((prompt.to_owned(), now));
        self.write_snapshot(prompt, prompt, now, false);
    }

    fn write_snapshot(&mut self, message: &str, prompt: &str, time: i64, update: bool) {
        let backups: Value = self.tracked.iter().map(|f| (f.path.clone(), f.entry())).collect();
        self.row(json!({"type": "file-history-snapshot", "messageId": message,
            "snapshot": {"messageId": prompt, "trackedFileBackups": backups, "timestamp": iso(time)},
            "isSnapshotUpdate": update}));
    }

    /// Notes that the call in `record` edits a file: `existed` says whether it was there before. Files that the newest
    /// snapshot knows already cost nothing more.
    pub fn track(&mut self, record: &str, path: &str, existed: bool) {
        if let Some(file) = self.tracked.iter_mut().find(|f| f.path == path) {
            file.dirty = true;
            return;
        }
        let Some((prompt, time)) = self.snapshot.clone() else { return };
        let hash = self.rng.hex(16);
        let file = Tracked { path: path.into(), hash, version: 1, stored: existed, time: self.clock, dirty: true };
        if let Some(name) = file.backup_name() {
            let text = self.rng.code(5);
            self.backups.push((name, text));
        }
        let (entry, now) = (file.entry(), iso(self.clock));
        self.tracked.push(file);
        if self.version.0 >= 220 {
            self.row(json!({"type": "file-history-delta", "messageId": record, "snapshotMessageId": prompt,
                "trackingPath": path, "backup": entry, "timestamp": now}));
        } else {
            self.write_snapshot(record, &prompt, time, true);
        }
    }
}
