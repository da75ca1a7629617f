//! The field census of whole stores, and where it is asked for, every path in them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::driver::{Driver, Opened, Outcome, Visitor, largest_first};
use super::files::{Depth, add_stdin, is_session_or_index};
use crate::agents::{self, Agent};
use crate::metrics::agent::Metering;
use crate::metrics::catalogue::{self, Catalogue};
use crate::metrics::census::{Census, FieldVerdict};
use crate::metrics::checkpoints::holds_snapshot;
use crate::metrics::cross_check::Fault;
use crate::metrics::paths::{AllPaths, PathWalk};
use crate::metrics::records::Tally;
use crate::session::{Session, Shape};
use crate::store::meter::Meter;
use crate::store::{self, Discovery};

/// What is asked.
#[derive(Debug, Default)]
pub struct Question {
    /// A person's own catalogues.
    pub more: Vec<Catalogue>,
    /// Whether every path is asked for.
    pub all_paths: bool,
    /// Whether keys that a person or a model may have written are named.
    pub as_written: bool,
}

/// What a census says.
#[derive(Debug, Default)]
pub struct Answers {
    /// What was read.
    pub discovery: Discovery,
    /// Session files that were read.
    pub files: u64,
    /// Records in them.
    pub records: u64,
    /// Every entry of the catalogues of the agents that were met.
    pub fields: Vec<FieldVerdict>,
    /// Every path, where it was asked for.
    pub paths: Option<AllPaths>,
    /// What could not be read. Exit status 2.
    pub errors: Vec<(PathBuf, String)>,
    /// Files on which sid-audit itself failed. Exit status 70.
    pub defects: Vec<(PathBuf, String)>,
    /// By root, the versions of the agent that wrote its records.
    pub versions: BTreeMap<u32, BTreeSet<String>>,
    /// Whether it was stopped before all files were read.
    pub interrupted: bool,
}

/// What one worker has so far.
#[derive(Default)]
struct Sum {
    files: u64,
    records: u64,
    census: Census,
    walk: PathWalk,
    /// Those of workers that are done.
    walks: Vec<PathWalk>,
}

/// Asks every session that was found.
pub fn fields(mut discovery: Discovery, stdin: Option<&store::Source>, question: &Question, meter: &Meter) -> Answers {
    if let Some(source) = stdin {
        add_stdin(&mut discovery, source);
    }
    let order = largest_first(&discovery, |file| is_session_or_index(file.kind));
    // A person's own entries may lie deeper than the pass counts.
    let asking = Asking { discovery: &discovery, walks: question.all_paths || !question.more.is_empty() };
    let fault = Fault::default();
    let driver = Driver { discovery: &discovery, stdin, meter, depth: Depth::Lines, waits: false, fault };
    let Outcome { sum, mut errors, defects, failed, versions, .. } = driver.run(&order, &asking);
    let mut census = sum.census;
    let agent_ids = failed.iter().filter_map(|&n| discovery.files[n as usize].agent_id);
    agent_ids.for_each(|agent_id| census.unread(agents::of(agent_id)));
    let words = catalogue::words(agents::ALL.iter().map(|agent| *agent as &'static dyn Metering));
    let (mut paths, mut shown) = (AllPaths::default(), AllPaths::default());
    for walk in &sum.walks {
        if !question.more.is_empty() {
            paths.merge(walk.named(true, &words));
        }
        if question.all_paths {
            shown.merge(walk.named(question.as_written, &words));
        }
    }
    let fields = census.judge(&question.more, |path| paths.get(path));
    errors.append(&mut discovery.errors);
    errors.sort();
    Answers {
        discovery,
        files: sum.files,
        records: sum.records,
        fields,
        paths: question.all_paths.then_some(shown),
        errors,
        defects,
        versions,
        interrupted: meter.stopped(),
    }
}

/// What each file is asked.
struct Asking<'a> {
    discovery: &'a Discovery,
    walks: bool,
}

impl Visitor for Asking<'_> {
    type Sum = Sum;

    fn session(&self, _: &Opened<'_>, session: Session, agent: &'static dyn Agent, sum: &mut Sum) -> io::Result<()> {
        let tally = Tally::of(&session, usize::MAX);
        sum.files += 1;
        sum.records += tally.records;
        sum.census.add(&session, agent, &tally, || agent.known_by(&session));
        if self.walks && session.shape != Shape::Legacy {
            let mut lines = session.source.lines();
            while let Some(line) = lines.next_line()? {
                if !line.bytes.trim_ascii().is_empty() {
                    sum.walk.record(line.bytes);
                }
            }
        }
        Ok(())
    }

    fn index(&self, file: &Opened<'_>, sum: &mut Sum) -> io::Result<()> {
        let path = self.discovery.path(file.entry);
        let session = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
        if let Some(session) = session
            && holds_snapshot(&file.source)?
        {
            sum.census.snapshotted(&session);
        }
        Ok(())
    }

    fn merge(sum: &mut Sum, other: Sum) {
        sum.files += other.files;
        sum.records += other.records;
        sum.census.merge(other.census);
        sum.walks.push(other.walk);
        sum.walks.extend(other.walks);
    }
}
