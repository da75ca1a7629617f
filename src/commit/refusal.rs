//! Why nothing was written, or what stands where when something failed half way.
//!
//! A refusal is lawful: the session is left as it was, exit status 3. An error is trouble with the disk, the journal or
//! with ourselves. Both carry the fact in their message and what to do in [`Error::hint`]. Paths are quoted with their
//! control characters escaped, because they come out of a store.

use std::io;
use std::path::PathBuf;

use super::splice::SpliceError;

/// What makes `commit` leave a file alone.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Another process has it open.
    #[error("{path:?} is open in another process ({})", numbers(.pids))]
    InUse {
        /// The session file.
        path: PathBuf,
        /// The processes.
        pids: Vec<u32>,
    },
    /// It is not in the state from which the repair was planned, or in which it was recorded.
    #[error("{path:?} has changed: {how}")]
    Changed {
        /// The session file.
        path: PathBuf,
        /// In which way.
        how: &'static str,
    },
    /// It is not what the repair that is to be undone has left.
    #[error("{path:?} is not as the repair left it: {how}")]
    NotAsRepaired {
        /// The session file.
        path: PathBuf,
        /// In which way.
        how: &'static str,
    },
    /// Bytes were appended since the repair that is to be undone, and the caller did not agree to carry them over.
    #[error("{path:?} has {bytes} bytes that were appended since the repair")]
    Appended {
        /// The session file.
        path: PathBuf,
        /// How many.
        bytes: u64,
    },
    /// A link, a folder, a device.
    #[error("{path:?} is not a plain file")]
    NotPlainFile {
        /// What was named.
        path: PathBuf,
    },
    /// Its folder lies outside of the store.
    #[error("{path:?} leads out of the store {root:?}")]
    LinkLeavesStore {
        /// What was named.
        path: PathBuf,
        /// The store.
        root: PathBuf,
    },
    /// Another repair is at work.
    #[error("another repair holds {lock:?}")]
    Busy {
        /// The lock file.
        lock: PathBuf,
    },
    /// The disk is full, or a quota used up.
    #[error("there is no room to write below {folder:?}")]
    NoRoom {
        /// Where it was needed.
        folder: PathBuf,
    },
    /// Neither exchange of names nor hard links, or not a unix.
    #[error("files cannot be replaced safely {}", on(.folder.as_ref()))]
    Platform {
        /// The folder, when it is the file system that cannot.
        folder: Option<PathBuf>,
    },
    /// The result would not have been what was announced.
    #[error("the repaired {path:?} did not pass its proof: {}", .found.join("; "))]
    ProofFailed {
        /// The session file.
        path: PathBuf,
        /// What the proof found.
        found: Vec<String>,
    },
    /// We may not make files there.
    #[error("the folder {folder:?} cannot be written to")]
    ReadOnly {
        /// The folder.
        folder: PathBuf,
    },
    /// The new file could not be given what the old one has.
    #[error("{what} of {path:?} could not be kept")]
    Metadata {
        /// The session file.
        path: PathBuf,
        /// What is at stake: the owner, an extended attribute.
        what: String,
    },
}

fn numbers(pids: &[u32]) -> String {
    let list: Vec<String> = pids.iter().map(u32::to_string).collect();
    format!("pid {}", list.join(", "))
}

fn on(folder: Option<&PathBuf>) -> String {
    match folder {
        Some(folder) => format!("in {folder:?}: its file system knows neither an exchange of names nor hard links"),
        None => "on this platform".to_owned(),
    }
}

/// Where the original is after something failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Original {
    /// At its name, never moved.
    Untouched,
    /// At its name again, after the repaired file had it for a moment. That file is kept; it may hold what a writer
    /// appended in that moment.
    Back {
        /// The repaired file.
        repaired: PathBuf,
    },
    /// Beside it, whole; the repaired file has its name. The next run finishes or rolls back.
    Beside {
        /// The original.
        kept: PathBuf,
    },
}

