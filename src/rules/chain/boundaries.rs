//! Compactions: C215 to C218, C223.

use super::View;
use crate::chain::graph::numbered;
use crate::dialect::Dialect;
use crate::finding::{Fix, Rule, Severity};
use crate::record::facts::{Id, Kind, Record, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::Collector;
use crate::session::Session;

pub(super) fn check(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    match session.dialect {
        Dialect::Claude => {
            pointers(view, found);
            replays(view, found);
            summaries(view, found);
        }
        Dialect::Pi | Dialect::Openclaw => kept_range(view, found),
        Dialect::Sid => {}
    }
}

/// Ids that a boundary says it keeps: the ends of its segment and its list, and the anchor.
struct Kept {
    named: Vec<Id>,
    anchor: Option<Id>,
}

fn kept(view: &View<'_>, record: &Record) -> Option<Kept> {
    let text = reread::text(&view.context.session.source, record).ok()?;
    let meta = Value::parse(&text)?.get("compactMetadata")?;
    let id = |v: Option<Value<'_>>| v.and_then(|v| v.text()).map(|t| Id::of(t.as_bytes()));
    let segment = meta.get("preservedSegment");
    let messages = meta.get("preservedMessages");
    let mut named: Vec<Id> =
        ["headUuid", "anchorUuid", "tailUuid"].iter().filter_map(|k| id(segment.and_then(|s| s.get(k)))).collect();
    let anchor =
        id(messages.and_then(|m| m.get("anchorUuid"))).or_else(|| id(segment.and_then(|s| s.get("anchorUuid"))));
    if let Some(list) = messages.and_then(|m| m.get("uuids")) {
        named.extend(list.items().iter().filter_map(|v| id(Some(*v))));
    }
    named.extend(anchor);
    Some(Kept { named, anchor })
}

/// C215. In a fork made by the SDK the kept ids are those of the source and dangle by design.
fn pointers(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let (facts, graph) = (&session.facts, &session.graph);
    let forked = facts.records.iter().any(|r| r.has(flag::FORKED));
    let loader = session.dialect.loader();
    for (n, record) in numbered(&facts.records).filter(|(_, r)| r.any(flag::BOUNDARY | flag::MICRO_BOUNDARY)) {
        if record.has(flag::PRESERVES) && !forked {
            let missing =
                kept(view, record).map_or(0, |k| k.named.iter().filter(|id| graph.find(**id, facts).is_none()).count());
            if missing > 0 {
                found.add(
                    DANGLING_BOUNDARY_POINTER
                        .at(view.context.place(n))
                        .effect(format!("{loader} does not apply it; clients that do bring back too much or nothing"))
                        .fact("pointer", "preserved")
                        .fact("missing", missing),
                );
            }
        }
        if record.has(flag::LOGICAL_PARENT) && found.wants(DANGLING_BOUNDARY_POINTER.code) {
            let named = reread::field(&session.source, record, &["logicalParentUuid"]);
            if named.is_some_and(|t| graph.find(Id::of(t.as_bytes()), facts).is_none()) {
                found.add(
                    DANGLING_BOUNDARY_POINTER
                        .at(view.context.place(n))
                        .severity(Severity::Info)
                        .effect("no loader follows it")
                        .fact("pointer", "logicalParentUuid"),
                );
            }
        }
    }
}

/// Whether a repeat was made by a compaction that wrote old rows again: a boundary stands between the copies, and they are equal.
pub(super) fn is_replay(view: &View<'_>, boundaries: &[u32], earlier: u32, n: u32) -> bool {
    let next = boundaries.partition_point(|&b| b < earlier);
    view.context.session.dialect == Dialect::Claude
        && boundaries.get(next).is_some_and(|&b| b < n)
        && super::links::same_bytes(view, earlier, n)
}

/// The records that are boundaries, in file order.
pub(super) fn boundaries(session: &Session) -> Vec<u32> {
    numbered(&session.facts.records).filter(|(_, r)| r.has(flag::BOUNDARY)).map(|(n, _)| n).collect()
}

fn replays(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let boundaries = boundaries(session);
    if boundaries.is_empty() {
        return;
    }
    let mut replayed = session.graph.repeats.iter().filter(|&&(earlier, n)| is_replay(view, &boundaries, earlier, n));
    let Some(&(_, first)) = replayed.next() else { return };
    let count = 1 + replayed.count() as u64;
    found.add(
        REPLAYED_RECORDS
            .at(view.context.place(first))
            .effect(format!(
                "{} takes the last copies: what follows hangs off rows that were summarised already",
                session.dialect.loader()
            ))
            .count(count),
    );
}

fn summaries(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let (facts, graph) = (&session.facts, &session.graph);
    let loader = session.dialect.loader();
    let (mut boundary_above, mut message_above) = (false, false);
    for (n, record) in numbered(&facts.records) {
        if record.has(flag::BOUNDARY) {
            boundary_above = true;
            let summarised =
                graph.children(graph.canonical(n, facts)).iter().any(|&c| session.record(c).has(flag::COMPACT_SUMMARY));
            let keeps_prefix =
                || record.has(flag::PRESERVES) && kept(view, record).is_some_and(|k| k.anchor == Some(record.id));
            // The summary is written next; a boundary as the last row of a live session is a compaction under way.
            let under_way = view.context.live && n as usize + 1 == facts.records.len();
            let behind_fork = record.has(flag::FORKED);
            if !summarised && !under_way && !behind_fork && message_above && !keeps_prefix() {
                found.add(
                    BOUNDARY_WITHOUT_SUMMARY
                        .at(view.context.place(n))
                        .effect(format!("{loader} drops everything before it, and nothing takes its place")),
                );
            }
        }
        if record.has(flag::COMPACT_SUMMARY)
            && !boundary_above
            && message_above
            && !record.has(flag::SIDECHAIN)
            && view.shape.adopted[n as usize]
        {
            found.add(
                SUMMARY_WITHOUT_BOUNDARY
                    .at(view.context.place(n))
                    .effect(format!("{loader} brings back the summary and all that it summarises")),
            );
        }
        message_above |= view.context.session.agent.is_shown(record);
    }
}

fn kept_range(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let Some(n) = session.chain.kept_range_lost else { return };
    if session.chain.mode != crate::chain::Mode::Tree {
        return;
    }
    let record = session.record(n);
    let known = session
        .facts
        .records
        .iter()
        .any(|r| record.target() != 0 && r.id.short() == record.target() && r.kind != Kind::Start);
    let loader = session.dialect.loader();
    let mut finding = KEPT_RANGE_LOST
        .at(view.context.place(n))
        .effect(format!("{loader} keeps nothing before the compaction: only its summary comes back"))
        .fact("where", if known { "on another branch" } else { "nowhere" });
    if let Some(first) = reread::field(&session.source, record, &["firstKeptEntryId"]) {
        finding = finding.fact("first_kept", first.lossy());
    }
    found.add(finding);
}

pub(super) static DANGLING_BOUNDARY_POINTER: Rule = Rule {
    code: "C215",
    name: "dangling-boundary-pointer",
    severity: Severity::Warning,
    fix: Some(Fix::Links),
    since: "0.1.0",
};

pub(super) static REPLAYED_RECORDS: Rule =
    Rule { code: "C216", name: "replayed-records", severity: Severity::Warning, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static BOUNDARY_WITHOUT_SUMMARY: Rule =
    Rule { code: "C217", name: "boundary-without-summary", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static SUMMARY_WITHOUT_BOUNDARY: Rule =
    Rule { code: "C218", name: "summary-without-boundary", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static KEPT_RANGE_LOST: Rule =
    Rule { code: "C223", name: "kept-range-lost", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };
