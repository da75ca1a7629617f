//! The last prompts of a session and the snapshots that a rewind to them goes to. sid-code keeps its rewind points in
//! memory; they are put together here from the prompt's time, the ids that the session names, and the index.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use super::files::{CHANGES, known_by};
use crate::checkpoint::anchors::Anchor;
use crate::checkpoint::model::snapshot_number;
use crate::checkpoint::moves::{Moves, Rewind};
use crate::checkpoint::{Audit, Options};
use crate::record::facts::{Kind, NO_TIME};
use crate::record::reread;
use crate::record::value::Value;
use crate::session::Session;
use crate::store::Source;
use crate::text::Text;

/// Each of these prompts.
pub(super) fn of(session: &Session, store: Option<&Path>, prompts: &[u32]) -> io::Result<Vec<Anchor>> {
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
    let key = session.facts.names.find(CHANGES);
    let mut named = Vec::new();
    if key == 0 {
        return Ok(named);
    }
    for record in session.facts.records.iter().filter(|r| r.kind == Kind::Metadata && r.agent == key) {
        let text = reread::text(&session.source, record)?;
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
