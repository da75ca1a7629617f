//! Where the agents keep their stores on this machine, and whether a folder is such a home.
//!
//! Three things make a folder a home: its name (`.sid-code`, `.claude`, `.pi/agent`, `.openclaw`), the variable that
//! the agent itself would read, or what lies in it. Copies of stores bear any name, so the content is asked last, with a
//! bounded look. Nothing is read from a file here.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use super::classify::{is_session_id, is_timed_id, is_uuid};
use super::handle::{EntryKind, Handle};
use super::layout::Layout;
use crate::dialect::Dialect;

/// What of the process's environment decides where stores lie; given, so that tests need not change the process.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `SID_CONFIG_DIR`.
    pub sid_config_dir: Option<OsString>,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<OsString>,
    /// `PI_CODING_AGENT_DIR`.
    pub pi_agent_dir: Option<OsString>,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Environment {
            sid_config_dir: std::env::var_os("SID_CONFIG_DIR"),
            claude_config_dir: std::env::var_os("CLAUDE_CONFIG_DIR"),
            pi_agent_dir: std::env::var_os("PI_CODING_AGENT_DIR"),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        }
    }
}

/// A place where an agent of this machine would keep its sessions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HomeCandidate {
    /// The agent.
    pub dialect: Dialect,
    /// The folder.
    pub path: PathBuf,
    /// What names it: the variable, or `default`.
    pub why: &'static str,
    /// Whether there is a folder.
    pub exists: bool,
}

/// The homes that are read when no path is given, whether they exist or not: sid-code, Claude Code, pi.
///
/// A variable counts when it is not blank (sid-code's own rule; the other two take any non-empty one, and a blank one
/// would name a folder that cannot be meant). pi understands a leading `~`.
pub fn default_homes(env: &Environment) -> Vec<HomeCandidate> {
    let home = env.home.clone().unwrap_or_else(|| PathBuf::from("~"));
    let agents = [
        (Dialect::Sid, &env.sid_config_dir, "SID_CONFIG_DIR", ".sid-code"),
        (Dialect::Claude, &env.claude_config_dir, "CLAUDE_CONFIG_DIR", ".claude"),
        (Dialect::Pi, &env.pi_agent_dir, "PI_CODING_AGENT_DIR", ".pi/agent"),
    ];
    agents
        .into_iter()
        .map(|(dialect, variable, name, default)| {
            let set = variable.as_ref().filter(|value| !value.to_string_lossy().trim().is_empty());
            let (path, why) = match set {
                Some(value) if dialect == Dialect::Pi => (untilde(Path::new(value), &home), name),
                Some(value) => (PathBuf::from(value), name),
                None => (home.join(default), "default"),
            };
            HomeCandidate { dialect, exists: path.is_dir(), path, why }
        })
        .collect()
}

fn untilde(path: &Path, home: &Path) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(rest) if rest.as_os_str().is_empty() => home.to_owned(),
        Ok(rest) => home.join(rest),
        Err(_) => path.to_owned(),
    }
}

/// Recognises homes. Holds where this machine's own homes really lie, so that a variable that names an oddly named
/// folder is honoured however that folder is reached.
#[derive(Debug)]
pub(crate) struct Recogniser {
    own: Vec<(PathBuf, Dialect)>,
}

/// How many names of a folder, and how many folders in it, are looked at to recognise a home.
const LOOK: usize = 256;
const LOOK_INTO: usize = 32;

impl Recogniser {
    pub(crate) fn new(env: &Environment) -> Self {
        let own = default_homes(env).into_iter().filter(|home| home.exists);
        Recogniser { own: own.filter_map(|home| Some((home.path.canonicalize().ok()?, home.dialect))).collect() }
    }

    /// The home that this folder is.
    pub(crate) fn home(&self, path: &Path, handle: &Handle) -> Option<Layout> {
        if let Some(layout) = by_name(path) {
            return Some(layout);
        }
        if !self.own.is_empty()
            && let Ok(real) = path.canonicalize()
            && let Some((_, dialect)) = self.own.iter().find(|(own, _)| *own == real)
        {
            return Some(home_of(*dialect));
        }
        by_content(handle)
    }

    /// Where a folder lies in a store: its layout and the home, found by walking up.
    pub(crate) fn place(&self, folder: &Path) -> Option<(Layout, PathBuf)> {
        // deepest lawful place: projects/<slug>/<session>/subagents/workflows/<run>
        const UP: usize = 12;
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        // as it was written, so that the home is named in the same way; then what a link or `..` on the way hides
        let spellings = [Some(folder.to_owned()), std::path::absolute(folder).ok(), folder.canonicalize().ok()];
        let mut tried: Vec<PathBuf> = Vec::new();
        for start in spellings.into_iter().flatten() {
            if tried.contains(&start) {
                continue;
            }
            let found = start.ancestors().take(UP).find_map(|above| {
                let home = self.home(above, &Handle::open_root(above).ok()?)?;
                let below = start.strip_prefix(above).ok()?;
                let layout = below.components().try_fold(home, |layout, part| match part {
                    Component::Normal(name) => layout.child(name.as_encoded_bytes()),
                    _ => None,
                })?;
                Some((layout, above.to_owned()))
            });
            if found.is_some() {
                return found;
            }
            tried.push(start);
        }
        None
    }

