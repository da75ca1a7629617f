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
use crate::repair::edit::{Action, Edit};
use crate::repair::links::{keys, set_member, whole_line};
use crate::repair::text::Splice;
use crate::session::Session;

/// Drops records and links their children to the nearest record above that stays.
pub(super) fn drop_records(session: &Session, code: &'static str, gone: &BTreeSet<u32>) -> io::Result<Vec<Edit>> {
    let graph = &session.graph;
    let mut edits = Vec::new();
    for &n in gone {
        let (start, end) = whole_line(session, session.record(n))?;
        edits.push(
            Edit::quarantine(code, Fix::Content, Action::DropRecord, start, end - start)
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
            above if gone.contains(&above) => raw_parent(session, above)?,
            above => raw_id(session, above)?,
        };
        for &child in graph.children(n).iter().filter(|c| !gone.contains(c)) {
            edits.extend(point(session, code, Fix::Content, child, &parent)?);
        }
    }
    Ok(edits)
}

/// Points a record at a parent that is given as JSON.
pub(super) fn point(
    session: &Session,
    code: &'static str,
    class: Fix,
    n: u32,
    parent: &str,
) -> io::Result<Option<Edit>> {
    let record = session.record(n);
    if record.has(flag::LOSSY) {
        return Ok(None);
    }
    let text = reread::text(&session.source, record)?;
    let (_, key) = keys(session.dialect);
    Ok(set_member(&text, record.offset, key, parent).map(|splice| {
        Edit::new(code, class, Action::SetParent, record.offset, vec![splice])
            .reason(format!("below {}", parent.trim_matches('"')))
    }))
}

/// A record's id as JSON, as it stands in the file.
pub(super) fn raw_id(session: &Session, n: u32) -> io::Result<String> {
    member(session, n, keys(session.dialect).0)
}

/// A record's parent as JSON, as it stands in the file.
pub(super) fn raw_parent(session: &Session, n: u32) -> io::Result<String> {
    member(session, n, keys(session.dialect).1)
}

fn member(session: &Session, n: u32, key: &str) -> io::Result<String> {
    let text = reread::text(&session.source, session.record(n))?;
    let raw = Value::parse(&text).and_then(|v| v.get(key)).map(|v| String::from_utf8_lossy(v.raw()).into_owned());
    Ok(raw.unwrap_or_else(|| "null".to_owned()))
}

/// The records in the order in which the loader walks them, root first: what has a child on the way down.
pub(super) fn walked(session: &Session) -> Vec<u32> {
    session.agent.walked(&session.facts, &session.graph, &session.chain)
}

/// Puts a line behind a record, and the walk's next record below it.
pub(super) fn insert_behind(
    session: &Session,
    code: &'static str,
    walked: &[u32],
    n: u32,
    line: &str,
    id: &str,
) -> io::Result<Vec<Edit>> {
    let (start, end) = whole_line(session, session.record(n))?;
    let terminated = session.source.read_range(end.saturating_sub(1).max(start), 1)?.first() == Some(&b'\n');
    let text = if terminated { format!("{line}\n") } else { format!("\n{line}\n") };
    let mut edits = vec![
        Edit::new(code, Fix::Content, Action::InsertRecord, start, vec![Splice::insert(end, text)])
            .reason("marked as made up"),
    ];
    let next = walked.iter().position(|&m| m == n).and_then(|i| walked.get(i + 1));
    if let (Some(&next), false) = (next, session.chain.mode == Mode::Linear) {
        edits.extend(point(session, code, Fix::Content, next, &crate::repair::links::quoted(id))?);
    }
    Ok(edits)
}
