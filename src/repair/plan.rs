//! The plan: one value that a dry run prints and the commit executes.
//!
//! Codes are answered one after the other, bytes first, then links, then content, and again from the start as long as
//! something changes: a split line shows the record that a link needed. Each step is judged by reading the result.

use std::collections::BTreeMap;
use std::io;

use super::edit::Edit;
use super::links::Relink;
use super::text::{Splice, Text};
use super::{asked, bytes, content, links, places};
use crate::audit::{ApiVerdict, Resume, ResumeVerdict};
use crate::chain::Mode;
use crate::chain::heal::Evidence;
use crate::finding::{Fact, Finding, Fix, Severity};
use crate::record::facts::{Id, Kind, flag};
use crate::rules::gate::Gate;
use crate::rules::{self, Context};
use crate::session::Session;
use crate::store::meter::Meter;

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

/// What goes to quarantine: a stretch of the file.
#[derive(Clone, Debug)]
pub struct Quarantined {
    /// First byte in the file.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Physical line in the file.
    pub line: u64,
    /// The code it is about.
    pub code: &'static str,
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
    /// The findings that make that verdict.
    pub api_codes: Vec<&'static str>,
    /// Its findings, all places.
    pub findings: Vec<Finding>,
    /// The ids of the messages that come back, as keyed hashes, in order.
    pub(super) messages: Vec<Id>,
    /// The id that a running agent would append to.
    pub(super) tail: Id,
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
    pub quarantined: Vec<Quarantined>,
    /// The codes that it answers.
    pub answers: Vec<&'static str>,
    /// Findings at warning or above that stay, at their places in the file as it is now.
    pub left: Vec<Finding>,
    /// The text as it will be; its splices make it of the file.
    pub text: Text,
    /// Steps that were taken back, because they made something worse.
    pub taken_back: Vec<(&'static str, String)>,
}

impl<S> Plan<S> {
    /// What was made, with the codes that it answers.
    pub(super) fn new(
        (before, after): (S, S),
        (edits, quarantined): (Vec<Planned>, Vec<Quarantined>),
        left: Vec<Finding>,
        text: Text,
        taken_back: Vec<(&'static str, String)>,
    ) -> Self {
        let mut answers: Vec<&'static str> = edits.iter().map(|e| e.edit.code).collect();
        answers.sort_unstable();
        answers.dedup();
        Plan { before, after, edits, quarantined, answers, left, text, taken_back }
    }

    /// Whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

/// How often the codes are gone through. Each round answers what the one before brought to light; damage has few layers.
const ROUNDS: usize = 8;

/// Plans the repair of one session. Pure: the same bytes and options give the same plan.
///
/// # Errors
/// When the session's bytes cannot be read.
pub fn plan(session: Session, options: &Options, meter: &Meter) -> io::Result<Plan> {
    let base = session.source.clone();
    let (path, dialect, shape) = (session.path.clone(), session.dialect, session.shape);
    let before = state(&session, options);
    let options =
        &Options { relink: Relink { legible: links::legible(&session), ..options.relink.clone() }, ..options.clone() };
    let mut text = Text::new(&base);
    let (mut edits, mut taken_back): (Vec<Planned>, Vec<(&'static str, String)>) = (Vec::new(), Vec::new());
    let mut quarantined = Vec::new();
    let (mut session, mut now) = (session, before.clone());
    for _ in 0..ROUNDS {
        let mut changed = false;
        // What failed before may hold now that something else is mended.
        taken_back.clear();
        for code in to_answer(&now.findings, options) {
            let mut failed = None;
            // A code of a gentle class may have an answer for some places that goes further; that takes that class.
            let within = |way: &Vec<Edit>| way.iter().all(|e| e.class <= options.up_to);
            for way in ways(&session, code, &now.findings, options)?.into_iter().filter(within) {
                if meter.stopped() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let splices: Vec<Splice> = way.iter().flat_map(|e| e.splices.iter().cloned()).collect();
                let next = text.spliced(&splices);
                let read = Session::read(path.clone(), next.source(), dialect, shape, meter)?;
                let then = state(&read, options);
                let class = way.iter().map(|e| e.class).max();
                let worse =
                    worse(&now, &then, class).or_else(|| tail_gone(&now, &read, class)).or_else(|| emptied(&read));
                if let Some(worse) = worse.or_else(|| idle(code, &way, &now, &then)) {
                    failed.get_or_insert(worse);
                    continue;
                }
                for edit in way {
                    let offset = text.in_file(edit.at);
                    // What an earlier step put in is no part of the file.
                    for (offset, length) in edit.quarantined.iter().flat_map(|&(at, n)| text.stretches(at, n)) {
                        quarantined.push(Quarantined { offset, length, line: 0, code: edit.code });
                    }
                    edits.push(Planned { edit, offset, line: 0 });
                }
                (text, session, now, failed, changed) = (next, read, then, None, true);
                break;
            }
            if let Some(why) = failed {
                taken_back.push((code, why));
            }
        }
        if !changed {
            break;
        }
    }
    places::number(&base, &mut edits, &mut quarantined)?;
    let mut left = stays(&now.findings, options);
    if !edits.is_empty() {
        places::of_file(&base, &text, &mut left)?;
    }
    Ok(Plan::new((before, now), (edits, quarantined), left, text, taken_back))
}

/// The findings that a report tells as left: those at warning or above.
pub(super) fn stays(findings: &[Finding], options: &Options) -> Vec<Finding> {
    findings.iter().filter(|f| f.severity >= Severity::Warning && options.gate.keeps(f)).cloned().collect()
}

/// Reads the state of a session: findings and verdict.
pub fn state(session: &Session, options: &Options) -> State {
    let context = Context { session, live: options.live, now: options.now, places: usize::MAX };
    let (mut findings, healed) = rules::session_findings(&context);
    for finding in findings.iter_mut().filter(|f| f.rule.code == "C201") {
        let parent = finding.facts.iter().find_map(|(name, fact)| match fact {
            Fact::Word(parent) if *name == "missing_parent" => Some(Id::of(parent.as_bytes())),
            _ => None,
        });
        if let Some((_, other)) = options.relink.elsewhere.iter().find(|(id, _)| Some(*id) == parent) {
            *finding = rules::chain::in_other_session(finding, other);
        }
    }
    let resume = rules::resume::judge(&context, &findings, healed.as_ref());
    let (api, api_codes) = rules::legal::api(&context, &findings);
    let messages = session.chain.messages.iter().map(|&n| session.record(n).id).collect();
    // sid-code takes a tail whose id is no string for one without.
    let tail = session
        .chain
        .leaf
        .map(|n| session.record(n))
        .filter(|r| r.has(flag::ID_STRING))
        .map(|r| r.id)
        .unwrap_or_default();
    State { resume, mode: session.chain.mode, api, api_codes, findings, messages, tail }
}

/// The codes that a repair of these options answers, in the order in which they are answered.
pub(super) fn to_answer(findings: &[Finding], options: &Options) -> Vec<&'static str> {
    let mut codes: Vec<(Fix, &'static str)> = findings
        .iter()
        .filter_map(|f| f.rule.fix.map(|fix| (fix, f)))
        .filter(|(fix, f)| {
            *fix <= options.up_to
                && options.gate.keeps(f)
                && (options.gate.names(f.rule.code)
                    || (f.severity >= Severity::Warning && !asked::BY_NAME.contains(&f.rule.code)))
        })
        .map(|(fix, f)| (fix, f.rule.code))
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes.into_iter().map(|(_, code)| code).collect()
}

fn ways(session: &Session, code: &'static str, findings: &[Finding], options: &Options) -> io::Result<Vec<Vec<Edit>>> {
    let edits = bytes::edits(session, code)?;
    if !edits.is_empty() {
        return Ok(vec![edits]);
    }
    let ways = links::ways(session, code, &options.relink)?;
    if !ways.is_empty() {
        return Ok(ways);
    }
    content::ways(session, code, findings, options.answer_orphans)
}

/// What a step made worse, if anything (law 10): a message fewer, the tail gone, a finding at warning or above that was
/// not there. What a longer chain brings to light of its own messages was there before, and is no loss.
pub(super) fn worse(before: &State, after: &State, class: Option<Fix>) -> Option<String> {
    let gentle = class.is_none_or(|c| c <= Fix::Links);
    if gentle && after.messages.len() < before.messages.len() {
        return Some(format!("{} of {} messages would come back", after.messages.len(), before.messages.len()));
    }
    if gentle && before.resume.verdict != ResumeVerdict::None && after.resume.verdict == ResumeVerdict::None {
        return Some("the session would no longer load".to_owned());
    }
    let longer = after.messages.len() > before.messages.len();
    let counts = |state: &State| {
        let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
        for f in state.findings.iter().filter(|f| f.severity >= Severity::Warning) {
            *counts.entry(f.rule.code).or_default() += 1 + f.more.unwrap_or(0);
        }
        counts
    };
    let was = counts(before);
    counts(after).into_iter().find_map(|(code, n)| {
        let uncovered = longer && matches!(code.as_bytes().first(), Some(b'T' | b'M' | b'S'));
        (n > was.get(code).copied().unwrap_or(0) && !uncovered).then(|| format!("{code} would be new"))
    })
}

/// Ids that are made up and bring nothing back are so many lines changed for nothing: they are given together with the
/// link that needs them. What a message says is not changed for an answer that answers nothing.
fn idle(code: &str, way: &[Edit], before: &State, after: &State) -> Option<String> {
    let read = way.iter().any(|e| e.evidence == Some(Evidence::Legible));
    let longer = after.messages.len() > before.messages.len();
    if code == "C209" && !read && !longer {
        return Some("ids that are made up would bring nothing back".to_owned());
    }
    let count = |state: &State| {
        let same = state.findings.iter().filter(|f| f.rule.code == code);
        same.map(|f| 1 + f.more.unwrap_or(0)).sum::<u64>()
    };
    // An id with odd bytes in it may not be found again under the text that was written for it.
    let answers = code == "C201" || way.iter().any(|e| e.class == Fix::Content);
    (answers && !longer && count(after) >= count(before)).then(|| "it would still be there".to_owned())
}

/// Whether a step leaves no record that a loader knows: that file is no session, or one of which nothing can be won, and
/// in both cases its bytes are worth more than what the step would make of them.
pub(super) fn emptied(after: &Session) -> Option<String> {
    let known = |kind: Kind| !matches!(kind, Kind::NonObject | Kind::Other);
    let left = after.facts.records.iter().any(|record| known(record.kind));
    (!left).then(|| "no record would be left in the file".to_owned())
}

/// The id that a running agent would append to has to survive every repair up to `links`: its next record names it.
pub(super) fn tail_gone(before: &State, after: &Session, class: Option<Fix>) -> Option<String> {
    let gentle = class.is_none_or(|c| c <= Fix::Links);
    let there = before.tail.is_none() || after.graph.find(before.tail, &after.facts).is_some();
    (gentle && !there).then(|| "the record that a running agent would append to would be gone".to_owned())
}
