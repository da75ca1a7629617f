//! One plan for each file that has something to repair: read, planned and proven in parallel, in an order that depends
//! on the paths alone.
//!
//! Every session is read once for the store around it (see `store_context`), and those that have something to repair once more
//! for their plan: a healthy store costs one reading. A plan is proven here as it is proven again before its
//! bytes take the name, so that a dry run says what a run would do, refusals included.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use super::decided::{self, Became, Decided, leaf_words};
use super::in_use::{Guard, Refused, leads_out};
use super::remaining::why_left;
use super::standing::Standing;
use super::store_context::World;
use super::{FilePlan, IndexPlan, Left, Options, SessionPlan, Subject};
use crate::agents::{self, Agent};
use crate::audit::driver::{Driver, Opened, Outcome, SETTLE, Visitor, largest_first};
use crate::audit::files::{Depth, is_session_or_index};
use crate::audit::layers::folder_name;
use crate::audit::live::may_be_in_a_line;
use crate::audit::mend::{self, Again, Mend};
use crate::audit::{PLACES, below_store, shape_of, summary};
use crate::chain::recover::Evidence;
use crate::checkpoint;
use crate::commit::{Fingerprint, Sha};
use crate::finding::{Finding, Fix, Rule, Severity};
use crate::identity::AgentId;
use crate::metrics::cross_check::Fault;
use crate::repair::plan::{self, Fragment, Plan, Planned};
use crate::repair::proof::{self, Promise, Wrong};
use crate::repair::text::Text;
use crate::repair::worse::{About, Bound, TakenBack, Worse};
use crate::repair::{checkpoints, leaf};
use crate::rules::Context;
use crate::rules::Examined;
use crate::rules::checkpoints::index_findings;
use crate::rules::filter::Gate;
use crate::rules::store::StoreCollector;
use crate::session::{Session, ids};
use crate::store::meter::Meter;
use crate::store::{Discovery, Source, liveness};

/// How often a plan is made anew without the answers that a second repair would change again.
const FEWER: usize = 3;
/// Why such an answer is not given.
const AGAIN: &str = "repaired once more the session would change again";

/// What was found.
#[derive(Debug, Default)]
pub struct Survey {
    /// Session files that were read.
    pub sessions: u64,
    /// Checkpoint indexes that were read.
    pub indexes: u64,
    /// One plan for each file that has something to repair, or something that a repair of another class could; in the
    /// order of the paths.
    pub plans: Vec<FilePlan>,
    /// What could not be read. Exit status 2.
    pub errors: Vec<(PathBuf, String)>,
    /// Files on which sid-audit itself failed. Exit status 70.
    pub defects: Vec<(PathBuf, String)>,
    /// What became of each decision, in each session that it is about.
    pub decisions: Vec<Decided>,
    /// Sessions that do not load in full or would be refused as they are, and that have no plan.
    pub standing: BTreeMap<u32, Standing>,
    /// The store around them; none when there is nothing to repair in it.
    pub world: Option<World>,
    /// Whether it was stopped before all files were read.
    pub interrupted: bool,
    /// Sessions and indexes that there are.
    pub files: u64,
    /// Those of them that were not read, or for which no plan could be made, because it was stopped.
    pub not_looked_at: u64,
}

