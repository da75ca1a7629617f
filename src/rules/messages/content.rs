//! Texts and shapes: M401 to M403 and M414. Also the turns that the other files of this family judge by.

use super::{BLANK_TEXT, EMPTY_CONTENT, EMPTY_TEXT, WRONG_SHAPE};
use crate::dialect::Dialect;
use crate::finding::Finding;
use crate::record::facts::{Block, BlockKind, Kind, Record, block, flag};
use crate::request::{CleanupPass, Role, WHOLE, is_thinking};
use crate::rules::Context;
use crate::rules::legal::{Case, REFUSED, Weight, as_it_stands};
use crate::session::{Session, Shape};

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

/// The weight of a row's or block's defect: whether it reaches the API.
fn weight(context: &Context<'_>, row: u32, place: u32) -> Weight {
    let session = context.session;
    let sent = context.request;
    match sent.fate(row, place) {
        _ if sent.throws.is_some() => Weight::Noted,
        Some(CleanupPass::FailedTurns | CleanupPass::UnansweredPrompt) => Weight::Noted,
        // pi leaves white space out, and a message when nothing else is in it.
        fate => Weight::sent(fate.is_some() || session.dialect.is_pi()),
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
            cases.push(Case::new(&EMPTY_CONTENT, weight(context, row, WHOLE), n, WHOLE));
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
        let here = weight(context, row, place);
        let cut = alone && is_response(context, span) && is_cut_off(context, span);
        let here = match here {
            // Beside other blocks the client drops a blank text; what was cut off says nothing yet.
            _ if std::ptr::eq(rule, &BLANK_TEXT) && (!alone || cut) => Weight::Noted,
            Weight::Healed if !alone => Weight::Noted,
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
                cases.push(Case::new(&EMPTY_TEXT, Weight::Noted, n, place));
            }
        }
    }
}

/// What is wrong with a message's shape, as a number for the words.
mod wrong {
    pub(super) const MESSAGE: u32 = 0;
    pub(super) const ROLE: u32 = 1;
    pub(super) const CONTENT: u32 = 2;
    pub(super) const BLOCK: u32 = 3;
    pub(super) const WORDS: [&str; 4] = ["message", "role", "content", "block"];
}

fn shapes(context: &Context<'_>, turns: &Turns, cases: &mut Vec<Case>) {
    let session = context.session;
    let sent = context.request;
    let mut adopted = vec![false; session.facts.records.len()];
    for &n in &session.chain.adopted {
        adopted[n as usize] = true;
    }
    for (n, record) in (0..).zip(&session.facts.records) {
        let Some(what) = misshapen(session, record) else { continue };
        let sent_here = turns.on_chain[n as usize] || adopted[n as usize];
        let weight = match session.dialect {
            _ if !sent_here => Weight::Noted,
            // The cleaning throws on it, or the loader does.
            Dialect::Sid if what == wrong::MESSAGE || what == wrong::CONTENT => Weight::Breaks,
            Dialect::Sid if sent.throws == Some(n) => Weight::Breaks,
            Dialect::Openclaw if what == wrong::CONTENT => Weight::Refused,
            Dialect::Pi | Dialect::Openclaw => of_pi(record, what),
            _ => Weight::Refused,
        };
        cases.push(Case::new(&WRONG_SHAPE, weight, n, WHOLE).with(what));
    }
}

/// pi 1.6.0: null content is none, unknown roles are dropped; a record without a message raises.
fn of_pi(record: &Record, what: u32) -> Weight {
    match what {
        wrong::MESSAGE => Weight::Breaks,
        wrong::ROLE if record.has(flag::ROLE_WORD) => Weight::Noted,
        wrong::ROLE => Weight::Healed,
        wrong::CONTENT if record.any(flag::CONTENT_OTHER | flag::CONTENT_STRING) => Weight::Breaks,
        wrong::CONTENT => Weight::Healed,
        _ => Weight::Refused,
    }
}

