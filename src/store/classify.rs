//! What a file is, by the folder it lies in and by its name; and which files must be looked into to know. In a part of a
//! store its agent tells; what sync tools make of names is the same for all.
//!
//! The content itself is read in `sniff`. Nothing here judges a file: a session that its agent cannot load is still a
//! session.

use super::agent::Homes;
use super::layout::Layout;

/// What a file is to its agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum FileKind {
    /// A session's transcript.
    Main,
    /// Transcript of a subagent, beside its session.
    Beside,
    /// Transcript of a subagent, below its session.
    Subagent,
    /// What is said of a subagent beside its transcript.
    SubagentMeta,
    /// A journal of subagents, no transcript.
    SubagentJournal,
    /// A session in one JSON document.
    Whole,
    /// The index of a session's checkpoints.
    CheckpointIndex,
    /// An entry of the registry of live processes.
    Registration,
    /// Declared reads and edits of a session.
    Intent,
    /// Summary of a session.
    Summary,
    /// Work log of a session.
    Progress,
    /// Prompts typed in all sessions.
    History,
    /// A file as it was, for rewind.
    FileBackup,
    /// The agent's cached or authoritative list of sessions.
    ListIndex,
    /// Dump of a protocol violation.
    ViolationDump,
    /// Lock of a session.
    Lock,
    /// The agent's settings.
    Settings,
    /// Tool output that was too long for the transcript.
    SpilledOutput,
    /// A second copy of a session that a sync tool left.
    SyncCopy,
    /// A `.jsonl` that is no session of this store, or a transcript that its agent put aside.
    Other,
    /// A file in which no record is one that an agent writes, and whose place makes no session of it either.
    Foreign,
}

impl FileKind {
    /// Whether it is a transcript or an index: something whose loss must be told.
    pub fn is_evidence(self) -> bool {
        matches!(
            self,
            FileKind::Main
                | FileKind::Beside
                | FileKind::Subagent
                | FileKind::Whole
                | FileKind::CheckpointIndex
                | FileKind::SyncCopy
        )
    }

    /// The word in reports, for what reports have a row for.
    pub fn row(self) -> Option<&'static str> {
        match self {
            FileKind::Main => Some("main"),
            FileKind::Beside => Some("sidechain"),
            FileKind::Subagent => Some("subagent"),
            FileKind::Whole => Some("legacy"),
            FileKind::CheckpointIndex => Some("index"),
            _ => None,
        }
    }
}

/// What a name says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// It is this.
    Is(FileKind),
    /// A session of the folder's agent, or a subagent's transcript beside one; the first record tells.
    AskRecord,
    /// Some agent's session, or none; the records tell.
    AskAny,
    /// Perhaps one of an agent's JSON documents; its first bytes tell.
    AskJson,
    /// It holds sessions in a form that is not read.
    Unread,
    /// Nothing of a session store.
    Nothing,
}

/// The names of a folder, sorted, so that a copy can be told by its original.
#[derive(Debug)]
pub struct Names<'a>(pub(crate) &'a [&'a [u8]]);

impl Names<'_> {
    /// Whether there is a file of this name.
    pub fn has(&self, name: &[u8]) -> bool {
        self.0.binary_search(&name).is_ok()
    }

    /// Whether a sync tool made it from a file that is still beside it.
    pub fn has_original_of(&self, name: &[u8]) -> bool {
        copied_from(name).is_some_and(|original| self.has(&original))
    }
}

/// What a file of that name is in a folder of that layout.
pub(super) fn by_name(layout: Layout, name: &[u8], names: &Names<'_>, shallow: bool, homes: Homes) -> Named {
    match layout {
        Layout::Stdin | Layout::File => Named::Nothing,
        Layout::Of(agent_id, part) => homes.of(agent_id).map_or(Named::Nothing, |home| home.file(part, name, names)),
        Layout::Plain if name.ends_with(b".jsonl") => Named::AskAny,
        Layout::Plain => match (homes.iter().find_map(|home| home.stray_file(name)), name.strip_suffix(b".json")) {
            (Some(kind), _) => Named::Is(kind),
            // a source tree has thousands of JSON files: only those that were pointed at or that bear an id are opened
            (None, Some(stem)) if shallow || homes.is_session_id(stem) => Named::AskJson,
            _ => Named::Nothing,
        },
    }
}

