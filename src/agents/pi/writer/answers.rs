//! What is answered in sessions of pi and OpenClaw in a way of their own.

use std::io;

use crate::agents::pi::load;
use crate::agents::pi::rules::REPEATED_HEADER;
use crate::agents::pi::rules_chain::UNVERSIONED_TREE;
use crate::chain::recover::{Evidence, kept_branch};
use crate::finding::Fix;
use crate::record::facts::{Kind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::answer::{Answer, Job, Way, one};
use crate::repair::content::{Targets, insert_behind, raw_id};
use crate::repair::edit::Action;
use crate::repair::links::{headers, quoted, session_id, set_member, whole_line};
use crate::repair::synthesize;
use crate::repair::text::Splice;
use crate::rules::chain::{KEPT_RANGE_LOST, MISSING_HEADER};
use crate::rules::tools::PAIR_SPLIT_BY_BOUNDARY;
use crate::session::Session;

pub(super) static ANSWERS: &[Answer] = &[
    Answer::new(&MISSING_HEADER, header),
    Answer::new(&REPEATED_HEADER, headers),
    Answer::new(&UNVERSIONED_TREE, version),
    Answer::new(&KEPT_RANGE_LOST, kept_range),
    Answer::new(&PAIR_SPLIT_BY_BOUNDARY, edit_out),
];

/// A member of a record as JSON; null where it has none.
fn raw(text: &[u8], key: &str) -> String {
    let value = Value::parse(text).and_then(|v| v.get(key));
    value.map_or_else(|| "null".to_owned(), |v| String::from_utf8_lossy(v.raw()).into_owned())
}

/// A header that is not there is made from the file's name, its folder and its first record.
fn header(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
    let first = session.facts.records.iter().find(|r| session.agent.is_node(r));
    let Some(first) = first else { return Ok(Vec::new()) };
    let text = reread::text(&session.source, first)?;
    let stem = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    // <time>_<id>.jsonl, or the id alone.
    let id = stem.split_once('_').map_or(stem.as_str(), |(_, id)| id);
    let id = if id.is_empty() { synthesize::uuid(b"", &text, job.rule).to_string() } else { id.to_owned() };
    let line = format!(
        r#"{{"type":"session","version":3,"id":{},"timestamp":{},"cwd":{},{}}}"#,
        quoted(&id),
        raw(&text, "timestamp"),
        quoted(&folder(session)),
        synthesize::mark(job.rule)
    );
    // oh-my-pi reads its title row only where it stands first.
    let title = session.facts.records.first().filter(|r| session.facts.type_of(r) == b"title");
    let at = title.map_or(Ok(0), |title| whole_line(session, title).map(|(_, end)| end))?;
    let edit = job.edit(Fix::Content, Action::InsertRecord, at, vec![Splice::insert(at, format!("{line}\n"))]);
    Ok(vec![vec![edit.reason("made from the file's name and its first record")]])
}

/// The header gets the version that has ids.
fn version(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
    let Some(header) = load::header_below_title(&session.facts.records) else { return Ok(Vec::new()) };
    let record = session.record(header);
    let text = reread::text(&session.source, record)?;
    let Some(splice) = set_member(&text, record.offset, "version", "3").filter(|_| !record.has(flag::LOSSY)) else {
        return Ok(Vec::new());
    };
    let edit = job.edit(Fix::Content, Action::SetPointer, record.offset, vec![splice]);
    Ok(vec![vec![edit.reason("the entries have the ids of version 3")]])
}

/// The folder is named after the directory: `--home-ada-app--`. That cannot be undone in general; it is what is left.
fn folder(session: &Session) -> String {
    let name =
        session.path.parent().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    match name.strip_prefix("--").and_then(|n| n.strip_suffix("--")) {
        Some(inner) => format!("/{}", inner.replace('-', "/")),
        None => "/".to_owned(),
    }
}

/// The compaction goes below the last entry of the branch that holds the first kept one; when that names nothing,
/// to keep nothing is written down as it is.
fn kept_range(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
    let Some(n) = session.chain.kept_range_lost else { return Ok(Vec::new()) };
    let record = session.record(n);
    if record.has(flag::LOSSY) {
        return Ok(Vec::new());
    }
    let text = reread::text(&session.source, record)?;
    let edit = match kept_branch(&session.facts, &session.graph, n) {
        Some(tip) => {
            let Some(id) = session.id(tip) else { return Ok(Vec::new()) };
            let Some(splice) = set_member(&text, record.offset, "parentId", &quoted(&id.lossy())) else {
                return Ok(Vec::new());
            };
            job.edit(Fix::Links, Action::SetParent, record.offset, vec![splice])
                .reason(format!("below {}, the last entry of the kept branch", id.lossy()))
                .evidence(Evidence::Unique)
        }
        _ => {
            let Some(id) = session.id(n) else { return Ok(Vec::new()) };
            let Some(splice) = set_member(&text, record.offset, "firstKeptEntryId", &quoted(&id.lossy())) else {
                return Ok(Vec::new());
            };
            job.edit(Fix::Links, Action::SetPointer, record.offset, vec![splice])
                .reason("its own id: it keeps nothing, as before")
                .evidence(Evidence::Unique)
        }
    };
    Ok(vec![vec![edit]])
}

/// The other half is left out by a context edit, as pi does itself.
fn edit_out(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
    let walk = session.agent.walked(&session.facts, &session.graph, &session.chain);
    let Some(&last_edit) = walk.iter().rev().find(|&&n| session.record(n).kind == Kind::ContextEdit) else {
        return Ok(Vec::new());
    };
    let (mut lines, mut parent, mut last) = (Vec::new(), raw_id(job, last_edit)?, String::new());
    for n in Targets::of(job).records().filter(|n| session.record(*n).kind == Kind::ToolMessage) {
        let text = reread::text(&session.source, session.record(n))?;
        let time = raw(&text, "timestamp");
        let id = synthesize::id(job.agent, &session_id(session), &text, job.rule);
        lines.push(format!(
            r#"{{"type":"context_edit","targetId":{},"replacement":null,"id":{},"parentId":{parent},"timestamp":{time},{}}}"#,
            raw_id(job, n)?,
            quoted(&id),
            synthesize::mark(job.rule)
        ));
        parent = quoted(&id);
        last = id;
    }
    if lines.is_empty() {
        return Ok(Vec::new());
    }
    Ok(one(insert_behind(job, &walk, last_edit, &lines.join("\n"), &last)?))
}
