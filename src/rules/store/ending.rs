//! How a session stopped: with a question nobody answered (S501), or with results nobody answered (S502).
//!
//! Judged on the last message that a resume brings back. sid-code cleans the history before it looks (notes, section 4,
//! recovery pipeline), and so does this: a call that was never answered is dropped first, and what stood before it is
//! then the end. How the *process* ended is another question with another answer.

use std::collections::HashSet;

use super::{Context, NAMED};
use crate::chain::shape::is_prompt;
use crate::dialect::Dialect;
use crate::finding::{Doc, Finding, Rule, Severity};
use crate::record::facts::{Block, BlockKind, Kind, NO_TIME, Record, block, flag};
use crate::record::time;
use crate::rules::Collector;
use crate::session::{Session, Shape};

pub(super) static INTERRUPTED_PROMPT: Rule = Rule {
    code: "S501",
    name: "interrupted-prompt",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The last message that a resume brings back is a typed prompt: a question nobody answered. Output of the \
               client's own commands and the marker of an interrupt are no question.",
        arises: "The process was killed or lost its connection before the first answer was written, or the person left. \
                 In a session that is being written to it is in flight.",
        agent: "sid-code 3f3215144f68 calls this interrupted_prompt, takes the prompt off the history and offers it \
                again; it says the same of a session whose last message held nothing but an unanswered call. \
                claude-agent-sdk 0.2.189 and pi 1.6.0 bring the prompt back as it stands, and the next one follows it.",
        repair: "Nothing: the next prompt answers it.",
        loses: "Nothing is changed.",
        error_text: None,
    },
};

pub(super) static INTERRUPTED_TURN: Rule = Rule {
    code: "S502",
    name: "interrupted-turn",
    severity: Severity::Info,
    fix: None,
    since: "0.1.0",
    doc: Doc {
        what: "The last message that a resume brings back holds tool results, and the model never went on. The finding \
               names the tools.",
        arises: "The process ended between a tool's result and the model's next answer. In a session that is being \
                 written to it is in flight.",
        agent: "sid-code 3f3215144f68 calls this interrupted_turn and asks whether to go on; it looks the tools' names \
                up in the message just before. claude-agent-sdk 0.2.189 and pi 1.6.0 bring the results back, and the \
                next prompt stands behind them.",
        repair: "Nothing: the turn can be continued.",
        loses: "Nothing is changed.",
        error_text: None,
    },
};

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    if !matches!(session.shape, Shape::Main | Shape::Legacy) || session.chain.refusal.is_some() {
        return;
    }
    let end = if session.dialect == Dialect::Sid { cleaned_end(session) } else { plain_end(session) };
    let Some(end) = end else { return };
    let (n, finding) = match &end {
        End::Prompt(n) => (*n, INTERRUPTED_PROMPT.at(context.place(*n)).effect(prompt_effect(session))),
        End::Results(n, tools) => {
            let finding = INTERRUPTED_TURN
                .at(context.place(*n))
                .effect(format!("{}: the results come back, and no answer to them", session.dialect.loader()))
                .fact("tools", tools.clone());
            (*n, finding)
        }
    };
    let finding = with_time(finding, session.record(n));
    found.add(if context.live { finding.fact("state", "in flight") } else { finding });
}

fn prompt_effect(session: &Session) -> String {
    let what = match session.dialect {
        Dialect::Sid => "interrupted_prompt: taken off the history and offered again",
        _ => "the prompt comes back, and the next one follows it",
    };
    format!("{}: {what}", session.dialect.loader())
}

fn with_time(finding: Finding, record: &Record) -> Finding {
    if record.time == NO_TIME { finding } else { finding.fact("at", time::format(record.time)) }
}

enum End {
    Prompt(u32),
    Results(u32, Vec<String>),
}

