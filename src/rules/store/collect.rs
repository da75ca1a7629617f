//! What is kept of each session for rules about the store: 24 bytes of a usual one of sid-code, nothing of the other
//! agents', more only of those that have more.
//!
//! Workers hand in sessions in any order; what comes out is sorted by file, and the sample of records does not depend on
//! the order either.

use std::sync::{Mutex, PoisonError};

use super::sample::Sample;
use super::view::{self, Corrupt};
use super::{alias, marks, names, sample};
use crate::chain::graph::MISSING;
use crate::dialect::Dialect;
use crate::finding::Finding;
use crate::record::again;
use crate::record::facts::{Id, Kind, Record, flag};
use crate::record::value::Value;
use crate::session::{Session, Shape};
use crate::store::Discovery;

/// What store rules need of one session.
#[derive(Clone, Debug)]
pub struct SessionNote {
    /// When sid-code says it was last updated, in milliseconds since 1970.
    updated: i64,
    extra: Option<Box<Extra>>,
    /// The file's place in [`Discovery::files`].
    pub file: u32,
    bits: u32,
}

/// What a session has beyond the usual.
#[derive(Clone, Debug, Default)]
pub(super) struct Extra {
    /// Hashes of other ids that it is known by.
    pub(super) ids: Vec<u64>,
    /// Of a subagent in a flat layout the session that its records name.
    pub(super) owner: Option<(u64, String)>,
    pub(super) fork: Option<Fork>,
    pub(super) missing: Vec<MissingParent>,
    /// Findings that need the layout.
    pub(super) findings: Vec<Finding>,
}

/// Where a session was forked from.
#[derive(Clone, Debug)]
pub(super) struct Fork {
    /// Hash of the source's id; none where only its path is known.
    pub(super) source: Option<u64>,
    /// The source's id, or its path.
    pub(super) named: String,
    /// The last record of the source when the fork was made.
    pub(super) tail: Option<Id>,
    /// How many messages were to be copied, and how many are here.
    pub(super) messages: Option<(u64, u64)>,
    pub(super) line: u32,
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
    pub(super) const CORRUPT_AT: u32 = 8;
}

