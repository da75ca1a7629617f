//! S523: a prompt that was typed while the agent was busy, put into the queue, and never became a message.
//!
//! Claude Code logs the queue as rows beside the conversation: `enqueue` with the text, `dequeue` without it, `remove`
//! with or without, `popAll` when the person pulls the queue back into the editor. A prompt is delivered when its text
//! stands in a later user record or queued-command attachment, wherever; only for the others is the fate replayed, as a
//! queue in which the first goes first. Texts are compared and let go: a report carries lines, times and lengths.
//!
//! A prompt dequeued behind the last answer is not judged: its message may be the next line of a longer file, and is in
//! every such real one.

use std::collections::{HashMap, VecDeque};

use crate::finding::Severity;
use crate::record::facts::{BlockKind, Kind, NO_TIME, flag};
use crate::record::json::Kind as Json;
use crate::record::value::Value;
use crate::record::{reread, time};
use crate::rules::store::LOST_PROMPT;
use crate::rules::{Collector, Context};
use crate::session::{Session, Shape};

/// What became of a prompt in the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Queued,
    Dequeued,
    Removed { unrecorded: bool },
    Settled,
}

struct Prompt {
    record: u32,
    /// The typed text, trimmed; none when the row does not tell it.
    text: Option<Vec<u8>>,
    fate: Fate,
    /// The row that took it out.
    taken: u32,
}

/// Longer rows are pastes of images: their text is not searched.
const LONGEST: u32 = 8 << 20;

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    if session.shape != Shape::Main {
        return;
    }
    let facts = &session.facts;
    let Some(first) = facts.records.iter().position(|r| r.kind == Kind::Queue) else { return };
    let mut prompts = replay(session, first as u32);
    prompts.retain(|p| p.fate != Fate::Settled && p.text.as_deref().is_some_and(is_typed));
    let answered = facts.records.iter().rposition(|r| r.kind == Kind::Assistant && !r.any(flag::SIDECHAIN));
    prompts.retain(|p| match p.fate {
        Fate::Queued => !context.live,
        Fate::Dequeued => answered.is_some_and(|n| n > p.taken as usize),
        _ => true,
    });
    forget_delivered(session, &mut prompts);
    for prompt in &prompts {
        if !found.wants(&LOST_PROMPT) {
            continue;
        }
        let record = session.record(prompt.record);
        let (severity, fate) = match prompt.fate {
            Fate::Removed { unrecorded: true } => (Severity::Info, "delivered, not recorded"),
            Fate::Removed { .. } => (Severity::Warning, "removed without a message"),
            Fate::Dequeued => (Severity::Warning, "dequeued without a message"),
            Fate::Queued | Fate::Settled => (Severity::Warning, "still in the queue at the end"),
        };
        let mut finding = LOST_PROMPT
            .at(context.place(prompt.record))
            .severity(severity)
            .effect(format!("{} does not bring it back: {fate}", session.agent_id.loader()))
            .fact("fate", fate)
            .fact("bytes", prompt.text.as_ref().map_or(0, Vec::len));
        if record.time != NO_TIME {
            finding = finding.fact("at", time::format(record.time));
        }
        if prompt.fate != Fate::Queued {
            finding = finding.fact("taken_line", session.record(prompt.taken).line);
        }
        found.add(finding);
    }
}

/// Notifications and slash commands go through the queue too, and are no prompts.
fn is_typed(text: &[u8]) -> bool {
    !text.is_empty() && !text.starts_with(b"/") && !text.starts_with(b"<task-notification")
}

/// The queue, from its rows alone.
fn replay(session: &Session, first: u32) -> Vec<Prompt> {
    let facts = &session.facts;
    let operation = |name: &[u8]| facts.names.find(name);
    let (enqueue, dequeue) = (operation(b"enqueue"), operation(b"dequeue"));
    let (remove, pop_all) = (operation(b"remove"), operation(b"popAll"));
    let mut prompts: Vec<Prompt> = Vec::new();
    let mut queue: VecDeque<usize> = VecDeque::new();
    let is_old = |version: u16| facts.names.get(version).is_some_and(|v| !after(v, [2, 1, 81]));
    let before = facts.records[..first as usize].iter().rev().find(|r| r.version != 0);
    let mut old_client = before.is_some_and(|r| is_old(r.version));
    for (n, record) in (first..).zip(&facts.records[first as usize..]) {
        if record.version != 0 {
            old_client = is_old(record.version);
        }
        if record.kind != Kind::Queue || record.agent == 0 {
            continue;
        }
        let op = record.agent;
        if op == enqueue {
            queue.push_back(prompts.len());
            prompts.push(Prompt { record: n, text: content(session, n), fate: Fate::Queued, taken: n });
        } else if op == dequeue {
            if let Some(at) = queue.pop_front() {
                (prompts[at].fate, prompts[at].taken) = (Fate::Dequeued, n);
            }
        } else if op == remove {
            let text = content(session, n);
            let (at, fate) = match &text {
                Some(text) => (queue.iter().position(|&at| prompts[at].text.as_ref() == Some(text)), Fate::Settled),
                None => (Some(0), Fate::Removed { unrecorded: old_client }),
            };
            if let Some(at) = at.and_then(|at| queue.remove(at)) {
                (prompts[at].fate, prompts[at].taken) = (fate, n);
            }
        } else if op == pop_all {
            for at in queue.drain(..) {
                prompts[at].fate = Fate::Settled;
            }
        }
    }
    prompts
}

