//! What is kept of each session for rules about the store: 24 bytes of a usual one whose agent's list reads it, nothing
//! of the others, more only of those that have more.
//!
//! Workers hand in sessions in any order; what comes out is sorted by file, and the sample of records does not depend on
//! the order either.

use std::sync::{Mutex, PoisonError};

use super::agent::{Judges, Listed};
use super::sample::Sample;
use super::{alias, markers, names, sample};
use crate::chain::graph::MISSING;
use crate::finding::Finding;
use crate::record::facts::{Id, Record, flag};
use crate::rules::agent::Judged;
use crate::session::{Session, Shape};
use crate::store::Discovery;

/// What store rules need of one session.
#[derive(Clone, Debug)]
pub struct SessionNote {
    /// When its agent says it was last updated, in milliseconds since 1970.
    updated: i64,
    extra: Option<Box<Extra>>,
    /// The file's place in [`Discovery::files`].
    pub file: u32,
    bits: u32,
}

/// What a session has beyond the usual.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    /// Hashes of other ids that it is known by.
    pub(super) ids: Vec<u64>,
    /// Of a subagent in a flat layout the session that its records name.
    pub(crate) owner: Option<(u64, String)>,
    pub(super) fork: Option<Fork>,
    pub(super) missing: Vec<MissingParent>,
    /// Findings that need the layout.
    pub(super) findings: Vec<Finding>,
}

/// Where a session was forked from.
#[derive(Clone, Debug)]
pub struct Fork {
    /// Hash of the source's id; none where only its path is known.
    pub source: Option<u64>,
    /// The source's id, or its path.
    pub named: String,
    /// The last record of the source when the fork was made.
    pub tail: Option<Id>,
    /// How many messages were to be copied, and how many are here.
    pub messages: Option<(u64, u64)>,
    /// The line that says so.
    pub line: u32,
}

/// A record whose parent is not in its file.
#[derive(Clone, Copy, Debug)]
pub struct MissingParent {
    /// The record's line.
    pub line: u32,
    /// The id of the parent that is not there.
    pub parent: Id,
}

/// So many missing parents of one file are looked up in the store.
const MISSING_KEPT: usize = 64;

mod bit {
    pub(super) const LIVE: u32 = 1;
    pub(super) const NO_END: u32 = 1 << 1;
    pub(super) const MESSAGE: u32 = 1 << 2;
    pub(super) const UPDATED: u32 = 1 << 3;
    /// A session of its own, no subagent's transcript.
    pub(super) const SESSION: u32 = 1 << 4;
    /// Its agent's list reads it.
    pub(super) const LISTED: u32 = 1 << 5;
    pub(super) const LEFT_OUT_AT: u32 = 8;
}

impl SessionNote {
    /// The note of a session.
    fn of(session: &Session, agent: &dyn Judged, agents: Judges, file: u32, discovery: &Discovery, live: bool) -> Self {
        let is_session = matches!(session.shape, Shape::Main | Shape::Legacy);
        let mut bits = if live { bit::LIVE } else { 0 } | if is_session { bit::SESSION } else { 0 };
        let mut updated = 0;
        if markers::has_no_end(session, agent) {
            bits |= bit::NO_END;
        }
        if markers::holds_message(&session.facts) {
            bits |= bit::MESSAGE;
        }
        if let Some(Listed { left_out, updated: at }) = agent.listed(session) {
            bits |= bit::LISTED | u32::from(left_out) << bit::LEFT_OUT_AT;
            if let Some(time) = at {
                bits |= bit::UPDATED;
                updated = time;
            }
        }
        let extra = Extra {
            ids: if is_session { other_ids(session, agent) } else { Vec::new() },
            owner: agent.owner(session).map(|id| (alias::hash(Some(agent), &id), crate::text::lossy(&id))),
            fork: if is_session { agent.fork(session) } else { None },
            missing: missing(session),
            findings: names::wrong_folder(session, agents, file, discovery).into_iter().collect(),
        };
        SessionNote { updated, extra: extra.is_needed().then(|| Box::new(extra)), file, bits }
    }

    pub(super) fn is_session(&self) -> bool {
        self.bits & bit::SESSION != 0
    }

    pub(super) fn is_live(&self) -> bool {
        self.bits & bit::LIVE != 0
    }

    pub(super) fn has_no_end(&self) -> bool {
        self.bits & bit::NO_END != 0
    }

    pub(crate) fn holds_message(&self) -> bool {
        self.bits & bit::MESSAGE != 0
    }

    /// Why its agent's list leaves it out, as [`Listed`] has it.
    pub(crate) fn left_out(&self) -> u8 {
        (self.bits >> bit::LEFT_OUT_AT) as u8
    }

    /// When its agent says it was last updated.
    pub(crate) fn updated(&self) -> Option<i64> {
        (self.bits & bit::UPDATED != 0).then_some(self.updated)
    }

    /// Hashes of the ids that it is known by besides that of its name.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> + use<'_> {
        self.extra.iter().flat_map(|e| e.ids.iter().copied())
    }

    pub(crate) fn extra(&self) -> Option<&Extra> {
        self.extra.as_deref()
    }

    pub(super) fn missing(&self) -> &[MissingParent] {
        self.extra.as_deref().map(|e| &*e.missing).unwrap_or_default()
    }
}

