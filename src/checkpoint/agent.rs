//! What this room asks of an agent: how it keeps copies of files, and what its own undo does with them.

use std::io;
use std::path::Path;

use super::anchor::Anchor;
use crate::request::agent::Sender;
use crate::session::Session;

/// What this room has to know of an agent.
pub trait FileLayer: Sender {
    /// The ids that a session is known by in the file layer, that of its file first.
    fn known_by(&self, session: &Session) -> Vec<String>;

    /// Whether a session says that it changed files of which an index under one of those ids has copies.
    fn changed_files(&self, session: &Session) -> bool;

    /// What a rewind to each of these prompts finds, in the home that the session lies in; none where the agent keeps no
    /// file layer.
    fn anchors(&self, session: &Session, home: Option<&Path>, prompts: &[u32]) -> io::Result<Option<Vec<Anchor>>>;

    /// What a reader of those has to know.
    fn anchors_note(&self) -> &'static str;
}
