//! `chain` as JSON.

use serde::Serialize;

use super::envelope::{Each, Head, IdField, PathField};
use super::finding_json::FindingDoc;
use crate::chain::survey::Survey;
use crate::record::again;
use crate::record::facts::{Kind, Record, flag};
use crate::session::Session;

#[derive(Serialize)]
struct Row {
    line: u32,
    #[serde(flatten)]
    id: IdField,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    type_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

/// The name of a record's type as it stands in the file.
pub fn type_name(session: &Session, record: &Record) -> String {
    again::field(&session.source, record, &["type"]).map(|t| t.lossy()).unwrap_or_default()
}

/// The role of a message.
pub fn role(record: &Record) -> Option<&'static str> {
    match record.kind {
        Kind::User => Some("user"),
        Kind::Assistant => Some("assistant"),
        Kind::ToolMessage => Some("tool"),
        Kind::Custom => Some("custom"),
        Kind::Compaction | Kind::BranchSummary => Some("summary"),
        Kind::SideMessage if record.has(flag::ROLE_ASSISTANT) => Some("assistant"),
        Kind::SideMessage => Some("user"),
        _ => None,
    }
}
