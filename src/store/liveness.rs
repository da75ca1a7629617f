//! Which sessions may be written to right now: what the agents registered, and whether those processes live.
//!
//! Some agents keep a registry in their home, some a lock beside a session, some neither. None of them is proof: an agent may
//! register the id of the process and not that of the session it resumed, entries outlive a crash, a process number is
//! given again, and a store may be shared with another machine. So callers pass every id that a session is known by, ask
//! [`grew`] too, and treat [`State::Unknown`] as live before they write.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agent::Home;
use super::classify::{FileKind, Named, Names};
use super::discover::Discovery;
use super::handle::{EntryKind, Handle};
use super::layout::{Layout, Part};
use super::source::Source;
use crate::identity::AgentId;

/// Whether a registered process lives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum State {
    /// There is such a process, and nothing says that it is another one.
    Alive,
    /// There is none on this machine.
    Dead,
    /// There is one, but it began after the registration: the number was given again.
    Recycled,
    /// It could not be asked.
    Unknown,
}

/// An entry of a registry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// Where it stands.
    pub path: PathBuf,
    /// Whose registry it is.
    pub agent: AgentId,
    /// The process.
    pub pid: Option<i64>,
    /// The session, or with some agents the process's own first one.
    pub session_id: Option<String>,
    /// The session's file, where the registry names it (a lock).
    pub file: Option<PathBuf>,
    /// Working directory.
    pub cwd: Option<String>,
    /// When it registered, in milliseconds since 1970.
    pub started_at: Option<i64>,
    /// What the agent calls this kind of process.
    pub kind: Option<String>,
    /// Whether the process lives.
    pub state: State,
    /// Whether the agent notices that the number was given again.
    pub tells_recycled: bool,
    /// Why it could not be read as a registration.
    pub damaged: Option<String>,
}

impl Registration {
    /// Whether the session may be in use: the process lives, or nobody knows.
    pub fn may_live(&self) -> bool {
        matches!(self.state, State::Alive | State::Unknown) && self.damaged.is_none()
    }

    /// Whether it names this session: its file, or one of the ids by which it is known.
    pub fn is_of(&self, session: &Path, ids: &[&str]) -> bool {
        self.session_id.as_deref().is_some_and(|id| ids.contains(&id)) || self.file.as_deref() == Some(session)
    }
}

impl Registration {
    /// Whether the agent itself takes the process for alive.
    pub fn agent_sees_alive(&self) -> bool {
        let fooled = self.state == State::Recycled && !self.tells_recycled;
        (self.state == State::Alive || fooled) && self.damaged.is_none()
    }
}

/// No registration is longer; a longer file is none.
const LONGEST: u64 = 1024 * 1024;

/// How much later than its registration a process may seem to begin and still be the same. It registers after it
/// began; clocks are set meanwhile. A number comes round again only after thousands of others.
const TOLERANCE_MS: i64 = 5 * 60 * 1000;

/// The registrations of every store that was found, also of the stores of single files; in the order of their paths.
/// Beside them what could not be read.
pub fn registrations(discovery: &Discovery) -> (Vec<Registration>, Vec<(PathBuf, String)>) {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    let agents = discovery.agents;
    let mut stores: Vec<(&Path, AgentId)> = discovery
        .folders
        .iter()
        .filter_map(|folder| {
            let root = discovery.roots.get(folder.root as usize)?;
            Some((root.store.as_deref()?, folder.layout.agent_id()?))
        })
        .collect();
    stores.sort_unstable();
    stores.dedup();
    for (store, agent_id) in stores {
        let Some(agent) = agents.of(agent_id) else { continue };
        let Some(folder) = agent.registry() else { continue };
        let Ok(handle) = Handle::open_root(store).and_then(|home| home.child(OsStr::new(folder))) else { continue };
        let (entries, stopped) = handle.list(usize::MAX);
        if let Some(e) = stopped {
            errors.push((store.join(folder), format!("folder cannot be read: {e}")));
        }
        for entry in entries.iter().filter(|entry| matches!(entry.kind, EntryKind::File | EntryKind::Unknown)) {
            let named = agent.file(Part::Registry, entry.name.as_encoded_bytes(), &Names(&[]));
            if named == Named::Is(FileKind::Registration) {
                let path = store.join(folder).join(&entry.name);
                read((path, None), agent, || handle.open_file(&entry.name), &mut found, &mut errors);
            }
        }
    }
    for file in discovery.of_kind(FileKind::Lock) {
        let lock = discovery.path(file);
        let session = lock.with_extension("");
        let of = |home: &&dyn Home| home.lock(&session).as_ref() == Some(&lock);
        let Some(agent) = agents.iter().find(of) else { continue };
        read((lock, Some(session)), agent, || discovery.open(file), &mut found, &mut errors);
    }
    let passed = |file: &&super::FileEntry| discovery.root(file).is_some_and(|root| root.layout == Layout::File);
    for file in discovery.of_kind(FileKind::Main).filter(passed) {
        let session = discovery.path(file);
        let locks = agents.iter().filter_map(|agent| Some((agent, agent.lock(&session)?)));
        for (agent, lock) in locks.filter(|(_, lock)| std::fs::symlink_metadata(lock).is_ok()) {
            read((lock.clone(), Some(session.clone())), agent, || Source::open(&lock), &mut found, &mut errors);
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    (found, errors)
}

/// The registration that says this session is in use. `ids` are all by which it is known: that of its file, those in its
/// records, and those of the processes that resumed it, because an agent may register it under these.
pub fn live<'a>(session: &Path, ids: &[&str], registrations: &'a [Registration]) -> Option<&'a Registration> {
    registrations.iter().find(|registration| registration.may_live() && registration.is_of(session, ids))
}

