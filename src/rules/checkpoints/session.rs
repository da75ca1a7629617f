//! K812, K816 to K819: what the session layer says of the file layer, from facts that others collect.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::declared::{UNKNOWN_SNAPSHOT, UNPARTNERED_LAYER, UNPROTECTED_CHANGE};
use crate::checkpoint::layers::Held;
use crate::finding::{Finding, Place, Severity};
use crate::rules::Collector;
use crate::text::Text;

/// A snapshot that a session names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The physical line of the record that names it.
    pub line: u64,
    /// The record's own id.
    pub record: Option<Text>,
    /// The snapshot.
    pub snapshot: Text,
}

/// Snapshots that a session names and its index does not hold: one finding each, at the first line that names it.
pub fn unknown_snapshots(named: &[Named], held: Option<&Held>, places: usize) -> Vec<Finding> {
    let mut found = Collector::new(places);
    let mut seen = HashSet::new();
    for name in named.iter().filter(|n| held.is_none_or(|held| !held.has(&n.snapshot))) {
        if !seen.insert(&name.snapshot) {
            continue;
        }
        let place = Place::line(name.line).with_id(name.record.clone());
        let mut finding = UNKNOWN_SNAPSHOT.at(place).fact("snapshot", &name.snapshot).fact("index", held.is_some());
        if held.is_some_and(|held| held.handed_out(&name.snapshot)) {
            finding = finding.severity(Severity::Info);
        }
        found.add(finding.effect("the agent takes the conversation back and leaves the files in a rewind to it"));
    }
    found.finish()
}

/// Why one layer knows a session and the other does not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unpartnered {
    /// Checkpoints of a session that is older than the clean-up of sessions.
    SessionCleanedUp,
    /// Checkpoints of a session that history knows and the store no longer has.
    SessionDeleted,
    /// Checkpoints under the id of a process that resumed another session.
    ProcessId,
    /// Checkpoints whose session nothing else names.
    SessionUnknown,
    /// A session that changed files, older than the clean-up of checkpoints.
    CheckpointsCleanedUp,
    /// A session that changed files and has no checkpoints, for no reason that is known here.
    CheckpointsMissing,
}

impl Unpartnered {
    fn fact(self) -> &'static str {
        match self {
            Unpartnered::SessionCleanedUp => "session_cleaned_up",
            Unpartnered::SessionDeleted => "session_deleted",
            Unpartnered::ProcessId => "process_id",
            Unpartnered::SessionUnknown => "session_unknown",
            Unpartnered::CheckpointsCleanedUp => "checkpoints_cleaned_up",
            Unpartnered::CheckpointsMissing => "checkpoints_missing",
        }
    }
}

/// Sessions that only one layer of a store knows, counted apart by reason: one finding, or none.
pub fn unpartnered_layers(unpartnered: &[(Text, Unpartnered)]) -> Option<Finding> {
    let (first, _) = unpartnered.first()?;
    let mut by_reason: BTreeMap<Unpartnered, u64> = BTreeMap::new();
    for (_, reason) in unpartnered {
        *by_reason.entry(*reason).or_default() += 1;
    }
    let finding = UNPARTNERED_LAYER.at(Place::default()).fact("first", first).count(unpartnered.len() as u64);
    let finding = by_reason.into_iter().fold(finding, |finding, (reason, count)| finding.fact(reason.fact(), count));
    Some(finding.effect("the agent neither loads nor mentions the other half"))
}

/// How a file was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangedBy {
    /// An edit or a write call, or a path in `file_changes`.
    Write,
    /// A shell command with this destructive word (`checkpoint::layers::destructive_word`), whose reach is not known.
    Command(&'static str),
}

/// A change that a session tells of.
#[derive(Clone, PartialEq, Debug)]
pub struct Change {
    /// The physical line of the record.
    pub line: u64,
    /// The record's own id.
    pub record: Option<Text>,
    /// The file; none where the command does not tell.
    pub path: Option<Text>,
    /// How.
    pub by: ChangedBy,
    /// When, in milliseconds since 1970; none where the record's time is not that of the change.
    pub time: Option<f64>,
}

/// Changes that no snapshot precedes: for each path and each command word the first one, with a count. A session without
/// an index has no such finding: K818 tells of it.
pub fn unprotected_changes(changes: &[Change], held: Option<&Held>, places: usize) -> Vec<Finding> {
    let mut found = Collector::new(places);
    let Some(held) = held else { return Vec::new() };
    let mut first: Vec<(&Change, u64)> = Vec::new();
    let mut seen: HashMap<(Option<&Text>, Option<&str>), usize> = HashMap::new();
    for change in changes {
        let word = match change.by {
            ChangedBy::Write => None,
            ChangedBy::Command(word) => Some(word),
        };
        if change.path.as_ref().is_some_and(|path| held.protects(path, change.time)) {
            continue;
        }
        let slot = *seen.entry((change.path.as_ref(), word)).or_insert_with(|| {
            first.push((change, 0));
            first.len() - 1
        });
        if let Some((_, count)) = first.get_mut(slot) {
            *count += 1;
        }
    }
    for (change, count) in first {
        let mut finding = UNPROTECTED_CHANGE.at(Place::line(change.line).with_id(change.record.clone())).count(count);
        if let Some(path) = &change.path {
            finding = finding.fact("file", path);
        }
        let surely = matches!(change.by, ChangedBy::Write) && change.path.is_some() && held.complete;
        if let ChangedBy::Command(word) = change.by {
            finding = finding.fact("command", word);
        }
        if !surely {
            finding = finding.severity(Severity::Info);
        }
        if !held.complete {
            finding = finding.fact("evicted_or_undone", true);
        }
        found.add(finding.effect("the agent has no snapshot from before it: no undo brings the file back"));
    }
    found.finish()
}
