//! M: messages. What stands in them besides calls: empty and blank texts, thinking, media, shape; judged, like T, on what
//! the agent would send. A defect that the agent leaves out is told as such; what stands off the chain is a note.
//!
//! `content` looks at texts and shapes, `refused` at what the provider answered, `thinking` at responses that think, `media` at images, documents and references.
//! Calls and results are `tools`', lone surrogates `lines`'; what only one agent's messages can have is the agent's.

mod content;
mod media;
mod refused;
mod thinking;

pub use content::{Wrong, wrong_block};
pub use media::rule_of as rule_of_media;
pub use refused::unanswered;

use super::{Collector, Context, api_verdict};
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
    &WRONG_SHAPE,
    &REQUEST_REFUSED,
    &LONG_NAME,
];

/// Finds them in one session.
pub fn check(context: &Context<'_>, found: &mut Collector) {
    let turns = content::Turns::new(context);
    let mut cases = Vec::new();
    content::judge(context, &turns, &mut cases);
    thinking::judge(context, &turns, &mut cases);
    media::judge(context, &mut cases);
    refused::judge(context, &mut cases);
    context.agent.check_messages(context, &mut cases);
    api_verdict::emit(context, cases, found, |case, finding, _| {
        let is_of = |rules: &[&Rule]| rules.contains(&case.rule);
        if is_of(context.agent.rules()) {
            context.agent.tell(context, case, finding.effect(api_verdict::effect(context, case.rule, case.does)))
        } else if case.rule == &REQUEST_REFUSED {
            refused::word(case, finding)
        } else if is_of(thinking::RULES) {
            thinking::word(context, case, finding)
        } else if is_of(media::RULES) {
            media::word(context, case, finding)
        } else {
            content::word(context, case, finding)
        }
    });
}

pub(crate) static EMPTY_TEXT: Rule =
    Rule { code: "M401", name: "empty-text", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static BLANK_TEXT: Rule =
    Rule { code: "M402", name: "blank-text", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static EMPTY_CONTENT: Rule =
    Rule { code: "M403", name: "empty-content", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static THINKING_ONLY: Rule =
    Rule { code: "M404", name: "thinking-only", severity: Severity::Warning, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static THINKING_MISPLACED: Rule = Rule {
    code: "M405",
    name: "thinking-misplaced",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

pub(crate) static BAD_SIGNATURE: Rule =
    Rule { code: "M406", name: "bad-signature", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static MISLABELLED_MEDIA: Rule = Rule {
    code: "M407",
    name: "mislabelled-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

pub(crate) static UNDECODABLE_MEDIA: Rule = Rule {
    code: "M408",
    name: "undecodable-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

pub(crate) static OVERSIZED_MEDIA: Rule =
    Rule { code: "M409", name: "oversized-media", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static UNSUPPORTED_MEDIA: Rule = Rule {
    code: "M410",
    name: "unsupported-media",
    severity: Severity::Error,
    fix: Some(Fix::Content),
    since: "0.1.0",
};

pub(crate) static BROKEN_DOCUMENT: Rule =
    Rule { code: "M411", name: "broken-document", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static TOOL_REFERENCE: Rule =
    Rule { code: "M412", name: "tool-reference", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(crate) static REQUEST_REFUSED: Rule =
    Rule { code: "M417", name: "request-refused", severity: Severity::Error, fix: Some(Fix::Content), since: "0.2.0" };

/// The limits are [`crate::provider::limits`].
pub(crate) static LONG_NAME: Rule =
    Rule { code: "M418", name: "long-tool-name", severity: Severity::Error, fix: None, since: "0.2.0" };

pub(crate) static WRONG_SHAPE: Rule =
    Rule { code: "M414", name: "wrong-shape", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };
