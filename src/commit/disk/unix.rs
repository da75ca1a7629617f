//! The calls on Linux, macOS and other unixes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, FileType, Gid, Mode, OFlags, Timestamps, Uid, XattrFlags};
use rustix::fs::{accessat, fchmod, fchown, fstat, futimens, linkat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::super::failpoint::step;
use super::{Kind, Stat};

/// An open folder and the path by which it was opened.
#[derive(Debug)]
pub(in crate::commit) struct Folder {
    file: File,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder by path; links on the way are followed.
    pub(in crate::commit) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder { file: File::from(rustix::fs::open(path, flags, Mode::empty())?), path: path.to_owned() })
    }

    /// Opens a folder in this one, not through a link.
    pub(in crate::commit) fn inside(&self, name: &str) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = File::from(openat(&self.file, name, flags, Mode::empty())?);
        Ok(Folder { file, path: self.path.join(name) })
    }

    /// The path by which it was opened.
    pub(in crate::commit) fn path(&self) -> &Path {
        &self.path
    }

    /// What the name leads to, links not followed; none when it leads nowhere.
    pub(in crate::commit) fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stat>> {
        match statat(&self.file, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(from_rustix(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// What the system says about the folder itself.
    pub(in crate::commit) fn stat_self(&self) -> io::Result<Stat> {
        stat(&self.file)
    }

    /// Opens for reading: no link, no waiting for a peer, and where we may without a trace in the access time.
    pub(in crate::commit) fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        #[cfg(target_os = "linux")]
        match openat(&self.file, name.as_ref(), flags | OFlags::NOATIME, Mode::empty()) {
            Err(Errno::PERM) => {}
            other => return Ok(File::from(other?)),
        }
        Ok(File::from(openat(&self.file, name.as_ref(), flags, Mode::empty())?))
    }

    /// The names in it, in no order.
    pub(in crate::commit) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.file)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Whether names may be made and taken away here. An answer for messages: the calls themselves decide.
    pub(in crate::commit) fn writable(&self) -> io::Result<()> {
        Ok(accessat(&self.file, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?)
    }

    /// A new file that nobody else can read; fails if the name is taken.
    pub(in crate::commit) fn create(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        step("create", || Ok(File::from(openat(&self.file, name.as_ref(), flags, Mode::from_raw_mode(0o600))?)))
    }

    /// A file to lock: for writing, because network file systems lock nothing else, and never emptied.
    pub(in crate::commit) fn open_or_create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        step("open lock", || Ok(File::from(openat(&self.file, name, flags, Mode::from_raw_mode(0o600))?)))
    }

    /// A new folder that nobody else can enter.
    pub(in crate::commit) fn make_folder(&self, name: &str) -> io::Result<()> {
        step("make folder", || Ok(mkdirat(&self.file, name, Mode::from_raw_mode(0o700))?))
    }

    /// Two names change places in one step that every reader sees whole.
    pub(in crate::commit) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        step("exchange", || exchange_names(&self.file, one, other))
    }

    /// Gives a file another name, in this folder or in `folder`; what had that name loses it.
    pub(in crate::commit) fn rename(
        &self,
        from: impl AsRef<OsStr>,
        folder: &Folder,
        to: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        step("rename", || Ok(renameat(&self.file, from.as_ref(), &folder.file, to.as_ref())?))
    }

    /// A second name for a file; fails if it is taken.
    pub(in crate::commit) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        step("link", || Ok(linkat(&self.file, from, &self.file, to, AtFlags::empty())?))
    }

    /// Takes a name away.
    pub(in crate::commit) fn unlink(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        step("unlink", || Ok(unlinkat(&self.file, name.as_ref(), AtFlags::empty())?))
    }

    /// Takes an empty folder away.
    pub(in crate::commit) fn remove_folder(&self, name: &str) -> io::Result<()> {
        step("remove folder", || Ok(unlinkat(&self.file, name, AtFlags::REMOVEDIR)?))
    }

    /// Makes the names durable. A file system that knows no such thing (`EINVAL`) has nothing to fail at.
    pub(in crate::commit) fn sync(&self) -> io::Result<()> {
        step("sync folder", || match sync_to_disk(&self.file) {
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
            other => other,
        })
    }

    /// The folder's permission bits.
    pub(in crate::commit) fn set_mode(&self, mode: u32) -> io::Result<()> {
        set_mode(&self.file, mode)
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn exchange_names(folder: &File, one: &OsStr, other: &OsStr) -> io::Result<()> {
    Ok(rustix::fs::renameat_with(folder, one, folder, other, rustix::fs::RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn exchange_names(_folder: &File, _one: &OsStr, _other: &OsStr) -> io::Result<()> {
    Err(Errno::NOSYS.into())
}

/// Whether a call failed because there is no such thing here, not because of what it was asked.
pub(in crate::commit) fn not_supported(error: &io::Error) -> bool {
    let known = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP];
    error.kind() == io::ErrorKind::Unsupported || known.iter().any(|e| error.raw_os_error() == Some(e.raw_os_error()))
}

/// Whether an error says that there is no room: disk full, quota used up, file too large for the file system.
pub(in crate::commit) fn no_room(error: &io::Error) -> bool {
    let known = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG];
    known.iter().any(|e| error.raw_os_error() == Some(e.raw_os_error()))
}

/// Whether an error says that we may not write here.
pub(in crate::commit) fn read_only(error: &io::Error) -> bool {
    let known = [Errno::ACCESS, Errno::PERM, Errno::ROFS];
    known.iter().any(|e| error.raw_os_error() == Some(e.raw_os_error()))
}

/// Whether an error says that the name is a link that was not to be followed.
pub(in crate::commit) fn is_link(error: &io::Error) -> bool {
    // FreeBSD answers EMLINK, NetBSD EFTYPE; the stat that follows tells.
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
        || error.raw_os_error() == Some(Errno::MLINK.raw_os_error())
}

/// The user as whom we act.
pub(in crate::commit) fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// What the system says about an open file.
pub(in crate::commit) fn stat(file: &File) -> io::Result<Stat> {
    Ok(from_rustix(&fstat(file)?))
}

#[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "the types differ between platforms")]
fn from_rustix(stat: &rustix::fs::Stat) -> Stat {
    let ns = |s, n| s * 1_000_000_000 + n;
    Stat {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::Plain,
            FileType::Symlink => Kind::Link,
            FileType::Directory => Kind::Folder,
            _ => Kind::Other,
        },
        dev: stat.st_dev as u64,
        ino: stat.st_ino as u64,
        len: u64::try_from(stat.st_size).unwrap_or(0),
        mode: u32::from(Mode::from_raw_mode(stat.st_mode).as_raw_mode()) & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        links: u64::from(stat.st_nlink),
        atime_ns: ns(i128::from(stat.st_atime), i128::from(stat.st_atime_nsec)),
        mtime_ns: ns(i128::from(stat.st_mtime), i128::from(stat.st_mtime_nsec)),
        ctime_ns: ns(i128::from(stat.st_ctime), i128::from(stat.st_ctime_nsec)),
    }
}

/// Reads by position, again when interrupted.
pub(in crate::commit) fn read_at(file: &File, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read_at(buf, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Writes all of it behind what was written.
pub(in crate::commit) fn write(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    step("write", || file.write_all(bytes))
}

/// Makes bytes and metadata durable.
pub(in crate::commit) fn sync(file: &File) -> io::Result<()> {
    step("sync", || sync_to_disk(file))
}

#[cfg(not(target_vendor = "apple"))]
fn sync_to_disk(file: &File) -> io::Result<()> {
    file.sync_all()
}

/// `sync_all` asks the drive to empty its cache (`F_FULLFSYNC`), which network volumes do not know.
#[cfg(target_vendor = "apple")]
fn sync_to_disk(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if not_supported(&error) => Ok(rustix::fs::fsync(file)?),
        other => other,
    }
}

/// Asks the system to forget what it holds of a file, so that the next read comes from the disk. Advice only.
pub(in crate::commit) fn forget_cached(file: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// Makes `copy` share the blocks of `original`; false where that is not to be had.
pub(in crate::commit) fn share_blocks(copy: &File, original: &File) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    return step("clone", || match rustix::fs::ioctl_ficlone(copy, original) {
        Ok(()) => Ok(true),
        Err(error) if no_room(&error.into()) || error == Errno::IO => Err(error.into()),
        Err(_) => Ok(false),
    });
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (copy, original);
        Ok(false)
    }
}

/// Permission bits.
pub(in crate::commit) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let mode = Mode::from_raw_mode(rustix::fs::RawMode::try_from(mode).unwrap_or(0o600));
    step("set mode", || Ok(fchmod(file, mode)?))
}

