//! pi, OpenClaw and oh-my-pi: what only their trees can have. C219 where a row that says nothing hides the conversation,
//! C232 and C233.

use std::collections::HashSet;

use crate::chain::shape::NOWHERE;
use crate::finding::{Fact, Fix, Rule, Severity};
use crate::record::facts::{Kind, Record, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::Collector;
use crate::rules::chain::{STRAY_LEAF, View};
use crate::text::counted;

use super::{Pi, load};

/// C232. pi 1.6.0 and OpenClaw 2026.7.35, `docs/formats/pi.md`, section 14: what a compaction summarised is not sent any
/// more, whatever the summary says.
pub(super) static EMPTY_SUMMARY: Rule =
    Rule { code: "C232", name: "empty-summary", severity: Severity::Warning, fix: None, since: "0.2.0" };

/// C233. pi 1.6.0, `docs/formats/pi.md`, section 13.
pub(super) static UNVERSIONED_TREE: Rule = Rule {
    code: "C233",
    name: "unversioned-tree",
    severity: Severity::Warning,
    fix: Some(Fix::Content),
    since: "0.2.0",
};

pub(super) fn check(agent: &Pi, view: &View<'_>, found: &mut Collector) {
    if view.context.session.chain.refusal.is_some() {
        return;
    }
    stray_leaf(view, found);
    empty_summary(view, found);
    unversioned(agent, view, found);
}

/// C219: what stands last says nothing, and hides messages of the branch that it was put on (`docs/formats/pi.md`,
/// section 12). A summary of the branch that was left, or a message, says that somebody moved on purpose.
fn stray_leaf(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let chain = &session.chain;
    let Some(leaf) = chain.leaf.filter(|_| !view.context.live) else { return };
    let Some(&fork) = chain.adopted.iter().rev().find(|&&n| speaks(session.record(n))) else { return };
    if fork == leaf {
        return;
    }
    // The branch that was written last is the one that the row hides.
    let tail = chain.adopted.iter().rev().take_while(|&&n| n != fork).chain([&fork]);
    let branches = tail.flat_map(|&n| session.graph.children(n).iter().copied());
    let left = branches.filter(|&c| !view.shape.adopted[c as usize]).map(|c| view.shape.below(c).last_message);
    let Some(left) = left.filter(|&n| n != NOWHERE && n > fork).max() else { return };
    let back = session.agent.load_from(&session.facts, &session.graph, left).messages.len();
    let loader = view.context.loader();
    let mut finding = STRAY_LEAF
        .at(view.context.place(leaf))
        .hides(back)
        .effect(format!(
            "{loader} takes this row for the leaf: {} of {} come back, and the row itself says nothing",
            chain.messages.len(),
            counted(back.max(chain.messages.len()), "message")
        ))
        .fact("fork_line", session.record(fork).line)
        .fact("left_leaf_line", session.record(left).line);
    finding.left_leaf = session.id(left);
    finding.facts.extend(finding.left_leaf.as_ref().map(|id| ("left_leaf", Fact::from(id))));
    found.add(finding);
}

/// Whether somebody says something in it. A turn that failed says nothing.
fn speaks(record: &Record) -> bool {
    match record.kind {
        Kind::Assistant => !record.has(flag::FAILED),
        Kind::User | Kind::ToolMessage | Kind::Custom | Kind::System | Kind::BranchSummary => true,
        _ => false,
    }
}

/// C232: the compaction that counts has a summary without a word, and takes messages out of the context.
fn empty_summary(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let chain = &session.chain;
    let compaction = chain.messages.iter().copied().find(|&n| session.record(n).kind == Kind::Compaction);
    let Some(n) = compaction else { return };
    let back: HashSet<u32> = chain.messages.iter().copied().collect();
    let before = chain.adopted.iter().take_while(|&&m| m != n);
    let replaced = before.filter(|m| session.record(**m).is_message() && !back.contains(m)).count();
    if replaced == 0 {
        return;
    }
    let Ok(text) = reread::text(&session.source, session.record(n)) else { return };
    let Some(value) = Value::parse(&text) else { return };
    let summary = value.get("summary").and_then(|s| s.string()).unwrap_or_default();
    if !is_skeleton(&summary) {
        return;
    }
    let loader = view.context.loader();
    let mut finding = EMPTY_SUMMARY
        .at(view.context.place(n))
        .effect(format!("{loader} sends a summary that says nothing in the place of {}", counted(replaced, "message")))
        .fact("messages_replaced", replaced);
    if let Some(tokens) = value.get("tokensBefore").and_then(|t| t.count()) {
        finding = finding.fact("tokens_before", tokens as i64);
    }
    found.add(finding);
}

/// Whether a text is nothing but headings and words for nothing.
fn is_skeleton(summary: &str) -> bool {
    summary.lines().all(|line| {
        let line = line.trim();
        let heading = line.starts_with('#') || line.starts_with('<') && line.ends_with('>');
        let bare = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let bare = bare.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        let title = line.trim_end_matches(['*', '_']).ends_with(':') && bare.split_whitespace().count() <= 5;
        heading || title || is_nothing(&bare)
    })
}

/// Whether a line says that there is nothing.
fn is_nothing(line: &str) -> bool {
    const NOTHING: [&str; 8] = ["", "n/a", "na", "tbd", "todo", "empty", "unknown", "not applicable"];
    let mut words = line.split_whitespace();
    let few = words.clone().count() <= 5;
    NOTHING.contains(&line) || few && words.next().is_some_and(|first| matches!(first, "none" | "nothing" | "no"))
}

/// C233: a header that states version 1 or none, on entries that have ids.
fn unversioned(agent: &Pi, view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let facts = &session.facts;
    if !agent.loader.by_version || !load::states_first_version(facts) || !load::has_ids(facts) {
        return;
    }
    let Some(header) = load::header_below_title(&facts.records) else { return };
    let effect = "{loader} takes it for version 1 when it opens it: every entry gets a new id in file order, branches \
                  become one history, and a compaction keeps nothing";
    let finding = UNVERSIONED_TREE
        .at(view.context.place(header))
        .effect(view.context.says(effect))
        .fact("stated", facts.version.as_deref().unwrap_or("none"));
    // What the compaction would keep by its id is gone; without one all branches come back at once.
    let by_ids = facts
        .records
        .iter()
        .rposition(|r| r.has(flag::ID_STRING))
        .map(|n| n as u32)
        .map(|leaf| session.agent.load_from(facts, &session.graph, leaf));
    let by_ids = by_ids.map_or(0, |chain| chain.messages.len());
    found.add(if by_ids > session.chain.messages.len() { finding.hides(by_ids) } else { finding });
}

#[cfg(test)]
mod tests {
    use super::is_skeleton;

    #[test]
    fn a_summary_of_headings_says_nothing() {
        for nothing in
            ["", " \n", "## Decisions\nNothing to report.\n## Open TODOs\nNone.\n", "**Goal:**\n- (none)\n1. N/A"]
        {
            assert!(is_skeleton(nothing), "{nothing}");
        }
        for said in ["## Goal\nBake at 230.", "Nothing was decided but the oven, which is bought", "Bread"] {
            assert!(!is_skeleton(said), "{said}");
        }
    }
}
