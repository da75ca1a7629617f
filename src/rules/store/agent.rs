//! What the rules about sessions and stores ask of an agent: how it names and finds sessions, what its list and its
//! clean-up make of them, and what only its own can have.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use super::World;
use super::collect::Fork;
use super::names::Differs;
use super::stale_lists::Row;
use crate::finding::{Finding, Place, Rule};
use crate::identity::AgentId;
use crate::predict::agent::Resume;
use crate::record::facts::Record;
use crate::rules::agent::Judged;
use crate::rules::{Collector, Context};
use crate::session::Session;
use crate::store::{FileEntry, Layout, State};

/// What this family has to know of an agent.
pub trait Stored: Resume {
    /// Finds what only its own sessions can have.
    fn check_session(&self, context: &Context<'_>, found: &mut Collector);

    /// Finds what only its own stores can have: what it will delete, and what lies beside the sessions.
    fn check_store(&self, world: &mut World<'_>);

    /// Finds what a session and its copies of files say to each other. `store` is the home that the session lies in.
    ///
    /// # Errors
    /// I/O errors while records are read again.
    fn check_files(&self, session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>>;

    /// What it does with what other agents' stores have, too.
    fn store_words(&self) -> &'static StoreWords;

    /// The flags of a last message with which the person had the last word in another way than by a prompt.
    fn closing(&self) -> u64;

    /// Whether a tool's result may be written while the response that called it still streams.
    fn results_may_come_early(&self) -> bool;

    /// Why its list does not show a session that holds a message. None where it does, or has no list of its own.
    fn hidden(&self, session: &Session) -> Option<Hidden>;

    /// How its list and its clean-up see a session. None where its name and place tell all.
    fn listed(&self, session: &Session) -> Option<Listed>;

    /// What it does with a session that states this version, in which no record has an id, or every one has. None where
    /// that is as it should be.
    fn contradicted(&self, version: Option<f64>, has_ids: bool, start_has_id: bool) -> Option<&'static str>;

    /// The id that the name of a session's file gives: `stem` is the name without its ending.
    fn named_id<'n>(&self, stem: &'n [u8]) -> Option<&'n [u8]>;

    /// An id as it is compared with others.
    fn id_compared<'i>(&self, id: &'i [u8]) -> Cow<'i, [u8]>;

    /// Whether the id inside a file is the one to resume by, wherever the file lies.
    fn goes_by_id_inside(&self) -> bool;

    /// The key of a record's id, quoted.
    fn id_key(&self) -> &'static str;

    /// The ids inside a session by which it is known.
    fn ids_inside(&self, session: &Session) -> Vec<Vec<u8>>;

    /// The session of a subagent's transcript, where only its records tell.
    fn owner(&self, session: &Session) -> Option<Vec<u8>>;

    /// How the session of a subagent's transcript is called, when it has no file in the store.
    fn orphan(&self, world: &World<'_>, n: u32, file: &FileEntry, store: u32) -> Option<String>;

    /// Where a session was forked from.
    fn fork(&self, session: &Session) -> Option<Fork>;

    /// Whether each record that a fork copied says so.
    fn marks_copies(&self) -> bool;

    /// The id inside a session, when it is another one than the file's name gives.
    fn differs<'a>(&self, session: &'a Session, stem: &'a [u8]) -> Option<Differs<'a>>;

    /// Whether a folder of this name in its layout is one that is named for a project.
    fn is_project(&self, layout: Layout, name: &str) -> bool;

    /// The name of the folder for the project in this directory.
    fn project(&self, cwd: &str) -> String;

    /// Whether sessions of this directory may lie in the project folder of that name.
    fn belongs(&self, cwd: &str, name: &str, store: Option<&Path>) -> bool;

    /// Further directories that a session names: read only when no other fits.
    fn origins(&self, session: &Session) -> Vec<String>;

    /// Whether folders of this layout are named by the session whose files they keep.
    fn keeps_files_of_a_session(&self, layout: Layout) -> bool;

    /// The rows of its cached list of sessions.
    ///
    /// # Errors
    /// When it is no such list.
    fn list_rows(&self, bytes: &[u8]) -> serde_json::Result<Vec<Row>>;

    /// What it does with the entry of a process that is gone; a process of another program may have its number now.
    fn dead_registration(&self, state: State) -> String;
}

/// What an agent does, as sentences without the subject.
#[derive(Debug)]
pub struct StoreWords {
    /// With a prompt at the end that nobody answered.
    pub open_prompt: &'static str,
    /// With a session without a message.
    pub without_message: &'static str,
    /// With a copy that a sync tool left.
    pub sync_copy: &'static str,
    /// With an id that stands in two folders.
    pub same_id: &'static str,
    /// With a cached list that disagrees with its folder.
    pub stale_list: &'static str,
    /// Whether of two files of one folder and id the `.jsonl` shadows the other.
    pub shadows: bool,
}

/// Why a session is not listed.
#[derive(Debug)]
pub struct Hidden {
    /// Where that shows.
    pub place: Place,
    /// Why.
    pub why: String,
    /// The rule of the finding that is behind it, where there is one.
    pub cause: Option<&'static Rule>,
}

impl Hidden {
    /// A reason with nothing behind it.
    pub fn new(place: Place, why: impl Into<String>) -> Self {
        Hidden { place, why: why.into(), cause: None }
    }

    /// The place of a record, by its line.
    pub fn line_of(record: Option<&Record>) -> Place {
        record.map(|r| Place::line(u64::from(r.line))).unwrap_or_default()
    }
}

/// How an agent's list and clean-up see a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listed {
    /// Why it is left out, as a number of the agent's own; 0 when it is not.
    pub left_out: u8,
    /// When it was last updated, in milliseconds since 1970.
    pub updated: Option<i64>,
}

/// The agents that stores may be of, handed in from the top.
#[derive(Clone, Copy, Default, Debug)]
pub struct Judges(pub &'static [&'static dyn Judged]);

impl Judges {
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = &'static dyn Judged> {
        self.0.iter().copied()
    }

    /// What answers for an agent.
    pub fn of(self, agent_id: AgentId) -> Option<&'static dyn Judged> {
        self.iter().find(|agent| agent.agent_id() == agent_id)
    }

    /// The hash of an id as that agent compares it.
    pub fn hash(self, agent_id: Option<AgentId>, id: &[u8]) -> u64 {
        super::alias::hash(agent_id.and_then(|agent_id| self.of(agent_id)), id)
    }
}
