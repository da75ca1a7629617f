//! A finding as JSON has it. The same in every document that lists findings.

use std::path::Path;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::json_head::{IdField, PathField};
use super::suggest::Next;
use crate::finding::{Cause, Fact, Finding, Fix, Severity};
use crate::rules::baseline::Baseline;
use crate::rules::fingerprint::Fingerprints;

/// A finding as JSON has it.
#[derive(Serialize)]
pub struct FindingJson<'a> {
    code: &'static str,
    name: &'static str,
    severity: Severity,
    fix: Option<Fix>,
    #[serde(flatten)]
    path: PathField,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(flatten)]
    id: IdField,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<Cause>,
    effect: &'a str,
    facts: Facts<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<u64>,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Facts as one object, in the order in which the rule gave them.
pub struct Facts<'a>(pub &'a [(&'static str, Fact)]);

impl Serialize for Facts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The file that findings are listed under.
#[derive(Clone, Copy, Debug)]
pub struct Under<'a> {
    /// Its path below its store.
    pub below: &'a Path,
    /// What its next commands are made of.
    pub next: Next<'a>,
}

/// The findings of one file as JSON has them.
pub fn findings<'a>(
    findings: impl IntoIterator<Item = &'a Finding>,
    under: Under<'_>,
    known: &Baseline,
) -> Vec<FindingJson<'a>> {
    let mut fingerprints = Fingerprints::new(under.below);
    findings
        .into_iter()
        .map(|finding| {
            let fingerprint = fingerprints.of(finding);
            FindingJson {
                code: finding.rule.code,
                name: finding.rule.name,
                severity: finding.severity,
                fix: finding.rule.fix,
                path: PathField::from(finding.path.as_deref().unwrap_or(under.next.path)),
                line: finding.place.line,
                offset: finding.place.offset,
                length: finding.place.length,
                id: IdField::from(finding.place.id.as_ref()),
                cause: finding.cause,
                effect: &finding.effect,
                facts: Facts(&finding.facts),
                count: finding.count,
                more: finding.more,
                known: known.holds(&fingerprint).then_some(true),
                fingerprint,
                next: under.next.for_finding(finding),
            }
        })
        .collect()
}
