//! Where the conversation stopped by the agent's own rule, what the agent does next with it, and where that rule errs.
//!
//! The rule itself is `request`'s; here is what it does not see. sid-code looks at the last message that is left after
//! cleaning: a call cut off in mid-run is dropped before, so the stop looks like a finished answer or an unanswered
//! prompt.

use super::Stopped;
use super::states::{counted, quoted};
use crate::chain::Mode;
use crate::dialect::Dialect;
use crate::record::again;
use crate::record::facts::{Kind, NO_TIME, flag};
use crate::request::pairing::Pairing;
use crate::request::tail;
use crate::request::{CleanupPass, Interruption, Request, Role, Row, WHOLE};
use crate::session::{Session, Shape};

/// Where it stopped. Of a resume that comes to nothing the rule is never asked.
pub(super) fn stopped(session: &Session, request: &Request, refused: bool) -> Stopped {
    let none = Interruption::None.name();
    if refused {
        return Stopped { state: none, next: "nothing".to_owned(), ..Stopped::default() };
    }
    let stop = &request.interruption;
    let record = match stop {
        Interruption::None => None,
        Interruption::Prompt(n) | Interruption::Turn(n, _) => Some(*n),
    };
    let tools = stop.tools(&session.facts.names);
    let open = open_calls(session, request);
    let next = match session.dialect {
        Dialect::Sid => next_of_sid(session, request, stop, &tools),
        Dialect::Claude => next_of_claude(session, stop),
        Dialect::Pi | Dialect::Openclaw => next_of_pi(session, stop, &open),
    };
    Stopped { state: stop.name(), record, tools, next, doubts: doubts(session, request, stop, &open) }
}

/// What every agent does: it puts the history together and waits.
const WAITS: &str = "nothing is sent before the next prompt";

fn next_of_sid(session: &Session, request: &Request, stop: &Interruption, tools: &[String]) -> String {
    let summary = session.has_summary() && request.cleaned_count() > tail::SHOWN_WHOLE;
    match stop {
        Interruption::None if summary => {
            format!("a summary is put in front and a note behind where there is something to tell; {WAITS}")
        }
        Interruption::None => format!("a note that the session goes on is put behind the history; {WAITS}"),
        Interruption::Prompt(n) => format!(
            "the prompt of line {} is taken off and put back behind the history; {WAITS}",
            session.record(*n).line
        ),
        Interruption::Turn(..) if tools.is_empty() => {
            format!("a note says that a tool was cut off, and names none; {WAITS}")
        }
        Interruption::Turn(..) => {
            format!("a note names {} as done and asks the model not to run them again; {WAITS}", tools.join(", "))
        }
    }
}

