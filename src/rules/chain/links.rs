//! Ids and pointers, one by one: C201, C203 to C207, C209, C212 to C214.

use std::collections::HashSet;

use super::View;
use crate::chain::graph::{MISSING, numbered};
use crate::chain::recover::{Broken, breaks};
use crate::dialect::Dialect;
use crate::finding::{Finding, Fix, Rule, Severity};
use crate::record::facts::{Id, Kind, Record, flag};
use crate::record::reread;
use crate::rules::{Collector, counted};
use crate::session::Shape;

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
pub(super) fn parent_text(view: &View<'_>, n: u32) -> Option<String> {
    let session = view.context.session;
    let key = if session.dialect.is_pi() { "parentId" } else { "parentUuid" };
    reread::field(&session.source, session.record(n), &[key]).map(|t| t.lossy())
}

/// The damaged line that explains why a record is not there: the one just before the record that names it.
pub(super) fn bad_line_before(view: &View<'_>, n: u32) -> Option<String> {
    let facts = &view.context.session.facts;
    let near = facts.bad_lines.iter().rfind(|b| b.before == n)?;
    found_name(view, near.line)
}

fn found_name(view: &View<'_>, line: u32) -> Option<String> {
    let facts = &view.context.session.facts;
    let bad = facts.bad_lines.iter().find(|b| b.line == line)?;
    Some(format!("{}@{line}", crate::rules::lines::rule_of(bad.kind).code))
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
        if !found.wants(MISSING_PARENT.code) {
            continue;
        }
        let below = view.shape.below(n).messages > 0;
        let head = first == Some(n);
        let cause = bad_line_before(view, n)
            .unwrap_or_else(|| if head { "head cut off".to_owned() } else { "lost line".to_owned() });
        let mut finding = MISSING_PARENT.at(view.context.place(n)).cause(cause);
        if let Some(parent) = parent_text(view, n) {
            finding = finding.fact("missing_parent", parent);
        }
        let loader = session.dialect.loader();
        finding = match (head, below) {
            // sid-code's loader needs the start record, so a cut head costs the session there.
            (true, _) if session.dialect == Dialect::Sid => {
                finding.effect(format!("{loader} does not reach a start record: it loads nothing"))
            }
            (true, _) => finding
                .severity(Severity::Info)
                .effect(format!("{loader} starts here: the session is continued from, or copied out of, another")),
            (false, false) if !(session.dialect == Dialect::Sid && view.shape.adopted[n as usize]) => {
                finding.severity(Severity::Info).effect("no message hangs below it")
            }
            (false, _) if view.shape.adopted[n as usize] => match session.dialect {
                Dialect::Sid => finding.effect(format!("{loader} stops here: it loads nothing")),
                _ => finding.effect(format!("{loader} stops here: what is above does not come back")),
            },
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
        if own_line || known || session.agent.begins(record) || !found.wants(MISSING_PARENT.code) {
            continue;
        }
        let cause = found_name(view, record.line).unwrap_or_else(|| "lost line".to_owned());
        let place = crate::finding::Place::span(u64::from(record.line), record.offset, u64::from(record.length));
        found.add(
            MISSING_PARENT
                .at(place)
                .cause(cause)
                .effect(format!("{} does not see the record either", session.dialect.loader())),
        );
    }
}

