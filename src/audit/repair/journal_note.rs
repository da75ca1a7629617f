//! What the journal is told of a repair: one line for its list, and an autopsy, which lays out the records around each
//! edit as they were, with what is called and answered in them. Ids, places, sizes and states, never a text.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::FilePlan;
use crate::agents;
use crate::finding::Rule;
use crate::record::facts::BlockKind;
use crate::record::reread::Reread;
use crate::request::Request;
use crate::request::autopsy::{Slab, around};
use crate::request::pairing::Pairing;
use crate::session::Session;

/// How many edits are laid out; the file as it was can be had from the journal.
const EDITS: usize = 200;
/// How many calls and results of one record.
const BLOCKS: usize = 50;

/// The repair in a few words.
pub fn line(plan: &FilePlan) -> String {
    let mut actions: BTreeMap<&str, u64> = BTreeMap::new();
    for edit in &plan.edits {
        *actions.entry(edit.edit.action.name()).or_default() += 1;
    }
    let actions: Vec<String> =
        actions.into_iter().map(|(name, n)| if n == 1 { name.to_owned() } else { format!("{name} ({n})") }).collect();
    actions.join(", ")
}

/// The records around each edit. `session` is the file as it was.
pub fn autopsy(plan: &FilePlan, session: &Session) -> Json {
    let records = &session.facts.records;
    let request = Request::new(session, agents::of_session(session));
    let pairing = Pairing::new(session, &request);
    let mut slabs: BTreeMap<u32, (Slab, Vec<&'static Rule>)> = BTreeMap::new();
    let mut edits = Vec::new();
    for planned in plan.edits.iter().take(EDITS) {
        // The record at the place of the edit, or the next one: what goes to quarantine is often no record.
        let at = records.partition_point(|r| r.offset + u64::from(r.length) <= planned.offset);
        if let Some(at) = at.min(records.len().wrapping_sub(1)).try_into().ok().filter(|_| !records.is_empty()) {
            for slab in around(session, &request, &pairing, at) {
                let subject = slab.subject;
                let codes = &mut slabs.entry(slab.record).or_insert_with(|| (slab, Vec::new())).1;
                if subject && !codes.contains(&planned.edit.rule) {
                    codes.push(planned.edit.rule);
                }
            }
        }
        edits.push(json!({
            "line": planned.line,
            "offset": planned.offset,
            "action": planned.edit.action.name(),
            "code": planned.edit.rule,
            "reason": planned.edit.reason,
        }));
    }
    let mut reread = Reread::new(&session.source, session.agent);
    let records: Vec<Json> = slabs.values().map(|(slab, codes)| laid_out(session, &mut reread, slab, codes)).collect();
    let bad = session.facts.bad_lines.iter().take(EDITS);
    let bad: Vec<Json> =
        bad.map(|b| json!({"line": b.line, "offset": b.offset, "length": b.length, "ended": b.terminated})).collect();
    json!({
        "agent": session.agent_id.name(),
        "loader": session.agent_id.loader(),
        "edits": edits,
        "edits_not_listed": plan.edits.len().saturating_sub(EDITS),
        "records": records,
        "bad_lines": bad,
    })
}

fn laid_out(session: &Session, reread: &mut Reread<'_>, slab: &Slab, codes: &[&Rule]) -> Json {
    let record = session.record(slab.record);
    let lossy = |text: Option<crate::text::Text>| text.map(|t| t.lossy());
    let mut out = Map::new();
    out.insert("line".into(), json!(record.line));
    out.insert("bytes".into(), json!(record.length));
    out.insert("id".into(), json!(lossy(reread.id(record))));
    out.insert("type".into(), json!(reread.type_name(record)));
    out.insert("role".into(), json!(reread.role(record)));
    out.insert("parent".into(), json!(lossy(reread.parent(record))));
    out.insert("adopted".into(), json!(slab.adopted));
    out.insert("sent".into(), json!(slab.sent));
    out.insert("turn".into(), json!(slab.turn));
    if !codes.is_empty() {
        out.insert("codes".into(), json!(codes));
    }
    let calls = slab.blocks.iter().filter(|b| matches!(b.kind, BlockKind::Call | BlockKind::Result)).take(BLOCKS);
    let calls: Vec<Json> = calls
        .map(|b| {
            let kind = if b.kind == BlockKind::Call { "call" } else { "result" };
            json!({"kind": kind, "id": b.call.as_ref().map(|c| c.lossy()), "tool": b.tool, "state": b.state,
                "other_line": b.other})
        })
        .collect();
    if !calls.is_empty() {
        out.insert("tools".into(), Json::Array(calls));
    }
    Json::Object(out)
}

/// The findings that a repair answers, for the journal.
pub fn codes(plan: &FilePlan) -> Vec<String> {
    plan.answers.iter().map(|rule| rule.code.to_owned()).collect()
}
