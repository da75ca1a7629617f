//! What a folder is: a part of an agent's store, or none.
//!
//! Only names decide here, from the home downwards, and the agent whose home it is says what they mean. How a home is
//! recognised stands in `home`, what the files in each folder are in `classify`. Folders of a home that hold no part of its
//! session store (plugins, caches, logs) are no part: they are counted and not entered.

use super::agent::Homes;
use crate::identity::AgentId;

/// What a folder is, or what a root was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// Standard input.
    Stdin,
    /// One file that a person passed.
    File,
    /// A folder of no agent's layout; what its files are is decided by their content.
    Plain,
    /// A part of that agent's store.
    Of(AgentId, Part),
}

/// A part of an agent's store. No agent has all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// The home.
    Home,
    /// A folder with sessions, with folders of them by project, or with both.
    Sessions,
    /// A folder that holds nothing but folders of sessions.
    Projects,
    /// The sessions of one project.
    Project,
    /// What belongs to one session, beside its transcript.
    Session,
    /// Transcripts of subagents, and folders of them.
    Subagents,
    /// Tool output that was too long for the transcript.
    Spilled,
    /// Summaries of sessions.
    Summaries,
    /// A folder for each session with its checkpoints.
    CheckpointFolders,
    /// The checkpoints of one session.
    Checkpoints,
    /// A folder for each session with files as they were.
    BackupFolders,
    /// The files of one session as they were.
    Backups,
    /// The registry of live processes.
    Registry,
    /// Declared reads and edits of sessions.
    Intents,
    /// Work logs of sessions.
    Progress,
    /// Dumps of what went wrong.
    Dumps,
    /// A folder for each of several agents that a person named.
    Accounts,
    /// One of them.
    Account,
    /// A database that holds sessions, which is not read.
    Database,
}

impl Layout {
    /// The agent whose layout it is; none for what no agent laid out.
    pub fn agent_id(self) -> Option<AgentId> {
        match self {
            Layout::Stdin | Layout::File | Layout::Plain => None,
            Layout::Of(agent_id, _) => Some(agent_id),
        }
    }

    /// What it is in the store of its agent.
    pub fn part(self) -> Option<Part> {
        match self {
            Layout::Stdin | Layout::File | Layout::Plain => None,
            Layout::Of(_, part) => Some(part),
        }
    }

    /// Whether it is an agent's home.
    pub fn is_home(self) -> bool {
        self.part() == Some(Part::Home)
    }

    /// What a folder of that name in this one is; none if it holds no part of a session store.
    pub(super) fn child(self, name: &[u8], homes: Homes) -> Option<Layout> {
        match self {
            Layout::Stdin | Layout::File => None,
            Layout::Plain => {
                let stray = homes.iter().find_map(|home| Some(Layout::Of(home.agent_id(), home.stray_folder(name)?)));
                Some(stray.unwrap_or(Layout::Plain))
            }
            Layout::Of(agent_id, part) => {
                let child = homes.of(agent_id)?.folder(part, name)?;
                Some(Layout::Of(agent_id, child))
            }
        }
    }

    /// Whether a person who insists on that agent may still have this layout: some agents write the same records.
    pub(super) fn agrees_with(self, insist: Option<AgentId>, homes: Homes) -> bool {
        self.agent_id().is_none_or(|own| homes.agree(own, insist))
    }
}
