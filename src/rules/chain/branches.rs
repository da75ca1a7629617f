//! Where the history forks: C202, C208, C219.

use super::View;
use crate::chain::graph::{MISSING, NO_PARENT, numbered};
use crate::chain::shape::{Below, NOWHERE};
use crate::chain::walk::up;
use crate::dialect::Dialect;
use crate::finding::{Fact, Fix, Rule, Severity};
use crate::record::facts::{Kind, Record, flag};
use crate::record::reread;
use crate::rules::Collector;
use crate::session::Shape;

pub(super) fn check(view: &View<'_>, found: &mut Collector) {
    if view.context.session.shape != Shape::Main {
        return;
    }
    extra_roots(view, found);
    second_writers(view, found);
    stray_leaf(view, found);
}

fn extra_roots(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    if session.dialect.is_pi() {
        return;
    }
    let (facts, graph) = (&session.facts, &session.graph);
    let mut message_above = false;
    for (n, record) in numbered(&facts.records) {
        let root = graph.has(n, facts) && graph.parent[n as usize] == NO_PARENT && !record.has(flag::PARENT_OTHER);
        if root && message_above && !is_lawful_root(view, n, record) && found.wants(EXTRA_ROOT.code) {
            let loader = session.dialect.loader();
            let (severity, effect) = match session.dialect {
                Dialect::Sid => {
                    (Severity::Error, format!("{loader} stops here and finds no start record: it loads nothing"))
                }
                _ => (
                    Severity::Warning,
                    format!(
                        "{loader} stops here: what is above does not come back; a rewind to the first prompt looks the same"
                    ),
                ),
            };
            found.add(
                EXTRA_ROOT
                    .at(view.context.place(n))
                    .severity(severity)
                    .effect(effect)
                    .fact("messages_below", view.shape.below(n).messages),
            );
        }
        message_above |= session.agent.is_shown(record);
    }
}

/// Boundaries, forks, sidechains, cleared contexts; in Claude Code also rows without a prompt below, which lead nowhere.
fn is_lawful_root(view: &View<'_>, n: u32, record: &Record) -> bool {
    const LAWFUL: u64 =
        flag::BOUNDARY | flag::MICRO_BOUNDARY | flag::FORKED | flag::SIDECHAIN | flag::TEAM | flag::CLEARED;
    let session = view.context.session;
    if session.dialect == Dialect::Sid {
        // A root whose key is missing is C209's; a start record begins a chain by right.
        return record.kind == Kind::Start || !record.has(flag::PARENT_KEY) || record.id == record.parent;
    }
    let below = view.shape.below(n);
    record.any(LAWFUL) || below.first_prompt == NOWHERE || cleared_below(view, n) || is_rewind_to_first_prompt(view, n)
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

/// C208. In sid-code any two records of different ids below one; elsewhere two branches with a prompt of their own that
/// were written by turns.
fn second_writers(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let (facts, graph) = (&session.facts, &session.graph);
    for n in 0..facts.records.len() as u32 {
        // A record that is its own parent is no branch of itself.
        let children: Vec<u32> = graph.children(n).iter().copied().filter(|&c| c != n).collect();
        if children.len() < 2 {
            continue;
        }
        let children = &children[..];
        let pair = match session.dialect {
            Dialect::Sid => children
                .iter()
                .find(|&&c| session.record(c).id != session.record(children[0]).id)
                .map(|&c| (children[0], c)),
            _ => by_turns(view, children),
        };
        let Some((a, b)) = pair else { continue };
        if !found.wants(SECOND_WRITER.code) {
            continue;
        }
        let taken = |c: u32| view.shape.adopted[c as usize];
        let (taken, left) = if taken(b) || !taken(a) { (b, a) } else { (a, b) };
        let loader = session.dialect.loader();
        found.add(
            SECOND_WRITER
                .at(view.context.place(n))
                .effect(format!(
                    "{loader} takes the branch that begins at line {} and leaves the other",
                    session.record(taken).line
                ))
                .fact("branch_lines", vec![i64::from(session.record(a).line), i64::from(session.record(b).line)])
                .fact("messages_left", view.shape.below(left).messages),
        );
    }
}

/// Two of these branches that each have a prompt, of which one went on after the other had begun and was gone on with in turn.
fn by_turns(view: &View<'_>, children: &[u32]) -> Option<(u32, u32)> {
    let session = view.context.session;
    let speaks = |c: &&u32| {
        let b = view.shape.below(**c);
        b.first_prompt != NOWHERE && !session.record(**c).any(flag::SIDECHAIN | flag::TEAM)
    };
    let mut branches: Vec<u32> = children.iter().filter(speaks).copied().collect();
    branches.sort_unstable_by_key(|&c| view.shape.below(c).first_prompt);
    // Branches in the order of their first prompt: the one that lasts longest so far is the only one that can overlap.
    let mut longest: Option<u32> = None;
    for &c in &branches {
        let this = view.shape.below(c);
        if let Some(before) = longest {
            let other = view.shape.below(before);
            let goes_on = other.last_message != NOWHERE && other.last_message > this.first_prompt;
            let both_talk = this.messages > 1 || other.messages > 1;
            if goes_on && both_talk && session.record(before).id != session.record(c).id {
                return Some((before, c));
            }
        }
        let last = |c: u32| match view.shape.below(c).last_message {
            NOWHERE => 0,
            n => n + 1,
        };
        if longest.is_none_or(|l| last(c) > last(l)) {
            longest = Some(c);
        }
    }
    None
}

/// C219: the branch that is taken has no answer of the model below its fork, the one that is left has.
fn stray_leaf(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    if session.dialect != Dialect::Claude || view.context.live {
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
    let loader = session.dialect.loader();
    let left_leaf = view.shape.below(left).last_message;
    let mut finding = STRAY_LEAF
        .at(view.context.place(leaf))
        .effect(format!("{loader} takes the line that stands last in the file, and with it a branch without an answer"))
        .fact("fork_line", session.record(fork).line)
        .fact("messages_taken", view.shape.below(taken).messages)
        .fact("messages_left", view.shape.below(left).messages);
    if left_leaf != NOWHERE {
        finding = finding.fact("left_leaf_line", session.record(left_leaf).line);
        finding.facts.extend(session.id(left_leaf).map(|id| ("left_leaf", Fact::from(&id))));
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
    let id = crate::record::facts::Id::of(named.as_bytes());
    let named_record = session.graph.find(id, facts)?;
    let first =
        up(&session.graph, named_record).find(|&n| view.shape.adopted[n as usize] || session.record(n).is_message())?;
    (!view.shape.adopted[first as usize]).then(|| named.lossy())
}

pub(super) static EXTRA_ROOT: Rule =
    Rule { code: "C202", name: "extra-root", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(super) static SECOND_WRITER: Rule =
    Rule { code: "C208", name: "second-writer", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static STRAY_LEAF: Rule =
    Rule { code: "C219", name: "stray-leaf", severity: Severity::Warning, fix: None, since: "0.1.0" };