/// Plans the repair of every session that was found.
pub fn survey(discovery: &Discovery, options: &Options, meter: &Meter) -> Survey {
    let guard = Guard::new(discovery, options);
    let order = largest_first(discovery, |file| is_session_or_index(file.kind));
    let collector = StoreCollector::new(agents::JUDGES);
    let work = Work { discovery, options, guard: &guard, collector: &collector, world: None, one_leaf: true, meter };
    let (depth, fault) = (Depth::Linked, Fault::default());
    let driver = Driver { discovery, stdin: None, meter, depth, waits: false, fault };
    let looked = driver.run(&order, &Look(work));
    let (mut first, mut not_looked_at) = (looked.sum, looked.not_reached);
    first.leaf_in.sort();
    if first.wait && !meter.stopped() {
        std::thread::sleep(SETTLE);
    }
    let mut survey = Survey { errors: looked.errors, defects: looked.defects, ..first.survey };
    if let (Some(id), [one, others @ ..]) = (&options.plan.relink.leaf, first.leaf_in.as_slice())
        && !others.is_empty()
    {
        let why = format!("was not taken: {} more have that record; name the one that is meant", others.len());
        let became = Became::Refused(why);
        survey.decisions.push(Decided { what: leaf_words(id), path: one.clone(), became });
    }
    let candidates: Vec<u32> = order.iter().copied().filter(|n| first.candidates.contains(n)).collect();
    if !candidates.is_empty() && !meter.stopped() {
        let world = World::new(discovery, collector.clone(), guard.registrations(), options.plan.now);
        let work = Work { world: Some(&world), one_leaf: first.leaf_in.len() < 2, ..work };
        let Outcome { sum: second, errors, defects, not_reached, .. } = driver.run(&candidates, &Make(work));
        survey.add(second.survey);
        survey.errors.extend(errors);
        survey.defects.extend(defects);
        not_looked_at += not_reached;
        survey.world = Some(world);
    } else {
        not_looked_at += candidates.len() as u64;
    }
    survey.plans.sort_by_key(|plan| plan.file);
    survey.errors.extend(guard.unread.iter().cloned());
    survey.errors.sort();
    survey.defects.sort();
    survey.decisions.sort();
    survey.standing.retain(|n, standing| standing.is_broken() && !survey.plans.iter().any(|plan| plan.file == *n));
    survey.interrupted = meter.stopped();
    survey.files = order.len() as u64;
    survey.not_looked_at = not_looked_at;
    survey
}

impl Survey {
    fn add(&mut self, other: Survey) {
        self.sessions += other.sessions;
        self.indexes += other.indexes;
        self.plans.extend(other.plans);
        self.decisions.extend(other.decisions);
        self.standing.extend(other.standing);
    }
}

#[derive(Clone, Copy)]
struct Work<'a> {
    discovery: &'a Discovery,
    options: &'a Options,
    guard: &'a Guard,
    collector: &'a StoreCollector,
    /// The store, once all of it was read.
    world: Option<&'a World>,
    /// Whether the leaf that a person named is that of one session.
    one_leaf: bool,
    meter: &'a Meter,
}

/// What one worker has so far.
#[derive(Default)]
struct Sum {
    survey: Survey,
    /// Files that have something to plan.
    candidates: BTreeSet<u32>,
    /// Whether one of them may have a writer that is in the middle of a line.
    wait: bool,
    /// Sessions that have the leaf which a person named.
    leaf_in: Vec<PathBuf>,
}

/// A session in hand.
struct Hand {
    path: PathBuf,
    source: Source,
    meta: Metadata,
    session: Session,
    agent: &'static dyn Agent,
    ids: BTreeSet<String>,
    live: bool,
}

/// The first look at each file.
struct Look<'a>(Work<'a>);

impl Visitor for Look<'_> {
    type Sum = Sum;

    fn session(&self, file: &Opened<'_>, session: Session, agent: &'static dyn Agent, sum: &mut Sum) -> io::Result<()> {
        self.0.look(self.0.take(file, session, agent)?, file.n, sum)
    }

    fn index(&self, file: &Opened<'_>, sum: &mut Sum) -> io::Result<()> {
        self.0.look_at_index(file, sum)
    }

    fn merge(sum: &mut Sum, other: Sum) {
        sum.add(other);
    }
}

/// The plan of each file that has something to repair.
struct Make<'a>(Work<'a>);

