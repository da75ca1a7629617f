//! Texts and shapes: M401 to M403 and M414. Also the turns that the other files of this family judge by.

use super::{BLANK_TEXT, EMPTY_CONTENT, EMPTY_TEXT, WRONG_SHAPE};
use crate::finding::{Finding, Rule};
use crate::record::facts::{Block, BlockKind, Record, block, flag};
use crate::request::{CleanupPass, Role, WHOLE, is_thinking};
use crate::rules::Context;
use crate::rules::api_verdict::{Case, Does, NOTED, Treatment, Weight, effect};
use crate::session::Session;

/// The request as turns of speakers: each response whole, everything else row by row.
pub(super) struct Turns {
    /// Places in the rows: first, behind the last.
    pub(super) spans: Vec<(u32, u32)>,
    /// Records that stand in the request.
    pub(super) on_chain: Vec<bool>,
}

impl Turns {
    pub(super) fn new(context: &Context<'_>) -> Turns {
        let session = context.session;
        let rows = &context.request.rows;
        let mut on_chain = vec![false; session.facts.records.len()];
        let mut spans: Vec<(u32, u32)> = Vec::new();
        let mut open = None;
        for (row, r) in (0..).zip(rows) {
            on_chain[r.record as usize] = true;
            let speaker = match context.request.role(session, r.record) {
                Role::Model(_) => Some(r.turn),
                _ => None,
            };
            match spans.last_mut() {
                Some(span) if speaker.is_some() && open == speaker => span.1 = row + 1,
                _ => spans.push((row, row + 1)),
            }
            open = speaker;
        }
        Turns { spans, on_chain }
    }
}

/// Whether a turn is the model's.
pub(super) fn is_response(context: &Context<'_>, span: (u32, u32)) -> bool {
    let session = context.session;
    matches!(context.request.role(session, context.request.rows[span.0 as usize].record), Role::Model(_))
}

/// The blocks of a turn, with their rows and places.
pub(super) fn blocks_of<'a>(
    context: &Context<'a>,
    span: (u32, u32),
) -> impl Iterator<Item = (u32, u32, &'a Block)> + Clone + use<'a> {
    let session = context.session;
    let sent = context.request;
    (span.0..span.1).flat_map(move |row| {
        let record = sent.rows[row as usize].record;
        (0..).zip(sent.blocks(&session.facts, record)).map(move |(place, b)| (row, place, b))
    })
}

/// Whether what follows a turn says that it was cut off: nothing at all, an interrupt marker, a notice of an error, a turn
/// that failed. What is cut off may be unfinished.
pub(super) fn is_cut_off(context: &Context<'_>, span: (u32, u32)) -> bool {
    let session = context.session;
    let rows = &context.request.rows;
    let Some(next) = rows.get(span.1 as usize) else { return true };
    let record = session.record(next.record);
    record.any(flag::INTERRUPT | flag::API_ERROR | flag::SYNTHETIC | flag::FAILED)
        || session.record(rows[span.1 as usize - 1].record).has(flag::CUT_BY_LENGTH)
}

/// What becomes of a message without content, or of an empty or blank text.
fn treatment(context: &Context<'_>, rule: &Rule, row: u32, place: u32) -> Treatment {
    let sent = context.request;
    match sent.fate(row, place) {
        _ if sent.throws.is_some() => NOTED,
        Some(CleanupPass::FailedTurns | CleanupPass::UnansweredPrompt) => NOTED,
        fate => {
            let record = context.session.record(sent.rows[row as usize].record);
            context.agent.void(record, rule == &BLANK_TEXT, fate.is_some())
        }
    }
}

const VOID: u8 = block::EMPTY | block::BLANK;

pub(super) fn judge(context: &Context<'_>, turns: &Turns, cases: &mut Vec<Case>) {
    let session = context.session;
    let sent = context.request;
    for &span in &turns.spans {
        texts(context, span, cases);
        let says_more = blocks_of(context, span).next().is_some();
        // Most turns have something in each row.
        for row in span.0..span.1 {
            let n = sent.rows[row as usize].record;
            let record = session.record(n);
            if !record.has(flag::CONTENT_ARRAY) || !sent.blocks(&session.facts, n).is_empty() {
                continue;
            }
            let response = is_response(context, span);
            let last = span.1 as usize == sent.rows.len();
            if record.has(flag::FAILED) || (response && (says_more || last)) {
                continue;
            }
            cases.push(Case::new(&EMPTY_CONTENT, treatment(context, &EMPTY_CONTENT, row, WHOLE), n, WHOLE));
        }
    }
    off_chain_texts(session, turns, cases);
    shapes(context, turns, cases);
}

fn texts(context: &Context<'_>, span: (u32, u32), cases: &mut Vec<Case>) {
    let blocks = blocks_of(context, span);
    let void = |b: &Block| b.kind == BlockKind::Text && b.flags & VOID != 0;
    if !blocks.clone().any(|(_, _, b)| void(b)) {
        return;
    }
    let alone = blocks.clone().all(|(_, _, b)| void(b));
    for (row, place, b) in blocks.filter(|(_, _, b)| void(b)) {
        let n = context.request.rows[row as usize].record;
        let rule = if b.flags & block::EMPTY != 0 { &EMPTY_TEXT } else { &BLANK_TEXT };
        let here = treatment(context, rule, row, place);
        let cut = alone && is_response(context, span) && is_cut_off(context, span);
        let here = match here {
            // Beside other blocks the client drops a blank text; what was cut off says nothing yet.
            _ if rule == &BLANK_TEXT && (!alone || cut) => NOTED,
            (Weight::Healed, _) if !alone => NOTED,
            here => here,
        };
        cases.push(Case::new(rule, here, n, place));
    }
}

fn off_chain_texts(session: &Session, turns: &Turns, cases: &mut Vec<Case>) {
    for (n, record) in (0..).zip(&session.facts.records) {
        if turns.on_chain[n as usize] || !record.is_message() {
            continue;
        }
        for (place, b) in (0..).zip(session.facts.blocks_of(record)) {
            if b.kind == BlockKind::Text && b.flags & block::EMPTY != 0 {
                cases.push(Case::new(&EMPTY_TEXT, NOTED, n, place));
            }
        }
    }
}

/// What is wrong with a message's shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    /// The message is missing, or no object.
    Message,
    /// The role is missing, or no known one.
    Role,
    /// The content is neither text nor a list.
    Content,
    /// Something in the list is no block.
    Block,
}

