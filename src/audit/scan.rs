//! The scan: every session file of a discovery through the rooms, spread over cores, in an order that depends on nothing
//! but the paths.
//!
//! Workers take the largest file that is left, hold one file at a time, and let its facts go before they take the next.
//! They share nothing but the list; their totals are added up at the end. A file whose tail may still be being written
//! is put aside and read again after all others, so that the wait is paid once and not per file.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rayon::prelude::*;

use super::files::{add_stdin, is_session, largest_first, open, read_again, shape_of};
use super::spread::{Failed, spread};
use super::{Options, Scan, SessionAudit, Totals};
use super::{attribute, layers, live, measure, summary};
use crate::agents;
use crate::checkpoint::Options as IndexOptions;
use crate::finding::{Finding, Severity};
use crate::metrics::census::{Census, FieldVerdict};
use crate::metrics::cross_check::{CrossCheck, Recount, Sums};
use crate::metrics::records::Tally;
use crate::metrics::usage::StoreUsage;
use crate::rules::store::{StoreCollector, StoreReport, check_store};
use crate::rules::{self, Context, Examined};
use crate::session::{Session, Shape};
use crate::store::liveness::{self, Registration};
use crate::store::meter::Meter;
use crate::store::{Discovery, FileEntry};

/// How long a writer is given to end the line that it has begun.
const SETTLE: Duration = Duration::from_millis(200);

/// Reads every session that was found and says what is wrong with it.
pub fn scan(mut discovery: Discovery, options: &Options, meter: &Meter) -> Scan {
    if let Some(source) = &options.stdin {
        add_stdin(&mut discovery, source);
    }
    let (registrations, unread) = liveness::registrations(&discovery);
    let order = largest_first(&discovery, is_session);
    let (collector, usage) = (StoreCollector::new(agents::JUDGES), Mutex::new(StoreUsage::default()));
    let run = Run {
        discovery: &discovery,
        options,
        registrations: &registrations,
        meter,
        collector: &collector,
        usage: &usage,
        sessions: Mutex::new(Vec::with_capacity(order.len())),
    };
    let mut sum = run.all(&order, |&file| Turn { file, before: None });
    let later = std::mem::take(&mut sum.later);
    if !later.is_empty() && !meter.stopped() {
        std::thread::sleep(SETTLE);
        sum.add(run.all(&later, |turn| *turn));
    }
    let mut sessions = run.sessions.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut errors = sum.errors;
    sessions.sort_unstable_by_key(|session| session.file);
    sessions.shrink_to_fit();
    errors.extend(unread);
    errors.append(&mut discovery.errors);
    errors.sort();
    let unread = order.len() as u64 - sessions.len() as u64 - errors.len().min(order.len() - sessions.len()) as u64;
    let mut totals = Totals { unread: if meter.stopped() { unread } else { 0 }, ..sum.totals };
    // Of a part of the files nothing can be said about the whole.
    let report = if meter.stopped() {
        StoreReport::default()
    } else {
        check_store(&discovery, collector, &registrations, options.now)
    };
    errors.extend(report.errors.iter().cloned());
    errors.sort();
    let mut store = attribute::attribute(&mut sessions, report, &discovery, &options.gate);
    touch_what_goes(&mut sessions, &store, &discovery);
    let mut of_indexes = Sums::default();
    let checkpoints = checkpoints(&discovery, options, meter, &mut errors, (&mut of_indexes, &mut sum.recount));
    if !meter.stopped() {
        let mut known: BTreeSet<String> = sum.traced.into_iter().collect();
        if !checkpoints.is_empty() {
            let stem =
                |file: &FileEntry| Path::new(&file.name.os()).file_stem().map(|s| s.to_string_lossy().into_owned());
            known.extend(discovery.files.iter().filter(|f| is_session(f.kind)).filter_map(stem));
        }
        let alone = layers::unpartnered(&discovery, &known, &sum.changed);
        store.extend(alone.into_iter().filter(|f| options.gate.keeps(f)));
    }
    let mut usage = usage.into_inner().unwrap_or_else(PoisonError::into_inner);
    usage.finish(|n| read_again(&discovery, options.stdin.as_ref(), n, meter));
    let zero_fields = zero_fields(sum.census, &discovery, &order, &sessions, &checkpoints);
    if !meter.stopped() {
        let figures = rules::usage::check_store(&usage, &discovery).into_iter();
        let figures =
            figures.chain(rules::census::check_store(&zero_fields, &discovery, |d| agents::of(d).counted_as()));
        store.extend(figures.filter(|f| options.gate.keeps(f)));
    }
    let in_indexes = checkpoints.iter().flat_map(|index| &index.findings);
    // Of a part of the files the two methods may have read different parts.
    let cross_check =
        (options.again.is_some() && !meter.stopped()).then(|| twice(sum.recount, of_indexes, &totals, &usage));
    sessions.iter().flat_map(SessionAudit::findings).chain(in_indexes).chain(&store).for_each(|f| totals.finding(f));
    Scan {
        discovery,
        sessions,
        checkpoints,
        store,
        errors,
        defects: sum.defects,
        totals,
        usage,
        zero_fields,
        cross_check,
        versions: sum.versions,
        interrupted: meter.stopped(),
    }
}

