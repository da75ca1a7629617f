//! What this agent would send to its model after a resume: the adopted messages as one request has them, and what the
//! agent itself leaves out or makes up before it sends.
//!
//! Facts only: which record and block, never a text. `turns` merges the rows of one response and gives each row the turn
//! it stands in; `pairing` and the rules judge on that. The tail that an agent may show instead of all is in `tail`.
//! Whether the API would take the result is for the rules to say.

pub mod agent;
pub mod autopsy;
pub mod pairing;
pub mod tail;
pub mod turns;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use agent::Sender;

use crate::provider::Api;
use crate::record::facts::{Block, BlockKind, Facts, Kind, Names, flag};
use crate::record::{reread, value::Value};
use crate::session::Session;
use turns::Merge;
pub use turns::{IdMap, KeyedHasher, Role, Row};

/// Why the agent leaves something out. The order is that of its own passes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CleanupPass {
    /// A permission mode that it no longer knows; the message stays.
    PermissionMode,
    /// Calls that no result names.
    OpenCalls,
    /// Messages of the model that only think.
    ThinkingOnly,
    /// Messages without content.
    Empty,
    /// Messages with a call without id or name, or a result without call id.
    Nameless,
    /// The last prompt, which nobody answered.
    UnansweredPrompt,
    /// Turns of the model that ended in an error or were aborted.
    FailedTurns,
}

impl CleanupPass {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            CleanupPass::PermissionMode => "permission-mode",
            CleanupPass::OpenCalls => "open-calls",
            CleanupPass::ThinkingOnly => "thinking-only",
            CleanupPass::Empty => "empty-content",
            CleanupPass::Nameless => "nameless-blocks",
            CleanupPass::UnansweredPrompt => "unanswered-prompt",
            CleanupPass::FailedTurns => "failed-turns",
        }
    }
}

/// The whole message, in the place of a block's index.
pub const WHOLE: u32 = u32::MAX;

/// Something that the agent leaves out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dropped {
    /// The place in [`Request::rows`].
    pub row: u32,
    /// The block's place in the row's blocks, or [`WHOLE`].
    pub block: u32,
    /// By which pass.
    pub pass: CleanupPass,
}

/// Where the conversation stopped, as the agent's own rule has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Interruption {
    /// The model had the last word.
    #[default]
    None,
    /// At a prompt that nobody answered.
    Prompt(u32),
    /// At tool results that nobody answered: the record, and the tools by their number in the names.
    Turn(u32, Vec<u16>),
}

impl Interruption {
    /// The word in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Interruption::None => "none",
            Interruption::Prompt(_) => "interrupted_prompt",
            Interruption::Turn(..) => "interrupted_turn",
        }
    }

    /// The names of the tools whose results nobody answered.
    pub fn tools(&self, names: &Names) -> Vec<String> {
        match self {
            Interruption::Turn(_, tools) => tools.iter().map(|&n| names.text(n)).collect(),
            _ => Vec::new(),
        }
    }
}

/// Calls and results by the agent's own check: sets over the whole list, so that a repeated id counts once. Each entry is
/// the first place of the id: row and block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Integrity {
    /// Calls that no result of a user's message names.
    pub orphans: Vec<(u32, u32)>,
    /// Results that no call of a model's message made.
    pub dangling: Vec<(u32, u32)>,
}

/// The next request, before and after the agent's own cleaning.
#[derive(Debug)]
pub struct Request {
    /// Who sends it.
    pub agent: &'static dyn Sender,
    /// Whose rules judge it.
    pub api: Api,
    /// The messages in order, those that are left out included.
    pub rows: Vec<Row>,
    /// What is left out, by row and block.
    pub drops: Vec<Dropped>,
    /// Rows with thinking that merging moves across something that stands between: a result, a prompt, another response.
    pub split: Vec<u32>,
    /// Responses of which more rows come after something that ends a turn.
    pub resumed: Vec<u64>,
    /// The record at which the agent's own cleaning throws: nothing is sent.
    pub throws: Option<u32>,
    /// Of an agent that checks its own integrity: calls and results as its check counts them, before and after cleaning.
    pub integrity: Option<[Integrity; 2]>,
    /// Where the conversation stopped.
    pub interruption: Interruption,
    /// A subagent's transcript that would begin with the model gets a made-up prompt in front.
    pub placeholder: bool,
    /// A subagent's transcript that reached its end mark. Nothing of it is ever sent again.
    pub ended: bool,
    /// Content that a context edit put in the place of a record's own.
    edited: HashMap<u32, Vec<Block>>,
    /// One bit a record: whether something of it is sent.
    reaches: Vec<u64>,
    /// The last answer of a model of this provider: what stands above it was accepted.
    witness: Option<Witness>,
}

