//! What no report, no baseline and no original that is put elsewhere may take the place of, whatever command writes it: a
//! session or an index, told by its content, and whatever lies in an agent's home or in the journal.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::content::parent;
use super::journal::Journal;
use super::refusal::Error;
use crate::store::agent::{Home, HomeName, Homes, Told};
use crate::store::{Environment, Recogniser, Shape, Source, default_homes, recognise, sniff_document};

/// Folders in those that agents name theirs in which people work: checkouts of their projects.
const WORK: &str = "worktrees";

/// Whether a file may be written at this place, whose links were followed already.
pub(super) fn allows(path: &Path, target: &Path, agents: Homes) -> Result<(), Error> {
    let protected = |what| Err(Error::Protected { path: path.to_owned(), what });
    if Journal::of_user().is_some_and(|journal| target.starts_with(real(journal.root()))) {
        return protected("lies in the journal of repairs");
    }
    if let Some(root) = home_above(target, agents) {
        return Err(Error::InsideStore { path: path.to_owned(), root });
    }
    if !target.is_file() {
        return Ok(());
    }
    if agents.iter().flat_map(Home::project_files).any(|name| target.file_name() == Some(OsStr::new(name))) {
        return protected("is read by an agent");
    }
    let Ok(source) = Source::open(target) else { return Ok(()) };
    let trouble = |e| Error::io("read", path, e);
    let seen = recognise(&source, None, agents).map_err(trouble)?;
    if seen.by_record && matches!(seen.shape, Shape::Of(_, Told::History)) {
        return protected("is an agent's history of prompts");
    }
    if seen.by_record && !seen.prose {
        return protected("is a session");
    }
    match sniff_document(&source, agents).map_err(trouble)? {
        Some(_) if !is_report(&source) => protected("is a session or an index of one"),
        _ => Ok(()),
    }
}

/// Whether it is a report of ours, which may quote what a session has.
fn is_report(source: &Source) -> bool {
    source.read_range(0, 256).is_ok_and(|head| memchr::memmem::find(&head, b"\"sid-audit").is_some())
}

/// The agent's home, or a project's folder for its agent, in which a place lies.
pub(super) fn home_above(target: &Path, agents: Homes) -> Option<PathBuf> {
    let folder = parent(target);
    // A home bears this name, and so does what a project says to its agent.
    let first = |home: &'static HomeName| Path::new(home.path).iter().next();
    let names = || agents.iter().flat_map(Home::home_names).filter_map(first);
    let named = folder.ancestors().find(|above| {
        let own = above.file_name().is_some_and(|name| names().any(|folder| name == folder));
        own && !target.strip_prefix(above).is_ok_and(|below| below.starts_with(WORK))
    });
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    let environment = Environment::of_process(agents);
    let mut own =
        default_homes(agents, &environment).into_iter().filter(|home| home.exists).map(|home| real(&home.path));
    own.find(|home| target.starts_with(home))
        .or_else(|| Recogniser::new(agents, &environment).place(folder).map(|(_, home)| home))
}

/// A path with the links of what is there of it followed.
pub(super) fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there {
        Some((above, real)) => path.strip_prefix(above).map_or_else(|_| path.to_owned(), |below| real.join(below)),
        None => path.to_owned(),
    }
}
