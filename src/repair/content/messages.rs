//! Texts, thinking, media and shapes that the API refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use sha2::{Digest, Sha256};

use super::Targets;
use super::array::Content;
use super::lines::drop_records;
use super::pairs::drop_blocks;
use crate::finding::{Family, Fix, Weight};
use crate::record::facts::{BlockKind, Kind, flag};
use crate::record::json::Kind as Json;
use crate::record::media;
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::agent::Names;
use crate::repair::answer::{Job, Way, one};
use crate::repair::edit::Action;
use crate::repair::links::{quoted, set_member};
use crate::repair::synthesize;
use crate::repair::text::Splice;
use crate::rules::messages::{rule_of_media, unanswered};
use crate::text::hex;

/// What stands where a message had nothing to say.
const PLACEHOLDER: &str = "(no text)";

/// These edits; where they leave what the API refuses, the records themselves go, where no call or result goes with them.
fn or_without(job: &Job<'_>, edits: Way, targets: &Targets) -> io::Result<Vec<Way>> {
    let session = job.session();
    let pairs = |n: u32| {
        let mut blocks = session.facts.blocks_of(session.record(n)).iter();
        blocks.any(|b| matches!(b.kind, BlockKind::Call | BlockKind::Result))
    };
    let mut ways = one(edits);
    ways.extend(one(drop_records(job, &targets.records().filter(|&n| !pairs(n)).collect())?));
    Ok(ways)
}

/// The records that the findings name go.
pub(in crate::repair) fn records(job: &Job<'_>) -> io::Result<Vec<Way>> {
    without(job, &Targets::of(job).records().collect())
}

/// These records go, or those of the findings that hold no half of a pair.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn without(job: &Job<'_>, gone: &BTreeSet<u32>) -> io::Result<Vec<Way>> {
    or_without(job, drop_records(job, gone)?, &Targets::of(job))
}

/// An empty text leaves where something else is said; where it stood alone a placeholder stands.
pub(in crate::repair) fn empty_texts(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let targets = Targets::of(job);
    or_without(job, texts(job, &targets, true)?, &targets)
}

/// For a blank text a placeholder stands.
pub(in crate::repair) fn blank_texts(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let targets = Targets::of(job);
    or_without(job, texts(job, &targets, false)?, &targets)
}

fn placeholder() -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(PLACEHOLDER))
}

fn texts(job: &Job<'_>, targets: &Targets, may_leave: bool) -> io::Result<Way> {
    let session = job.session();
    let mut edits = Vec::new();
    for (n, blocks) in targets.iter() {
        let record = session.record(n);
        let Some(content) = Content::read(session, record)? else { continue };
        let mut edit = job
            .edit(Fix::Content, Action::ReplaceBlock, record.offset, Vec::new())
            .reason("a placeholder takes its place");
        if !content.is_array() {
            edit.splices.push(content.replace_all(&quoted(PLACEHOLDER)));
        } else if may_leave && blocks.len() < content.items.len() {
            let (splices, quarantined) = content.remove(blocks);
            (edit.splices, edit.quarantined, edit.action) = (splices, quarantined, Action::RemoveBlock);
            edit.reason = "a text with nothing in it".to_owned();
        } else {
            edit.splices.extend(blocks.iter().filter_map(|&i| content.replace(i, &placeholder())));
            edit.quarantined = blocks
                .iter()
                .filter_map(|&i| content.items.get(i))
                .map(|&(s, e)| (content.offset + s as u64, (e - s) as u64))
                .collect();
        }
        edit.splices.extend(content.mark(job.rule));
        edits.push(edit);
    }
    Ok(edits)
}

