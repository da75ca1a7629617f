//! Whole stores through the rooms, one file at a time: what is kept of a session when its facts are let go, and the two
//! verdicts made from its findings.
//!
//! Under a hundred bytes stay for a clean session file, besides its entry in the discovery: a store may have a hundred
//! thousand of them.

mod attribute;
mod driver;
pub mod fields;
mod files;
pub mod id_lookup;
pub mod layers;
pub mod library;
mod live;
pub mod measure;
pub mod mend;
#[cfg(feature = "repair")]
pub mod repair;
mod scan;
pub mod summary;
mod totals;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::chain::Mode;
use crate::chain::format::FormatBy;
use crate::finding::{Finding, Rule};
use crate::identity::AgentId;
use crate::metrics::census::FieldVerdict;
use crate::metrics::cross_check::{CrossCheck, Fault};
use crate::metrics::usage::StoreUsage;
use crate::repair::agent::Writer;
use crate::rules::Examined;
use crate::rules::filter::Gate;
use crate::session::Shape;
use crate::store::meter::Meter;
use crate::store::{Discovery, Source};
use crate::text::Text;
use crate::verdict::{ApiVerdict, Lawful, Resume, ResumeVerdict};
pub use files::{Depth, add_stdin, below_store, is_session, is_session_or_index, open, read_session, shape_of};
pub use live::is_live;
pub use scan::scan;
pub use totals::Totals;

/// What is kept of one session file.
#[derive(Clone, Debug)]
pub struct SessionAudit {
    /// The file's place in [`crate::store::Discovery::files`].
    pub file: u32,
    /// Whose it is.
    pub agent_id: AgentId,
    /// What it is.
    pub shape: Shape,
    /// How its loader reads it.
    pub mode: Mode,
    /// Whether it is being written to.
    pub live: bool,
    /// Whether its loader streams it.
    pub stream: bool,
    /// Would the API take it?
    pub api: ApiVerdict,
    /// Would a resume bring it back? And its lines.
    counts: Counts,
    /// What is not the same for every healthy session.
    pub extra: Option<Box<Extra>>,
}

/// What a session has beyond the usual.
#[derive(Clone, Debug, Default)]
pub struct Extra {
    /// The session id in the file, when it is not the file's name.
    pub session_id: Option<Text>,
    /// The format version that the file states.
    pub stated: Option<String>,
    /// The version that its loader takes it for.
    pub effective: Option<String>,
    /// How that is known.
    pub by: Option<FormatBy>,
    /// The rules that make the API verdict.
    pub api_rules: Vec<&'static Rule>,
    /// Its findings, in file order.
    pub findings: Vec<Finding>,
    /// The repairs that have a plan for it.
    pub mends: Vec<mend::Mend>,
    /// What each known loader makes of it, the one that judges first; empty where all load the same number of messages.
    pub readers: Vec<Reader>,
}

/// What one known loader makes of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Reader {
    /// Its name.
    pub loader: &'static str,
    /// How many messages it returns.
    pub loaded: u32,
    /// What it raises instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raises: Option<&'static str>,
}

/// The numbers of a session in forty bytes less than they have: nearly every session is brought back whole, has no line
/// that is not a record, and leaves nothing out.
#[derive(Clone, Debug)]
struct Counts {
    verdict: ResumeVerdict,
    loaded: u32,
    physical: u32,
    records: u32,
    /// Whether its loader cleans what it brings back, so that it is counted what that leaves.
    cleans: bool,
    rare: Option<Box<(Resume, [u32; 5])>>,
}

impl Counts {
    fn of(resume: Resume, lines: [u32; 5]) -> Self {
        let Resume { verdict, loaded, .. } = resume;
        let cleans = resume.cleaned != u32::MAX;
        let [physical, records, ..] = lines;
        let usual = Counts { verdict, loaded, physical, records, cleans, rare: None };
        let rare = (usual.resume() != resume || usual.lines() != lines).then(|| Box::new((resume, lines)));
        Counts { rare, ..usual }
    }

    fn resume(&self) -> Resume {
        let &Counts { verdict, loaded, cleans, .. } = self;
        let cleaned = if cleans { loaded } else { u32::MAX };
        let lawful = Lawful::default();
        let usual = Resume { verdict, loaded, expected: loaded, cleaned, shown: cleaned, lawful };
        self.rare.as_ref().map_or(usual, |rare| rare.0)
    }

