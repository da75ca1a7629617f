//! What a rewind of Claude Code finds: it finds its snapshots by the prompt's id.

use std::io;
use std::path::Path;

use super::layers::{names_in, rows};
use crate::checkpoint::anchor::Anchor;
use crate::checkpoint::file_history::fold;
use crate::session::Session;

/// What a rewind to each of these prompts finds.
pub(super) fn anchors(session: &Session, store: Option<&Path>, prompts: &[u32]) -> io::Result<Vec<Anchor>> {
    let history = fold(&rows(session)?);
    let stem = session.path.file_stem().unwrap_or_default();
    let backups = store.map(|store| store.join("file-history")).filter(|folder| folder.is_dir());
    let there = backups.map(|folder| names_in(&folder.join(stem)));
    let made = prompts.iter().map(|&n| {
        let id = session.id(n);
        let own = history.snapshots.iter().find(|(of, _)| Some(of) == id.as_ref());
        let names =
            || own.into_iter().flat_map(|(_, folded)| folded.files.values()).filter_map(|(b, _)| b.file_name.as_ref());
        let lost = there.as_ref().map(|there| names().filter(|name| !there.contains(name)).count() as u64);
        let files = own.map_or(0, |(_, folded)| folded.files.len() as u64);
        Anchor {
            record: n,
            snapshot: own.map(|(of, _)| of.clone()),
            evicted: lost.is_some_and(|lost| lost > 0),
            files: own.and(lost).map(|lost| (files, lost)),
        }
    });
    Ok(made.collect())
}
