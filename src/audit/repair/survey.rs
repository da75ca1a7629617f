//! One plan for each file that has something to repair: read, planned and proven in parallel, in an order that depends
//! on the paths alone.
//!
//! A plan is proven here as it is proven again before its bytes take the name, so that a dry run says what a run would
//! do, refusals included.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use super::guard::{Guard, Refused, leads_out};
use super::{FilePlan, Left, Options, SessionPlan, Subject};
use crate::audit::{below_store, is_session, keep, shape_of};
use crate::chain::heal::Evidence;
use crate::commit::{Fingerprint, Sha};
use crate::finding::{Finding, Fix};
use crate::record::facts::Id;
use crate::repair::plan::{self, Plan};
use crate::repair::proof::{self, Promise, StoreRules};
use crate::session::Session;
use crate::store::meter::Meter;
use crate::store::{Discovery, Source, liveness};

/// How long a writer is given to end the line that it has begun.
const SETTLE: Duration = Duration::from_millis(200);
/// Only a file that changed this recently may have such a writer.
const RECENT: Duration = Duration::from_secs(60);

/// What was found.
#[derive(Debug, Default)]
pub struct Survey {
    /// Session files that were read.
    pub sessions: u64,
    /// One plan for each file that has something to repair, or something that a repair of another class could; in the
    /// order of the paths.
    pub plans: Vec<FilePlan>,
    /// What could not be read. Exit status 2.
    pub errors: Vec<(PathBuf, String)>,
    /// Files on which sid-audit itself failed. Exit status 70.
    pub defects: Vec<(PathBuf, String)>,
    /// Decisions (`--relink CHILD=PARENT`) whose child was found, by place in the list.
    pub decided: Vec<usize>,
    /// Whether it was stopped before all files were read.
    pub interrupted: bool,
}

/// Plans the repair of every session that was found. `store`: the rules about the whole store, for the proof.
pub fn survey(discovery: &Discovery, options: &Options, store: Option<StoreRules<'_>>, meter: &Meter) -> Survey {
    let guard = Guard::new(discovery, options);
    let mut order: Vec<u32> =
        (0..).zip(&discovery.files).filter(|(_, file)| is_session(file.kind)).map(|(n, _)| n).collect();
    order.sort_by_key(|&n| (std::cmp::Reverse(discovery.files[n as usize].size), n));
    let work = Work { discovery, options, guard: &guard, store, meter };
    let mut sum = work.all(&order, false);
    let later = std::mem::take(&mut sum.later);
    if !later.is_empty() && !meter.stopped() {
        std::thread::sleep(SETTLE);
        sum.add(work.all(&later, true));
    }
    let mut survey = sum.survey;
    survey.plans.sort_by_key(|plan| plan.file);
    survey.errors.extend(guard.unread.iter().cloned());
    survey.errors.sort();
    survey.defects.sort();
    survey.decided.sort_unstable();
    survey.decided.dedup();
    survey.interrupted = meter.stopped();
    survey
}

struct Work<'a> {
    discovery: &'a Discovery,
    options: &'a Options,
    guard: &'a Guard,
    store: Option<StoreRules<'a>>,
    meter: &'a Meter,
}

/// What one worker has so far.
#[derive(Default)]
struct Sum {
    survey: Survey,
    later: Vec<u32>,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.survey.sessions += other.survey.sessions;
        self.survey.plans.extend(other.survey.plans);
        self.survey.errors.extend(other.survey.errors);
        self.survey.defects.extend(other.survey.defects);
        self.survey.decided.extend(other.survey.decided);
        self.later.extend(other.later);
    }
}

