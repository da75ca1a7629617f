//! What this room asks of an agent: where its homes are, how their files lie, how its records are recognised, what it
//! keeps and for how long, and which signs say that it is running.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use super::classify::{FileKind, Named, Names};
use super::handle::{EntryKind, Handle};
use super::layout::Part;
use super::probe::Probe;
use crate::identity::AgentId;

/// What this room has to know of an agent.
pub trait Home: fmt::Debug + Send + Sync {
    /// Which agent it is.
    fn agent_id(&self) -> AgentId;

    /// Whose records it writes: its own, or those of the agent that it is built on.
    fn records_of(&self) -> AgentId;

    /// Where its home is when nobody names one; none when it is read only where it is named.
    fn default_home(&self) -> Option<&'static DefaultHome>;

    /// The names by which its home is known, wherever it lies.
    fn home_names(&self) -> &'static [HomeName];

    /// How surely what lies in a folder says that it is the agent's home.
    fn home_sign(&self, folder: &Look<'_>) -> Option<Certainty>;

    /// Files that it reads in a project, beside its own folder there.
    fn project_files(&self) -> &'static [&'static str];

    /// What a folder of that name in this part of its store is; none if it holds no part of it.
    fn folder(&self, within: Part, name: &[u8]) -> Option<Part>;

    /// What a file of that name in this part of its store is, among these names.
    fn file(&self, within: Part, name: &[u8], names: &Names<'_>) -> Named;

    /// Which part of its store a folder of that name is wherever it lies.
    fn stray_folder(&self, name: &[u8]) -> Option<Part>;

    /// What a file of that name is wherever it lies, when it is no transcript.
    fn stray_file(&self, name: &[u8]) -> Option<FileKind>;

    /// What a file with a session's records is by its name, wherever it lies.
    fn transcript(&self, name: &[u8]) -> FileKind;

    /// Whether a name without its ending is an id in a form that the agent gives.
    fn is_session_id(&self, stem: &[u8]) -> bool;

    /// Whether a name without its ending is that of a subagent's transcript beside its session, when its records do not
    /// tell.
    fn has_side_name(&self, stem: &[u8], names: &Names<'_>) -> bool;

    /// What a whole record is to the agent; none when it writes no such records.
    fn recognises(&self, record: &Probe) -> Option<Told>;

    /// What a sign in damaged bytes says, and how surely.
    fn sign(&self, line: &[u8]) -> Option<(Told, Certainty)>;

    /// Which of its JSON documents begins like this.
    fn document_head(&self, head: &[u8]) -> Option<Document>;

    /// Which of its JSON documents has this name, when its content does not tell. The folder may be named by a session.
    fn document_name(&self, name: &[u8], of_session: bool) -> Option<Document>;

    /// The folder of its home in which its processes register; none when they do not.
    fn registry(&self) -> Option<&'static str>;

    /// The lock that it holds beside a session that it writes to; none when it holds none.
    fn lock(&self, session: &Path) -> Option<PathBuf>;

    /// What the keys of a registration mean.
    fn registration(&self) -> &'static RegistrationKeys;

    /// Whether it deletes a session by the time of its file, so that a new time keeps it.
    fn deletes_by_file_time(&self) -> bool;

    /// A file that it keeps beside its sessions, by which they are told from those of agents that write the same records.
    fn kept_beside(&self) -> Option<&'static str> {
        None
    }

    /// Whether a transcript of this name was archived: its agent left it there and does not read it.
    fn is_archived(&self, _name: &[u8]) -> bool {
        false
    }

    /// What follows from a database beside its sessions, behind the note that it is not read.
    fn of_database(&self) -> &'static str {
        ""
    }
}

/// The agents that are known here, handed in from the top.
#[derive(Clone, Copy, Default, Debug)]
pub struct Homes(pub &'static [&'static dyn Home]);

impl Homes {
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = &'static dyn Home> {
        self.0.iter().copied()
    }

    /// What answers for an agent.
    pub fn of(self, agent_id: AgentId) -> Option<&'static dyn Home> {
        self.iter().find(|home| home.agent_id() == agent_id)
    }

    /// Whether a name without its ending is an id in a form that one of them gives.
    pub(super) fn is_session_id(self, stem: &[u8]) -> bool {
        self.iter().any(|home| home.is_session_id(stem))
    }

    /// Whether a folder's name is the id of a session.
    pub(super) fn is_named_by_id(self, folder: &Path) -> bool {
        folder.file_name().is_some_and(|name| self.is_session_id(name.as_encoded_bytes()))
    }

    /// Whether an agent whose records another one made is told by a record of its own.
    pub(super) fn is_told_apart(self, agent_id: AgentId) -> bool {
        self.of(agent_id).is_some_and(|home| home.records_of() != agent_id)
    }

    /// Whose sessions these are in a folder with such files, where the records alone leave a choice.
    pub(super) fn keeper(self, told: AgentId, has: impl Fn(&str) -> bool) -> AgentId {
        let mut alike = self.iter().filter(|home| self.agree(home.agent_id(), Some(told)));
        let keeper = alike.find(|home| home.kept_beside().is_some_and(&has));
        keeper.filter(|_| !self.is_told_apart(told)).map_or(told, Home::agent_id)
    }

    /// Whether a person who insists on the second agent may mean what is the first one's: they write the same records.
    pub fn agree(self, own: AgentId, insist: Option<AgentId>) -> bool {
        let records = |of| self.of(of).map(Home::records_of);
        insist.is_none_or(|asked| own == asked || records(own) == records(asked))
    }
}

