//! Where a session of sid-code was forked from.

use crate::record::facts::{Id, Kind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::store::collect::Fork;
use crate::session::Session;

/// The start record names the source where others have a parent, and metadata says how much was copied.
pub(super) fn of(session: &Session) -> Option<Fork> {
    let facts = &session.facts;
    let row = facts.records.iter().find(|r| r.has(flag::FORKED_FROM));
    let start = facts.records.iter().find(|r| r.kind == Kind::Start && r.has(flag::PARENT_STRING));
    // A start record whose parent is a record of the file goes on with it, and is no fork.
    let start = start.filter(|r| session.graph.find(r.parent, facts).is_none());
    let mut fork = Fork { source: None, named: String::new(), tail: None, messages: None, line: 0 };
    if let Some(start) = start {
        let named = reread::field(&session.source, start, &["parentUuid"])?;
        (fork.source, fork.named, fork.line) = (Some(start.parent.short()), named.lossy(), start.line);
    }
    if let Some(row) = row {
        let text = reread::text(&session.source, row).ok()?;
        let value = Value::parse(&text).and_then(|v| v.get("value"));
        let string = |key: &str| value.and_then(|v| v.get(key)).and_then(|v| v.text());
        if let Some(id) = string("sessionId") {
            (fork.source, fork.named) = (Some(Id::of(id.as_bytes()).short()), id.lossy());
        }
        fork.tail = string("uuid").map(|id| Id::of(id.as_bytes()));
        let here = facts.records.iter().filter(|r| r.is_message()).count() as u64;
        let copied = value.and_then(|v| v.get("messageCount")).and_then(|v| v.count());
        fork.messages = copied.map(|copied| (copied, here));
        fork.line = row.line;
    }
    fork.source.is_some().then_some(fork)
}
