//! M: messages. What stands in them besides calls: empty and blank texts, thinking, media, shape; judged, like T, on what
//! the agent would send. A defect that the agent leaves out is told as such; what stands off the chain is a note.
//!
//! `content` looks at texts and shapes, `thinking` at responses that think, `media` at images, documents and references,
//! `ends` at what the client itself put there. Calls and results are `tools`', lone surrogates `lines`'.

mod content;
mod ends;
mod media;
mod thinking;

pub use ends::made_up_tail;

use super::{Collector, Context, legal};
use crate::finding::{Fix, Rule, Severity};

/// The rules of this family.
pub static RULES: &[&Rule] = &[
    &EMPTY_TEXT,
    &BLANK_TEXT,
    &EMPTY_CONTENT,
    &THINKING_ONLY,
    &THINKING_MISPLACED,
    &BAD_SIGNATURE,
    &MISLABELLED_MEDIA,
    &UNDECODABLE_MEDIA,
    &OVERSIZED_MEDIA,
    &UNSUPPORTED_MEDIA,
    &BROKEN_DOCUMENT,
    &TOOL_REFERENCE,
    &SYNTHETIC_TAIL,
    &WRONG_SHAPE,
    &RETIRED_PERMISSION_MODE,
    &FAILED_TURN,
];

/// Finds them in one session.
pub fn check(context: &Context<'_>, found: &mut Collector) {
    let turns = content::Turns::new(context);
    let mut cases = Vec::new();
    content::judge(context, &turns, &mut cases);
    thinking::judge(context, &turns, &mut cases);
    media::judge(context, &mut cases);
    ends::judge(context, &mut cases);
    legal::settle(context, cases, found, |case, finding, _| match case.rule.code {
        "M404" | "M405" | "M406" => thinking::word(context, case, finding),
        "M407" | "M408" | "M409" | "M410" | "M411" | "M412" => media::word(context, case, finding),
        "M413" | "M415" | "M416" => ends::word(context, case, finding),
        _ => content::word(context, case, finding),
    });
}

static EMPTY_TEXT: Rule =
    Rule { code: "M401", name: "empty-text", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

static BLANK_TEXT: Rule =
    Rule { code: "M402", name: "blank-text", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

static EMPTY_CONTENT: Rule =
    Rule { code: "M403", name: "empty-content", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

static THINKING_ONLY: Rule =
    Rule { code: "M404", name: "thinking-only", severity: Severity::Warning, fix: Some(Fix::Content), since: "0.1.0" };

static THINKING_MISPLACED: Rule = Rule {
    code: "M405",
    name: "thinking-misplaced",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

static BAD_SIGNATURE: Rule =
    Rule { code: "M406", name: "bad-signature", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

static MISLABELLED_MEDIA: Rule = Rule {
    code: "M407",
    name: "mislabelled-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

static UNDECODABLE_MEDIA: Rule = Rule {
    code: "M408",
    name: "undecodable-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

static OVERSIZED_MEDIA: Rule =
    Rule { code: "M409", name: "oversized-media", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

static UNSUPPORTED_MEDIA: Rule = Rule {
    code: "M410",
    name: "unsupported-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

static BROKEN_DOCUMENT: Rule =
    Rule { code: "M411", name: "broken-document", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

static TOOL_REFERENCE: Rule =
    Rule { code: "M412", name: "tool-reference", severity: Severity::Info, fix: None, since: "0.1.0" };

static SYNTHETIC_TAIL: Rule =
    Rule { code: "M413", name: "synthetic-tail", severity: Severity::Warning, fix: Some(Fix::Content), since: "0.1.0" };

static WRONG_SHAPE: Rule =
    Rule { code: "M414", name: "wrong-shape", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

static RETIRED_PERMISSION_MODE: Rule =
    Rule { code: "M415", name: "retired-permission-mode", severity: Severity::Info, fix: None, since: "0.1.0" };

static FAILED_TURN: Rule =
    Rule { code: "M416", name: "failed-turn", severity: Severity::Info, fix: None, since: "0.1.0" };
