//! How a session stands when a run ends: whether it loads in full and whether the API would take it, and whether that was
//! known before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{FilePlan, Subject, Survey};
use crate::audit::mend::Mend;
use crate::audit::{PLACES, SessionAudit, below_store, shape_of};
use crate::finding::{Finding, Rule, Severity};
use crate::repair::plan::State;
use crate::rules::baseline::Baseline;
use crate::session::Shape;
use crate::store::Discovery;
use crate::verdict::{ApiVerdict, Resume, ResumeVerdict};

/// A session's verdicts with the findings that they come from.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Would a resume bring it back?
    pub resume: Resume,
    /// Would the API take it?
    pub api: ApiVerdict,
    /// Its findings.
    pub findings: Vec<Finding>,
}

impl Standing {
    /// As a scan judged it.
    pub(super) fn of(audit: SessionAudit) -> Self {
        let (resume, api) = (audit.resume(), audit.api);
        Standing { resume, api, findings: audit.extra.map(|extra| extra.findings).unwrap_or_default() }
    }

    /// As a plan has it before or after.
    pub(super) fn of_state(state: &State) -> Self {
        Standing { resume: state.resume, api: state.api, findings: state.findings.clone() }
    }

    /// Whether it does not load in full or would be refused.
    pub(super) fn is_broken(&self) -> bool {
        self.resume.verdict != ResumeVerdict::Full || self.api == ApiVerdict::Refused
    }
}

/// Whether one of these findings is loud and not known, as a scan lists them: so many places of a code.
fn has_unknown(findings: &[Finding], known: &Baseline, below: &Path) -> bool {
    let mut places: BTreeMap<&Rule, usize> = BTreeMap::new();
    let listed = |f: &&Finding| {
        let n = places.entry(f.rule).or_default();
        *n += 1;
        *n <= PLACES
    };
    let listed: Vec<Finding> = findings.iter().filter(listed).cloned().collect();
    known.is_empty() || known.unknown(&listed, below).any(|f| f.severity >= Severity::Warning)
}

/// A session that is still broken at the end.
#[derive(Debug)]
pub struct Still<'a> {
    /// Its path.
    pub path: PathBuf,
    /// What it is.
    pub shape: Shape,
    /// How it stands.
    pub standing: Standing,
    /// The repairs that would leave less.
    pub mends: &'a [Mend],
    /// Whether all of it was known before.
    pub known: bool,
}

/// The sessions that are still broken at the end of a run that applied these plans, or that would; the worst first.
pub fn still_broken<'a>(
    survey: &'a Survey,
    discovery: &Discovery,
    known: &Baseline,
    is_applied: impl Fn(&FilePlan) -> bool,
) -> Vec<Still<'a>> {
    let planned = survey.plans.iter().filter_map(|plan| {
        let Subject::Session(session) = &plan.subject else { return None };
        let standing = Standing::of_state(if is_applied(plan) { &session.after } else { &session.before });
        let known = !has_unknown(&standing.findings, known, &plan.below);
        Some(Still { path: plan.path.clone(), shape: session.shape, standing, mends: &plan.mends, known })
    });
    let others = survey.standing.iter().filter_map(|(n, standing)| {
        let file = discovery.files.get(*n as usize)?;
        let path = discovery.path(file);
        let known = !has_unknown(&standing.findings, known, below_store(discovery, file, &path));
        Some(Still { shape: shape_of(file.kind), path, standing: standing.clone(), mends: &[], known })
    });
    let mut still: Vec<Still<'_>> = planned.chain(others).filter(|still| still.standing.is_broken()).collect();
    still.sort_by_cached_key(|still| {
        let Standing { resume, api, .. } = &still.standing;
        (still.known, resume.verdict, *api != ApiVerdict::Refused, still.path.clone())
    });
    still
}

impl FilePlan {
    /// Whether it has something to do for what a baseline does not know.
    pub fn has_new_work(&self, known: &Baseline) -> bool {
        let unknown = match &self.subject {
            Subject::Session(session) => has_unknown(&session.before.findings, known, &self.below),
            Subject::Index(_) => true,
        };
        self.has_work() && unknown
    }
}
