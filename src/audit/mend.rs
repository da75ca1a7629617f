//! Which repair has a plan for a file. A command that is printed as the next step has to lead somewhere, and whether it
//! does is known only once it is tried: evidence may be missing, a step may make something else worse.
//!
//! The gentlest way is tried first, and of each is kept which findings it leaves fewer of. Trying reads the file once for
//! each step, so of a large file a scan makes only the edits, not their result.

use std::io;
use std::path::{Path, PathBuf};

use crate::chain::recover::Evidence;
use crate::finding::{Finding, Fix, Rule, Severity, loud};
use crate::repair::agent::Writer;
use crate::repair::answer::Job;
use crate::repair::links::Relink;
use crate::repair::worse::TakenBack;
use crate::repair::{checkpoints, plan};
use crate::rules::Examined;
use crate::rules::chain::STRAY_LEAF;
use crate::rules::filter::Gate;
use crate::session::{Session, Shape};
use crate::store::Source;
use crate::store::meter::Meter;
use crate::text::Text;

/// Of a file of up to so many bytes a scan makes the plans.
const TRIED: u64 = 4 << 20;

/// How far a repair is asked to go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ask {
    /// The class.
    pub up_to: Fix,
    /// Whether the nearest link is taken.
    pub nearest: bool,
    /// The leaf that is to be used.
    pub leaf: Option<String>,
    /// Whether the file gets the time of its repair, because its agent deletes by it.
    pub touch: bool,
}

impl Ask {
    /// The ways that are tried, the gentlest first.
    fn all() -> impl Iterator<Item = Ask> {
        let each = [(Fix::Links, false), (Fix::Content, false), (Fix::Links, true), (Fix::Content, true)];
        each.into_iter().map(|(up_to, nearest)| Ask { up_to, nearest, leaf: None, touch: false })
    }

    fn options(&self, base: &plan::Options) -> plan::Options {
        let relink = Relink { nearest: self.nearest, leaf: self.leaf.clone(), ..base.relink.clone() };
        plan::Options { up_to: self.up_to, relink, ..base.clone() }
    }

    /// Whether it goes further than what was asked for.
    fn is_beyond(&self, options: &plan::Options) -> bool {
        let (up_to, nearest) = (options.up_to, options.relink.nearest);
        self.up_to >= up_to && self.nearest >= nearest && (self.up_to, self.nearest) != (up_to, nearest)
    }
}

/// A repair that has a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mend {
    /// What it has to be asked for.
    pub ask: Ask,
    /// The rules of whose findings it leaves fewer, those that go with their cause among them.
    pub answers: Vec<&'static Rule>,
}

/// The first of these repairs that answers a rule.
pub fn answering<'a>(mends: &'a [Mend], rule: &'static Rule) -> Option<&'a Mend> {
    mends.iter().find(|mend| mend.answers.contains(&rule))
}

/// What a repair is asked for that nobody asked for anything.
pub fn usual(live: bool, now: i64) -> plan::Options {
    plan::Options {
        up_to: Fix::Links,
        relink: Relink::default(),
        answer_orphans: true,
        gate: Gate::default(),
        live,
        now,
        without: Vec::new(),
    }
}

/// The rules of those of these findings that a repair of the file itself might answer.
fn open(findings: &[Finding], path: &Path) -> Vec<&'static Rule> {
    let own = |f: &&Finding| f.path.as_deref().is_none_or(|of| of == path);
    let loud = findings.iter().filter(|f| f.severity >= Severity::Warning && f.rule.fix.is_some());
    let mut open: Vec<&'static Rule> = loud.filter(own).map(|f| f.rule).collect();
    open.sort_unstable();
    open.dedup();
    open
}

/// The leaf that a stray one took the place of.
fn left_leaf(findings: &[Finding]) -> Option<String> {
    findings.iter().find_map(|f| f.left_leaf.as_ref()).map(Text::lossy)
}

/// Whether a repair might answer one of these findings.
pub fn has_open(findings: &[Finding], path: &Path) -> bool {
    path != Path::new("-") && (!open(findings, path).is_empty() || left_leaf(findings).is_some())
}

/// The repairs that have a plan for a session with these findings.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn of_session(
    (examined, agent): (Examined, &'static dyn Writer),
    findings: &[Finding],
    now: (bool, i64),
    meter: &Meter,
) -> io::Result<Vec<Mend>> {
    let session = &examined.session;
    if !has_open(findings, &session.path) {
        return Ok(Vec::new());
    }
    let options = usual(now.0, now.1);
    if session.source.size() > TRIED {
        return untried(&examined, agent, findings, &options);
    }
    tried(&Again::of(session, agent), Some(examined), (findings, &[]), Ask::all(), &options, meter)
}

/// The repairs that would leave less than what a plan with these options leaves.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn beyond(again: &Again, planned: &plan::Plan, options: &plan::Options, meter: &Meter) -> io::Result<Vec<Mend>> {
    let asks = Ask::all().filter(|ask| ask.is_beyond(options));
    tried(again, None, (&planned.left, &planned.taken_back), asks, options, meter)
}

