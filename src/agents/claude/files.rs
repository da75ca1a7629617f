//! Claude Code: whole files as they were, `file-history/<session>/`, named by rows of the session.

use std::io;
use std::path::Path;

use super::{Claude, file_history};
use crate::checkpoint::agent::FileLayer;
use crate::checkpoint::anchors::Anchor;
use crate::session::Session;

impl FileLayer for Claude {
    fn changed_files(&self, _: &Session) -> bool {
        false
    }

    fn index_folder(&self) -> Option<&'static str> {
        None
    }

    fn index_owner(&self, _: &Path) -> Option<String> {
        None
    }

    fn known_by(&self, session: &Session) -> Vec<String> {
        session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).into_iter().collect()
    }

    fn anchors(&self, session: &Session, store: Option<&Path>, prompts: &[u32]) -> io::Result<Option<Vec<Anchor>>> {
        file_history::anchors(session, store, prompts).map(Some)
    }

    fn anchors_note(&self) -> &'static str {
        "FILES are those that the prompt's own snapshot names."
    }
}