fn next_of_claude(session: &Session, stop: &Interruption) -> String {
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

fn next_of_pi(session: &Session, stop: &Interruption, open: &[Open]) -> String {
    match stop {
        Interruption::None if !open.is_empty() && session.dialect == Dialect::Openclaw => {
            format!("a result is made up for each open call; {WAITS}")
        }
        Interruption::None if !open.is_empty() => {
            format!("an error result \"No result provided\" is made up for each open call; {WAITS}")
        }
        Interruption::None => format!("the context is put together from the leaf; {WAITS}"),
        Interruption::Prompt(n) => {
            format!("the prompt of line {} stays last, and the next one goes behind it", session.record(*n).line)
        }
        Interruption::Turn(n, _) => {
            format!("the results of line {} stay last, and the next prompt goes behind them", session.record(*n).line)
        }
    }
}

/// A call at the end of the history that nothing answered.
struct Open {
    line: u32,
    tool: String,
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

fn doubts(session: &Session, request: &Request, stop: &Interruption, open: &[Open]) -> Vec<String> {
    let mut doubts = Vec::new();
    doubts.extend(cut_off(session, stop, open));
    match session.dialect {
        Dialect::Sid => {
            doubts.extend(dropped_end(session, request, open));
            doubts.extend(of_sid(session, request, stop));
            doubts.extend(off_the_chain(session));
        }
        Dialect::Claude => doubts.extend(of_client(session)),
        Dialect::Pi | Dialect::Openclaw => doubts.extend(failed_turn(session, request)),
    }
    doubts.extend(unread_end(session));
    doubts
}

fn lines_of(open: &[Open]) -> String {
    let named: Vec<String> = open.iter().take(5).map(|o| format!("{} (line {})", quoted(&o.tool), o.line)).collect();
    let more = if open.len() > 5 { format!(" and {} more", open.len() - 5) } else { String::new() };
    format!("{}{more}", named.join(", "))
}

/// A run that was cut off in mid-call.
fn cut_off(session: &Session, stop: &Interruption, open: &[Open]) -> Option<String> {
    if open.is_empty() {
        return None;
    }
    let (each, them) = if open.len() == 1 { ("it", "it") } else { ("they", "them") };
    let fate = format!("no result answers {}, so nobody knows whether {each} ran", lines_of(open));
    Some(match (session.dialect, stop) {
        (Dialect::Sid, Interruption::None) => {
            format!("the run was cut off in mid-call and counts as none: {fate}, and the cleaning drops {them}")
        }
        (Dialect::Sid, Interruption::Prompt(_)) => {
            format!("the model had begun to answer this prompt: {fate}, and the cleaning drops the answer")
        }
        (Dialect::Sid, Interruption::Turn(..)) => format!("{fate}; the note does not name {them}"),
        _ => format!("the run was cut off in mid-call: {fate}"),
    })
}

/// sid-code: rows at the end that a layer drops, so that the rule looks at an earlier message.
fn dropped_end(session: &Session, request: &Request, open: &[Open]) -> Option<String> {
    let mut end = (0..request.rows.len() as u32).rev().map(|row| (row, request.fate(row, WHOLE)));
    let (row, layer) = end.find(|(_, fate)| *fate != Some(CleanupPass::UnansweredPrompt))?;
    let layer = layer?;
    let line = session.record(request.rows[row as usize].record).line;
    if open.iter().any(|call| call.line == line) {
        return None;
    }
    Some(match layer {
        CleanupPass::ThinkingOnly => format!("the model had begun to think on line {line}: that message is dropped"),
        _ => format!(
            "the last message, line {line}, is dropped by the layer {}, so an earlier one decides",
            layer.name()
        ),
    })
}

fn of_sid(session: &Session, request: &Request, stop: &Interruption) -> Vec<String> {
    let mut doubts = Vec::new();
    let last = request.cleaned().last().map(|row| session.record(request.rows[row as usize].record));
    match stop {
        Interruption::Turn(n, tools) if tools.is_empty() => doubts.push(format!(
            "the calls of the results on line {} do not stand right before them, so no tool is named",
            session.record(*n).line
        )),
        Interruption::Prompt(n) => {
            let record = session.record(*n);
            let origin = again::field(&session.source, record, &["message", "_meta", "origin"]);
            if let Some(origin) = origin.filter(|o| !o.is_empty()) {
                let origin = quoted(&origin.lossy());
                doubts.push(format!("nobody typed the prompt of line {}: its origin is {origin}", record.line));
            }
        }
        Interruption::None => {
            if let Some(record) = last.filter(|r| !r.any(flag::ROLE_USER | flag::ROLE_ASSISTANT)) {
                doubts.push(format!("line {} has a role that the rule takes for the model's", record.line));
            } else if let Some(record) = last.filter(|r| r.has(flag::CUT_BY_LENGTH)) {
                doubts.push(format!("the answer of line {} was cut at the limit of tokens", record.line));
            }
        }
        Interruption::Turn(..) => {}
    }
    doubts
}

/// sid-code: messages further down than the last one that came back. The last to write won, not the last to speak.
fn off_the_chain(session: &Session) -> Option<String> {
    if session.chain.mode != Mode::Chain {
        return None;
    }
    let last = *session.chain.messages.iter().max()?;
    let later: Vec<u32> = (last + 1..session.facts.records.len() as u32)
        .filter(|&n| session.record(n).is_message())
        .map(|n| session.record(n).line)
        .collect();
    let (first, end) = (later.first()?, later.last()?);
    let what = counted(later.len(), "message");
    Some(format!("{what} further down (line {first} to {end}) are not on the chain: the last writer's branch decides"))
}

/// Claude Code: what is reported of the client where it departs from the open loader.
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

/// pi: the last turn failed and is left out, what its tools answered is not.
fn failed_turn(session: &Session, request: &Request) -> Option<String> {
    let failed = request.rows.iter().rposition(|r| request.role(session, r.record) == Role::Failed)?;
    let behind = &request.rows[failed + 1..];
    if behind.iter().any(|r| matches!(request.role(session, r.record), Role::Model(_) | Role::Prompt)) {
        return None;
    }
    let line = session.record(request.rows[failed].record).line;
    let results = behind.iter().any(|r| session.record(r.record).kind == Kind::ToolMessage);
    Some(match (results, session.dialect) {
        (true, Dialect::Pi) => {
            format!("the turn of line {line} failed and is left out of the request; the results of its calls are not")
        }
        _ => format!("the turn of line {line} failed and is left out of the request"),
    })
}

/// A line behind the last message that could not be read: what it held is not known to any rule.
fn unread_end(session: &Session) -> Option<String> {
    let last = session.chain.messages.iter().map(|&n| session.record(n).line).max()?;
    let bad = session.facts.bad_lines.iter().find(|bad| bad.line > last)?;
    // Claude Code's first bad line was told already.
    let told =
        session.dialect == Dialect::Claude && session.facts.bad_lines.first().is_some_and(|b| b.line == bad.line);
    (!told)
        .then(|| format!("line {} behind the last message cannot be read: what it held is lost to the rule", bad.line))
}
