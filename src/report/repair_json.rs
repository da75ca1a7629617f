//! A repair as JSON: the plan, what became of it, and the journal. The value that is printed by a dry run is the one that
//! is executed.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::finding_json::{FindingJson, Under, findings};
use super::json;
use super::json_head::{Each, Head, PathField, TOOL, VERSION};
use super::repair_diff::Change;
use super::scan_json::{ApiJson, ErrorJson, ResumeJson, RootJson, kind_name, roots};
use super::suggest::Next;
use crate::audit::repair::standing::Still;
use crate::audit::repair::{Applied, Failed, FilePlan, Left, Refused, Subject};
use crate::chain::recover::Evidence;
use crate::commit::Sha;
use crate::finding::{Finding, Fix, Rule, Severity};
use crate::identity::AgentId;
use crate::repair::checkpoints::IndexState;
use crate::repair::plan::{Planned, State};
use crate::rules::baseline::Baseline;
use crate::store::Discovery;

/// What both forms are made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What was read.
    pub discovery: &'a Discovery,
    /// Session files that were read.
    pub sessions: u64,
    /// Checkpoint indexes that were read.
    pub indexes: u64,
    /// The plans.
    pub plans: &'a [FilePlan],
    /// For each plan what it changes in the bytes, when that was asked for.
    pub changes: Option<&'a [Vec<Change>]>,
    /// What was applied; none in a dry run.
    pub applied: Option<&'a [Applied]>,
    /// What was left alone.
    pub refused: &'a [Refused],
    /// What could not be written.
    pub failed: &'a [Failed],
    /// Sessions that are still broken at the end, the worst first.
    pub still: &'a [Still<'a>],
    /// What could not be read.
    pub errors: &'a [(PathBuf, String)],
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
}

#[derive(Serialize)]
struct Document<'a, P: Serialize> {
    #[serde(flatten)]
    head: Head,
    roots: Vec<RootJson<'a>>,
    sessions: u64,
    indexes: u64,
    dry_run: bool,
    plan: P,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<Vec<AppliedJson<'a>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    still_broken: Vec<StillJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorJson<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
}

/// Writes the repair as one document.
///
/// # Errors
/// Whatever the writer says.
pub fn document(writer: impl Write, report: Report<'_>) -> io::Result<()> {
    let document = Document {
        head: Head::new("repair", report.taken_at),
        roots: roots(report.discovery, |_| None),
        sessions: report.sessions,
        indexes: report.indexes,
        dry_run: report.applied.is_none(),
        plan: Each(|| report.plans.iter().enumerate().map(|(n, plan)| PlanJson::new(&report, n, plan))),
        applied: report.applied.map(|applied| applied.iter().map(AppliedJson::new).collect()),
        still_broken: report.still.iter().map(StillJson::new).collect(),
        refused: report.refused.iter().map(RefusedJson::new).collect(),
        errors: errors(&report),
        interrupted: report.interrupted,
    };
    json::document(writer, &document)
}

#[derive(Serialize)]
struct LineJson<'a, T: Serialize> {
    kind: &'static str,
    schema: &'static str,
    version: u32,
    tool: &'static str,
    taken_at: &'a str,
    #[serde(flatten)]
    what: T,
}

/// Writes the repair as lines: one for each plan, each file that was applied, left alone or could not be read or written,
/// and the totals.
///
/// # Errors
/// Whatever the writer says.
pub fn lines(mut writer: impl Write, report: Report<'_>) -> io::Result<()> {
    let taken_at = crate::record::time::format(report.taken_at);
    for (n, plan) in report.plans.iter().enumerate() {
        write_line(&mut writer, "plan", &taken_at, PlanJson::new(&report, n, plan).renamed())?;
    }
    for applied in report.applied.unwrap_or_default() {
        write_line(&mut writer, "applied", &taken_at, AppliedJson::new(applied))?;
    }
    for still in report.still {
        write_line(&mut writer, "still_broken", &taken_at, StillJson::new(still))?;
    }
    for refused in report.refused {
        write_line(&mut writer, "refused", &taken_at, RefusedJson::new(refused))?;
    }
    for error in errors(&report) {
        write_line(&mut writer, "error", &taken_at, error)?;
    }
    #[derive(Serialize)]
    struct Totals {
        sessions: u64,
        indexes: u64,
        dry_run: bool,
        planned: usize,
        edits: usize,
        applied: usize,
        still_broken: usize,
        refused: usize,
        errors: usize,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
    }
    let totals = Totals {
        sessions: report.sessions,
        indexes: report.indexes,
        dry_run: report.applied.is_none(),
        planned: report.plans.iter().filter(|plan| plan.has_work()).count(),
        edits: report.plans.iter().map(|plan| plan.edits.len()).sum(),
        applied: report.applied.map_or(0, <[Applied]>::len),
        still_broken: report.still.len(),
        refused: report.refused.len(),
        errors: errors(&report).len(),
        interrupted: report.interrupted,
    };
    write_line(&mut writer, "totals", &taken_at, totals)
}