    fn lines(&self) -> [u32; 5] {
        self.rare.as_ref().map_or([self.physical, self.records, 0, 0, 0], |rare| rare.1)
    }
}

impl SessionAudit {
    /// Would a resume bring it back?
    pub fn resume(&self) -> Resume {
        self.counts.resume()
    }

    /// Physical lines, records, blank, bad, torn.
    pub fn lines(&self) -> [u32; 5] {
        self.counts.lines()
    }

    /// What each known loader makes of it, the one that judges first.
    pub fn readers(&self) -> Vec<Reader> {
        if let Some(readers) = self.extra.as_deref().map(|e| &e.readers).filter(|readers| !readers.is_empty()) {
            return readers.clone();
        }
        let loaded = self.resume().loaded;
        let others = if self.shape == Shape::Main { crate::agents::of(self.agent_id).other_loaders() } else { &[] };
        let all = std::iter::once(self.agent_id.loader()).chain(others.iter().copied());
        all.map(|loader| Reader { loader, loaded, raises: None }).collect()
    }

    /// The repairs that have a plan for it.
    pub fn mends(&self) -> &[mend::Mend] {
        self.extra.as_deref().map(|e| &*e.mends).unwrap_or_default()
    }

    /// Tries which repairs have a plan for it, where it has something that one might answer.
    ///
    /// # Errors
    /// When the session's bytes cannot be read again.
    pub fn try_mends(
        &mut self,
        examined: (Examined, &'static dyn Writer),
        now: i64,
        meter: &Meter,
    ) -> std::io::Result<()> {
        let mends = mend::of_session(examined, self.findings(), (self.live, now), meter)?;
        if let Some(extra) = &mut self.extra {
            extra.mends = mends;
        }
        Ok(())
    }

    /// Its findings.
    pub fn findings(&self) -> &[Finding] {
        self.extra.as_deref().map(|e| &*e.findings).unwrap_or_default()
    }
}

/// How many places of one code are collected for one file, unless more are asked for.
pub const PLACES: usize = 20;

/// What a scan is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which findings are kept.
    pub gate: Gate,
    /// How many places of one code are collected for one file.
    pub places: usize,
    /// The time that ages are taken against, in milliseconds since 1970.
    pub now: i64,
    /// Whether every file is rebuilt at every snapshot, however large the index.
    pub verify: bool,
    /// The session that comes from standard input.
    pub stdin: Option<Source>,
    /// Whether every total is counted a second time.
    pub again: Option<Fault>,
}

impl Default for Options {
    /// Every finding, ages taken against now, and as much of each index as one read shows.
    fn default() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        Options { gate: Gate::default(), places: PLACES, now, verify: false, stdin: None, again: None }
    }
}

/// What a scan found.
#[derive(Debug, Default)]
pub struct Scan {
    /// What was read.
    pub discovery: Discovery,
    /// One for each session file that could be read, in the order of the paths.
    pub sessions: Vec<SessionAudit>,
    /// One for each checkpoint index that could be read, in the order of the paths.
    pub checkpoints: Vec<layers::IndexAudit>,
    /// Findings that belong to no single session.
    pub store: Vec<Finding>,
    /// What could not be read. Exit status 2.
    pub errors: Vec<(PathBuf, String)>,
    /// Files on which sid-audit itself failed. Exit status 70.
    pub defects: Vec<(PathBuf, String)>,
    /// Sums over all sessions.
    pub totals: Totals,
    /// What all sessions used, each response counted once.
    pub usage: StoreUsage,
    /// What is never written, and what that means.
    pub zero_fields: Vec<FieldVerdict>,
    /// Every total counted again, where that was asked for.
    pub cross_check: Option<CrossCheck>,
    /// By root, the versions of the agent that wrote its records.
    pub versions: BTreeMap<u32, BTreeSet<String>>,
    /// Whether it was stopped before all files were read.
    pub interrupted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_session_stays_within_the_memory_law() {
        assert!(size_of::<SessionAudit>() < 100, "{}", size_of::<SessionAudit>());
    }
}
