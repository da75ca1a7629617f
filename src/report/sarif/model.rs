//! The part of SARIF 2.1.0 that is written here, named as the standard names it. No decisions: what goes where is decided
//! in `sarif`.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::finding::Cause;
use crate::report::finding_json::Facts;
use crate::report::json_head::IdField;

/// The document.
#[derive(serde::Serialize)]
pub(super) struct Log<R: Serialize> {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: [Run<R>; 1],
}

/// One run of the tool.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run<R: Serialize> {
    pub(super) tool: Tool,
    pub(super) automation_details: Automation,
    pub(super) invocations: [Invocation; 1],
    #[serde(serialize_with = "as_map")]
    pub(super) original_uri_base_ids: Vec<(String, Artifact)>,
    pub(super) default_encoding: &'static str,
    pub(super) newline_sequences: [&'static str; 1],
    pub(super) results: R,
}

/// What tells one kind of run from another.
#[derive(serde::Serialize)]
pub(super) struct Automation {
    pub(super) id: String,
}

/// The tool.
#[derive(serde::Serialize)]
pub(super) struct Tool {
    pub(super) driver: Driver,
}

/// Its one component.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver {
    pub(super) name: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) short_description: Words,
    pub(super) rules: Vec<Descriptor>,
}

/// A rule.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) short_description: Words,
    pub(super) full_description: Words,
    pub(super) help: Multiformat,
    pub(super) default_configuration: Configuration,
    pub(super) properties: RuleProperties,
}

/// What sites sort and filter rules by.
#[derive(serde::Serialize)]
pub(super) struct RuleProperties {
    pub(super) tags: [&'static str; 2],
    #[serde(rename = "problem.severity")]
    pub(super) severity: &'static str,
    pub(super) since: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<&'static str>,
}

/// Plain text.
#[derive(serde::Serialize)]
pub(super) struct Words {
    pub(super) text: String,
}

/// A message, in which links would be possible.
#[derive(serde::Serialize)]
pub(super) struct Message {
    pub(super) text: String,
}

/// Text that also has a Markdown form.
#[derive(serde::Serialize)]
pub(super) struct Multiformat {
    pub(super) text: String,
    pub(super) markdown: String,
}

/// How a rule is set.
#[derive(serde::Serialize)]
pub(super) struct Configuration {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) enabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) level: Option<&'static str>,
}

/// A rule that was set otherwise in this run.
#[derive(serde::Serialize)]
pub(super) struct Override {
    pub(super) descriptor: DescriptorReference,
    pub(super) configuration: Configuration,
}

/// Names a rule.
#[derive(serde::Serialize)]
pub(super) struct DescriptorReference {
    pub(super) id: &'static str,
    pub(super) index: usize,
}

/// How the run went.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub(super) execution_successful: bool,
    pub(super) exit_code: u8,
    pub(super) exit_code_description: &'static str,
    pub(super) start_time_utc: String,
    pub(super) tool_execution_notifications: Vec<Notification>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) rule_configuration_overrides: Vec<Override>,
}

/// Something about the run that is no finding.
#[derive(serde::Serialize)]
pub(super) struct Notification {
    pub(super) level: &'static str,
    pub(super) message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) locations: Vec<Location>,
}

/// One finding.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Result<'a> {
    pub(super) rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule_index: Option<usize>,
    pub(super) level: &'static str,
    pub(super) message: Message,
    pub(super) locations: [Location; 1],
    pub(super) partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) baseline_state: Option<&'static str>,
    /// Of all results or of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) suppressions: Option<Vec<Suppression>>,
    pub(super) properties: Properties<'a>,
}

/// What makes a finding the same one tomorrow.
#[derive(serde::Serialize)]
pub(super) struct Fingerprints {
    #[serde(rename = "primaryLocationLineHash")]
    pub(super) line_hash: String,
    #[serde(rename = "sidAudit/v1")]
    pub(super) own: String,
}

/// Why a finding is not to be acted on.
#[derive(serde::Serialize)]
pub(super) struct Suppression {
    pub(super) kind: &'static str,
    pub(super) status: &'static str,
    pub(super) justification: &'static str,
}

/// A finding's own members that the standard has no name for.
#[derive(serde::Serialize)]
pub(super) struct Properties<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<&'static str>,
    #[serde(flatten)]
    pub(super) id: IdField,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cause: Option<Cause>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) effect: &'a str,
    pub(super) facts: Facts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) more: Option<u64>,
}

/// A place.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) physical_location: Option<Physical>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<Logical>,
}

/// A place in a file.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Physical {
    pub(super) artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
}

/// A file or folder.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Artifact {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri_base_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<Message>,
}

/// Lines and bytes of it; the standard takes the two as independent of each other.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) byte_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) byte_length: Option<u64>,
}

impl Region {
    /// Whether it says nothing, which is how the standard names the whole file.
    pub(super) fn is_empty(&self) -> bool {
        self.start_line.is_none() && self.byte_offset.is_none()
    }
}

/// A place by name.
#[derive(serde::Serialize)]
pub(super) struct Logical {
    pub(super) name: String,
    pub(super) kind: &'static str,
}

fn as_map<S: Serializer>(pairs: &[(String, Artifact)], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (name, artifact) in pairs {
        map.serialize_entry(name, artifact)?;
    }
    map.end()
}
