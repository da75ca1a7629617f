//! What a file is, by the folder it lies in and by its name; and which files must be looked into to know.
//!
//! The content itself is read in `sniff`. Nothing here judges a file: a session that its agent cannot load is still a
//! session.

use super::layout::Layout;

/// What a file is to its agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum FileKind {
    /// A session's transcript.
    Main,
    /// sid-code: transcript of a subagent, beside its session.
    Sidechain,
    /// Claude Code: transcript of a subagent.
    Subagent,
    /// Claude Code: `agent-*.meta.json` beside it.
    SubagentMeta,
    /// Claude Code: `journal.jsonl` of subagents, no transcript.
    SubagentJournal,
    /// sid-code: a session in one JSON document (v0, v1, `save()`).
    Whole,
    /// sid-code: `checkpoints/<id>/index.json`.
    CheckpointIndex,
    /// An entry of the registry of live processes.
    Registration,
    /// sid-code: declared reads and edits of a session.
    Intent,
    /// sid-code: summary of a session.
    Summary,
    /// sid-code: work log of a session.
    Progress,
    /// Prompts typed in all sessions.
    History,
    /// Claude Code: a file as it was, for rewind.
    FileBackup,
    /// The agent's cached or authoritative list of sessions (`sessions-index.json`, OpenClaw's `sessions.json`).
    ListIndex,
    /// sid-code: dump of a protocol violation.
    ViolationDump,
    /// OpenClaw: lock of a session.
    Lock,
    /// The agent's settings.
    Settings,
    /// Claude Code: tool output that was too long for the transcript.
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
                | FileKind::Sidechain
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
            FileKind::Sidechain => Some("sidechain"),
            FileKind::Subagent => Some("subagent"),
            FileKind::Whole => Some("legacy"),
            FileKind::CheckpointIndex => Some("index"),
            _ => None,
        }
    }
}

/// What a name says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    /// It is this.
    Is(FileKind),
    /// sid-code's session or sidechain; the first record tells.
    AskSid,
    /// Some agent's session, or none; the records tell.
    AskAny,
    /// Perhaps one of sid-code's JSON documents; its first bytes tell.
    AskJson,
    /// Nothing of a session store.
    Nothing,
}

/// The names of a folder, sorted, so that a copy can be told by its original.
#[derive(Debug)]
pub(crate) struct Names<'a>(pub(crate) &'a [&'a [u8]]);

impl Names<'_> {
    fn has(&self, name: &[u8]) -> bool {
        self.0.binary_search(&name).is_ok()
    }
}

