//! The store around the sessions that are repaired: what its rules said of it as it was read, and what they would say with
//! one file in its repaired state.
//!
//! Every session is read once for this, whether it has something to repair or not, as a scan does; what is kept of it is
//! the scan's own note. Of a store of which only some files were passed, as much is said as a scan of them would say.

use std::path::PathBuf;

use crate::finding::Finding;
use crate::record::facts::Id;
use crate::repair::proof::StoreRules;
use crate::rules::store::{Elsewhere, StoreCollector, StoreReport, check_store};
use crate::session::Session;
use crate::store::{Discovery, Registration};

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

fn findings(report: StoreReport) -> Vec<Finding> {
    report.findings.into_iter().map(|(_, finding)| finding).collect()
}
