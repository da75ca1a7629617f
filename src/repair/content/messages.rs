//! Texts, thinking, media and shapes that the API refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use sha2::{Digest, Sha256};

use super::Targets;
use super::array::Content;
use super::lines::drop_records;
use crate::finding::Fix;
use crate::record::facts::{BlockKind, DefectKind, Kind, flag};
use crate::record::json::Kind as Json;
use crate::record::media;
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::edit::{Action, Edit};
use crate::repair::links::{quoted, set_member};
use crate::repair::made;
use crate::repair::text::Splice;
use crate::rules::messages::made_up_tail;
use crate::session::Session;
use crate::text::hex;

/// What stands where a message had nothing to say.
const PLACEHOLDER: &str = "(no text)";

/// The records themselves go, where no call or result goes with them.
pub(super) fn without(session: &Session, code: &'static str, targets: &Targets) -> io::Result<Vec<Edit>> {
    let pairs = |n: u32| {
        let mut blocks = session.facts.blocks_of(session.record(n)).iter();
        blocks.any(|b| matches!(b.kind, BlockKind::Call | BlockKind::Result))
    };
    drop_records(session, code, &targets.by_record.keys().copied().filter(|&n| !pairs(n)).collect())
}

/// The edits that answer one code of the family M.
pub(super) fn edits(session: &Session, code: &'static str, targets: &Targets) -> io::Result<Vec<Edit>> {
    match code {
        "M401" | "M402" => texts(session, code, targets),
        "M403" => empty(session, targets),
        "M404" => drop_records(session, code, &targets.by_record.keys().copied().collect()),
        // The finding names the first of them.
        "M413" => drop_records(session, code, &made_up_tail(session).into_iter().collect()),
        "M405" | "M406" => thinking(session, code, targets),
        "M407" | "M408" | "M409" | "M410" | "M411" => media_blocks(session, code, targets),
        "M414" => shapes(session, targets),
        _ => Ok(Vec::new()),
    }
}

fn placeholder() -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(PLACEHOLDER))
}

