//! Claude Code: copies of files, and undo.

use std::io;
use std::path::Path;

use super::{Claude, anchors};
use crate::agents::named_by_file;
use crate::checkpoint::agent::FileLayer;
use crate::checkpoint::anchor::Anchor;
use crate::session::Session;

impl FileLayer for Claude {
    fn known_by(&self, session: &Session) -> Vec<String> {
        named_by_file(session)
    }

    fn changed_files(&self, _: &Session) -> bool {
        false
    }

    fn anchors(&self, session: &Session, home: Option<&Path>, prompts: &[u32]) -> io::Result<Option<Vec<Anchor>>> {
        anchors::anchors(session, home, prompts).map(Some)
    }

    fn anchors_note(&self) -> &'static str {
        "FILES are those that the prompt's own snapshot names."
    }
}