/// The end of what the loader returns.
fn plain_end(session: &Session) -> Option<End> {
    let &n = session.chain.messages.last()?;
    let record = session.record(n);
    if record.any(flag::INTERRUPT | flag::LOCAL_COMMAND | flag::COMPACT_SUMMARY) {
        return None;
    }
    let blocks = session.facts.blocks_of(record);
    if blocks.iter().any(|b| b.kind == BlockKind::Result) {
        return Some(End::Results(n, tools(session, n)));
    }
    (is_prompt(&session.facts, record) && record.kind == Kind::User).then_some(End::Prompt(n))
}

/// The names of the tools whose results end the session: of this record, and of those before it up to a model's message.
fn tools(session: &Session, last: u32) -> Vec<String> {
    let facts = &session.facts;
    let mut wanted: Vec<u64> = Vec::new();
    let mut names = Vec::new();
    let mut keep = |name: u16| {
        let name = facts.names.text(name);
        if !name.is_empty() && !names.contains(&name) && names.len() < NAMED {
            names.push(name);
        }
    };
    let at = session.chain.messages.iter().rposition(|&n| n == last).unwrap_or(0);
    for &n in session.chain.messages[..=at].iter().rev() {
        let record = session.record(n);
        let blocks = facts.blocks_of(record);
        if record.kind == Kind::Assistant {
            for block in blocks.iter().filter(|b| b.kind == BlockKind::Call) {
                if wanted.contains(&block.id) {
                    keep(block.name);
                    wanted.retain(|id| *id != block.id);
                }
            }
            if wanted.is_empty() || !blocks.iter().any(|b| b.kind == BlockKind::Call) {
                break;
            }
            continue;
        }
        let results: Vec<&Block> = blocks.iter().filter(|b| b.kind == BlockKind::Result).collect();
        if results.is_empty() || wanted.len() > 1000 {
            break;
        }
        // pi's results carry the name themselves
        results.iter().for_each(|b| keep(b.name));
        wanted.extend(results.iter().map(|b| b.id));
    }
    names.sort();
    names
}

/// The end of what is left after sid-code's recovery layers; none where they throw.
fn cleaned_end(session: &Session) -> Option<End> {
    let facts = &session.facts;
    let messages = &session.chain.messages;
    if messages.iter().any(|&n| session.record(n).has(flag::CONTENT_NULL)) {
        return None;
    }
    let answered: HashSet<u64> = messages
        .iter()
        .flat_map(|&n| facts.blocks_of(session.record(n)))
        .filter(|b| b.kind == BlockKind::Result && b.flags & block::NO_ID == 0)
        .map(|b| b.id)
        .collect();
    let open = |b: &&Block| b.kind == BlockKind::Call && !answered.contains(&b.id);
    let stays = |n: u32| {
        let record = session.record(n);
        let kept: Vec<&Block> = facts.blocks_of(record).iter().filter(|b| !open(b)).collect();
        let assistant = record.has(flag::ROLE_ASSISTANT);
        let thinks = |b: &&Block| matches!(b.kind, BlockKind::Thinking | BlockKind::Redacted);
        let broken = |b: &&Block| match b.kind {
            BlockKind::Call => b.flags & (block::NO_ID | block::NO_NAME) != 0,
            BlockKind::Result => b.flags & block::NO_ID != 0,
            _ => false,
        };
        // nothing left of it, or nothing but thinking
        let silent = assistant && kept.iter().all(thinks);
        !silent && !kept.iter().any(broken)
    };
    let mut left = messages.iter().rev().copied().filter(|&n| stays(n));
    let last = left.next()?;
    let record = session.record(last);
    if !record.has(flag::ROLE_USER) {
        return None;
    }
    let results: Vec<u64> =
        facts.blocks_of(record).iter().filter(|b| b.kind == BlockKind::Result).map(|b| b.id).collect();
    if results.is_empty() {
        return Some(End::Prompt(last));
    }
    let before = left.next().map(|n| facts.blocks_of(session.record(n))).unwrap_or_default();
    let mut tools = Vec::new();
    for call in before.iter().filter(|b| b.kind == BlockKind::Call && results.contains(&b.id)).take(NAMED) {
        tools.push(facts.names.text(call.name));
    }
    Some(End::Results(last, tools))
}
