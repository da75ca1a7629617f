//! The plan: one value that a dry run prints and the commit executes.
//!
//! Rules are answered one after the other, bytes first, then links, then content, and again from the start as long as
//! something changes: a split line shows the record that a link needed. Each step is judged by reading the result.

use std::collections::HashSet;
use std::io;

use super::agent::Writer;
use super::answer::{self, Answer, How, Job, Way};
use super::edit::{Action, Edit};
use super::links::Relink;
use super::text::{Splice, Text};
use super::worse::{About, Back, Bound, Seen, TakenBack, Worse, emptied, no_longer, tail_gone, worse};
use super::{leaf, links, places};
use crate::chain::Mode;
use crate::chain::recover::{Evidence, answers_to_nothing};
use crate::finding::{Finding, Fix, Rule, Severity, loud};
use crate::record::facts::{Id, flag};
use crate::rules::chain::{MISSING_ID, MISSING_PARENT};
use crate::rules::filter::Gate;
use crate::rules::{self, Context, Examined};
use crate::session::Session;
use crate::store::meter::Meter;
use crate::verdict::{ApiVerdict, Resume};

/// What a repair may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The class up to which it may go.
    pub up_to: Fix,
    /// How far new links may be guessed.
    pub relink: Relink,
    /// How an orphan call is answered: with a result, or by dropping it.
    pub answer_orphans: bool,
    /// The findings that are answered; one that is only information, when it names that code itself.
    pub gate: Gate,
    /// Whether the session is being written to, so that what only shows that is no damage.
    pub live: bool,
    /// The time that ages are taken against.
    pub now: i64,
    /// Rules that are not answered: repaired once more, a session would change again by them.
    pub without: Vec<&'static Rule>,
}

/// One edit as the plan tells it: places are those of the file.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The edit.
    pub edit: Edit,
    /// First byte in the file of what it is about.
    pub offset: u64,
    /// Physical line in the file.
    pub line: u64,
}

/// What goes to quarantine: a stretch of the file, whose bytes the journal keeps.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// First byte in the file.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Physical line in the file.
    pub line: u64,
    /// The rule it is about.
    pub rule: &'static Rule,
}

/// A session's state before or after.
#[derive(Clone, Debug)]
pub struct State {
    /// Would a resume bring it back?
    pub resume: Resume,
    /// How its loader reads it.
    pub mode: Mode,
    /// Would the API take it?
    pub api: ApiVerdict,
    /// The rules that make that verdict.
    pub api_rules: Vec<&'static Rule>,
    /// Its findings, all places.
    pub findings: Vec<Finding>,
    /// The messages that come back, in order.
    pub(super) messages: Vec<Back>,
    /// The records of the next request.
    sent: HashSet<Id>,
    /// Whether the loader brings nothing back, or fails.
    pub(super) refused: bool,
    /// The id that a running agent would append to.
    pub(super) tail: Id,
}

impl State {
    /// Whether a message of this id comes back.
    pub fn comes_back(&self, id: Option<Id>) -> bool {
        self.messages.iter().any(|m| m.is(id))
    }
}

/// A plan for one session, or for one checkpoint index.
#[derive(Debug)]
pub struct Plan<S = State> {
    /// How it is now.
    pub before: S,
    /// How it will be.
    pub after: S,
    /// The edits, in the order in which they were made.
    pub edits: Vec<Planned>,
    /// What goes to quarantine, in file order.
    pub quarantined: Vec<Fragment>,
    /// The rules that it answers.
    pub answers: Vec<&'static Rule>,
    /// Findings at warning or above that stay, at their places in the file as it is now.
    pub left: Vec<Finding>,
    /// The text as it will be; its splices make it of the file.
    pub text: Text,
    /// Steps that were taken back, because they made something worse.
    pub taken_back: Vec<TakenBack>,
}

