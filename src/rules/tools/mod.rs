//! T: tool calls and results. Judged on what the agent would send (`request`, `request::pairing`): the adopted chain, the
//! rows of one response merged, the agent's own cleaning and synthesis applied.
//!
//! `judge` finds the cases, `split_pairs` the pairs of which one half is not sent, `cause` says where the other half went,
//! `effects` what an open call may have done, `server` results of the provider's own tools. What the chain lost is told by `chain`, what stands in messages besides calls by `messages`.

mod cause;
mod effects;
mod held;
mod judge;
mod server;
mod split_pairs;

pub use effects::Tools;
pub use held::Held;
pub use split_pairs::Split;

use super::{Collector, Context, api_verdict};
use crate::finding::{Fix, Rule, Severity};

/// The rules of this family.
pub static RULES: &[&Rule] = &[
    &ORPHAN_TOOL_USE,
    &DANGLING_TOOL_RESULT,
    &REPEATED_CALL_ID,
    &REPEATED_RESULT,
    &DISPLACED_RESULT,
    &INCOMPLETE_BLOCK,
    &INPUT_NOT_OBJECT,
    &PAIR_SPLIT_BY_BOUNDARY,
    &RESULT_OF_FAILED_TURN,
    &SERVER_RESULT_ALONE,
];

/// Finds them in one session.
pub fn check(context: &Context<'_>, found: &mut Collector) {
    let judged = judge::Judged::new(context);
    let causes = cause::Causes::new(context, &judged, found.so_far());
    api_verdict::emit(context, judged.cases.clone(), found, |case, finding, _| {
        judged.word(context, &causes, case, finding)
    });
    judged.off_chain(context, found);
    api_verdict::emit(context, server::cases(context), found, |case, finding, _| {
        finding.effect(api_verdict::effect(context, case.rule, case.does))
    });
}

pub(crate) static ORPHAN_TOOL_USE: Rule =
    Rule { code: "T301", name: "orphan-tool-use", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static DANGLING_TOOL_RESULT: Rule = Rule {
    code: "T302",
    name: "dangling-tool-result",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

pub(crate) static REPEATED_CALL_ID: Rule =
    Rule { code: "T303", name: "repeated-call-id", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static REPEATED_RESULT: Rule =
    Rule { code: "T304", name: "repeated-result", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static DISPLACED_RESULT: Rule =
    Rule { code: "T305", name: "displaced-result", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static INCOMPLETE_BLOCK: Rule =
    Rule { code: "T306", name: "incomplete-block", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static INPUT_NOT_OBJECT: Rule =
    Rule { code: "T307", name: "input-not-object", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static PAIR_SPLIT_BY_BOUNDARY: Rule = Rule {
    code: "T308",
    name: "pair-split-by-boundary",
    severity: Severity::Error,
    fix: Some(Fix::Links),
    since: "0.1.0",
};

pub(crate) static RESULT_OF_FAILED_TURN: Rule = Rule {
    code: "T309",
    name: "result-of-failed-turn",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

/// The API's answer is quoted in public reports of 2026 for the advisor tool: the call has to stand in the same turn.
pub(crate) static SERVER_RESULT_ALONE: Rule = Rule {
    code: "T310",
    name: "server-result-alone",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.2.0",
};
