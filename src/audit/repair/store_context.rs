//! The store around the sessions that are repaired: what its rules said of it as it was read, and what they would say with
//! one file in its repaired state.
//!
//! Every session is read once for this, whether it has something to repair or not, as a scan does; what is kept of it is
//! the scan's own note. Of a store of which only some files were passed, as much is said as a scan of them would say.

use std::path::{Path, PathBuf};

use crate::agents;
use crate::finding::{Finding, Severity, When};
use crate::record::facts::Id;
use crate::repair::proof::StoreRules;
use crate::rules::counted;
use crate::rules::store::{Elsewhere, StoreCollector, StoreReport, check_store};
use crate::session::Session;
use crate::store::{Discovery, FileEntry, Registration};

/// A store as it was read.
#[derive(Debug)]
pub struct World {
    collector: StoreCollector,
    registrations: Vec<Registration>,
    now: i64,
    findings: Vec<Finding>,
    elsewhere: Vec<Elsewhere>,
}

impl World {
    /// The world of what was collected.
    pub fn new(discovery: &Discovery, collector: StoreCollector, registrations: &[Registration], now: i64) -> Self {
        let report = check_store(discovery, collector.clone(), registrations, now);
        let elsewhere = report.elsewhere.clone();
        World { collector, registrations: registrations.to_vec(), now, findings: findings(report), elsewhere }
    }

    /// Asks with the rules of the store, for the file of this number.
    pub fn ask<T>(&self, discovery: &Discovery, file: u32, live: bool, ask: impl FnOnce(StoreRules<'_>) -> T) -> T {
        let with = |session: &Session| {
            let collector = self.collector.with(session, file, discovery, live);
            findings(check_store(discovery, collector, &self.registrations, self.now))
        };
        ask(StoreRules { now: &self.findings, with: &with })
    }

    /// Parents that the session of this file lacks and another file has.
    pub fn elsewhere(&self, discovery: &Discovery, file: u32, session: &Session) -> Vec<(Id, PathBuf)> {
        let own = self.elsewhere.iter().filter(|found| found.file == file);
        own.filter_map(|found| {
            let records = &session.facts.records;
            let at = records.partition_point(|r| r.line < found.line);
            let record = records.get(at).filter(|r| r.line == found.line)?;
            let other = discovery.files.get(found.other as usize)?;
            Some((record.parent, discovery.path(other)))
        })
        .collect()
    }
}

/// When the clean-up of its agent deletes a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deletion {
    /// The whole sentence, without its subject.
    pub words: String,
    /// Whether the time of the file decides, so that a new one keeps it.
    pub by_time_of_file: bool,
}

impl Deletion {
    /// The sentence, with what prevents it: where the time of the file decides, this.
    pub fn kept_by(&self, this: &str) -> String {
        let prevents = if self.by_time_of_file { this } else { "copy it elsewhere before that" };
        format!("{}; {prevents}", self.words)
    }
}

impl World {
    /// What the next starts of its agent do to a file because of its age, if that is near.
    pub fn deletion(&self, path: &Path, file: &FileEntry, now: i64) -> Option<Deletion> {
        const DAY_MS: i64 = 24 * 60 * 60 * 1000;
        let path = path.to_string_lossy();
        let going = self.findings.iter().filter(|f| f.severity == Severity::Info).filter_map(|f| f.deletion.as_ref());
        let found = going.into_iter().find(|goes| goes.files.iter().any(|file| *file == path))?;
        let agent_id = file.agent_id?;
        let by_time_of_file = agents::of(agent_id).deletes_by_file_time();
        let age = counted(u64::try_from(now.saturating_sub(file.mtime_ms) / DAY_MS).unwrap_or(0), "day");
        let age = if by_time_of_file { format!("is {age} old: ") } else { String::new() };
        let when = match found.when {
            When::NextStart => "at its next start".to_owned(),
            When::Soon => format!("at its first start behind {}", found.date),
        };
        let setting = &found.setting;
        Some(Deletion { words: format!("{age}{} deletes it {when} ({setting})", agent_id.agent()), by_time_of_file })
    }
}

fn findings(report: StoreReport) -> Vec<Finding> {
    report.findings.into_iter().map(|(_, finding)| finding).collect()
}