/// An answer that proves that the request before it was accepted.
#[derive(Debug)]
struct Witness {
    record: u32,
    /// One bit a record: whether it was in that request.
    accepted: Vec<u64>,
}

impl Request {
    /// What this session's agent would send.
    pub fn new(session: &Session, agent: &'static dyn Sender) -> Request {
        let mut sent = Request {
            agent,
            api: agent.api(session),
            rows: Vec::new(),
            drops: Vec::new(),
            split: Vec::new(),
            resumed: Vec::new(),
            throws: None,
            integrity: None,
            interruption: Interruption::None,
            placeholder: false,
            ended: agent.has_ended(session),
            edited: HashMap::new(),
            reaches: Vec::new(),
            witness: None,
        };
        if session.chain.refusal.is_some() {
            return sent;
        }
        sent.edited = agent.edited(session);
        let mut merge = Merge::of(session.chain.adopted.len());
        for n in agent.speaking(session) {
            let record = session.record(n);
            let thinks = |blocks: &[Block]| blocks.iter().any(|b| is_thinking(b.kind));
            merge.push(n, agent.role(&session.facts, record), thinks(session.facts.blocks_of(record)));
        }
        (sent.rows, sent.split, sent.resumed) = merge.finish(|n| session.record(n).group());
        agent.clean(session, &mut sent);
        sent.mark(session.facts.records.len());
        sent.witness = sent.last_answer(session);
        sent
    }

    /// Who speaks in a record.
    pub fn role(&self, session: &Session, record: u32) -> Role {
        self.agent.role(&session.facts, session.record(record))
    }

    /// Leaves out the turns of the model that failed.
    pub fn drop_failed(&mut self, session: &Session) {
        for (row, r) in (0..).zip(&self.rows) {
            if self.agent.role(&session.facts, session.record(r.record)) == Role::Failed {
                self.drops.push(Dropped { row, block: WHOLE, pass: CleanupPass::FailedTurns });
            }
        }
    }

    fn mark(&mut self, records: usize) {
        let mut reaches =
            vec![0_u64; if self.rows.is_empty() || self.throws.is_some() || self.ended { 0 } else { records / 64 + 1 }];
        if !reaches.is_empty() {
            for (row, r) in (0..).zip(&self.rows) {
                if self.fate(row, WHOLE).is_none() {
                    reaches[r.record as usize / 64] |= 1 << (r.record % 64);
                }
            }
        }
        self.reaches = reaches;
    }

    /// The last answer of a model of the provider that comes next. What it answered is all that stands above its response:
    /// on one path, without a break, after the agent's own window.
    fn last_answer(&self, session: &Session) -> Option<Witness> {
        let last = self.rows.iter().rev().find(|row| {
            self.is_answer(session, row.record) && self.agent.answered_by(session, row.record) == Some(self.api)
        })?;
        let mut accepted = vec![0_u64; session.facts.records.len() / 64 + 1];
        for row in self.rows.iter().take_while(|row| row.turn < last.turn) {
            accepted[row.record as usize / 64] |= 1 << (row.record % 64);
        }
        Some(Witness { record: last.record, accepted })
    }

    /// Takes the witness from all records but these: what a repair brings back was never in a request that was answered.
    pub fn doubt(&mut self, keeps: impl Fn(u32) -> bool) {
        let Some(witness) = &mut self.witness else { return };
        for row in self.rows.iter().filter(|row| !keeps(row.record)) {
            witness.accepted[row.record as usize / 64] &= !(1 << (row.record % 64));
        }
    }

    /// Whether the record is an answer of a model.
    pub fn is_answer(&self, session: &Session, record: u32) -> bool {
        let is_model = matches!(self.role(session, record), Role::Model(_));
        is_model && self.agent.answered_by(session, record).is_some()
    }

    /// The answer of a model that proves that the record was accepted as it stands: the record of that answer.
    pub fn accepted(&self, record: u32) -> Option<u32> {
        let witness = self.witness.as_ref()?;
        let word = witness.accepted.get(record as usize / 64)?;
        (word >> (record % 64) & 1 == 1).then_some(witness.record)
    }

    /// Whether something of the record is sent. False where the loader or the agent's own cleaning gives up.
    pub fn reaches(&self, record: u32) -> bool {
        self.reaches.get(record as usize / 64).is_some_and(|word| word >> (record % 64) & 1 == 1)
    }

