//! The calls of the operating system that the room is built from: thin, named by what they are for, and each that
//! changes something behind `failpoint`.
//!
//! Everything happens below an open folder, by name: a folder that is renamed or replaced while we work cannot send a
//! write elsewhere. What is done in which order, and what a failure means, is decided by the callers.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(super) use other::*;
#[cfg(unix)]
pub(super) use unix::*;

use serde::{Deserialize, Serialize};

/// What a name leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// A plain file.
    #[default]
    Plain,
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
    /// A device, a FIFO, a socket.
    Other,
}

/// What the system says about a file. Times are nanoseconds since 1970, `mode` is the permission bits alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Stat {
    /// Not recorded: the journal holds plain files only.
    #[serde(skip)]
    pub kind: Kind,
    /// The device; not stable over a restart of the machine.
    pub dev: u64,
    /// The inode.
    pub ino: u64,
    /// Bytes.
    pub len: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Hard links.
    pub links: u64,
    /// Last access.
    pub atime_ns: i128,
    /// Last change of the bytes.
    pub mtime_ns: i128,
    /// Last change of bytes, mode, owner, name.
    pub ctime_ns: i128,
}

impl Stat {
    /// Whether both are the same file.
    pub(super) fn same_file(&self, other: &Stat) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    /// Whether nothing that a writer leaves behind has changed.
    pub(super) fn same_state(&self, other: &Stat) -> bool {
        self.same_file(other) && (self.len, self.mtime_ns, self.ctime_ns) == (other.len, other.mtime_ns, other.ctime_ns)
    }
}
