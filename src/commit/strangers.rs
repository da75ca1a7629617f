//! Originals that no entry of the journal knows: their folder was copied or moved, or the journal was lost. They hold the
//! text of a session, so that they must be found.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use super::content::parent;
use super::disk::{self, Folder, Kind};
use super::entry::Entry;
use super::journal::{self, Journal};
use super::manifest::KeptState;
use super::refusal::Error;
use super::target::is_ours;

/// What was found, and whether all of the journal could be asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Strangers {
    /// Where they are.
    pub paths: Vec<PathBuf>,
    /// Whether an entry cannot be read that may know one of them.
    pub unsure: bool,
}

impl Journal {
    /// Files in `folders`, and beside every session of the journal, that have a name of ours and that no entry knows.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn strangers(&self, folders: &[PathBuf]) -> Result<Strangers, Error> {
        let (mut entries, mut unsure): (Vec<Entry>, bool) = Default::default();
        if self.has_runs() {
            let runs = self.runs()?;
            for id in journal::run_ids(&runs).map_err(|e| Error::io("read the journal in", runs.path(), e))? {
                let (good, bad) = journal::entries_of(&runs, &id);
                entries.extend(good);
                unsure |= bad.iter().any(|(id, _)| !journal::only_begun(&runs, id));
            }
        }
        let canonical = folders.iter().filter_map(|folder| folder.canonicalize().ok());
        let mut places: BTreeSet<PathBuf> = canonical.collect();
        let mut known: HashSet<PathBuf> = HashSet::new();
        for entry in &entries {
            let folder = parent(&entry.session()).to_owned();
            let kept = entry.manifest.kept.iter().filter(|k| k.state != KeptState::Gone);
            known.extend(kept.map(|k| folder.join(&k.name)));
            places.insert(folder);
        }
        let mut found = Vec::new();
        for folder in places.iter().filter_map(|place| Folder::open(place).ok()) {
            for name in folder.names().unwrap_or_default() {
                let path = folder.path().join(&name);
                let ours = name.to_str().is_some_and(is_ours) && !known.contains(&path);
                let plain = |s: disk::Stat| s.kind == Kind::Plain && s.uid == disk::effective_user();
                if ours && folder.stat(&name).ok().flatten().is_some_and(plain) {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(Strangers { paths: found, unsure })
    }
}
