//! The last prompts of a session, each with the snapshot that a rewind to it goes to, and whether that brings the files
//! back. Nothing of this stands in a transcript: sid-code keeps its rewind points in memory, Claude Code finds them by
//! the prompt's id. They are put together here from the prompt's time, the ids that the session names, and the file layer.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::layers::{known_by, names_in, row};
use crate::chain::shape::is_prompt;
use crate::checkpoint::file_history::fold;
use crate::checkpoint::model::snapshot_number;
use crate::checkpoint::moves::{Moves, Rewind};
use crate::checkpoint::{Audit, Options};
use crate::dialect::Dialect;
use crate::record::again;
use crate::record::facts::{Kind, NO_TIME, Record, flag};
use crate::record::value::Value;
use crate::session::Session;
use crate::store::Source;
use crate::text::Text;

/// sid-code keeps as many rewind points.
pub const PROMPTS: usize = 30;

/// A prompt, and what a rewind to it finds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Anchor {
    /// The prompt's record.
    pub record: u32,
    /// The newest snapshot when it was typed; of Claude Code the prompt's own. None: there is none.
    pub snapshot: Option<Text>,
    /// Whether what it goes to was there and is gone: the snapshot (sid-code), or a backup that it names (Claude Code).
    pub evicted: bool,
    /// Files that a rewind to it has to bring back, and those of them that it would not; none where the file layer cannot
    /// be seen.
    pub files: Option<(u64, u64)>,
}

impl Anchor {
    /// Whether every file that was changed later comes back as it was.
    pub fn restorable(&self) -> Option<bool> {
        self.files.map(|(_, lost)| lost == 0)
    }
}

/// The last prompts on the adopted chain, oldest first. None where the agent keeps no file layer.
///
/// # Errors
/// Whatever the system says while records or the file layer are read.
pub fn anchors(session: &Session, store: Option<&Path>) -> io::Result<Option<Vec<Anchor>>> {
    let typed = |r: &Record| is_prompt(&session.facts, r) && !r.has(flag::NOT_TYPED);
    let prompts: Vec<u32> = session.chain.adopted.iter().copied().filter(|&n| typed(session.record(n))).collect();
    let last = &prompts[prompts.len().saturating_sub(PROMPTS)..];
    match session.dialect {
        Dialect::Sid => sid(session, store, last).map(Some),
        Dialect::Claude => claude(session, store, last).map(Some),
        Dialect::Pi | Dialect::Openclaw => Ok(None),
    }
}

fn sid(session: &Session, store: Option<&Path>, prompts: &[u32]) -> io::Result<Vec<Anchor>> {
    let named = named_before(session)?;
    let layer = store.map(|store| index(store, session)).transpose()?.flatten();
    let moves = layer.as_ref().and_then(Moves::new);
    let made = prompts.iter().map(|&n| {
        let time = session.record(n).time;
        let before = |at: &f64| time != NO_TIME && *at <= time as f64;
        let snapshots = layer.as_ref().map_or(&[][..], |audit| &audit.index.snapshots);
        let newest = snapshots.iter().rposition(|s| s.timestamp.as_ref().is_some_and(before));
        let held = newest.and_then(|at| snapshots.get(at)).map(|s| &s.id);
        let told = named.iter().rev().find(|(line, _)| *line < session.record(n).line);
        // The session may name a later one than the index still holds.
        let later = |told: &&Text| held.is_none_or(|held| snapshot_number(told) > snapshot_number(held));
        let gone = told.and_then(|(_, id)| id.as_ref()).filter(later);
        let snapshot = gone.or(held);
        let changed = || {
            let index = layer.as_ref().map(|audit| &audit.index);
            let first = newest.map_or(0, |at| at + 1);
            let later =
                (first..snapshots.len()).flat_map(|at| index.map(|i| i.entries_at(at as u32)).into_iter().flatten());
            later.map(|(_, entry)| entry.file).collect::<BTreeSet<u32>>().len() as u64
        };
        let all_lost = |n: u64| (n, n);
        let files = moves.as_ref().map(|moves| match moves.rewind(snapshot) {
            Rewind::Restore(_, files) => {
                (files.len() as u64, files.iter().filter(|(_, made)| !made.faithful).count() as u64)
            }
            Rewind::NoSnapshot | Rewind::UnknownSnapshot | Rewind::Throws => all_lost(changed()),
        });
        // An id above the oldest one held was handed out and never stored, because nothing had changed: no eviction.
        let oldest = snapshots.first().and_then(|s| snapshot_number(&s.id));
        let dropped = |id: &Text| oldest.is_none_or(|oldest| snapshot_number(id).is_some_and(|n| n < oldest));
        let evicted = layer.is_some() && gone.map_or(held.is_none() && told.is_some(), dropped);
        Anchor { record: n, snapshot: snapshot.cloned(), evicted, files }
    });
    Ok(made.collect())
}

/// The lines on which the session says that files were changed, in file order, with the last snapshot named there.
fn named_before(session: &Session) -> io::Result<Vec<(u32, Option<Text>)>> {
    let key = session.facts.names.find(b"file_changes");
    let mut named = Vec::new();
    if key == 0 {
        return Ok(named);
    }
    for record in session.facts.records.iter().filter(|r| r.kind == Kind::Metadata && r.agent == key) {
        let text = again::text(&session.source, record)?;
        let value = Value::parse(&text).and_then(|v| v.get("value"));
        let last = value.as_ref().and_then(|v| v.get("lastSnapshotId")).and_then(|v| v.text());
        let listed = || value.as_ref()?.get("snapshotIds")?.items().last()?.text();
        named.push((record.line, last.or_else(listed)));
    }
    Ok(named)
}

/// The index of a session, judged: the first that is there among those of the ids that it is known by.
fn index(store: &Path, session: &Session) -> io::Result<Option<Audit>> {
    for id in known_by(session).iter().filter(|id| !id.is_empty() && !id.contains(['/', '\\'])) {
        let path = store.join("checkpoints").join(id).join("index.json");
        let Ok(source) = Source::open(&path) else { continue };
        let audit = Audit::of(&source, Some(id), &Options { verify: true, ..Options::default() })?;
        return Ok(Some(audit).filter(|audit| audit.outcome.not_read().is_none()));
    }
    Ok(None)
}

fn claude(session: &Session, store: Option<&Path>, prompts: &[u32]) -> io::Result<Vec<Anchor>> {
    let mut rows = Vec::new();
    for record in session.facts.records.iter().filter(|r| matches!(r.kind, Kind::FileSnapshot | Kind::FileDelta)) {
        let text = again::text(&session.source, record)?;
        rows.extend(Value::parse(&text).and_then(|v| row(&v, record.kind, u64::from(record.line))));
    }
    let history = fold(&rows);
    let stem = session.path.file_stem().unwrap_or_default();
    let backups = store.map(|store| store.join("file-history")).filter(|folder| folder.is_dir());
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
