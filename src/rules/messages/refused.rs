//! M417: the provider refused the request, and no model has answered since. The file proves it, whatever the rule was that
//! the request broke.

use crate::finding::Finding;
use crate::record::facts::flag;
use crate::request::{Request, WHOLE};
use crate::rules::Context;
use crate::rules::agent::Judged;
use crate::rules::api_verdict::{Case, Does, Weight};

use super::REQUEST_REFUSED;
use crate::session::Session;

/// Refusals that no model has answered since, the last one first: the record and the status. One that an earlier repair
/// marked is about a request that is no longer sent.
pub fn unanswered(session: &Session, request: &Request, agent: &dyn Judged) -> Vec<(u32, u16)> {
    let since = session.chain.adopted.iter().rev().take_while(|n| !request.is_answer(session, **n));
    let open = since.filter(|n| !session.record(**n).has(flag::REPAIRED));
    open.filter_map(|&n| Some((n, agent.refusal(session, n)?))).collect()
}

pub(super) fn judge(context: &Context<'_>, cases: &mut Vec<Case>) {
    let refusals = unanswered(context.session, context.request, context.agent);
    if let Some(&(n, status)) = refusals.first() {
        let count = u32::try_from(refusals.len()).unwrap_or(u32::MAX).min(0xffff);
        let case = Case::new(&REQUEST_REFUSED, (Weight::Refused, Does::NotSent), n, WHOLE);
        cases.push(case.with(count << 16 | u32::from(status)));
    }
}

pub(super) fn word(case: &Case, finding: Finding) -> Finding {
    let (count, status) = (case.detail >> 16, case.detail & 0xffff);
    let says = match count {
        1 => format!("the API answered {status}, and no model has answered since"),
        n => format!("the API answered {status} {n} times in a row, and no model has answered since"),
    };
    finding.fact("status", status).fact("refusals", count).effect(says)
}