/// What a file of that name is in a folder of that layout.
pub(crate) fn by_name(layout: Layout, name: &[u8], names: &Names<'_>, shallow: bool) -> Named {
    use FileKind::{
        CheckpointIndex, FileBackup, History, Intent, ListIndex, Lock, Main, Other, Progress, Registration, Settings,
        SpilledOutput, Subagent, SubagentJournal, SubagentMeta, Summary, SyncCopy, ViolationDump, Whole,
    };
    let stem = name.strip_suffix(b".jsonl");
    let json = name.strip_suffix(b".json");
    let copy = || copied_from(name).is_some_and(|original| names.has(&original));
    let aside = |kind: Option<FileKind>| match kind {
        Some(kind) => Named::Is(kind),
        None if contains(name, b".jsonl") => Named::Is(Other),
        None => Named::Nothing,
    };
    match layout {
        Layout::SidSessions | Layout::SidProject => match (stem, json) {
            (None, None) => Named::Nothing,
            _ if copy() => Named::Is(SyncCopy),
            (Some(_), _) => Named::AskSid,
            (_, Some(stem)) if is_session_id(stem) => Named::Is(Whole),
            _ => Named::AskJson,
        },
        Layout::SidSummaries if json.is_some() => Named::Is(Summary),
        Layout::SidCheckpoint if name == b"index.json" => Named::Is(CheckpointIndex),
        Layout::SidCheckpoint if json.is_some() && copy() => Named::Is(SyncCopy),
        Layout::SidActive if json.is_some() => Named::Is(Registration),
        Layout::SidIntents if json.is_some() => Named::Is(Intent),
        Layout::SidViolations if json.is_some() => Named::Is(ViolationDump),
        Layout::SidProgress if name.ends_with(b".md") => Named::Is(Progress),
        Layout::SidHome | Layout::ClaudeHome if name == b"history.jsonl" => Named::Is(History),
        Layout::SidHome | Layout::ClaudeHome | Layout::PiHome if name == b"settings.json" => Named::Is(Settings),
        Layout::ClaudeProject => aside(match stem {
            Some(stem) if is_uuid(stem) => Some(Main),
            Some(stem) if is_copy_of_uuid(stem, names) || copy() => Some(SyncCopy),
            Some(stem) if stem.starts_with(b"agent-") => Some(Subagent),
            None if name == b"sessions-index.json" => Some(ListIndex),
            None if is_subagent_meta(name) => Some(SubagentMeta),
            _ => None,
        }),
        Layout::ClaudeSession | Layout::ClaudeSubagents => aside(match stem {
            Some(_) if copy() => Some(SyncCopy),
            Some(stem) if stem.starts_with(b"agent-") && layout == Layout::ClaudeSubagents => Some(Subagent),
            Some(b"journal") => Some(SubagentJournal),
            None if is_subagent_meta(name) => Some(SubagentMeta),
            _ => None,
        }),
        Layout::ClaudeSpilled => Named::Is(SpilledOutput),
        Layout::ClaudeBackup if is_backup(name) => Named::Is(FileBackup),
        Layout::ClaudeRegistry if json.is_some_and(all_digits) => Named::Is(Registration),
        Layout::PiSessions | Layout::PiProject => aside(match stem {
            Some(_) if is_openclaw_sidecar(name) => None,
            Some(_) if copy() => Some(SyncCopy),
            Some(_) => Some(Main),
            None => None,
        }),
        Layout::OpenclawSessions => aside(match stem {
            Some(_) if is_openclaw_sidecar(name) => None,
            Some(_) if copy() => Some(SyncCopy),
            Some(_) => Some(Main),
            None if name == b"sessions.json" => Some(ListIndex),
            None if name.ends_with(b".jsonl.lock") => Some(Lock),
            None => None,
        }),
        Layout::Plain => match (stem, json) {
            (Some(_), _) => Named::AskAny,
            (_, Some(_)) if name == b"sessions-index.json" => Named::Is(ListIndex),
            (_, Some(_)) if is_subagent_meta(name) => Named::Is(SubagentMeta),
            // a source tree has thousands of JSON files: only those that were pointed at or that bear an id are opened
            (_, Some(stem)) if shallow || is_session_id(stem) => Named::AskJson,
            _ if name.ends_with(b".jsonl.lock") => Named::Is(Lock),
            _ => Named::Nothing,
        },
        _ => Named::Nothing,
    }
}

/// Whether a sync tool made it from a file that is still beside it.
pub(crate) fn is_sync_copy(name: &[u8], names: &Names<'_>) -> bool {
    copied_from(name).is_some_and(|original| names.has(&original))
}

/// Whether a name is that of a sidechain, for files whose records do not tell: the id of a session, `-`, an agent's id.
/// Ids of sessions have dashes themselves, so either the session lies beside it or the id has one of the agent's forms.
pub(crate) fn is_sidechain_name(stem: &[u8], names: &Names<'_>) -> bool {
    if is_session_id(stem) {
        return false;
    }
    stem.iter().enumerate().filter(|(_, b)| **b == b'-').any(|(at, _)| {
        let id = &stem[..at];
        at > 0 && (is_timed_id(id) || is_uuid(id) || names.has(&[id, b".jsonl"].concat()))
    })
}

/// An id in one of the forms that the agents give: UUID, sid-code's time and eight digits, its older eight digits.
pub(crate) fn is_session_id(stem: &[u8]) -> bool {
    is_uuid(stem) || is_timed_id(stem) || (stem.len() == 8 && all_hex(stem))
}

/// `YYYYMMDD-HHMMSS-<8 hex>`.
pub(crate) fn is_timed_id(stem: &[u8]) -> bool {
    stem.len() == 24
        && stem[8] == b'-'
        && stem[15] == b'-'
        && all_digits(&stem[..8])
        && all_digits(&stem[9..15])
        && all_hex(&stem[16..])
}

