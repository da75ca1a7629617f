//! Where an id that a session names lives, when it lives in another file of the store: a second look at all files, only
//! when something is missing. The last file to bear it, by its time of change, is named.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::driver::{Driver, Opened, Visitor, largest_first};
use super::files::{Depth, is_session};
use crate::agents::Agent;
use crate::metrics::cross_check::Fault;
use crate::record::facts::Id;
use crate::session::Session;
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
    let is_own = |file: &FileEntry| discovery.path(file).canonicalize().is_ok_and(|path| path == own);
    let has_records = |file: &FileEntry| is_session(file.kind) && file.kind != FileKind::Whole;
    let order = largest_first(discovery, |file| has_records(file) && !is_own(file));
    let (depth, fault) = (Depth::Lines, Fault::default());
    let driver = Driver { discovery, stdin: None, meter, depth, waits: false, fault };
    driver.run(&order, &Looking { wanted }).sum
}

struct Looking<'a> {
    wanted: &'a HashSet<Id>,
}

impl Visitor for Looking<'_> {
    type Sum = HashMap<Id, Seen>;

    fn session(
        &self,
        file: &Opened<'_>,
        session: Session,
        _: &'static dyn Agent,
        found: &mut Self::Sum,
    ) -> io::Result<()> {
        for record in session.facts.records.iter().filter(|record| self.wanted.contains(&record.id)) {
            let seen = Seen { path: session.path.clone(), line: record.line, mtime_ms: file.entry.mtime_ms };
            keep_later(found, record.id, seen);
        }
        Ok(())
    }

    /// An index has no records.
    fn index(&self, _: &Opened<'_>, _: &mut Self::Sum) -> io::Result<()> {
        Ok(())
    }

    fn merge(found: &mut Self::Sum, other: Self::Sum) {
        other.into_iter().for_each(|(id, seen)| keep_later(found, id, seen));
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