impl<S> Plan<S> {
    /// What was made, with the rules that it answers.
    pub(super) fn new(
        (before, after): (S, S),
        (edits, quarantined): (Vec<Planned>, Vec<Fragment>),
        left: Vec<Finding>,
        text: Text,
        taken_back: Vec<TakenBack>,
    ) -> Self {
        let mut answers: Vec<&'static Rule> = edits.iter().map(|e| e.edit.rule).collect();
        answers.sort_unstable();
        answers.dedup();
        Plan { before, after, edits, quarantined, answers, left, text, taken_back }
    }

    /// Whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

/// How often the rules are gone through. Each round answers what the one before brought to light; damage has few layers.
const ROUNDS: usize = 8;

/// How many further steps a step may take along that would make something worse alone.
const ALONG: usize = 6;

/// A session on its way: its text as the steps so far left it, and what it is then.
struct Stage {
    examined: Examined,
    text: Text,
    state: State,
    edits: Vec<Planned>,
    quarantined: Vec<Fragment>,
}

/// What steps are made with.
struct Planner<'a> {
    agent: &'static dyn Writer,
    before: &'a State,
    options: &'a Options,
    meter: &'a Meter,
}

/// Plans the repair of one session. Pure: the same bytes and options give the same plan.
///
/// # Errors
/// When the session's bytes cannot be read.
pub fn plan(examined: Examined, agent: &'static dyn Writer, options: &Options, meter: &Meter) -> io::Result<Plan> {
    let session = &examined.session;
    let base = session.source.clone();
    let before = state(&examined, options);
    let text = Text::new(&base);
    let mut now = Stage { examined, text, state: before.clone(), edits: Vec::new(), quarantined: Vec::new() };
    let (mut options, mut taken_back) = (options.clone(), Vec::new());
    for _ in 0..ROUNDS {
        // What can be read of lost pointers goes with the damage: a repair of the result reads what is there then.
        options.relink.legible = links::legible(&now.examined.session);
        let steps = now.edits.len();
        taken_back = Planner { agent, before: &before, options: &options, meter }.settle(&mut now)?;
        if now.edits.len() == steps {
            break;
        }
    }
    let Stage { text, state: after, mut edits, mut quarantined, .. } = now;
    places::number(&base, &mut edits, &mut quarantined)?;
    let mut left = stays(&after.findings, &options);
    if !edits.is_empty() {
        places::of_file(&base, &text, &mut left)?;
    }
    Ok(Plan::new((before, after), (edits, quarantined), left, text, taken_back))
}

