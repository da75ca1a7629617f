//! A folder held open: what lies in it, and the files below it, each opened by its name from this handle.
//!
//! A path that is checked and then opened again can be exchanged in between; a name below an open folder with links
//! refused cannot leave that folder. What a name may be is decided by `classify`, where to look by `walk`; here is only
//! the system. Elsewhere than on Unix the same calls go by path: links are refused by a look before the open, which a
//! race can cheat, and nothing worse than reading another file of the same user follows from that.

use std::ffi::OsString;

/// What a name in a folder stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EntryKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, whatever it names.
    Link,
    /// FIFO, socket or device: counted, never opened.
    Special,
    /// The folder does not say; ask with a `stat`.
    Unknown,
}

/// A name in a folder.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) kind: EntryKind,
}

/// What is known of a name without opening it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meta {
    pub(crate) kind: EntryKind,
    pub(crate) size: u64,
    pub(crate) mtime_ms: i64,
}

pub(crate) use sys::{FileId, Handle};

#[cfg(unix)]
mod sys {
    use super::{Entry, EntryKind, Meta};
    use crate::store::Source;
    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat};
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Component, Path};

    /// What tells two folders apart, however they were reached.
    pub(crate) type FileId = (u64, u64);

    /// A step on the way down. `O_PATH` needs only the right to pass through, as opening by path does.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const STEP: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    #[derive(Debug)]
    pub(crate) struct Handle(OwnedFd);

    impl Handle {
        /// Opens what a person named: links are followed.
        pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            Ok(Handle(open(path, STEP, Mode::empty())?))
        }

        /// A folder in this one; a link is refused.
        pub(crate) fn child(&self, name: &OsStr) -> io::Result<Self> {
            Ok(Handle(openat(&self.0, name, STEP | OFlags::NOFOLLOW, Mode::empty())?))
        }

        /// A folder further down, no link on the way.
        pub(crate) fn below(self, relative: &Path) -> io::Result<Self> {
            let mut here = self;
            for part in relative.components() {
                match part {
                    Component::CurDir => {}
                    Component::Normal(name) => here = here.child(name)?,
                    _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "leads out of its folder")),
                }
            }
            Ok(here)
        }

        /// What lies in it, up to so many names, in the order of the system; and what stopped the reading.
        pub(crate) fn list(&self, limit: usize) -> (Vec<Entry>, Option<io::Error>) {
            let mut entries = Vec::new();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
            let dir = openat(&self.0, c".", flags, Mode::empty()).and_then(Dir::new);
            let mut dir = match dir {
                Ok(dir) => dir,
                Err(e) => return (entries, Some(e.into())),
            };
            while entries.len() < limit {
                match dir.read() {
                    None => break,
                    Some(Err(e)) => return (entries, Some(e.into())),
                    Some(Ok(entry)) => {
                        let name = entry.file_name().to_bytes();
                        if name != b"." && name != b".." {
                            let name = OsString::from_vec(name.to_vec());
                            entries.push(Entry { name, kind: kind(entry.file_type()) });
                        }
                    }
                }
            }
            (entries, None)
        }

        /// Looks at a name without following it.
        pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Meta> {
            Ok(meta(&statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
        }

        /// Whether there is a folder of that name.
        pub(crate) fn has_folder(&self, name: &str) -> bool {
            self.stat(OsStr::new(name)).is_ok_and(|m| m.kind == EntryKind::Folder)
        }

        /// The folder itself: which one it is, and when a name in it last changed.
        pub(crate) fn itself(&self) -> io::Result<(FileId, i64)> {
            let stat = fstat(&self.0)?;
            Ok((identity(&stat), meta(&stat).mtime_ms))
        }

        /// Opens a plain file in it: no link, no waiting for a peer, no terminal taken over.
        pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<Source> {
            if name.as_bytes().contains(&b'/') {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "a name with a separator"));
            }
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
            Source::from_file(File::from(openat(&self.0, name, flags, Mode::empty())?))
        }
    }

    fn kind(file_type: FileType) -> EntryKind {
        match file_type {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            FileType::Unknown => EntryKind::Unknown,
            _ => EntryKind::Special,
        }
    }

    // the fields of `Stat` have other widths and signs on each system
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless, clippy::useless_conversion)]
    fn meta(stat: &Stat) -> Meta {
        let seconds = (stat.st_mtime as i64).saturating_mul(1000);
        Meta {
            kind: match kind(FileType::from_raw_mode(stat.st_mode as _)) {
                EntryKind::Unknown => EntryKind::Special,
                known => known,
            },
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime_ms: seconds.saturating_add(stat.st_mtime_nsec as i64 / 1_000_000),
        }
    }

    #[allow(clippy::unnecessary_cast)]
    fn identity(stat: &Stat) -> FileId {
        (stat.st_dev as u64, stat.st_ino as u64)
    }
}