/// What a file is that its agent does not read: perhaps a transcript that it put aside.
pub(crate) fn aside(name: &[u8]) -> Named {
    if contains(name, b".jsonl") { Named::Is(FileKind::Other) } else { Named::Nothing }
}

/// 8-4-4-4-12 hex digits, any case, any version.
pub(crate) fn is_uuid(stem: &[u8]) -> bool {
    stem.len() == 36
        && stem.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The name of the original, if this one has the form that a sync tool or a file manager gives to a second copy:
/// `x 2`, `x (1)`, `x copy`, `x (… conflicted copy …)`, `x.sync-conflict-…`, `x_conflict-…`.
pub(crate) fn copied_from(name: &[u8]) -> Option<Vec<u8>> {
    let dot = name.iter().rposition(|b| *b == b'.')?;
    let (stem, extension) = name.split_at(dot);
    let original = marked_copy(stem).or_else(|| numbered_copy(stem))?;
    if original.is_empty() { None } else { Some([original, extension].concat()) }
}

fn marked_copy(stem: &[u8]) -> Option<&[u8]> {
    for mark in [&b".sync-conflict-"[..], b"_conflict-"] {
        if let Some(at) = memchr::memmem::find(stem, mark) {
            return Some(&stem[..at]);
        }
    }
    let lower = stem.to_ascii_lowercase();
    let open = memchr::memmem::find(&lower, b" (")?;
    let inside = &lower[open..];
    let conflict = contains(inside, b"conflicted copy") || contains(inside, b"case conflict");
    (conflict && lower.ends_with(b")")).then(|| &stem[..open])
}

fn numbered_copy(stem: &[u8]) -> Option<&[u8]> {
    let digits = |tail: &[u8]| (1..=3).contains(&tail.len()) && all_digits(tail);
    if let Some(inner) = stem.strip_suffix(b")") {
        let open = inner.iter().rposition(|b| *b == b'(')?;
        let original = &inner[..open];
        return digits(&inner[open + 1..]).then(|| original.strip_suffix(b" ").unwrap_or(original));
    }
    let space = stem.iter().rposition(|b| *b == b' ')?;
    let (head, tail) = (&stem[..space], &stem[space + 1..]);
    if tail == b"copy" {
        return Some(head);
    }
    digits(tail).then(|| head.strip_suffix(b" copy").unwrap_or(head))
}

pub(crate) fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

pub(crate) fn all_digits(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

pub(crate) fn all_hex(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::HOMES;
    use crate::store::Part;

    #[test]
    fn copies_are_told_by_their_names() {
        for (name, original) in [
            ("x 2.jsonl", Some("x.jsonl")),
            ("x (1).jsonl", Some("x.jsonl")),
            ("x(12).jsonl", Some("x.jsonl")),
            ("x copy.jsonl", Some("x.jsonl")),
            ("x copy 3.jsonl", Some("x.jsonl")),
            ("x (Ada's conflicted copy 2026-03-01).jsonl", Some("x.jsonl")),
            ("x.sync-conflict-20260301-101010-ABCDEFG.jsonl", Some("x.jsonl")),
            ("x_conflict-20260301-101010.jsonl", Some("x.jsonl")),
            ("x.jsonl", None),
            ("2026 notes.jsonl", None),
            (" 2.jsonl", None),
            ("x 2026.jsonl", None),
            ("(1).jsonl", None),
        ] {
            assert_eq!(copied_from(name.as_bytes()).as_deref(), original.map(str::as_bytes), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_name(name: Vec<u8>, tail in "( |\\(|\\)|-|[0-9a-f]|copy|\\.jsonl|\\.json|@v|agent-){0,12}") {
            use Part::{Backups, Home, Project, Registry, Sessions, Subagents};
            let parts = || [Home, Sessions, Project, Subagents, Backups, Registry].into_iter();
            let of = |home: &'static dyn super::super::agent::Home| parts().map(|part| Layout::Of(home.agent_id(), part));
            for name in [&name[..], tail.as_bytes(), &[&name[..], tail.as_bytes()].concat()] {
                for layout in HOMES.iter().flat_map(of).chain([Layout::Plain]) {
                    by_name(layout, name, &Names(&[name]), true, HOMES);
                }
                HOMES.iter().for_each(|home| assert!(!home.has_side_name(b"", &Names(&[name]))));
            }
        }
    }
}