/// An empty text leaves where something else is said; where it stood alone, and for a blank one, a placeholder stands.
fn texts(session: &Session, code: &'static str, targets: &Targets) -> io::Result<Vec<Edit>> {
    let mut edits = Vec::new();
    for (n, blocks) in targets.iter() {
        let record = session.record(n);
        let Some(content) = Content::read(session, record)? else { continue };
        let mut edit = Edit::new(code, Fix::Content, Action::ReplaceBlock, record.offset, Vec::new())
            .reason("a placeholder takes its place");
        if !content.is_array() {
            edit.splices.push(content.replace_all(&quoted(PLACEHOLDER)));
        } else if code == "M401" && blocks.len() < content.items.len() {
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
        edit.splices.extend(content.mark(code));
        edits.push(edit);
    }
    Ok(edits)
}

fn empty(session: &Session, targets: &Targets) -> io::Result<Vec<Edit>> {
    let mut edits = Vec::new();
    for (n, _) in targets.iter() {
        let Some(content) = Content::read(session, session.record(n))? else { continue };
        let mut splices = vec![content.replace_all(&format!("[{}]", placeholder()))];
        splices.extend(content.mark("M403"));
        edits.push(
            Edit::new("M403", Fix::Content, Action::ReplaceBlock, content.offset, splices)
                .reason("a placeholder takes its place"),
        );
    }
    Ok(edits)
}

/// Thinking leaves: the one block whose signature is bad, or, where a response's blocks are torn apart, all of its thinking.
fn thinking(session: &Session, code: &'static str, targets: &Targets) -> io::Result<Vec<Edit>> {
    let mut blocks: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let is_thinking = |kind| matches!(kind, BlockKind::Thinking | BlockKind::Redacted);
    for (n, named) in targets.iter() {
        let group = session.record(n).group();
        let rows: Vec<u32> = match code {
            "M405" if group != 0 => (0..session.facts.records.len() as u32)
                .filter(|&m| session.record(m).kind == Kind::Assistant && session.record(m).group() == group)
                .collect(),
            _ => vec![n],
        };
        for m in rows {
            let all = session.facts.blocks_of(session.record(m)).iter();
            let wanted =
                all.filter(|b| is_thinking(b.kind) && (code == "M405" || named.contains(&usize::from(b.index))));
            let places: Vec<usize> = wanted.map(|b| usize::from(b.index)).collect();
            if !places.is_empty() {
                blocks.insert(m, places);
            }
        }
    }
    super::pairs::drop_blocks(session, code, &Targets { by_record: blocks })
}

/// Media that the API refuses: a wrong label is corrected, anything else becomes a note with its size and hash.
fn media_blocks(session: &Session, code: &'static str, targets: &Targets) -> io::Result<Vec<Edit>> {
    let mut edits = Vec::new();
    for (n, _) in targets.iter() {
        let Some(content) = Content::read(session, session.record(n))? else { continue };
        let mut edit = Edit::new(code, Fix::Content, Action::ReplaceBlock, content.offset, Vec::new());
        let judged = session.facts.defects.iter().filter(|d| d.record == n && code_of(d.kind) == Some(code));
        let mut done = BTreeSet::new();
        for defect in judged {
            let at = usize::try_from(defect.offset.saturating_sub(content.offset)).unwrap_or(usize::MAX);
            let Some(block) = enclosing(&content, at) else { continue };
            if !done.insert(block.start) {
                continue;
            }
            let offset = |v: &Value<'_>| content.offset + v.start as u64;
            let label = label_of(&block);
            let right = data_of(&block).and_then(|data| media::detect(&data));
            match (code, label, right) {
                ("M407", Some(label), Some(right)) => {
                    edit.splices.push(Splice::replace(offset(&label), (label.end - label.start) as u64, quoted(right)));
                    edit.reason = format!("the label is {right}");
                }
                _ => {
                    let note = note(&block);
                    edit.splices.push(Splice::replace(offset(&block), (block.end - block.start) as u64, note));
                    edit.quarantined.push((offset(&block), (block.end - block.start) as u64));
                    edit.reason = "a note with size and hash takes its place".to_owned();
                }
            }
        }
        if !edit.splices.is_empty() {
            edit.splices.extend(content.mark(code));
            edits.push(edit);
        }
    }
    Ok(edits)
}

fn code_of(kind: DefectKind) -> Option<&'static str> {
    Some(match kind {
        DefectKind::MislabelledMedia => "M407",
        DefectKind::UndecodableMedia => "M408",
        DefectKind::OversizedMedia => "M409",
        DefectKind::UnsupportedMedia => "M410",
        DefectKind::BrokenDocument => "M411",
        _ => return None,
    })
}

/// The innermost block around a place: an element of the content, or of a tool result's own content.
fn enclosing(content: &Content, at: usize) -> Option<Value<'_>> {
    let index = content.items.iter().position(|&(s, e)| s <= at && at < e)?;
    let block = content.item(index)?;
    let nested = ["content", "mediaBlocks"]
        .iter()
        .filter_map(|k| block.get(k))
        .flat_map(|v| v.items())
        .find(|i| i.start <= at && at < i.end);
    Some(nested.unwrap_or(block))
}

fn label_of<'a>(block: &Value<'a>) -> Option<Value<'a>> {
    let source = block.get("source");
    source.and_then(|s| s.get("media_type")).or_else(|| block.get("mimeType")).or_else(|| block.get("mediaType"))
}

fn data_of(block: &Value<'_>) -> Option<Vec<u8>> {
    let data = block.get("source").and_then(|s| s.get("data")).or_else(|| block.get("data"))?;
    Some(data.text()?.as_bytes().to_vec())
}

fn note(block: &Value<'_>) -> String {
    let data = data_of(block).unwrap_or_default();
    let hash = hex(&Sha256::digest(&data));
    let text = format!("[media removed: {} base64 characters, sha256 of the base64 text {hash}]", data.len());
    format!(r#"{{"type":"text","text":{}}}"#, quoted(&text))
}

/// A content that is null or missing becomes a placeholder: the order of speakers stays.
fn shapes(session: &Session, targets: &Targets) -> io::Result<Vec<Edit>> {
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
        let mark = set_member(&text, record.offset, "sidAudit", made::mark("M414").trim_start_matches("\"sidAudit\":"));
        let splices = std::iter::once(splice).chain(mark).collect();
        edits.push(
            Edit::new("M414", Fix::Content, Action::ReplaceBlock, record.offset, splices)
                .reason("a content that is not there"),
        );
    }
    Ok(edits)
}