/// Owner and group.
pub(in crate::commit) fn set_owner(file: &File, uid: u32, gid: u32) -> io::Result<()> {
    step("set owner", || Ok(fchown(file, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?))
}

/// Times of last access and last change, in nanoseconds since 1970.
pub(in crate::commit) fn set_times(file: &File, atime_ns: i128, mtime_ns: i128) -> io::Result<()> {
    let timespec = |ns: i128| rustix::fs::Timespec {
        tv_sec: i64::try_from(ns.div_euclid(1_000_000_000)).unwrap_or_default(),
        tv_nsec: i64::try_from(ns.rem_euclid(1_000_000_000)).unwrap_or_default(),
    };
    let times = Timestamps { last_access: timespec(atime_ns), last_modification: timespec(mtime_ns) };
    step("set times", || Ok(futimens(file, &times)?))
}

/// Name and value of every extended attribute that may be read, in the order of their names.
pub(in crate::commit) fn attributes(file: &File) -> io::Result<Vec<(OsString, Vec<u8>)>> {
    let mut found = Vec::new();
    let list = match until_it_fits(|buf| rustix::fs::flistxattr(file, buf)) {
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(found),
        other => other?,
    };
    for name in list.split(|b| *b == 0).filter(|name| !name.is_empty()) {
        let name = OsStr::from_bytes(name);
        match until_it_fits(|buf| rustix::fs::fgetxattr(file, name, buf)) {
            Ok(value) => found.push((name.to_owned(), value)),
            // Gone meanwhile, or not ours to read: then it is not ours to carry over either.
            Err(Errno::NODATA | Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    found.sort();
    Ok(found)
}

fn until_it_fits(mut call: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buf = vec![0; 1024];
    loop {
        match call(&mut buf) {
            Ok(n) => {
                buf.truncate(n);
                return Ok(buf);
            }
            // The kernel's own limit is 64 KiB; a network file system may have more.
            Err(Errno::RANGE) if buf.len() < 16 * 1024 * 1024 => buf.resize(buf.len() * 4, 0),
            Err(error) => return Err(error),
        }
    }
}

/// Sets one extended attribute.
pub(in crate::commit) fn set_attribute(file: &File, name: &OsStr, value: &[u8]) -> io::Result<()> {
    step("set attribute", || Ok(rustix::fs::fsetxattr(file, name, value, XattrFlags::empty())?))
}

/// Takes one extended attribute away.
pub(in crate::commit) fn remove_attribute(file: &File, name: &OsStr) -> io::Result<()> {
    step("remove attribute", || Ok(rustix::fs::fremovexattr(file, name)?))
}
