//! What pi and OpenClaw do next, and where their rule errs.

use crate::agents::pi::ResumeRules;
use crate::predict::stop::{Open, WAITS, cut_off, lost_to_the_rule, unread_line};
use crate::record::facts::Kind;
use crate::request::{Interruption, Request, Role};
use crate::session::Session;

/// What it does next.
pub(super) fn next(session: &Session, stop: &Interruption, open: &[Open], rules: &ResumeRules) -> String {
    match stop {
        Interruption::None if !open.is_empty() => format!("{} is made up for each open call; {WAITS}", rules.made_up),
        Interruption::None => format!("the context is put together from the leaf; {WAITS}"),
        Interruption::Prompt(n) => {
            format!("the prompt of line {} stays last, and the next one goes behind it", session.record(*n).line)
        }
        Interruption::Turn(n, _) => {
            format!("the results of line {} stay last, and the next prompt goes behind them", session.record(*n).line)
        }
    }
}

/// Where its rule errs.
pub(super) fn doubts(session: &Session, request: &Request, open: &[Open], rules: &ResumeRules) -> Vec<String> {
    let mut doubts = Vec::new();
    doubts.extend(cut_off(open));
    doubts.extend(failed_turn(session, request, rules));
    doubts.extend(unread_line(session).map(lost_to_the_rule));
    doubts
}

/// The last turn failed and is left out, what its tools answered is not.
fn failed_turn(session: &Session, request: &Request, rules: &ResumeRules) -> Option<String> {
    let failed = request.rows.iter().rposition(|r| request.role(session, r.record) == Role::Failed)?;
    let behind = &request.rows[failed + 1..];
    if behind.iter().any(|r| matches!(request.role(session, r.record), Role::Model(_) | Role::Prompt)) {
        return None;
    }
    let line = session.record(request.rows[failed].record).line;
    let results = behind.iter().any(|r| session.record(r.record).kind == Kind::ToolMessage);
    let of_results = if results { rules.results_of_failed } else { "" };
    Some(format!("the turn of line {line} failed and is left out of the request{of_results}"))
}
