//! Responses that think: M404 to M406.

use std::collections::HashSet;

use super::content::{Turns, blocks_of, is_cut_off, is_response, only_thinks};
use super::{BAD_SIGNATURE, THINKING_MISPLACED, THINKING_ONLY};
use crate::dialect::Dialect;
use crate::finding::Finding;
use crate::record::facts::{BlockKind, block, flag};
use crate::request::{Api, CleanupPass, WHOLE, is_thinking};
use crate::rules::Context;
use crate::rules::legal::{Case, REFUSED, Weight, as_it_stands};

pub(super) fn judge(context: &Context<'_>, turns: &Turns, cases: &mut Vec<Case>) {
    let session = context.session;
    let sent = context.request;
    if sent.throws.is_some() {
        return;
    }
    let thinks = |b: &crate::record::facts::Block| is_thinking(b.kind);
    // More of these responses follows later.
    let resumed: HashSet<u64> = sent.resumed.iter().copied().collect();
    let mut current = None;
    for &span in turns.spans.iter().filter(|&&s| is_response(context, s)) {
        if !blocks_of(context, span).any(|(_, _, b)| thinks(b)) {
            continue;
        }
        let first = session.record(sent.rows[span.0 as usize].record);
        if only_thinks(context, span) && !is_cut_off(context, span) && !resumed.contains(&first.group()) {
            let dropped = sent.fate(span.1 - 1, WHOLE).is_some();
            let weight = if dropped { Weight::Healed } else { Weight::Warned };
            cases.push(Case::new(&THINKING_ONLY, weight, sent.rows[span.0 as usize].record, WHOLE));
        }
        for n in reordered(context, span) {
            cases.push(Case::new(&THINKING_MISPLACED, Weight::Refused, n, WHOLE));
        }
        for (row, place, b) in blocks_of(context, span) {
            const SAYS_NOTHING: u8 = block::EMPTY | block::BLANK;
            if b.kind != BlockKind::Thinking || b.flags & SAYS_NOTHING != 0 || b.flags & block::UNSIGNED == 0 {
                continue;
            }
            let n = sent.rows[row as usize].record;
            let current = *current.get_or_insert_with(|| current_model(context));
            let weight = signature(context, n, b.flags, current, sent.fate(row, place));
            cases.push(Case::new(&BAD_SIGNATURE, weight, n, place));
        }
    }
    cases.extend(sent.split.iter().map(|&n| Case::new(&THINKING_MISPLACED, Weight::Refused, n, WHOLE)));
}

/// The model that the session ends with.
fn current_model(context: &Context<'_>) -> u16 {
    let session = context.session;
    let last = context.request.rows.iter().rev().map(|r| session.record(r.record).model);
    last.filter(|&m| m != 0).find(|&m| session.facts.names.get(m) != Some(b"<synthetic>")).unwrap_or(0)
}

fn signature(context: &Context<'_>, n: u32, flags: u8, current: u16, fate: Option<CleanupPass>) -> Weight {
    let session = context.session;
    let model = session.record(n).model;
    let api = match session.facts.names.get(model) {
        Some(name) => context.request.agent.api_of(name),
        None => context.request.api,
    };
    match session.dialect {
        _ if api != Api::Anthropic => Weight::Noted,
        _ if fate.is_some() => Weight::Healed,
        // Thinking of another model than the next one is sent as text; so is what has no signature.
        Dialect::Pi | Dialect::Openclaw if model != current || flags & block::NO_ID != 0 => Weight::Healed,
        _ => Weight::Refused,
    }
}

/// Rows with thinking that the loader put behind a call of their response although their parent is another row: the SDK
/// puts back rows that the way up does not meet behind the last one that it does.
fn reordered(context: &Context<'_>, span: (u32, u32)) -> Vec<u32> {
    let session = context.session;
    let mut found = Vec::new();
    if session.dialect != Dialect::Claude || span.1 - span.0 < 2 {
        return found;
    }
    let rows = &context.request.rows[span.0 as usize..span.1 as usize];
    let mut called = false;
    for pair in rows.windows(2) {
        let (before, n) = (pair[0].record, pair[1].record);
        let blocks = |n| session.facts.blocks_of(session.record(n)).iter();
        called |= blocks(before).any(|b| b.kind == BlockKind::Call);
        let parent = session.record(n).parent;
        let follows = parent == session.record(before).id || !session.record(n).has(flag::PARENT_STRING);
        if called && !follows && n < before && blocks(n).any(|b| is_thinking(b.kind)) {
            found.push(n);
        }
    }
    found
}

pub(super) fn word(context: &Context<'_>, case: &Case, finding: Finding) -> Finding {
    let session = context.session;
    let loader = session.dialect.loader();
    let record = session.record(case.record);
    let mut finding = finding;
    if case.rule.code == "M406" {
        let blocks = context.request.blocks(&session.facts, case.record);
        let none = blocks.get(case.block as usize).is_some_and(|b| b.flags & block::NO_ID != 0);
        finding = finding.fact("signature", if none { "missing" } else { "foreign" });
        if record.model != 0 {
            finding = finding.fact("model", session.facts.names.text(record.model));
        }
    }
    let effect = match (case.rule.code, case.weight, session.dialect) {
        ("M404", Weight::Healed, _) => format!("{loader} drops the message when it loads"),
        ("M404", ..) => format!("{loader} sends it; the model reads thinking that led to no answer"),
        ("M405", Weight::Noted, _) => format!("{loader} does not send it"),
        ("M405", ..) if context.request.api == Api::Anthropic => {
            format!("{loader} brings the response back in another order than the model made it; sent so, {REFUSED}")
        }
        ("M406", Weight::Noted, _) if !context.request.reaches(case.record) => format!("{loader} does not send it"),
        ("M406", Weight::Noted, _) => format!("{loader} sends it to a model that asks for no signature"),
        ("M406", Weight::Healed, Dialect::Sid) => format!("{loader} drops the message when it loads"),
        ("M406", Weight::Healed, _) => format!("{loader} sends the thinking as plain text"),
        _ => as_it_stands(context, REFUSED),
    };
    finding.effect(effect)
}
