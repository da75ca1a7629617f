//! Whole records that leave or come, and the links around them: whoever hung below a record that goes hangs below what
//! that one hung below; whoever comes behind an inserted one hangs below that.

use std::collections::BTreeSet;
use std::io;

use crate::chain::Mode;
use crate::chain::graph::{MISSING, NO_PARENT};
use crate::chain::walk::Inherited;
use crate::finding::Fix;
use crate::record::facts::flag;
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::answer::{Job, Way};
use crate::repair::edit::{Action, Edit};
use crate::repair::links::{quoted, set_member, whole_line};
use crate::repair::text::Splice;
use crate::session::Session;

/// Drops records and links their children to the nearest record above that stays.
pub(super) fn drop_records(job: &Job<'_>, gone: &BTreeSet<u32>) -> io::Result<Way> {
    let session = job.session();
    let graph = &session.graph;
    let mut edits = Vec::new();
    for &n in gone {
        let (start, end) = whole_line(session, session.record(n))?;
        edits.push(
            Edit::quarantine(job.rule, Fix::Content, Action::DropRecord, start, end - start)
                .reason("its children hang below what it hung below"),
        );
    }
    // Of each record that goes the nearest one above that stays, or the last that goes where none does.
    let count = session.facts.records.len() as u32;
    let own = (0..count).map(|n| if gone.contains(&n) { MISSING } else { n }).collect();
    let mut stays = Inherited::new(own, MISSING, NO_PARENT);
    for &n in gone {
        let parent = match stays.of(graph, n, |last, _| last) {
            NO_PARENT => "null".to_owned(),
            // A record whose way up ends in the gap keeps the pointer that the last dropped one had.
            above if gone.contains(&above) => raw_parent(job, above)?,
            above => raw_id(job, above)?,
        };
        for &child in graph.children(n).iter().filter(|c| !gone.contains(c)) {
            edits.extend(point(job, Fix::Content, child, &parent)?);
        }
    }
    Ok(edits)
}

/// Points a record at a parent that is given as JSON.
pub(super) fn point(job: &Job<'_>, class: Fix, n: u32, parent: &str) -> io::Result<Option<Edit>> {
    let session = job.session();
    let record = session.record(n);
    if record.has(flag::LOSSY) {
        return Ok(None);
    }
    let text = reread::text(&session.source, record)?;
    let key = job.agent.names().parent;
    Ok(set_member(&text, record.offset, key, parent).map(|splice| {
        job.edit(class, Action::SetParent, record.offset, vec![splice])
            .reason(format!("below {}", parent.trim_matches('"')))
    }))
}

/// A record's id as JSON, as it stands in the file.
///
/// # Errors
/// I/O errors.
pub fn raw_id(job: &Job<'_>, n: u32) -> io::Result<String> {
    member(job.session(), n, job.agent.names().id)
}

/// A record's parent as JSON, as it stands in the file.
pub(super) fn raw_parent(job: &Job<'_>, n: u32) -> io::Result<String> {
    member(job.session(), n, job.agent.names().parent)
}

fn member(session: &Session, n: u32, key: &str) -> io::Result<String> {
    let text = reread::text(&session.source, session.record(n))?;
    let raw = Value::parse(&text).and_then(|v| v.get(key)).map(|v| String::from_utf8_lossy(v.raw()).into_owned());
    Ok(raw.unwrap_or_else(|| "null".to_owned()))
}

/// Puts a line behind a record, and the walk's next record below it.
///
/// # Errors
/// I/O errors.
pub fn insert_behind(job: &Job<'_>, walked: &[u32], n: u32, line: &str, id: &str) -> io::Result<Way> {
    let session = job.session();
    let (start, end) = whole_line(session, session.record(n))?;
    let terminated = session.source.read_range(end.saturating_sub(1).max(start), 1)?.first() == Some(&b'\n');
    let text = if terminated { format!("{line}\n") } else { format!("\n{line}\n") };
    let mut edits = vec![
        job.edit(Fix::Content, Action::InsertRecord, start, vec![Splice::insert(end, text)])
            .reason("marked as made up"),
    ];
    let next = walked.iter().position(|&m| m == n).and_then(|i| walked.get(i + 1));
    if let (Some(&next), false) = (next, session.chain.mode == Mode::Linear) {
        edits.extend(point(job, Fix::Content, next, &quoted(id))?);
    }
    Ok(edits)
}
