//! T: tool calls and results. Judged on what the agent would send (`request`, `request::pairing`): the adopted chain, the
//! rows of one response merged, the agent's own cleaning and synthesis applied.
//!
//! `judge` finds the cases, `halves` the pairs of which one half is not sent, `cause` says where the other half went,
//! `effects` what an open call may have done. What the
//! chain lost is told by `chain`, what stands in messages besides calls by `messages`.

mod cause;
mod effects;
mod halves;
mod held;
mod judge;

use super::{Collector, Context, legal};
use crate::finding::{Doc, Fix, Rule, Severity};

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
];

/// Finds them in one session.
pub fn check(context: &Context<'_>, found: &mut Collector) {
    let judged = judge::Judged::new(context);
    let causes = cause::Causes::new(context, &judged, found.so_far());
    legal::settle(context, judged.cases.clone(), found, |case, finding, _| {
        judged.word(context, &causes, case, finding)
    });
    judged.off_chain(context, found);
}

pub(crate) static ORPHAN_TOOL_USE: Rule = Rule {
    code: "T301",
    name: "orphan-tool-use",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A tool call in the history that would be sent has no result. Each open call is given with its side-effect class: read-only (asking again is safe), file write (the file may be changed already; with or without a snapshot of what was there before), outside or unknown (a command, another service, an agent: look before it is asked for again).",
        arises: "The agent was killed, or the machine went down, while the tool ran. Or only some results of a parallel batch were written. Or the result is in a line that no loader reads, or on a branch that was left.",
        agent: "sid-code (3f3215144f68) drops the call when it loads the session (layer 3 of its cleaning), and the whole message when nothing but thinking is left of it; the model never learns that it made the call. Its resume then reports `none` or `interrupted_prompt`, not an interrupted turn. Claude Code's clients make up an error result for calls at the very end of the chain; a call in mid-chain is sent as it stands. pi (1.6.0) and OpenClaw (2026.7.35) put an error result \"No result provided\" or \"[openclaw] missing tool result\" behind it, in memory only.",
        repair: "With `--orphans result` (the default) an error result saying that the run was interrupted is put behind the call, in a record of its own; with `--orphans drop` the call leaves the message. In a session that is live nothing is touched: the tool may still be running.",
        loses: "With `result` nothing; the model reads that the outcome is unknown. With `drop` the call, which goes to quarantine: the model does not know that the tool may have run.",
        error_text: Some(
            "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message (Claude Code adds: due to tool use concurrency issues)",
        ),
    },
};

pub(crate) static DANGLING_TOOL_RESULT: Rule = Rule {
    code: "T302",
    name: "dangling-tool-result",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A tool result in the history that would be sent names a call that is not in it.",
        arises: "A background task answered after a compaction had cut its call away. The line with the call was lost, or the chain breaks above the result. A history was moved between machines and its head did not come along.",
        agent: "sid-code (3f3215144f68) keeps it when it loads the session and sends it; its integrity check writes a violation dump, and the placeholder step at the end of a run takes such results out of memory, never out of the file. Claude Code and pi (1.6.0) send it as it stands. OpenClaw (2026.7.35) drops it before it sends.",
        repair: "The result leaves its message and goes to quarantine; a record that held nothing else leaves with it, and its child is linked to its parent. Where the cause is a broken link, mending that (C201) brings the call back and nothing has to leave.",
        loses: "The output of that tool call, which the model cannot place anyway.",
        error_text: Some(
            "messages.N.content.M: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each `tool_result` block must have a corresponding `tool_use` block in the previous message",
        ),
    },
};

pub(crate) static REPEATED_CALL_ID: Rule = Rule {
    code: "T303",
    name: "repeated-call-id",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "One call id stands for two calls in one request. In pi, and in sid-code with another provider than Anthropic, only within one turn: providers that number calls anew each turn are legal there.",
        arises: "Claude Code 2.1.19 and 2.1.20 gave one id to two calls. A history was merged from two copies, or a gateway numbers calls anew with every request.",
        agent: "Claude Code sends both. sid-code (3f3215144f68) counts ids as a set and notices nothing. pi (1.6.0) pairs within the turn, first come first served, and sends an id that is repeated in a later turn as it stands. OpenClaw (2026.7.35) keeps one result per id over the whole file and so loses the result of the later call.",
        repair: "The later call and the result that answers it get a new id, consistently.",
        loses: "Nothing that a model can see.",
        error_text: Some("messages: `tool_use` ids must be unique"),
    },
};

pub(crate) static REPEATED_RESULT: Rule = Rule {
    code: "T304",
    name: "repeated-result",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A call has two results in the history that would be sent.",
        arises: "A guard wrote a placeholder and the tool answered after all. A result was written again after a reconnect, or a second process answered the same call.",
        agent: "sid-code (3f3215144f68) counts ids as a set and sends both. Claude Code and pi (1.6.0) send both. OpenClaw (2026.7.35) keeps the first.",
        repair: "The first result that is no placeholder stays; the other leaves and goes to quarantine, and the chain is linked past a record that held nothing else.",
        loses: "The second answer, which differs from the first only where the tool ran twice.",
        error_text: Some(
            "messages.N.content.M: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_…",
        ),
    },
};

