//! What the folders and files of a home of pi and of OpenClaw are.

use crate::store::agent::{Certainty, DefaultHome, HomeName, Look, RegistrationKeys, SessionFolder};
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
    pub(super) list: Option<&'static str>,
    /// What the name of a session's lock has behind the session's own.
    pub(super) lock: Option<&'static str>,
}

/// pi: `sessions/<encoded cwd>/`; with `--session-dir` the transcripts lie directly in it.
pub(super) static PI: Layout = Layout {
    default_home: Some(&DefaultHome {
        variable: "PI_CODING_AGENT_DIR",
        tilde: true,
        below: ".pi/agent",
        former: &[],
        profiles: None,
        sessions: Some(SessionFolder {
            variable: "PI_CODING_AGENT_SESSION_DIR",
            settings: ("settings.json", "sessionDir"),
        }),
    }),
    home_names: &[HomeName { path: ".pi/agent", parts: &["sessions"] }],
    home_sign: |folder| {
        let project = folder.any("sessions", |entry| entry.is_folder && is_encoded(entry.name()));
        project.then_some(Certainty::Form)
    },
    folders: FOLDERS,
    settings: Some(b"settings.json"),
    list: None,
    lock: None,
};

/// Sessions by project. What lies below a project belongs to subagents: their sessions stand in folders named after the
/// session that started them.
const FOLDERS: &[(Part, &[u8], Part)] = &[
    (Part::Home, b"sessions", Part::Sessions),
    (Part::Sessions, b"", Part::Project),
    (Part::Project, b"", Part::Session),
    (Part::Session, b"", Part::Session),
];

/// oh-my-pi: as pi, with other names of projects.
pub(super) static OMP: Layout = Layout {
    default_home: Some(&DefaultHome {
        variable: "OMP_CODING_AGENT_DIR",
        tilde: true,
        below: ".omp/agent",
        former: &[],
        profiles: None,
        sessions: None,
    }),
    home_names: &[HomeName { path: ".omp/agent", parts: &["sessions"] }],
    home_sign: |_| None,
    folders: FOLDERS,
    settings: None,
    list: None,
    lock: None,
};

/// OpenClaw: `agents/<agent>/sessions/`, and `agents/<agent>/agent/`, where newer versions keep a database.
pub(super) static OPENCLAW: Layout = Layout {
    default_home: Some(&DefaultHome {
        variable: "OPENCLAW_STATE_DIR",
        tilde: true,
        below: ".openclaw",
        former: &[".moltbot", ".clawdbot", ".clawdis"],
        profiles: Some(".openclaw-"),
        sessions: None,
    }),
    home_names: &[
        HomeName { path: ".openclaw", parts: &["agents", "sessions"] },
        HomeName { path: ".moltbot", parts: &["agents", "sessions"] },
        HomeName { path: ".clawdbot", parts: &["agents", "sessions"] },
        HomeName { path: ".clawdis", parts: &["agents", "sessions"] },
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
    list: Some("sessions.json"),
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
            Part::Sessions | Part::Project | Part::Session if name.ends_with(b".jsonl") => match name {
                _ if is_put_aside(name) => Named::Is(FileKind::Other),
                _ if names.has_original_of(name) => Named::Is(FileKind::SyncCopy),
                // A program built on pi may keep its sessions here: the first row tells.
                _ => Named::AskRecord,
            },
            Part::Sessions | Part::Project | Part::Session => match name {
                _ if self.list.is_some_and(|list| list.as_bytes() == name) => Named::Is(FileKind::ListIndex),
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

/// A transcript that OpenClaw reset, deleted, saved or marked as it was.
pub(super) fn is_archived(name: &[u8]) -> bool {
    is_put_aside(name) && !name.ends_with(b".trajectory.jsonl")
}

/// `--…--`, as pi encodes a working directory.
pub(super) fn is_encoded(name: &[u8]) -> bool {
    name.len() >= 4 && name.starts_with(b"--") && name.ends_with(b"--")
}
