//! The field census of whole stores, and where it is asked for, every path in them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use super::files::{add_stdin, is_session_or_index, largest_first, open, shape_of};
use super::keep;
use super::spread::{Failed, spread};
use crate::agents;
use crate::metrics::agent::Metering;
use crate::metrics::catalogue::{self, Catalogue};
use crate::metrics::census::{Census, FieldVerdict};
use crate::metrics::checkpoints::holds_snapshot;
use crate::metrics::paths::{AllPaths, PathWalk};
use crate::metrics::records::Tally;
use crate::session::{Session, Shape};
use crate::store::meter::Meter;
use crate::store::{self, Discovery, FileKind};

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
    errors: Vec<(PathBuf, String)>,
    defects: Vec<(PathBuf, String)>,
    versions: BTreeMap<u32, BTreeSet<String>>,
}

/// Asks every session that was found.
pub fn fields(mut discovery: Discovery, stdin: Option<&store::Source>, question: &Question, meter: &Meter) -> Answers {
    if let Some(source) = stdin {
        add_stdin(&mut discovery, source);
    }
    let order = largest_first(&discovery, is_session_or_index);
    // A person's own entries may lie deeper than the pass counts.
    let walks = question.all_paths || !question.more.is_empty();
    let run = Run { discovery: &discovery, stdin, walks, meter };
    let parts = spread(&order, meter, |&n, sum| run.one(n, sum), |&n, why, sum: &mut Sum| run.failed(n, why, sum));
    let words = catalogue::words(agents::ALL.iter().map(|agent| *agent as &'static dyn Metering));
    let (mut all, mut paths, mut shown) = (Sum::default(), AllPaths::default(), AllPaths::default());
    for part in parts {
        if !question.more.is_empty() {
            paths.merge(part.walk.named(true, &words));
        }
        if question.all_paths {
            shown.merge(part.walk.named(question.as_written, &words));
        }
        all.files += part.files;
        all.records += part.records;
        all.census.merge(part.census);
        all.errors.extend(part.errors);
        all.defects.extend(part.defects);
        for (root, versions) in part.versions {
            all.versions.entry(root).or_default().extend(versions);
        }
    }
    let fields = all.census.judge(&question.more, |path| paths.get(path));
    all.errors.append(&mut discovery.errors);
    all.errors.sort();
    Answers {
        discovery,
        files: all.files,
        records: all.records,
        fields,
        paths: question.all_paths.then_some(shown),
        errors: all.errors,
        defects: all.defects,
        versions: all.versions,
        interrupted: meter.stopped(),
    }
}

struct Run<'a> {
    discovery: &'a Discovery,
    stdin: Option<&'a store::Source>,
    walks: bool,
    meter: &'a Meter,
}

impl Run<'_> {
    fn failed(&self, n: u32, why: Failed, sum: &mut Sum) {
        let file = &self.discovery.files[n as usize];
        let path = self.discovery.path(file);
        if let Some(dialect) = file.dialect {
            sum.census.unread(agents::of(dialect));
        }
        why.tell(path, &mut sum.errors, &mut sum.defects);
    }

    fn one(&self, n: u32, sum: &mut Sum) -> io::Result<()> {
        let file = &self.discovery.files[n as usize];
        let path = self.discovery.path(file);
        if file.kind == FileKind::CheckpointIndex {
            let session = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
            if let Some(session) = session
                && holds_snapshot(&self.discovery.open(file)?)?
            {
                sum.census.snapshotted(&session);
            }
            return Ok(());
        }
        let Some(dialect) = file.dialect else {
            sum.errors.push((path, super::NOBODYS.to_owned()));
            return Ok(());
        };
        let folder = self.discovery.folder(file);
        let source = open(self.discovery, self.stdin, file)?;
        let agent = agents::reader(dialect, shape_of(file.kind));
        let session = Session::read_unlinked(path, source, agent, shape_of(file.kind), self.meter)?;
        let tally = Tally::of(&session, usize::MAX);
        sum.files += 1;
        sum.records += tally.records;
        sum.census.add(&session, agent, &tally, || agent.known_by(&session));
        if let Some(folder) = folder {
            summary::versions(&session, sum.versions.entry(folder.root).or_default());
        }
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
}