/// A message without content gets a placeholder.
pub(in crate::repair) fn empty(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let (session, targets) = (job.session(), Targets::of(job));
    let mut edits = Vec::new();
    for (n, _) in targets.iter() {
        let Some(content) = Content::read(session, session.record(n))? else { continue };
        let mut splices = vec![content.replace_all(&format!("[{}]", placeholder()))];
        splices.extend(content.mark(job.rule));
        edits.push(
            job.edit(Fix::Content, Action::ReplaceBlock, content.offset, splices)
                .reason("a placeholder takes its place"),
        );
    }
    or_without(job, edits, &targets)
}

/// The thinking whose signature is bad leaves.
pub(in crate::repair) fn signatures(job: &Job<'_>) -> io::Result<Vec<Way>> {
    thinking(job, false)
}

/// Where a response's blocks are torn apart, all of its thinking leaves.
pub(in crate::repair) fn misplaced_thinking(job: &Job<'_>) -> io::Result<Vec<Way>> {
    thinking(job, true)
}

fn thinking(job: &Job<'_>, all_of_it: bool) -> io::Result<Vec<Way>> {
    let (session, targets) = (job.session(), Targets::of(job));
    let mut blocks: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let is_thinking = |kind| matches!(kind, BlockKind::Thinking | BlockKind::Redacted);
    for (n, named) in targets.iter() {
        let group = session.record(n).group();
        let rows: Vec<u32> = if all_of_it && group != 0 {
            (0..session.facts.records.len() as u32)
                .filter(|&m| session.record(m).kind == Kind::Assistant && session.record(m).group() == group)
                .collect()
        } else {
            vec![n]
        };
        for m in rows {
            let all = session.facts.blocks_of(session.record(m)).iter();
            let wanted = all.filter(|b| is_thinking(b.kind) && (all_of_it || named.contains(&usize::from(b.index))));
            let places: Vec<usize> = wanted.map(|b| usize::from(b.index)).collect();
            if !places.is_empty() {
                blocks.insert(m, places);
            }
        }
    }
    or_without(job, drop_blocks(job, &Targets { by_record: blocks })?, &targets)
}

/// Media with a wrong label get the right one; where there is none they become a note with their size and hash.
pub(in crate::repair) fn labels(job: &Job<'_>) -> io::Result<Vec<Way>> {
    media_blocks(job, true)
}

/// Media that the API refuses become a note with their size and hash.
pub(in crate::repair) fn media(job: &Job<'_>) -> io::Result<Vec<Way>> {
    media_blocks(job, false)
}

fn media_blocks(job: &Job<'_>, correct: bool) -> io::Result<Vec<Way>> {
    let (session, targets) = (job.session(), Targets::of(job));
    let names = job.agent.names();
    let mut edits = Vec::new();
    for (n, _) in targets.iter() {
        let Some(content) = Content::read(session, session.record(n))? else { continue };
        let mut edit = job.edit(Fix::Content, Action::ReplaceBlock, content.offset, Vec::new());
        let judged = session.facts.defects.iter().filter(|d| d.record == n && rule_of_media(d.kind) == Some(job.rule));
        let mut done = BTreeSet::new();
        for defect in judged {
            let at = usize::try_from(defect.offset.saturating_sub(content.offset)).unwrap_or(usize::MAX);
            let Some(block) = enclosing(&content, at, names) else { continue };
            if !done.insert(block.start) {
                continue;
            }
            let offset = |v: &Value<'_>| content.offset + v.start as u64;
            let label = find(&block, names.label);
            let right = data_of(&block, names).and_then(|data| media::detect(&data));
            match (label, right) {
                (Some(label), Some(right)) if correct => {
                    edit.splices.push(Splice::replace(offset(&label), (label.end - label.start) as u64, quoted(right)));
                    edit.reason = format!("the label is {right}");
                }
                _ => {
                    let note = note(&block, names);
                    edit.splices.push(Splice::replace(offset(&block), (block.end - block.start) as u64, note));
                    edit.quarantined.push((offset(&block), (block.end - block.start) as u64));
                    edit.reason = "a note with size and hash takes its place".to_owned();
                }
            }
        }
        if !edit.splices.is_empty() {
            edit.splices.extend(content.mark(job.rule));
            edits.push(edit);
        }
    }
    or_without(job, edits, &targets)
}