/// A session that is read once for each trial.
#[derive(Clone, Debug)]
pub struct Again {
    path: PathBuf,
    source: Source,
    agent: &'static dyn Writer,
    shape: Shape,
}

impl Again {
    /// Of a session that was read.
    pub fn of(session: &Session, agent: &'static dyn Writer) -> Self {
        let Session { path, source, shape, .. } = session;
        Again { path: path.clone(), source: source.clone(), agent, shape: *shape }
    }

    /// Reads it.
    ///
    /// # Errors
    /// I/O errors of the file.
    pub fn read(&self, meter: &Meter) -> io::Result<Examined> {
        Examined::read(self.path.clone(), self.source.clone(), self.agent, self.shape, meter)
    }
}

fn tried(
    again: &Again,
    mut first: Option<Examined>,
    (findings, taken_back): (&[Finding], &[TakenBack]),
    asks: impl Iterator<Item = Ask>,
    options: &plan::Options,
    meter: &Meter,
) -> io::Result<Vec<Mend>> {
    let (mut open, now) = (open(findings, &again.path), loud(findings));
    // Where another branch would be used, a person decides.
    let other = taken_back.iter().filter_map(|t| Some((t.rule, t.worse.leaf.clone()?)));
    let (decides, leaf) = match left_leaf(findings) {
        Some(id) => (vec![&STRAY_LEAF], Some(id)),
        None => (other.clone().map(|(rule, _)| rule).collect(), other.clone().next().map(|(_, id)| id)),
    };
    let leaf = leaf.filter(|_| options.relink.leaf.is_none());
    let leaf =
        leaf.map(|id| Ask { up_to: options.up_to, nearest: options.relink.nearest, leaf: Some(id), touch: false });
    let mut mends = Vec::new();
    for ask in asks.chain(leaf) {
        if ask.leaf.is_some() {
            open.clone_from(&decides);
        }
        if open.is_empty() {
            continue;
        }
        let examined = match first.take() {
            Some(examined) => examined,
            None => again.read(meter)?,
        };
        let planned = plan::plan(examined, again.agent, &ask.options(options), meter)?;
        let then = loud(&planned.left);
        let fewer = |rule: &&'static Rule| then.get(rule) < now.get(rule);
        let answers: Vec<&'static Rule> = now.keys().copied().filter(fewer).collect();
        if !planned.is_empty() && open.iter().any(|rule| answers.contains(rule)) {
            open.retain(|rule| then.contains_key(rule));
            mends.push(Mend { ask, answers });
        }
    }
    Ok(mends)
}

/// The same of a large session: what the edits of each rule take.
fn untried(
    examined: &Examined,
    agent: &'static dyn Writer,
    findings: &[Finding],
    options: &plan::Options,
) -> io::Result<Vec<Mend>> {
    let mut mends = Vec::new();
    for rule in open(findings, &examined.session.path) {
        for nearest in [false, true] {
            let ask = Ask { up_to: Fix::Content, nearest, leaf: None, touch: false };
            let ways = plan::ways(&Job { examined, agent, rule, findings, options: &ask.options(options), made: &[] })?;
            let Some(way) = ways.first() else { continue };
            let class = way.iter().map(|edit| edit.class).max().unwrap_or(Fix::Links);
            let nearest = way.iter().any(|edit| edit.evidence == Some(Evidence::Nearest));
            mends.push(Mend {
                ask: Ask { up_to: class.max(Fix::Links), nearest, leaf: None, touch: false },
                answers: vec![rule],
            });
            break;
        }
    }
    let leaf = left_leaf(findings).map(|id| Ask { up_to: Fix::Links, nearest: false, leaf: Some(id), touch: false });
    mends.extend(leaf.map(|ask| Mend { ask, answers: vec![&STRAY_LEAF] }));
    Ok(mends)
}

/// The repairs that have a plan for a checkpoint index with these findings, beyond what was asked for where anything was.
///
/// # Errors
/// When its bytes cannot be read again.
pub fn of_index(
    (source, path, folder): (&Source, &Path, Option<&str>),
    findings: &[Finding],
    asked: Option<&plan::Options>,
    options: &plan::Options,
) -> io::Result<Vec<Mend>> {
    let (mut open, now) = (open(findings, path), loud(findings));
    let mut mends = Vec::new();
    for ask in Ask::all().filter(|ask| !ask.nearest && asked.is_none_or(|asked| ask.up_to > asked.up_to)) {
        if open.is_empty() {
            break;
        }
        let answers: Vec<&'static Rule> = if source.size() > TRIED && asked.is_none() {
            let within = |rule: &&'static Rule| rule.fix <= Some(ask.up_to);
            open.iter().copied().filter(within).collect()
        } else {
            let planned = checkpoints::plan(source, folder, &ask.options(options))?;
            let then = loud(&planned.left);
            let fewer = |rule: &&'static Rule| !planned.edits.is_empty() && then.get(rule) < now.get(rule);
            open.iter().copied().filter(fewer).collect()
        };
        if !answers.is_empty() {
            open.retain(|rule| !answers.contains(rule));
            mends.push(Mend { ask, answers });
        }
    }
    Ok(mends)
}
