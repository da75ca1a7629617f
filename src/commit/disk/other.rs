//! Where `repair` does not apply (it plans, and refuses with exit status 3): the same functions, each saying so.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::Stat;

fn nowhere<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "not supported on this platform"))
}

/// An open folder and the path by which it was opened.
#[derive(Debug)]
pub(in crate::commit) struct Folder {
    path: PathBuf,
}

#[rustfmt::skip]
impl Folder {
    pub(in crate::commit) fn open(_path: &Path) -> io::Result<Self> { nowhere() }
    pub(in crate::commit) fn inside(&self, _name: &str) -> io::Result<Self> { nowhere() }
    pub(in crate::commit) fn path(&self) -> &Path { &self.path }
    pub(in crate::commit) fn stat(&self, _name: impl AsRef<OsStr>) -> io::Result<Option<Stat>> { nowhere() }
    pub(in crate::commit) fn stat_self(&self) -> io::Result<Stat> { nowhere() }
    pub(in crate::commit) fn open_file(&self, _name: impl AsRef<OsStr>) -> io::Result<File> { nowhere() }
    pub(in crate::commit) fn names(&self) -> io::Result<Vec<OsString>> { nowhere() }
    pub(in crate::commit) fn writable(&self) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn create(&self, _name: impl AsRef<OsStr>) -> io::Result<File> { nowhere() }
    pub(in crate::commit) fn open_or_create(&self, _name: &str) -> io::Result<File> { nowhere() }
    pub(in crate::commit) fn make_folder(&self, _name: &str) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn rename(&self, _from: impl AsRef<OsStr>, _folder: &Folder, _to: impl AsRef<OsStr>) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn link(&self, _from: &OsStr, _to: &OsStr) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn unlink(&self, _name: impl AsRef<OsStr>) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn remove_folder(&self, _name: &str) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn sync(&self) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn set_mode(&self, _mode: u32) -> io::Result<()> { nowhere() }
}

#[rustfmt::skip]
mod calls {
    use super::*;
    pub(in crate::commit) fn not_supported(_error: &io::Error) -> bool { false }
    pub(in crate::commit) fn no_room(error: &io::Error) -> bool { error.kind() == io::ErrorKind::StorageFull }
    pub(in crate::commit) fn read_only(error: &io::Error) -> bool { error.kind() == io::ErrorKind::PermissionDenied }
    pub(in crate::commit) fn is_link(_error: &io::Error) -> bool { false }
    pub(in crate::commit) fn effective_user() -> u32 { 0 }
    pub(in crate::commit) fn stat(_file: &File) -> io::Result<Stat> { nowhere() }
    pub(in crate::commit) fn read_at(_file: &File, _offset: u64, _buf: &mut [u8]) -> io::Result<usize> { nowhere() }
    pub(in crate::commit) fn write(_file: &File, _bytes: &[u8]) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn sync(_file: &File) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn forget_cached(_file: &File) {}
    pub(in crate::commit) fn share_blocks(_copy: &File, _original: &File) -> io::Result<bool> { nowhere() }
    pub(in crate::commit) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn set_owner(_file: &File, _uid: u32, _gid: u32) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn set_times(_file: &File, _atime_ns: i128, _mtime_ns: i128) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn attributes(_file: &File) -> io::Result<Vec<(OsString, Vec<u8>)>> { nowhere() }
    pub(in crate::commit) fn set_attribute(_file: &File, _name: &OsStr, _value: &[u8]) -> io::Result<()> { nowhere() }
    pub(in crate::commit) fn remove_attribute(_file: &File, _name: &OsStr) -> io::Result<()> { nowhere() }
}
pub(in crate::commit) use calls::*;
