//! What the folders and files of a home of pi and of OpenClaw are.

use crate::store::agent::{Certainty, DefaultHome, HomeName, Look, RegistrationKeys};
use crate::store::{FileKind, Named, Names, Part, aside};

/// How the home of an agent is laid out that keeps pi's records.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) default_home: Option<&'static DefaultHome>,
    pub(super) home_names: &'static [HomeName],
    pub(super) home_sign: fn(&Look<'_>) -> Option<Certainty>,
    /// A part, the name of a folder in it (empty: any), and what that is.
    pub(super) folders: &'static [(Part, &'static [u8], Part)],
    /// The settings in the home.
    settings: Option<&'static [u8]>,
    /// The list of sessions in a folder of them.
    list: Option<&'static [u8]>,
    /// What the name of a session's lock has behind the session's own.
    pub(super) lock: Option<&'static str>,
}

/// pi: `sessions/<encoded cwd>/`; with `--session-dir` the transcripts lie directly in it.
pub(super) static PI: Layout = Layout {
    default_home: Some(&DefaultHome { variable: "PI_CODING_AGENT_DIR", tilde: true, below: ".pi/agent" }),
    home_names: &[HomeName { path: ".pi/agent", parts: &["sessions"] }],
    home_sign: |folder| {
        let project = folder.any("sessions", |entry| entry.is_folder && is_encoded(entry.name()));
        project.then_some(Certainty::Form)
    },
    folders: &[(Part::Home, b"sessions", Part::Sessions), (Part::Sessions, b"", Part::Project)],
    settings: Some(b"settings.json"),
    list: None,
    lock: None,
};

/// OpenClaw: `agents/<agent>/sessions/`, and `agents/<agent>/agent/`, where newer versions keep a database.
pub(super) static OPENCLAW: Layout = Layout {
    default_home: None,
    home_names: &[
        HomeName { path: ".openclaw", parts: &["agents", "sessions"] },
        HomeName { path: ".clawdbot", parts: &["agents", "sessions"] },
    ],
    home_sign: |folder| {
        let account = folder.any("agents", |entry| entry.holds("sessions", "sessions.json"));
        account.then_some(Certainty::Names)
    },
    folders: &[
        (Part::Home, b"agents", Part::Accounts),
        // older homes kept one agent's sessions directly below
        (Part::Home, b"sessions", Part::Sessions),
        (Part::Accounts, b"", Part::Account),
        (Part::Account, b"sessions", Part::Sessions),
        (Part::Account, b"agent", Part::Database),
    ],
    settings: None,
    list: Some(b"sessions.json"),
    lock: Some(".lock"),
};

/// What the keys of a lock mean.
pub(super) static LOCK: RegistrationKeys = RegistrationKeys {
    pid: "pid",
    session: "sessionId",
    cwd: "cwd",
    kind: "kind",
    started: &["startedAt", "createdAt"],
    began: Some("starttime"),
};

impl Layout {
    /// What a file of that name in this part of the home is.
    pub(super) fn file(&self, within: Part, name: &[u8], names: &Names<'_>) -> Named {
        match within {
            Part::Home if self.settings == Some(name) => Named::Is(FileKind::Settings),
            Part::Database if name.ends_with(b".sqlite") => Named::Unread,
            Part::Sessions | Part::Project if name.ends_with(b".jsonl") => match name {
                _ if is_put_aside(name) => Named::Is(FileKind::Other),
                _ if names.has_original_of(name) => Named::Is(FileKind::SyncCopy),
                _ => Named::Is(FileKind::Main),
            },
            Part::Sessions | Part::Project => match name {
                _ if self.list == Some(name) => Named::Is(FileKind::ListIndex),
                _ if self.is_lock(name) => Named::Is(FileKind::Lock),
                _ => aside(name),
            },
            _ => Named::Nothing,
        }
    }

    /// Whether a name is that of a session's lock.
    pub(super) fn is_lock(&self, name: &[u8]) -> bool {
        let session = self.lock.and_then(|ending| name.strip_suffix(ending.as_bytes()));
        session.is_some_and(|session| session.ends_with(b".jsonl"))
    }
}

/// OpenClaw keeps much beside a session that ends in `.jsonl` and is none.
pub(super) fn is_put_aside(name: &[u8]) -> bool {
    let marks = [&b".reset."[..], b".deleted.", b".bak-", b".corrupt-", b".checkpoint."];
    name.ends_with(b".trajectory.jsonl") || marks.iter().any(|mark| memchr::memmem::find(name, mark).is_some())
}

/// `--…--`, as pi encodes a working directory.
pub(super) fn is_encoded(name: &[u8]) -> bool {
    name.len() >= 4 && name.starts_with(b"--") && name.ends_with(b"--")
}
