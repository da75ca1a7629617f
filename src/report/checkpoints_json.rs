//! Checkpoint indexes as JSON: the room's own element of each, with its path and its findings.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::by_file::Listed;
use super::finding_json::{FindingJson, Under, findings};
use super::json;
use super::json_head::{Each, Head, PathField, TOOL, VERSION};
use super::scan_json::{ErrorJson, RootJson, roots};
use super::suggest::Next;
use crate::audit::layers::IndexAudit;
use crate::checkpoint::Audit;
use crate::checkpoint::report::Report as Element;
use crate::rules::baseline::Baseline;
use crate::session::Shape;
use crate::store::Discovery;

/// One index, judged.
#[derive(Debug)]
pub struct Judged {
    /// Where it lies.
    pub path: PathBuf,
    /// The same below its store.
    pub below: PathBuf,
    /// The room's judgement.
    pub audit: Audit,
    /// What is kept of it, its findings among that.
    pub kept: IndexAudit,
}

impl Judged {
    /// Its findings, for whatever walks over those of any command.
    pub fn listed(&self) -> Listed<'_> {
        let (path, below) = (self.path.clone(), self.below.clone());
        Listed { class: Some("checkpoints"), root: None, path, below, findings: &self.kept.findings }
    }
}

/// What the reports are made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// What was read.
    pub discovery: &'a Discovery,
    /// The indexes in the order of their paths.
    pub judged: &'a [Judged],
    /// What could not be read.
    pub errors: &'a [(PathBuf, String)],
    /// Whether everything was rebuilt.
    pub verify: bool,
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
    /// Findings that are known.
    pub known: &'a Baseline,
}

#[derive(Serialize)]
struct IndexJson<'a> {
    #[serde(flatten)]
    path: PathField,
    #[serde(flatten)]
    element: Element<'a>,
    findings: Vec<FindingJson<'a>>,
}

impl<'a> IndexJson<'a> {
    fn new(report: Report<'a>, judged: &'a Judged) -> Self {
        let next = Next { path: &judged.path, shape: Shape::Main, mends: &judged.kept.mends };
        let under = Under { below: &judged.below, next };
        IndexJson {
            path: PathField::from(judged.path.as_path()),
            element: judged.audit.report(report.verify),
            findings: findings(&judged.kept.findings, under, report.known),
        }
    }
}

#[derive(Serialize)]
struct Document<'a, I: Serialize, E: Serialize> {
    #[serde(flatten)]
    head: Head,
    roots: Vec<RootJson<'a>>,
    indexes: I,
    errors: E,
}

/// Writes one document.
///
/// # Errors
/// Whatever the writer says.
pub fn document(writer: impl Write, report: Report<'_>) -> io::Result<()> {
    json::document(
        writer,
        &Document {
            head: Head::new("checkpoints", report.taken_at),
            roots: roots(report.discovery, |_| None),
            indexes: Each(|| report.judged.iter().map(|judged| IndexJson::new(report, judged))),
            errors: Each(|| report.errors.iter().map(|(path, message)| ErrorJson::new(path, message))),
        },
    )
}

/// Writes one line per index.
///
/// # Errors
/// Whatever the writer says.
pub fn lines(mut writer: impl Write, report: Report<'_>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        kind: &'static str,
        schema: &'static str,
        version: u32,
        tool: &'static str,
        taken_at: String,
        #[serde(flatten)]
        index: IndexJson<'a>,
    }
    for judged in report.judged {
        let line = Line {
            kind: "checkpoint",
            schema: "sid-audit.checkpoints",
            version: VERSION,
            tool: TOOL,
            taken_at: crate::record::time::format(report.taken_at),
            index: IndexJson::new(report, judged),
        };
        json::line(&mut writer, &line)?;
    }
    Ok(())
}