/// 8-4-4-4-12 hex digits, any case, any version: what Claude Code takes for the id of a session.
pub(crate) fn is_uuid(stem: &[u8]) -> bool {
    stem.len() == 36
        && stem.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// OpenClaw keeps much beside a session that ends in `.jsonl` and is none.
pub(crate) fn is_openclaw_sidecar(name: &[u8]) -> bool {
    name.ends_with(b".trajectory.jsonl")
        || [&b".reset."[..], b".deleted.", b".bak-", b".corrupt-", b".checkpoint."].iter().any(|m| contains(name, m))
}

fn is_subagent_meta(name: &[u8]) -> bool {
    name.starts_with(b"agent-") && name.ends_with(b".meta.json")
}

fn is_backup(name: &[u8]) -> bool {
    name.len() > 18 && all_hex(&name[..16]) && &name[16..18] == b"@v" && all_digits(&name[18..])
}

/// In a Claude Code project a session is a UUID and nothing else, so a UUID with something behind it is a copy even
/// when the original is gone. A host name behind a dash (OneDrive) is one only beside its original.
fn is_copy_of_uuid(stem: &[u8], names: &Names<'_>) -> bool {
    let Some((id, rest)) = stem.split_at_checked(36) else { return false };
    is_uuid(id)
        && (copied_from(&[stem, b".jsonl"].concat()).is_some()
            || (rest.first() == Some(&b'-') && names.has(&[id, b".jsonl"].concat())))
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

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}

fn all_digits(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
}

fn all_hex(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "5e550000-0000-4000-8000-000000000001";

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

    #[test]
    fn sidechain_names_need_a_session_or_the_form_of_an_id() {
        let names: [&[u8]; 2] = [b"00000219-a.jsonl", b"00000219.jsonl"];
        let names = Names(&names);
        assert!(is_sidechain_name(b"00000219-a", &names));
        assert!(is_sidechain_name(b"20260301-090000-00000219-task-1", &names));
        assert!(is_sidechain_name(format!("{ID}-task-1").as_bytes(), &names));
        assert!(!is_sidechain_name(b"20260301-090000-00000219", &names));
        assert!(!is_sidechain_name(ID.as_bytes(), &names));
        assert!(!is_sidechain_name(b"some-name", &names));
        assert!(!is_sidechain_name(b"", &names));
    }

    #[test]
    fn a_claude_project_has_uuids_agents_and_copies() {
        let original = format!("{ID}.jsonl");
        let names = [original.as_bytes()];
        let at = |name: String| by_name(Layout::ClaudeProject, name.as_bytes(), &Names(&names), false);
        assert_eq!(at(format!("{ID}.jsonl")), Named::Is(FileKind::Main));
        assert_eq!(at(format!("{}.jsonl", ID.to_uppercase())), Named::Is(FileKind::Main));
        assert_eq!(at("agent-1f.jsonl".into()), Named::Is(FileKind::Subagent));
        assert_eq!(at(format!("{ID} 2.jsonl")), Named::Is(FileKind::SyncCopy));
        assert_eq!(at(format!("{ID}-LAPTOP.jsonl")), Named::Is(FileKind::SyncCopy));
        assert_eq!(at("5e550000-0000-4000-8000-000000000002-LAPTOP.jsonl".into()), Named::Is(FileKind::Other));
        assert_eq!(at("5e550000-0000-4000-8000-000000000002 (1).jsonl".into()), Named::Is(FileKind::SyncCopy));
        assert_eq!(at("notes.jsonl".into()), Named::Is(FileKind::Other));
        assert_eq!(at(".session-aliases".into()), Named::Nothing);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_name(name: Vec<u8>, tail in "( |\\(|\\)|-|[0-9a-f]|copy|\\.jsonl|\\.json|@v|agent-){0,12}") {
            use Layout::{ClaudeBackup, ClaudeProject, ClaudeSubagents, OpenclawSessions, PiProject, Plain, SidProject};
            for name in [&name[..], tail.as_bytes(), &[&name[..], tail.as_bytes()].concat()] {
                for layout in [Plain, SidProject, ClaudeProject, ClaudeSubagents, ClaudeBackup, PiProject, OpenclawSessions] {
                    by_name(layout, name, &Names(&[name]), true);
                }
                is_sidechain_name(name, &Names(&[]));
                is_openclaw_sidecar(name);
            }
        }
    }
}
