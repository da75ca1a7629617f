//! Claude Code: what a repair writes.

use std::io;

use uuid::Uuid;

use super::Claude;
use crate::agents::wire;
use crate::record::facts::{BlockKind, Kind};
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::agent::{Names, Writer};
use crate::repair::answer::{Answer, Job};
use crate::repair::content::{Open, insert_behind, raw_id};
use crate::repair::edit::Edit;
use crate::repair::links::{quoted, session_id};
use crate::repair::synthesize;
use crate::session::Session;

mod answers;

static NAMES: Names = Names {
    id: "uuid",
    parent: "parentUuid",
    input: "input",
    call: "tool_use_id",
    nested: &["content"],
    label: &[&["source", "media_type"]],
    data: &[&["source", "data"]],
};

impl Writer for Claude {
    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn id(&self, made: Uuid) -> String {
        made.to_string()
    }

    fn answers(&self) -> &'static [Answer] {
        answers::ANSWERS
    }

    fn below_leaf(&self, _: &Session, taker: u32, _: u32) -> Option<u32> {
        Some(taker)
    }

    /// One user row behind the response and the results that it has, so that all stand in one turn.
    fn results(&self, job: &Job<'_>, open: &Open<'_>) -> io::Result<Vec<Edit>> {
        let &Open { walk, record: n, content, calls } = open;
        let session = job.session();
        let place = walk.iter().position(|&m| m == n).unwrap_or(walk.len().saturating_sub(1));
        let group = session.record(n).group();
        let mut last = place;
        for (i, &m) in walk.iter().enumerate().skip(place + 1) {
            let record = session.record(m);
            let same = record.kind == Kind::Assistant && group != 0 && record.group() == group;
            let blocks = session.facts.blocks_of(record);
            let result = record.kind == Kind::User && blocks.iter().any(|b| b.kind == BlockKind::Result);
            if same || result {
                last = i;
            } else if record.is_message() {
                break;
            }
        }
        let Some(&anchor) = walk.get(last) else { return Ok(Vec::new()) };
        let id = synthesize::id(self, &session_id(session), &content.text, job.rule);
        let kept: String = ["isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "agentId"]
            .iter()
            .filter_map(|key| Some(format!(r#""{key}":{},"#, content.raw(key)?)))
            .collect();
        let anchor_text = reread::text(&session.source, session.record(anchor))?;
        let time = Value::parse(&anchor_text).and_then(|v| v.get("timestamp"));
        let time = time.map_or_else(|| "null".to_owned(), |v| String::from_utf8_lossy(v.raw()).into_owned());
        let line = format!(
            r#"{{"parentUuid":{},{kept}"type":"user","message":{{"role":"user","content":[{}]}},"uuid":{},"timestamp":{time},"sourceToolAssistantUUID":{},{}}}"#,
            raw_id(job, anchor)?,
            wire::results(calls).join(","),
            quoted(&id),
            raw_id(job, n)?,
            synthesize::mark(job.rule)
        );
        insert_behind(job, walk, anchor, &line, &id)
    }
}
