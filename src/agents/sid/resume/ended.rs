//! How sid-code's last run ended: its end mark, the process that it notes, the snapshot that a crash leaves.

use std::path::{Component, Path};

use serde_json::Value;

use crate::predict::ended::{Crash, EndMark};
use crate::record::facts::{Kind, Record};
use crate::record::reread;
use crate::session::{Session, Shape};
use crate::store::Source;

/// The mark counts when no message and no new process comes behind it on the accepted chain.
pub(super) fn end_mark(session: &Session) -> EndMark {
    let facts = &session.facts;
    match session.shape {
        Shape::Legacy => return EndMark::NeverWritten,
        Shape::Sidechain => {
            let end = facts.records.iter().rev().find(|r| r.kind == Kind::TranscriptEnd);
            return end.map_or(EndMark::Missing, |r| EndMark::On(r.line));
        }
        Shape::Main | Shape::Subagent => {}
    }
    let trace = facts.names.find(TRACE);
    let new_process = |r: &Record| r.kind == Kind::Metadata && trace != 0 && r.agent == trace;
    for record in session.chain.adopted.iter().rev().map(|&n| session.record(n)) {
        if record.kind == Kind::End {
            return EndMark::On(record.line);
        }
        if record.is_message() || record.kind == Kind::Start || new_process(record) {
            break;
        }
    }
    EndMark::Missing
}

/// The metadata in which it notes the id of a process that resumes the session.
const TRACE: &[u8] = b"trace_session_id";

/// A process is registered under an id of its own, which is noted in a session that it resumes.
pub(super) fn noted_process(session: &Session) -> Option<String> {
    let facts = &session.facts;
    let trace = facts.names.find(TRACE);
    if trace == 0 {
        return None;
    }
    let mut notes = facts.records.iter().rev().filter(|r| r.kind == Kind::Metadata && r.agent == trace);
    notes.find_map(|r| reread::field(&session.source, r, &["value"])).map(|id| id.lossy())
}

/// No snapshot is longer.
const LONGEST: u64 = 1024 * 1024;

/// An orderly end removes the snapshot.
pub(super) fn crash(store: &Path, process: &str) -> Option<Crash> {
    // The id comes out of the session: it may name a folder, and no way to another one.
    let mut parts = Path::new(process).components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        return None;
    }
    let path = store.join("trajectories").join("sessions").join(process).join("crash.json");
    let bytes = Source::open(&path).and_then(|source| source.read_range(0, LONGEST)).ok()?;
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
    let message = value.get("error_message").and_then(Value::as_str).unwrap_or_default();
    Some(Crash {
        session_id: text("session_id"),
        timestamp: text("timestamp"),
        signal: text("signal"),
        last_tool: text("last_tool"),
        last_stop_reason: text("last_stop_reason"),
        terminal_closed: message.starts_with("EIO:") || message.starts_with("EPIPE:"),
        path,
    })
}
