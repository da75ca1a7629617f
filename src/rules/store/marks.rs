//! Records that mark a session as a whole: its start (S505), its end (S503, S504), the end of a subagent (S510), its
//! version (S509), that it says nothing (S515), and what an earlier repair made (S528).
//!
//! Only sid-code writes start and end marks into its sessions; a second header of pi is the chain's business (C221).

use std::collections::BTreeMap;

use super::Context;
use crate::chain::Mode;
use crate::dialect::Dialect;
use crate::finding::{Place, Rule, Severity};
use crate::record::facts::{BlockKind, Facts, Kind, Record, block, flag};
use crate::record::json::Kind as Json;
use crate::record::value::Value;
use crate::record::{again, time};
use crate::rules::{Collector, counted};
use crate::session::{Session, Shape};

pub(super) static NO_SESSION_END: Rule =
    Rule { code: "S503", name: "no-session-end", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) static END_NOT_LAST: Rule =
    Rule { code: "S504", name: "end-not-last", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) static REPEATED_START: Rule =
    Rule { code: "S505", name: "repeated-start", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static VERSION_CONTRADICTION: Rule =
    Rule { code: "S509", name: "version-contradiction", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static UNFINISHED_SIDECHAIN: Rule =
    Rule { code: "S510", name: "unfinished-sidechain", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) static GHOST_SESSION: Rule =
    Rule { code: "S515", name: "ghost-session", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) static REPAIRED_RECORD: Rule =
    Rule { code: "S528", name: "repaired-record", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    match (session.dialect, session.shape) {
        (Dialect::Sid, Shape::Main) => {
            repeated_start(context, found);
            end_not_last(context, Kind::End, found);
        }
        (Dialect::Sid, Shape::Sidechain) => {
            unfinished(context, found);
            end_not_last(context, Kind::SideEnd, found);
        }
        _ => {}
    }
    version(context, found);
    ghost(context, found);
    repaired(context, found);
}

/// Whether a session of sid-code is to be counted by S503.
pub(super) fn has_no_end(session: &Session) -> bool {
    let facts = &session.facts;
    session.dialect == Dialect::Sid
        && session.shape == Shape::Main
        && facts.records.iter().any(|r| r.kind != Kind::NonObject)
        && !facts.records.iter().any(|r| r.kind == Kind::End)
}

fn end_not_last(context: &Context<'_>, mark: Kind, found: &mut Collector) {
    let records = &context.session.facts.records;
    let Some(first) = records.iter().position(|r| r.kind == mark) else { return };
    let behind = records[first + 1..].iter().filter(|r| r.kind != Kind::NonObject).count();
    if behind == 0 {
        return;
    }
    let marks = records[first..].iter().filter(|r| r.kind == mark).count();
    found.add(
        END_NOT_LAST
            .at(context.place(first as u32))
            .effect(format!("{} does not look where the mark stands", context.session.dialect.loader()))
            .fact("end_marks", marks)
            .fact("records_behind", behind),
    );
}

fn repeated_start(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let records = &session.facts.records;
    let mut starts = (0..).zip(records).filter(|(_, r)| r.kind == Kind::Start).map(|(n, _)| n);
    let Some(first) = starts.next() else { return };
    let before = records[..first as usize].iter().position(|r| r.kind != Kind::NonObject);
    let Some(at) = starts.clone().next().or(before.map(|n| n as u32)) else { return };
    let more = starts.count();
    let what = match (more, session.chain.mode) {
        (0, Mode::Linear) => "takes what stands before the start along",
        (0, _) => "does not go above the start record",
        (_, Mode::Linear) => "lets the last start overwrite id and directory, and keeps the messages before it",
        _ => "takes the nearest start above the tail, and nothing above it",
    };
    found.add(
        REPEATED_START
            .at(context.place(at))
            .effect(format!("{} {what}", session.dialect.loader()))
            .fact("starts", more + 1)
            .fact("records_before_first", first)
            .fact("first_start_line", session.record(first).line),
    );
}

fn unfinished(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let facts = &session.facts;
    if facts.size == 0 || facts.records.iter().any(|r| r.kind == Kind::SideEnd) {
        return;
    }
    let start = (0..).zip(&facts.records).find(|(_, r)| r.kind == Kind::SideStart);
    let messages = facts.records.iter().filter(|r| r.kind == Kind::SideMessage).count();
    let last = facts.records.iter().rev().find(|r| r.kind == Kind::SideMessage);
    let mut finding = UNFINISHED_SIDECHAIN
        .at(start.map_or_else(Place::default, |(n, _)| context.place(n)))
        .effect(format!("{} lists it as unfinished, and its clean-up deletes it", session.dialect.loader()))
        .fact("messages", messages);
    if let Some((_, start)) = start {
        finding = finding.fact("agent", facts.names.text(start.agent));
        if let Some(kind) = again::field(&session.source, start, &["agentType"]) {
            finding = finding.fact("agent_type", &kind);
        }
    }
    if let Some(last) = last.filter(|r| r.time != crate::record::facts::NO_TIME) {
        finding = finding.fact("last", time::format(last.time));
    }
    found.add(if context.live { finding.fact("state", "in flight") } else { finding });
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
    let has_ids = match session.dialect {
        Dialect::Sid => number.is_some_and(|v| v >= 3.0),
        Dialect::Pi | Dialect::Openclaw => number.is_some_and(|v| v >= 2.0),
        Dialect::Claude => return,
    };
    let says =
        |shape: &str| format!("states {}, and {shape}", stated.map_or("no version".into(), |v| format!("{v:?}")));
    let loader = session.dialect.loader();
    let (what, effect) = match (has_ids, with) {
        (true, 0) => (
            says("no record has an id"),
            match session.dialect {
                Dialect::Sid => format!("{loader} reads it in file order, as version 2"),
                _ => format!("{loader} finds no tree: only the last entry comes back"),
            },
        ),
        (false, n) if n == entries.len() && (session.dialect.is_pi() || start_has_id(facts, start)) => (
            says("every record has an id"),
            match session.dialect {
                Dialect::Sid => format!("{loader} walks up from the tail, as in version 3"),
                Dialect::Openclaw => format!("{loader} goes by the ids"),
                _ => format!("{loader} gives every entry a new id in file order when it opens it: branches are lost"),
            },
        ),
        _ => return,
    };
    found.add(VERSION_CONTRADICTION.at(context.place(start)).effect(effect).fact("found", what));
}

fn start_has_id(facts: &Facts, start: u32) -> bool {
    facts.records[start as usize].has(flag::ID_STRING)
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
    let what = match session.dialect {
        Dialect::Sid => "not listed, and deleted at the next start",
        Dialect::Claude => "listed only when it bears a title",
        Dialect::Pi => "listed as a session without messages",
        Dialect::Openclaw => "an empty history",
    };
    let types: Vec<String> = facts.types.iter().map(|(name, n)| format!("{name} {n}")).take(super::NAMED).collect();
    found.add(GHOST_SESSION.at(place).effect(format!("{}: {what}", session.dialect.loader())).fact("records", types));
}

/// Whether there is a message in the file, whether or not anything brings it back.
pub(super) fn holds_message(facts: &Facts) -> bool {
    let message =
        |r: &Record| r.is_message() || matches!(r.kind, Kind::Custom | Kind::SideMessage) || (r.has(flag::ROLE_BAD));
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
    let text = again::text(&session.source, record).ok()?;
    let mark = Value::parse(&text)?.get("sidAudit")?;
    let code = match mark.kind() {
        Json::String => mark.string(),
        _ => mark.get("code").and_then(|v| v.string()),
    }?;
    // a mark is written by anyone: only what looks like a code is taken for one
    let is_code = code.len() == 4 && code.is_ascii() && code[1..].bytes().all(|b| b.is_ascii_digit());
    is_code.then_some(code)
}
