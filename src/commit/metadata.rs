//! What a file has beside its bytes, carried over to the file that takes its place: owner, mode, extended attributes
//! (access lists are among them), times.
//!
//! Agents sort sessions by mtime and delete by it, so the mtime is part of the session, and a new one is given only when
//! that is asked for. The time of birth cannot be set
//! on any of our platforms and is lost.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::disk::{self, Stat};
use super::manifest::{Attribute, Manifest};
use super::refusal::{Error, Refusal};

/// What a file wears.
#[derive(Clone, Debug)]
pub(super) struct Dress {
    pub(super) stat: Stat,
    pub(super) attributes: Vec<(OsString, Vec<u8>)>,
}

impl Dress {
    /// Of an open file.
    pub(super) fn of(file: &File, stat: Stat) -> io::Result<Self> {
        Ok(Dress { stat, attributes: disk::attributes(file)? })
    }

    /// The same with the time of now: an agent that deletes by it takes the file for a new one.
    pub(super) fn touched(mut self) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.stat.mtime_ns = i128::try_from(now.as_nanos()).unwrap_or(self.stat.mtime_ns);
        self
    }

    /// As the journal has it.
    pub(super) fn recorded(manifest: &Manifest) -> Self {
        Dress { stat: manifest.stat, attributes: manifest.attributes.iter().map(Attribute::bytes).collect() }
    }

    /// Dresses the new file. Owner first (it may clear mode bits), then attributes while we may still write, then mode,
    /// then times, which each of the others would touch.
    ///
    /// What the new file was given by its folder (a default access list) and the old one does not have is taken away.
    /// What the system keeps for itself (labels of a security module, for example) and will not let us set is a warning;
    /// what belongs to the user is a refusal.
    pub(super) fn put_on(&self, file: &File, path: &Path, warnings: &mut Vec<String>) -> Result<(), Error> {
        let trouble = |e| Error::io("set the metadata of", path, e);
        let lost = |what: String| Error::from(Refusal::Metadata { path: path.to_owned(), what });
        let now = disk::stat(file).map_err(trouble)?;
        if (now.uid, now.gid) != (self.stat.uid, self.stat.gid) {
            disk::set_owner(file, self.stat.uid, self.stat.gid).map_err(|e| {
                if disk::read_only(&e) {
                    lost(format!("the owner {}:{}", self.stat.uid, self.stat.gid))
                } else {
                    trouble(e)
                }
            })?;
        }
        let has = disk::attributes(file).map_err(trouble)?;
        let foreign = |name: &OsStr| !self.attributes.iter().any(|(n, _)| n == name);
        for (name, _) in has.iter().filter(|(name, _)| foreign(name) && belongs_to_the_user(name)) {
            disk::remove_attribute(file, name).map_err(trouble)?;
        }
        for (name, value) in self.attributes.iter().filter(|a| !has.contains(a)) {
            if let Err(error) = disk::set_attribute(file, name, value) {
                if !belongs_to_the_user(name) {
                    warnings.push(format!("the extended attribute {name:?} could not be kept: {error}"));
                } else if disk::read_only(&error) || disk::not_supported(&error) {
                    return Err(lost(format!("the extended attribute {name:?}")));
                } else {
                    return Err(trouble(error));
                }
            }
        }
        disk::set_mode(file, self.stat.mode).map_err(trouble)?;
        disk::set_times(file, self.stat.atime_ns, self.stat.mtime_ns).map_err(trouble)
    }
}

fn belongs_to_the_user(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    if cfg!(any(target_os = "linux", target_os = "android")) {
        name.starts_with(b"user.") || name.starts_with(b"system.posix_acl_")
    } else {
        !name.starts_with(b"com.apple.")
    }
}
