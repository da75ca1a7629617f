//! S514: a session with a message that its agent's own list does not show, and why.

use super::Context;
use super::agent::Hidden;
use super::markers::{answered_prompt, holds_message};
use crate::finding::{Finding, Rule, Severity};
use crate::rules::Collector;
use crate::session::Shape;

pub(super) static HIDDEN_SESSION: Rule =
    Rule { code: "S514", name: "hidden-session", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    // Of a document that breaks off nothing is read; what it held is not known, and C211 says so.
    let broken = session.document.as_ref().is_some_and(|d| d.refusal.is_some()) && session.facts.size > 0;
    if !matches!(session.shape, Shape::Main | Shape::Legacy) || !(holds_message(&session.facts) || broken) {
        return;
    }
    let Some(Hidden { place, why, cause }) = context.agent.hidden(session) else { return };
    let severity = if answered_prompt(session) { Severity::Warning } else { Severity::Info };
    let mut finding = HIDDEN_SESSION
        .at(place)
        .severity(severity)
        .effect(format!("{} does not list it: {why}", session.agent_id.loader()))
        .fact("why", why);
    // what is behind it, when that was found
    finding.cause = cause.and_then(|rule| found.so_far().iter().find(|f| f.is(rule))).map(Finding::as_cause);
    found.add(finding);
}
