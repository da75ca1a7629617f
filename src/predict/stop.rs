//! Where the conversation stopped by the agent's own rule, and what every agent's account of it is made of.
//!
//! The rule itself is `request`'s. What the agent does next, and what its rule does not see, its `Resume` says.

use super::Stopped;
use super::agent::Resume;
use super::states::quoted;
use crate::request::pairing::Pairing;
use crate::request::{Interruption, Request, Role, Row};
use crate::session::Session;

/// Where it stopped. Of a resume that comes to nothing the rule is never asked.
pub(super) fn stopped(session: &Session, request: &Request, agent: &dyn Resume, refused: bool) -> Stopped {
    if refused {
        let state = Interruption::None.name();
        return Stopped { state, next: "nothing".to_owned(), ..Stopped::default() };
    }
    let stop = &request.interruption;
    let record = match stop {
        Interruption::None => None,
        Interruption::Prompt(n) | Interruption::Turn(n, _) => Some(*n),
    };
    let open = open_calls(session, request);
    Stopped {
        state: stop.name(),
        record,
        tools: stop.tools(&session.facts.names),
        next: agent.next(session, request, &open),
        doubts: agent.doubts(session, request, &open),
    }
}

/// What every agent does: it puts the history together and waits.
pub(crate) const WAITS: &str = "nothing is sent before the next prompt";

/// A call at the end of the history that nothing answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    /// The line of the call.
    pub line: u32,
    /// Which tool was called.
    pub tool: String,
}

/// Calls of the model's last turn without a result, when no prompt came after it.
fn open_calls(session: &Session, request: &Request) -> Vec<Open> {
    let role_of = |row: &Row| request.role(session, row.record);
    let Some(last) = request.rows.iter().rposition(|r| matches!(role_of(r), Role::Model(_))) else {
        return Vec::new();
    };
    if request.rows[last + 1..].iter().any(|r| role_of(r) == Role::Prompt) {
        return Vec::new();
    }
    let turn = request.rows[last].turn;
    let pairing = Pairing::new(session, request);
    let open = pairing.calls.iter().filter(|c| request.rows[c.row as usize].turn == turn && !pairing.is_answered(c));
    open.map(|call| {
        let record = request.rows[call.row as usize].record;
        let name = request.blocks(&session.facts, record).get(call.block as usize).map_or(0, |b| b.name);
        let tool = session.facts.names.text(name);
        let tool = if tool.is_empty() { "a tool without a name".to_owned() } else { tool };
        Open { line: session.record(record).line, tool }
    })
    .collect()
}

/// That a run was cut off in these calls.
pub(crate) fn cut_off(open: &[Open]) -> Option<String> {
    Some(format!("the run was cut off in mid-call: {}", unanswered(open)?))
}

/// What nobody knows of calls without a result.
pub(crate) fn unanswered(open: &[Open]) -> Option<String> {
    const NAMED: usize = 5;
    let they = match open.len() {
        0 => return None,
        1 => "it",
        _ => "they",
    };
    let named: Vec<String> =
        open.iter().take(NAMED).map(|o| format!("{} (line {})", quoted(&o.tool), o.line)).collect();
    let more = if open.len() > NAMED { format!(" and {} more", open.len() - NAMED) } else { String::new() };
    Some(format!("no result answers {}{more}, so nobody knows whether {they} ran", named.join(", ")))
}

/// The line behind the last message that could not be read: what it held is not known to any rule.
pub(crate) fn unread_line(session: &Session) -> Option<u32> {
    let last = session.chain.messages.iter().map(|&n| session.record(n).line).max()?;
    Some(session.facts.bad_lines.iter().find(|bad| bad.line > last)?.line)
}

/// The doubt that such a line leaves.
pub(crate) fn lost_to_the_rule(line: u32) -> String {
    format!("line {line} behind the last message cannot be read: what it held is lost to the rule")
}
