//! pi and OpenClaw: copies of files, and undo.

use std::io;
use std::path::Path;

use super::Pi;
use crate::agents::named_by_file;
use crate::checkpoint::agent::FileLayer;
use crate::checkpoint::anchor::Anchor;
use crate::session::Session;

impl FileLayer for Pi {
    fn known_by(&self, session: &Session) -> Vec<String> {
        named_by_file(session)
    }

    fn changed_files(&self, _: &Session) -> bool {
        false
    }

    fn anchors(&self, _: &Session, _: Option<&Path>, _: &[u32]) -> io::Result<Option<Vec<Anchor>>> {
        Ok(None)
    }

    fn anchors_note(&self) -> &'static str {
        ""
    }
}
