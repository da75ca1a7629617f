//! The one way through many files. Every command that reads a whole store hands a [`Visitor`] to a [`Driver`], which opens
//! each file, reads the session in it and gives it to the visitor.
//!
//! Workers take the largest file that is left, hold one file at a time, and let it go before they take the next. They
//! share nothing but the list; what each has collected is merged at the end, and whoever asked brings it into an order
//! that depends on nothing but the paths. A file whose last line may still be being written is put aside and read again
//! after all others, so that the wait is paid once and not per file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::files::{Depth, NOBODYS, open, read_session};
use super::{live, summary};
use crate::agents::Agent;
use crate::metrics::cross_check::Fault;
use crate::session::Session;
use crate::store::meter::Meter;
use crate::store::{Discovery, FileEntry, FileKind, Source};

/// How long a writer is given to end the line that it has begun.
pub(super) const SETTLE: Duration = Duration::from_millis(200);

/// What a command does with each file. It is shared by all workers; what it collects stands in its sum.
pub(super) trait Visitor: Sync {
    /// What one worker has collected so far.
    type Sum: Default + Send;

    /// Takes a session that was read.
    fn session(
        &self,
        file: &Opened<'_>,
        session: Session,
        agent: &'static dyn Agent,
        sum: &mut Self::Sum,
    ) -> io::Result<()>;

    /// Takes a checkpoint index that was opened.
    fn index(&self, file: &Opened<'_>, sum: &mut Self::Sum) -> io::Result<()>;

    /// Adds what another worker has collected.
    fn merge(sum: &mut Self::Sum, other: Self::Sum);
}

/// A file on its turn.
pub(super) struct Opened<'a> {
    /// Its place in [`Discovery::files`].
    pub n: u32,
    /// What the discovery says of it.
    pub entry: &'a FileEntry,
    /// Its bytes.
    pub source: Source,
    /// Its state before it was read; none for what is no file.
    pub meta: Option<Metadata>,
    /// Its size when it was put aside, if it was.
    pub before: Option<u64>,
}

/// How the files are read.
#[derive(Clone, Copy)]
pub(super) struct Driver<'a> {
    /// What was found.
    pub discovery: &'a Discovery,
    /// The session that comes from standard input.
    pub stdin: Option<&'a Source>,
    /// How far it has come, and whether it was asked to stop.
    pub meter: &'a Meter,
    /// How far each session is read.
    pub depth: Depth,
    /// Whether a session in the middle of a line is put aside.
    pub waits: bool,
    /// What a test breaks on purpose.
    pub fault: Fault,
}

/// What came of it.
#[derive(Default)]
pub(super) struct Outcome<T> {
    /// What the visitor collected.
    pub sum: T,
    /// What could not be read, in no order.
    pub errors: Vec<(PathBuf, String)>,
    /// Files on which sid-audit itself failed, in no order.
    pub defects: Vec<(PathBuf, String)>,
    /// The files of both lists, but for those that are nobody's.
    pub failed: Vec<u32>,
    /// By root, the versions of the agent that wrote its records.
    pub versions: BTreeMap<u32, BTreeSet<String>>,
    /// How many files were not looked at because it was stopped.
    pub not_reached: u64,
    done: u64,
    later: Vec<Turn>,
}

/// One file's turn, with the size that it had when it was put aside.
#[derive(Clone, Copy)]
struct Turn {
    file: u32,
    before: Option<u64>,
}

/// The files that are wanted, the largest first: a worker that takes it last would keep the others waiting.
pub(super) fn largest_first(discovery: &Discovery, wanted: impl Fn(&FileEntry) -> bool) -> Vec<u32> {
    let mut order: Vec<u32> = (0..).zip(&discovery.files).filter(|(_, file)| wanted(file)).map(|(n, _)| n).collect();
    order.sort_by_key(|&n| (std::cmp::Reverse(discovery.files[n as usize].size), n));
    order
}