impl Visitor for Make<'_> {
    type Sum = Sum;

    fn session(&self, file: &Opened<'_>, session: Session, agent: &'static dyn Agent, sum: &mut Sum) -> io::Result<()> {
        self.0.plan(self.0.take(file, session, agent)?, file.n, sum)
    }

    fn index(&self, file: &Opened<'_>, sum: &mut Sum) -> io::Result<()> {
        self.0.plan_index(file, sum)
    }

    fn merge(sum: &mut Sum, other: Sum) {
        sum.add(other);
    }
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.survey.add(other.survey);
        self.candidates.extend(other.candidates);
        self.wait |= other.wait;
        self.leaf_in.extend(other.leaf_in);
    }
}

impl Work<'_> {
    /// What the plan of a session needs to know of its file.
    fn take(&self, file: &Opened<'_>, session: Session, agent: &'static dyn Agent) -> io::Result<Hand> {
        let meta = file.meta.clone().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a file"))?;
        let (path, source) = (session.path.clone(), file.source.clone());
        let ids = if self.guard.asks_for_ids() { ids::all(&session) } else { BTreeSet::new() };
        let known: Vec<&str> = ids.iter().map(String::as_str).collect();
        let live = !self.options.closed && (liveness::grew(&source)? || self.guard.is_registered(&path, &known));
        Ok(Hand { path, source, meta, session, agent, ids, live })
    }

    /// Whether a finding is to be answered.
    fn asks_for(&self, f: &Finding) -> bool {
        let gate = &self.options.plan.gate;
        (f.severity >= Severity::Warning || gate.names(f.rule)) && f.rule.fix.is_some() && gate.keeps(f)
    }

    /// The first look: what the store needs to know of it, and whether there is anything to plan.
    fn look(&self, hand: Hand, n: u32, sum: &mut Sum) -> io::Result<()> {
        sum.survey.sessions += 1;
        self.collector.add(&hand.session, n, self.discovery, hand.live);
        let now = self.options.plan.now;
        let in_a_line = !self.options.closed && may_be_in_a_line(&hand.session)?;
        let examined = Examined::of(hand.session, hand.agent);
        let context = Context::new(&examined, hand.live, now, PLACES);
        let audit = summary::judge(n, &context, &Gate::default());
        let decided = !decided::about(&examined.session, hand.agent, &self.options.plan.relink).is_empty();
        if self.options.plan.relink.leaf.iter().any(|id| leaf::has(&examined.session, id)) {
            sum.leaf_in.push(hand.path);
        }
        let asked = audit.findings().iter().any(|f| self.asks_for(f));
        let standing = Standing::of(audit);
        if standing.is_broken() {
            sum.survey.standing.insert(n, standing);
        }
        if asked || decided {
            sum.candidates.insert(n);
            sum.wait |= in_a_line;
        }
        Ok(())
    }

    fn look_at_index(&self, file: &Opened<'_>, sum: &mut Sum) -> io::Result<()> {
        let folder = folder_name(self.discovery, file.entry);
        let audit = checkpoint::Audit::of(&file.source, folder.as_deref(), &checkpoint::Options::default())?;
        if let Some(words) = audit.outcome.not_read() {
            return Err(io::Error::other(words));
        }
        sum.survey.indexes += 1;
        if index_findings(&audit, PLACES).iter().any(|f| self.asks_for(f)) {
            sum.candidates.insert(file.n);
        }
        Ok(())
    }

    /// The plan of an index that has something to repair.
    fn plan_index(&self, file: &Opened<'_>, sum: &mut Sum) -> io::Result<()> {
        let &Opened { n, entry, ref source, ref meta, .. } = file;
        let Some(meta) = meta else { return Ok(()) };
        let path = self.discovery.path(entry);
        let folder = folder_name(self.discovery, entry);
        let options = self.options.plan.clone();
        let planned = checkpoints::plan(source, folder.as_deref(), &options)?;
        if planned.edits.is_empty() && !planned.left.iter().any(|f| f.rule.fix.is_some()) {
            return Ok(());
        }
        let mends = mend::of_index((source, &path, folder.as_deref()), &planned.left, Some(&options), &options)?;
        let new = planned.text.source();
        let wrong = checkpoints::prove(&planned.before, &planned.after, &new, folder.as_deref(), &options)?;
        let ids: Vec<&str> = folder.iter().map(String::as_str).collect();
        let Some(agent_id) = entry.agent_id else { return Ok(()) };
        let context = InHand { n, path: &path, source, agent_id, meta, ids: &ids };
        let (made, before, after) = Made::of(planned, wrong, mends);
        let subject =
            Subject::Index(Box::new(IndexPlan { folder: folder.clone(), options: options.clone(), before, after }));
        sum.survey.plans.push(self.file_plan(&context, made, &options, subject)?);
        Ok(())
    }

    /// The plan of a session that has something to repair.
    fn plan(&self, hand: Hand, n: u32, sum: &mut Sum) -> io::Result<()> {
        let Hand { path, source, meta, session, agent, ids, live } = hand;
        let (agent_id, ids) = (session.agent_id, ids.iter().map(String::as_str).collect::<Vec<&str>>());
        let mut options = plan::Options { live, ..self.options.plan.clone() };
        options.relink.leaf = options.relink.leaf.filter(|_| self.one_leaf);
        let open = decided::about(&session, agent, &options.relink);
        if let Some(world) = self.world {
            options.relink.elsewhere = world.elsewhere(self.discovery, n, &session);
        }
        let again = Again::of(&session, agent);
        let planned = plan::plan(Examined::of(session, agent), agent, &options, self.meter)?;
        let mut nearest = None;
        if !options.relink.nearest && planned.left.iter().any(|f| f.rule.fix == Some(Fix::Links)) {
            let mut bolder = options.clone();
            bolder.relink.nearest = true;
            let other = plan::plan(again.read(self.meter)?, agent, &bolder, self.meter)?;
            let takes_nearest = other.edits.iter().any(|e| e.edit.evidence == Some(Evidence::Nearest));
            nearest = takes_nearest.then_some((other, bolder));
        }
        let mends = |f: &Finding| f.rule.fix.is_some();
        let asked = !open.is_empty();
        sum.survey.decisions.extend(decided::became(open, &path, &planned));
        if planned.is_empty() && nearest.is_none() && !asked && !planned.left.iter().any(mends) {
            // With what the whole store knows of it.
            sum.survey.standing.insert(n, Standing::of_state(&planned.before));
            return Ok(());
        }
        let mends = mend::beyond(&again, &planned, &options, self.meter)?;
        let context = InHand { n, path: &path, source: &source, agent_id, meta: &meta, ids: &ids };
        let withheld = self.withheld(&context, &planned, &options)?;
        let mut plan = self.session_plan(&context, planned, &options, mends)?;
        plan.withheld = withheld;
        if let Some((other, bolder)) = nearest {
            // Also what has no answer of its own may go with the link.
            for left in &mut plan.left {
                if !other.left.iter().any(|f| f.rule == left.finding.rule) {
                    left.why = "it takes a guess: --relink auto takes the nearest link".to_owned();
                }
            }
            plan.nearest = Some(Box::new(self.session_plan(&context, other, &bolder, Vec::new())?));
        }
        sum.survey.plans.push(plan);
        Ok(())
    }

    /// Proves the plan of a session, and makes it the plan of its file.
    fn session_plan(
        &self,
        context: &InHand<'_>,
        planned: Plan,
        options: &plan::Options,
        mends: Vec<Mend>,
    ) -> io::Result<FilePlan> {
        let shape = shape_of(self.discovery.files[context.n as usize].kind);
        let (mut planned, mut options) = (planned, options.clone());
        let mut wrong = self.proven(context, &planned, &options)?;
        for _ in 0..FEWER {
            if wrong.again.is_empty() {
                break;
            }
            // What is left without the answers that would change again is a repair all the same.
            options.without.append(&mut wrong.again);
            let source = context.source.clone();
            let agent = agents::reader(context.agent_id, shape);
            let examined = Examined::read(context.path.to_owned(), source, agent, shape, self.meter)?;
            planned = plan::plan(examined, agent, &options, self.meter)?;
            wrong = self.proven(context, &planned, &options)?;
        }
        let again = options.without.iter();
        planned.taken_back.extend(again.map(|&rule| TakenBack { rule, worse: Worse::other(AGAIN.to_owned()) }));
        let (made, before, after) = Made::of(planned, wrong.told, mends);
        let subject = SessionPlan { shape, options: options.clone(), before, after };
        self.file_plan(context, made, &options, Subject::Session(Box::new(subject)))
    }

    /// A step that is left out because the API would refuse what it brings back, where a plan up to `content` takes it
    /// together with what the API asks for.
    fn withheld(&self, context: &InHand<'_>, planned: &Plan, options: &plan::Options) -> io::Result<Option<Refused>> {
        let refused = planned.taken_back.iter().find(|t| t.worse.about == About::Api);
        let Some(TakenBack { rule, worse }) = refused.filter(|_| options.up_to < Fix::Content) else {
            return Ok(None);
        };
        let bolder = plan::Options { up_to: Fix::Content, ..options.clone() };
        let shape = shape_of(self.discovery.files[context.n as usize].kind);
        let source = context.source.clone();
        let agent = agents::reader(context.agent_id, shape);
        let examined = Examined::read(context.path.to_owned(), source, agent, shape, self.meter)?;
        let both = plan::plan(examined, agent, &bolder, self.meter)?;
        if !both.answers.contains(rule) {
            return Ok(None);
        }
        let reason = format!("{rule} is left: {}; --up-to content mends both", worse.why);
        Ok(Some(Refused { path: context.path.to_owned(), reason, hint: None }))
    }

    /// The proof of the plan of a session.
    fn proven(&self, context: &InHand<'_>, planned: &Plan, options: &plan::Options) -> io::Result<Wrong> {
        if planned.is_empty() {
            return Ok(Wrong::default());
        }
        let shape = shape_of(self.discovery.files[context.n as usize].kind);
        let text = &planned.text;
        let agent = agents::reader(context.agent_id, shape);
        let result = Examined::read(context.path.to_owned(), text.source(), agent, shape, self.meter)?;
        let bound = Bound::of(planned.edits.iter().map(|e| &e.edit));
        let promise =
            Promise { before: &planned.before, after: &planned.after, answers: &planned.answers, bound, text };
        match self.world {
            Some(world) => world.ask(self.discovery, context.n, options.live, |store| {
                proof::repaired(&promise, result, agent, options, Some(store), self.meter)
            }),
            None => proof::repaired(&promise, result, agent, options, None, self.meter),
        }
    }

    fn file_plan(
        &self,
        context: &InHand<'_>,
        made: Made,
        options: &plan::Options,
        subject: Subject,
    ) -> io::Result<FilePlan> {
        let &InHand { n, path, source, agent_id, meta, ids } = context;
        let file = &self.discovery.files[n as usize];
        let work = !made.edits.is_empty();
        let root = self.discovery.root(file);
        let before = source.sha256()?;
        let after = if work { made.text.source().sha256()? } else { before };
        let mut refused = None;
        let mut warnings = Vec::new();
        if work {
            refused = leads_out(self.discovery, file, path);
            refused = refused.or_else(|| self.guard.refuses(path, ids, meta, root.is_some_and(|r| r.store.is_some())));
            if !made.wrong.is_empty() {
                let reason = format!("would not be what its repair announces: {}", made.wrong.join("; "));
                refused = Some(Refused { path: path.to_owned(), reason, hint: None });
            }
            if changed(source, meta)? {
                let hint = "repair again: the plan is made anew from what is there now";
                refused = Some(Refused::new(path, "was written to while it was read", hint));
            }
            warnings.extend(other_names(meta));
            if let Some(fresh) = self.guard.too_fresh(path, meta, root.is_some_and(|r| r.store.is_some())) {
                let hint = fresh.hint.unwrap_or_default();
                warnings.push(format!("a run now would leave it alone, because it {}: {hint}", fresh.reason));
            }
        }
        let now = self.options.plan.now;
        let deletion = self.world.and_then(|world| world.deletion(path, file, now)).filter(|_| work);
        if let Some(deletion) = deletion.as_ref().filter(|d| !(self.options.touch && d.by_time_of_file)) {
            warnings.push(deletion.kept_by("--touch gives it the time of its repair, which keeps it"));
        }
        let mut mends = made.mends;
        mends.iter_mut().for_each(|mend| mend.ask.touch = deletion.as_ref().is_some_and(|d| d.by_time_of_file));
        let left = made.left.into_iter().map(|finding| {
            let why = why_left(&finding, &mends, &made.taken_back, options);
            Left { finding, why }
        });
        Ok(FilePlan {
            file: n,
            path: path.to_owned(),
            below: below_store(self.discovery, file, path).to_owned(),
            within: root.and_then(|r| r.store.clone()),
            agent_id,
            subject,
            sha256: [Sha(before), Sha(after)],
            answers: made.answers,
            edits: made.edits,
            splices: made.text.splices(),
            quarantined: made.quarantined,
            left: left.collect(),
            mends,
            deletion,
            fingerprint: fingerprint(meta, Sha(before)),
            refused,
            withheld: None,
            warnings,
            nearest: None,
        })
    }
}

