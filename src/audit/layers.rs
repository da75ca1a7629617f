//! The file layer beside the sessions: checkpoint indexes, each judged by itself, and what a session and its index or its
//! backups say to each other (K812, K816 to K819).

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::driver::{Driver, Opened, Outcome, Visitor, largest_first};
use super::files::Depth;
use super::mend::{self, Mend};
use crate::agents::Agent;
use crate::checkpoint::file_history::{Backup, Row, RowKind, fold, join};
use crate::checkpoint::layers::{Held, destructive_word};
use crate::checkpoint::model::Count;
use crate::checkpoint::model::IndexRead;
use crate::checkpoint::{Audit, Options as IndexOptions, model::Index};
use crate::dialect::Dialect;
use crate::finding::{Finding, Severity};
use crate::metrics::cross_check::Fault;
use crate::record::again;
use crate::record::facts::{Kind, flag};
use crate::record::value::Value;
use crate::rules::checkpoints::{
    Change, ChangedBy, Named, Unpartnered, dangling_deltas, missing_backups, unknown_snapshots, unpartnered_layers,
    unprotected_changes,
};
use crate::rules::checkpoints::{add_lines, index_findings};
use crate::session::{Session, Shape};
use crate::store::meter::Meter;
use crate::store::{Discovery, FileEntry, FileKind, Source};
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

/// The session that an index belongs to by its folder; none for an index that a person passed by itself, elsewhere.
pub(super) fn folder_name(discovery: &Discovery, file: &FileEntry) -> Option<String> {
    let path = discovery.path(file);
    (*file.name.bytes() == *b"index.json")
        .then(|| path.parent().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned()))
        .flatten()
}

/// The files of a discovery that are checkpoint indexes.
pub fn indexes(discovery: &Discovery) -> Vec<u32> {
    largest_first(discovery, |file| file.kind == FileKind::CheckpointIndex)
}

/// What one session and its file layer say to each other. `store` is the home that the session lies in.
///
/// # Errors
/// Whatever the system says while the session's rows are read again.
pub fn of_session(session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
    match session.dialect {
        Dialect::Sid if session.shape == Shape::Main => sid(session, store, places),
        Dialect::Claude if session.shape == Shape::Main => claude(session, store, places),
        _ => Ok(Vec::new()),
    }
}

/// Whether a sid-code session says that it changed files.
pub fn changed_files(session: &Session) -> bool {
    let key = session.facts.names.find(b"file_changes");
    key != 0 && session.facts.records.iter().any(|r| r.kind == Kind::Metadata && r.agent == key)
}

fn sid(session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
    if !changed_files(session) {
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

/// An index that is beyond the limits.
struct NotRead;

/// What the indexes of these sessions hold: the first that is there.
fn held(store: Option<&Path>, ids: &[String]) -> io::Result<Result<Option<Held>, NotRead>> {
    let Some(store) = store else { return Ok(Ok(None)) };
    for id in ids.iter().filter(|id| !id.is_empty() && !id.contains(['/', '\\'])) {
        let path = store.join("checkpoints").join(id).join("index.json");
        let Ok(source) = Source::open(&path) else { continue };
        match Index::read(&source, Some(id))? {
            IndexRead::Readable(index) => return Ok(Ok(Some(Held::of(&index)))),
            IndexRead::TooLarge { .. } => return Ok(Err(NotRead)),
            _ => {}
        }
    }
    Ok(Ok(None))
}

fn claude(session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
    let rows = session.facts.records.iter().filter(|r| matches!(r.kind, Kind::FileSnapshot | Kind::FileDelta));
    let mut all = Vec::new();
    for record in rows {
        let text = again::text(&session.source, record)?;
        all.extend(Value::parse(&text).and_then(|v| row(&v, record.kind, u64::from(record.line))));
    }
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

pub(super) fn row(value: &Value<'_>, kind: Kind, line: u64) -> Option<Row> {
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

pub(super) fn names_in(folder: &Path) -> BTreeSet<Text> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|e| Text::new(e.file_name().as_encoded_bytes())).collect()
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
        if !discovery.roots.iter().any(|r| r.layout.is_home() && r.store.as_ref() == Some(store)) {
            continue;
        }
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
        findings.extend(unpartnered_layers(&all).map(|f| f.path(&store.join("checkpoints"))));
    }
    findings
}

/// The ids that a sid-code session is known by: its file's name and the processes that resumed it.
pub fn known_by(session: &Session) -> Vec<String> {
    let mut ids: Vec<String> = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).into_iter().collect();
    let key = session.facts.names.find(b"trace_session_id");
    if key != 0 {
        let traces = session.facts.records.iter().filter(|r| r.kind == Kind::Metadata && r.agent == key);
        ids.extend(traces.filter_map(|r| again::field(&session.source, r, &["value"])).map(|t| t.lossy()));
    }
    ids
}
