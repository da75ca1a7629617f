//! Records that mark a session as a whole: its start (S505), its end (S503, S504), the end of a subagent (S510), its
//! version (S509), that it says nothing (S515), and what an earlier repair made (S528).
//!
//! Where an agent writes start and end marks into its sessions it looks at them itself.

use std::collections::BTreeMap;

use super::Context;
use crate::finding::{Place, Rule, Severity};
use crate::record::facts::{BlockKind, Facts, Kind, Record, block, flag};
use crate::record::json::Kind as Json;
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::agent::Judged;
use crate::rules::{Collector, counted};
use crate::session::{Session, Shape};

pub(crate) static NO_SESSION_END: Rule =
    Rule { code: "S503", name: "no-session-end", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(crate) static END_NOT_LAST: Rule =
    Rule { code: "S504", name: "end-not-last", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(crate) static REPEATED_START: Rule =
    Rule { code: "S505", name: "repeated-start", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static VERSION_CONTRADICTION: Rule =
    Rule { code: "S509", name: "version-contradiction", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(crate) static UNFINISHED_SIDECHAIN: Rule =
    Rule { code: "S510", name: "unfinished-sidechain", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) static GHOST_SESSION: Rule =
    Rule { code: "S515", name: "ghost-session", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) static REPAIRED_RECORD: Rule =
    Rule { code: "S528", name: "repaired-record", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    version(context, found);
    ghost(context, found);
    repaired(context, found);
}

/// Whether a session is to be counted by S503.
pub(super) fn has_no_end(session: &Session, agent: &dyn Judged) -> bool {
    agent.ends(session).is_some_and(|ends| ends.with == 0)
        && session.facts.records.iter().any(|r| r.kind != Kind::NonObject)
}

/// Only files of one shape throughout: one stray record is another finding's.
fn version(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let facts = &session.facts;
    if session.shape != Shape::Main || session.document.is_some() {
        return;
    }
    let entries: Vec<&Record> =
        facts.records.iter().filter(|r| r.kind != Kind::NonObject && r.kind != Kind::Start).collect();
    let Some(start) = (0..).zip(&facts.records).find(|(_, r)| r.kind == Kind::Start).map(|(n, _)| n) else { return };
    if entries.is_empty() {
        return;
    }
    let with = entries.iter().filter(|r| r.has(flag::ID_STRING)).count();
    let stated = facts.version.as_deref();
    let number = stated.and_then(|v| v.parse::<f64>().ok());
    let has_ids = match with {
        0 => false,
        n if n == entries.len() => true,
        _ => return,
    };
    let start_has_id = session.record(start).has(flag::ID_STRING);
    let Some(what) = context.agent.contradicted(number, has_ids, start_has_id) else { return };
    let shape = if has_ids { "every record has an id" } else { "no record has an id" };
    let states = stated.map_or("no version".into(), |v| format!("{v:?}"));
    let (effect, what) = (format!("{} {what}", session.agent_id.loader()), format!("states {states}, and {shape}"));
    found.add(VERSION_CONTRADICTION.at(context.place(start)).effect(effect).fact("found", what));
}

fn ghost(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let facts = &session.facts;
    if !matches!(session.shape, Shape::Main | Shape::Legacy) || facts.lines.bad > 0 {
        return;
    }
    let refused = session.document.as_ref().is_some_and(|d| d.refusal.is_some());
    let empty = session.document.is_none() && !facts.records.iter().any(|r| r.kind != Kind::NonObject);
    // rows without a type are nobody's
    let typed = session.document.is_some() || facts.records.iter().any(|r| !r.has(flag::NO_TYPE));
    if refused || empty || !typed || holds_message(facts) {
        return;
    }
    let place = if facts.records.is_empty() { Place::default() } else { context.place(0) };
    let what = context.agent.store_words().without_message;
    let types: Vec<String> = facts.types.iter().map(|(name, n)| format!("{name} {n}")).take(super::NAMED).collect();
    found.add(GHOST_SESSION.at(place).effect(format!("{}: {what}", session.agent_id.loader())).fact("records", types));
}

/// Whether there is a message in the file, whether or not anything brings it back.
pub(super) fn holds_message(facts: &Facts) -> bool {
    let message = |r: &Record| {
        r.is_message() || matches!(r.kind, Kind::Custom | Kind::TranscriptMessage) || (r.has(flag::ROLE_BAD))
    };
    facts.records.iter().chain(&facts.hidden).any(message)
}

/// Whether a typed prompt in it was answered by the model, wherever the two stand: only then is something lost when
/// nobody sees the session.
pub(super) fn answered_prompt(session: &Session) -> bool {
    let facts = &session.facts;
    let mut asked = false;
    for record in &facts.records {
        asked |= crate::chain::shape::is_prompt(facts, record);
        let answers = record.kind == Kind::Assistant
            && !record.any(flag::SYNTHETIC | flag::API_ERROR | flag::SIDECHAIN | flag::FAILED);
        if asked && answers {
            return true;
        }
    }
    false
}

fn repaired(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let facts = &session.facts;
    let mut codes: BTreeMap<String, (u32, u64)> = BTreeMap::new();
    for (n, record) in (0_u32..).zip(&facts.records) {
        let block =
            facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result && b.flags & block::REPAIRED != 0);
        if !record.has(flag::REPAIRED) && !block {
            continue;
        }
        let code = mark(session, record).unwrap_or_else(|| "unknown".to_owned());
        codes.entry(code).or_insert((n, 0)).1 += 1;
    }
    for (code, (first, count)) in codes {
        found.add(
            REPAIRED_RECORD
                .at(context.place(first))
                .effect(format!("{} in answer to {code}", counted(count, "record")))
                .fact("answers", code)
                .count(count),
        );
    }
}

/// The code that a repair's mark names: the mark is that word, or holds it as `code`.
fn mark(session: &Session, record: &Record) -> Option<String> {
    let text = reread::text(&session.source, record).ok()?;
    let mark = Value::parse(&text)?.get("sidAudit")?;
    let code = match mark.kind() {
        Json::String => mark.string(),
        _ => mark.get("code").and_then(|v| v.string()),
    }?;
    // a mark is written by anyone: only what looks like a code is taken for one
    let is_code = code.len() == 4 && code.is_ascii() && code[1..].bytes().all(|b| b.is_ascii_digit());
    is_code.then_some(code)
}