impl Extra {
    fn is_needed(&self) -> bool {
        !self.ids.is_empty()
            || self.owner.is_some()
            || self.fork.is_some()
            || !self.missing.is_empty()
            || !self.findings.is_empty()
    }
}

/// The ids of a session other than the one that its name gives.
fn other_ids(session: &Session, agent: &dyn Judged) -> Vec<u64> {
    let hash = |id: &[u8]| alias::hash(Some(agent), id);
    let stem = session.path.file_stem().map(|s| s.as_encoded_bytes()).unwrap_or_default();
    let named = agent.named_id(stem).map(hash);
    let mut ids: Vec<u64> = agent.ids_inside(session).iter().map(|id| hash(id)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|id| Some(*id) != named);
    ids
}

fn missing(session: &Session) -> Vec<MissingParent> {
    if session.shape != Shape::Main {
        return Vec::new();
    }
    let facts = &session.facts;
    let lost =
        session.graph.parent.iter().zip(&facts.records).filter(|(p, r)| **p == MISSING && r.has(flag::PARENT_STRING));
    lost.map(|(_, r)| MissingParent { line: r.line, parent: r.parent }).take(MISSING_KEPT).collect()
}

/// The records of a session that may stand in other files, too: whether each is a message that is shown, and whether it
/// bears a fork's mark.
fn sampled<'s>(session: &'s Session, agent: &dyn Judged) -> impl Iterator<Item = (&'s Record, bool, bool)> + use<'s> {
    const ASIDE: u64 = flag::META | flag::SIDECHAIN | flag::TEAM;
    const MARKS: u64 = flag::FORKED | flag::BACKGROUND | flag::OTHER_SESSION_ID;
    let forked = !agent.marks_copies() && agent.fork(session).is_some();
    let records: &[Record] = if session.shape == Shape::Main { &session.facts.records } else { &[] };
    records
        .iter()
        .filter(|r| session.graph.has_kind(r) && r.has(flag::ID_STRING))
        .map(move |r| (r, r.is_message() && !r.any(ASIDE), forked || r.any(MARKS)))
}

/// Gathers what store rules need while sessions are read in parallel.
#[derive(Debug)]
pub struct StoreCollector {
    agents: Judges,
    inner: Mutex<Collected>,
}

/// What was gathered.
#[derive(Clone, Debug)]
pub(super) struct Collected {
    pub(super) notes: Vec<SessionNote>,
    pub(super) sample: Sample,
}

impl Clone for StoreCollector {
    fn clone(&self) -> Self {
        StoreCollector { agents: self.agents, inner: Mutex::new(self.lock().clone()) }
    }
}

impl StoreCollector {
    /// A collector for stores of these agents.
    pub fn new(agents: Judges) -> Self {
        StoreCollector::with_budget(agents, sample::BUDGET)
    }

    /// One that keeps so many records for comparing files with each other.
    pub fn with_budget(agents: Judges, records: usize) -> Self {
        StoreCollector { agents, inner: Mutex::new(Collected { notes: Vec::new(), sample: Sample::new(records) }) }
    }

    /// Takes what is needed of a session before its facts are let go. Each session once, in any order.
    pub fn add(&self, session: &Session, file: u32, discovery: &Discovery, live: bool) {
        /// Handed over at a time, so that a file in hand costs no more memory for this.
        const PART: usize = 4096;
        let Some(agent) = self.agents.of(session.agent_id) else { return };
        let note = SessionNote::of(session, agent, self.agents, file, discovery, live);
        let mut level = {
            let mut inner = self.lock();
            // Of a usual session that no list reads everything is known from its name and place.
            if note.bits & bit::LISTED != 0 || note.extra.is_some() {
                inner.notes.push(note);
            }
            inner.sample.level()
        };
        let mut records = sampled(session, agent).peekable();
        while records.peek().is_some() {
            let part = Sample::part(level, file, records.by_ref().take(PART));
            let mut inner = self.lock();
            inner.sample.add(&part);
            level = inner.sample.level();
        }
    }

    /// The same with this session in the place of the one that was taken for the file.
    #[must_use]
    pub fn with(&self, session: &Session, file: u32, discovery: &Discovery, live: bool) -> Self {
        let mut collected = self.lock().clone();
        collected.notes.retain(|note| note.file != file);
        collected.sample.forget(file);
        let other = StoreCollector { agents: self.agents, inner: Mutex::new(collected) };
        other.add(session, file, discovery, live);
        other
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Collected> {
        // a worker that failed left nothing half done here
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agents that it was made for.
    pub(super) fn agents(&self) -> Judges {
        self.agents
    }

    /// What was gathered, by file.
    pub(super) fn finish(self) -> Collected {
        let mut all = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.notes.sort_unstable_by_key(|note| note.file);
        all.notes.dedup_by_key(|note| note.file);
        all.notes.shrink_to_fit();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_session_costs_little() {
        assert!(size_of::<SessionNote>() <= 24, "{}", size_of::<SessionNote>());
    }
}
