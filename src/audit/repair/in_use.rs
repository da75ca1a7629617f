//! Why a file is left alone: its session is in use or may be, it is not where it seems to be, it was written to just now.
//! Reading only; `commit` looks once more in the moment in which it writes.
//!
//! The user's word that the agents are closed (`--closed`) overrules all that is only a sign of life. No word overrules
//! that a file changed since it was planned or lies outside of its store.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::Options;
use crate::commit::liveness::open_elsewhere;
use crate::store::liveness::{Registration, State, machine_start, registrations};
use crate::store::{Discovery, FileEntry, Layout};

/// A process that is not found here may live on another machine that shares the store, or in a container. It is taken for
/// gone when the session was not written to for this long.
const FORGOTTEN: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a file is left alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The file.
    pub path: PathBuf,
    /// The fact; the path is not in it.
    pub reason: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Refused {
    /// A refusal with what to do about it.
    pub fn new(path: &Path, reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Refused { path: path.to_owned(), reason: reason.into(), hint: Some(hint.into()) }
    }

    /// A refusal that begins with its subject, or has it within: `commit` quotes paths with their control characters
    /// escaped.
    pub fn told(path: &Path, message: &str, hint: Option<String>) -> Self {
        let subject = format!("{path:?} ");
        let reason = message.strip_prefix(&subject).unwrap_or(message).to_owned();
        Refused { path: path.to_owned(), reason, hint }
    }
}

/// What is asked before a file is written to.
#[derive(Debug)]
pub struct Guard {
    registrations: Vec<Registration>,
    /// Registries that could not be read.
    pub unread: Vec<(PathBuf, String)>,
    machine_start: Option<i64>,
    idle: Duration,
    closed: bool,
    dry: bool,
}

const CLOSE: &str = "close the agent, then repair again; --closed says that it is closed";

impl Guard {
    /// With the registrations of every store that was found.
    pub fn new(discovery: &Discovery, options: &Options) -> Self {
        let (registrations, unread) = registrations(discovery);
        Guard {
            registrations,
            unread,
            machine_start: machine_start(),
            idle: options.idle,
            closed: options.closed,
            dry: options.dry,
        }
    }

    /// What the agents have registered.
    pub fn registrations(&self) -> &[Registration] {
        &self.registrations
    }

    /// Whether the ids of a session are needed at all.
    pub fn asks_for_ids(&self) -> bool {
        !self.closed && !self.registrations.is_empty()
    }

    /// Whether a process that lives has registered the session.
    pub fn is_registered(&self, path: &Path, ids: &[&str]) -> bool {
        !self.closed && self.of(path, ids).any(|r| r.state == State::Alive)
    }

    fn of<'a>(&'a self, path: &'a Path, ids: &'a [&str]) -> impl Iterator<Item = &'a Registration> {
        self.registrations.iter().filter(move |r| r.damaged.is_none() && r.is_of(path, ids))
    }

    /// Why the file is left alone, if it is. `meta` is that of the descriptor that was read.
    pub fn refuses(&self, path: &Path, ids: &[&str], meta: &Metadata, in_home: bool) -> Option<Refused> {
        if self.closed {
            return None;
        }
        let age = age(meta);
        let registered = self.of(path, ids).find_map(|r| self.may_live(r, age));
        if let Some(reason) = registered {
            return Some(Refused::new(path, reason, CLOSE));
        }
        let open = open_elsewhere(path).pids;
        if !open.is_empty() {
            let pids: Vec<String> = open.iter().map(u32::to_string).collect();
            return Some(Refused::new(path, format!("is open in another process (pid {})", pids.join(", ")), CLOSE));
        }
        if self.dry { None } else { self.fresh(path, age, in_home) }
    }

    /// Why a run now would leave a file alone that a dry run plans for.
    pub fn too_fresh(&self, path: &Path, meta: &Metadata, in_home: bool) -> Option<Refused> {
        if self.closed || !self.dry { None } else { self.fresh(path, age(meta), in_home) }
    }

    fn fresh(&self, path: &Path, age: Duration, in_home: bool) -> Option<Refused> {
        if in_home && age < self.idle {
            let reason = match age.as_secs() {
                0 => "was written to just now".to_owned(),
                1 => "was written to 1 second ago".to_owned(),
                n => format!("was written to {n} seconds ago"),
            };
            let hint = format!(
                "an agent may be at work: wait until it was left alone for {} seconds (--idle), or say --closed",
                self.idle.as_secs()
            );
            return Some(Refused::new(path, reason, hint));
        }
        None
    }

    /// Why a registration means that the session may be in use.
    fn may_live(&self, registration: &Registration, age: Duration) -> Option<String> {
        let who = match registration.pid {
            Some(pid) => format!("process {pid}"),
            None => "a process".to_owned(),
        };
        let told = format!("registered in '{}'", registration.path.display());
        match registration.state {
            State::Alive => Some(format!("is in use: {who} lives, {told}")),
            State::Unknown => Some(format!("may be in use: {who} cannot be asked, {told}")),
            // The number was given again, so the process that registered is as little to be found here as a dead one.
            State::Dead | State::Recycled => {
                let before_start = match (registration.started_at, self.machine_start) {
                    (Some(registered), Some(start)) => registered < start,
                    _ => false,
                };
                (!before_start && age <= FORGOTTEN)
                    .then(|| format!("may be in use on another machine: {who} is not found here, {told}"))
            }
        }
    }
}

/// How long ago a file was written to, by the machine's own clock: this is about now, whatever `--now` says. A time ahead
/// of it counts as now, because a shared folder's clock may be another machine's.
fn age(meta: &Metadata) -> Duration {
    let written = meta.modified().unwrap_or_else(|_| SystemTime::now());
    SystemTime::now().duration_since(written).unwrap_or_default()
}

/// A session that was passed as a link: refused when the link leads out of the store that it stands in.
pub(super) fn leads_out(discovery: &Discovery, file: &FileEntry, real: &Path) -> Option<Refused> {
    let root = discovery.root(file).filter(|root| root.layout == Layout::File)?;
    let given: PathBuf = root.given.components().collect();
    if !std::fs::symlink_metadata(&given).is_ok_and(|meta| meta.is_symlink()) {
        return None;
    }
    let folder = |path: &Path| match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.canonicalize().ok(),
        _ => Path::new(".").canonicalize().ok(),
    };
    let store = root.store.as_deref().and_then(|store| store.canonicalize().ok()).or_else(|| folder(real))?;
    let stands = folder(&given)?;
    (!stands.starts_with(&store)).then(|| {
        Refused::new(
            &given,
            format!("is a link that leads out of its store, to '{}'", real.display()),
            "name the file that the link leads to",
        )
    })
}