impl Work<'_> {
    /// Takes each file of the list once. `last`: no tail is waited for any more.
    fn all(&self, order: &[u32], last: bool) -> Sum {
        let next = AtomicUsize::new(0);
        let parts = rayon::broadcast(|_| {
            let mut sum = Sum::default();
            while let Some(&n) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.meter.stopped() {
                    break;
                }
                let path = || self.discovery.path(&self.discovery.files[n as usize]);
                match catch_unwind(AssertUnwindSafe(|| self.one(n, last, &mut sum))) {
                    Ok(Ok(())) => {}
                    Ok(Err(e)) if e.kind() == io::ErrorKind::Interrupted => break,
                    Ok(Err(e)) => sum.survey.errors.push((path(), format!("cannot be read: {e}"))),
                    Err(panic) => sum.survey.defects.push((path(), crate::audit::said(panic.as_ref()))),
                }
                self.meter.done();
            }
            sum
        });
        parts.into_iter().fold(Sum::default(), |mut all, part| {
            all.add(part);
            all
        })
    }

    fn one(&self, n: u32, last: bool, sum: &mut Sum) -> io::Result<()> {
        let file = &self.discovery.files[n as usize];
        let path = self.discovery.path(file);
        let Some(dialect) = file.dialect else {
            let message = "nothing in it tells whose session it is; name the agent with --dialect";
            sum.survey.errors.push((path, message.to_owned()));
            return Ok(());
        };
        let source = self.discovery.open(file)?;
        let Source::File { file: descriptor, .. } = &source else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        };
        let meta = descriptor.metadata()?;
        let read = |source: Source| Session::read(path.clone(), source, dialect, shape_of(file.kind), self.meter);
        let session = read(source.clone())?;
        let grew = liveness::grew(&source)?;
        if !last && !session.facts.terminated && !self.options.closed && (grew || is_recent(&meta)) {
            sum.later.push(n);
            return Ok(());
        }
        sum.survey.sessions += 1;
        let ids = if self.guard.asks_for_ids() { keep::ids(&session) } else { Default::default() };
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let live = grew || self.guard.is_registered(&path, &ids);
        let mut options = plan::Options { live, ..self.options.plan.clone() };
        self.decisions(&session, &mut options, sum);

        let planned = plan::plan(session, &options, self.meter)?;
        let mut nearest = None;
        if !options.relink.nearest && planned.left.iter().any(|f| f.rule.fix == Some(Fix::Links)) {
            let mut bolder = options.clone();
            bolder.relink.nearest = true;
            let other = plan::plan(read(source.clone())?, &bolder, self.meter)?;
            let takes_nearest = other.edits.iter().any(|e| e.edit.evidence == Some(Evidence::Nearest));
            nearest = takes_nearest.then_some((other, bolder));
        }
        let mends = |f: &Finding| f.rule.fix.is_some();
        if planned.is_empty() && nearest.is_none() && !planned.left.iter().any(mends) {
            return Ok(());
        }
        let context = Context { n, path: &path, source: &source, meta: &meta, ids: &ids };
        let mut plan = self.file_plan(&context, planned, &options)?;
        if let Some((other, bolder)) = nearest {
            for left in plan.left.iter_mut().filter(|l| l.finding.rule.fix == Some(Fix::Links)) {
                let links = |code| other.edits.iter().any(|e| e.edit.code == code);
                if links(left.finding.rule.code) {
                    left.why = "it takes a guess: --relink auto takes the nearest link".to_owned();
                }
            }
            plan.nearest = Some(Box::new(self.file_plan(&context, other, &bolder)?));
        }
        sum.survey.plans.push(plan);
        Ok(())
    }

    /// Which decisions of the user are about this session. A parent that it does not have would only move the break.
    fn decisions(&self, session: &Session, options: &mut plan::Options, sum: &mut Sum) {
        let has = |id: &str| session.graph.find(Id::of(id.as_bytes()), &session.facts).is_some();
        let decided = std::mem::take(&mut options.relink.decided);
        for (at, (child, parent)) in decided.into_iter().enumerate() {
            if !has(&child) {
                continue;
            }
            sum.survey.decided.push(at);
            if has(&parent) {
                options.relink.decided.push((child, parent));
            } else {
                sum.survey.errors.push((session.path.clone(), format!("has no record {parent:?} to link to")));
            }
        }
    }

    fn file_plan(&self, context: &Context<'_>, planned: Plan, options: &plan::Options) -> io::Result<FilePlan> {
        let &Context { n, path, source, meta, ids } = context;
        let file = &self.discovery.files[n as usize];
        let shape = shape_of(file.kind);
        let work = !planned.is_empty();
        let root = self.discovery.root(file);
        let (before, after) = match work {
            true => (source.sha256()?, planned.text.source().sha256()?),
            false => {
                let one = source.sha256()?;
                (one, one)
            }
        };
        let mut refused = None;
        let mut warnings = Vec::new();
        if work {
            refused = leads_out(self.discovery, file, path);
            refused = refused.or_else(|| self.guard.refuses(path, ids, meta, root.is_some_and(|r| r.store.is_some())));
            let dialect = file.dialect.unwrap_or(crate::dialect::Dialect::Sid);
            let result = Session::read(path.to_owned(), planned.text.source(), dialect, shape, self.meter)?;
            let class = planned.edits.iter().map(|e| e.edit.class).max();
            let promise = Promise { before: &planned.before, after: &planned.after, answers: &planned.answers, class };
            let wrong = proof::repaired(&promise, result, options, self.store, self.meter)?;
            if !wrong.is_empty() {
                let reason = format!("would not be what its repair announces: {}", wrong.join("; "));
                refused = Some(Refused { path: path.to_owned(), reason, hint: None });
            }
            if changed(source, meta)? {
                let hint = "repair again: the plan is made anew from what is there now";
                refused = Some(Refused::new(path, "was written to while it was read", hint));
            }
            warnings.extend(other_names(meta));
        }
        let left = planned.left.into_iter().map(|finding| {
            let why = why_left(&finding, &planned.taken_back, options);
            Left { finding, why }
        });
        let left = left.collect();
        let live = options.live;
        let subject = SessionPlan { shape, live, before: planned.before, after: planned.after };
        Ok(FilePlan {
            file: n,
            path: path.to_owned(),
            below: below_store(self.discovery, file, path).to_owned(),
            within: root.and_then(|r| r.store.clone()),
            dialect: file.dialect.unwrap_or(crate::dialect::Dialect::Sid),
            subject: Subject::Session(Box::new(subject)),
            sha256: [Sha(before), Sha(after)],
            answers: planned.answers,
            edits: planned.edits,
            splices: planned.splices,
            quarantined: planned.quarantined,
            left,
            fingerprint: fingerprint(meta, Sha(before)),
            refused,
            warnings,
            nearest: None,
        })
    }
}

