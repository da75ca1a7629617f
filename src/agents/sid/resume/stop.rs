//! Where sid-code's rule errs, and what it does next. The rule looks at the last message that is left after cleaning: a
//! call cut off in mid-run is dropped before, so the stop looks like a finished answer or an unanswered prompt.

use crate::chain::Mode;
use crate::predict::states::quoted;
use crate::predict::stop::{Open, WAITS, lost_to_the_rule, unanswered, unread_line};
use crate::record::facts::flag;
use crate::record::reread;
use crate::request::{CleanupPass, Interruption, Request, WHOLE, tail};
use crate::session::Session;
use crate::text::counted;

/// What it does next.
pub(super) fn next(session: &Session, request: &Request) -> String {
    let stop = &request.interruption;
    let tools = stop.tools(&session.facts.names);
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

/// Where the rule errs.
pub(super) fn doubts(session: &Session, request: &Request, open: &[Open]) -> Vec<String> {
    let mut doubts = Vec::new();
    doubts.extend(cut_off(&request.interruption, open));
    doubts.extend(dropped_end(session, request, open));
    doubts.extend(of_the_last(session, request));
    doubts.extend(off_the_chain(session));
    doubts.extend(unread_line(session).map(lost_to_the_rule));
    doubts
}

/// A run that was cut off in mid-call.
fn cut_off(stop: &Interruption, open: &[Open]) -> Option<String> {
    let fate = unanswered(open)?;
    let them = if open.len() == 1 { "it" } else { "them" };
    Some(match stop {
        Interruption::None => {
            format!("the run was cut off in mid-call and counts as none: {fate}, and the cleaning drops {them}")
        }
        Interruption::Prompt(_) => {
            format!("the model had begun to answer this prompt: {fate}, and the cleaning drops the answer")
        }
        Interruption::Turn(..) => format!("{fate}; the note does not name {them}"),
    })
}

/// Rows at the end that a layer drops, so that the rule looks at an earlier message.
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

/// What the message that decides does not say.
fn of_the_last(session: &Session, request: &Request) -> Vec<String> {
    let mut doubts = Vec::new();
    let last = request.cleaned().last().map(|row| session.record(request.rows[row as usize].record));
    match &request.interruption {
        Interruption::Turn(n, tools) if tools.is_empty() => doubts.push(format!(
            "the calls of the results on line {} do not stand right before them, so no tool is named",
            session.record(*n).line
        )),
        Interruption::Prompt(n) => {
            let record = session.record(*n);
            let origin = reread::field(&session.source, record, &["message", "_meta", "origin"]);
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

/// Messages further down than the last one that came back. The last to write won, not the last to speak.
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
