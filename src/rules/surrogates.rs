//! L109: half a character is judged where it would be sent, in the content of a message of the next request. What stands
//! beside it, or off the chain, stays on this machine and only hinders strict readers.

use std::ops::Range;

use super::Context;
use super::api_verdict::HEALED;
use crate::finding::{Finding, Severity, Weight};
use crate::provider::Api;
use crate::record::facts::Defect;
use crate::request::content_span;
use crate::session::Session;

/// Where the content of a record stands: asked for once for all defects of that record.
#[derive(Default)]
pub(super) struct Contents {
    last: Option<(u32, Option<Range<u64>>)>,
}

impl Contents {
    /// The finding with what becomes of this half.
    pub(super) fn judge(&mut self, context: &Context<'_>, d: &Defect, finding: Finding) -> Finding {
        let session = context.session;
        let loader = context.loader();
        let sent = (d.record as usize) < session.facts.records.len()
            && context.request.reaches(d.record)
            && self.of(session, d.record).is_some_and(|span| span.contains(&d.offset));
        if !sent {
            return finding
                .severity(Severity::Warning)
                .effect(format!("{loader} reads it and does not send it; strict readers refuse the line"));
        }
        if context.agent.mends_surrogates() {
            return finding
                .severity(Severity::Warning)
                .effect(format!("{loader} reads it and takes it out before it sends; strict readers refuse the line"))
                .weighs(Weight::Healed)
                .fact(HEALED.0, HEALED.1);
        }
        if context.request.accepted(d.record).is_some() {
            return finding.severity(Severity::Warning).effect(format!(
                "{loader} reads it and sent it, and a model answered after it; strict readers refuse the line"
            ));
        }
        let finding = finding.weighs(Weight::Refused);
        match context.request.api {
            Api::Anthropic => {
                finding.effect(format!("{loader} reads it and sends it; the API answers 400 to every prompt"))
            }
            Api::OpenAi | Api::Unknown => finding
                .severity(Severity::Warning)
                .effect(format!("{loader} reads it and sends it; what this provider answers is not known here")),
        }
    }

    fn of(&mut self, session: &Session, record: u32) -> Option<&Range<u64>> {
        if self.last.as_ref().is_none_or(|(last, _)| *last != record) {
            self.last = Some((record, content_span(session, record)));
        }
        self.last.as_ref()?.1.as_ref()
    }
}
