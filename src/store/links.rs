//! Links in a store, answered when everything else in their root was read.
//!
//! A link that stays inside its root leads to a folder or file that was read in its own place already, or is read now
//! under its real path, as what it is where the link stands. One that leaves the root, or leads nowhere, is counted.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::classify::{self, Named, Names};
use super::discover::FileEntry;
use super::handle::Handle;
use super::identify;
use super::layout::Layout;
use super::walk::{Link, Pending, Walk};

/// How many links that leave a store are named in its root's notes.
const NAMED: usize = 5;

/// Files by the real path of their folder, and name: what is read in its own place.
type Listed = HashSet<(PathBuf, OsString)>;

impl Walk {
    /// Answers links: counts them, or adds what they lead to.
    pub(super) fn answer(&mut self, links: Vec<Link>, pending: &mut Vec<Pending>) {
        let mut roots: HashMap<u32, Option<PathBuf>> = HashMap::new();
        let mut left: HashMap<u32, usize> = HashMap::new();
        let mut listed: Option<Listed> = None;
        let mut promised: HashSet<PathBuf> = HashSet::new();
        for link in links {
            let path = self.path(link.root, &link.below).join(&link.name);
            let root =
                roots.entry(link.root).or_insert_with(|| self.path(link.root, Path::new("")).canonicalize().ok());
            let (Some(root), Ok(target)) = (root.as_ref(), path.canonicalize()) else {
                // leads nowhere, or to itself
                self.found.skipped_links += 1;
                continue;
            };
            match target.strip_prefix(root) {
                Err(_) => self.left_store(&link, &path, &target, left.entry(link.root).or_default()),
                Ok(_) if promised.contains(&target) => self.found.skipped_links += 1,
                Ok(below) if target.is_dir() => {
                    if self.inner_folder(&link, below, &target, pending) {
                        promised.insert(target);
                    }
                }
                Ok(below) => {
                    let listed = listed.get_or_insert_with(|| self.listed());
                    self.inner_file(&link, below, &target, listed);
                }
            }
        }
        let mut more: Vec<_> = left.into_iter().filter(|(_, n)| *n > NAMED).collect();
        more.sort_unstable();
        for (root, n) in more {
            self.note(root, format!("and {} more links that leave the store", n - NAMED));
        }
    }

    /// Counted; named too if it stands where sessions are expected, because those are then missing from the report.
    fn left_store(&mut self, link: &Link, path: &Path, target: &Path, named: &mut usize) {
        self.found.skipped_links += 1;
        self.found.links_left_store += 1;
        let name = link.name.as_encoded_bytes();
        let part =
            link.layout.child(name, self.agents).is_some_and(|layout| layout != Layout::Plain) && target.is_dir();
        if part || name.ends_with(b".jsonl") {
            *named += 1;
            if *named <= NAMED {
                let (path, target) = (path.display(), target.display());
                self.note(link.root, format!("'{path}' is a link that leaves the store, not followed to '{target}'"));
            }
        }
    }

    /// Whether the folder will be read because of this link.
    fn inner_folder(&mut self, link: &Link, below: &Path, target: &Path, pending: &mut Vec<Pending>) -> bool {
        let seen =
            Handle::open_root(target).and_then(|folder| folder.itself()).map(|(id, _)| self.visited.contains(&id));
        let (Some(layout), Ok(false)) = (link.layout.child(link.name.as_encoded_bytes(), self.agents), seen) else {
            self.found.skipped_links += 1;
            return false;
        };
        self.found.followed_links += 1;
        let depth = below.components().count();
        pending.push(Pending { root: link.root, below: below.to_owned(), layout, depth });
        true
    }

    fn inner_file(&mut self, link: &Link, below: &Path, target: &Path, listed: &mut Listed) {
        let (Some(folder), Some(name)) = (target.parent(), target.file_name()) else { return };
        let known = classify::by_name(link.layout, link.name.as_encoded_bytes(), &Names(&[]), false, self.agents);
        if matches!(known, Named::Nothing | Named::Unread) || !listed.insert((folder.to_owned(), name.to_owned())) {
            self.found.skipped_links += 1;
            return;
        }
        let above = below.parent().unwrap_or(Path::new(""));
        let made = self.open(link.root, above).and_then(|handle| {
            let (_, mtime_ms) = handle.itself()?;
            let file = identify::found(link.layout, self.looked_for(), &handle, name, known, &Names(&[]))?;
            // only a look at the name so far: what is no plain file must not be listed
            let plain = file.is_some() && handle.open_file(name).is_ok();
            Ok((mtime_ms, file.filter(|_| plain)))
        });
        match made {
            Ok((mtime_ms, Some(file))) => {
                let folder = self.add_folder(self.path(link.root, above), link.root, link.layout, mtime_ms);
                self.found.followed_links += 1;
                self.found.files.push(FileEntry { folder, ..file });
            }
            _ => self.found.skipped_links += 1,
        }
    }

    fn listed(&self) -> Listed {
        let mut folders: HashMap<u32, Option<PathBuf>> = HashMap::new();
        let mut listed = Listed::new();
        for file in &self.found.files {
            let real = folders.entry(file.folder).or_insert_with(|| self.found.folder(file)?.path.canonicalize().ok());
            if let Some(real) = real {
                listed.insert((real.clone(), file.name.os().into_owned()));
            }
        }
        listed
    }
}
