//! How the last run ended: the end mark that an orderly end writes, the process that was registered, and the snapshot
//! that a crash leaves. Where the conversation stopped is another question: a run that ended in good order may have left
//! a prompt unanswered, and one that crashed may have answered everything.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::Around;
use crate::dialect::Dialect;
use crate::record::again;
use crate::record::facts::{Kind, Record};
use crate::session::{Session, Shape, ids};
use crate::store::{Registration, Source, State};

/// How the last run ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Whether an end mark closes the last run; none for agents and formats that write none.
    pub end_mark: Option<bool>,
    /// The line of that mark.
    pub end_line: Option<u32>,
    /// Whether the home is known in which processes are registered and crashes leave their snapshots.
    pub registry: bool,
    /// Whether the registered process lives; `Unknown` also when none is registered.
    pub process: State,
    /// The registration that says so.
    pub registration: Option<Registration>,
    /// What a crash left.
    pub crash: Option<Crash>,
}

/// A crash snapshot of sid-code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crash {
    /// Where it lies.
    pub path: PathBuf,
    /// The session in it.
    pub session_id: Option<String>,
    /// When.
    pub timestamp: Option<String>,
    /// The signal that ended the process.
    pub signal: Option<String>,
    /// The last tool that was called.
    pub last_tool: Option<String>,
    /// Why the model stopped last.
    pub last_stop_reason: Option<String>,
    /// Whether it is no crash: the terminal was closed, and writing to it failed.
    pub terminal_closed: bool,
}

/// No snapshot is longer.
const LONGEST: u64 = 1024 * 1024;

/// How the last run of this session ended.
pub fn ended(session: &Session, around: Around<'_>) -> Ended {
    let (end_mark, end_line) = end_mark(session);
    let process = last_process(session);
    let registration = registration(session, around, process.as_deref());
    Ended {
        end_mark,
        end_line,
        registry: around.store.is_some(),
        process: registration.map_or(State::Unknown, |r| r.state),
        registration: registration.cloned(),
        crash: crash(session, around, process.as_deref()),
    }
}

/// The mark counts when no message and no new process comes behind it on the accepted chain.
fn end_mark(session: &Session) -> (Option<bool>, Option<u32>) {
    let facts = &session.facts;
    match (session.dialect, session.shape) {
        (Dialect::Sid, Shape::Legacy) => return (None, None),
        (Dialect::Sid, Shape::Sidechain) => {
            let end = facts.records.iter().rev().find(|r| r.kind == Kind::SideEnd);
            return (Some(end.is_some()), end.map(|r| r.line));
        }
        (Dialect::Sid, _) => {}
        _ => return (None, None),
    }
    let trace = facts.names.find(TRACE);
    let new_process = |r: &Record| r.kind == Kind::Metadata && trace != 0 && r.agent == trace;
    for record in session.chain.adopted.iter().rev().map(|&n| session.record(n)) {
        if record.kind == Kind::End {
            return (Some(true), Some(record.line));
        }
        if record.is_message() || record.kind == Kind::Start || new_process(record) {
            break;
        }
    }
    (Some(false), None)
}

/// The metadata in which sid-code notes the id of a process that resumes the session.
const TRACE: &[u8] = b"trace_session_id";

/// The id of the process that wrote last. sid-code registers a process under an id of its own, and notes it in a session
/// that it resumes.
fn last_process(session: &Session) -> Option<String> {
    let facts = &session.facts;
    let trace = facts.names.find(TRACE);
    let noted = || {
        let mut notes = facts.records.iter().rev().filter(|r| r.kind == Kind::Metadata && r.agent == trace);
        notes.find_map(|r| again::field(&session.source, r, &["value"])).map(|id| id.lossy())
    };
    let own = || ids::session_id(session).map(|id| id.lossy());
    let noted = if session.dialect == Dialect::Sid && trace != 0 { noted() } else { None };
    noted.or_else(own).or_else(|| Some(ids::implied_id(&session.path, session.agent, session.shape).lossy()))
}

/// The registration of this session: one that lives, else that of the last process, else the latest.
fn registration<'a>(session: &Session, around: Around<'a>, last: Option<&str>) -> Option<&'a Registration> {
    let ids = ids::all(session);
    let ours = |r: &&Registration| {
        let named = r.session_id.as_deref().is_some_and(|id| ids.contains(id));
        r.damaged.is_none() && r.agent == session.dialect && (named || r.file.as_deref() == Some(&*session.path))
    };
    let lives = |state: State| match state {
        State::Alive => 2,
        State::Unknown => 1,
        State::Dead | State::Recycled => 0,
    };
    let rank = |r: &&Registration| (lives(r.state), r.session_id.as_deref() == last, r.started_at);
    around.registrations.iter().filter(ours).max_by_key(rank)
}

/// The snapshot of the last process. An orderly end removes it.
fn crash(session: &Session, around: Around<'_>, process: Option<&str>) -> Option<Crash> {
    let (store, process) = (around.store?, process?);
    // The id comes out of the session: it may name a folder, and no way to another one.
    let mut parts = Path::new(process).components();
    let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    if session.dialect != Dialect::Sid || !one {
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
