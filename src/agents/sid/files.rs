//! sid-code: one index of snapshots for each process of a session, `checkpoints/<id>/index.json`.

use std::io;
use std::path::Path;

use super::{Sid, anchors};
use crate::checkpoint::agent::FileLayer;
use crate::checkpoint::anchors::Anchor;
use crate::record::facts::Kind;
use crate::record::reread;
use crate::session::{Session, Shape};

/// The key of the metadata records that say that files were changed.
pub(super) const CHANGES: &[u8] = b"file_changes";

impl FileLayer for Sid {
    fn changed_files(&self, session: &Session) -> bool {
        session.shape == Shape::Main && changed_files(session)
    }

    fn index_folder(&self) -> Option<&'static str> {
        Some("checkpoints")
    }

    fn index_owner(&self, path: &Path) -> Option<String> {
        let folder = path.parent().filter(|_| path.file_name().is_some_and(|name| name == "index.json"))?;
        folder.file_name().map(|name| name.to_string_lossy().into_owned())
    }

    fn known_by(&self, session: &Session) -> Vec<String> {
        known_by(session)
    }

    fn anchors(&self, session: &Session, store: Option<&Path>, prompts: &[u32]) -> io::Result<Option<Vec<Anchor>>> {
        anchors::of(session, store, prompts).map(Some)
    }

    fn anchors_note(&self) -> &'static str {
        "FILES were changed after the prompt. The snapshot is the newest one when it was typed; sid-code keeps its rewind \
         points in memory, so after a resume it offers none of these, and --show of `sid-audit checkpoints` brings a file \
         back."
    }
}

/// Whether a session says that it changed files.
pub(super) fn changed_files(session: &Session) -> bool {
    let key = session.facts.names.find(CHANGES);
    key != 0 && session.facts.records.iter().any(|r| r.kind == Kind::Metadata && r.agent == key)
}

/// The ids that a session is known by: its file's name and the processes that resumed it.
pub(super) fn known_by(session: &Session) -> Vec<String> {
    let mut ids: Vec<String> = session.path.file_stem().map(|s| s.to_string_lossy().into_owned()).into_iter().collect();
    let key = session.facts.names.find(b"trace_session_id");
    if key != 0 {
        let traces = session.facts.records.iter().filter(|r| r.kind == Kind::Metadata && r.agent == key);
        ids.extend(traces.filter_map(|r| reread::field(&session.source, r, &["value"])).map(|t| t.lossy()));
    }
    ids
}