#[cfg(not(unix))]
mod sys {
    use super::{Entry, EntryKind, Meta};
    use crate::store::Source;
    use std::ffi::OsStr;
    use std::fs::{FileType, Metadata};
    use std::io;
    use std::path::{Component, Path, PathBuf};

    /// What tells two folders apart, however they were reached.
    pub(crate) type FileId = PathBuf;

    #[derive(Debug)]
    pub(crate) struct Handle(PathBuf);

    impl Handle {
        pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            if !std::fs::metadata(path)?.is_dir() {
                return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
            }
            Ok(Handle(path.to_owned()))
        }

        pub(crate) fn child(&self, name: &OsStr) -> io::Result<Self> {
            let path = self.0.join(name);
            if !std::fs::symlink_metadata(&path)?.is_dir() {
                return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
            }
            Ok(Handle(path))
        }

        pub(crate) fn below(self, relative: &Path) -> io::Result<Self> {
            let mut here = self;
            for part in relative.components() {
                match part {
                    Component::CurDir => {}
                    Component::Normal(name) => here = here.child(name)?,
                    _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "leads out of its folder")),
                }
            }
            Ok(here)
        }

        pub(crate) fn list(&self, limit: usize) -> (Vec<Entry>, Option<io::Error>) {
            let mut entries = Vec::new();
            let dir = match std::fs::read_dir(&self.0) {
                Ok(dir) => dir,
                Err(e) => return (entries, Some(e)),
            };
            for entry in dir.take(limit) {
                match entry {
                    Ok(entry) => entries.push(Entry {
                        kind: entry.file_type().map_or(EntryKind::Unknown, kind),
                        name: entry.file_name(),
                    }),
                    Err(e) => return (entries, Some(e)),
                }
            }
            (entries, None)
        }

        pub(crate) fn stat(&self, name: &OsStr) -> io::Result<Meta> {
            Ok(meta(&std::fs::symlink_metadata(self.0.join(name))?))
        }

        pub(crate) fn has_folder(&self, name: &str) -> bool {
            self.stat(OsStr::new(name)).is_ok_and(|m| m.kind == EntryKind::Folder)
        }

        pub(crate) fn itself(&self) -> io::Result<(FileId, i64)> {
            Ok((self.0.canonicalize()?, meta(&std::fs::metadata(&self.0)?).mtime_ms))
        }

        pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<Source> {
            Source::open(&self.0.join(name))
        }
    }

    fn kind(file_type: FileType) -> EntryKind {
        if file_type.is_file() {
            EntryKind::File
        } else if file_type.is_dir() {
            EntryKind::Folder
        } else if file_type.is_symlink() {
            EntryKind::Link
        } else {
            EntryKind::Special
        }
    }

    fn meta(meta: &Metadata) -> Meta {
        let since = meta.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        Meta {
            kind: kind(meta.file_type()),
            size: meta.len(),
            mtime_ms: since.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX)),
        }
    }
}
