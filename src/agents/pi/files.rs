//! pi and OpenClaw: no copies of files.

use std::io;
use std::path::Path;

use super::Pi;
use crate::checkpoint::agent::FileLayer;
use crate::checkpoint::anchors::Anchor;
use crate::session::Session;

impl FileLayer for Pi {
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

    fn anchors(&self, _: &Session, _: Option<&Path>, _: &[u32]) -> io::Result<Option<Vec<Anchor>>> {
        Ok(None)
    }

    fn anchors_note(&self) -> &'static str {
        ""
    }
}