/// Whether a file is longer now than it was when it was opened: somebody writes.
///
/// # Errors
/// I/O errors.
pub fn grew(source: &Source) -> io::Result<bool> {
    match source {
        Source::File { file, size } => Ok(file.metadata()?.len() > *size),
        Source::Bytes(_) | Source::Spliced(_) => Ok(false),
    }
}

/// Whether there is a process of that number. One that may not be signalled is one.
pub fn pid_alive(pid: i64) -> State {
    let Some(pid) = i32::try_from(pid).ok().filter(|pid| *pid > 0) else { return State::Dead };
    exists(pid)
}

#[cfg(unix)]
fn exists(pid: i32) -> State {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let Some(pid) = Pid::from_raw(pid) else { return State::Dead };
    match test_kill_process(pid) {
        Ok(()) | Err(Errno::PERM) => State::Alive,
        Err(Errno::SRCH) => State::Dead,
        Err(_) => State::Unknown,
    }
}

#[cfg(not(unix))]
fn exists(_: i32) -> State {
    State::Unknown
}

/// When this machine started, in milliseconds since 1970. A registration older than that is of no process of this
/// machine. Known on Linux only.
pub fn machine_start() -> Option<i64> {
    let text = small_file(Path::new("/proc/stat"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse::<i64>().ok()?.checked_mul(1000)
}

/// When a process began: in clock ticks since the machine started, as `/proc/<pid>/stat` has it.
fn process_start(pid: i64) -> Option<i64> {
    let text = small_file(Path::new(&format!("/proc/{pid}/stat")))?;
    // the second field is the name in parentheses and may hold anything
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Files of `/proc` have no size, so they cannot be read as a source.
fn small_file(path: &Path) -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the process of that number is the registered one.
fn state(pid: Option<i64>, started_at: Option<i64>, ticks: Option<i64>) -> State {
    let Some(pid) = pid else { return State::Unknown };
    let state = pid_alive(pid);
    if state != State::Alive {
        return state;
    }
    let Some(began) = process_start(pid) else { return state };
    if let Some(ticks) = ticks {
        return if ticks == began { State::Alive } else { State::Recycled };
    }
    // 100 on every Linux that has a libc; the system call that says so is not worth a feature of a dependency
    const TICKS_PER_SECOND: i64 = 100;
    let began = machine_start().and_then(|start| start.checked_add(began.checked_mul(1000)? / TICKS_PER_SECOND));
    match (began, started_at) {
        (Some(began), Some(registered)) if began > registered.saturating_add(TOLERANCE_MS) => State::Recycled,
        _ => state,
    }
}

fn read(
    (path, session): (PathBuf, Option<PathBuf>),
    agent: &dyn Home,
    open: impl FnOnce() -> io::Result<Source>,
    found: &mut Vec<Registration>,
    errors: &mut Vec<(PathBuf, String)>,
) {
    match open().and_then(|source| source.read_range(0, LONGEST + 1)) {
        Ok(bytes) => found.push(parse(path, session, agent, &bytes)),
        // agents remove their entries when they end
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => errors.push((path, format!("cannot be read: {e}"))),
    }
}

/// What an entry says. A lock also says by its place of which session's file it is.
fn parse(path: PathBuf, file: Option<PathBuf>, agent: &dyn Home, bytes: &[u8]) -> Registration {
    let keys = agent.registration();
    let mut entry = Registration {
        path,
        agent: agent.agent_id(),
        pid: None,
        session_id: None,
        file,
        cwd: None,
        started_at: None,
        kind: None,
        state: State::Unknown,
        tells_recycled: keys.began.is_some(),
        damaged: None,
    };
    if bytes.len() as u64 > LONGEST {
        entry.damaged = Some(format!("longer than {LONGEST} bytes"));
        return entry;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value @ Value::Object(_)) => value,
        Ok(_) => {
            entry.damaged = Some("not a JSON object".to_owned());
            return entry;
        }
        Err(e) => {
            entry.damaged = Some(format!("not JSON: {e}"));
            return entry;
        }
    };
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    entry.pid = value.get(keys.pid).and_then(whole_number);
    entry.session_id = text(keys.session);
    entry.cwd = text(keys.cwd);
    entry.kind = text(keys.kind);
    entry.started_at = keys.started.iter().find_map(|key| value.get(key)).and_then(time);
    let ticks = keys.began.and_then(|key| value.get(key)).and_then(whole_number);
    entry.state = state(entry.pid, entry.started_at, ticks);
    entry.damaged = match (entry.pid, &entry.session_id, &entry.file) {
        (None, ..) => Some("no process number".to_owned()),
        (_, None, None) => Some("no session id".to_owned()),
        _ => None,
    };
    entry
}

fn whole_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0 && n.abs() < 9e15).map(|n| n as i64))
}

