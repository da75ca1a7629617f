//! The file layer beside the sessions: checkpoint indexes, each judged by itself, and what a session and its index or its
//! backups say to each other (K812, K816 to K819).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::driver::{Driver, Opened, Outcome, Visitor, largest_first};
use super::files::Depth;
use super::mend::{self, Mend};
use crate::agents::{self, Agent};
use crate::checkpoint::model::Count;
use crate::checkpoint::{Audit, Options as IndexOptions};
use crate::finding::Finding;
use crate::metrics::cross_check::Fault;
use crate::rules::agent::Judged;
use crate::rules::checkpoints::{Unpartnered, add_lines, index_findings, unpartnered_layers};
use crate::session::{Session, Shape};
use crate::store::meter::Meter;
use crate::store::{Discovery, FileEntry, FileKind};
use crate::text::Text;

/// What is kept of one checkpoint index.
#[derive(Clone, Debug)]
pub struct IndexAudit {
    /// The file's place in [`Discovery::files`].
    pub file: u32,
    /// The session that its folder is named for.
    pub session_id: String,
    /// How many snapshots it holds.
    pub snapshots: u64,
    /// Its entries by sort.
    pub entries: Count,
    /// Bytes.
    pub bytes: u64,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// The repairs that have a plan for it.
    pub mends: Vec<Mend>,
}

/// Judges one index.
pub(super) fn index(
    discovery: &Discovery,
    file: &Opened<'_>,
    options: &IndexOptions,
    places: usize,
) -> io::Result<(Audit, IndexAudit)> {
    let folder = folder_name(discovery, file.entry);
    let source = &file.source;
    let audit = Audit::of(source, folder.as_deref(), options)?;
    if let Some(words) = audit.outcome.not_read() {
        return Err(io::Error::other(words));
    }
    let mut findings = index_findings(&audit, places);
    add_lines(&mut findings, source)?;
    // Nothing in an index is judged by its age.
    let path = discovery.path(file.entry);
    let mends = mend::of_index((source, &path, folder.as_deref()), &findings, None, &mend::usual(false, 0))?;
    let kept = IndexAudit {
        file: file.n,
        session_id: folder.unwrap_or_default(),
        snapshots: audit.index.snapshots.len() as u64,
        entries: audit.index.count(),
        bytes: source.size(),
        mends,
        findings,
    };
    Ok((audit, kept))
}

/// Every checkpoint index that was found, judged, in the order of the paths; and what could not be read.
pub fn judge_indexes(discovery: &Discovery, options: &IndexOptions, places: usize, meter: &Meter) -> Indexes {
    let judging = Judging { discovery, options, places };
    let (depth, fault) = (Depth::Lines, Fault::default());
    let driver = Driver { discovery, stdin: None, meter, depth, waits: false, fault };
    let Outcome { sum: mut judged, errors, defects, .. } = driver.run(&indexes(discovery), &judging);
    judged.sort_by_key(|(_, index)| index.file);
    Indexes { judged, errors, defects }
}

/// What came of all indexes.
#[derive(Debug)]
pub struct Indexes {
    /// Those that could be read.
    pub judged: Vec<(Audit, IndexAudit)>,
    /// What could not be read. Exit status 2.
    pub errors: Vec<(PathBuf, String)>,
    /// Files on which sid-audit itself failed. Exit status 70.
    pub defects: Vec<(PathBuf, String)>,
}

struct Judging<'a> {
    discovery: &'a Discovery,
    options: &'a IndexOptions,
    places: usize,
}

impl Visitor for Judging<'_> {
    type Sum = Vec<(Audit, IndexAudit)>;

    /// Sessions are not among the files.
    fn session(&self, _: &Opened<'_>, _: Session, _: &'static dyn Agent, _: &mut Self::Sum) -> io::Result<()> {
        Ok(())
    }

    fn index(&self, file: &Opened<'_>, sum: &mut Self::Sum) -> io::Result<()> {
        sum.push(index(self.discovery, file, self.options, self.places)?);
        Ok(())
    }

    fn merge(sum: &mut Self::Sum, other: Self::Sum) {
        sum.extend(other);
    }
}

/// The session that an index belongs to by its place.
pub(super) fn folder_name(discovery: &Discovery, file: &FileEntry) -> Option<String> {
    agents::of(file.agent_id?).index_owner(&discovery.path(file))
}

/// The files of a discovery that are checkpoint indexes.
pub fn indexes(discovery: &Discovery) -> Vec<u32> {
    largest_first(discovery, |file| file.kind == FileKind::CheckpointIndex)
}

/// What one session and its file layer say to each other. `store` is the home that the session lies in.
///
/// # Errors
/// I/O errors of the session.
pub fn of_session(
    session: &Session,
    agent: &dyn Judged,
    store: Option<&Path>,
    places: usize,
) -> io::Result<Vec<Finding>> {
    if session.shape != Shape::Main {
        return Ok(Vec::new());
    }
    agent.check_files(session, store, places)
}

/// K818 for each store that has both layers: sessions that only one of them knows. `changed` are the ids, own and traced,
/// of sessions that changed files; `known` the ids of all sessions.
pub fn unpartnered(
    discovery: &Discovery,
    known: &BTreeSet<String>,
    changed: &BTreeMap<PathBuf, Vec<Vec<String>>>,
) -> Vec<Finding> {
    let mut by_store: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for n in indexes(discovery) {
        let file = &discovery.files[n as usize];
        let store = discovery.root(file).and_then(|r| r.store.clone());
        if let (Some(store), Some(name)) = (store, folder_name(discovery, file)) {
            by_store.entry(store).or_default().insert(name);
        }
    }
    let mut stores: BTreeSet<&PathBuf> = by_store.keys().collect();
    stores.extend(changed.keys());
    let mut findings = Vec::new();
    for store in stores {
        // A part of a store says nothing of its other layer.
        let mut homes = discovery.roots.iter().filter(|r| r.layout.is_home() && r.store.as_ref() == Some(store));
        let Some(folder) = homes.find_map(|r| agents::of(r.agent_id?).index_folder()) else { continue };
        let none = BTreeSet::new();
        let folders = by_store.get(store).unwrap_or(&none);
        let alone = folders
            .iter()
            .filter(|id| !known.contains(*id))
            .map(|id| (Text::from(id.as_str()), Unpartnered::SessionUnknown));
        let without = changed.get(store).into_iter().flatten().filter(|ids| !ids.iter().any(|id| folders.contains(id)));
        let without =
            without.filter_map(|ids| Some((Text::from(ids.first()?.as_str()), Unpartnered::CheckpointsMissing)));
        let all: Vec<(Text, Unpartnered)> = alone.chain(without).collect();
        findings.extend(unpartnered_layers(&all).map(|f| f.path(&store.join(folder))));
    }
    findings
}
