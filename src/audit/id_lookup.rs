//! Where an id that a session names lives, when it lives in another file of the store: a second look at all files, only
//! when something is missing. The last file to bear it, by its time of change, is named.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::files::is_session;
use crate::agents;
use crate::record::facts::Id;
use crate::record::parse;
use crate::store::meter::Meter;
use crate::store::{Discovery, FileEntry, FileKind};

/// A file that bears an id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// The file.
    pub path: PathBuf,
    /// The physical line of the record.
    pub line: u32,
    /// When the file last changed, in milliseconds since 1970.
    mtime_ms: i64,
}

/// Looks for records with these ids in all sessions of a store but one. Files that cannot be read are passed over: their
/// own report tells.
pub fn seen_in(discovery: &Discovery, but: &Path, wanted: &HashSet<Id>, meter: &Meter) -> HashMap<Id, Seen> {
    if wanted.is_empty() {
        return HashMap::new();
    }
    let own = but.canonicalize().unwrap_or_else(|_| but.to_owned());
    let files: Vec<&FileEntry> =
        discovery.files.iter().filter(|file| is_session(file.kind) && file.kind != FileKind::Whole).collect();
    let next = AtomicUsize::new(0);
    let parts = rayon::broadcast(|_| {
        let mut found = HashMap::new();
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            if meter.stopped() {
                break;
            }
            look(discovery, file, &own, wanted, meter, &mut found);
        }
        found
    });
    let mut all = HashMap::new();
    for (id, seen) in parts.into_iter().flatten() {
        keep_later(&mut all, id, seen);
    }
    all
}

fn look(
    discovery: &Discovery,
    file: &FileEntry,
    own: &Path,
    wanted: &HashSet<Id>,
    meter: &Meter,
    found: &mut HashMap<Id, Seen>,
) {
    let path = discovery.path(file);
    if path.canonicalize().is_ok_and(|path| path == own) {
        return;
    }
    let (Some(dialect), Ok(source)) = (file.dialect, discovery.open(file)) else { return };
    let Ok(facts) = parse::read(&source, agents::of(dialect), meter) else { return };
    for record in facts.records.iter().filter(|record| wanted.contains(&record.id)) {
        keep_later(found, record.id, Seen { path: path.clone(), line: record.line, mtime_ms: file.mtime_ms });
    }
}

/// Of two files the one that changed later; at the same time the one whose path comes first, so that the answer does not
/// depend on timing.
fn keep_later(found: &mut HashMap<Id, Seen>, id: Id, seen: Seen) {
    let key = |seen: &Seen| (seen.mtime_ms, std::cmp::Reverse(seen.path.clone()));
    match found.get(&id) {
        Some(held) if key(held) >= key(&seen) => {}
        _ => {
            found.insert(id, seen);
        }
    }
}
