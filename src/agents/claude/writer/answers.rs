//! What is answered in Claude Code's sessions in a way of their own. Two links are only information, and are mended only when
//! a person names their code: no loader of today loses anything by them.

use std::io;

use crate::agents::claude::rules::{SYNTHETIC_TAIL, made_up_tail};
use crate::agents::claude::rules_chain::{DANGLING_BOUNDARY_POINTER, REPLAYED_RECORDS};
use crate::chain::graph::{MISSING, NO_PARENT, numbered};
use crate::chain::recover::Evidence;
use crate::chain::walk::Inherited;
use crate::finding::Fix;
use crate::record::facts::{Id, Kind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::answer::{Answer, Job, Way, one};
use crate::repair::content::without;
use crate::repair::edit::Action;
use crate::repair::links::{copies_of, quoted, set_member};
use crate::rules::chain::{PROGRESS_PARENT, REPEATED_RECORD};
use crate::session::Session;

pub(super) static ANSWERS: &[Answer] = &[
    Answer::new(&REPEATED_RECORD, repeated),
    Answer::named(&PROGRESS_PARENT, past_progress),
    Answer::named(&DANGLING_BOUNDARY_POINTER, logical_parents),
    Answer::new(&REPLAYED_RECORDS, replayed),
    Answer::new(&SYNTHETIC_TAIL, made_up),
];

/// Copies that no compaction wrote again.
fn repeated(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let replays = replays(job.session());
    copies_of(job, |a, b| !replays(a, b))
}

/// What a compaction wrote again: only the later ones may go.
fn replayed(job: &Job<'_>) -> io::Result<Vec<Way>> {
    Ok(copies_of(job, replays(job.session()))?.into_iter().take(1).collect())
}

/// All the made-up records that the chain ends in go: the finding names the first of them.
fn made_up(job: &Job<'_>) -> io::Result<Vec<Way>> {
    without(job, &made_up_tail(job.session()).into_iter().collect())
}

/// Whether a boundary stands between two records.
fn replays(session: &Session) -> impl Fn(u32, u32) -> bool {
    let boundaries = numbered(&session.facts.records).filter(|(_, r)| r.has(flag::BOUNDARY));
    let boundaries: Vec<u32> = boundaries.map(|(n, _)| n).collect();
    move |a, b| boundaries.get(boundaries.partition_point(|n| *n < a)).is_some_and(|n| *n < b)
}

/// Links each message past the progress rows above it, to what those hang below.
fn past_progress(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
    let (facts, graph) = (&session.facts, &session.graph);
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
            job.edit(Fix::Links, Action::SetParent, record.offset, vec![splice])
                .reason(reason)
                .evidence(Evidence::Unique),
        );
    }
    Ok(one(edits))
}

/// Points a dangling `logicalParentUuid` of a boundary to the end of the segment that it keeps, where that is there.
fn logical_parents(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
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
            job.edit(Fix::Links, Action::SetPointer, record.offset, vec![splice])
                .reason(format!("to {tail}, the end of the segment that it keeps"))
                .evidence(Evidence::Unique),
        );
    }
    Ok(one(edits))
}