/// A repair of a session that its agent will delete by the time of its file is named with a new time for it.
fn touch_what_goes(sessions: &mut [SessionAudit], store: &[Finding], discovery: &Discovery) {
    let going = |f: &&Finding| f.deletion.is_some() && f.severity == Severity::Info;
    let files = store.iter().filter(going).filter_map(|f| f.deletion.as_ref()).flat_map(|deletion| &deletion.files);
    let of_store: BTreeSet<&str> = files.map(String::as_str).collect();
    for session in sessions.iter_mut().filter(|s| agents::of(s.dialect).deletes_by_file_time()) {
        let path = |file: &FileEntry| of_store.contains(discovery.path(file).to_string_lossy().as_ref());
        let own = session.findings().iter().any(|f| going(&f));
        let goes = own || discovery.files.get(session.file as usize).is_some_and(path);
        if let Some(extra) = session.extra.as_mut().filter(|_| goes) {
            extra.mends.iter_mut().for_each(|mend| mend.ask.touch = true);
        }
    }
}

/// What is never written in what was read.
fn zero_fields(
    mut census: Census,
    discovery: &Discovery,
    order: &[u32],
    sessions: &[SessionAudit],
    checkpoints: &[layers::IndexAudit],
) -> Vec<FieldVerdict> {
    let unread = order.iter().filter(|&&n| sessions.binary_search_by_key(&n, |s| s.file).is_err());
    unread.filter_map(|n| discovery.files[*n as usize].dialect).for_each(|dialect| census.unread(agents::of(dialect)));
    checkpoints.iter().filter(|index| index.snapshots > 0).for_each(|index| census.snapshotted(&index.session_id));
    let mut verdicts = census.judge(&[], |_| None);
    verdicts.retain(|field| field.occurrences == 0);
    verdicts
}

/// The totals of the scan, counted again.
fn twice(recount: Recount, mut first: Sums, totals: &Totals, usage: &StoreUsage) -> CrossCheck {
    first.add("files", totals.sessions);
    first.add("bytes.total", totals.bytes);
    totals.records.iter().for_each(|(name, n)| first.add(format!("records.{name}"), *n));
    measure::usage_totals(usage, &mut first);
    let of =
        ["files", "bytes", "records.", "usage.", "checkpoints.i", "checkpoints.b", "checkpoints.s", "checkpoints.e"];
    recount.compare(&first, totals.other_types > 0, &of)
}

/// What an index adds to the totals. Of one that is cut off the agent sees nothing, and the second count agrees: what can
/// be saved of it is another figure.
fn count_index(index: &layers::IndexAudit, agent_sees: bool, sums: &mut Sums) {
    sums.add("checkpoints.indexes", 1);
    sums.add("checkpoints.bytes", index.bytes);
    if agent_sees {
        sums.add("checkpoints.snapshots", index.snapshots);
        sums.add("checkpoints.entries.full", index.entries.full);
        sums.add("checkpoints.entries.compressed", index.entries.compressed);
        sums.add("checkpoints.entries.diff", index.entries.diff);
    }
}

/// Every checkpoint index, judged.
fn checkpoints(
    discovery: &Discovery,
    options: &Options,
    meter: &Meter,
    errors: &mut Vec<(PathBuf, String)>,
    (first_count, recount): (&mut Sums, &mut Recount),
) -> Vec<layers::IndexAudit> {
    let how = IndexOptions { verify: options.verify, ..IndexOptions::default() };
    let one = |n: u32| {
        let file = &discovery.files[n as usize];
        let source = discovery.open(file)?;
        let (audit, index) = layers::index_in(&source, discovery, n, &how, options.places)?;
        let (mut first, mut again) = (Sums::default(), Recount::default());
        if let (Some(_), Some(dialect)) = (options.again, file.dialect) {
            count_index(&index, audit.agent_sees(), &mut first);
            again.add_index(agents::of(dialect), &source)?;
        }
        Ok((index, first, again))
    };
    let judged: Vec<_> = layers::indexes(discovery)
        .into_par_iter()
        .filter(|_| !meter.stopped())
        .map(|n| one(n).map_err(|e: io::Error| (n, e)))
        .collect();
    let mut kept = Vec::new();
    for result in judged {
        match result {
            Ok((mut index, first, again)) => {
                index.findings.retain(|f| options.gate.keeps(f));
                kept.push(index);
                first.0.into_iter().for_each(|(what, n)| first_count.add(what, n));
                recount.merge(again);
            }
            Err((n, e)) => errors.push((discovery.path(&discovery.files[n as usize]), format!("cannot be read: {e}"))),
        }
    }
    errors.sort();
    kept
}

