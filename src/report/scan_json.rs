//! The scan as JSON, written session by session: one document, or lines that each stand for themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::cross_check_json::{self, CrossCheckJson};
use super::finding_json::{FindingJson, Under, findings};
use super::json;
use super::json_head::{Each, Head, PathField, TOOL, VERSION};
use super::suggest::Next;
use super::usage_json::TotalJson;
use crate::agents;
use crate::audit::layers::IndexAudit;
use crate::audit::{self, Extra, Reader, Scan, SessionAudit};
use crate::chain::Mode;
use crate::checkpoint::model::Count;
use crate::finding::Rule;
use crate::identity::AgentId;
use crate::metrics::census::FieldVerdict;
use crate::rules::baseline::Baseline;
use crate::session::{Shape, ids};
use crate::store::{Discovery, Root};
use crate::verdict::{ApiVerdict, Resume, ResumeVerdict};

/// What both forms are made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The scan.
    pub scan: &'a Scan,
    /// Findings that are known.
    pub known: &'a Baseline,
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
}

#[derive(Serialize)]
struct Document<'a, S: Serialize, C: Serialize, E: Serialize> {
    #[serde(flatten)]
    head: Head,
    roots: Vec<RootJson<'a>>,
    sessions: S,
    checkpoints: C,
    store: StoreJson<'a>,
    totals: TotalsJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_check: Option<Vec<CrossCheckJson<'a>>>,
    errors: E,
    /// Files on which sid-audit itself failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    defects: Vec<ErrorJson<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
}

/// Writes the scan as one document.
///
/// # Errors
/// Whatever the writer says.
pub fn document(writer: impl Write, report: Report<'_>) -> io::Result<()> {
    let scan = report.scan;
    json::document(
        writer,
        &Document {
            head: Head::new("scan", report.taken_at),
            roots: roots(&scan.discovery, |n| scan.versions.get(&n)),
            sessions: Each(|| scan.sessions.iter().map(|session| SessionJson::new(report, session))),
            checkpoints: Each(|| scan.checkpoints.iter().map(|index| IndexJson::new(report, index))),
            store: StoreJson::new(report),
            totals: TotalsJson::new(scan),
            cross_check: scan.cross_check.as_ref().map(|check| cross_check_json::rows(check, &scan.discovery)),
            errors: Each(|| scan.errors.iter().map(|(path, message)| ErrorJson::new(path, message))),
            defects: scan.defects.iter().map(|(path, message)| ErrorJson::new(path, message)).collect(),
            interrupted: scan.interrupted,
        },
    )
}

/// What every line of the stream bears, so that files from many machines can be put together.
#[derive(Serialize)]
struct LineJson<'a, T: Serialize> {
    kind: &'static str,
    schema: &'static str,
    version: u32,
    tool: &'static str,
    taken_at: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    #[serde(flatten)]
    what: T,
}

/// Writes the scan as lines: one for each session, each finding of no single session, each error, and the totals.
///
/// # Errors
/// Whatever the writer says.
pub fn lines(mut writer: impl Write, report: Report<'_>) -> io::Result<()> {
    let scan = report.scan;
    let taken_at = crate::record::time::format(report.taken_at);
    for session in &scan.sessions {
        let root = scan.discovery.files.get(session.file as usize).and_then(|file| scan.discovery.root(file));
        write_line(&mut writer, "session", &taken_at, root, SessionJson::new(report, session).renamed())?;
    }
    for index in &scan.checkpoints {
        let root = scan.discovery.files.get(index.file as usize).and_then(|file| scan.discovery.root(file));
        write_line(&mut writer, "checkpoint", &taken_at, root, IndexJson::new(report, index))?;
    }
    for finding in StoreJson::new(report).findings {
        write_line(&mut writer, "store_finding", &taken_at, scan.discovery.roots.first(), finding)?;
    }
    for (kind, list) in [("error", &scan.errors), ("defect", &scan.defects)] {
        for (path, message) in list {
            write_line(&mut writer, kind, &taken_at, None, ErrorJson::new(path, message))?;
        }
    }
    #[derive(Serialize)]
    struct Last<'a> {
        roots: Vec<RootJson<'a>>,
        totals: TotalsJson<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cross_check: Option<Vec<CrossCheckJson<'a>>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        interrupted: bool,
    }
    let last = Last {
        roots: roots(&scan.discovery, |n| scan.versions.get(&n)),
        totals: TotalsJson::new(scan),
        cross_check: scan.cross_check.as_ref().map(|check| cross_check_json::rows(check, &scan.discovery)),
        interrupted: scan.interrupted,
    };
    write_line(&mut writer, "totals", &taken_at, None, last)
}

fn write_line(
    writer: impl Write,
    kind: &'static str,
    taken_at: &str,
    root: Option<&Root>,
    what: impl Serialize,
) -> io::Result<()> {
    let root = root.map(|root| PathField::from(root.path.as_path()).path);
    json::line(writer, &LineJson { kind, schema: "sid-audit.scan", version: VERSION, tool: TOOL, taken_at, root, what })
}

