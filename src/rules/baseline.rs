//! Findings that were there before: they are still shown and counted, and fail no run.
//!
//! A baseline is a JSON document of fingerprints, each with what a person needs to review it in a change request.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fingerprint::Fingerprints;
use crate::finding::Finding;

/// Fingerprints of findings that are known.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    known: HashSet<String>,
}

/// The schema of the document.
pub const SCHEMA: &str = "sid-audit.baseline";

/// One finding of a baseline document.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The code, for eyes.
    pub code: String,
    /// The file below its store, for eyes.
    pub path: String,
    /// What counts.
    pub fingerprint: String,
}

/// A baseline document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Document {
    /// [`SCHEMA`]
    pub schema: String,
    /// The version of its form.
    pub version: u32,
    /// Its findings, sorted, so that two of them can be compared line by line.
    pub findings: Vec<Entry>,
}

impl Document {
    /// A document of these findings.
    pub fn new(mut findings: Vec<Entry>) -> Self {
        findings.sort();
        Document { schema: SCHEMA.to_owned(), version: 1, findings }
    }
}

impl Baseline {
    /// The findings of a document.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence without its subject.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let document: Document = serde_json::from_slice(bytes).map_err(|e| format!("is no baseline: {e}"))?;
        match (document.schema.as_str(), document.version) {
            (SCHEMA, 1) => Ok(Baseline { known: document.findings.into_iter().map(|e| e.fingerprint).collect() }),
            (SCHEMA, version) => Err(format!("has version {version}, and only 1 is known here")),
            (schema, _) => Err(format!("is no baseline but {schema:?}")),
        }
    }

    /// Whether the finding with this fingerprint is known.
    pub fn holds(&self, fingerprint: &str) -> bool {
        self.known.contains(fingerprint)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Those findings of one file that are not known. `below` is its path below its store.
    pub fn unknown<'a>(&'a self, findings: &'a [Finding], below: &'a Path) -> impl Iterator<Item = &'a Finding> {
        let mut fingerprints = Fingerprints::new(below);
        findings.iter().filter(move |finding| self.known.is_empty() || !self.holds(&fingerprints.of(finding)))
    }
}
