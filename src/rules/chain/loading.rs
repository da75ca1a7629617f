//! What the loader makes of the whole: C210, C211, C220 to C222, C224.

use super::View;
use crate::chain::graph::numbered;
use crate::chain::recover::{Broken, Origin};
use crate::chain::{Mode, Refusal};
use crate::dialect::Dialect;
use crate::finding::{Finding, Fix, Place, Rule, Severity};
use crate::record::facts::{Kind, flag};
use crate::rules::{Collector, Context, counted};
use crate::session::Shape;

pub(super) fn check(view: &View<'_>, found: &mut Collector) {
    headers(view, found);
    versions(view.context, found);
    stops_short(view, found);
    not_loadable(view.context, found);
    linear(view, found);
}

/// A whole-file session: it loads or it does not.
pub(super) fn document(context: &Context<'_>, found: &mut Collector) {
    versions(context, found);
    let session = context.session;
    if let Some(Refusal::BadDocument(why)) = session.chain.refusal {
        found.add(
            NOT_LOADABLE
                .at(Place::default())
                .effect(format!("{} cannot load it: the file {why}", session.dialect.loader()))
                .fact("reason", why),
        );
    }
}

/// Whether the file holds a message, on a line of its own or inside a damaged one.
pub(super) fn holds_message(context: &Context<'_>) -> bool {
    let facts = &context.session.facts;
    facts.records.iter().chain(&facts.hidden).any(|r| r.is_message() || r.kind == Kind::TranscriptMessage)
}

fn stops_short(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let Some(recovered) = &view.recovered else { return };
    if session.chain.refusal.is_some() || session.chain.messages.is_empty() {
        // C211 says it all.
        return;
    }
    let lost: Vec<u32> = recovered.lost(&session.chain).collect();
    let expected = recovered.expected(&session.chain);
    let more = expected > session.chain.messages.len();
    if lost.is_empty() || (!more && recovered.foreign.is_empty()) {
        return;
    }
    let records = recovered.chain.adopted.len().saturating_sub(session.chain.adopted.len());
    // The break that stands last in the file and whose child came back is where this loader stopped.
    let came_back = |n: u32| recovered.chain.adopted.contains(&n);
    let link = recovered.links.iter().rfind(|l| came_back(l.child));
    let hidden = lost.iter().find(|&&n| matches!(recovered.origins[n as usize], Origin::Hidden(_)));
    let named = |f: &&Finding, codes: &[&str]| codes.contains(&f.rule.code);
    let cause = match (link, hidden) {
        (Some(link), _) => {
            let line = u64::from(recovered.records[link.child as usize].line);
            let at = |f: &&Finding| f.place.line == Some(line) && f.rule.code == link.broken.code();
            let told = found.so_far().iter().find(at);
            // A torn line is the cause of the missing parent that it leaves.
            told.and_then(|f| f.cause.clone())
                .filter(|c| c.starts_with('L'))
                .or_else(|| told.map(Finding::name_at_line))
                .unwrap_or_else(|| format!("{}@{line}", link.broken.code()))
        }
        (None, Some(&n)) => {
            let line = u64::from(recovered.records[n as usize].line);
            let damage = ["L103", "L104", "L105", "L107", "L110"];
            let told = found.so_far().iter().find(|f| f.place.line == Some(line) && named(f, &damage));
            told.map_or_else(|| format!("L103@{line}"), Finding::name_at_line)
        }
        (None, None) if !recovered.foreign.is_empty() => {
            format!("S508@{}", recovered.records[recovered.foreign[0] as usize].line)
        }
        (None, None) => match (recovered.named.first(), recovered.spared, session.chain.kept_range_lost) {
            (Some(&n), ..) => format!("C209@{}", recovered.records[n as usize].line),
            (None, Some((_, copy)), _) => format!("C206@{}", session.record(copy).line),
            (None, None, Some(n)) => format!("C223@{}", session.record(n).line),
            (None, None, None) => "lost line".to_owned(),
        },
    };
    let place = match link {
        Some(link) => place_of(view, link.child),
        None => lost.last().map_or_else(Place::default, |&n| place_of(view, n)),
    };
    let loader = session.dialect.loader();
    let mut finding = CHAIN_STOPS_SHORT
        .at(place)
        .cause(cause)
        .effect(format!(
            "{loader} brings back {} of {}",
            session.chain.messages.len(),
            counted(expected as u64, "message")
        ))
        .fact("messages_lost", lost.len())
        .fact("records_lost", records);
    let breaks = recovered.links.iter().filter(|l| l.broken != Broken::ExtraRoot).count();
    if breaks > 1 {
        finding = finding.fact("breaks", breaks);
    }
    found.add(finding);
}

fn place_of(view: &View<'_>, n: u32) -> Place {
    let Some(recovered) = &view.recovered else { return Place::default() };
    match recovered.origins[n as usize] {
        Origin::Record(m) => view.context.place(m),
        Origin::Hidden(_) | Origin::MadeUp => {
            let r = &recovered.records[n as usize];
            Place::span(u64::from(r.line), r.offset, u64::from(r.length))
        }
    }
}