impl Wrong {
    const ALL: [Wrong; 4] = [Wrong::Message, Wrong::Role, Wrong::Content, Wrong::Block];

    /// Its name in reports.
    fn name(self) -> &'static str {
        match self {
            Wrong::Message => "message",
            Wrong::Role => "role",
            Wrong::Content => "content",
            Wrong::Block => "block",
        }
    }

    /// What an agent does that fails on it.
    pub fn breaks(self) -> Treatment {
        let sentence = match self {
            Wrong::Message => "{loader} fails on the message that is not there: the session cannot be resumed",
            _ => "{loader} fails on content that is no list: the session cannot be resumed",
        };
        (Weight::Breaks, Does::Says(sentence))
    }
}

/// Whether something in the content of a message is no block.
pub fn wrong_block(session: &Session, record: &Record) -> Option<Wrong> {
    let blocks = session.facts.blocks_of(record);
    blocks.iter().any(|b| b.kind == BlockKind::NotObject).then_some(Wrong::Block)
}

fn shapes(context: &Context<'_>, turns: &Turns, cases: &mut Vec<Case>) {
    let session = context.session;
    let mut adopted = vec![false; session.facts.records.len()];
    for &n in &session.chain.adopted {
        adopted[n as usize] = true;
    }
    for (n, record) in (0..).zip(&session.facts.records) {
        let Some(wrong) = context.agent.misshapen(session, record) else { continue };
        let sent = turns.on_chain[n as usize] || adopted[n as usize];
        let treatment = context.agent.misshape(context, n, wrong, sent);
        cases.push(Case::new(&WRONG_SHAPE, treatment, n, WHOLE).with(wrong as u32));
    }
}

pub(super) fn word(context: &Context<'_>, case: &Case, finding: Finding) -> Finding {
    let wrong = Wrong::ALL.get(case.detail as usize).filter(|_| case.rule == &WRONG_SHAPE);
    let finding = match wrong {
        Some(wrong) => finding.fact("what", wrong.name()),
        None => finding,
    };
    let does = match (case.weight, case.does) {
        (Weight::Noted, Does::Says(_)) if !context.request.ended => case.does,
        (Weight::Noted, _) if context.request.reaches(case.record) => Does::Says(context.agent.words().void),
        (Weight::Noted, _) => Does::NotSent,
        _ => case.does,
    };
    finding.effect(effect(context, case.rule, does))
}

/// Whether a response only thinks.
pub(super) fn only_thinks(context: &Context<'_>, span: (u32, u32)) -> bool {
    let mut blocks = blocks_of(context, span).peekable();
    blocks.peek().is_some() && blocks.all(|(_, _, b)| is_thinking(b.kind))
}