impl Planner<'_> {
    /// Answers rule after rule as long as something changes. Returns what was taken back in the last round.
    fn settle(&self, now: &mut Stage) -> io::Result<Vec<TakenBack>> {
        let mut taken_back = Vec::new();
        for _ in 0..ROUNDS {
            let mut changed = false;
            // What failed before may hold now that something else is mended.
            taken_back.clear();
            for answer in answer::to_make(&now.state.findings, self.options, self.agent.answers()) {
                let mut failed = None;
                for way in self.ways(now, answer)? {
                    match self.taken(now, answer.rule, &way)? {
                        Ok(next) => {
                            (*now, failed, changed) = (next, None, true);
                            break;
                        }
                        Err(worse) => failed = failed.or(Some(worse)),
                    }
                }
                taken_back.extend(failed.map(|worse| TakenBack { rule: answer.rule, worse }));
            }
            if !changed {
                break;
            }
        }
        Ok(taken_back)
    }

    /// The ways to answer a rule that stay within what a repair may do. A rule of a gentle class may have an answer for
    /// some places that goes further; that takes that class.
    fn ways(&self, now: &Stage, answer: &Answer) -> io::Result<Vec<Way>> {
        let (examined, findings, rule) = (&now.examined, &*now.state.findings, answer.rule);
        let mut ways = made(
            answer,
            &Job { examined, agent: self.agent, rule, findings, options: self.options, made: &now.edits },
        )?;
        ways.retain(|way| way.iter().all(|e| e.class <= self.options.up_to));
        Ok(ways)
    }

    /// One way taken, with what it has to take along so that nothing is worse; else what it would make worse.
    fn taken(&self, now: &Stage, rule: &'static Rule, way: &[Edit]) -> io::Result<Result<Stage, Worse>> {
        let mut next = self.step(now, way)?;
        let decided = leaf::decides(&now.examined.session, &next.examined.session, &self.options.relink);
        let bound = Bound::of(way.iter()).or_decided(decided);
        let idle = idle(rule, way, now, &next).map(Worse::other);
        let unproven = leaf::unproven(rule, &next.examined.session, &self.options.relink).map(Worse::other);
        let Some(worse) = self.worse(now, &next, bound)?.or(unproven) else {
            if bound.is_decided()
                && let Some(gone) = no_longer(Seen(&now.state, &now.text), Seen(&next.state, &next.text))?
            {
                next.edits
                    .iter_mut()
                    .skip(now.edits.len())
                    .for_each(|e| e.edit.reason.push_str(&format!("; {}", gone.why)));
            }
            return Ok(idle.map_or(Ok(next), Err));
        };
        if !worse.may_be_mended() {
            return Ok(Err(worse));
        }
        let mut on = next;
        for _ in 0..ALONG {
            let Some(next) = self.along(now, &on)? else { break };
            if self.worse(now, &next, bound)?.is_none() {
                return Ok(Ok(next));
            }
            on = next;
        }
        Ok(Err(worse))
    }

    /// A further step that answers something which was not there before.
    fn along(&self, before: &Stage, now: &Stage) -> io::Result<Option<Stage>> {
        let (was, is) = (loud(&before.state.findings), loud(&now.state.findings));
        for answer in answer::to_make(&now.state.findings, self.options, self.agent.answers()) {
            let rule = answer.rule;
            if is.get(rule) <= was.get(rule) {
                continue;
            }
            for way in self.ways(now, answer)? {
                let next = self.step(now, &way)?;
                let worse = self.worse(now, &next, Bound::of(way.iter()))?;
                if worse.is_none() && idle(rule, &way, now, &next).is_none() {
                    return Ok(Some(next));
                }
            }
        }
        Ok(None)
    }

    fn worse(&self, now: &Stage, then: &Stage, bound: Bound) -> io::Result<Option<Worse>> {
        let mut seen = worse(Seen(&now.state, &now.text), Seen(&then.state, &then.text), bound)?;
        if let Some(worse) = seen.as_mut().filter(|w| w.about == About::Messages) {
            worse.leaf = leaf::instead(&now.examined.session, self.agent, &then.examined.session);
        }
        let gone = || tail_gone(&now.state, &then.examined.session, bound).or_else(|| emptied(&then.examined.session));
        Ok(seen.or_else(|| gone().map(Worse::other)))
    }

    /// Makes the edits of one way, and reads what comes of them.
    fn step(&self, now: &Stage, way: &[Edit]) -> io::Result<Stage> {
        if self.meter.stopped() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let splices: Vec<Splice> = way.iter().flat_map(|e| e.splices.iter().cloned()).collect();
        let text = now.text.spliced(&splices);
        let Session { path, shape, .. } = &now.examined.session;
        let mut examined = Examined::read(path.clone(), text.source(), self.agent, *shape, self.meter)?;
        let state = state_after(&mut examined, self.before, self.options);
        let (mut edits, mut quarantined) = (now.edits.clone(), now.quarantined.clone());
        for edit in way {
            // What an earlier step put in is no part of the file.
            for (offset, length) in edit.quarantined.iter().flat_map(|&(at, n)| now.text.stretches(at, n)) {
                quarantined.push(Fragment { offset, length, line: 0, rule: edit.rule });
            }
            edits.push(Planned { edit: edit.clone(), offset: now.text.in_file(edit.at), line: 0 });
        }
        Ok(Stage { examined, text, state, edits, quarantined })
    }
}