fn broken_links(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let loader = session.dialect.loader();
    for (n, broken) in breaks(session.agent, &session.facts, &session.graph) {
        let (rule, effect) = match broken {
            Broken::SelfParent => (
                &SELF_PARENT,
                match session.dialect {
                    Dialect::Pi => format!("{loader} never returns"),
                    Dialect::Claude => format!("{loader} never takes it for a leaf, and falls back to an older one"),
                    _ => format!("{loader} stops here"),
                },
            ),
            Broken::NoParentKey => (
                &MISSING_ID,
                match session.dialect {
                    Dialect::Openclaw => format!("{loader} attaches it to the current leaf"),
                    _ => format!("{loader} takes it for a root: what is above does not come back"),
                },
            ),
            Broken::SideParent => (
                &SIDE_PARENT,
                format!("{loader} follows the subagent's rows: what was before on the main line does not come back"),
            ),
            Broken::ParentBelow => (&PARENT_AFTER_CHILD, format!("{loader} looks upwards only and never finds it")),
            Broken::MissingParent | Broken::ExtraRoot | Broken::Cycle => continue,
        };
        if !found.wants(rule.code) {
            continue;
        }
        let mut finding = rule.at(view.context.place(n)).effect(effect);
        if broken == Broken::NoParentKey {
            finding = finding.fact("key", if session.dialect.is_pi() { "parentId" } else { "parentUuid" });
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
    // Under the other indexing (first copy wins) a loop may close that this one does not have: sid-code walks upwards and
    // meets the nearest copy, so the end of its walk tells.
    if let crate::chain::Stop::Repeat(n) = session.chain.stop
        && session.dialect == Dialect::Sid
        && session.record(n).id != session.record(n).parent
    {
        cycle(view, n, 0, found);
    }
    if session.dialect == Dialect::Sid
        && let Some(n) = crate::chain::recover::start_below(&session.facts, &session.graph)
    {
        cycle(view, n, 0, found);
    }
}

fn cycle(view: &View<'_>, n: u32, length: u64, found: &mut Collector) {
    let session = view.context.session;
    if found.so_far().iter().any(|f| f.is(&CYCLE) && f.place.line == Some(u64::from(session.record(n).line)))
        || !found.wants(CYCLE.code)
    {
        return;
    }
    let loader = session.dialect.loader();
    let effect = match session.dialect {
        Dialect::Pi => format!("{loader} never returns and runs out of memory"),
        Dialect::Claude => format!("{loader} takes no record of a loop for a leaf; clients are reported to hang"),
        _ => format!("{loader} stops at the first repeat"),
    };
    let finding = CYCLE.at(view.context.place(n)).effect(effect);
    found.add(if length > 0 { finding.fact("records", length) } else { finding });
}

fn order(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    if session.dialect == Dialect::Sid {
        return;
    }
    let (facts, graph) = (&session.facts, &session.graph);
    // A parent that was written again is found at its last copy; the first one may stand before the child.
    let again: HashSet<u32> = graph.repeats.iter().map(|r| r.1).collect();
    let after =
        |n: &u32| (n + 1..MISSING).contains(&graph.parent[*n as usize]) && !again.contains(&graph.parent[*n as usize]);
    let late: Vec<u32> = (0..facts.records.len() as u32).filter(after).collect();
    let Some(&first) = late.first() else { return };
    let loader = session.dialect.loader();
    let effect = match session.dialect {
        Dialect::Claude => format!("{loader} finds it by id; the client flushes rows out of order"),
        _ => format!("{loader} finds it by id; the last line of the file is the leaf"),
    };
    found.add(
        PARENT_AFTER_CHILD
            .at(view.context.place(first))
            .severity(Severity::Info)
            .effect(effect)
            .count(late.len() as u64),
    );
}

/// C206 and C207. Copies that a compaction wrote again are C216's.
fn repeats(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let boundaries = super::boundaries::boundaries(session);
    for &(earlier, n) in &session.graph.repeats {
        if super::boundaries::is_replay(view, &boundaries, earlier, n) {
            continue;
        }
        // A pair of which neither is listed any more is counted as the repeat that it most likely is.
        if !found.wants(REPEATED_RECORD.code) || !found.wants(CONFLICTING_ID.code) {
            continue;
        }
        let same = same_bytes(view, earlier, n);
        let loader = session.dialect.loader();
        let rule = if same { &REPEATED_RECORD } else { &CONFLICTING_ID };
        let effect = match (session.dialect, same) {
            (Dialect::Sid, _) => format!("{loader} takes the one nearest above the child"),
            (Dialect::Claude, true) => format!("{loader} takes the last; counts and lists may show it twice"),
            (_, true) => format!("{loader} takes the last and lists both"),
            (_, false) => format!("{loader} takes the last"),
        };
        found.add(rule.at(view.context.place(n)).effect(effect).fact("first_line", session.record(earlier).line));
    }
}

pub(super) fn same_bytes(view: &View<'_>, a: u32, b: u32) -> bool {
    let session = view.context.session;
    let (a, b) = (session.record(a), session.record(b));
    let text = |r: &Record| reread::text(&session.source, r).ok();
    a.length == b.length && a.kind == b.kind && text(a) == text(b)
}

/// C209: records of a chain type without an id, in files whose other records have one.
fn nameless(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let facts = &session.facts;
    let named = facts.records.iter().any(|r| r.has(flag::ID_STRING) && r.kind != Kind::Start)
        || (session.dialect == Dialect::Sid && facts.records.iter().any(|r| r.has(flag::ID_STRING)));
    if !named {
        return;
    }
    let loader = session.dialect.loader();
    for (n, record) in numbered(&facts.records).filter(|(_, r)| session.agent.lacks_id(r)) {
        if !found.wants(MISSING_ID.code) {
            continue;
        }
        let last = n as usize + 1 == facts.records.len();
        let effect = match session.dialect {
            Dialect::Sid if last => {
                format!("{loader} takes it for the tail: the next resume starts a chain of its own")
            }
            Dialect::Sid => format!("{loader} never finds it"),
            Dialect::Claude => format!("{loader} does not take it for a chain record: its children hang in the air"),
            _ if last => format!(
                "{loader} has no leaf: its next append has no parent, and the history is lost on the load after"
            ),
            _ => format!("{loader} cannot reach it by id"),
        };
        let key = if session.dialect.is_pi() { "id" } else { "uuid" };
        found.add(
            MISSING_ID
                .at(view.context.place(n))
                .effect(effect)
                .fact("key", key)
                .fact("wrong_type", record.has(flag::ID_OTHER)),
        );
    }
}

fn progress_parents(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    if session.dialect != Dialect::Claude {
        return;
    }
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
                session.dialect.loader(),
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

pub(super) static MISSING_PARENT: Rule =
    Rule { code: "C201", name: "missing-parent", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static SELF_PARENT: Rule =
    Rule { code: "C203", name: "self-parent", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static CYCLE: Rule =
    Rule { code: "C204", name: "cycle", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static PARENT_AFTER_CHILD: Rule =
    Rule { code: "C205", name: "parent-after-child", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static REPEATED_RECORD: Rule =
    Rule { code: "C206", name: "repeated-record", severity: Severity::Warning, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static CONFLICTING_ID: Rule =
    Rule { code: "C207", name: "conflicting-id", severity: Severity::Error, fix: None, since: "0.1.0" };

pub(super) static MISSING_ID: Rule =
    Rule { code: "C209", name: "missing-id", severity: Severity::Warning, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static PARENT_IN_OTHER_SESSION: Rule =
    Rule { code: "C212", name: "parent-in-other-session", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static SIDE_PARENT: Rule =
    Rule { code: "C213", name: "side-parent", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static PROGRESS_PARENT: Rule =
    Rule { code: "C214", name: "progress-parent", severity: Severity::Info, fix: Some(Fix::Links), since: "0.1.0" };