/// What a planner made, for a session or an index.
struct Made {
    edits: Vec<Planned>,
    quarantined: Vec<Fragment>,
    answers: Vec<&'static Rule>,
    left: Vec<Finding>,
    taken_back: Vec<TakenBack>,
    text: Text,
    /// What the proof found.
    wrong: Vec<String>,
    /// The repairs that would leave less.
    mends: Vec<Mend>,
}

impl Made {
    /// Of a plan, apart from the states before and after.
    fn of<S>(plan: Plan<S>, wrong: Vec<String>, mends: Vec<Mend>) -> (Self, S, S) {
        let Plan { before, after, edits, quarantined, answers, left, text, taken_back } = plan;
        (Made { edits, quarantined, answers, left, taken_back, text, wrong, mends }, before, after)
    }
}

/// The file that a plan is made for.
struct InHand<'a> {
    n: u32,
    path: &'a Path,
    source: &'a Source,
    agent_id: AgentId,
    meta: &'a Metadata,
    ids: &'a [&'a str],
}

/// Whether a file is in another state than before it was read.
fn changed(source: &Source, meta: &Metadata) -> io::Result<bool> {
    let Source::File { file, .. } = source else { return Ok(false) };
    let now = file.metadata()?;
    Ok(now.len() != meta.len() || now.modified().ok() != meta.modified().ok())
}

#[cfg(unix)]
fn other_names(meta: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let others = meta.nlink().saturating_sub(1);
    let names = crate::rules::counted(others, "other name");
    (others > 0).then(|| format!("has {names}, which will still lead to the original"))
}

#[cfg(not(unix))]
fn other_names(_: &Metadata) -> Option<String> {
    None
}

#[cfg(unix)]
fn fingerprint(meta: &Metadata, sha256: Sha) -> Fingerprint {
    Fingerprint::from_metadata(meta, sha256)
}

/// Nothing is applied here, so nothing is compared with it.
#[cfg(not(unix))]
fn fingerprint(meta: &Metadata, sha256: Sha) -> Fingerprint {
    Fingerprint { len: meta.len(), mtime_ns: 0, ctime_ns: 0, dev: 0, ino: 0, sha256 }
}
