//! Files that sid-audit writes for its user: reports, generated pages, an original put elsewhere. Never into a store.
//!
//! A report appears whole or not at all: it is written beside its place and renamed. What is no plain file (a device, a
//! FIFO) is written to directly, because renaming over it would put a file in its place. Standard library only: reports
//! are written on every platform.

#![allow(clippy::disallowed_methods, reason = "the one place that writes reports")]

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::content::parent;
use super::failpoint::step;
use super::protect;
use super::refusal::Error;
use super::target::random;
use crate::store::agent::Homes;

/// A file on its way to its name. Dropped before [`Output::finish`], it leaves nothing.
#[derive(Debug)]
pub struct Output {
    file: File,
    /// Where it is written, when that is not its place.
    temp: Option<PathBuf>,
    target: PathBuf,
    new: bool,
}

/// The files of outputs that have not got their name.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what unfinished outputs have written, because the program ends. None can begin while the answer is held.
pub fn abandon() -> MutexGuard<'static, Vec<PathBuf>> {
    let mut temps = unfinished();
    for temp in temps.drain(..) {
        let _ = std::fs::remove_file(temp);
    }
    temps
}

/// Begins a report at `path`, over the one that may be there.
///
/// # Errors
/// [`Error::InsideStore`] when it would lie in one of the stores or in an agent's home, links followed;
/// [`Error::Protected`] when a session or the journal is there; otherwise what the system says.
pub fn create(path: &Path, stores: &[&Path], agents: Homes) -> Result<Output, Error> {
    let trouble = |e| Error::io("write", path, e);
    // Before links are followed: what `/dev/stdout` leads to may have no path.
    let descriptor = ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder));
    if std::fs::metadata(path).is_ok_and(|m| !m.is_dir() && (descriptor || !m.is_file())) {
        if let (true, Ok(target)) = (descriptor, std::fs::canonicalize(path)) {
            protect::allows(path, &target, agents)?;
        }
        // Of a file that the shell has opened, nothing that is in it is written over.
        let mut options = OpenOptions::new();
        options.append(descriptor).write(true);
        let file = step("open output", || options.open(path)).map_err(trouble)?;
        return Ok(Output { file, temp: None, target: path.to_owned(), new: false });
    }
    let target = if std::fs::symlink_metadata(path).is_ok() {
        std::fs::canonicalize(path).map_err(trouble)?
    } else {
        place(path)?
    };
    for store in stores {
        // A store that is a single session file protects its folder.
        let root = std::fs::canonicalize(store).unwrap_or_else(|_| store.to_path_buf());
        let root = if root.is_file() { parent(&root).to_owned() } else { root };
        if target.starts_with(&root) {
            return Err(Error::InsideStore { path: path.to_owned(), root });
        }
    }
    protect::allows(path, &target, agents)?;
    match std::fs::metadata(&target) {
        Ok(meta) if meta.is_dir() => Err(trouble(io::ErrorKind::IsADirectory.into())),
        Ok(meta) => {
            let output = beside(target, false, false)?;
            let permissions = meta.permissions();
            step("set mode", || output.file.set_permissions(permissions.clone())).map_err(trouble)?;
            Ok(output)
        }
        Err(_) => beside(target, false, false),
    }
}

/// Begins a file at `path` that must not exist, readable by this user alone until it is dressed otherwise.
pub(super) fn create_new(path: &Path, agents: Homes) -> Result<Output, Error> {
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    let target = place(path)?;
    protect::allows(path, &target, agents)?;
    beside(target, true, true)
}

/// Writes a report in one go.
///
/// # Errors
/// As [`create`], and what the system says.
pub fn write(path: &Path, stores: &[&Path], agents: Homes, bytes: &[u8]) -> Result<(), Error> {
    let mut output = create(path, stores, agents)?;
    output.write_all(bytes).map_err(|e| Error::io("write", path, e))?;
    output.finish()
}

/// Writes a generated page into a folder that is made where there is none. `name` is a plain file name.
///
/// # Errors
/// What the system says; `InvalidInput` for a name that leads elsewhere.
pub fn write_generated(folder: &Path, name: &str, agents: Homes, bytes: &[u8]) -> Result<(), Error> {
    let path = folder.join(name);
    let mut parts = Path::new(name).components();
    if !matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None)) {
        return Err(Error::io("write", path, io::ErrorKind::InvalidInput.into()));
    }
    step("make folder", || std::fs::create_dir_all(folder)).map_err(|e| Error::io("make", folder, e))?;
    write(&path, &[], agents, bytes)
}

/// The path with the links of its folder followed.
fn place(path: &Path) -> Result<PathBuf, Error> {
    let trouble = |e| Error::io("write", path, e);
    let name = path.file_name().ok_or_else(|| trouble(io::ErrorKind::InvalidInput.into()))?;
    Ok(std::fs::canonicalize(parent(path)).map_err(trouble)?.join(name))
}

fn beside(target: PathBuf, new: bool, private: bool) -> Result<Output, Error> {
    let temp = parent(&target).join(format!(".sid-audit-{:08x}.new", random() & 0xffff_ffff));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let _ = private;
    let mut unfinished = unfinished();
    let file = step("create", || options.open(&temp)).map_err(|e| Error::io("write", &target, e))?;
    unfinished.push(temp.clone());
    Ok(Output { file, temp: Some(temp), target, new })
}

impl Output {
    /// The open file, to set its mode and times.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    /// [`Error::Exists`] when a new file's name was taken meanwhile; otherwise what the system says. Nothing is left.
    pub fn finish(mut self) -> Result<(), Error> {
        let Some(temp) = self.temp.clone() else { return Ok(()) };
        let target = self.target.clone();
        let trouble = |e| Error::io("write", &target, e);
        step("sync", || self.file.sync_all()).map_err(trouble)?;
        if self.new {
            match step("link", || std::fs::hard_link(&temp, &target)) {
                Ok(()) => step("unlink", || std::fs::remove_file(&temp)).map_err(trouble)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(Error::Exists { path: target });
                }
                // No hard links here: hold the name with an empty file and rename over that.
                Err(_) => {
                    step("create", || File::create_new(&target)).map_err(|e| match e.kind() {
                        io::ErrorKind::AlreadyExists => Error::Exists { path: target.clone() },
                        _ => trouble(e),
                    })?;
                    step("rename", || std::fs::rename(&temp, &target)).map_err(trouble)?;
                }
            }
        } else {
            step("rename", || std::fs::rename(&temp, &target)).map_err(trouble)?;
        }
        self.temp = None;
        unfinished().retain(|other| *other != temp);
        #[cfg(unix)]
        step("sync folder", || File::open(parent(&target))?.sync_all()).map_err(trouble)?;
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        step("write", || self.file.write_all(bytes))?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(temp) = &self.temp {
            let _ = std::fs::remove_file(temp);
            unfinished().retain(|other| other != temp);
        }
    }
}
