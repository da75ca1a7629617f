//! sid-code: copies of files, and undo.

use std::io;
use std::path::Path;

use super::{Sid, anchors, layers};
use crate::checkpoint::agent::FileLayer;
use crate::checkpoint::anchor::Anchor;
use crate::session::Session;

impl FileLayer for Sid {
    fn known_by(&self, session: &Session) -> Vec<String> {
        layers::known_by(session)
    }

    fn changed_files(&self, session: &Session) -> bool {
        layers::changed_files(session)
    }

    fn anchors(&self, session: &Session, home: Option<&Path>, prompts: &[u32]) -> io::Result<Option<Vec<Anchor>>> {
        anchors::anchors(session, home, prompts).map(Some)
    }

    fn anchors_note(&self) -> &'static str {
        "FILES were changed after the prompt. The snapshot is the newest one when it was typed; sid-code keeps its rewind \
         points in memory, so after a resume it offers none of these, and --show of `sid-audit checkpoints` brings a file \
         back."
    }
}