/// The innermost block around a place: an element of the content, or of a tool result's own content.
fn enclosing<'a>(content: &'a Content, at: usize, names: &Names) -> Option<Value<'a>> {
    let index = content.items.iter().position(|&(s, e)| s <= at && at < e)?;
    let block = content.item(index)?;
    let nested =
        names.nested.iter().filter_map(|k| block.get(k)).flat_map(|v| v.items()).find(|i| i.start <= at && at < i.end);
    Some(nested.unwrap_or(block))
}

/// The value at the first of these paths that leads to one.
fn find<'a>(block: &Value<'a>, paths: &[&[&str]]) -> Option<Value<'a>> {
    paths.iter().find_map(|path| block.at(path))
}

fn data_of(block: &Value<'_>, names: &Names) -> Option<Vec<u8>> {
    Some(find(block, names.data)?.text()?.as_bytes().to_vec())
}

fn note(block: &Value<'_>, names: &Names) -> String {
    let data = data_of(block, names).unwrap_or_default();
    let hash = hex(&Sha256::digest(&data));
    let text = format!("[media removed: {} base64 characters, sha256 of the base64 text {hash}]", data.len());
    format!(r#"{{"type":"text","text":{}}}"#, quoted(&text))
}

/// A content that is null or missing becomes a placeholder: the order of speakers stays.
pub(in crate::repair) fn shapes(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let (session, targets) = (job.session(), Targets::of(job));
    let mut edits = Vec::new();
    for (n, _) in targets.iter() {
        let record = session.record(n);
        if record.has(flag::LOSSY) {
            continue;
        }
        let text = reread::text(&session.source, record)?;
        let Some(message) = Value::parse(&text).and_then(|v| v.get("message")).filter(|m| m.kind() == Json::Object)
        else {
            continue;
        };
        let filled = format!("[{}]", placeholder());
        let splice = match message.get("content") {
            Some(content) if content.kind() == Json::Null => {
                Splice::replace(record.offset + content.start as u64, (content.end - content.start) as u64, filled)
            }
            Some(_) => continue,
            None => {
                let comma =
                    if message.raw().iter().filter(|b| !b.is_ascii_whitespace()).count() > 2 { "," } else { "" };
                Splice::insert(record.offset + message.end as u64 - 1, format!("{comma}\"content\":{filled}"))
            }
        };
        let mark = set_member(
            &text,
            record.offset,
            "sidAudit",
            synthesize::mark(job.rule).trim_start_matches("\"sidAudit\":"),
        );
        let splices = std::iter::once(splice).chain(mark).collect();
        edits.push(
            job.edit(Fix::Content, Action::ReplaceBlock, record.offset, splices).reason("a content that is not there"),
        );
    }
    or_without(job, edits, &targets)
}

/// Refusals of a request whose cause this plan repairs get a mark: they say nothing of the request that comes next. One
/// whose cause is not known stays.
pub(in crate::repair) fn refusals(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let repaired = job.made.iter().any(|p| matches!(p.edit.rule.family(), Family::Tools | Family::Messages));
    let causes = job.findings.iter().filter(|f| !f.is(job.rule));
    if !repaired || causes.into_iter().any(|f| matches!(f.api, Weight::Refused | Weight::Breaks)) {
        return Ok(Vec::new());
    }
    let session = job.session();
    let mut edits = Vec::new();
    for (n, _) in unanswered(session, &job.examined.request, job.agent) {
        let Some(content) = Content::read(session, session.record(n))? else { continue };
        let splices = content.mark(job.rule).into_iter().collect();
        let edit = job.edit(Fix::Content, Action::Mark, content.offset, splices);
        edits.push(edit.reason("a refusal of the request as it was before this repair"));
    }
    Ok(vec![edits])
}
