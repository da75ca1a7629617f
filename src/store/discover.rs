//! What a person asked for, found: roots, folders, files. Names and sizes only; no record is judged here.
//!
//! A root is a file, a folder or an agent's home. Homes that lie somewhere in a plain folder become roots of their own,
//! so that every file's root names the store whose side folders belong to it. How folders are walked stands in `walk`.

use std::cmp::Ordering;
use std::io;
use std::path::{Path, PathBuf};

use super::agent::Homes;
use super::classify::FileKind;
use super::handle::Handle;
use super::home::Environment;
use super::layout::Layout;
use super::name::FileName;
use super::source::Source;
use super::walk::Walk;
use crate::identity::AgentId;

/// A place where reading begins.
#[derive(Clone, Debug)]
pub struct Root {
    /// The path that a person gave.
    pub given: PathBuf,
    /// Where reading begins: the same, or the home that lies in it.
    pub path: PathBuf,
    /// The agent, if layout, content or the person tell.
    pub agent_id: Option<AgentId>,
    /// What it is.
    pub layout: Layout,
    /// The home in which it lies, for rules that look at what lies beside a session.
    pub store: Option<PathBuf>,
    /// What a person should know about it: links that were followed, parts that were not.
    pub notes: Vec<String>,
}

/// A folder that was read.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Its path: the root's and what lies below. Empty for the current one.
    pub path: PathBuf,
    /// Index of its root.
    pub root: u32,
    /// What it is in its store.
    pub layout: Layout,
    /// When a name in it last changed, in milliseconds since 1970: what the clean-up of a folder may go by.
    pub mtime_ms: i64,
}

/// A file that was found. Kept small (40 bytes and the name), there may be hundreds of thousands.
#[derive(Clone, Debug)]
pub struct FileEntry {
    /// Its name in the folder.
    pub name: FileName,
    /// Size when it was found.
    pub size: u64,
    /// Last change, in milliseconds since 1970.
    pub mtime_ms: i64,
    /// Index of its folder.
    pub folder: u32,
    /// What it is.
    pub kind: FileKind,
    /// Whose it is. None only for [`FileKind::Other`], and for a file that a person passed and nothing tells.
    pub agent_id: Option<AgentId>,
}

/// Everything that was found below what a person passed.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The agents that were looked for.
    pub agents: Homes,
    /// In the order given; homes that were found on the way follow.
    pub roots: Vec<Root>,
    /// Sorted by path.
    pub folders: Vec<Folder>,
    /// Sorted by path.
    pub files: Vec<FileEntry>,
    /// What could not be read. Exit status 2, and everything else is still reported.
    pub errors: Vec<(PathBuf, String)>,
    /// Links that were not followed: those that leave their store, those that lead nowhere, and those whose target is
    /// read in its own place anyway.
    pub skipped_links: u64,
    /// Those of them that leave their store.
    pub links_left_store: u64,
    /// Links inside a store whose target is inside it, too, and was read because of them.
    pub followed_links: u64,
    /// FIFOs, sockets and devices: never opened.
    pub specials: u64,
    /// Files in the folders read that are no part of a session store.
    pub other_files: u64,
    /// Folders that hold no part of a session store: not entered.
    pub other_folders: u64,
    /// Files that were gone before they were looked at and that a running agent removes by itself (registrations,
    /// locks). A transcript that vanishes is an error.
    pub vanished: u64,
}

impl Discovery {
    /// A file's path.
    pub fn path(&self, file: &FileEntry) -> PathBuf {
        self.folders.get(file.folder as usize).map_or_else(PathBuf::new, |folder| folder.path.join(file.name.os()))
    }

    /// The root under which a file was found.
    pub fn root(&self, file: &FileEntry) -> Option<&Root> {
        self.roots.get(self.folders.get(file.folder as usize)?.root as usize)
    }

    /// The folder in which a file lies.
    pub fn folder(&self, file: &FileEntry) -> Option<&Folder> {
        self.folders.get(file.folder as usize)
    }

