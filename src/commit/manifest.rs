//! What the journal says about a run and about each file of it. Types only; `journal` reads and writes them.
//!
//! Each file of a run has a manifest of its own, so that a change of state is one small durable write however many
//! files the run has. All bytes that may be no UTF-8 (paths, names and values of extended attributes) are kept exactly.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::content::{Content, Sha};
use super::disk::Stat;
use super::target::{is_ours, nth_name};
use crate::text::hex;

/// The version that this crate writes. One that is higher is listed, never acted upon.
pub const VERSION: u32 = 1;

/// What a run is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunManifest {
    /// Version of this description.
    pub version: u32,
    /// Which sid-audit wrote it.
    pub tool: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// What the run does, in a few words for the list.
    pub text: String,
    /// The run that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
}

/// How far an entry has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Written and synced before anything changes. What a crash left like this, the next start finishes or rolls back.
    Planned,
    /// The repaired file has the name, durably.
    Applied,
    /// It was read back and is what the repair wrote.
    Verified,
    /// The original is back.
    Undone,
}

impl State {
    /// The word in lists.
    pub fn name(self) -> &'static str {
        match self {
            State::Planned => "planned",
            State::Applied => "applied",
            State::Verified => "verified",
            State::Undone => "undone",
        }
    }
}

/// A path as text, and its bytes in hex when they are not UTF-8.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecordedPath {
    /// Lossy text.
    pub text: String,
    /// The bytes, when the text has lost something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

impl From<&OsStr> for RecordedPath {
    fn from(path: &OsStr) -> Self {
        let raw = path.to_str().is_none().then(|| hex(path.as_encoded_bytes()));
        RecordedPath { text: path.to_string_lossy().into_owned(), raw }
    }
}

impl RecordedPath {
    /// The path as it was.
    pub fn to_path(&self) -> PathBuf {
        match self.raw.as_deref().and_then(unhex) {
            Some(bytes) => PathBuf::from(os_string(bytes)),
            None => PathBuf::from(&self.text),
        }
    }
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// An extended attribute of the original.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attribute {
    /// Its name.
    pub name: RecordedPath,
    /// Its value in hex.
    pub value: String,
}

impl Attribute {
    pub(super) fn new(name: &OsStr, value: &[u8]) -> Self {
        Attribute { name: name.into(), value: hex(value) }
    }

    pub(super) fn bytes(&self) -> (OsString, Vec<u8>) {
        (self.name.to_path().into_os_string(), unhex(&self.value).unwrap_or_default())
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes()
        .chunks(2)
        .map(|pair| std::str::from_utf8(pair).ok().and_then(|p| u8::from_str_radix(p, 16).ok()))
        .collect()
}

/// A fragment that left the session, kept as a file of its own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Quarantined {
    /// Physical line in the original, from 1.
    pub line: u64,
    /// First byte in the original.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Hash of the bytes.
    pub sha256: Sha,
    /// The finding for which it left.
    pub code: String,
    /// Name of the file in the entry's folder.
    pub file: String,
}

/// A file of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Its name in the entry's folder.
    pub file: String,
    /// Hash of its bytes.
    pub sha256: Sha,
    /// Its size in bytes.
    pub bytes: u64,
}

/// How far a file that lost its name has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeptState {
    /// The exchange is about to happen, or happened and the process ended.
    Planned,
    /// It has the kept name.
    Kept,
    /// A later run found it unchanged and open nowhere, and took it away.
    Gone,
}

/// A file that had the session's name and lost it to a repaired one. It is watched, and never unlinked in its own run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// Its name: beside the session, or in the entry's folder once an undo moved it there.
    pub name: String,
    /// Its inode.
    pub ino: u64,
    /// How far it has come.
    pub state: KeptState,
    /// How many of its bytes are accounted for: they are in the file that has the name, or the journal leads to them.
    pub bytes: u64,
    /// Hash of those bytes.
    pub sha256: Sha,
    /// What took its name.
    pub successor: Content,
    /// Late lines that the exchange brings over from files kept earlier.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<Take>,
}

/// Late lines of a kept file: after the exchange this much of it is accounted for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Take {
    /// Which of the kept files.
    pub from: usize,
    /// Its accounted bytes from then on.
    pub bytes: u64,
    /// Hash of those bytes.
    pub sha256: Sha,
}

/// An entry: one file of one run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this description.
    pub version: u32,
    /// The session file.
    pub path: RecordedPath,
    /// How far it has come.
    pub state: State,
    /// What a person should know about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The findings that the repair answers.
    pub codes: Vec<String>,
    /// What it does, in a few words for the list.
    pub text: String,
    /// The original's bytes.
    pub before: Content,
    /// The original's state: mode, owner, times.
    pub stat: Stat,
    /// The original's extended attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<Attribute>,
    /// The repaired bytes. What is appended later stands behind them.
    pub after: Content,
    /// The splices that turn the repaired bytes into the original.
    pub reverse: Part,
    /// Name of the copy of the original that shares its blocks, where that was to be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone: Option<String>,
    /// The files that lost their name: first the original, then one for each time that late lines were brought over.
    pub kept: Vec<Kept>,
    /// What left the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantine: Vec<Quarantined>,
    /// Name of the autopsy, when the caller gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autopsy: Option<String>,
    /// The entry that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<EntryId>,
}

impl Manifest {
    /// Names in a manifest are plain names, and those of kept files are ours: one that was tampered with must neither
    /// lead out of its folder nor to a file of somebody else in it.
    pub(super) fn names_are_ours(&self) -> bool {
        let names = [Some(&self.reverse.file), self.clone.as_ref(), self.autopsy.as_ref()];
        let quarantined = self.quarantine.iter().map(|q| &q.file);
        let Some(first) = self.kept.first() else { return false };
        let kept = |(n, kept): (usize, &Kept)| is_ours(&kept.name) && kept.name == nth_name(&first.name, n);
        names.into_iter().flatten().chain(quarantined).all(|name| is_plain(name))
            && self.kept.iter().enumerate().all(kept)
            && self.undoes.as_ref().is_none_or(|id| is_plain(&id.run))
    }
}

pub(super) fn is_plain(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(_)), None)) && !name.contains('\0')
}

/// Run and number of an entry; `20261130T101500.123Z-1a2b3c4d/0001` in lists and on the command line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct EntryId {
    /// The run.
    pub run: String,
    /// Its number in the run, from 1.
    pub number: u32,
}

impl std::fmt::Display for EntryId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{:04}", self.run, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_no_utf8_survives() {
        use std::os::unix::ffi::OsStrExt;
        let odd = OsStr::from_bytes(b"/a/\xff\xfe.jsonl");
        let recorded = RecordedPath::from(odd);
        let text = serde_json::to_string(&recorded).unwrap();
        let read: RecordedPath = serde_json::from_str(&text).unwrap();
        assert_eq!(read.to_path().as_os_str(), odd);
        assert_eq!(RecordedPath::from(OsStr::new("/plain")).raw, None);
    }

    #[test]
    fn names_that_lead_elsewhere_are_seen() {
        assert!(is_plain("0001.reverse"));
        for bad in ["", "..", "a/b", "/etc/passwd", "./a"] {
            assert!(!is_plain(bad), "{bad}");
        }
    }
}