impl Driver<'_> {
    /// Hands each file of the list to the visitor, on the threads of the pool in whose scope this is called. A file that
    /// fails costs itself alone; only a meter that was stopped ends it early.
    pub(super) fn run<V: Visitor>(&self, order: &[u32], visitor: &V) -> Outcome<V::Sum> {
        let mut all = self.round(order, |&file| Turn { file, before: None }, visitor);
        let later = std::mem::take(&mut all.later);
        if !later.is_empty() && !self.meter.stopped() {
            std::thread::sleep(SETTLE);
            all.add::<V>(self.round(&later, |turn| *turn, visitor));
        }
        all.not_reached = (order.len() + later.len()) as u64 - all.done;
        all
    }

    /// Takes each file of the list once.
    fn round<I: Sync, V: Visitor>(&self, list: &[I], turn: impl Fn(&I) -> Turn + Sync, visitor: &V) -> Outcome<V::Sum> {
        let next = AtomicUsize::new(0);
        let parts = rayon::broadcast(|_| {
            let mut part = Outcome::default();
            while let Some(one) = list.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.meter.stopped() {
                    break;
                }
                let turn = turn(one);
                // A defect of ours costs one file, as a bad line costs one line.
                let (list, why) = match catch_unwind(AssertUnwindSafe(|| self.one(turn, visitor, &mut part))) {
                    Ok(Err(e)) if e.kind() == io::ErrorKind::Interrupted && self.meter.stopped() => break,
                    Ok(Ok(())) => (None, String::new()),
                    Ok(Err(e)) => (Some(&mut part.errors), format!("cannot be read: {e}")),
                    Err(panic) => (Some(&mut part.defects), said(panic.as_ref())),
                };
                if let Some(list) = list {
                    list.push((self.discovery.path(&self.discovery.files[turn.file as usize]), why));
                    part.failed.push(turn.file);
                }
                part.done += 1;
                self.meter.done();
            }
            part
        });
        parts.into_iter().fold(Outcome::default(), |mut all, part| {
            all.add::<V>(part);
            all
        })
    }

    fn one<V: Visitor>(&self, turn: Turn, visitor: &V, part: &mut Outcome<V::Sum>) -> io::Result<()> {
        let Turn { file: n, before } = turn;
        let entry = &self.discovery.files[n as usize];
        let is_index = entry.kind == FileKind::CheckpointIndex;
        if entry.agent_id.is_none() && !is_index {
            part.errors.push((self.discovery.path(entry), NOBODYS.to_owned()));
            return Ok(());
        }
        let source = open(self.discovery, self.stdin, entry)?;
        let meta = match &source {
            Source::File { file, .. } => Some(file.metadata()?),
            _ => None,
        };
        let file = Opened { n, entry, source, meta, before };
        if is_index {
            return visitor.index(&file, &mut part.sum);
        }
        let given = self.fault.given(file.source.clone());
        let (session, agent) = read_session(self.discovery, entry, given, self.depth, self.meter)?;
        if self.waits && before.is_none() && live::may_be_in_a_line(&session)? {
            part.later.push(Turn { file: n, before: Some(session.source.size()) });
            return Ok(());
        }
        if let Some(folder) = self.discovery.folder(entry) {
            summary::versions(&session, part.versions.entry(folder.root).or_default());
        }
        visitor.session(&file, session, agent, &mut part.sum)
    }
}

impl<T> Outcome<T> {
    fn add<V: Visitor<Sum = T>>(&mut self, other: Outcome<T>) {
        V::merge(&mut self.sum, other.sum);
        self.errors.extend(other.errors);
        self.defects.extend(other.defects);
        self.failed.extend(other.failed);
        self.later.extend(other.later);
        self.done += other.done;
        for (root, versions) in other.versions {
            self.versions.entry(root).or_default().extend(versions);
        }
    }
}

/// What a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no message".to_owned())
}