/// A root of the scan.
#[derive(Serialize)]
pub struct RootJson<'a> {
    #[serde(flatten)]
    path: PathField,
    agent: Option<AgentId>,
    versions: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

/// The roots with the versions of the agent seen below each.
pub fn roots<'a>(
    discovery: &'a Discovery,
    versions: impl Fn(u32) -> Option<&'a BTreeSet<String>>,
) -> Vec<RootJson<'a>> {
    (0..)
        .zip(&discovery.roots)
        .map(|(n, root)| RootJson {
            path: PathField::from(root.path.as_path()),
            agent: root.agent_id,
            versions: versions(n).into_iter().flatten().map(String::as_str).collect(),
            notes: &root.notes,
        })
        .collect()
}

/// A file that could not be read, and why.
#[derive(Serialize)]
pub struct ErrorJson<'a> {
    #[serde(flatten)]
    path: PathField,
    message: &'a str,
}

impl<'a> ErrorJson<'a> {
    /// Of this path.
    pub fn new(path: &Path, message: &'a str) -> Self {
        ErrorJson { path: PathField::from(path), message }
    }
}

#[derive(Serialize)]
struct SessionJson<'a> {
    #[serde(flatten)]
    path: PathField,
    agent: AgentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_kind: Option<&'static str>,
    session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id_raw: Option<String>,
    bytes: u64,
    live: bool,
    format: FormatJson,
    reader: &'static str,
    lines: LinesJson,
    resume: ResumeJson,
    api: ApiJson<'a>,
    findings: Vec<FindingJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize)]
struct FormatJson {
    stated: Option<String>,
    effective: Option<String>,
    by: &'static str,
}

#[derive(Serialize)]
struct LinesJson {
    physical: u32,
    records: u32,
    blank: u32,
    bad: u32,
    torn: u32,
}

/// The API verdict as JSON has it.
#[derive(Serialize)]
pub struct ApiJson<'a> {
    verdict: &'static str,
    codes: &'a [&'static Rule],
}

impl<'a> ApiJson<'a> {
    /// Of a session that was judged.
    pub fn new(session: &'a SessionAudit) -> Self {
        let codes = session.extra.as_deref().map(|extra| extra.api_rules.as_slice()).unwrap_or_default();
        ApiJson::of(session.api, codes)
    }

    /// A verdict and the findings that make it.
    pub fn of(verdict: ApiVerdict, codes: &'a [&'static Rule]) -> Self {
        ApiJson { verdict: verdict.name(), codes }
    }
}

impl<'a> SessionJson<'a> {
    fn new(report: Report<'a>, session: &'a SessionAudit) -> Self {
        let discovery = &report.scan.discovery;
        let file = discovery.files.get(session.file as usize);
        let path = file.map(|file| discovery.path(file)).unwrap_or_default();
        let extra = session.extra.as_deref();
        let usual = agents::of(session.agent_id).usual_format();
        let format = match extra {
            Some(Extra { stated, effective, by: Some(by), .. }) => {
                FormatJson { stated: stated.clone(), effective: effective.clone(), by: by.name() }
            }
            _ => FormatJson { stated: usual.stated, effective: usual.effective, by: usual.by.name() },
        };
        let id = extra
            .and_then(|extra| extra.session_id.clone())
            .unwrap_or_else(|| ids::implied_id(&path, agents::of(session.agent_id), session.shape));
        let [physical, records, blank, bad, torn] = session.lines();
        let below = file.map_or(path.as_path(), |file| audit::below_store(discovery, file, &path)).to_owned();
        let next = Next { path: &path, shape: session.shape, mends: session.mends() };
        let under = Under { below: &below, next };
        let found = findings(session.findings(), under, report.known);
        SessionJson {
            path: PathField::from(path.as_path()),
            agent: session.agent_id,
            kind: Some(kind_name(session.shape)),
            session_kind: None,
            session_id: id.lossy(),
            session_id_raw: id.raw_hex(),
            bytes: file.map_or(0, |file| file.size),
            live: session.live,
            format,
            reader: if session.stream { "stream" } else { "whole" },
            lines: LinesJson { physical, records, blank, bad, torn },
            resume: ResumeJson::new(session),
            api: ApiJson::new(session),
            next: next.for_file(session.findings()),
            findings: found,
        }
    }

    /// In a stream `kind` says what the line is, so the session's own kind has another name there.
    fn renamed(self) -> Self {
        SessionJson { session_kind: self.kind, kind: None, ..self }
    }
}

/// The word for what a session file is.
pub fn kind_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Main => "main",
        Shape::Sidechain => "sidechain",
        Shape::Subagent => "subagent",
        Shape::Legacy => "legacy",
    }
}

/// The RESUME verdict as JSON has it.
#[derive(Serialize)]
pub struct ResumeJson {
    verdict: &'static str,
    loaded: u32,
    expected: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleaned: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shown: Option<u32>,
    mode: &'static str,
    loader: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    readers: Vec<Reader>,
    lawful: LawfulJson,
}

#[derive(Serialize)]
struct LawfulJson {
    before_boundary: u32,
    other_branches: u32,
    sidechain: u32,
    meta: u32,
}

