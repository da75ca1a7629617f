//! pi and OpenClaw: what a repair writes.

use std::io;

use uuid::Uuid;

use super::Pi;
use crate::record::facts::Kind;
use crate::record::value::Value;
use crate::repair::agent::{Names, Writer};
use crate::repair::answer::{Answer, Job};
use crate::repair::content::{Open, insert_behind, raw_id};
use crate::repair::edit::Edit;
use crate::repair::links::{quoted, session_id};
use crate::repair::synthesize::{self, UNKNOWN_OUTCOME};
use crate::session::Session;

mod answers;

static NAMES: Names = Names {
    id: "id",
    parent: "parentId",
    input: "arguments",
    call: "toolCallId",
    nested: &["content"],
    label: &[&["mimeType"]],
    data: &[&["data"]],
};

impl Writer for Pi {
    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn id(&self, made: Uuid) -> String {
        made.simple().to_string()[..8].to_owned()
    }

    fn answers(&self) -> &'static [Answer] {
        answers::ANSWERS
    }

    fn below_leaf(&self, _: &Session, taker: u32, _: u32) -> Option<u32> {
        Some(taker)
    }

    /// One toolResult entry a call, in a chain behind the results that there are.
    fn results(&self, job: &Job<'_>, open: &Open<'_>) -> io::Result<Vec<Edit>> {
        let &Open { walk, record: n, content, calls } = open;
        let session = job.session();
        let place = walk.iter().position(|&m| m == n).unwrap_or(walk.len().saturating_sub(1));
        let behind = walk.get(place + 1..).unwrap_or_default().iter();
        let results = behind.take_while(|&&m| session.record(m).kind == Kind::ToolMessage);
        let Some(&anchor) = walk.get(place + results.count()) else { return Ok(Vec::new()) };
        let time = content.raw("timestamp").unwrap_or_else(|| "null".to_owned());
        let stamp = Value::parse(&content.text)
            .and_then(|v| v.at(&["message", "timestamp"]).map(|t| String::from_utf8_lossy(t.raw()).into_owned()));
        let mut parent = raw_id(job, anchor)?;
        let (mut lines, mut last) = (Vec::new(), String::new());
        for (call, name) in calls {
            let mut named = content.text.clone();
            named.extend_from_slice(call.as_bytes());
            let id = synthesize::id(self, &session_id(session), &named, job.rule);
            lines.push(format!(
                r#"{{"type":"message","message":{{"role":"toolResult","toolCallId":{call},"toolName":{},"content":[{{"type":"text","text":{}}}],"isError":true,"timestamp":{}}},"id":{},"parentId":{parent},"timestamp":{time},{}}}"#,
                quoted(name),
                quoted(UNKNOWN_OUTCOME),
                stamp.as_deref().unwrap_or("0"),
                quoted(&id),
                synthesize::mark(job.rule)
            ));
            parent = quoted(&id);
            last = id;
        }
        insert_behind(job, walk, anchor, &lines.join("\n"), &last)
    }
}