fn write_line(writer: impl Write, kind: &'static str, taken_at: &str, what: impl Serialize) -> io::Result<()> {
    let schema = "sid-audit.repair";
    json::line(writer, &LineJson { kind, schema, version: VERSION, tool: TOOL, taken_at, what })
}

#[derive(Serialize)]
struct PlanJson<'a> {
    #[serde(flatten)]
    path: PathField,
    agent: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_kind: Option<&'static str>,
    before: AccountJson<'a>,
    after: AccountJson<'a>,
    answers: &'a [&'static Rule],
    edits: Vec<EditJson<'a>>,
    left: Vec<LeftJson<'a>>,
    /// Links that are only the nearest and would be made with `--relink auto`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<EditJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'a [Change]>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
struct AccountJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<ResumeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<ApiJson<'a>>,
    /// Of an index: whether the agent reads it, and its whole snapshots.
    #[serde(skip_serializing_if = "Option::is_none")]
    readable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshots: Option<usize>,
    sha256: String,
}

impl<'a> AccountJson<'a> {
    fn session(state: &'a State, agent_id: AgentId, sha256: Sha) -> Self {
        AccountJson {
            resume: Some(ResumeJson::of(&state.resume, state.mode, agent_id)),
            api: Some(ApiJson::of(state.api, &state.api_rules)),
            readable: None,
            snapshots: None,
            sha256: sha256.to_string(),
        }
    }

    fn index(state: &IndexState, sha256: Sha) -> Self {
        AccountJson {
            resume: None,
            api: None,
            readable: Some(state.readable),
            snapshots: Some(state.snapshots),
            sha256: sha256.to_string(),
        }
    }
}

#[derive(Serialize)]
struct EditJson<'a> {
    line: u64,
    offset: u64,
    action: &'static str,
    class: Fix,
    evidence: &'static str,
    reason: &'a str,
    code: &'static str,
}

#[derive(Serialize)]
struct LeftJson<'a> {
    #[serde(flatten)]
    finding: FindingJson<'a>,
    why: &'a str,
}

impl<'a> PlanJson<'a> {
    fn new(report: &Report<'a>, n: usize, plan: &'a FilePlan) -> Self {
        let [was, will] = plan.sha256;
        let (kind, before, after) = match &plan.subject {
            Subject::Session(subject) => {
                let account = |state, sha256| AccountJson::session(state, plan.agent_id, sha256);
                (kind_name(subject.shape), account(&subject.before, was), account(&subject.after, will))
            }
            Subject::Index(index) => {
                ("index", AccountJson::index(&index.before, was), AccountJson::index(&index.after, will))
            }
        };
        let nearest = plan.nearest.iter().flat_map(|other| &other.edits);
        let nearest = nearest.filter(|e| e.edit.evidence == Some(Evidence::Nearest));
        PlanJson {
            path: PathField::from(plan.path.as_path()),
            agent: plan.agent_id.name(),
            kind: Some(kind),
            session_kind: None,
            before,
            after,
            answers: &plan.answers,
            edits: edits(plan),
            left: left(plan),
            nearest: nearest.map(EditJson::new).collect(),
            changes: report.changes.and_then(|all| all.get(n)).map(Vec::as_slice),
            warnings: &plan.warnings,
        }
    }

    /// In a stream `kind` says what the line is, so the session's own kind has another name there.
    fn renamed(self) -> Self {
        PlanJson { session_kind: self.kind, kind: None, ..self }
    }
}

impl<'a> EditJson<'a> {
    fn new(planned: &'a Planned) -> Self {
        let edit = &planned.edit;
        EditJson {
            line: planned.line,
            offset: planned.offset,
            action: edit.action.name(),
            class: edit.class,
            evidence: edit.evidence.map_or("none", Evidence::name),
            reason: &edit.reason,
            code: edit.rule.code,
        }
    }
}

