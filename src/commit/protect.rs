//! What no report, no baseline and no original that is put elsewhere may take the place of, whatever command writes it: a
//! session or an index, told by its content, and whatever lies in an agent's home or in the journal.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::content::parent;
use super::journal::Journal;
use super::refusal::Error;
use crate::store::{Environment, Recogniser, Shape, Source, default_homes, recognise, sniff_document};

/// The folders that the agents name theirs: a home, or what a project says to its agent.
const FOLDERS: [&str; 5] = [".sid-code", ".claude", ".pi", ".openclaw", ".clawdbot"];

/// Folders in them in which people work: checkouts of their projects.
const WORK: &str = "worktrees";

/// Files that the agents read beside their folders.
const FILES: [&str; 5] = [".claude.json", ".mcp.json", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"];

/// Whether a file may be written at this place, whose links were followed already.
pub(super) fn allows(path: &Path, target: &Path) -> Result<(), Error> {
    let protected = |what| Err(Error::Protected { path: path.to_owned(), what });
    if Journal::of_user().is_some_and(|journal| target.starts_with(real(journal.root()))) {
        return protected("lies in the journal of repairs");
    }
    if let Some(root) = home_above(target) {
        return Err(Error::InsideStore { path: path.to_owned(), root });
    }
    if !target.is_file() {
        return Ok(());
    }
    if FILES.iter().any(|name| target.file_name() == Some(OsStr::new(name))) {
        return protected("is read by an agent");
    }
    let Ok(source) = Source::open(target) else { return Ok(()) };
    let trouble = |e| Error::io("read", path, e);
    let seen = recognise(&source, None).map_err(trouble)?;
    if seen.by_record && seen.shape == Shape::History {
        return protected("is an agent's history of prompts");
    }
    if seen.by_record && !seen.prose {
        return protected("is a session");
    }
    match sniff_document(&source).map_err(trouble)? {
        Some(_) if !is_report(&source) => protected("is a session or an index of one"),
        _ => Ok(()),
    }
}

/// Whether it is a report of ours, which may quote what a session has.
fn is_report(source: &Source) -> bool {
    source.read_range(0, 256).is_ok_and(|head| memchr::memmem::find(&head, b"\"sid-audit").is_some())
}

/// The agent's home, or a project's folder for its agent, in which a place lies.
pub(super) fn home_above(target: &Path) -> Option<PathBuf> {
    let folder = parent(target);
    let named = folder.ancestors().find(|above| {
        let own = above.file_name().is_some_and(|name| FOLDERS.iter().any(|folder| name == *folder));
        own && !target.strip_prefix(above).is_ok_and(|below| below.starts_with(WORK))
    });
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    let environment = Environment::of_process();
    let mut own = default_homes(&environment).into_iter().filter(|home| home.exists).map(|home| real(&home.path));
    own.find(|home| target.starts_with(home))
        .or_else(|| Recogniser::new(&environment).place(folder).map(|(_, home)| home))
}

/// A path with the links of what is there of it followed.
pub(super) fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there {
        Some((above, real)) => path.strip_prefix(above).map_or_else(|_| path.to_owned(), |below| real.join(below)),
        None => path.to_owned(),
    }
}