/// Where an agent keeps its sessions when nobody says otherwise.
#[derive(Debug)]
pub struct DefaultHome {
    /// The variable that names another folder.
    pub variable: &'static str,
    /// Whether a leading `~` in it is the user's home.
    pub tilde: bool,
    /// The folder below the user's home.
    pub below: &'static str,
    /// Names that it had before, read where they are still there.
    pub former: &'static [&'static str],
    /// How the names of further homes begin, one for each profile.
    pub profiles: Option<&'static str>,
    /// What may put the sessions elsewhere.
    pub sessions: Option<SessionFolder>,
}

/// What may name another folder for an agent's sessions.
#[derive(Debug)]
pub struct SessionFolder {
    /// The variable.
    pub variable: &'static str,
    /// The settings in the home, and the key in them.
    pub settings: (&'static str, &'static str),
}

/// A name by which an agent's home is known.
#[derive(Debug)]
pub struct HomeName {
    /// The last names of its path.
    pub path: &'static str,
    /// The folders of which one at least makes it worth the name.
    pub parts: &'static [&'static str],
}

/// How surely something says whose it is. The surest counts, and of two that are alike that of the agent listed first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Certainty {
    /// Other programs have the like.
    Weak,
    /// It has a form that is the agent's.
    Form,
    /// It has names that are the agent's.
    Names,
    /// Only this agent has it.
    Own,
}

/// What the first records of a file are to their agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// A session.
    Session,
    /// The transcript of a subagent.
    Side,
    /// Rows of the history of prompts.
    History,
}

/// A JSON document of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Document {
    /// A session in one document.
    Whole,
    /// The index of a checkpoint folder.
    CheckpointIndex,
}

/// What the keys of a registration mean.
#[derive(Debug)]
pub struct RegistrationKeys {
    /// The process.
    pub pid: &'static str,
    /// The session.
    pub session: &'static str,
    /// The working directory.
    pub cwd: &'static str,
    /// What the agent calls this kind of process.
    pub kind: &'static str,
    /// When it registered: the first of these that is there.
    pub started: &'static [&'static str],
    /// When the process began, in clock ticks since the machine started: an agent that keeps it notices that its number
    /// was given again.
    pub began: Option<&'static str>,
}

/// How many names of a folder, and how many folders in it, are looked at to recognise a home.
const LOOK: usize = 256;
const LOOK_INTO: usize = 32;

/// A bounded look into a folder that may be a home.
#[derive(Debug)]
pub struct Look<'a>(pub(super) &'a Handle);

impl Look<'_> {
    /// Whether there is a folder of this name.
    pub fn has(&self, folder: &str) -> bool {
        self.0.has_folder(folder)
    }

    /// Whether an entry of this folder passes the test. The entries come by name.
    pub fn any(&self, folder: &str, mut test: impl FnMut(&mut LookInto<'_>) -> bool) -> bool {
        let Ok(inner) = self.0.child(OsStr::new(folder)) else { return false };
        let (mut entries, _) = inner.list(LOOK);
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        let mut budget = LOOK_INTO;
        entries.iter().any(|entry| {
            let is_folder = matches!(entry.kind, EntryKind::Folder | EntryKind::Unknown);
            test(&mut LookInto { folder: &inner, name: &entry.name, is_folder, budget: &mut budget })
        })
    }
}

/// An entry of a folder that is looked at.
#[derive(Debug)]
pub struct LookInto<'a> {
    folder: &'a Handle,
    name: &'a OsStr,
    /// Whether it is a folder.
    pub is_folder: bool,
    budget: &'a mut usize,
}

impl LookInto<'_> {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        self.name.as_encoded_bytes()
    }

    /// Whether a name in it passes the test. Only so many entries of one folder are opened for this.
    pub fn within(&mut self, test: impl Fn(&[u8]) -> bool) -> bool {
        let names = |folder: Handle| folder.list(LOOK).0.iter().any(|entry| test(entry.name.as_encoded_bytes()));
        self.open().is_some_and(names)
    }

    /// Whether there is a file in a folder of it.
    pub fn holds(&mut self, folder: &str, file: &str) -> bool {
        let inner = self.open().and_then(|own| own.child(OsStr::new(folder)).ok());
        inner.is_some_and(|inner| inner.stat(OsStr::new(file)).is_ok())
    }

    fn open(&mut self) -> Option<Handle> {
        if !self.is_folder || *self.budget == 0 {
            return None;
        }
        *self.budget -= 1;
        self.folder.child(self.name).ok()
    }
}