/// Whether a version is later than this one; what cannot be read counts as later.
fn after(version: &[u8], than: [u32; 3]) -> bool {
    let text = String::from_utf8_lossy(version);
    let mut parts = text.split(['.', '-', '+']).map(str::parse::<u32>);
    let mut number = || parts.next().and_then(Result::ok);
    match (number(), number(), number()) {
        (Some(a), Some(b), Some(c)) => [a, b, c] > than,
        _ => true,
    }
}

/// The text of a queue row.
fn content(session: &Session, n: u32) -> Option<Vec<u8>> {
    let text = read(session, n)?;
    flat(Value::parse(&text)?.get("content")?)
}

fn read(session: &Session, n: u32) -> Option<Vec<u8>> {
    let record = session.record(n);
    if record.length > LONGEST {
        return None;
    }
    reread::text(&session.source, record).ok()
}

/// A string, or the texts of blocks one after the other; white space at the ends does not count.
fn flat(value: Value<'_>) -> Option<Vec<u8>> {
    let text = match value.kind() {
        Json::String => value.text()?.as_bytes().to_vec(),
        Json::Array => {
            let texts = value.items().into_iter().filter_map(|b| b.get("text").and_then(|t| t.text()));
            texts.map(|t| t.as_bytes().to_vec()).collect::<Vec<_>>().join(&b'\n')
        }
        _ => return None,
    };
    Some(text.trim_ascii().to_vec())
}

/// Takes out the prompts whose text stands in a later message. One message with exactly that text stands for one prompt;
/// one that holds the text beside others (clients join what waits) for each that it holds.
fn forget_delivered(session: &Session, prompts: &mut Vec<Prompt>) {
    /// So many open prompts are searched for inside longer messages; beyond them only whole texts are compared.
    const SEARCHED: usize = 200;
    let Some(start) = prompts.first().map(|p| p.record) else { return };
    let facts = &session.facts;
    let mut by_text: HashMap<&[u8], VecDeque<usize>> = HashMap::new();
    for (at, prompt) in prompts.iter().enumerate() {
        by_text.entry(prompt.text.as_deref().unwrap_or_default()).or_default().push_back(at);
    }
    let mut delivered = vec![false; prompts.len()];
    let mut settled = 0;
    for (n, record) in (start..).zip(&facts.records[start as usize..]) {
        let prompt = record.kind == Kind::User
            && !facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result)
            && !record.any(flag::SIDECHAIN);
        if !prompt && !record.has(flag::QUEUED_COMMAND) {
            continue;
        }
        let Some(text) = read(session, n) else { continue };
        let Some(value) = Value::parse(&text) else { continue };
        let said = if prompt { value.at(&["message", "content"]) } else { value.at(&["attachment", "prompt"]) };
        let Some(said) = said.and_then(flat) else { continue };
        if let Some(same) = by_text.get_mut(&*said) {
            if let Some(at) = same.front().copied().filter(|&at| prompts[at].record < n) {
                same.pop_front();
                delivered[at] = true;
            }
            continue;
        }
        settled += delivered[settled..].iter().take_while(|d| **d).count();
        let open = (settled..prompts.len()).filter(|&at| !delivered[at]).take(SEARCHED);
        let open = open.take_while(|&at| prompts[at].record < n);
        for at in open.collect::<Vec<_>>() {
            let typed = prompts[at].text.as_deref().unwrap_or_default();
            delivered[at] = memchr::memmem::find(&said, typed).is_some();
        }
    }
    let mut delivered = delivered.into_iter();
    prompts.retain(|_| !delivered.next().unwrap_or(false));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(after(b"2.1.82", [2, 1, 81]) && after(b"2.10.0", [2, 1, 81]) && after(b"odd", [2, 1, 81]));
        assert!(!after(b"2.1.81", [2, 1, 81]) && !after(b"2.0.76", [2, 1, 81]) && !after(b"1.0.43", [2, 1, 81]));
    }
}