fn misshapen(session: &Session, record: &Record) -> Option<u32> {
    let facts = &session.facts;
    let content = record.any(flag::CONTENT_ARRAY | flag::CONTENT_STRING);
    let message = record.has(flag::MESSAGE);
    let role = record.any(flag::ROLE_USER | flag::ROLE_ASSISTANT);
    match (session.dialect, record.kind) {
        (_, Kind::NonObject) if session.shape == Shape::Legacy => return Some(wrong::MESSAGE),
        // A sidechain's role "tool" is one of its own; an unknown one becomes the user's.
        (Dialect::Sid, Kind::TranscriptMessage) => {
            if !content {
                return Some(wrong::CONTENT);
            }
        }
        (Dialect::Sid | Dialect::Claude, Kind::User | Kind::Assistant | Kind::ToolMessage) => {
            if !message {
                return Some(wrong::MESSAGE);
            }
            if !content {
                return Some(wrong::CONTENT);
            }
            if !role {
                return Some(wrong::ROLE);
            }
        }
        (Dialect::Pi | Dialect::Openclaw, Kind::User | Kind::Assistant | Kind::ToolMessage) => {
            // Only the model's content is walked as a list without a look.
            if !content || (record.kind == Kind::Assistant && record.has(flag::CONTENT_STRING)) {
                return Some(wrong::CONTENT);
            }
        }
        (Dialect::Pi | Dialect::Openclaw, Kind::Other) if record.has(flag::ROLE_BAD) => {
            return Some(if message { wrong::ROLE } else { wrong::MESSAGE });
        }
        _ => return None,
    }
    facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::NotObject).then_some(wrong::BLOCK)
}

pub(super) fn word(context: &Context<'_>, case: &Case, finding: Finding) -> Finding {
    let session = context.session;
    let loader = session.dialect.loader();
    let finding = match wrong::WORDS.get(case.detail as usize) {
        Some(what) if case.rule.code == "M414" => finding.fact("what", *what),
        _ => finding,
    };
    let throws = match case.detail {
        wrong::MESSAGE => "the message that is not there",
        _ => "content that is no list",
    };
    let effect = match (case.rule.code, case.weight, session.dialect) {
        ("M414", Weight::Breaks, _) => format!("{loader} fails on {throws}: the session cannot be resumed"),
        ("M414", Weight::Healed, _) if case.detail == wrong::ROLE => format!("{loader} drops the message"),
        ("M414", Weight::Healed, _) => format!("{loader} takes it for empty; 0.73.1 crashes on it"),
        ("M414", Weight::Noted, Dialect::Pi | Dialect::Openclaw) if case.detail == wrong::ROLE => {
            format!("{loader} does not know the role and leaves the message out")
        }
        (_, Weight::Noted, _) if is_in_request(context, case) => match session.dialect {
            Dialect::Pi | Dialect::Openclaw => format!("{loader} leaves the block out"),
            _ => "nothing: clients drop it, or the response was cut off here".to_owned(),
        },
        (_, Weight::Noted, _) => format!("{loader} does not send it"),
        (_, Weight::Healed, Dialect::Sid) => format!("{loader} drops the message when it loads"),
        ("M402", Weight::Healed, Dialect::Openclaw) if session.record(case.record).kind == Kind::User => {
            format!("{loader} rewrites it in the file as \"(continue)\"")
        }
        (_, Weight::Healed, _) => format!("{loader} leaves it out of the request"),
        _ => as_it_stands(context, REFUSED),
    };
    finding.effect(effect)
}

fn is_in_request(context: &Context<'_>, case: &Case) -> bool {
    context.request.reaches(case.record)
}

/// Whether a response only thinks.
pub(super) fn only_thinks(context: &Context<'_>, span: (u32, u32)) -> bool {
    let mut blocks = blocks_of(context, span).peekable();
    blocks.peek().is_some() && blocks.all(|(_, _, b)| is_thinking(b.kind))
}
