//! What is answered in sid-code's sessions in a way of their own: its loader looks upwards only, and needs its start.

use std::collections::HashSet;
use std::io;

use crate::chain::graph::MISSING;
use crate::chain::recover::{Broken, Evidence, Origin, Recovered};
use crate::chain::walk;
use crate::finding::Fix;
use crate::record::facts::{Kind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::answer::{Answer, Job, Way};
use crate::repair::edit::{Action, Edit};
use crate::repair::links::{mended, quoted, set_member, whole_line, with_and_without_legible};
use crate::repair::synthesize;
use crate::repair::text::Splice;
use crate::rules::chain::{MISSING_HEADER, PARENT_AFTER_CHILD};

pub(super) static ANSWERS: &[Answer] =
    &[Answer::new(&PARENT_AFTER_CHILD, parent_after_child), Answer::new(&MISSING_HEADER, start)];

/// No link changes: lines do.
fn parent_after_child(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let moved = |recovered: &Recovered| in_order(job, recovered);
    with_and_without_legible(job, |relink| mended(job, relink, moved, |link| link.broken != Broken::ParentBelow))
}

/// Records move so that each stands behind its parent, and as few of them as can be.
fn in_order(job: &Job<'_>, recovered: &Recovered) -> io::Result<Vec<Edit>> {
    let session = job.session();
    let below = recovered.links.iter().filter(|l| l.broken == Broken::ParentBelow);
    let below = below.filter_map(|l| match recovered.origins[l.child as usize] {
        Origin::Record(n) => Some(n),
        Origin::Hidden(_) | Origin::MadeUp => None,
    });
    // None stands before its parent: those of `below`, and what hangs on them, wait for it.
    let below: HashSet<u32> = below.collect();
    let order = walk::parents_first(&session.graph, |n, p| p < n || below.contains(&n));
    if order.len() < session.facts.records.len() {
        // Some would wait for ever.
        return Ok(Vec::new());
    }
    let stays = longest_rising(&order);
    let mut edits = Vec::new();
    // What moves is put behind the last record that stays, or before the first of them.
    let first = order.iter().copied().find(|n| stays.contains(n));
    let (mut at, mut anchor) = match first {
        Some(n) => (whole_line(session, session.record(n))?.0, None),
        None => return Ok(Vec::new()),
    };
    for &n in &order {
        let record = session.record(n);
        let (start, end) = whole_line(session, record)?;
        if stays.contains(&n) {
            (at, anchor) = (end, Some(n));
            continue;
        }
        let mut line = session.source.read_range(start, end - start)?;
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        if at == session.source.size() && !session.facts.terminated {
            line.pop();
            line.insert(0, b'\n');
        }
        let parent = session.graph.parent[n as usize];
        let reason = match anchor {
            Some(anchor) if anchor > n && parent < MISSING => {
                format!("behind its parent on line {}", session.record(parent).line)
            }
            _ => "before the records that name it".to_owned(),
        };
        let splices = vec![Splice::remove(start, end - start), Splice::insert(at, line)];
        edits.push(job.edit(Fix::Links, Action::Move, start, splices).reason(reason).evidence(Evidence::Unique));
    }
    Ok(edits)
}

/// The members of a longest rising run of a sequence without repetition.
fn longest_rising(order: &[u32]) -> HashSet<u32> {
    // Of each length the place of the run's smallest last member, and for each place the one before it.
    let (mut ends, mut before): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::with_capacity(order.len()));
    for (at, n) in order.iter().enumerate() {
        let length = ends.partition_point(|&e| order[e] < *n);
        before.push(length.checked_sub(1).map_or(usize::MAX, |l| ends[l]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut run = HashSet::new();
    let mut at = ends.last().copied().unwrap_or(usize::MAX);
    while at != usize::MAX {
        run.insert(order[at]);
        at = before[at];
    }
    run
}

/// A start record that is not there is made from the file's name and its first records.
fn start(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
    let records = &session.facts.records;
    let started = records.iter().any(|r| r.kind == Kind::Start && r.has(flag::SESSION_ID));
    let first = records.iter().find(|r| session.agent.is_node(r));
    let Some(first) = first.filter(|_| !started) else { return Ok(Vec::new()) };
    let text = reread::text(&session.source, first)?;
    let raw =
        |key: &str| Value::parse(&text).and_then(|v| v.get(key).map(|v| String::from_utf8_lossy(v.raw()).into_owned()));
    let time = raw("timestamp").unwrap_or_else(|| "null".to_owned());
    let stem = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let mark = synthesize::mark(job.rule);
    // The first record of the chain names the start that is lost.
    let named = raw("parentUuid").filter(|p| p.starts_with('"') && p.len() > 2);
    let id = named.unwrap_or_else(|| quoted(&synthesize::id(job.agent, stem.as_bytes(), &text, job.rule)));
    let model = records.iter().find(|r| r.model != 0).map(|r| session.facts.names.text(r.model)).unwrap_or_default();
    let cwd = records.iter().find(|r| r.cwd != 0).map(|r| session.facts.names.text(r.cwd));
    let cwd = cwd.map(|c| format!(r#""cwd":{},"#, quoted(&c))).unwrap_or_default();
    let line = format!(
        r#"{{"type":"session_start","version":"3.0","schemaCompat":"claude-code-like/v3","sessionId":{},"model":{},"provider":"unknown",{cwd}"timestamp":{time},"uuid":{id},"parentUuid":null,{mark}}}"#,
        quoted(&stem),
        quoted(&model)
    );
    let mut edits = vec![
        job.edit(Fix::Content, Action::InsertRecord, 0, vec![Splice::insert(0, format!("{line}\n"))])
            .reason("made from the file's name and its first record"),
    ];
    // A root that named nothing hangs below the new start.
    if first.parent.is_none() {
        let splice = set_member(&text, first.offset, "parentUuid", &id);
        edits.extend(
            splice.map(|s| {
                job.edit(Fix::Content, Action::SetParent, first.offset, vec![s]).reason("below the new start")
            }),
        );
    }
    Ok(vec![edits])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_few_as_can_be_move() {
        let stays = |order: &[u32]| {
            let mut all: Vec<u32> = longest_rising(order).into_iter().collect();
            all.sort_unstable();
            all
        };
        assert_eq!(stays(&[0, 1, 2, 3]), [0, 1, 2, 3]);
        assert_eq!(stays(&[0, 8, 2, 3, 4, 7, 1]), [0, 2, 3, 4, 7]);
        assert!(stays(&[]).is_empty());
    }
}