impl SessionNote {
    /// The note of a session.
    pub fn of(session: &Session, file: u32, discovery: &Discovery, live: bool) -> Self {
        let is_session = matches!(session.shape, Shape::Main | Shape::Legacy);
        let mut bits = if live { bit::LIVE } else { 0 } | if is_session { bit::SESSION } else { 0 };
        let mut updated = 0;
        if marks::has_no_end(session) {
            bits |= bit::NO_END;
        }
        if marks::holds_message(&session.facts) {
            bits |= bit::MESSAGE;
        }
        if session.dialect == Dialect::Sid {
            let view = view::of(session);
            bits |= view.corrupt.map_or(0, |c| (c as u32) << bit::CORRUPT_AT);
            if let Some(time) = view.updated {
                bits |= bit::UPDATED;
                updated = time;
            }
        }
        let extra = Extra {
            ids: if is_session { other_ids(session) } else { Vec::new() },
            owner: if session.shape == Shape::Subagent { owner(session) } else { None },
            fork: if is_session { fork(session) } else { None },
            missing: missing(session),
            findings: names::wrong_folder(session, file, discovery).into_iter().collect(),
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

    pub(super) fn holds_message(&self) -> bool {
        self.bits & bit::MESSAGE != 0
    }

    /// Why sid-code's clean-up takes the file for corrupt.
    pub(super) fn corrupt(&self) -> Option<Corrupt> {
        Corrupt::from_number((self.bits >> bit::CORRUPT_AT) as u8)
    }

    /// When sid-code says it was last updated.
    pub(super) fn updated(&self) -> Option<i64> {
        (self.bits & bit::UPDATED != 0).then_some(self.updated)
    }

    /// Hashes of the ids that it is known by besides that of its name.
    pub(super) fn ids(&self) -> impl Iterator<Item = u64> + use<'_> {
        self.extra.iter().flat_map(|e| e.ids.iter().copied())
    }

    pub(super) fn extra(&self) -> Option<&Extra> {
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

/// The ids of a session other than the one that its name gives: the one inside, and of sid-code those of the processes
/// that resumed it.
fn other_ids(session: &Session) -> Vec<u64> {
    let facts = &session.facts;
    let stem = session.path.file_stem().map(|s| s.as_encoded_bytes()).unwrap_or_default();
    let hash = |id: &[u8]| alias::hash(Some(session.dialect), id);
    let mut ids = Vec::new();
    let named = match session.dialect {
        Dialect::Sid | Dialect::Claude => Some(stem),
        dialect => names::pi_named_id(dialect, stem),
    }
    .map(hash);
    match session.dialect {
        Dialect::Sid => {
            let document = session.document.as_ref().and_then(|d| d.id.as_deref());
            ids.extend(document.map(|id| hash(id.as_bytes())));
            let starts = facts.records.iter().filter(|r| r.kind == Kind::Start && r.session != 0);
            ids.extend(starts.filter_map(|r| facts.names.get(r.session)).map(hash));
            let trace = facts.names.find(b"trace_session_id");
            let traces = facts.records.iter().filter(|r| trace != 0 && r.kind == Kind::Metadata && r.agent == trace);
            ids.extend(traces.filter_map(|r| again::field(&session.source, r, &["value"])).map(|t| hash(t.as_bytes())));
        }
        // The name decides; an id inside that the name does not give is S506 or S508 and finds no file.
        Dialect::Claude => {}
        Dialect::Pi | Dialect::Openclaw => {
            let header = facts.records.iter().find(|r| crate::agents::pi::load::is_header(r));
            ids.extend(header.and_then(|r| again::id(&session.source, r)).map(|id| hash(id.as_bytes())));
        }
    }
    ids.sort_unstable();
    ids.dedup();
    ids.retain(|id| Some(*id) != named);
    ids
}

/// The session of a subagent's transcript that lies beside it (Claude Code 2.0).
fn owner(session: &Session) -> Option<(u64, String)> {
    if names::subagent_session(&session.path).is_some() {
        return None;
    }
    let facts = &session.facts;
    let id = facts.records.iter().find(|r| r.session != 0).and_then(|r| facts.names.get(r.session))?;
    Some((alias::hash(Some(session.dialect), id), crate::text::lossy(id)))
}

fn fork(session: &Session) -> Option<Fork> {
    match session.dialect {
        Dialect::Sid => sid_fork(session),
        Dialect::Claude => {
            let record = session.facts.records.iter().find(|r| r.has(flag::FORKED))?;
            let id = again::field(&session.source, record, &["forkedFrom", "sessionId"])?;
            let source = Some(alias::hash(Some(Dialect::Claude), id.as_bytes()));
            Some(Fork { source, named: id.lossy(), tail: None, messages: None, line: record.line })
        }
        Dialect::Pi | Dialect::Openclaw => {
            let header = session.facts.records.iter().find(|r| r.kind == Kind::Start)?;
            let text = again::text(&session.source, header).ok()?;
            let value = Value::parse(&text)?;
            let path = value.get("parentSession").or_else(|| value.get("branchedFrom"))?.string()?;
            (!path.is_empty()).then_some(Fork {
                source: None,
                named: path,
                tail: None,
                messages: None,
                line: header.line,
            })
        }
    }
}

/// sid-code: the start record names the source where others have a parent, and metadata says how much was copied.
fn sid_fork(session: &Session) -> Option<Fork> {
    let facts = &session.facts;
    let row = facts.records.iter().find(|r| r.has(flag::FORKED_FROM));
    let start = facts.records.iter().find(|r| r.kind == Kind::Start && r.has(flag::PARENT_STRING));
    // A start record whose parent is a record of the file is damage, no fork.
    let start = start.filter(|r| session.graph.find(r.parent, facts).is_none());
    let mut fork = Fork { source: None, named: String::new(), tail: None, messages: None, line: 0 };
    if let Some(start) = start {
        let named = again::field(&session.source, start, &["parentUuid"])?;
        (fork.source, fork.named, fork.line) = (Some(start.parent.short()), named.lossy(), start.line);
    }
    if let Some(row) = row {
        let text = again::text(&session.source, row).ok()?;
        let value = Value::parse(&text).and_then(|v| v.get("value"));
        let string = |key: &str| value.and_then(|v| v.get(key)).and_then(|v| v.text());
        if let Some(id) = string("sessionId") {
            (fork.source, fork.named) = (Some(Id::of(id.as_bytes()).short()), id.lossy());
        }
        fork.tail = string("uuid").map(|id| Id::of(id.as_bytes()));
        let here = facts.records.iter().filter(|r| r.is_message()).count() as u64;
        let copied = value.and_then(|v| v.get("messageCount")).and_then(|v| v.count());
        fork.messages = copied.map(|copied| (copied, here));
        fork.line = row.line;
    }
    fork.source.is_some().then_some(fork)
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
fn sampled(session: &Session) -> impl Iterator<Item = (&Record, bool, bool)> {
    const ASIDE: u64 = flag::META | flag::SIDECHAIN | flag::TEAM;
    const MARKS: u64 = flag::FORKED | flag::BACKGROUND | flag::OTHER_SESSION_ID;
    let forked = !matches!(session.dialect, Dialect::Claude) && fork(session).is_some();
    let records: &[Record] = if session.shape == Shape::Main { &session.facts.records } else { &[] };
    records
        .iter()
        .filter(|r| session.graph.has_kind(r) && r.has(flag::ID_STRING))
        .map(move |r| (r, r.is_message() && !r.any(ASIDE), forked || r.any(MARKS)))
}

/// Gathers what store rules need while sessions are read in parallel.
#[derive(Debug)]
pub struct StoreCollector {
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
        StoreCollector { inner: Mutex::new(self.lock().clone()) }
    }
}

impl Default for StoreCollector {
    fn default() -> Self {
        StoreCollector::with_budget(sample::BUDGET)
    }
}

impl StoreCollector {
    /// A collector that keeps so many records for comparing files with each other.
    pub fn with_budget(records: usize) -> Self {
        StoreCollector { inner: Mutex::new(Collected { notes: Vec::new(), sample: Sample::new(records) }) }
    }

    /// Takes what is needed of a session before its facts are let go. Each session once, in any order.
    pub fn add(&self, session: &Session, file: u32, discovery: &Discovery, live: bool) {
        /// Handed over at a time, so that a file in hand costs no more memory for this.
        const PART: usize = 4096;
        let note = SessionNote::of(session, file, discovery, live);
        let mut level = {
            let mut inner = self.lock();
            // Of a usual session of the other agents everything is known from its name and place.
            if session.dialect == Dialect::Sid || note.extra.is_some() {
                inner.notes.push(note);
            }
            inner.sample.level()
        };
        let mut records = sampled(session).peekable();
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
        let other = StoreCollector { inner: Mutex::new(collected) };
        other.add(session, file, discovery, live);
        other
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Collected> {
        // a worker that failed left nothing half done here
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
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
