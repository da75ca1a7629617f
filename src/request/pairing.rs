//! Calls and their results, paired as the next request has them: by turn, after the rows of one response are merged.
//!
//! First come, first served, and a call id may come again in a later turn: the result belongs to the latest call of that
//! id. Which of the states below is a defect, for whom, and who heals it, is left to `rules::tools`.

use super::{IdMap, Request, Role, WHOLE};
use crate::record::facts::{Block, BlockKind, block};
use crate::record::read::falsy_ids;
use crate::session::Session;

/// No such call or result.
pub const NONE: u32 = u32::MAX;

/// A call of the model.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its row in [`Request::rows`].
    pub row: u32,
    /// Its place in the row's blocks.
    pub block: u32,
    /// Its id.
    pub id: u64,
    /// Its result's place in [`Pairing::results`], or [`NONE`].
    pub answer: u32,
    /// The same id was called before.
    pub again: Again,
}

/// Whether a call's id was used before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Again {
    /// It was not.
    New,
    /// By a call of the same turn: its place in [`Pairing::calls`].
    SameTurn(u32),
    /// By a call of an earlier turn.
    EarlierTurn(u32),
}

/// A tool's result.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Its row in [`Request::rows`].
    pub row: u32,
    /// Its place in the row's blocks.
    pub block: u32,
    /// The id of the call it answers.
    pub id: u64,
    /// The call's place in [`Pairing::calls`], or [`NONE`].
    pub call: u32,
    /// How it stands to it.
    pub state: State,
}

/// How a result stands to its call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// In the turn right behind it.
    Paired,
    /// Behind it, with another turn between.
    After,
    /// Before it.
    Before,
    /// The call was answered before.
    Repeated,
    /// The call is one of a turn that failed and is not sent: that turn's row.
    OfFailed(u32),
    /// There is no such call.
    Dangling,
}

/// All calls and results of the next request, in order.
#[derive(Debug, Default)]
pub struct Pairing {
    /// The calls.
    pub calls: Vec<Call>,
    /// The results.
    pub results: Vec<Answer>,
}

impl Pairing {
    /// Pairs what the session's agent would send, its cleaning apart.
    pub fn new(session: &Session, sent: &Request) -> Pairing {
        let mut made = Making::default();
        for (row, r) in (0..).zip(&sent.rows) {
            let record = session.record(r.record);
            let role = sent.agent.role(&session.facts, record);
            let user = sent.agent.may_answer(record);
            for (place, b) in (0..).zip(sent.blocks(&session.facts, r.record)) {
                if b.flags & block::NO_ID != 0 {
                    continue;
                }
                match b.kind {
                    BlockKind::Call if role == Role::Failed => drop(made.failed.insert(b.id, row)),
                    BlockKind::Call if matches!(role, Role::Model(_)) => made.call(sent, row, place, b.id),
                    BlockKind::Result if user => made.result(sent, row, place, b.id),
                    _ => {}
                }
            }
        }
        made.finish()
    }

    /// Whether nothing of the session's calls is out of order.
    pub fn is_clean(&self) -> bool {
        self.calls.iter().all(|c| c.answer != NONE && c.again == Again::New)
            && self.results.iter().all(|r| r.state == State::Paired)
    }

    /// Whether a call, or one with its id in the same turn, has a result.
    pub fn is_answered(&self, call: &Call) -> bool {
        match call.again {
            Again::SameTurn(first) => self.calls[first as usize].answer != NONE,
            _ => call.answer != NONE,
        }
    }
}

#[derive(Default)]
struct Making {
    pairing: Pairing,
    /// The latest call of each id.
    latest: IdMap<u32>,
    /// The latest failed turn that made a call of this id.
    failed: IdMap<u32>,
    /// Results that no call stood before.
    early: Vec<u32>,
}

impl Making {
    fn call(&mut self, sent: &Request, row: u32, block: u32, id: u64) {
        let turn = |call: u32| sent.rows[self.pairing.calls[call as usize].row as usize].turn;
        let number = self.pairing.calls.len() as u32;
        let again = match self.latest.get(&id) {
            None => Again::New,
            Some(&first) if turn(first) == sent.rows[row as usize].turn => Again::SameTurn(first),
            Some(&first) => Again::EarlierTurn(first),
        };
        if !matches!(again, Again::SameTurn(_)) {
            self.latest.insert(id, number);
        }
        self.pairing.calls.push(Call { row, block, id, answer: NONE, again });
    }

    fn result(&mut self, sent: &Request, row: u32, block: u32, id: u64) {
        let number = self.pairing.results.len() as u32;
        let latest = self.latest.get(&id).copied();
        let failed = self.failed.get(&id).copied();
        let made = latest.map(|call| self.pairing.calls[call as usize]);
        let state = match (made, failed) {
            (Some(call), Some(failed)) if failed > call.row => State::OfFailed(failed),
            (None, Some(failed)) => State::OfFailed(failed),
            (None, None) => {
                self.early.push(number);
                State::Dangling
            }
            (Some(call), _) if call.answer != NONE => State::Repeated,
            (Some(call), _) => {
                let behind = sent.rows[row as usize].turn == sent.rows[call.row as usize].turn + 1;
                if behind { State::Paired } else { State::After }
            }
        };
        let call = match state {
            State::OfFailed(_) => NONE,
            _ => latest.unwrap_or(NONE),
        };
        if matches!(state, State::Paired | State::After) {
            self.pairing.calls[call as usize].answer = number;
        }
        self.pairing.results.push(Answer { row, block, id, call, state });
    }

    /// A result that stood before any call of its id belongs to the first of them that nothing else answers.
    fn finish(mut self) -> Pairing {
        if !self.early.is_empty() {
            let mut open: IdMap<(u32, bool)> = IdMap::default();
            let calls = &mut self.pairing.calls;
            for (number, call) in (0..).zip(calls.iter()) {
                let twin = matches!(call.again, Again::SameTurn(_));
                let waits = call.answer == NONE && !twin;
                open.entry(call.id)
                    .and_modify(|e| {
                        if !e.1 && waits {
                            *e = (number, true);
                        }
                    })
                    .or_insert((number, waits));
            }
            for &number in &self.early {
                let result = &mut self.pairing.results[number as usize];
                let Some((call, waits)) = open.get_mut(&result.id) else { continue };
                result.call = *call;
                if std::mem::take(waits) {
                    result.state = State::Before;
                    calls[*call as usize].answer = number;
                } else {
                    result.state = State::Repeated;
                }
            }
        }
        self.pairing
    }
}

/// Whether a call or result is left out by the agent's own cleaning.
pub fn is_left_out(sent: &Request, row: u32, block: u32) -> bool {
    sent.fate(row, block).or_else(|| sent.fate(row, WHOLE)).is_some()
}

/// A call without id or name, or a result without call id, as JavaScript's truth has it.
pub fn is_nameless(b: &Block) -> bool {
    let no_id = b.flags & block::NO_ID != 0 && falsy_ids().contains(&b.id);
    match b.kind {
        BlockKind::Call => no_id || (b.flags & block::NO_NAME != 0 && b.name == 0),
        BlockKind::Result => no_id,
        _ => false,
    }
}
