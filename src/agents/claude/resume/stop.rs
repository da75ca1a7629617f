//! What Claude Code does next, and where its client is reported to depart from the open loader.

use crate::predict::stop::{Open, WAITS, cut_off, lost_to_the_rule, unread_line};
use crate::record::facts::NO_TIME;
use crate::request::Interruption;
use crate::session::{Session, Shape};

/// What it does next.
pub(super) fn next(session: &Session, stop: &Interruption) -> String {
    match stop {
        Interruption::None => format!("the history is shown as it stands; {WAITS}"),
        Interruption::Prompt(n) => {
            format!("the prompt of line {} stays last; {WAITS}, unless the client is told to", session.record(*n).line)
        }
        Interruption::Turn(n, _) => {
            format!("the results of line {} stay last; {WAITS}, unless the client is told to", session.record(*n).line)
        }
    }
}

/// Where its rule errs.
pub(super) fn doubts(session: &Session, open: &[Open]) -> Vec<String> {
    let mut doubts = Vec::new();
    doubts.extend(cut_off(open));
    doubts.extend(of_client(session));
    // The first bad line was told already.
    let first = session.facts.bad_lines.first().map(|bad| bad.line);
    doubts.extend(unread_line(session).filter(|&line| Some(line) != first).map(lost_to_the_rule));
    doubts
}

/// What is reported of the client where it departs from the open loader.
fn of_client(session: &Session) -> Vec<String> {
    let mut doubts = Vec::new();
    if session.shape == Shape::Subagent {
        return doubts;
    }
    let (facts, graph) = (&session.facts, &session.graph);
    let time = |n: u32| session.record(n).time;
    if let Some(leaf) = session.chain.leaf.filter(|&n| time(n) != NO_TIME) {
        let mut adopted = vec![false; facts.records.len()];
        session.chain.adopted.iter().for_each(|&n| adopted[n as usize] = true);
        let leaves = graph.leaves(facts).into_iter();
        let newest = leaves
            .filter(|&n| !adopted[n as usize] && session.agent.is_shown(session.record(n)) && time(n) > time(leaf))
            .max_by_key(|&n| time(n));
        if let Some(n) = newest {
            doubts.push(format!(
                "line {} is newer than the leaf on line {}; the client is reported to go by the time",
                session.record(n).line,
                session.record(leaf).line
            ));
        }
    }
    if let Some(bad) = facts.bad_lines.first() {
        doubts.push(format!(
            "line {} cannot be read and is passed over; the client is reported to stop at such a line",
            bad.line
        ));
    }
    doubts
}
