//! Links that are only information, and are mended only when a person names their code: no loader of today loses anything
//! by them (C214 progress-parent, C215 dangling-boundary-pointer).

use std::io;

use super::edit::{Action, Edit};
use super::links::{quoted, set_member};
use crate::chain::graph::{MISSING, NO_PARENT, numbered};
use crate::chain::recover::Evidence;
use crate::chain::walk::Inherited;
use crate::dialect::Dialect;
use crate::finding::Fix;
use crate::record::facts::{Id, Kind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::session::Session;

/// The codes that are answered only when they are named, whatever their severity at a place.
pub(super) const BY_NAME: [&str; 2] = ["C214", "C215"];

/// Links each message past the progress rows above it, to what those hang below.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub(super) fn past_progress(session: &Session) -> io::Result<Vec<Edit>> {
    let (facts, graph) = (&session.facts, &session.graph);
    if session.dialect != Dialect::Claude {
        return Ok(Vec::new());
    }
    let mut edits = Vec::new();
    // Of each record the nearest one at or above it that is no progress row.
    const UNKNOWN: u32 = MISSING - 1;
    let own = numbered(&facts.records).map(|(n, r)| if r.kind == Kind::Progress { UNKNOWN } else { n }).collect();
    let mut past = Inherited::new(own, UNKNOWN, MISSING);
    for (n, record) in numbered(&facts.records).filter(|(n, r)| r.is_message() && graph.has(*n, facts)) {
        let below_progress = |p: u32| p < MISSING && session.record(p).kind == Kind::Progress;
        if !below_progress(graph.parent[n as usize]) || record.has(flag::LOSSY) {
            continue;
        }
        // A loop among them is another finding's.
        let parent = past.of(graph, graph.parent[n as usize], |_, end| end);
        let value = match parent {
            NO_PARENT => "null".to_owned(),
            p if p < MISSING && session.record(p).has(flag::SIDECHAIN) == record.has(flag::SIDECHAIN) => {
                let Some(id) = session.id(p) else { continue };
                quoted(&id.lossy())
            }
            // Above them the chain is broken, or another one: nothing is known to link to.
            _ => continue,
        };
        let text = reread::text(&session.source, record)?;
        let Some(splice) = set_member(&text, record.offset, "parentUuid", &value) else { continue };
        let reason =
            if parent == NO_PARENT { "as a root".to_owned() } else { format!("below {}", value.trim_matches('"')) };
        edits.push(
            Edit::new("C214", Fix::Links, Action::SetParent, record.offset, vec![splice])
                .reason(reason)
                .evidence(Evidence::Unique),
        );
    }
    Ok(edits)
}

/// Points a dangling `logicalParentUuid` of a boundary to the end of the segment that it keeps, where that is there.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub(super) fn logical_parents(session: &Session) -> io::Result<Vec<Edit>> {
    let there = |id: &str| session.graph.find(Id::of(id.as_bytes()), &session.facts).is_some();
    let mut edits = Vec::new();
    for record in session.facts.records.iter().filter(|r| r.has(flag::LOGICAL_PARENT) && !r.has(flag::LOSSY)) {
        let text = reread::text(&session.source, record)?;
        let Some(root) = Value::parse(&text) else { continue };
        let at = |path: &[&str]| root.at(path).and_then(|v| v.text()).map(|t| t.lossy());
        let dangles = at(&["logicalParentUuid"]).is_some_and(|id| !there(&id));
        let tail = at(&["compactMetadata", "preservedSegment", "tailUuid"]).filter(|id| there(id));
        let Some(tail) = tail.filter(|_| dangles && record.any(flag::BOUNDARY | flag::MICRO_BOUNDARY)) else {
            continue;
        };
        let Some(splice) = set_member(&text, record.offset, "logicalParentUuid", &quoted(&tail)) else { continue };
        edits.push(
            Edit::new("C215", Fix::Links, Action::SetPointer, record.offset, vec![splice])
                .reason(format!("to {tail}, the end of the segment that it keeps"))
                .evidence(Evidence::Unique),
        );
    }
    Ok(edits)
}