/// Milliseconds since 1970, or a time as text.
fn time(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond),
        other => whole_number(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;

    fn of(agent: AgentId, text: &str) -> Registration {
        let session = (agent == crate::agents::OPENCLAW).then(|| PathBuf::from("/s/a.jsonl"));
        parse(PathBuf::from("/s/a.jsonl.lock"), session, agents::of(agent), text.as_bytes())
    }

    #[test]
    fn process_numbers_that_cannot_be_are_dead() {
        assert_eq!(pid_alive(0), State::Dead);
        assert_eq!(pid_alive(-1), State::Dead);
        assert_eq!(pid_alive(1 << 40), State::Dead);
        assert_eq!(pid_alive(i64::MIN), State::Dead);
    }

    #[cfg(unix)]
    #[test]
    fn this_process_is_alive_and_one_registered_long_ago_is_another() {
        let own = i64::from(std::process::id());
        assert_eq!(pid_alive(own), State::Alive);
        assert_eq!(pid_alive(1), State::Alive);
        let entry = |started: &str| {
            of(crate::agents::SID, &format!(r#"{{"sessionId":"a","pid":{own},"startedAt":{started}}}"#))
        };
        assert_eq!(entry("99999999999999").state, State::Alive);
        if cfg!(target_os = "linux") {
            assert_eq!(entry("1000").state, State::Recycled);
            assert_eq!(entry("\"2001-01-01T00:00:00.000Z\"").state, State::Recycled);
            assert_eq!(state(Some(own), None, Some(1)), State::Recycled);
            assert_eq!(state(Some(own), Some(0), process_start(own)), State::Alive);
            assert!(machine_start().is_some_and(|start| start > 0));
        }
        assert_eq!(entry("null").state, State::Alive);
    }

    #[test]
    fn what_is_no_registration_is_damaged_and_never_live() {
        for text in
            ["", "{", "[]", "null", "{}", r#"{"pid":1}"#, r#"{"sessionId":"a"}"#, r#"{"sessionId":"a","pid":"1"}"#]
        {
            let entry = of(crate::agents::SID, text);
            assert!(entry.damaged.is_some() && !entry.may_live(), "{text}");
        }
    }

    #[test]
    fn a_lock_names_its_file() {
        let lock = of(crate::agents::OPENCLAW, r#"{"pid":1,"createdAt":"2026-03-04T05:06:07.000Z","starttime":1}"#);
        assert_eq!(lock.file.as_deref(), Some(Path::new("/s/a.jsonl")));
        assert_eq!(lock.started_at, Some(1_772_600_767_000));
        assert_eq!(lock.damaged, None);
    }

    #[test]
    fn a_session_is_live_by_any_of_its_ids() {
        let entry = Registration {
            state: State::Alive,
            damaged: None,
            ..of(crate::agents::SID, r#"{"sessionId":"p","pid":1}"#)
        };
        let all = [entry];
        assert!(live(Path::new("/x"), &["s", "p"], &all).is_some());
        assert!(live(Path::new("/x"), &["s"], &all).is_none());
    }

    #[test]
    fn a_file_that_was_appended_to_grew() {
        assert!(!grew(&Source::from_bytes("a")).unwrap());
    }
}