    /// The homes that lie in a folder under their own names and hold something: what a person means who passes a home
    /// directory. A project's own `.claude` or `.sid-code` with settings only is none.
    pub(crate) fn inside(folder: &Path) -> Vec<(PathBuf, Layout)> {
        let known: [(&str, Layout, &[&str]); 6] = [
            (".sid-code", Layout::SidHome, &["sessions", "checkpoints", "active-sessions", "file-intents"]),
            (".claude", Layout::ClaudeHome, &["projects", "file-history"]),
            (".pi/agent", Layout::PiHome, &["sessions"]),
            ("agent", Layout::PiHome, &["sessions"]),
            (".openclaw", Layout::OpenclawHome, &["agents", "sessions"]),
            (".clawdbot", Layout::OpenclawHome, &["agents", "sessions"]),
        ];
        let in_pi = folder.file_name() == Some(OsStr::new(".pi"));
        known
            .into_iter()
            .filter(|(name, ..)| *name != "agent" || in_pi)
            .map(|(name, layout, parts)| (folder.join(name), layout, parts))
            .filter(|(home, _, parts)| parts.iter().any(|part| home.join(part).is_dir()))
            .map(|(home, layout, _)| (home, layout))
            .collect()
    }
}

fn home_of(dialect: Dialect) -> Layout {
    match dialect {
        Dialect::Sid => Layout::SidHome,
        Dialect::Claude => Layout::ClaudeHome,
        Dialect::Pi => Layout::PiHome,
        Dialect::Openclaw => Layout::OpenclawHome,
    }
}

fn by_name(path: &Path) -> Option<Layout> {
    match path.file_name()?.as_encoded_bytes() {
        b".sid-code" => Some(Layout::SidHome),
        b".claude" => Some(Layout::ClaudeHome),
        b".openclaw" | b".clawdbot" => Some(Layout::OpenclawHome),
        b"agent" if path.parent()?.file_name()? == ".pi" => Some(Layout::PiHome),
        _ => None,
    }
}

/// What lies in a home tells whose it is. Folders named `projects`, `sessions` or `agents` are common, so what is in
/// them must bear the agent's own names.
fn by_content(handle: &Handle) -> Option<Layout> {
    let has = |name: &str| handle.has_folder(name);
    if has("sessions") && (has("active-sessions") || has("file-intents") || has("protocol-violations")) {
        return Some(Layout::SidHome);
    }
    let any = |folder: &str, test: &dyn Fn(&Handle, &[u8], EntryKind) -> bool| -> bool {
        let Ok(inner) = handle.child(OsStr::new(folder)) else { return false };
        let (mut entries, _) = inner.list(LOOK);
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        entries.iter().any(|e| test(&inner, e.name.as_encoded_bytes(), e.kind))
    };
    let within = |folder: &Handle, name: &[u8], test: &dyn Fn(&[u8]) -> bool| -> bool {
        folder
            .child(os(name))
            .is_ok_and(|child| child.list(LOOK).0.iter().any(|entry| test(entry.name.as_encoded_bytes())))
    };
    let budget = std::cell::Cell::new(LOOK_INTO);
    let folder = |kind: EntryKind| {
        let go = matches!(kind, EntryKind::Folder | EntryKind::Unknown) && budget.get() > 0;
        budget.set(budget.get() - usize::from(go));
        go
    };
    if any("projects", &|inner, name, kind| is_slug(name) && folder(kind) && within(inner, name, &is_claude_name)) {
        return Some(Layout::ClaudeHome);
    }
    budget.set(LOOK_INTO);
    if any("agents", &|inner, name, kind| {
        folder(kind)
            && inner
                .child(os(name))
                .and_then(|agent| agent.child(OsStr::new("sessions")))
                .is_ok_and(|sessions| sessions.stat(OsStr::new("sessions.json")).is_ok())
    }) {
        return Some(Layout::OpenclawHome);
    }
    if any("sessions", &|_, name, kind| is_pi_folder(name) && matches!(kind, EntryKind::Folder | EntryKind::Unknown)) {
        return Some(Layout::PiHome);
    }
    budget.set(LOOK_INTO);
    if any("sessions", &|inner, name, kind| is_sid_name(name) || (folder(kind) && within(inner, name, &is_sid_name))) {
        return Some(Layout::SidHome);
    }
    None
}

fn os(name: &[u8]) -> &OsStr {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStrExt::from_bytes(name);
    #[cfg(not(unix))]
    return OsStr::new(std::str::from_utf8(name).unwrap_or_default());
}

/// Every character of a path outside `[A-Za-z0-9]` becomes a dash.
fn is_slug(name: &[u8]) -> bool {
    name.contains(&b'-') && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
}

fn is_claude_name(name: &[u8]) -> bool {
    match name.strip_suffix(b".jsonl") {
        Some(stem) => is_uuid(stem) || stem.starts_with(b"agent-"),
        None => name == b"sessions-index.json",
    }
}

/// `--…--`, as pi encodes a working directory.
fn is_pi_folder(name: &[u8]) -> bool {
    name.len() >= 4 && name.starts_with(b"--") && name.ends_with(b"--")
}

fn is_sid_name(name: &[u8]) -> bool {
    if let Some(stem) = name.strip_suffix(b".json") {
        return is_timed_id(stem);
    }
    let id = name.strip_suffix(b".jsonl").and_then(|stem| stem.split_at_checked(24));
    id.is_some_and(|(id, rest)| is_timed_id(id) && matches!(rest, [] | [b'-', ..]))
}

/// Whether a folder's name is the id of a session, as in `checkpoints/<id>`.
pub(crate) fn is_named_by_id(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| is_session_id(name.as_encoded_bytes()))
}
