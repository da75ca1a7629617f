//! What the journal is told of a repair: one line for its list, and an autopsy, which lays out the records around each
//! edit as they were, with what is called and answered in them. Ids, places, sizes and states, never a text.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::FilePlan;
use crate::record::again;
use crate::record::reread::Reread;
use crate::record::value::Value;
use crate::rules::counted;
use crate::session::Session;

/// How many records are laid out on either side of an edit.
const AROUND: u32 = 3;
/// How many edits are laid out; the file as it was can be had from the journal.
const EDITS: usize = 200;
/// How many blocks of one record.
const BLOCKS: usize = 50;

/// The repair in a few words.
pub fn line(plan: &FilePlan) -> String {
    let mut actions: BTreeMap<&str, u64> = BTreeMap::new();
    for edit in &plan.edits {
        *actions.entry(edit.edit.action.name()).or_default() += 1;
    }
    let actions: Vec<String> = actions
        .into_iter()
        .map(|(name, n)| if n == 1 { name.to_owned() } else { format!("{name} ({n})") })
        .collect();
    actions.join(", ")
}

/// The records around each edit. `session` is the file as it was.
pub fn autopsy(plan: &FilePlan, session: &Session) -> Json {
    let records = &session.facts.records;
    let mut wanted: BTreeMap<u32, Vec<&'static str>> = BTreeMap::new();
    let mut edits = Vec::new();
    for planned in plan.edits.iter().take(EDITS) {
        // The record at or behind the place of the edit.
        let at = records.partition_point(|r| r.offset + u64::from(r.length) <= planned.offset) as u32;
        let last = (records.len() as u32).saturating_sub(1);
        for n in at.saturating_sub(AROUND)..=(at + AROUND).min(last) {
            let codes = wanted.entry(n).or_default();
            if n == at && !codes.contains(&planned.edit.code) {
                codes.push(planned.edit.code);
            }
        }
        edits.push(json!({
            "line": planned.line,
            "offset": planned.offset,
            "action": planned.edit.action.name(),
            "code": planned.edit.code,
            "reason": planned.edit.reason,
        }));
    }
    let mut adopted = vec![false; records.len()];
    session.chain.adopted.iter().for_each(|&n| adopted[n as usize] = true);
    let mut reread = Reread::new(&session.source, session.dialect);
    let records: Vec<Json> = wanted
        .into_iter()
        .filter(|(n, _)| (*n as usize) < records.len())
        .map(|(n, codes)| laid_out(session, &mut reread, n, adopted[n as usize], &codes))
        .collect();
    let bad: Vec<Json> = session.facts.bad_lines.iter().take(EDITS).map(|b| {
        json!({"line": b.line, "offset": b.offset, "length": b.length, "terminated": b.terminated})
    }).collect();
    json!({
        "dialect": session.dialect.name(),
        "loader": session.dialect.loader(),
        "edits": edits,
        "edits_not_listed": plan.edits.len().saturating_sub(EDITS),
        "records": records,
        "bad_lines": bad,
    })
}

fn laid_out(session: &Session, reread: &mut Reread<'_>, n: u32, adopted: bool, codes: &[&str]) -> Json {
    let record = session.record(n);
    let lossy = |text: Option<crate::text::Text>| text.map(|t| t.lossy());
    let mut out = Map::new();
    out.insert("line".into(), json!(record.line));
    out.insert("bytes".into(), json!(record.length));
    out.insert("id".into(), json!(lossy(reread.id(record))));
    out.insert("type".into(), json!(reread.type_name(record)));
    out.insert("role".into(), json!(reread.role(record)));
    out.insert("parent".into(), json!(lossy(reread.parent(record))));
    out.insert("adopted".into(), json!(adopted));
    if !codes.is_empty() {
        out.insert("codes".into(), json!(codes));
    }
    if let Ok(text) = again::text(&session.source, record) {
        let blocks = blocks(&text);
        if !blocks.is_empty() {
            out.insert("blocks".into(), Json::Array(blocks));
        }
    }
    Json::Object(out)
}

/// The blocks of a message by kind, with the ids by which calls and results are paired.
fn blocks(text: &[u8]) -> Vec<Json> {
    let Some(root) = Value::parse(text) else { return Vec::new() };
    let string = |value: Value<'_>, key: &str| Some(value.get(key)?.text()?.lossy());
    let mut blocks = Vec::new();
    if let Some(message) = root.get("message")
        && let Some(call) = string(message, "toolCallId")
    {
        blocks.push(json!({"kind": "result", "call": call}));
    }
    let content = root.at(&["message", "content"]).or_else(|| root.get("content"));
    for block in content.map(|c| c.items()).unwrap_or_default().into_iter().take(BLOCKS) {
        let Some(kind) = string(block, "type") else { continue };
        blocks.push(match kind.as_str() {
            "tool_use" | "toolCall" => {
                json!({"kind": "call", "call": string(block, "id"), "tool": string(block, "name")})
            }
            "tool_result" => json!({"kind": "result", "call": string(block, "tool_use_id")}),
            _ => json!({"kind": kind, "bytes": block.end - block.start}),
        });
    }
    blocks
}

/// The findings that a repair answers, for the journal.
pub fn codes(plan: &FilePlan) -> Vec<String> {
    plan.answers.iter().map(|code| (*code).to_owned()).collect()
}

/// `1 edit`, `3 edits`.
pub fn edits(plan: &FilePlan) -> String {
    counted(plan.edits.len() as u64, "edit")
}
