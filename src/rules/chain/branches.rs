//! Where the history forks: C202, C208.

use super::View;
use crate::chain::graph::{NO_PARENT, numbered};
use crate::chain::shape::NOWHERE;
use crate::finding::{Fix, Rule, Severity};
use crate::record::facts::flag;
use crate::rules::Collector;
use crate::session::Shape;

pub(super) fn check(view: &View<'_>, found: &mut Collector) {
    if view.context.session.shape != Shape::Main {
        return;
    }
    extra_roots(view, found);
    second_writers(view, found);
}

fn extra_roots(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let agent = view.context.agent;
    let (facts, graph) = (&session.facts, &session.graph);
    let mut message_above = false;
    for (n, record) in numbered(&facts.records) {
        let root = graph.has(n, facts) && graph.parent[n as usize] == NO_PARENT && !record.has(flag::PARENT_OTHER);
        if root && message_above && !agent.is_lawful_root(view, n) && found.wants(&EXTRA_ROOT) {
            let (severity, effect) = if agent.needs_start() {
                (Severity::Error, "{loader} stops here and finds no start record: it loads nothing")
            } else {
                (
                    Severity::Warning,
                    "{loader} stops here: what is above does not come back; a rewind to the first prompt looks the same",
                )
            };
            found.add(
                EXTRA_ROOT
                    .at(view.context.place(n))
                    .severity(severity)
                    .effect(view.context.says(effect))
                    .fact("messages_below", view.shape.below(n).messages),
            );
        }
        // Rows of a client's own command, and the marker of an interrupt, are nothing that a person would miss.
        message_above |= session.agent.is_shown(record) && !record.any(flag::LOCAL_COMMAND | flag::INTERRUPT);
    }
}

/// C208.
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
        let Some((a, b)) = view.context.agent.second_writer(view, children) else { continue };
        if !found.wants(&SECOND_WRITER) {
            continue;
        }
        let taken = |c: u32| view.shape.adopted[c as usize];
        let (taken, left) = if taken(b) || !taken(a) { (b, a) } else { (a, b) };
        let loader = view.context.loader();
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
pub fn by_turns(view: &View<'_>, children: &[u32]) -> Option<(u32, u32)> {
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

pub(crate) static EXTRA_ROOT: Rule =
    Rule { code: "C202", name: "extra-root", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };

pub(crate) static SECOND_WRITER: Rule =
    Rule { code: "C208", name: "second-writer", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(crate) static STRAY_LEAF: Rule =
    Rule { code: "C219", name: "stray-leaf", severity: Severity::Warning, fix: None, since: "0.1.0" };
