//! The one table from a rule to its answer: findings in, edits out.
//!
//! A rule with a fix class has an answer here, or one of the agents has it (`Writer::answers`); a test beside the list of
//! the agents holds both to the declared fix classes. An agent's own answer goes before the general one.

use std::io;

use super::agent::Writer;
use super::checkpoints::{self, IndexJob};
use super::edit::{Action, Edit};
use super::plan::{Options, Planned};
use super::text::Splice;
use super::{bytes, content, leaf, links};
use crate::finding::{Finding, Fix, Rule, Severity};
use crate::rules::checkpoints::{ID_COUNTER_BEHIND, STALE_LATEST_FULL, UNREADABLE_INDEX};
use crate::rules::{Examined, chain, lines, messages, tools};
use crate::session::Session;

/// Edits that are made together.
pub type Way = Vec<Edit>;

/// What edits are made from.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The session as it stands.
    pub examined: &'a Examined,
    /// Whose it is.
    pub agent: &'static dyn Writer,
    /// The rule to answer.
    pub rule: &'static Rule,
    /// All findings of the session.
    pub findings: &'a [Finding],
    /// What a repair may do.
    pub options: &'a Options,
    /// The edits that the plan has so far.
    pub made: &'a [Planned],
}

impl<'a> Job<'a> {
    /// The session as it stands.
    pub fn session(&self) -> &'a Session {
        &self.examined.session
    }

    /// The findings that are to be answered.
    pub fn asked(&self) -> impl Iterator<Item = &'a Finding> + use<'a> {
        let (rule, named) = (self.rule, self.options.gate.names(self.rule));
        self.findings.iter().filter(move |f| f.is(rule) && (named || f.severity >= Severity::Warning))
    }

    /// An edit that answers the rule.
    pub fn edit(&self, class: Fix, action: Action, at: u64, splices: Vec<Splice>) -> Edit {
        Edit::new(self.rule, class, action, at, splices)
    }
}

/// When a rule is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// When it is found at warning or above, or named by its code.
    Found,
    /// Only when it is named by its code, whatever its severity at a place: no loader of today loses anything by it.
    Named,
    /// When a person decided something about links.
    Decided,
}

/// What makes the edits.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// For a session: the ways in which it can be answered; the first that makes nothing worse is taken.
    Session(fn(&Job<'_>) -> io::Result<Vec<Way>>),
    /// For a checkpoint index.
    Index(fn(&IndexJob<'_>) -> io::Result<Way>),
}

/// The answer to one rule.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The rule.
    pub rule: &'static Rule,
    /// When it is answered.
    pub when: When,
    /// What makes the edits.
    pub how: How,
}

impl Answer {
    /// The answer to what is found in a session.
    pub const fn new(rule: &'static Rule, ways: fn(&Job<'_>) -> io::Result<Vec<Way>>) -> Self {
        Answer { rule, when: When::Found, how: How::Session(ways) }
    }

    /// The answer to what is found in a session, when a person names it.
    pub const fn named(rule: &'static Rule, ways: fn(&Job<'_>) -> io::Result<Vec<Way>>) -> Self {
        Answer { rule, when: When::Named, how: How::Session(ways) }
    }

    const fn index(rule: &'static Rule, way: fn(&IndexJob<'_>) -> io::Result<Way>) -> Self {
        Answer { rule, when: When::Found, how: How::Index(way) }
    }
}

/// What a person decides about links: it has the form of a stray leaf, unless a finding of the record says more.
static DECISION: Answer = Answer { rule: &chain::STRAY_LEAF, when: When::Decided, how: How::Session(leaf::ways) };

