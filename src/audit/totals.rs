//! Sums over all sessions, added up while they are read. What was not looked for has no sum.

use std::collections::BTreeMap;

use super::SessionAudit;
use crate::finding::{Finding, Severity};
use crate::session::Session;
use crate::verdict::{ApiVerdict, ResumeVerdict};

/// Sums over all sessions.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Session files that were read.
    pub sessions: u64,
    /// Session files that an interrupt left unread.
    pub unread: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Sessions that are being written to.
    pub live: u64,
    /// Records by type, as the agents spell it.
    pub records: BTreeMap<String, u64>,
    /// Records of further types, beyond those counted by name.
    pub other_types: u64,
    /// Findings by code, those not listed included.
    pub findings: BTreeMap<&'static str, u64>,
    /// Findings by severity: information, warnings, errors.
    pub severities: [u64; 3],
    /// Sessions by their verdict.
    pub resume: BTreeMap<ResumeVerdict, u64>,
    /// Sessions by their verdict.
    pub api: BTreeMap<ApiVerdict, u64>,
}

/// Types of records that are counted by name over a whole store; a hostile one may have any number.
const NAMED_TYPES: usize = 1000;

impl Totals {
    /// Counts a session. Its findings are counted when the store was looked at, too.
    pub(super) fn count(&mut self, audit: &SessionAudit, session: &Session) {
        self.sessions += 1;
        self.live += u64::from(audit.live);
        self.bytes += session.source.size();
        self.other_types += session.facts.other_types;
        for (name, n) in &session.facts.types {
            self.add_type(name, *n);
        }
        *self.resume.entry(audit.resume().verdict).or_default() += 1;
        *self.api.entry(audit.api).or_default() += 1;
    }

    /// Counts a finding, for all that it stands for.
    pub fn finding(&mut self, finding: &Finding) {
        let n = finding.count.unwrap_or(1) + finding.more.unwrap_or(0);
        *self.findings.entry(finding.rule.code).or_default() += n;
        self.severities[finding.severity as usize] += n;
    }

    /// Findings of this severity.
    pub fn of(&self, severity: Severity) -> u64 {
        self.severities[severity as usize]
    }

    fn add_type(&mut self, name: &str, n: u64) {
        if let Some(sum) = self.records.get_mut(name) {
            *sum += n;
        } else if self.records.len() < NAMED_TYPES {
            self.records.insert(name.to_owned(), n);
        } else {
            self.other_types += n;
        }
    }

    /// Adds another sum.
    pub(super) fn add(&mut self, other: &Totals) {
        self.sessions += other.sessions;
        self.unread += other.unread;
        self.bytes += other.bytes;
        self.live += other.live;
        self.other_types += other.other_types;
        for (name, n) in &other.records {
            self.add_type(name, *n);
        }
        for (code, n) in &other.findings {
            *self.findings.entry(code).or_default() += n;
        }
        for (sum, n) in self.severities.iter_mut().zip(other.severities) {
            *sum += n;
        }
        for (verdict, n) in &other.resume {
            *self.resume.entry(*verdict).or_default() += n;
        }
        for (verdict, n) in &other.api {
            *self.api.entry(*verdict).or_default() += n;
        }
    }
}