/// The file in hand.
struct Context<'a> {
    n: u32,
    path: &'a Path,
    source: &'a Source,
    meta: &'a std::fs::Metadata,
    ids: &'a [&'a str],
}

fn why_left(finding: &Finding, taken_back: &[(&'static str, String)], options: &plan::Options) -> String {
    let code = finding.rule.code;
    match finding.rule.fix {
        None => "repair has no answer to it".to_owned(),
        Some(fix) if fix > options.up_to => format!("it takes --up-to {}", fix.name()),
        Some(_) => match taken_back.iter().find(|(c, _)| *c == code) {
            Some((_, worse)) => format!("an answer would make something worse: {worse}"),
            None => "no answer is sure enough".to_owned(),
        },
    }
}

/// A file that was written to so recently that its writer may be in the middle of a line.
fn is_recent(meta: &std::fs::Metadata) -> bool {
    let age = meta.modified().map(|at| SystemTime::now().duration_since(at));
    age.is_ok_and(|age| age.map_or(true, |age| age < RECENT))
}

/// Whether a file is in another state than before it was read.
fn changed(source: &Source, meta: &std::fs::Metadata) -> io::Result<bool> {
    let Source::File { file, .. } = source else { return Ok(false) };
    let now = file.metadata()?;
    Ok(now.len() != meta.len() || now.modified().ok() != meta.modified().ok())
}

#[cfg(unix)]
fn other_names(meta: &std::fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let others = meta.nlink().saturating_sub(1);
    let names = crate::rules::counted(others, "other name");
    (others > 0).then(|| format!("has {names}, which will still lead to the original"))
}

#[cfg(not(unix))]
fn other_names(_: &std::fs::Metadata) -> Option<String> {
    None
}

#[cfg(unix)]
fn fingerprint(meta: &std::fs::Metadata, sha256: Sha) -> Fingerprint {
    Fingerprint::from_metadata(meta, sha256)
}

/// Nothing is applied here, so nothing is compared with it.
#[cfg(not(unix))]
fn fingerprint(meta: &std::fs::Metadata, sha256: Sha) -> Fingerprint {
    Fingerprint { len: meta.len(), mtime_ns: 0, ctime_ns: 0, dev: 0, ino: 0, sha256 }
}