/// The findings that a report tells as left: those at warning or above.
pub(super) fn stays(findings: &[Finding], options: &Options) -> Vec<Finding> {
    findings.iter().filter(|f| f.severity >= Severity::Warning && options.gate.keeps(f)).cloned().collect()
}

/// Reads the state of a session: findings and verdict.
pub fn state(examined: &Examined, options: &Options) -> State {
    let session = &examined.session;
    let context = Context::new(examined, options.live, options.now, usize::MAX);
    let (mut findings, recovered) = rules::session_findings(&context);
    for finding in findings.iter_mut().filter(|f| f.is(&MISSING_PARENT)) {
        let parent = finding.missing_parent.as_ref().map(|parent| Id::of(parent.as_bytes()));
        if let Some((_, other)) = options.relink.elsewhere.iter().find(|(id, _)| Some(*id) == parent) {
            *finding = rules::chain::in_other_session(finding, other);
        }
    }
    let resume = rules::resume::judge(&context, &findings, recovered.as_ref());
    let (api, api_rules) = rules::api_verdict::api(&context, resume.verdict, &findings);
    let messages = session.chain.messages.iter().map(|&n| Back::of(session.record(n))).collect();
    let refused = session.chain.refusal.is_some();
    // sid-code takes a tail whose id is no string for one without.
    let tail = session
        .chain
        .leaf
        .map(|n| session.record(n))
        .filter(|r| r.has(flag::ID_STRING))
        .map(|r| r.id)
        .unwrap_or_default();
    let sent = examined.request.rows.iter().map(|row| session.record(row.record).id).collect();
    State { resume, mode: session.chain.mode, api, api_rules, findings, messages, sent, refused, tail }
}

/// How a session is after a repair. What is only now in its next request has no answer that speaks for it.
pub(super) fn state_after(examined: &mut Examined, before: &State, options: &Options) -> State {
    let Examined { session, request, .. } = &mut *examined;
    request.doubt(|n| before.sent.contains(&session.record(n).id));
    state(examined, options)
}

/// The ways in which a rule can be answered in a session; the first that makes nothing worse is taken.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn ways(job: &Job<'_>) -> io::Result<Vec<Way>> {
    answer::to(job.rule, job.agent.answers()).map_or_else(|| Ok(Vec::new()), |answer| made(answer, job))
}

fn made(answer: &Answer, job: &Job<'_>) -> io::Result<Vec<Way>> {
    match answer.how {
        How::Session(ways) => ways(job),
        How::Index(_) => Ok(Vec::new()),
    }
}

/// Ids that are made up and bring nothing back are so many lines changed for nothing: they are given together with the
/// link that needs them. What a message says is not changed for an answer that answers nothing.
/// A link that brings back nothing but results of no call is none that anyone needs.
fn idle(rule: &Rule, way: &[Edit], now: &Stage, next: &Stage) -> Option<String> {
    let (before, after) = (&now.state, &next.state);
    let read = way.iter().any(|e| e.evidence == Some(Evidence::Legible));
    let longer = after.messages.len() > before.messages.len();
    let of_use = |stage: &Stage| {
        let chain = &stage.examined.session.chain;
        chain.messages.len() - answers_to_nothing(&stage.examined.session.facts, &chain.messages).len()
    };
    let links = way.iter().any(|e| e.action == Action::SetParent && e.evidence != Some(Evidence::Decided));
    if links && longer && of_use(next) <= of_use(now) {
        return Some("it would bring back nothing but results of no call".to_owned());
    }
    if rule == &MISSING_ID && !read && !longer {
        return Some("ids that are made up would bring nothing back".to_owned());
    }
    let count = |state: &State| {
        let same = state.findings.iter().filter(|f| f.is(rule));
        same.map(|f| 1 + f.more.unwrap_or(0)).sum::<u64>()
    };
    // An id with odd bytes in it may not be found again under the text that was written for it.
    let answers = rule == &MISSING_PARENT || way.iter().any(|e| e.class == Fix::Content);
    (answers && !longer && count(after) >= count(before)).then(|| "it would still be there".to_owned())
}