    /// Opens a file: down from its root, name by name, no link on the way, a plain file at the end.
    ///
    /// # Errors
    /// I/O errors, and `InvalidInput` for anything that is no plain file (any more).
    pub fn open(&self, file: &FileEntry) -> io::Result<Source> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "no such entry");
        let folder = self.folders.get(file.folder as usize).ok_or_else(missing)?;
        let root = self.roots.get(folder.root as usize).ok_or_else(missing)?;
        if root.layout == Layout::File {
            // the way to it is the person's own; only the last step may not be a link
            return Source::open(&folder.path.join(file.name.os()));
        }
        let below = folder.path.strip_prefix(&root.path).map_err(|_| missing())?;
        Handle::open_root(&root.path)?.below(below)?.open_file(&file.name.os())
    }

    /// The files of one kind.
    pub fn of_kind(&self, kind: FileKind) -> impl Iterator<Item = &FileEntry> {
        self.files.iter().filter(move |file| file.kind == kind)
    }
}

/// Finds everything below the given paths; with none given, nothing (see [`super::default_homes`]).
///
/// `insist` overrides what layout and content say about the agent; a layout of another agent then counts as a plain
/// folder.
pub fn discover(paths: &[PathBuf], insist: Option<AgentId>, env: &Environment, agents: Homes) -> Discovery {
    let mut walk = Walk::new(insist, env, agents);
    let planned: Vec<_> = paths.iter().map(|path| walk.plan(path)).collect();
    // files first: what was named is not found a second time in a folder
    for plan in planned.iter().flatten().filter(|plan| plan.is_file) {
        walk.file(plan);
    }
    for plan in planned.iter().flatten().filter(|plan| !plan.is_file) {
        walk.folder(plan);
    }
    sorted(walk.finish())
}

/// Folders and files in the order of their paths' bytes, so that reports do not depend on the system's order.
fn sorted(mut found: Discovery) -> Discovery {
    let mut order: Vec<u32> = (0..u32::try_from(found.folders.len()).unwrap_or(u32::MAX)).collect();
    let key = |at: &u32| found.folders.get(*at as usize).map(|folder| (bytes(&folder.path), folder.root));
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut place = vec![0u32; order.len()];
    for (new, old) in order.iter().enumerate() {
        if let Some(slot) = place.get_mut(*old as usize) {
            *slot = u32::try_from(new).unwrap_or(u32::MAX);
        }
    }
    let mut folders: Vec<(u32, Folder)> = place.iter().copied().zip(std::mem::take(&mut found.folders)).collect();
    folders.sort_by_key(|(new, _)| *new);
    found.folders = folders.into_iter().map(|(_, folder)| folder).collect();
    for file in &mut found.files {
        file.folder = place.get(file.folder as usize).copied().unwrap_or(u32::MAX);
    }
    let folders = &found.folders;
    found.files.sort_by(|a, b| by_path(folders, a, b));
    found.errors.sort();
    found.files.shrink_to_fit();
    found
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Compares the whole paths without building them.
fn by_path(folders: &[Folder], a: &FileEntry, b: &FileEntry) -> Ordering {
    if a.folder == b.folder {
        return a.name.cmp(&b.name);
    }
    let path = |file: &FileEntry| folders.get(file.folder as usize).map_or(&[][..], |folder| bytes(&folder.path));
    let (left, right) = (path(a), path(b));
    let common = left.len().min(right.len());
    left[..common].cmp(&right[..common]).then_with(|| {
        let rest = |folder: &'_ [u8]| folder.get(common..).unwrap_or_default().to_vec();
        let (mut left, mut right) = (rest(left), rest(right));
        for (tail, name) in [(&mut left, &a.name), (&mut right, &b.name)] {
            tail.push(b'/');
            tail.extend_from_slice(&name.bytes());
        }
        left.cmp(&right).then(a.folder.cmp(&b.folder))
    })
}
