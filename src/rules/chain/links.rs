//! Ids and pointers, one by one: C201, C203 to C207, C209, C212 to C214.

use std::collections::HashSet;

use super::View;
use crate::chain::graph::{MISSING, numbered};
use crate::chain::recover::{Broken, breaks};
use crate::finding::{Cause, Finding, Fix, Rule, Severity};
use crate::record::agent::Field;
use crate::record::facts::{Id, Kind, Record, flag};
use crate::record::reread;
use crate::rules::{Collector, counted};
use crate::session::{Session, Shape};
use crate::text::Text;

pub(super) fn check(view: &View<'_>, found: &mut Collector) {
    if matches!(view.context.session.shape, Shape::Sidechain) {
        return;
    }
    missing_parents(view, found);
    broken_links(view, found);
    loops(view, found);
    order(view, found);
    repeats(view, found);
    nameless(view, found);
    progress_parents(view, found);
}

/// The id that a record names as its parent, read again from the file.
pub(super) fn parent_text(view: &View<'_>, n: u32) -> Option<Text> {
    let session = view.context.session;
    reread::field(&session.source, session.record(n), &[parent_key(view)?])
}

fn parent_key(view: &View<'_>) -> Option<&'static str> {
    view.context.agent.keys().record.name_of(|slot| matches!(slot.field, Field::Parent(_)))
}

fn id_key(view: &View<'_>) -> Option<&'static str> {
    view.context.agent.keys().record.name_of(|slot| matches!(slot.field, Field::Id))
}

/// The damaged line that explains why a record is not there: the one just before the record that names it.
pub(super) fn bad_line_before(view: &View<'_>, n: u32) -> Option<Cause> {
    let facts = &view.context.session.facts;
    let near = facts.bad_lines.iter().rfind(|b| b.before == n)?;
    found_name(view, near.line)
}

fn found_name(view: &View<'_>, line: u32) -> Option<Cause> {
    let facts = &view.context.session.facts;
    let bad = facts.bad_lines.iter().find(|b| b.line == line)?;
    Some(Cause::at(crate::rules::lines::rule_of(bad.kind), line))
}

fn missing_parents(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let (facts, graph) = (&session.facts, &session.graph);
    let first = numbered(&facts.records).find(|(n, _)| graph.has(*n, facts)).map(|(n, _)| n);
    let inside: HashSet<Id> = facts.hidden.iter().map(|h| h.id).collect();
    for (n, record) in numbered(&facts.records) {
        if graph.parent[n as usize] != MISSING || record.id == record.parent || record.has(flag::PARENT_OTHER) {
            continue;
        }
        // Whole inside a damaged line: the L finding is its cause and tells it.
        if inside.contains(&record.parent) {
            continue;
        }
        if !found.wants(&MISSING_PARENT) {
            continue;
        }
        let below = view.shape.below(n).messages > 0;
        let head = first == Some(n);
        let cause = bad_line_before(view, n).unwrap_or(Cause::Word(if head { "head cut off" } else { "lost line" }));
        let mut finding = MISSING_PARENT.at(view.context.place(n)).cause(cause);
        if let Some(parent) = parent_text(view, n) {
            finding = finding.missing_parent(parent);
        }
        let loader = view.context.loader();
        let (needs_start, adopted) = (view.context.agent.needs_start(), view.shape.adopted[n as usize]);
        finding = match (head, below) {
            (true, _) if needs_start => {
                finding.effect(format!("{loader} does not reach a start record: it loads nothing"))
            }
            (true, _) => finding
                .severity(Severity::Info)
                .effect(format!("{loader} starts here: the session is continued from, or copied out of, another")),
            (false, false) if !(needs_start && adopted) => {
                finding.severity(Severity::Info).effect("no message hangs below it")
            }
            (false, _) if adopted && needs_start => finding.effect(format!("{loader} stops here: it loads nothing")),
            (false, _) if adopted => finding.effect(format!("{loader} stops here: what is above does not come back")),
            (false, _) => finding.effect("the branch that hangs here is not the one that a resume takes"),
        };
        found.add(finding.fact("messages_below", view.shape.below(n).messages));
    }
    hidden_missing_parents(view, &inside, found);
}

/// A whole record inside a damaged line hangs in the air too when the fragment before it was its parent.
fn hidden_missing_parents(view: &View<'_>, inside: &HashSet<Id>, found: &mut Collector) {
    let session = view.context.session;
    let (facts, graph) = (&session.facts, &session.graph);
    for record in facts.hidden.iter().filter(|h| graph.has_kind(h) && !h.parent.is_none()) {
        let own_line = graph.find(record.id, facts).is_some();
        let known = graph.find(record.parent, facts).is_some() || inside.contains(&record.parent);
        if own_line || known || session.agent.begins(record) || !found.wants(&MISSING_PARENT) {
            continue;
        }
        let cause = found_name(view, record.line).unwrap_or(Cause::Word("lost line"));
        let place = crate::finding::Place::span(u64::from(record.line), record.offset, u64::from(record.length));
        found.add(
            MISSING_PARENT.at(place).cause(cause).effect(view.context.says("{loader} does not see the record either")),
        );
    }
}

fn broken_links(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let words = view.context.agent.words();
    for (n, broken) in breaks(session.agent, &session.facts, &session.graph) {
        let (rule, effect) = match broken {
            Broken::SelfParent => (&SELF_PARENT, words.self_parent),
            Broken::NoParentKey => (&MISSING_ID, words.no_parent_key),
            Broken::SideParent => (
                &SIDE_PARENT,
                "{loader} follows the subagent's rows: what was before on the main line does not come back",
            ),
            Broken::ParentBelow => (&PARENT_AFTER_CHILD, "{loader} looks upwards only and never finds it"),
            Broken::MissingParent | Broken::ExtraRoot | Broken::Cycle => continue,
        };
        if !found.wants(rule) {
            continue;
        }
        let mut finding = rule.at(view.context.place(n)).effect(view.context.says(effect));
        if broken == Broken::NoParentKey
            && let Some(key) = parent_key(view)
        {
            finding = finding.fact("key", key);
        }
        found.add(finding);
    }
}

fn loops(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let graph = &session.graph;
    for (earliest, length) in crate::chain::walk::loops(graph) {
        cycle(view, earliest, length, found);
    }
    for n in view.context.agent.own_loops(session) {
        cycle(view, n, 0, found);
    }
}

fn cycle(view: &View<'_>, n: u32, length: u64, found: &mut Collector) {
    let session = view.context.session;
    if found.so_far().iter().any(|f| f.is(&CYCLE) && f.place.line == Some(u64::from(session.record(n).line)))
        || !found.wants(&CYCLE)
    {
        return;
    }
    let finding = CYCLE.at(view.context.place(n)).effect(view.context.says(view.context.agent.words().cycle));
    found.add(if length > 0 { finding.fact("records", length) } else { finding });
}

fn order(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let Some(effect) = view.context.agent.words().parent_below else { return };
    let (facts, graph) = (&session.facts, &session.graph);
    // A parent that was written again is found at its last copy; the first one may stand before the child.
    let again: HashSet<u32> = graph.repeats.iter().map(|r| r.1).collect();
    let after =
        |n: &u32| (n + 1..MISSING).contains(&graph.parent[*n as usize]) && !again.contains(&graph.parent[*n as usize]);
    let late: Vec<u32> = (0..facts.records.len() as u32).filter(after).collect();
    let Some(&first) = late.first() else { return };
    found.add(
        PARENT_AFTER_CHILD
            .at(view.context.place(first))
            .severity(Severity::Info)
            .effect(view.context.says(effect))
            .count(late.len() as u64),
    );
}

/// C206 and C207.
fn repeats(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let words = view.context.agent.words();
    let replays: HashSet<(u32, u32)> = view.context.agent.replays(session).into_iter().collect();
    for &(earlier, n) in session.graph.repeats.iter().filter(|pair| !replays.contains(pair)) {
        // A pair of which neither is listed any more is counted as the repeat that it most likely is.
        if !found.wants(&REPEATED_RECORD) || !found.wants(&CONFLICTING_ID) {
            continue;
        }
        let (rule, effect) = if same_bytes(session, earlier, n) {
            (&REPEATED_RECORD, words.repeated)
        } else {
            (&CONFLICTING_ID, words.conflicting)
        };
        let finding = rule.at(view.context.place(n)).effect(view.context.says(effect));
        found.add(finding.fact("first_line", session.record(earlier).line));
    }
}

/// Whether two records are the same to the byte.
pub fn same_bytes(session: &Session, a: u32, b: u32) -> bool {
    let (a, b) = (session.record(a), session.record(b));
    let text = |r: &Record| reread::text(&session.source, r).ok();
    a.length == b.length && a.kind == b.kind && text(a) == text(b)
}

/// C209: records of a chain type without an id, in files whose other records have one.
fn nameless(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let facts = &session.facts;
    // The id of a header that no record hangs off says nothing.
    let is_named = |r: &Record| r.has(flag::ID_STRING) && (r.kind != Kind::Start || session.graph.has_kind(r));
    if !facts.records.iter().any(is_named) {
        return;
    }
    let words = view.context.agent.words();
    for (n, record) in numbered(&facts.records).filter(|(_, r)| session.agent.lacks_id(r)) {
        if !found.wants(&MISSING_ID) {
            continue;
        }
        let last = n as usize + 1 == facts.records.len();
        let mut finding = MISSING_ID.at(view.context.place(n)).effect(view.context.says(if last {
            words.no_id_last
        } else {
            words.no_id
        }));
        if let Some(key) = id_key(view) {
            finding = finding.fact("key", key);
        }
        found.add(finding.fact("wrong_type", record.has(flag::ID_OTHER)));
    }
}

fn progress_parents(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let (facts, graph) = (&session.facts, &session.graph);
    let below = |n: u32, r: &Record| {
        let p = graph.parent[n as usize];
        r.is_message() && graph.has(n, facts) && p < MISSING && facts.records[p as usize].kind == Kind::Progress
    };
    let mut all = numbered(&facts.records).filter(|(n, r)| below(*n, r)).map(|(n, _)| n);
    let Some(first) = all.next() else { return };
    let count = 1 + all.count() as u64;
    found.add(
        PROGRESS_PARENT
            .at(view.context.place(first))
            .effect(format!(
                "{} walks through progress rows; some older clients lose what is above: {}",
                view.context.loader(),
                counted(count, "message")
            ))
            .count(count),
    );
}

/// Turns a missing parent into what is known of it: it lives in another file of the store.
pub fn in_other_session(missing: &Finding, path: &std::path::Path) -> Finding {
    let mut finding =
        Finding { rule: &PARENT_IN_OTHER_SESSION, severity: PARENT_IN_OTHER_SESSION.severity, ..missing.clone() };
    finding.facts.push(("seen_in", path.to_string_lossy().into_owned().into()));
    finding
}

pub(crate) static MISSING_PARENT: Rule =
    Rule { code: "C201", name: "missing-parent", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static SELF_PARENT: Rule =
    Rule { code: "C203", name: "self-parent", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static CYCLE: Rule =
    Rule { code: "C204", name: "cycle", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static PARENT_AFTER_CHILD: Rule =
    Rule { code: "C205", name: "parent-after-child", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static REPEATED_RECORD: Rule =
    Rule { code: "C206", name: "repeated-record", severity: Severity::Warning, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static CONFLICTING_ID: Rule =
    Rule { code: "C207", name: "conflicting-id", severity: Severity::Error, fix: None, since: "0.1.0" };

pub(crate) static MISSING_ID: Rule =
    Rule { code: "C209", name: "missing-id", severity: Severity::Warning, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static PARENT_IN_OTHER_SESSION: Rule =
    Rule { code: "C212", name: "parent-in-other-session", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(crate) static SIDE_PARENT: Rule =
    Rule { code: "C213", name: "side-parent", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static PROGRESS_PARENT: Rule =
    Rule { code: "C214", name: "progress-parent", severity: Severity::Info, fix: Some(Fix::Links), since: "0.1.0" };
