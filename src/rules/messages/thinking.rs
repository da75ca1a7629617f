//! Responses that think: M404 to M406.

use std::collections::HashSet;

use super::content::{Turns, blocks_of, is_cut_off, is_response, only_thinks};
use super::{BAD_SIGNATURE, THINKING_MISPLACED, THINKING_ONLY};
use crate::finding::{Finding, Rule};
use crate::provider::Api;
use crate::record::facts::{BlockKind, block};
use crate::request::{CleanupPass, WHOLE, is_thinking};
use crate::rules::Context;
use crate::rules::api_verdict::{Case, Does, REFUSED, Treatment, Weight, effect, healed};

/// What is worded here.
pub(super) static RULES: &[&Rule] = &[&THINKING_ONLY, &THINKING_MISPLACED, &BAD_SIGNATURE];

pub(super) fn judge(context: &Context<'_>, turns: &Turns, cases: &mut Vec<Case>) {
    let session = context.session;
    let sent = context.request;
    if sent.throws.is_some() {
        return;
    }
    let thinks = |b: &crate::record::facts::Block| is_thinking(b.kind);
    let misplaced = if sent.api == Api::Anthropic { (Weight::Refused, OTHER_ORDER) } else { REFUSED };
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
            let treatment =
                if dropped { healed("{loader} drops the message when it loads") } else { (Weight::Warned, SENT) };
            cases.push(Case::new(&THINKING_ONLY, treatment, sent.rows[span.0 as usize].record, WHOLE));
        }
        for n in context.agent.reordered(context, span) {
            cases.push(Case::new(&THINKING_MISPLACED, misplaced, n, WHOLE));
        }
        for (row, place, b) in blocks_of(context, span) {
            const SAYS_NOTHING: u8 = block::EMPTY | block::BLANK;
            if b.kind != BlockKind::Thinking || b.flags & SAYS_NOTHING != 0 || b.flags & block::UNSIGNED == 0 {
                continue;
            }
            let n = sent.rows[row as usize].record;
            let current = *current.get_or_insert_with(|| current_model(context));
            let treatment = signature(context, n, b.flags, current, sent.fate(row, place));
            cases.push(Case::new(&BAD_SIGNATURE, treatment, n, place));
        }
    }
    cases.extend(sent.split.iter().map(|&n| Case::new(&THINKING_MISPLACED, misplaced, n, WHOLE)));
}

/// The model that the session ends with.
fn current_model(context: &Context<'_>) -> u16 {
    let session = context.session;
    let last = context.request.rows.iter().rev().map(|r| session.record(r.record).model);
    last.filter(|&m| m != 0).find(|&m| session.facts.names.get(m) != Some(b"<synthetic>")).unwrap_or(0)
}

fn signature(context: &Context<'_>, n: u32, flags: u8, current: u16, fate: Option<CleanupPass>) -> Treatment {
    let session = context.session;
    let model = session.record(n).model;
    let signs = match session.facts.names.get(model) {
        Some(name) => Api::of_model(name) == Api::Anthropic,
        None => context.request.api == Api::Anthropic,
    };
    if signs {
        return context.agent.bad_signature(model != current || flags & block::NO_ID != 0, fate.is_some());
    }
    let unasked = Does::Says("{loader} sends it to a model that asks for no signature");
    (Weight::Noted, if context.request.reaches(n) { unasked } else { Does::NotSent })
}

const OTHER_ORDER: Does = Does::Says(
    "{loader} brings the response back in another order than the model made it; sent so, the API answers 400 to every prompt",
);
const SENT: Does = Does::Says("{loader} sends it; the model reads thinking that led to no answer");

pub(super) fn word(context: &Context<'_>, case: &Case, finding: Finding) -> Finding {
    let session = context.session;
    let record = session.record(case.record);
    let mut finding = finding;
    if case.rule == &BAD_SIGNATURE {
        let blocks = context.request.blocks(&session.facts, case.record);
        let none = blocks.get(case.block as usize).is_some_and(|b| b.flags & block::NO_ID != 0);
        finding = finding.fact("signature", if none { "missing" } else { "foreign" });
        if record.model != 0 {
            finding = finding.fact("model", session.facts.names.text(record.model));
        }
    }
    let does = match case.weight {
        // What is never sent again does no harm, and is told as it would be sent.
        Weight::Noted if (case.rule == &THINKING_ONLY) => SENT,
        _ if context.request.ended => Does::NotSent,
        _ => case.does,
    };
    finding.effect(effect(context, case.rule, does))
}
