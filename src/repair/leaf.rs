//! What a person decides about links: `--leaf ID` gives a leaf its place on the used path back, `--relink CHILD=PARENT`
//! puts one record below another. Both change one pointer; nothing moves, nothing goes.
//!
//! A leaf that is not used was taken by a record that hangs above it: the first on the way from the used leaf to the root
//! whose parent is the leaf or stands above it. Below the leaf that record keeps all that hangs on it, and the leaf with
//! what is above it comes back.

use std::collections::HashSet;
use std::io;

use super::edit::{Action, Edit};
use super::links::{Relink, keys, quoted, set_member};
use super::worse::TakenBack;
use crate::chain::recover::Evidence;
use crate::chain::walk;
use crate::dialect::Dialect;
use crate::finding::{Finding, Fix};
use crate::record::facts::{Id, flag};
use crate::record::reread;
use crate::session::Session;

/// The code of the step: what a decision mends has the form of a stray leaf, unless a finding says more.
pub(super) const STEP: &str = "C219";

/// Findings of a record whose own link is broken: a decision about it answers them.
const BROKEN: [&str; 7] = ["C201", "C202", "C203", "C204", "C205", "C209", "C213"];

/// What a decision comes to in one session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// This record gets this parent.
    Link(u32, u32),
    /// The record stands inside a damaged line: what mends that line may take the branch that it ends.
    Damaged,
    /// It is so already.
    Holds,
    /// The record that it names is not there.
    Absent(String),
    /// It cannot be done, and why.
    Cannot(String),
}

/// The record of this session that bears an id.
pub fn find(session: &Session, id: &str) -> Option<u32> {
    session.graph.find(Id::of(id.as_bytes()), &session.facts)
}

/// Whether a session has a record of this id, on a line of its own or inside a damaged one.
pub fn has(session: &Session, id: &str) -> bool {
    find(session, id).is_some() || session.facts.hidden.iter().any(|r| r.id == Id::of(id.as_bytes()))
}

/// What `--leaf ID` comes to; none when the session has no such record.
pub fn of_leaf(session: &Session, id: &str) -> Option<Decision> {
    let Some(leaf) = find(session, id) else {
        return has(session, id).then_some(Decision::Damaged);
    };
    if is_used(session, leaf) {
        return Some(Decision::Holds);
    }
    let Some(used) = session.chain.leaf.filter(|_| !session.chain.adopted.is_empty()) else {
        return Some(Decision::Cannot("its session has no path that is used, so nothing took the leaf".to_owned()));
    };
    let above: HashSet<u32> = walk::up(&session.graph, leaf).collect();
    if above.contains(&used) {
        return Some(Decision::Cannot(format!("'{id}' hangs below the leaf that is used: no record took it away")));
    }
    let parent = |n: u32| session.graph.parent[n as usize];
    let taker = walk::up(&session.graph, used).find(|&n| above.contains(&parent(n)));
    // Two trees: the topmost record that is used goes below the leaf.
    let taker = taker.or(session.chain.adopted.first().copied())?;
    if session.dialect != Dialect::Sid || taker > leaf {
        return Some(Decision::Link(taker, leaf));
    }
    // Its loader looks upwards only: the first record on the way down that stands behind the leaf goes below it.
    let behind = session.chain.adopted.iter().copied().find(|&n| n > leaf);
    Some(match behind {
        Some(taker) => Decision::Link(taker, leaf),
        None => Decision::Cannot(format!("'{id}' stands behind every record that is used, where none can name it")),
    })
}

/// The id of the leaf that another state of a session uses, where a person can decide for it.
pub(super) fn instead(session: &Session, other: &Session) -> Option<String> {
    let id = other.id(other.chain.leaf?)?.lossy();
    matches!(of_leaf(session, &id), Some(Decision::Link(..) | Decision::Damaged)).then_some(id)
}

/// Whether a person decided for what mends a damaged line, by the leaf that stood in it and is used behind it.
pub(super) fn decides(before: &Session, after: &Session, relink: &Relink) -> bool {
    relink.leaf.as_ref().is_some_and(|id| find(before, id).is_none() && uses(after, relink))
}

/// Whether the leaf that a person named is used.
pub(super) fn uses(session: &Session, relink: &Relink) -> bool {
    relink.leaf.as_ref().and_then(|id| find(session, id)).is_some_and(|leaf| is_used(session, leaf))
}

/// What `--relink CHILD=PARENT` comes to; none when the session has no such child.
pub fn of_link(session: &Session, (child, parent): (&str, &str)) -> Option<Decision> {
    let n = find(session, child)?;
    let Some(p) = find(session, parent) else {
        return Some(Decision::Absent(format!("has no record '{parent}' to link to")));
    };
    if session.graph.parent[n as usize] == p {
        return Some(Decision::Holds);
    }
    if walk::up(&session.graph, p).any(|above| above == n) {
        return Some(Decision::Cannot(format!("'{parent}' hangs below '{child}': the link would make a loop")));
    }
    Some(Decision::Link(n, p))
}

/// The edits of all decisions about a session, as one way.
pub(super) fn ways(session: &Session, findings: &[Finding], relink: &Relink) -> io::Result<Vec<Vec<Edit>>> {
    let links = relink.decided.iter().filter_map(|(child, parent)| of_link(session, (child, parent)));
    let leaf = relink.leaf.iter().filter_map(|id| of_leaf(session, id));
    let mut edits = Vec::new();
    for decision in links.chain(leaf) {
        if let Decision::Link(child, parent) = decision {
            edits.extend(below(session, findings, child, parent)?);
        }
    }
    Ok(if edits.is_empty() { Vec::new() } else { vec![edits] })
}

fn below(session: &Session, findings: &[Finding], child: u32, parent: u32) -> io::Result<Option<Edit>> {
    let record = session.record(child);
    let Some(id) = session.id(parent).map(|id| id.lossy()).filter(|_| !record.has(flag::LOSSY)) else {
        return Ok(None);
    };
    let text = reread::text(&session.source, record)?;
    let (_, key) = keys(session.dialect);
    let Some(splice) = set_member(&text, record.offset, key, &quoted(&id)) else { return Ok(None) };
    let line = Some(u64::from(record.line));
    let broken = findings.iter().find(|f| f.place.line == line && BROKEN.contains(&f.rule.code));
    let edit =
        Edit::new(broken.map_or(STEP, |f| f.rule.code), Fix::Links, Action::SetParent, record.offset, vec![splice]);
    Ok(Some(edit.reason(format!("decided: below {id}")).evidence(Evidence::Decided)))
}

/// What a step of this module did not reach: the leaf that a person named has to be on the used path behind it.
pub(super) fn unproven(code: &str, after: &Session, relink: &Relink) -> Option<String> {
    let id = relink.leaf.as_ref().filter(|_| code == STEP)?;
    let used = find(after, id).is_none_or(|leaf| is_used(after, leaf));
    (!used).then(|| format!("'{id}' would still not be on the path that is used"))
}

/// Why the step of the decisions was taken back, if it was.
pub fn why_not(taken_back: &[TakenBack]) -> Option<&str> {
    taken_back.iter().find(|t| t.code == STEP).map(|t| t.worse.why.as_str())
}

fn is_used(session: &Session, n: u32) -> bool {
    session.chain.adopted.contains(&n)
}