/// What all workers look at.
struct Run<'a> {
    discovery: &'a Discovery,
    options: &'a Options,
    registrations: &'a [Registration],
    meter: &'a Meter,
    collector: &'a StoreCollector,
    usage: &'a Mutex<StoreUsage>,
    /// One list for all workers, as long as it can become: one that grows is copied, and both copies cost memory.
    sessions: Mutex<Vec<SessionAudit>>,
}

/// One file's turn, with the size that it had at its first one.
#[derive(Clone, Copy)]
struct Turn {
    file: u32,
    before: Option<u64>,
}

/// What one worker has so far.
#[derive(Default)]
struct Sum {
    later: Vec<Turn>,
    errors: Vec<(PathBuf, String)>,
    defects: Vec<(PathBuf, String)>,
    totals: Totals,
    versions: BTreeMap<u32, BTreeSet<String>>,
    /// Of each store the ids of sessions that changed files, own and traced.
    changed: BTreeMap<PathBuf, Vec<Vec<String>>>,
    /// Ids of processes that resumed a session.
    traced: Vec<String>,
    census: Census,
    recount: Recount,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.later.extend(other.later);
        self.errors.extend(other.errors);
        self.defects.extend(other.defects);
        self.totals.add(&other.totals);
        self.traced.extend(other.traced);
        self.census.merge(other.census);
        self.recount.merge(other.recount);
        for (store, ids) in other.changed {
            self.changed.entry(store).or_default().extend(ids);
        }
        for (root, versions) in other.versions {
            self.versions.entry(root).or_default().extend(versions);
        }
    }
}

impl Run<'_> {
    /// Takes each file of the list once.
    fn all<T: Sync>(&self, order: &[T], turn: impl Fn(&T) -> Turn + Sync) -> Sum {
        let failed = |of: &T, why: Failed, sum: &mut Sum| {
            let path = self.discovery.path(&self.discovery.files[turn(of).file as usize]);
            why.tell(path, &mut sum.errors, &mut sum.defects);
        };
        let parts = spread(order, self.meter, |of, sum| self.one(turn(of), sum), failed);
        parts.into_iter().fold(Sum::default(), |mut all, part| {
            all.add(part);
            all
        })
    }

    fn one(&self, Turn { file: n, before }: Turn, sum: &mut Sum) -> io::Result<()> {
        let file = &self.discovery.files[n as usize];
        let path = self.discovery.path(file);
        let Some(dialect) = file.dialect else {
            sum.errors.push((path, super::NOBODYS.to_owned()));
            return Ok(());
        };
        let source = open(self.discovery, self.options.stdin.as_ref(), file)?;
        let given = self.options.again.unwrap_or_default().given(source.clone());
        let agent = agents::reader(dialect, shape_of(file.kind));
        let session = Session::read(path, given, agent, shape_of(file.kind), self.meter)?;
        let size = session.source.size();
        if before.is_none() && live::may_be_in_a_line(&session)? {
            sum.later.push(Turn { file: n, before: Some(size) });
            return Ok(());
        }
        let live = before.is_some_and(|before| before != size) || live::is_live(&session, self.registrations)?;
        let examined = Examined::of(session, agent);
        let context = Context::new(&examined, live, self.options.now, self.options.places);
        let session = context.session;
        let mut audit = summary::judge(n, &context, &self.options.gate);
        let store = self.discovery.root(file).and_then(|root| root.store.as_deref());
        for finding in layers::of_session(session, agent, store, self.options.places)? {
            // A live client writes the row first and the backup behind it.
            let finding = if live { finding.severity(Severity::Info).fact("state", "in flight") } else { finding };
            if self.options.gate.keeps(&finding) {
                attribute::add(&mut audit, finding);
            }
        }
        if session.shape == Shape::Main {
            let ids = agent.known_by(session);
            sum.traced.extend(ids.iter().skip(1).cloned());
            if let (Some(store), true) = (store, agent.changed_files(session)) {
                sum.changed.entry(store.to_owned()).or_default().push(ids);
            }
        }
        self.collector.add(session, n, self.discovery, live);
        self.usage.lock().unwrap_or_else(PoisonError::into_inner).add(n, session, agent, context.usage);
        sum.census.add(session, agent, &Tally::of(session, usize::MAX), || agent.known_by(session));
        sum.totals.count(&audit, session);
        if let Some(fault) = self.options.again {
            sum.recount.add(fault, n, (session, agent), &source)?;
        }
        if let Some(root) = self.discovery.folder(file).map(|folder| folder.root) {
            summary::versions(session, sum.versions.entry(root).or_default());
        }
        audit.try_mends((examined, agent), self.options.now, self.meter)?;
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(audit);
        Ok(())
    }
}
