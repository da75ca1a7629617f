//! Claude Code: what only its chains can have. C215 to C219.

use super::loader::sdk_python::is_visible;
use crate::chain::graph::{MISSING, NO_PARENT, numbered};
use crate::chain::shape::{Below, NOWHERE};
use crate::chain::walk::up;
use crate::finding::{Fact, Fix, Rule, Severity};
use crate::record::facts::{Id, Kind, Record, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::Collector;
use crate::rules::chain::{STRAY_LEAF, View, same_bytes};
use crate::session::{Session, Shape};

pub(super) fn check(view: &View<'_>, found: &mut Collector) {
    if view.context.session.shape == Shape::Main {
        stray_leaf(view, found);
    }
    pointers(view, found);
    replayed(view, found);
    summaries(view, found);
}

/// Boundaries, forks, sidechains, cleared contexts, and rows without a prompt below, which lead nowhere; and summaries:
/// clients 1.0.x compact without a boundary (`docs/formats/claude-code.md`, section 7).
pub(super) fn is_lawful_root(view: &View<'_>, n: u32) -> bool {
    const LAWFUL: u64 = flag::BOUNDARY
        | flag::MICRO_BOUNDARY
        | flag::FORKED
        | flag::SIDECHAIN
        | flag::TEAM
        | flag::CLEARED
        | flag::COMPACT_SUMMARY;
    view.context.session.record(n).any(LAWFUL)
        || view.shape.below(n).first_prompt == NOWHERE
        || cleared_below(view, n)
        || is_rewind_to_first_prompt(view, n)
}

/// A cleared context may begin with rows of its own before the hook's row.
fn cleared_below(view: &View<'_>, n: u32) -> bool {
    let session = view.context.session;
    let mut at = n;
    for _ in 0..8 {
        let record = session.record(at);
        if record.has(flag::CLEARED) {
            return true;
        }
        match session.graph.children(at) {
            [only] => at = *only,
            several => return several.iter().any(|&c| session.record(c).has(flag::CLEARED)),
        }
    }
    false
}

/// A rewind to the first prompt: the same process goes on (same version and directory), and the first root began with a
/// prompt too, of which it takes the place.
fn is_rewind_to_first_prompt(view: &View<'_>, n: u32) -> bool {
    let session = view.context.session;
    let facts = &session.facts;
    let record = session.record(n);
    let heads = numbered(&facts.records).take_while(|(m, _)| *m < n).filter(|(m, r)| {
        session.graph.has(*m, facts) && session.graph.parent[*m as usize] == NO_PARENT && !r.has(flag::SIDECHAIN)
    });
    let before = facts.records[..n as usize].iter().rev().find(|r| session.graph.has_kind(r));
    let same_process = before.is_some_and(|b| b.version == record.version && b.session == record.session);
    same_process
        && heads.map(|(m, _)| view.shape.below(m)).any(|b: Below| b.first_prompt != NOWHERE)
        && began_with_prompt(view, n)
}

fn began_with_prompt(view: &View<'_>, n: u32) -> bool {
    view.shape.below(n).first_prompt == n
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
    let loader = view.context.loader();
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
        if record.has(flag::LOGICAL_PARENT) && found.wants(&DANGLING_BOUNDARY_POINTER) {
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

/// Repeats that a compaction made which wrote old rows again: a boundary stands between the copies, and they are equal.
pub(super) fn replays(session: &Session) -> Vec<(u32, u32)> {
    let repeats = &session.graph.repeats;
    if repeats.is_empty() {
        return Vec::new();
    }
    let records = &session.facts.records;
    let boundaries: Vec<u32> = numbered(records).filter(|(_, r)| r.has(flag::BOUNDARY)).map(|(n, _)| n).collect();
    let is_replay = |&(earlier, n): &(u32, u32)| {
        let next = boundaries.partition_point(|&b| b < earlier);
        boundaries.get(next).is_some_and(|&b| b < n) && same_bytes(session, earlier, n)
    };
    repeats.iter().copied().filter(is_replay).collect()
}

/// C216.
fn replayed(view: &View<'_>, found: &mut Collector) {
    let replays = replays(view.context.session);
    let Some(&(_, first)) = replays.first() else { return };
    let effect = "{loader} takes the last copies: what follows hangs off rows that were summarised already";
    found.add(
        REPLAYED_RECORDS.at(view.context.place(first)).effect(view.context.says(effect)).count(replays.len() as u64),
    );
}

/// C217 and C218.
fn summaries(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let (facts, graph) = (&session.facts, &session.graph);
    let loader = view.context.loader();
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
            && graph.parent[n as usize] != NO_PARENT
            && view.shape.adopted[n as usize]
        {
            found.add(
                SUMMARY_WITHOUT_BOUNDARY
                    .at(view.context.place(n))
                    .effect(format!("{loader} brings back the summary and all that it summarises")),
            );
        }
        message_above |= is_visible(record);
    }
}

/// C219: the branch that is taken has no answer of the model below its fork, the one that is left has.
fn stray_leaf(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    if view.context.live {
        return;
    }
    let graph = &session.graph;
    let Some(leaf) = session.chain.leaf else { return };
    let (mut answers, mut speaks) = (false, false);
    let mut lowest = None;
    // From the leaf upwards as the loader walks, until the first answer: forks above it were taken with an answer.
    for n in up(graph, leaf) {
        let record = session.record(n);
        answers |= record.kind == Kind::Assistant;
        if answers {
            break;
        }
        // Rows of the client's own commands after a rewind are no branch.
        speaks |= record.kind == Kind::User && !record.any(flag::META | flag::LOCAL_COMMAND | flag::INTERRUPT);
        let p = graph.parent[n as usize];
        if p >= MISSING {
            break;
        }
        let left =
            graph.children(p).iter().copied().filter(|&c| session.record(c).id != session.record(n).id).find(|&c| {
                !view.shape.adopted[c as usize]
                    && !session.record(c).any(flag::SIDECHAIN | flag::TEAM)
                    && view.shape.below(c).left_assistants > 0
            });
        if let Some(left) = left.filter(|_| speaks) {
            lowest = Some((p, n, left));
        }
    }
    let Some((fork, taken, left)) = lowest else { return };
    let loader = view.context.loader();
    let left_leaf = view.shape.below(left).last_message;
    let mut finding = STRAY_LEAF
        .at(view.context.place(leaf))
        .effect(format!("{loader} takes the line that stands last in the file, and with it a branch without an answer"))
        .fact("fork_line", session.record(fork).line)
        .fact("messages_taken", view.shape.below(taken).messages)
        .fact("messages_left", view.shape.below(left).messages);
    if left_leaf != NOWHERE {
        finding = finding.fact("left_leaf_line", session.record(left_leaf).line);
        finding.left_leaf = session.id(left_leaf);
        finding.facts.extend(finding.left_leaf.as_ref().map(|id| ("left_leaf", Fact::from(id))));
    }
    if let Some(named) = last_prompt_leaf(view) {
        finding = finding.fact("last_prompt_leaf", named);
    }
    found.add(finding);
}

/// The leaf that the last `last-prompt` row names, unless walking up from it meets the adopted chain before a message.
fn last_prompt_leaf(view: &View<'_>) -> Option<String> {
    let session = view.context.session;
    let facts = &session.facts;
    let row = facts.records.iter().rfind(|r| r.kind == Kind::LastPrompt)?;
    let named = reread::field(&session.source, row, &["leafUuid"])?;
    let id = Id::of(named.as_bytes());
    let named_record = session.graph.find(id, facts)?;
    let first =
        up(&session.graph, named_record).find(|&n| view.shape.adopted[n as usize] || session.record(n).is_message())?;
    (!view.shape.adopted[first as usize]).then(|| named.lossy())
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
