//! The last prompts of a session, each with the snapshot that a rewind to it goes to, and whether that brings the files
//! back. Nothing of this stands in a transcript: each agent puts it together in its own way.

use std::io;
use std::path::Path;

use super::agent::FileLayer;
use crate::chain::shape::is_prompt;
use crate::record::facts::{Record, flag};
use crate::session::Session;
use crate::text::Text;

/// So many prompts are looked at; agents keep no more rewind points.
pub const PROMPTS: usize = 30;

/// A prompt, and what a rewind to it finds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Anchor {
    /// The prompt's record.
    pub record: u32,
    /// The snapshot that a rewind to it goes to. None: there is none.
    pub snapshot: Option<Text>,
    /// Whether what it goes to was there and is gone: the snapshot, or a copy that it names.
    pub evicted: bool,
    /// Files that a rewind to it has to bring back, and those of them that it would not; none where the file layer cannot
    /// be seen.
    pub files: Option<(u64, u64)>,
}

impl Anchor {
    /// Whether every file that was changed later comes back as it was.
    pub fn restorable(&self) -> Option<bool> {
        self.files.map(|(_, lost)| lost == 0)
    }
}

/// The last prompts on the adopted chain, oldest first. None where the agent keeps no file layer.
///
/// # Errors
/// I/O errors while records or the file layer are read.
pub fn anchors(session: &Session, agent: &dyn FileLayer, store: Option<&Path>) -> io::Result<Option<Vec<Anchor>>> {
    let typed = |r: &Record| is_prompt(&session.facts, r) && !r.has(flag::NOT_TYPED);
    let prompts: Vec<u32> = session.chain.adopted.iter().copied().filter(|&n| typed(session.record(n))).collect();
    agent.anchors(session, store, &prompts[prompts.len().saturating_sub(PROMPTS)..])
}
