//! What this room asks of an agent: how it keeps copies of files, and what its own undo does with them.

use std::io;
use std::path::Path;

use super::anchors::Anchor;
use crate::request::agent::Sender;
use crate::session::Session;

/// What this room has to know of an agent.
pub trait FileLayer: Sender {
    /// Whether a session says that it changed files, of which an index should be there.
    fn changed_files(&self, session: &Session) -> bool;

    /// In which folder of its home its indexes lie.
    fn index_folder(&self) -> Option<&'static str>;

    /// The session that an index at this path belongs to by its place; none for one that a person keeps elsewhere.
    fn index_owner(&self, path: &Path) -> Option<String>;

    /// The ids under which copies of its files may lie, its own first.
    fn known_by(&self, session: &Session) -> Vec<String>;

    /// What a rewind to each of these prompts finds. `store` is the home that the session lies in. None where the agent
    /// keeps no copies.
    ///
    /// # Errors
    /// I/O errors while records or copies are read.
    fn anchors(&self, session: &Session, store: Option<&Path>, prompts: &[u32]) -> io::Result<Option<Vec<Anchor>>>;

    /// What a reader of those has to know.
    fn anchors_note(&self) -> &'static str;
}
