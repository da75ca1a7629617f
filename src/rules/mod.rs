//! The registry of findings, one file per family, and the one gate that acts on it.
//!
//! A rule is declared once, as a `static` in its family's file, and the family's `check` makes findings of it. Rules know
//! nothing of policy: what is shown, ignored or fails a run is decided by [`filter`].

pub mod agent;
pub mod api_verdict;
pub mod baseline;
pub mod chain;
pub mod checkpoints;
pub mod fields;
pub mod filter;
pub mod fingerprint;
pub mod lines;
pub mod messages;
pub mod registry;
pub mod resume;
pub mod store;
mod surrogates;
pub mod texts;
pub mod tools;
pub mod usage;

use crate::chain::Chain;
use crate::chain::recover::Recovered;
use crate::finding::{Finding, Place, Rule};
use crate::metrics::usage::SessionUsage;
use crate::request::Request;
use crate::session::{Session, Shape};
use crate::store::Source;
use crate::store::meter::Meter;
pub use crate::text::counted;
use agent::Judged;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// A session with what follows from it, each made once: what its agent would send next, and what it used.
#[derive(Debug)]
pub struct Examined {
    /// The session.
    pub session: Session,
    /// Whose it is.
    pub agent: &'static dyn Judged,
    /// What its agent would send after a resume.
    pub request: Request,
    /// What it used.
    pub usage: SessionUsage,
}

impl Examined {
    /// Reads a session, and makes what follows from it.
    ///
    /// # Errors
    /// As [`Session::read`].
    pub fn read(
        path: PathBuf,
        source: Source,
        agent: &'static dyn Judged,
        shape: Shape,
        meter: &Meter,
    ) -> io::Result<Self> {
        Ok(Examined::of(Session::read(path, source, agent, shape, meter)?, agent))
    }

    /// Makes what follows from a session.
    pub fn of(session: Session, agent: &'static dyn Judged) -> Self {
        Examined { request: Request::new(&session, agent), usage: SessionUsage::of(&session, agent), session, agent }
    }

    /// The same session as if its agent had taken another leaf. What it used stays.
    #[must_use]
    pub fn following(self, chain: Chain) -> Self {
        let session = self.session.following(chain);
        Examined { request: Request::new(&session, self.agent), session, ..self }
    }
}

/// What a rule about one session may look at.
#[derive(Debug)]
pub struct Context<'a> {
    /// The session.
    pub session: &'a Session,
    /// Whose it is.
    pub agent: &'static dyn Judged,
    /// What its agent would send after a resume.
    pub request: &'a Request,
    /// What it used.
    pub usage: &'a SessionUsage,
    /// Whether it is being written to: a registered process lives, or the file grew while it was read.
    pub live: bool,
    /// The time that ages are taken against, in milliseconds since 1970.
    pub now: i64,
    /// How many places of one code are collected for one file.
    pub places: usize,
}

/// What all families say of one session, in file order, and the session mended where there was something to mend.
pub fn session_findings(context: &Context<'_>) -> (Vec<Finding>, Option<Recovered>) {
    let mut found = Collector::new(context.places);
    lines::check(context, &mut found);
    let recovered = chain::check(context, &mut found);
    tools::check(context, &mut found);
    messages::check(context, &mut found);
    usage::check(context, &mut found);
    store::check(context, &mut found);
    (found.finish(), recovered)
}

impl<'a> Context<'a> {
    /// Of a session as it was examined.
    pub fn new(examined: &'a Examined, live: bool, now: i64, places: usize) -> Self {
        let Examined { session, agent, request, usage } = examined;
        Context { session, agent: *agent, request, usage, live, now, places }
    }

    /// The loader whose rules judge.
    pub fn loader(&self) -> &'static str {
        self.session.agent_id.loader()
    }

    /// A sentence about what the agent does, with its loader's name in it.
    pub fn says(&self, sentence: &str) -> String {
        sentence.replace("{loader}", self.loader())
    }

    /// The place of a record: line, bytes, id.
    pub fn place(&self, n: u32) -> Place {
        let record = self.session.record(n);
        Place {
            line: Some(u64::from(record.line)),
            offset: Some(record.offset),
            length: Some(u64::from(record.length)),
            id: self.session.id(n),
        }
    }
}

/// Findings of one session, at most so many places of each code; what is beyond is counted.
#[derive(Debug)]
pub struct Collector {
    places: usize,
    seen: BTreeMap<&'static Rule, u64>,
    findings: Vec<Finding>,
}

impl Collector {
    /// Collects at most this many places of each code.
    pub fn new(places: usize) -> Self {
        Collector { places, seen: BTreeMap::new(), findings: Vec::new() }
    }

    /// Whether another finding of this rule would be listed. When not, it is counted by this call, and need not be made.
    pub fn wants(&mut self, rule: &'static Rule) -> bool {
        let seen = self.seen.entry(rule).or_default();
        if *seen >= self.places as u64 {
            *seen += 1;
            return false;
        }
        true
    }

    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        if self.wants(finding.rule) {
            *self.seen.entry(finding.rule).or_default() += 1;
            self.findings.push(finding);
        }
    }

    /// Counts further findings of a rule that are not listed.
    pub fn more(&mut self, rule: &'static Rule, count: u64) {
        *self.seen.entry(rule).or_default() += count;
    }

    /// The findings so far.
    pub fn so_far(&self) -> &[Finding] {
        &self.findings
    }

    /// All findings in file order; the last listed one of each code says how many more there were.
    pub fn finish(self) -> Vec<Finding> {
        let mut findings = self.findings;
        findings.sort_by(|a, b| {
            (a.place.line, a.rule.code, a.place.offset).cmp(&(b.place.line, b.rule.code, b.place.offset))
        });
        for (rule, seen) in self.seen {
            let listed = findings.iter().filter(|f| f.is(rule)).count() as u64;
            if seen > listed
                && let Some(last) = findings.iter_mut().rfind(|f| f.is(rule))
            {
                last.more = Some(seen - listed);
            }
        }
        findings
    }
}