fn not_loadable(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    if !holds_message(context) || session.chain.loads() {
        return;
    }
    if session.shape == Shape::Sidechain || (session.chain.refusal.is_none() && only_aside(context)) {
        return;
    }
    let loader = session.dialect.loader();
    let line = |n: u32| u64::from(session.record(n).line);
    let (place, reason, effect) = match session.chain.refusal {
        Some(Refusal::NoStart) => (
            session.chain.adopted.first().map(|&n| context.place(n)),
            "no start record among what it adopts".to_owned(),
            format!("{loader} returns null"),
        ),
        Some(Refusal::Throws(n, why)) => (Some(context.place(n)), why.to_owned(), format!("{loader} throws")),
        Some(Refusal::Raises(at, why)) => {
            (Some(Place::line(u64::from(at))), why.to_owned(), format!("{loader} raises {why}"))
        }
        Some(Refusal::NoHeader) => {
            (None, "no header".to_owned(), format!("{loader} refuses the file: not a valid pi session"))
        }
        Some(Refusal::NeverReturns(n)) => {
            (Some(Place::line(line(n))), "a loop of parents".to_owned(), format!("{loader} never returns"))
        }
        Some(Refusal::NothingParses) => (None, "no line is JSON".to_owned(), format!("{loader} returns null")),
        Some(Refusal::BadDocument(why)) => (None, why.to_owned(), format!("{loader} cannot load it")),
        None => (
            session.chain.leaf.map(|n| context.place(n)),
            "no message on the chain it adopts".to_owned(),
            format!("{loader} brings back nothing"),
        ),
    };
    found.add(NOT_LOADABLE.at(place.unwrap_or_default()).effect(effect).fact("reason", reason));
}

/// A file whose messages are all of the kind that no resume shows.
fn only_aside(context: &Context<'_>) -> bool {
    let session = context.session;
    session.dialect == Dialect::Claude
        && session.facts.hidden.is_empty()
        && !session.facts.records.iter().any(|r| session.agent.is_shown(r) && session.graph.has_kind(r))
        && !session.facts.records.iter().any(|r| r.is_message() && !r.has(flag::ID_STRING))
}

fn headers(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let facts = &session.facts;
    let loader = session.dialect.loader();
    if session.dialect.is_pi() {
        if session.chain.refusal == Some(Refusal::NoHeader) && !facts.records.is_empty() {
            found.add(MISSING_HEADER.at(Place::line(1)).effect(format!(
                "{loader} refuses the file; pi before 0.80.3 overwrites it with a fresh header when it opens it"
            )));
        }
        let headers: Vec<u32> =
            numbered(&facts.records).filter(|(_, r)| r.kind == Kind::Start).map(|(n, _)| n).collect();
        if let [_, again, ..] = headers[..] {
            found.add(
                REPEATED_HEADER
                    .at(view.context.place(again))
                    .effect(format!("{loader} ignores it; what follows it repeats what was there"))
                    .fact("headers", headers.len()),
            );
        }
        return;
    }
    if session.dialect == Dialect::Sid && session.shape == Shape::Main {
        let started =
            facts.records.iter().chain(&facts.hidden).any(|r| r.kind == Kind::Start && r.has(flag::SESSION_ID));
        let speaks = facts.records.iter().any(|r| r.is_message());
        if !started && speaks {
            found.add(
                MISSING_HEADER
                    .at(Place::line(1))
                    .effect(format!("{loader} returns null: no start record with a session id")),
            );
        }
    }
}

fn versions(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let Some(stated) = session.facts.version.as_deref() else { return };
    let known = match session.dialect {
        Dialect::Sid => matches!(stated, "0.0" | "1.0" | "2.0" | "3.0"),
        Dialect::Pi | Dialect::Openclaw => stated.parse::<f64>().is_ok_and(|v| v <= 3.0),
        Dialect::Claude => true,
    };
    if known {
        return;
    }
    let effect =
        format!("{} reads it as the newest version it knows; this build only reports it", session.dialect.loader());
    found.add(UNKNOWN_VERSION.at(Place::line(1)).effect(effect).fact("stated", stated));
}

fn linear(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    if session.dialect != Dialect::Sid || session.chain.mode != Mode::Linear || session.shape != Shape::Main {
        return;
    }
    let facts = &session.facts;
    let (Some(tail), true) = (session.chain.leaf, facts.records.iter().any(|r| r.has(flag::ID_STRING))) else { return };
    found.add(
        LINEAR_READING
            .at(view.context.place(tail))
            .effect(format!(
                "{} reads the file in physical order, branches mixed; the next resume starts a chain of its own",
                session.dialect.loader()
            ))
            .fact("records_with_ids", facts.records.iter().filter(|r| r.has(flag::ID_STRING)).count()),
    );
}

pub(super) static CHAIN_STOPS_SHORT: Rule =
    Rule { code: "C210", name: "chain-stops-short", severity: Severity::Error, fix: None, since: "0.1.0" };

pub(crate) static NOT_LOADABLE: Rule =
    Rule { code: "C211", name: "not-loadable", severity: Severity::Error, fix: None, since: "0.1.0" };

pub(crate) static MISSING_HEADER: Rule =
    Rule { code: "C220", name: "missing-header", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(super) static REPEATED_HEADER: Rule =
    Rule { code: "C221", name: "repeated-header", severity: Severity::Warning, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static UNKNOWN_VERSION: Rule =
    Rule { code: "C222", name: "unknown-version", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static LINEAR_READING: Rule =
    Rule { code: "C224", name: "linear-reading", severity: Severity::Warning, fix: None, since: "0.1.0" };