    /// The blocks of a record as they are sent, cleaning apart.
    pub fn blocks<'a>(&'a self, facts: &'a Facts, record: u32) -> &'a [Block] {
        match self.edited.get(&record) {
            Some(blocks) => blocks,
            None => facts.blocks_of(&facts.records[record as usize]),
        }
    }

    /// Whether a context edit put other content in the place of the record's own.
    pub fn is_edited(&self, record: u32) -> bool {
        self.edited.contains_key(&record)
    }

    /// By which pass a row ([`WHOLE`]) or one of its blocks is left out; none when it is sent.
    pub fn fate(&self, row: u32, block: u32) -> Option<CleanupPass> {
        if self.drops.is_empty() {
            return None;
        }
        let of = |block| {
            let first = self.drops.partition_point(|d| (d.row, d.block) < (row, block));
            let same = self.drops[first..].iter().take_while(|d| (d.row, d.block) == (row, block));
            same.map(|d| d.pass).find(|&l| l != CleanupPass::PermissionMode)
        };
        of(WHOLE).or_else(|| if block == WHOLE { None } else { of(block) })
    }

    /// The places in [`Request::rows`] of what is left after cleaning.
    pub fn cleaned(&self) -> impl Iterator<Item = u32> + use<'_> {
        (0..self.rows.len() as u32).filter(|&row| self.throws.is_none() && self.fate(row, WHOLE).is_none())
    }

    /// How many messages are left after cleaning.
    pub fn cleaned_count(&self) -> usize {
        self.cleaned().count()
    }

    /// What one pass left out: messages, blocks of messages that stay, and the records.
    pub fn dropped_by(&self, pass: CleanupPass) -> (u32, u32, Vec<u32>) {
        let (mut messages, mut blocks, mut places) = (0, 0, Vec::new());
        for d in self.drops.iter().filter(|d| d.pass == pass) {
            match (pass, d.block) {
                (CleanupPass::PermissionMode, _) => {}
                (_, WHOLE) => messages += 1,
                _ => blocks += 1,
            }
            let record = self.rows[d.row as usize].record;
            if places.last() != Some(&record) {
                places.push(record);
            }
        }
        (messages, blocks, places)
    }
}

/// Where in the file the content of a record's message stands, the part that is sent. What stands beside it
/// (`toolUseResult`, `cwd`) stays on this machine.
pub fn content_span(session: &Session, record: u32) -> Option<Range<u64>> {
    let r = session.record(record);
    let text = reread::text(&session.source, r).ok()?;
    let content = content(&text)?;
    Some(r.offset + content.start as u64..r.offset + content.end as u64)
}

/// The content of a message's line, wherever its format keeps it.
pub fn content(text: &[u8]) -> Option<Value<'_>> {
    let root = Value::parse(text)?;
    root.at(&["message", "content"]).or_else(|| root.get("content"))
}

/// Whether a block is the model's thinking.
pub fn is_thinking(kind: BlockKind) -> bool {
    matches!(kind, BlockKind::Thinking | BlockKind::Redacted)
}

/// Where the conversation stopped; asides say nothing.
pub fn interruption(session: &Session, sent: &Request) -> Interruption {
    let role_of = |row: &Row| sent.role(session, row.record);
    let Some((at, last)) = sent.rows.iter().enumerate().rev().find(|(_, r)| role_of(r) != Role::Aside) else {
        return Interruption::None;
    };
    match role_of(last) {
        Role::Prompt => {
            let record = session.record(last.record);
            let asks = record.kind == Kind::User && !record.has(flag::COMPACT_SUMMARY);
            if asks { Interruption::Prompt(last.record) } else { Interruption::None }
        }
        Role::Results => {
            let turn = sent.rows[..at].partition_point(|r| r.turn < last.turn.saturating_sub(1));
            let rows = &sent.rows[turn..=at];
            let ids: HashSet<u64> = rows
                .iter()
                .filter(|r| r.turn == last.turn)
                .flat_map(|r| sent.blocks(&session.facts, r.record))
                .filter(|b| b.kind == BlockKind::Result)
                .map(|b| b.id)
                .collect();
            let calls = rows.iter().flat_map(|r| sent.blocks(&session.facts, r.record));
            let tools = calls.filter(|b| b.kind == BlockKind::Call && ids.contains(&b.id)).map(|b| b.name).collect();
            Interruption::Turn(last.record, tools)
        }
        _ => Interruption::None,
    }
}