fn edits(plan: &FilePlan) -> Vec<EditJson<'_>> {
    plan.edits.iter().map(EditJson::new).collect()
}

fn left(plan: &FilePlan) -> Vec<LeftJson<'_>> {
    let next = Next { path: &plan.path, shape: plan.subject.shape(), mends: &plan.mends };
    let under = Under { below: &plan.below, next };
    let found: Vec<_> = plan.left.iter().map(|left: &Left| &left.finding).collect();
    let findings = findings(found, under, &Baseline::default());
    findings.into_iter().zip(&plan.left).map(|(finding, left)| LeftJson { finding, why: &left.why }).collect()
}

/// A file that was written.
#[derive(Serialize)]
pub struct AppliedJson<'a> {
    #[serde(flatten)]
    path: PathField,
    journal_id: &'a str,
    before_sha256: String,
    after_sha256: String,
    retained: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<MergedJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmerged: Vec<UnmergedJson<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
struct MergedJson {
    lines: u64,
    bytes: u64,
    grown: u64,
}

#[derive(Serialize)]
struct UnmergedJson<'a> {
    #[serde(flatten)]
    path: PathField,
    bytes: u64,
    why: &'a str,
}

impl<'a> AppliedJson<'a> {
    /// Of a file that has its new bytes.
    pub fn new(applied: &'a Applied) -> Self {
        AppliedJson {
            path: PathField::from(applied.path.as_path()),
            journal_id: &applied.journal_id,
            before_sha256: applied.sha256[0].to_string(),
            after_sha256: applied.sha256[1].to_string(),
            retained: PathField::from(applied.retained.as_path()).path,
            merged: applied.merged.map(|m| MergedJson { lines: m.lines, bytes: m.bytes, grown: m.grown }),
            unmerged: applied
                .unmerged
                .iter()
                .map(|u| UnmergedJson { path: PathField::from(u.file.path.as_path()), bytes: u.file.late, why: &u.why })
                .collect(),
            warnings: &applied.warnings,
        }
    }
}

/// A session that does not load in full, or would be refused, when the run ends.
#[derive(Serialize)]
struct StillJson<'a> {
    #[serde(flatten)]
    path: PathField,
    resume: &'static str,
    loaded: u32,
    expected: u32,
    api: &'static str,
    codes: Vec<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    known: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl<'a> StillJson<'a> {
    fn new(still: &'a Still<'a>) -> Self {
        let resume = still.standing.resume;
        StillJson {
            path: PathField::from(still.path.as_path()),
            resume: resume.verdict.name(),
            loaded: resume.loaded,
            expected: resume.expected,
            api: still.standing.api.name(),
            codes: loud_codes(&still.standing.findings),
            known: still.known,
            next: next_of(still),
        }
    }
}

/// The command that goes further with a session that is still broken.
pub(super) fn next_of(still: &Still<'_>) -> Option<String> {
    let next = Next { path: &still.path, shape: still.shape, mends: still.mends };
    next.for_file(&still.standing.findings)
}

/// The codes at warning and above, the worst first.
pub(super) fn loud_codes(findings: &[Finding]) -> Vec<&'static str> {
    let mut loud: Vec<&Finding> = findings.iter().filter(|f| f.severity >= Severity::Warning).collect();
    loud.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.rule.code));
    let mut codes: Vec<&'static str> = loud.iter().map(|finding| finding.rule.code).collect();
    codes.dedup();
    codes
}

/// A file that was left alone.
#[derive(Serialize)]
pub struct RefusedJson<'a> {
    #[serde(flatten)]
    path: PathField,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<'a> RefusedJson<'a> {
    /// Of a refusal.
    pub fn new(refused: &'a Refused) -> Self {
        RefusedJson {
            path: PathField::from(refused.path.as_path()),
            reason: &refused.reason,
            hint: refused.hint.as_deref(),
        }
    }
}

fn errors<'a>(report: &Report<'a>) -> Vec<ErrorJson<'a>> {
    let read = report.errors.iter().map(|(path, message)| ErrorJson::new(path, message));
    read.chain(report.failed.iter().map(|failed| ErrorJson::new(&failed.path, &failed.message))).collect()
}
