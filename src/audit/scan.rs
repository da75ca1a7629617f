//! The scan: every session file of a discovery through the rooms, spread over cores, in an order that depends on nothing
//! but the paths.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::driver::{Driver, Opened, Outcome, Visitor, largest_first};
use super::files::{Depth, add_stdin, is_session, read_again};
use super::{Options, Scan, SessionAudit, Totals};
use super::{attribute, layers, live, measure, summary};
use crate::agents::{self, Agent};
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

/// Reads every session that was found and says what is wrong with it.
pub fn scan(mut discovery: Discovery, options: &Options, meter: &Meter) -> Scan {
    if let Some(source) = &options.stdin {
        add_stdin(&mut discovery, source);
    }
    let (registrations, unread) = liveness::registrations(&discovery);
    let order = largest_first(&discovery, |file| is_session(file.kind));
    let scanning = Scanning {
        discovery: &discovery,
        options,
        registrations: &registrations,
        meter,
        collector: StoreCollector::new(agents::JUDGES),
        usage: Mutex::default(),
        sessions: Mutex::new(Vec::with_capacity(order.len())),
    };
    let stdin = options.stdin.as_ref();
    let fault = options.again.unwrap_or_default();
    let driver = Driver { discovery: &discovery, stdin, meter, depth: Depth::Linked, waits: true, fault };
    let Outcome { mut sum, mut errors, mut defects, versions, not_reached, .. } = driver.run(&order, &scanning);
    let indexes = driver.run(&layers::indexes(&discovery), &scanning);
    Scanning::merge(&mut sum, indexes.sum);
    errors.extend(indexes.errors);
    defects.extend(indexes.defects);
    let Scanning { collector, usage, sessions, .. } = scanning;
    let mut sessions = sessions.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut checkpoints = sum.checkpoints;
    sessions.sort_unstable_by_key(|session| session.file);
    sessions.shrink_to_fit();
    checkpoints.sort_unstable_by_key(|index| index.file);
    errors.extend(unread);
    errors.append(&mut discovery.errors);
    let mut totals = Totals { unread: not_reached, ..sum.totals };
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
    usage.finish(|n| read_again(&discovery, stdin, n, meter));
    let zero_fields = zero_fields(sum.census, &discovery, &order, &sessions, &checkpoints);
    if !meter.stopped() {
        let figures = rules::usage::check_store(&usage, &discovery).into_iter();
        let figures =
            figures.chain(rules::fields::check_store(&zero_fields, &discovery, |d| agents::of(d).counted_as()));
        store.extend(figures.filter(|f| options.gate.keeps(f)));
    }
    let in_indexes = checkpoints.iter().flat_map(|index| &index.findings);
    // Of a part of the files the two methods may have read different parts.
    let cross_check =
        (options.again.is_some() && !meter.stopped()).then(|| twice(sum.recount, sum.of_indexes, &totals, &usage));
    sessions.iter().flat_map(SessionAudit::findings).chain(in_indexes).chain(&store).for_each(|f| totals.finding(f));
    Scan {
        discovery,
        sessions,
        checkpoints,
        store,
        errors,
        defects,
        totals,
        usage,
        zero_fields,
        cross_check,
        versions,
        interrupted: meter.stopped(),
    }
}

/// A repair of a session that its agent will delete by the time of its file is named with a new time for it.
fn touch_what_goes(sessions: &mut [SessionAudit], store: &[Finding], discovery: &Discovery) {
    let going = |f: &&Finding| f.deletion.is_some() && f.severity == Severity::Info;
    let files = store.iter().filter(going).filter_map(|f| f.deletion.as_ref()).flat_map(|deletion| &deletion.files);
    let of_store: BTreeSet<&str> = files.map(String::as_str).collect();
    for session in sessions.iter_mut().filter(|s| agents::of(s.agent_id).deletes_by_file_time()) {
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
    unread
        .filter_map(|n| discovery.files[*n as usize].agent_id)
        .for_each(|agent_id| census.unread(agents::of(agent_id)));
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

/// What all workers look at.
struct Scanning<'a> {
    discovery: &'a Discovery,
    options: &'a Options,
    registrations: &'a [Registration],
    meter: &'a Meter,
    collector: StoreCollector,
    usage: Mutex<StoreUsage>,
    /// One list for all workers, as long as it can become: one that grows is copied, and both copies cost memory.
    sessions: Mutex<Vec<SessionAudit>>,
}

/// What one worker has so far.
#[derive(Default)]
struct Sum {
    totals: Totals,
    checkpoints: Vec<layers::IndexAudit>,
    /// What the indexes add to the totals, where they are counted twice.
    of_indexes: Sums,
    /// Of each store the ids of sessions that changed files, own and traced.
    changed: BTreeMap<PathBuf, Vec<Vec<String>>>,
    /// Ids of processes that resumed a session.
    traced: Vec<String>,
    census: Census,
    recount: Recount,
}

impl Visitor for Scanning<'_> {
    type Sum = Sum;

    fn session(&self, file: &Opened<'_>, session: Session, agent: &'static dyn Agent, sum: &mut Sum) -> io::Result<()> {
        let grew = file.before.is_some_and(|before| before != session.source.size());
        let live = grew || live::is_live(&session, self.registrations)?;
        let examined = Examined::of(session, agent);
        let context = Context::new(&examined, live, self.options.now, self.options.places);
        let session = context.session;
        let mut audit = summary::judge(file.n, &context, &self.options.gate);
        let store = self.discovery.root(file.entry).and_then(|root| root.store.as_deref());
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
        self.collector.add(session, file.n, self.discovery, live);
        self.usage.lock().unwrap_or_else(PoisonError::into_inner).add(file.n, session, agent, context.usage);
        sum.census.add(session, agent, &Tally::of(session, usize::MAX), || agent.known_by(session));
        sum.totals.count(&audit, session);
        if let Some(fault) = self.options.again {
            sum.recount.add(fault, file.n, (session, agent), &file.source)?;
        }
        audit.try_mends((examined, agent), self.options.now, self.meter)?;
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).push(audit);
        Ok(())
    }

    fn index(&self, file: &Opened<'_>, sum: &mut Sum) -> io::Result<()> {
        let how = IndexOptions { verify: self.options.verify, ..IndexOptions::default() };
        let (audit, mut index) = layers::index(self.discovery, file, &how, self.options.places)?;
        index.findings.retain(|f| self.options.gate.keeps(f));
        if let (Some(_), Some(agent_id)) = (self.options.again, file.entry.agent_id) {
            sum.recount.add_index(agents::of(agent_id), &file.source)?;
            count_index(&index, audit.agent_sees(), &mut sum.of_indexes);
        }
        sum.checkpoints.push(index);
        Ok(())
    }

    fn merge(sum: &mut Sum, other: Sum) {
        sum.totals.add(&other.totals);
        sum.checkpoints.extend(other.checkpoints);
        other.of_indexes.0.into_iter().for_each(|(what, n)| sum.of_indexes.add(what, n));
        sum.traced.extend(other.traced);
        sum.census.merge(other.census);
        sum.recount.merge(other.recount);
        for (store, ids) in other.changed {
            sum.changed.entry(store).or_default().extend(ids);
        }
    }
}
