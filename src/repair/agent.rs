//! What this room asks of an agent: what a repair writes for it.

use std::io;

use uuid::Uuid;

use super::answer::{Answer, Job};
use super::content::Open;
use super::edit::Edit;
use crate::rules::agent::Judged;
use crate::session::Session;

/// The keys of what a repair looks up or writes in a record.
#[derive(Debug)]
pub struct Names {
    /// A record's id.
    pub id: &'static str,
    /// Its parent's id.
    pub parent: &'static str,
    /// The input of a call.
    pub input: &'static str,
    /// The call that a result answers.
    pub call: &'static str,
    /// Where a block keeps blocks of its own.
    pub nested: &'static [&'static str],
    /// Where a medium keeps its type.
    pub label: &'static [&'static [&'static str]],
    /// Where a medium keeps its data.
    pub data: &'static [&'static [&'static str]],
}

/// What this room has to know of an agent.
pub trait Writer: Judged {
    /// Under which keys its records keep what a repair looks up or writes.
    fn names(&self) -> &'static Names;

    /// In which form it gives these made-up bits as the id of a record.
    fn id(&self, made: Uuid) -> String;

    /// Which answers it has of its own; they go before the general ones.
    fn answers(&self) -> &'static [Answer];

    /// Which record of the path that is used goes below a leaf that `taker` took the path away from.
    fn below_leaf(&self, session: &Session, taker: u32, leaf: u32) -> Option<u32>;

    /// Which edits give each of these open calls a result that says the outcome is unknown.
    ///
    /// # Errors
    /// When the session's bytes cannot be read again.
    fn results(&self, job: &Job<'_>, open: &Open<'_>) -> io::Result<Vec<Edit>>;
}
