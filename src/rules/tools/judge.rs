//! Which calls and results are out of order, and how much that weighs for the agent in question.

use std::collections::HashSet;

use super::cause::Causes;
use super::held::Held;
use super::split_pairs::{Split, left_behind};
use super::{
    DANGLING_TOOL_RESULT, DISPLACED_RESULT, INCOMPLETE_BLOCK, INPUT_NOT_OBJECT, ORPHAN_TOOL_USE,
    PAIR_SPLIT_BY_BOUNDARY, REPEATED_CALL_ID, REPEATED_RESULT, RESULT_OF_FAILED_TURN, effects,
};
use crate::finding::Finding;
use crate::record::facts::{BlockKind, block, flag};
use crate::request::pairing::is_nameless;
use crate::request::pairing::{Again, Call, NONE, Pairing, State};
use crate::request::{CleanupPass, IdMap, Role};
use crate::rules::api_verdict::{self, Case, Does, IN_FLIGHT, NOTED, REFUSED, Treatment, Weight, healed};
use crate::rules::{Collector, Context, counted};

/// The cases of one session, and what their words need.
pub(super) struct Judged {
    pub(super) cases: Vec<Case>,
    pub(super) pairing: Pairing,
    pub(super) held: Held,
    /// Turns from this one on are the tail: only results of the last response follow.
    last_turn: u32,
}

impl Judged {
    pub(super) fn new(context: &Context<'_>) -> Judged {
        let session = context.session;
        let sent = context.request;
        let pairing = if sent.rows.is_empty() { Pairing::default() } else { Pairing::new(session, sent) };
        let model = |r: &&crate::request::Row| matches!(sent.role(session, r.record), Role::Model(_));
        let last = sent.rows.iter().rev().find(model).map_or(u32::MAX, |r| r.turn);
        let ends = sent.rows.last().is_some_and(|r| r.turn <= last.saturating_add(1));
        let mut judged =
            Judged { cases: Vec::new(), pairing, held: Held::default(), last_turn: if ends { last } else { u32::MAX } };
        let split = context.agent.split_pairs(context, &judged.pairing);
        if sent.throws.is_none() {
            judged.pairs(context, &split);
        }
        judged.blocks(context);
        judged.cases.extend(split.cases);
        judged
    }

    /// Whether a call stands in the last response, with nothing behind it but results.
    fn at_tail(&self, context: &Context<'_>, call: &Call) -> bool {
        context.request.rows[call.row as usize].turn == self.last_turn
    }

    /// Whether a case is about a call in the last response.
    pub(super) fn is_tail(&self, context: &Context<'_>, case: &Case) -> bool {
        self.pairing.calls.get(case.detail as usize).is_some_and(|call| self.at_tail(context, call))
    }

    fn pairs(&mut self, context: &Context<'_>, split: &Split) {
        let (sent, agent) = (context.request, context.agent);
        if self.pairing.is_clean() {
            return;
        }
        let record = |row: u32| sent.rows[row as usize].record;
        let by_id = agent.pairs_by_id();
        let pairing = &self.pairing;
        let answered: IdMap<()> = pairing.calls.iter().filter(|c| pairing.is_answered(c)).map(|c| (c.id, ())).collect();
        let mut cases = Vec::new();
        for (number, call) in (0..).zip(&pairing.calls) {
            let at = |rule, treatment| Case::new(rule, treatment, record(call.row), call.block).with(number);
            match call.again {
                Again::SameTurn(_) => cases.push(at(&REPEATED_CALL_ID, agent.repeated_call())),
                Again::EarlierTurn(_) if agent.repeats_matter(sent.api) => {
                    cases.push(at(&REPEATED_CALL_ID, agent.repeated_call()));
                }
                _ => {}
            }
            // An id that one turn calls twice is told as that.
            let once = match call.again {
                Again::New => true,
                Again::SameTurn(_) => false,
                Again::EarlierTurn(_) => !by_id,
            };
            if !once || pairing.is_answered(call) || (by_id && answered.contains_key(&call.id)) {
                continue;
            }
            let tail = self.at_tail(context, call);
            let open = agent.open_call(context, call, tail);
            cases.push(match open {
                _ if split.calls.contains(&(record(call.row), call.id)) => at(&PAIR_SPLIT_BY_BOUNDARY, open),
                _ if context.live && tail => at(&ORPHAN_TOOL_USE, (Weight::InFlight, Does::NotSent)),
                _ => at(&ORPHAN_TOOL_USE, open),
            });
        }
        for (number, result) in (0..).zip(&pairing.results) {
            let of = |rule| (rule, agent.stray_result(sent, result));
            let (rule, treatment) = match result.state {
                State::Paired => continue,
                State::After | State::Before => of(&DISPLACED_RESULT),
                State::Repeated => of(&REPEATED_RESULT),
                State::OfFailed(_) => of(&RESULT_OF_FAILED_TURN),
                State::Dangling if split.results.contains(&(record(result.row), result.id)) => {
                    (&PAIR_SPLIT_BY_BOUNDARY, REFUSED)
                }
                State::Dangling => of(&DANGLING_TOOL_RESULT),
            };
            cases.push(Case::new(rule, treatment, record(result.row), result.block).with(number));
        }
        self.cases = cases;
    }

