//! How the last run ended: the end mark that an orderly end writes, the process that was registered, and the snapshot
//! that a crash leaves. Where the conversation stopped is another question: a run that ended in good order may have left
//! a prompt unanswered, and one that crashed may have answered everything.

use std::path::PathBuf;

use super::Around;
use crate::session::{Session, ids};
use crate::store::{Registration, State};

/// Whether an end mark closes the last run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndMark {
    /// The agent, or this format of its, writes none.
    NeverWritten,
    /// None stands behind what the last run wrote.
    Missing,
    /// It stands on this line.
    On(u32),
}

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

/// A snapshot that an agent leaves when it crashes.
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

/// How the last run of this session ended.
pub fn ended(session: &Session, around: Around<'_>) -> Ended {
    let (end_mark, end_line) = match around.agent.end_mark(session) {
        EndMark::NeverWritten => (None, None),
        EndMark::Missing => (Some(false), None),
        EndMark::On(line) => (Some(true), Some(line)),
    };
    let process = last_process(session, around);
    let registration = registration(session, around, &process);
    Ended {
        end_mark,
        end_line,
        registry: around.store.is_some(),
        process: registration.map_or(State::Unknown, |r| r.state),
        registration: registration.cloned(),
        crash: around.store.and_then(|store| around.agent.crash(store, &process)),
    }
}

/// The id of the process that wrote last: the one that it noted, else that of the session.
fn last_process(session: &Session, around: Around<'_>) -> String {
    let noted = around.agent.noted_process(session);
    let own = || ids::session_id(session).map(|id| id.lossy());
    noted.or_else(own).unwrap_or_else(|| ids::implied_id(&session.path, session.agent, session.shape).lossy())
}

/// The registration of this session: one that lives, else that of the last process, else the latest.
fn registration<'a>(session: &Session, around: Around<'a>, last: &str) -> Option<&'a Registration> {
    let ids = ids::all(session);
    let ours = |r: &&Registration| {
        let named = r.session_id.as_deref().is_some_and(|id| ids.contains(id));
        r.damaged.is_none()
            && r.agent == session.agent.agent_id()
            && (named || r.file.as_deref() == Some(&*session.path))
    };
    let lives = |state: State| match state {
        State::Alive => 2,
        State::Unknown => 1,
        State::Dead | State::Recycled => 0,
    };
    let rank = |r: &&Registration| (lives(r.state), r.session_id.as_deref() == Some(last), r.started_at);
    around.registrations.iter().filter(ours).max_by_key(rank)
}