/// The answers that do not depend on whose session it is.
pub static ANSWERS: &[Answer] = &[
    Answer::new(&lines::TORN_TAIL, bytes::bad_lines),
    Answer::new(&lines::MISSING_FINAL_NEWLINE, bytes::terminate),
    Answer::new(&lines::SPLICED_LINE, bytes::bad_lines),
    Answer::new(&lines::GLUED_RECORDS, bytes::bad_lines),
    Answer::new(&lines::NUL_RUN, bytes::bad_lines),
    Answer::new(&lines::UNPARSABLE_LINE, bytes::bad_lines),
    Answer::new(&lines::SPLIT_RECORD, bytes::bad_lines),
    Answer::new(&lines::INVALID_UTF8, bytes::invalid_utf8),
    Answer::new(&lines::LONE_SURROGATE, bytes::surrogates),
    Answer::new(&lines::BYTE_ORDER_MARK, bytes::mark),
    Answer::new(&lines::NOT_AN_OBJECT, bytes::not_objects),
    Answer::new(&lines::RAW_LINE_SEPARATOR, bytes::separators),
    Answer::new(&chain::MISSING_PARENT, links::relinked),
    Answer::new(&chain::EXTRA_ROOT, links::relinked),
    Answer::new(&chain::SELF_PARENT, links::relinked),
    Answer::new(&chain::CYCLE, links::relinked),
    Answer::new(&chain::PARENT_AFTER_CHILD, links::relinked),
    Answer::new(&chain::REPEATED_RECORD, links::copies),
    Answer::new(&chain::MISSING_ID, links::relinked),
    Answer::new(&chain::SIDE_PARENT, links::relinked),
    Answer::new(&tools::ORPHAN_TOOL_USE, content::open_calls),
    Answer::new(&tools::DANGLING_TOOL_RESULT, content::results_alone),
    Answer::new(&tools::REPEATED_CALL_ID, content::repeated_calls),
    Answer::new(&tools::REPEATED_RESULT, content::blocks),
    Answer::new(&tools::DISPLACED_RESULT, content::displaced),
    Answer::new(&tools::INCOMPLETE_BLOCK, content::incomplete),
    Answer::new(&tools::INPUT_NOT_OBJECT, content::inputs),
    Answer::new(&tools::RESULT_OF_FAILED_TURN, content::blocks),
    Answer::new(&tools::SERVER_RESULT_ALONE, content::blocks),
    Answer::new(&messages::EMPTY_TEXT, content::empty_texts),
    Answer::new(&messages::BLANK_TEXT, content::blank_texts),
    Answer::new(&messages::EMPTY_CONTENT, content::empty),
    Answer::new(&messages::THINKING_ONLY, content::records),
    Answer::new(&messages::THINKING_MISPLACED, content::misplaced_thinking),
    Answer::new(&messages::BAD_SIGNATURE, content::signatures),
    Answer::new(&messages::MISLABELLED_MEDIA, content::labels),
    Answer::new(&messages::UNDECODABLE_MEDIA, content::media),
    Answer::new(&messages::OVERSIZED_MEDIA, content::media),
    Answer::new(&messages::UNSUPPORTED_MEDIA, content::media),
    Answer::new(&messages::BROKEN_DOCUMENT, content::media),
    Answer::new(&messages::WRONG_SHAPE, content::shapes),
    Answer::new(&messages::REQUEST_REFUSED, content::refusals),
    Answer::index(&UNREADABLE_INDEX, checkpoints::salvage),
    Answer::index(&STALE_LATEST_FULL, checkpoints::lookup),
    Answer::index(&ID_COUNTER_BEHIND, checkpoints::counter),
];

/// The answer to a rule: the agent's own before the general one.
pub fn to(rule: &'static Rule, own: &'static [Answer]) -> Option<&'static Answer> {
    own.iter().chain(ANSWERS).find(|answer| answer.rule == rule)
}

/// The answers that a repair of these options makes to these findings, in the order in which it makes them.
pub(super) fn to_make(findings: &[Finding], options: &Options, own: &'static [Answer]) -> Vec<&'static Answer> {
    let mut answers: Vec<(Fix, &'static Rule, &'static Answer)> = Vec::new();
    for finding in findings {
        let rule = finding.rule;
        let (Some(fix), Some(answer)) = (rule.fix, to(rule, own)) else { continue };
        let loud = finding.severity >= Severity::Warning && answer.when == When::Found;
        let asked = loud || options.gate.names(rule);
        let known = answers.iter().any(|(_, other, _)| *other == rule);
        if asked && !known && fix <= options.up_to && options.gate.keeps(finding) && !options.without.contains(&rule) {
            answers.push((fix, rule, answer));
        }
    }
    answers.sort_unstable_by_key(|(fix, rule, _)| (*fix, *rule));
    // A decision goes before what would be done without it.
    let before = answers.partition_point(|(fix, ..)| *fix < Fix::Links);
    let mut answers: Vec<&'static Answer> = answers.into_iter().map(|(.., answer)| answer).collect();
    if options.relink.decides() && options.up_to >= Fix::Links {
        answers.insert(before, &DECISION);
    }
    answers
}

/// One way, unless it is empty.
pub fn one(edits: Way) -> Vec<Way> {
    if edits.is_empty() { Vec::new() } else { vec![edits] }
}
