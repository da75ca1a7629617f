//! The field census as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::json;
use super::json_head::{Each, Head};
use super::scan_json::{ErrorJson, RootJson, roots};
use crate::audit::fields::Answers;
use crate::identity::AgentId;
use crate::metrics::census::FieldVerdict;
use crate::metrics::paths::{PathCount, TYPES};

/// What the document is made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The census.
    pub answers: &'a Answers,
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
}

#[derive(Serialize)]
struct Document<'a, F: Serialize, P: Serialize, E: Serialize> {
    #[serde(flatten)]
    head: Head,
    roots: Vec<RootJson<'a>>,
    scope: ScopeJson,
    fields: F,
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values_at_other_paths: Option<u64>,
    errors: E,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
}

#[derive(Serialize)]
struct ScopeJson {
    files: u64,
    records: u64,
}

/// Writes the document.
///
/// # Errors
/// Whatever the writer says.
pub fn document(writer: impl Write, report: &Report<'_>) -> io::Result<()> {
    let answers = report.answers;
    let document = Document {
        head: Head::new("fields", report.taken_at),
        roots: roots(&answers.discovery, |n| answers.versions.get(&n)),
        scope: ScopeJson { files: answers.files, records: answers.records },
        fields: Each(|| answers.fields.iter().map(FieldJson::from)),
        paths: answers.paths.as_ref().map(|all| Each(|| all.paths.iter().map(PathJson::from))),
        values_at_other_paths: answers.paths.as_ref().map(|all| all.others),
        errors: Each(|| answers.errors.iter().map(|(path, message)| ErrorJson::new(path, message))),
        interrupted: answers.interrupted,
    };
    json::document(writer, &document)
}

#[derive(Serialize)]
struct FieldJson<'a> {
    agent: AgentId,
    kind: &'static str,
    path: &'a str,
    cause: &'a str,
    cause_count: Option<u64>,
    occurrences: u64,
    verdict: &'static str,
    evidence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<&'a str>,
}

impl<'a> From<&'a FieldVerdict> for FieldJson<'a> {
    fn from(field: &'a FieldVerdict) -> Self {
        FieldJson {
            agent: field.agent_id,
            kind: field.kind.name(),
            path: &field.path,
            cause: &field.cause,
            cause_count: field.cause_count,
            occurrences: field.occurrences,
            verdict: field.verdict.name(),
            evidence: &field.evidence,
            how: field.how.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct PathJson<'a> {
    path: &'a str,
    count: u64,
    types: BTreeMap<&'static str, u64>,
}

impl<'a> From<(&'a Box<str>, &PathCount)> for PathJson<'a> {
    fn from((path, count): (&'a Box<str>, &PathCount)) -> Self {
        let types = TYPES.into_iter().zip(count.types).filter(|(_, n)| *n > 0).collect();
        PathJson { path, count: count.count(), types }
    }
}