pub(crate) static DISPLACED_RESULT: Rule = Rule {
    code: "T305",
    name: "displaced-result",
    severity: Severity::Error,
    fix: Some(Fix::Links),
    since: "0.1.0",
    doc: Doc {
        what: "A result exists but does not stand in the turn right behind its call: a prompt or another response stands between, or it stands before the call. Rows of one response are merged by message id first, because results may be written while the response still streams.",
        arises: "A prompt or a message from a second process was appended while the tool ran. Lines were written out of order, or a link was mended to the wrong record.",
        agent: "sid-code (3f3215144f68) does not look at the order and sends it so. Claude Code sends it as it stands. pi (1.6.0) makes up an error result when the next message comes and then sends the real one too. OpenClaw (2026.7.35) moves the result next to its call.",
        repair: "The pair is brought together by links alone: the result becomes the child of its call, and what stood between hangs below it.",
        loses: "Nothing.",
        error_text: Some(
            "messages.N: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message",
        ),
    },
};

pub(crate) static INCOMPLETE_BLOCK: Rule = Rule {
    code: "T306",
    name: "incomplete-block",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A call without an id or a name, or a result without a call id: missing, empty, or no string.",
        arises: "A provider's stream ended in the middle of a call, or an adapter for another API left the field out.",
        agent: "sid-code (3f3215144f68) drops the whole message (layer 6 of its cleaning) after it has looked for open calls: the result of a call that has an id but no name stays behind without its call and is sent, as is a call whose result shared the message. Claude Code, pi (1.6.0) and OpenClaw (2026.7.35) send it as it stands.",
        repair: "The block leaves its message together with its other half and goes to quarantine; a record that held nothing else leaves with it.",
        loses: "A call that no tool could have run by that block alone, or a result that belongs to nothing.",
        error_text: Some("messages.N.content.M.tool_use.id: Field required"),
    },
};

pub(crate) static INPUT_NOT_OBJECT: Rule = Rule {
    code: "T307",
    name: "input-not-object",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "The input of a call is no JSON object (a string, a list, a number), or there is none.",
        arises: "A model of another provider answered with the bare argument, or the stream ended before the input was whole and its text was stored in its place.",
        agent: "sid-code (3f3215144f68), Claude Code and OpenClaw (2026.7.35) send it as it stands. pi (1.6.0) sends {} where there is none, and anything else as it stands.",
        repair: "A value is wrapped as {\"input\": value}; where there is none, {} is put in.",
        loses: "Nothing: the value stays readable inside.",
        error_text: Some("messages.N.content.M.tool_use.input: Input should be a valid dictionary"),
    },
};

pub(crate) static PAIR_SPLIT_BY_BOUNDARY: Rule = Rule {
    code: "T308",
    name: "pair-split-by-boundary",
    severity: Severity::Error,
    fix: Some(Fix::Links),
    since: "0.1.0",
    doc: Doc {
        what: "Both halves of a call are in the file, and a compaction or a context edit keeps only one of them in the request.",
        arises: "A compaction's first kept entry is a result, so that its call is summarised away. An extension left a message with calls out of the context and not the results.",
        agent: "pi (1.6.0) sends a kept result without its call as it stands; for a kept call without its result it makes up an error result. Claude Code splices a boundary's preserved messages in by their uuids; the open SDK (0.2.189) does not. sid-code's compaction records never cut the history.",
        repair: "The boundary is moved up to the call, so that the pair is kept whole; for a context edit, the edit is extended to the other half.",
        loses: "Nothing from the file. The request grows by the message that comes back, or shrinks by a result whose call was left out on purpose.",
        error_text: Some(
            "messages.N.content.M: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each `tool_result` block must have a corresponding `tool_use` block in the previous message",
        ),
    },
};

pub(crate) static RESULT_OF_FAILED_TURN: Rule = Rule {
    code: "T309",
    name: "result-of-failed-turn",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
    doc: Doc {
        what: "A result is stored for a call of a turn that ended in an error or was aborted. Such turns are left out of the request; their results are not.",
        arises: "A guard or an extension wrote placeholders for the calls of a turn that the provider had cut off.",
        agent: "pi (0.73.1 and 1.6.0) drops the failed turn and sends the result. OpenClaw (2026.7.35) keeps both through its own pairing step; what its request builder drops later was not run. sid-code and Claude Code do not leave turns out in this way.",
        repair: "The result leaves and goes to quarantine; the next record is linked to the failed turn.",
        loses: "A placeholder, or the output of a call that the model does not know it made.",
        error_text: Some(
            "messages.N.content.M: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each `tool_result` block must have a corresponding `tool_use` block in the previous message",
        ),
    },
};