    /// Blocks that are incomplete by themselves, on the chain and off it.
    fn blocks(&mut self, context: &Context<'_>) {
        let session = context.session;
        let sent = context.request;
        let left_behind = left_behind(context);
        // An integrity check compares ids of other types too, and a half that has one is sent alone.
        let alone: HashSet<(u32, u32)> = match &sent.integrity {
            Some([_, cleaned]) => cleaned.orphans.iter().chain(&cleaned.dangling).copied().collect(),
            None => HashSet::new(),
        };
        let mut on_chain = vec![false; session.facts.records.len()];
        for (row, r) in (0..).zip(&sent.rows) {
            on_chain[r.record as usize] = true;
            for (place, b) in (0..).zip(sent.blocks(&session.facts, r.record)) {
                if !matches!(b.kind, BlockKind::Call | BlockKind::Result) || b.flags == 0 {
                    continue;
                }
                let fate = sent.fate(row, place).filter(|&l| l != CleanupPass::UnansweredPrompt);
                let gone = sent.throws.is_some() || fate == Some(CleanupPass::FailedTurns);
                if b.flags & (block::NO_ID | block::NO_NAME) != 0 {
                    let behind = left_behind.get(&row).copied();
                    let treatment = match fate {
                        _ if gone => NOTED,
                        Some(_) if behind.is_some() && is_nameless(b) => LEFT_BEHIND,
                        None if alone.contains(&(row, place)) => match sent.fate(row, place) {
                            Some(_) => LEFT_BEHIND,
                            None => SENT_ALONE,
                        },
                        Some(_) => healed("{loader} drops the whole message"),
                        None => REFUSED,
                    };
                    let case = Case::new(&INCOMPLETE_BLOCK, treatment, r.record, place);
                    self.cases.push(case.with(behind.unwrap_or(NONE)));
                }
                if b.kind == BlockKind::Call && b.flags & block::INPUT_OTHER != 0 {
                    let treatment = if gone { NOTED } else { context.agent.bad_input(b, fate.is_some()) };
                    self.cases.push(Case::new(&INPUT_NOT_OBJECT, treatment, r.record, place));
                }
            }
        }
        for (n, record) in (0..).zip(&session.facts.records).filter(|(n, _)| !on_chain[*n as usize]) {
            for (place, b) in (0..).zip(session.facts.blocks_of(record)) {
                let call = b.kind == BlockKind::Call;
                if (call && b.flags & (block::NO_ID | block::NO_NAME) != 0)
                    || (b.kind == BlockKind::Result && b.flags & block::NO_ID != 0)
                {
                    self.cases.push(Case::new(&INCOMPLETE_BLOCK, NOTED, n, place));
                }
                if call && b.flags & block::INPUT_OTHER != 0 {
                    self.cases.push(Case::new(&INPUT_NOT_OBJECT, NOTED, n, place));
                }
            }
        }
    }

    /// Calls off the chain that nothing in the file answers: one note for all of them. They are in no request, but what
    /// they did was done.
    pub(super) fn off_chain(&self, context: &Context<'_>, found: &mut Collector) {
        let session = context.session;
        let facts = &session.facts;
        if session.chain.refusal.is_some() {
            return;
        }
        let mut on_chain = vec![false; facts.records.len()];
        for &n in session.chain.adopted.iter().chain(context.request.rows.iter().map(|r| &r.record)) {
            on_chain[n as usize] = true;
        }
        if on_chain.iter().all(|&on| on) {
            return;
        }
        let results = facts.blocks.iter().filter(|b| b.kind == BlockKind::Result).map(|b| (b.id, ()));
        let results: IdMap<()> = results.collect();
        let open = |n: u32| {
            let calls = facts.blocks_of(session.record(n)).iter();
            calls.filter(|b| b.kind == BlockKind::Call && b.flags & block::NO_ID == 0 && !results.contains_key(&b.id))
        };
        let left = (0..facts.records.len() as u32)
            .filter(|&n| !on_chain[n as usize] && !session.record(n).any(flag::SIDECHAIN | flag::FAILED));
        let (mut first, mut count) = (None, 0);
        for n in left {
            let calls = open(n).count() as u64;
            count += calls;
            if calls > 0 {
                first.get_or_insert(n);
            }
        }
        if let Some(first) = first {
            let loader = context.loader();
            found.add(
                ORPHAN_TOOL_USE
                    .at(context.place(first))
                    .severity(crate::finding::Severity::Info)
                    .cause("nowhere")
                    .effect(format!("{loader} does not send {}: off the chain", counted(count, "open call")))
                    .count(count),
            );
        }
    }

    /// The words of a case.
    pub(super) fn word(&self, context: &Context<'_>, causes: &Causes, case: &Case, finding: Finding) -> Finding {
        let session = context.session;
        let names = &session.facts.names;
        let sent = context.request;
        let blocks = sent.blocks(&session.facts, case.record);
        let b = blocks.get(case.block as usize).copied().unwrap_or_default();
        let mut finding = finding;
        if let Some(id) = self.held.id(context, case.record, case.block).filter(|id| !id.is_empty()) {
            finding = finding.fact("call_id", &id);
        }
        if b.kind == BlockKind::Call && b.name != 0 {
            finding = finding.fact("tool", names.text(b.name));
        }
        let line = |row: u32| session.record(sent.rows[row as usize].record).line;
        if case.rule == &ORPHAN_TOOL_USE {
            let call = &self.pairing.calls[case.detail as usize];
            let class = context.agent.tools().class(&names.text(b.name));
            finding = finding.fact("side_effect", class.name());
            if class == effects::SideEffect::FileWrite
                && let Some(kept) = context.agent.snapshot(session, &self.held, case.record, u32::from(b.index))
            {
                finding = finding.fact("snapshot", kept);
            }
            finding = finding.fact("position", if self.at_tail(context, call) { "tail" } else { "mid-chain" });
            if case.weight == Weight::InFlight {
                finding = finding.fact(IN_FLIGHT.0, IN_FLIGHT.1);
            }
        } else if let Some(result) = self.pairing.results.get(case.detail as usize)
            && b.kind == BlockKind::Result
            && case.detail != NONE
        {
            if result.call != NONE {
                finding = finding.fact("call_line", line(self.pairing.calls[result.call as usize].row));
            }
            if let State::OfFailed(row) = result.state {
                finding = finding.fact("failed_turn_line", line(row));
            }
            if result.state == State::Repeated && result.call != NONE {
                let first = self.pairing.calls[result.call as usize].answer;
                if first != NONE {
                    finding = finding.fact("first_result_line", line(self.pairing.results[first as usize].row));
                }
            }
        } else if b.kind == BlockKind::Call
            && let Some(call) = self.pairing.calls.get(case.detail as usize)
            && let Again::SameTurn(first) | Again::EarlierTurn(first) = call.again
        {
            finding = finding.fact("first_call_line", line(self.pairing.calls[first as usize].row));
        }
        if let Some(line) = causes.other_half(context, case) {
            finding = finding.fact("other_half_line", line);
        }
        finding.cause(causes.of(context, self, case)).effect(effect(context, case))
    }
}

/// The agent drops the message of an incomplete block, and the other half of its pair stays.
const LEFT_BEHIND: Treatment =
    (Weight::Breaks, Does::Says("{loader} drops the message; what belonged to it stays behind and is sent alone"));

/// The agent takes whatever stands in an incomplete block's id for an id.
const SENT_ALONE: Treatment = (
    Weight::Breaks,
    Does::Says("{loader} compares whatever stands in the id's place, finds no other half, and sends it"),
);

fn effect(context: &Context<'_>, case: &Case) -> String {
    match case.weight {
        Weight::Noted if context.request.ended => context.says("{loader} never takes an ended subagent up again"),
        Weight::InFlight => {
            context.says("the tool is running, or its result is being written; {loader} has nothing to send yet")
        }
        Weight::Noted => api_verdict::effect(context, case.rule, Does::NotSent),
        _ => api_verdict::effect(context, case.rule, case.does),
    }
}
