//! Which calls and results are out of order, and how much that weighs for the agent in question.

use std::collections::HashSet;

use super::cause::Causes;
use super::halves::{Split, left_behind, torn_preserve};
use super::held::Held;
use super::{
    DANGLING_TOOL_RESULT, DISPLACED_RESULT, INCOMPLETE_BLOCK, INPUT_NOT_OBJECT, ORPHAN_TOOL_USE,
    PAIR_SPLIT_BY_BOUNDARY, REPEATED_CALL_ID, REPEATED_RESULT, RESULT_OF_FAILED_TURN, effects,
};
use crate::dialect::Dialect;
use crate::finding::Finding;
use crate::record::facts::{BlockKind, block, flag};
use crate::request::pairing::is_nameless;
use crate::request::pairing::{Again, Call, NONE, Pairing, State};
use crate::request::{Api, CleanupPass, IdMap, Role, WHOLE};
use crate::rules::legal::{Case, IN_FLIGHT, REFUSED, Weight, as_it_stands};
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
        if sent.throws.is_none() {
            judged.pairs(context);
        }
        judged.blocks(context);
        judged.preserved(context);
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

    fn pairs(&mut self, context: &Context<'_>) {
        let session = context.session;
        let (sent, dialect) = (context.request, session.dialect);
        if self.pairing.is_clean() {
            return;
        }
        let record = |row: u32| sent.rows[row as usize].record;
        let split = Split::new(context, &self.pairing);
        let pairing = &self.pairing;
        let answered: IdMap<()> = pairing.calls.iter().filter(|c| pairing.is_answered(c)).map(|c| (c.id, ())).collect();
        let mut cases = Vec::new();
        for (number, call) in (0..).zip(&pairing.calls) {
            let at = |rule, weight| Case::new(rule, weight, record(call.row), call.block).with(number);
            match call.again {
                Again::SameTurn(_) => cases.push(at(&REPEATED_CALL_ID, Weight::Refused)),
                Again::EarlierTurn(_) if repeats_matter(dialect, sent.api) => {
                    cases.push(at(&REPEATED_CALL_ID, Weight::Refused));
                }
                _ => {}
            }
            // An id that one turn calls twice is told as that. sid-code's check counts an id once, and takes a call for
            // answered when any call of its id is.
            let once = match call.again {
                Again::New => true,
                Again::SameTurn(_) => false,
                Again::EarlierTurn(_) => dialect != Dialect::Sid,
            };
            let open =
                once && !pairing.is_answered(call) && !(dialect == Dialect::Sid && answered.contains_key(&call.id));
            if open {
                let weight = self.open_weight(context, call);
                if split.omits_result_of(record(call.row), call.id) {
                    cases.push(at(&PAIR_SPLIT_BY_BOUNDARY, Weight::Healed));
                } else {
                    cases.push(at(&ORPHAN_TOOL_USE, weight));
                }
            }
        }
        for (number, result) in (0..).zip(&pairing.results) {
            let at = |rule, weight| Case::new(rule, weight, record(result.row), result.block).with(number);
            let heals = dialect == Dialect::Openclaw;
            let weight = Weight::sent(heals);
            match result.state {
                State::Paired => {}
                State::After | State::Before => cases.push(at(&DISPLACED_RESULT, weight)),
                State::Repeated => cases.push(at(&REPEATED_RESULT, weight)),
                State::OfFailed(_) if heals => cases.push(at(&RESULT_OF_FAILED_TURN, Weight::Warned)),
                State::OfFailed(_) => cases.push(at(&RESULT_OF_FAILED_TURN, Weight::Refused)),
                State::Dangling if split.omits_call_of(record(result.row), result.id) => {
                    cases.push(at(&PAIR_SPLIT_BY_BOUNDARY, Weight::Refused));
                }
                State::Dangling if dialect == Dialect::Sid => {
                    let dropped = sent.fate(result.row, result.block).is_some();
                    cases.push(at(&DANGLING_TOOL_RESULT, if dropped { Weight::Healed } else { Weight::Breaks }));
                }
                State::Dangling => cases.push(at(&DANGLING_TOOL_RESULT, weight)),
            }
        }
        self.cases = cases;
    }

    fn open_weight(&self, context: &Context<'_>, call: &Call) -> Weight {
        let sent = context.request;
        match context.session.dialect {
            _ if context.live && self.at_tail(context, call) => Weight::Noted,
            // The cleaning looks at results of any message, the integrity check at those of the user.
            Dialect::Sid if sent.fate(call.row, call.block).is_none() => Weight::Breaks,
            Dialect::Claude if !self.at_tail(context, call) => Weight::Refused,
            _ => Weight::Healed,
        }
    }

    /// Blocks that are incomplete by themselves, on the chain and off it.
    fn blocks(&mut self, context: &Context<'_>) {
        let session = context.session;
        let sent = context.request;
        let left_behind = left_behind(context);
        // Ids of other types are compared by sid-code too, and a half that has one is sent alone.
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
                    let weight = match fate {
                        _ if gone => Weight::Noted,
                        Some(_) if behind.is_some() && is_nameless(b) => Weight::Breaks,
                        None if alone.contains(&(row, place)) => Weight::Breaks,
                        fate => Weight::sent(fate.is_some()),
                    };
                    self.cases.push(Case::new(&INCOMPLETE_BLOCK, weight, r.record, place).with(behind.unwrap_or(NONE)));
                }
                if b.kind == BlockKind::Call && b.flags & block::INPUT_OTHER != 0 {
                    let filled = session.dialect == Dialect::Pi && b.flags & block::EMPTY != 0;
                    let weight = if gone { Weight::Noted } else { Weight::sent(fate.is_some() || filled) };
                    self.cases.push(Case::new(&INPUT_NOT_OBJECT, weight, r.record, place));
                }
            }
        }
        for (n, record) in (0..).zip(&session.facts.records).filter(|(n, _)| !on_chain[*n as usize]) {
            for (place, b) in (0..).zip(session.facts.blocks_of(record)) {
                let call = b.kind == BlockKind::Call;
                if (call && b.flags & (block::NO_ID | block::NO_NAME) != 0)
                    || (b.kind == BlockKind::Result && b.flags & block::NO_ID != 0)
                {
                    self.cases.push(Case::new(&INCOMPLETE_BLOCK, Weight::Noted, n, place));
                }
                if call && b.flags & block::INPUT_OTHER != 0 {
                    self.cases.push(Case::new(&INPUT_NOT_OBJECT, Weight::Noted, n, place));
                }
            }
        }
    }

    /// Claude Code: messages that a boundary keeps by name, without the other half of a call among them or behind it.
    fn preserved(&mut self, context: &Context<'_>) {
        let session = context.session;
        if session.dialect != Dialect::Claude {
            return;
        }
        for &n in session.chain.adopted.iter().filter(|&&n| session.record(n).has(flag::BOUNDARY | flag::PRESERVES)) {
            if let Some(half) = torn_preserve(session, &self.pairing, n) {
                self.cases.push(Case::new(&PAIR_SPLIT_BY_BOUNDARY, Weight::Warned, n, WHOLE).with(half));
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
            let loader = session.dialect.loader();
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
        if std::ptr::eq(case.rule, &ORPHAN_TOOL_USE) {
            let call = &self.pairing.calls[case.detail as usize];
            let class = effects::class(session.dialect, &names.text(b.name));
            finding = finding.fact("side_effect", class.name());
            if class == effects::SideEffect::FileWrite
                && let Some(kept) = effects::snapshot(session, &self.held, case.record, u32::from(b.index))
            {
                finding = finding.fact("snapshot", kept);
            }
            finding = finding.fact("position", if self.at_tail(context, call) { "tail" } else { "mid-chain" });
            if case.weight == Weight::Noted && !sent.ended {
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
        finding.cause(causes.of(context, self, case)).effect(self.effect(context, case))
    }

    fn effect(&self, context: &Context<'_>, case: &Case) -> String {
        let session = context.session;
        let loader = session.dialect.loader();
        let side = session.shape == crate::session::Shape::Sidechain;
        match (case.rule.code, case.weight, session.dialect) {
            (_, Weight::Noted, _) if context.request.ended => {
                format!("{loader} never takes an ended subagent up again")
            }
            (_, Weight::Noted, _) if case.rule.code == "T301" => {
                format!("the tool is running, or its result is being written; {loader} has nothing to send yet")
            }
            (_, Weight::Noted, _) => format!("{loader} does not send it"),
            ("T301", Weight::Healed, Dialect::Sid) if side => {
                format!("{loader} leaves the call out when it puts the subagent's history together")
            }
            ("T301", Weight::Healed, Dialect::Sid) => {
                format!("{loader} drops the call when it loads: the model does not know that it was made")
            }
            ("T301", Weight::Healed, Dialect::Claude) => {
                format!(
                    "{loader} brings it back open; clients make up an error result for a call at the end, and what the tool did is lost to the model"
                )
            }
            ("T301" | "T308", Weight::Healed, _) => {
                format!("{loader} makes up an error result; the tool's own answer is lost to the model")
            }
            ("T301", _, Dialect::Sid) => format!("{loader} keeps the call and sends it without a result"),
            ("T302", Weight::Healed, Dialect::Sid) => {
                format!("{loader} drops the message that holds it, for another block in it")
            }
            ("T302", Weight::Healed, _) => format!("{loader} drops the result before it sends"),
            ("T302", _, Dialect::Sid) => {
                format!("{loader} keeps the result and sends it; its own check writes a violation dump")
            }
            ("T303", _, Dialect::Openclaw) => {
                format!("{loader} keeps one result per id and sends the later call without its own")
            }
            ("T304", Weight::Healed, _) => format!("{loader} keeps the first result"),
            ("T305", Weight::Healed, _) => format!("{loader} moves the result next to its call"),
            ("T305", _, Dialect::Pi) => {
                as_it_stands(context, "an error result is made up for the call and the real one comes after it: 400")
            }
            ("T306", Weight::Breaks, _) if sent_alone(context, case) => {
                format!("{loader} compares whatever stands in the id's place, finds no other half, and sends it")
            }
            ("T306", Weight::Breaks, _) => {
                format!("{loader} drops the message; what belonged to it stays behind and is sent alone")
            }
            ("T306", Weight::Healed, _) => format!("{loader} drops the whole message"),
            ("T307", Weight::Healed, Dialect::Pi) => format!("{loader} sends an empty input in its place"),
            ("T307", Weight::Healed, _) => format!("{loader} drops the call, which has no result"),
            ("T308", Weight::Warned, _) => {
                format!("Claude Code splices the kept messages in and sends half a pair; {loader} leaves them out")
            }
            ("T309", Weight::Warned, _) => {
                format!("{loader} keeps both through its pairing; what its request builder drops was not run")
            }
            ("T309", ..) => as_it_stands(context, "its turn is left out, so the API answers 400 to every prompt"),
            _ => as_it_stands(context, REFUSED),
        }
    }
}

/// Whether the block of a case is in the request itself.
fn sent_alone(context: &Context<'_>, case: &Case) -> bool {
    let sent = context.request;
    let row = sent.rows.iter().position(|r| r.record == case.record);
    row.is_some_and(|row| sent.fate(row as u32, case.block).is_none())
}

/// Whether an id that is called again in a later turn is a defect. Anthropic wants ids unique in a request; pi's own
/// pairing is by turn, and it sends such histories to any provider (h06); OpenClaw loses a result over it.
fn repeats_matter(dialect: Dialect, api: Api) -> bool {
    match dialect {
        Dialect::Claude | Dialect::Openclaw => true,
        Dialect::Sid => api == Api::Anthropic,
        Dialect::Pi => false,
    }
}
