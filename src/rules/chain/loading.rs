//! What the loader makes of the whole: C210, C211, C220, C222.

use super::boundaries::KEPT_RANGE_LOST;
use super::links::{MISSING_ID, REPEATED_RECORD};
use super::{View, rule_of};
use crate::chain::Refusal;
use crate::chain::recover::{Broken, Origin};
use crate::finding::{Cause, Family, Finding, Fix, Loss, Place, Rule, Severity};
use crate::rules::store::FOREIGN_RECORDS;
use crate::rules::{Collector, Context, counted, lines};
use crate::session::Shape;

pub(super) fn check(view: &View<'_>, found: &mut Collector) {
    headers(view, found);
    versions(view.context, found);
    stops_short(view, found);
    not_loadable(view.context, found);
}

/// A whole-file session: it loads or it does not.
pub(super) fn document(context: &Context<'_>, found: &mut Collector) {
    versions(context, found);
    let session = context.session;
    if let Some(Refusal::BadDocument(why)) = session.chain.refusal {
        found.add(
            NOT_LOADABLE
                .at(Place::default())
                .loses(Loss::All)
                .effect(format!("{} cannot load it: the file {why}", context.loader()))
                .fact("reason", why),
        );
    }
}

/// Whether the file holds a message, on a line of its own or inside a damaged one.
pub(super) fn holds_message(context: &Context<'_>) -> bool {
    let facts = &context.session.facts;
    facts.records.iter().chain(&facts.hidden).any(|r| context.agent.is_spoken(r))
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
    let cause = match (link, hidden) {
        (Some(link), _) => {
            let line = u64::from(recovered.records[link.child as usize].line);
            let at = |f: &&Finding| f.place.line == Some(line) && f.is(rule_of(link.broken));
            let told = found.so_far().iter().find(at);
            // A torn line is the cause of the missing parent that it leaves.
            told.and_then(|f| f.cause)
                .filter(|cause| matches!(cause, Cause::Finding(rule, _) if rule.family() == Family::Lines))
                .or_else(|| told.map(Finding::as_cause))
                .unwrap_or(Cause::at(rule_of(link.broken), line))
        }
        (None, Some(&n)) => {
            let line = u64::from(recovered.records[n as usize].line);
            let told = found.so_far().iter().find(|f| f.place.line == Some(line) && lines::HIDING.contains(&f.rule));
            told.map_or(Cause::at(&lines::SPLICED_LINE, line), Finding::as_cause)
        }
        (None, None) if !recovered.foreign.is_empty() => {
            Cause::at(&FOREIGN_RECORDS, recovered.records[recovered.foreign[0] as usize].line)
        }
        (None, None) => match (recovered.named.first(), recovered.spared, session.chain.kept_range_lost) {
            (Some(&n), ..) => Cause::at(&MISSING_ID, recovered.records[n as usize].line),
            (None, Some((_, copy)), _) => Cause::at(&REPEATED_RECORD, session.record(copy).line),
            (None, None, Some(n)) => Cause::at(&KEPT_RANGE_LOST, session.record(n).line),
            (None, None, None) => Cause::Word("lost line"),
        },
    };
    let place = match link {
        Some(link) => place_of(view, link.child),
        None => lost.last().map_or_else(Place::default, |&n| place_of(view, n)),
    };
    let loader = view.context.loader();
    let mut finding = CHAIN_STOPS_SHORT
        .at(place)
        .loses(Loss::Some)
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
    if session.shape == Shape::Sidechain || (session.chain.refusal.is_none() && context.agent.only_aside(session)) {
        return;
    }
    let loader = context.loader();
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
        Some(Refusal::NoHeader) => (None, "no header".to_owned(), context.says(context.agent.words().headerless)),
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
    found.add(NOT_LOADABLE.at(place.unwrap_or_default()).loses(Loss::All).effect(effect).fact("reason", reason));
}

fn headers(view: &View<'_>, found: &mut Collector) {
    let context = view.context;
    if let Some(effect) = context.agent.missing_header(context.session) {
        found.add(MISSING_HEADER.at(Place::line(1)).effect(context.says(effect)));
    }
}

fn versions(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let Some(stated) = session.facts.version.as_deref() else { return };
    if context.agent.knows_version(stated) {
        return;
    }
    let effect = context.says("{loader} reads it as the newest version it knows; this build only reports it");
    found.add(UNKNOWN_VERSION.at(Place::line(1)).effect(effect).fact("stated", stated));
}

pub(crate) static CHAIN_STOPS_SHORT: Rule =
    Rule { code: "C210", name: "chain-stops-short", severity: Severity::Error, fix: None, since: "0.1.0" };

pub(crate) static NOT_LOADABLE: Rule =
    Rule { code: "C211", name: "not-loadable", severity: Severity::Error, fix: None, since: "0.1.0" };

pub(crate) static MISSING_HEADER: Rule =
    Rule { code: "C220", name: "missing-header", severity: Severity::Error, fix: Some(Fix::Content), since: "0.1.0" };

pub(crate) static UNKNOWN_VERSION: Rule =
    Rule { code: "C222", name: "unknown-version", severity: Severity::Warning, fix: None, since: "0.1.0" };
