//! The two verdicts in words, the same on every page.

use super::style::{Span, Style, span};
use crate::audit::SessionAudit;
use crate::finding::codes;
use crate::verdict::{ApiVerdict, ResumeVerdict};

/// `full`, `partial 120/300`, `none`.
pub fn resume_words(session: &SessionAudit) -> String {
    let resume = &session.resume();
    match resume.verdict {
        ResumeVerdict::Partial => format!("partial {}/{}", resume.loaded, resume.expected),
        other => other.name().to_owned(),
    }
}

/// The RESUME verdict in its colour.
pub fn resume(session: &SessionAudit) -> Span<'static> {
    let style = match session.resume().verdict {
        ResumeVerdict::Full => Style::Good,
        ResumeVerdict::Partial => Style::Warning,
        ResumeVerdict::None => Style::Error,
    };
    span(style, resume_words(session))
}

/// `ok`, `healed`, `refused`, `in flight`, `unknown`; with the codes that make it.
pub fn api_words(session: &SessionAudit) -> String {
    let rules = session.extra.as_deref().map(|extra| extra.api_rules.as_slice()).unwrap_or_default();
    let name = session.api.name().replace('_', " ");
    if rules.is_empty() { name } else { format!("{name} ({})", codes(rules)) }
}

/// The API verdict in its colour.
pub fn api(session: &SessionAudit) -> Span<'static> {
    let style = match session.api {
        ApiVerdict::Ok => Style::Good,
        ApiVerdict::Healed => Style::Warning,
        ApiVerdict::Refused => Style::Error,
        ApiVerdict::InFlight | ApiVerdict::Unknown | ApiVerdict::NotSent => Style::Dim,
    };
    span(style, api_words(session))
}