impl ResumeJson {
    /// Of a session that was judged.
    pub fn new(session: &SessionAudit) -> Self {
        let own = ResumeJson::of(&session.resume(), session.mode, session.agent_id);
        ResumeJson { readers: session.readers(), ..own }
    }

    /// Of a verdict, with how it was read and by whom.
    pub fn of(resume: &Resume, mode: Mode, agent_id: AgentId) -> Self {
        let looked_for = |n: u32| (n != u32::MAX).then_some(n);
        let lawful = resume.lawful;
        ResumeJson {
            verdict: resume.verdict.name(),
            loaded: resume.loaded,
            expected: resume.expected,
            cleaned: looked_for(resume.cleaned),
            shown: looked_for(resume.shown),
            mode: mode.name(),
            loader: agent_id.loader(),
            readers: Vec::new(),
            lawful: LawfulJson {
                before_boundary: lawful.before_boundary,
                other_branches: lawful.other_branches,
                sidechain: lawful.sidechain,
                meta: lawful.meta,
            },
        }
    }
}

/// Findings that belong to no single session.
/// A checkpoint index as the scan has it.
#[derive(Serialize)]
struct IndexJson<'a> {
    #[serde(flatten)]
    path: PathField,
    session_id: &'a str,
    snapshots: u64,
    entries: Count,
    bytes: u64,
    findings: Vec<FindingJson<'a>>,
}

impl<'a> IndexJson<'a> {
    fn new(report: Report<'a>, index: &'a IndexAudit) -> Self {
        let discovery = &report.scan.discovery;
        let file = &discovery.files[index.file as usize];
        let path = discovery.path(file);
        let next = Next { path: &path, shape: Shape::Main, mends: &index.mends };
        let under = Under { below: audit::below_store(discovery, file, &path), next };
        IndexJson {
            path: PathField::from(path.as_path()),
            session_id: &index.session_id,
            snapshots: index.snapshots,
            entries: index.entries,
            bytes: index.bytes,
            findings: findings(&index.findings, under, report.known),
        }
    }
}

#[derive(Serialize)]
struct StoreJson<'a> {
    findings: Vec<FindingJson<'a>>,
}

impl<'a> StoreJson<'a> {
    fn new(report: Report<'a>) -> Self {
        let root = report.scan.discovery.roots.first().map_or(Path::new(""), |root| root.path.as_path());
        let next = Next { path: root, shape: Shape::Main, mends: &[] };
        let under = Under { below: Path::new(""), next };
        StoreJson { findings: findings(&report.scan.store, under, report.known) }
    }
}

#[derive(Serialize)]
struct TotalsJson<'a> {
    sessions: u64,
    bytes: u64,
    live: u64,
    records: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_types: Option<u64>,
    findings: &'a BTreeMap<&'static str, u64>,
    severities: Severities,
    resume: BTreeMap<&'static str, u64>,
    api: BTreeMap<&'static str, u64>,
    usage: TotalJson,
    zero_fields: Vec<ZeroFieldJson<'a>>,
    skipped_links: u64,
    links_that_leave_their_store: u64,
    followed_links: u64,
    special_files: u64,
    other_files: u64,
    other_folders: u64,
    vanished: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<u64>,
}

/// A type or field that is never there.
#[derive(Serialize)]
struct ZeroFieldJson<'a> {
    path: &'a str,
    kind: &'static str,
    agent: AgentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause_count: Option<u64>,
    verdict: &'static str,
}

impl<'a> From<&'a FieldVerdict> for ZeroFieldJson<'a> {
    fn from(field: &'a FieldVerdict) -> Self {
        ZeroFieldJson {
            path: &field.path,
            kind: field.kind.name(),
            agent: field.agent_id,
            cause_count: field.cause_count,
            verdict: field.verdict.name(),
        }
    }
}

#[derive(Serialize)]
struct Severities {
    error: u64,
    warning: u64,
    info: u64,
}

impl<'a> TotalsJson<'a> {
    fn new(scan: &'a Scan) -> Self {
        let (totals, found) = (&scan.totals, &scan.discovery);
        let [info, warning, error] = totals.severities;
        TotalsJson {
            sessions: totals.sessions,
            bytes: totals.bytes,
            live: totals.live,
            records: &totals.records,
            other_types: (totals.other_types > 0).then_some(totals.other_types),
            findings: &totals.findings,
            severities: Severities { error, warning, info },
            resume: ResumeVerdict::ALL
                .map(|verdict| (verdict.name(), totals.resume.get(&verdict).copied().unwrap_or(0)))
                .into(),
            api: ApiVerdict::ALL.map(|verdict| (verdict.name(), totals.api.get(&verdict).copied().unwrap_or(0))).into(),
            usage: TotalJson::from(&scan.usage),
            zero_fields: scan.zero_fields.iter().map(ZeroFieldJson::from).collect(),
            skipped_links: found.skipped_links,
            links_that_leave_their_store: found.links_left_store,
            followed_links: found.followed_links,
            special_files: found.specials,
            other_files: found.other_files,
            other_folders: found.other_folders,
            vanished: found.vanished,
            unread: (totals.unread > 0).then_some(totals.unread),
        }
    }
}
