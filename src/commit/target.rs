//! The place of a session file: its folder, open, and its name; and the names that we give to files beside it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use super::content::parent;
use super::disk::{self, Folder, Kind, Stat};
use super::refusal::{Error, Refusal};

/// A session file by its folder and name. Links in the folder's path are followed, one in the name is not.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) folder: Folder,
    pub(super) name: OsString,
}

impl Site {
    /// Opens the folder; refuses one that lies outside of `within`, and a name that leads to no plain file.
    pub(super) fn resolve(path: &Path, within: Option<&Path>) -> Result<Self, Error> {
        let not_plain = || Error::from(Refusal::NotPlainFile { path: path.to_owned() });
        let name = path.file_name().ok_or_else(not_plain)?;
        let canonical = |p: &Path| std::fs::canonicalize(p).map_err(|e| Error::io("find", p, e));
        let folder = canonical(parent(path))?;
        if let Some(root) = within
            && !folder.starts_with(canonical(root)?)
        {
            return Err(Refusal::LinkLeavesStore { path: path.to_owned(), root: root.to_owned() }.into());
        }
        let folder = Folder::open(&folder).map_err(|e| Error::io("open", &folder, e))?;
        let site = Site { folder, name: name.to_owned() };
        match site.stat() {
            Ok(Some(stat)) if stat.kind == Kind::Plain => Ok(site),
            Ok(Some(_)) => Err(not_plain()),
            Ok(None) => Err(Error::io("find", path, io::ErrorKind::NotFound.into())),
            Err(error) => Err(Error::io("look at", path, error)),
        }
    }

    /// The site of a path in the journal, whatever is there now.
    pub(super) fn recorded(path: &Path) -> io::Result<Self> {
        let folder = Folder::open(parent(path))?;
        Ok(Site { folder, name: path.file_name().unwrap_or_default().to_owned() })
    }

    /// The session file.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(&self.name)
    }

    /// A file beside it.
    pub(super) fn beside(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.folder.path().join(name.as_ref())
    }

    /// What the name leads to now.
    pub(super) fn stat(&self) -> io::Result<Option<Stat>> {
        self.folder.stat(&self.name)
    }

    /// The file that has the name now, open for reading, and its state.
    pub(super) fn open(&self) -> Result<(File, Stat), Error> {
        let file = self.folder.open_file(&self.name).map_err(|e| {
            if disk::is_link(&e) {
                Refusal::NotPlainFile { path: self.path() }.into()
            } else {
                Error::Io { doing: "read", path: self.path(), source: e, original: super::refusal::Original::Untouched }
            }
        })?;
        let stat = disk::stat(&file).map_err(|e| Error::io("look at", self.path(), e))?;
        if stat.kind != Kind::Plain {
            return Err(Refusal::NotPlainFile { path: self.path() }.into());
        }
        Ok((file, stat))
    }

    /// A name beside the session that nobody has: hidden, without a suffix that an agent lists, and not beginning with
    /// a session's id. It is the name of the new file until the exchange and of the old one from then on, so that the
    /// exchange alone decides and no second renaming can be cut off.
    pub(super) fn free_name(&self) -> Result<String, Error> {
        loop {
            let name = format!(".sid-audit-{:08x}.kept", random() & 0xffff_ffff);
            let aside = set_aside(&name);
            let taken = |name: &str| self.folder.stat(name).map(|s| s.is_some());
            match taken(&name).and_then(|one| Ok(one || taken(&aside)?)) {
                Ok(false) => return Ok(name),
                Ok(true) => {}
                Err(error) => return Err(Error::io("look at", self.beside(&name), error)),
            }
        }
    }
}

/// The file that has the session's name and is about to lose it: open, and its state when it was opened.
#[derive(Clone, Copy)]
pub(super) struct Old<'a> {
    pub(super) site: &'a Site,
    pub(super) file: &'a File,
    pub(super) stat: Stat,
}

/// The name for the n-th file that loses its name (from 0), given the first one's.
pub(super) fn nth_name(first: &str, n: usize) -> String {
    match (n, first.strip_suffix(".kept")) {
        (0, _) | (_, None) => first.to_owned(),
        (n, Some(stem)) => format!("{stem}.{}.kept", n + 1),
    }
}

/// Whether a name is one that we give, whole: nothing else beside a session is ever ours to take away.
pub(super) fn is_ours(name: &str) -> bool {
    let Some(stem) = name.strip_prefix(".sid-audit-").and_then(|n| n.strip_suffix(".kept")) else { return false };
    let (random, nth) = stem.split_once('.').unwrap_or((stem, "2"));
    let digits =
        |text: &str, hex: bool| text.bytes().all(|b| b.is_ascii_digit() || (hex && (b'a'..=b'f').contains(&b)));
    random.len() == 8 && digits(random, true) && !nth.is_empty() && digits(nth, false)
}

/// Where the new file stands while an exchange is made of links and renamings.
pub(super) fn set_aside(kept: &str) -> String {
    format!("{kept}.new")
}

/// A number that no two runs share: names and journal ids are made from it, never anything inside a session.
pub(super) fn random() -> u64 {
    // The standard library seeds its hash maps from the system's random numbers.
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
