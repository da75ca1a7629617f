//! The repair of whole stores: every session planned and its plan proven, those told apart that may not be written to,
//! and the rest handed to `commit`.
//!
//! | file | what it does |
//! | --- | --- |
//! | [`survey`](mod@survey) | one plan for each file that has something to repair |
//! | [`in_use`] | why a file is left alone |
//! | [`mod@apply`] | plans become files, through the one door |
//! | [`decided`] | what became of what a person decided |
//! | `remaining` | what is left, and what it would take |
//! | [`standing`] | what is still broken at the end |
//! | [`journal_note`] | what the journal is told: a line for its list, the autopsy |
//! | [`store_context`] | the store around them, for the rules about stores |
//! | [`mod@undo`] | repairs are taken back, late lines are brought over |
//!
//! How an edit is found is `repair`'s, how a file is replaced is `commit`'s; whom to ask and what to print is decided in
//! `cli`. A plan that is kept holds no descriptor and no text of the file: a store may have thousands of damaged ones.

pub mod apply;
pub mod decided;
pub mod in_use;
pub mod journal_note;
mod remaining;
pub mod standing;
pub mod store_context;
pub mod survey;
pub mod undo;

use std::path::PathBuf;
use std::time::Duration;

use crate::audit::mend::Mend;
use crate::commit::{Fingerprint, Sha};
use crate::finding::{Finding, Rule};
use crate::identity::AgentId;
use crate::repair::checkpoints::IndexState;
use crate::repair::plan::{self, Fragment, Planned, State};
use crate::repair::text::Splice;
use crate::session::Shape;

pub use apply::{Applied, Applying, Failed, apply};
pub use in_use::Refused;
pub use store_context::Deletion;
pub use survey::{Survey, survey};

/// What a repair is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// How far it may go.
    pub plan: plan::Options,
    /// How long a file in an agent's home must have been left alone.
    pub idle: Duration,
    /// The user's word that the agents are closed.
    pub closed: bool,
    /// Whether nothing will be written, so that a file which was written to a moment ago is no obstacle.
    pub dry: bool,
    /// Whether a repaired file gets the time of its repair.
    pub touch: bool,
}

/// What a plan is about, before and after.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A session.
    Session(Box<SessionPlan>),
    /// A checkpoint index.
    Index(Box<IndexPlan>),
}

impl Subject {
    /// What the file is, for rules about paths.
    pub fn shape(&self) -> Shape {
        match self {
            Subject::Session(session) => session.shape,
            Subject::Index(_) => Shape::Main,
        }
    }
}

/// What is known of an index before and after.
#[derive(Clone, Debug)]
pub struct IndexPlan {
    /// The session that its folder is named for.
    pub folder: Option<String>,
    /// What it was planned with.
    pub options: plan::Options,
    /// How it is now.
    pub before: IndexState,
    /// How it will be.
    pub after: IndexState,
}

/// What is known of a session before and after.
#[derive(Clone, Debug)]
pub struct SessionPlan {
    /// What it is.
    pub shape: Shape,
    /// What it was planned with: what was asked for, and what is known of this session.
    pub options: plan::Options,
    /// How it is now.
    pub before: State,
    /// How it will be.
    pub after: State,
}

/// The plan for one file.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The file's place in [`crate::store::Discovery::files`].
    pub file: u32,
    /// Its path.
    pub path: PathBuf,
    /// Its path below its store.
    pub below: PathBuf,
    /// The store that it must lie in, when there is one.
    pub within: Option<PathBuf>,
    /// Whose it is.
    pub agent_id: AgentId,
    /// What it is, before and after.
    pub subject: Subject,
    /// The hashes of its bytes before and after.
    pub sha256: [Sha; 2],
    /// The rules that the plan answers.
    pub answers: Vec<&'static Rule>,
    /// The edits, in the order in which they were made.
    pub edits: Vec<Planned>,
    /// What turns the file into its repaired bytes.
    pub splices: Vec<Splice>,
    /// What goes to quarantine.
    pub quarantined: Vec<Fragment>,
    /// What stays, and why.
    pub left: Vec<Left>,
    /// The repairs that would leave less.
    pub mends: Vec<Mend>,
    /// The state of the file that the plan was made from.
    pub fingerprint: Fingerprint,
    /// Why it will not be applied.
    pub refused: Option<Refused>,
    /// A step that is left out of it, because a person has to decide or a further class has to go with it.
    pub withheld: Option<Refused>,
    /// What a person should know about it.
    pub warnings: Vec<String>,
    /// When its agent's own clean-up deletes it, if that is near.
    pub deletion: Option<Deletion>,
    /// The plan that takes the nearest links, too, when they were not allowed and would mend something.
    pub nearest: Option<Box<FilePlan>>,
}

impl FilePlan {
    /// Whether the chosen classes could do something.
    pub fn has_work(&self) -> bool {
        !self.edits.is_empty()
    }

    /// Whether it may be applied.
    pub fn may_be_applied(&self) -> bool {
        self.has_work() && self.refused.is_none()
    }
}

/// A finding that stays.
#[derive(Clone, Debug)]
pub struct Left {
    /// The finding.
    pub finding: Finding,
    /// Why.
    pub why: String,
}