/// Why a file was not replaced, or an entry not undone.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Lawfully left alone: exit status 3.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The disk, or whatever is behind it.
    #[error("could not {doing} {path:?}: {source}; {}", standing_of(.original))]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
        /// Where the original is.
        original: Original,
    },
    /// The plan's splices do not fit the file: a defect of the planner.
    #[error("the plan does not fit {path:?}: {source}")]
    Plan {
        /// The session file.
        path: PathBuf,
        /// In which way.
        source: SpliceError,
    },
    /// The way back does not lead to the original: a defect of ours, found before anything was written.
    #[error("the way back from the repaired {path:?} does not lead to its original; nothing was written")]
    NoWayBack {
        /// The session file.
        path: PathBuf,
    },
    /// The splices change nothing.
    #[error("the plan changes nothing in {path:?}")]
    NoChange {
        /// The session file.
        path: PathBuf,
    },
    /// The journal has no such run, or not what was asked of it.
    #[error("the journal entry {id:?} {why}")]
    Journal {
        /// Run, or run and entry.
        id: String,
        /// What is wrong with it.
        why: String,
    },
    /// A report would have been written into a store.
    #[error("{path:?} lies inside the store {root:?}")]
    InsideStore {
        /// The target.
        path: PathBuf,
        /// The store.
        root: PathBuf,
    },
    /// A report would have taken the place of something that is not made anew.
    #[error("{path:?} {what}: nothing is written there")]
    Protected {
        /// The target.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Something is there already and is never overwritten.
    #[error("{path:?} exists already")]
    Exists {
        /// The target.
        path: PathBuf,
    },
}

fn standing_of(original: &Original) -> String {
    match original {
        Original::Untouched => "the original is untouched".to_owned(),
        Original::Back { repaired } => {
            format!("the original is back at its name, the repaired file stays in {repaired:?}")
        }
        Original::Beside { kept } => format!("the original stays whole in {kept:?}"),
    }
}

impl Error {
    /// Whether the caller exits with status 3 (refused) rather than 2 (could not).
    pub fn is_refusal(&self) -> bool {
        matches!(self, Error::Refused(_))
    }

    /// What to do about it, for the `hint:` line.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Refused(Refusal::InUse { .. }) => "close the agent that has the session open, then repair again",
            Error::Refused(Refusal::Changed { .. }) => "repair again: the plan is made anew from what is there now",
            Error::Refused(Refusal::Appended { .. }) => {
                "agree to carry the appended lines over, or write the original elsewhere with `--to FILE`"
            }
            Error::Refused(Refusal::NotAsRepaired { .. }) => {
                "`repair --undo ID --to FILE` writes the original elsewhere; of a session that was moved, name the new \
                 place: `repair --undo ID PATH`"
            }
            Error::Refused(Refusal::NotPlainFile { .. }) => "name the file that the link leads to",
            Error::Refused(Refusal::LinkLeavesStore { .. }) => "name the store that the link leads to",
            Error::Refused(Refusal::Busy { .. }) => "wait until the other repair has ended",
            Error::Refused(Refusal::NoRoom { .. }) => {
                "free some space there (a repair needs room for a second copy of the session), or let `repair --prune` \
                 make the journal smaller"
            }
            Error::Refused(Refusal::Platform { .. }) => {
                "copy the session to a local disk on Linux or macOS and repair the copy"
            }
            Error::Refused(Refusal::ProofFailed { .. }) => "nothing was written; `--dry-run` shows the plan",
            Error::Refused(Refusal::ReadOnly { .. }) => {
                "make the folder writable for this user, or copy the session elsewhere and repair the copy"
            }
            Error::Refused(Refusal::Metadata { .. }) => "run as the user who owns the session file",
            Error::Io { original: Original::Beside { .. }, .. } => {
                "check the disk, then run `repair` again: it finishes or rolls back what is open"
            }
            Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => return None,
            Error::Io { .. } => {
                "check the disk and its cables before anything is written to it again, then repair again"
            }
            Error::Journal { .. } => "`repair --list` shows the journal",
            Error::InsideStore { .. } => "write the file somewhere outside of the agent's folders",
            Error::Protected { .. } => "name another file",
            Error::Exists { .. } => "name a file that does not exist yet",
            Error::Plan { .. } | Error::NoWayBack { .. } | Error::NoChange { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// An error of the system, sorted: no room and no right to write are refusals, everything else is trouble.
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        let path = path.into();
        let folder = || super::content::parent(&path).to_owned();
        if super::disk::no_room(&source) {
            Refusal::NoRoom { folder: folder() }.into()
        } else if super::disk::read_only(&source) {
            Refusal::ReadOnly { folder: folder() }.into()
        } else {
            Error::Io { doing, path, source, original: Original::Untouched }
        }
    }
}
