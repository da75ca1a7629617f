//! sid-code: what a repair writes.

use std::io;

use uuid::Uuid;

use super::Sid;
use crate::agents::wire;
use crate::finding::Fix;
use crate::record::facts::{BlockKind, Kind};
use crate::repair::agent::{Names, Writer};
use crate::repair::answer::{Answer, Job};
use crate::repair::content::{Content, Open, insert_behind, raw_id};
use crate::repair::edit::{Action, Edit};
use crate::repair::links::{quoted, session_id};
use crate::repair::synthesize;
use crate::session::Session;

mod answers;

static NAMES: Names = Names {
    id: "uuid",
    parent: "parentUuid",
    input: "input",
    call: "tool_use_id",
    nested: &["content", "mediaBlocks"],
    label: &[&["source", "media_type"], &["mediaType"]],
    data: &[&["source", "data"], &["data"]],
};

impl Writer for Sid {
    fn names(&self) -> &'static Names {
        &NAMES
    }

    fn id(&self, made: Uuid) -> String {
        made.to_string()
    }

    fn answers(&self) -> &'static [Answer] {
        answers::ANSWERS
    }

    /// Its loader looks upwards only: the first record on the way down that stands behind the leaf goes below it.
    fn below_leaf(&self, session: &Session, taker: u32, leaf: u32) -> Option<u32> {
        if taker > leaf { Some(taker) } else { session.chain.adopted.iter().copied().find(|&n| n > leaf) }
    }

    /// All calls of a message are answered in one record: the next one, when it holds some of the results already.
    fn results(&self, job: &Job<'_>, open: &Open<'_>) -> io::Result<Vec<Edit>> {
        let &Open { walk, record: n, content, calls } = open;
        let session = job.session();
        let results = wire::results(calls);
        let behind = walk.iter().position(|&m| m == n).map(|i| &walk[i + 1..]).unwrap_or_default();
        let speaks = |m: &u32| session.record(*m).is_message() || session.record(*m).kind == Kind::TranscriptMessage;
        if let Some(next) = behind.iter().copied().find(speaks) {
            let record = session.record(next);
            let holds_results = session.facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result);
            if holds_results && let Some(there) = Content::read(session, record)? {
                let mut splices = vec![there.append(&results)];
                splices.extend(there.mark(job.rule));
                let edit = job.edit(Fix::Content, Action::ReplaceBlock, record.offset, splices);
                return Ok(vec![edit.reason("beside the results of the same calls")]);
            }
        }
        let side = session.record(n).kind == Kind::TranscriptMessage;
        let id = synthesize::id(self, &session_id(session), &content.text, job.rule);
        let time = content.raw("timestamp").unwrap_or_else(|| "null".to_owned());
        let (mark, results) = (synthesize::mark(job.rule), results.join(","));
        let line = if side {
            let turn = content.raw("turn").unwrap_or_else(|| "0".to_owned());
            format!(
                r#"{{"type":"message","role":"user","content":[{results}],"turn":{turn},"timestamp":{time},{mark}}}"#
            )
        } else {
            let parent = raw_id(job, n)?;
            format!(
                r#"{{"type":"user_message","message":{{"role":"user","content":[{results}]}},"timestamp":{time},"uuid":{},"parentUuid":{parent},{mark}}}"#,
                quoted(&id)
            )
        };
        insert_behind(job, walk, n, &line, &id)
    }
}
