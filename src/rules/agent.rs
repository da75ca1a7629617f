//! What this room asks of an agent: what only its sessions can have, and what it does with what others have too.

use std::io;
use std::path::Path;

use crate::finding::Finding;
use crate::predict::agent::Resume;
use crate::session::Session;

/// What this room has to know of an agent.
pub trait Judged: Resume {
    /// What the agent does with what this rule finds, as `explain` tells it. None where it does nothing of its own.
    fn text(&self, code: &str) -> Option<&'static str>;

    /// What a session and the copies of files in its home say to each other where they do not agree, with so many places
    /// of each.
    fn file_layer(&self, session: &Session, home: Option<&Path>, places: usize) -> io::Result<Vec<Finding>>;
}
