//! What the folders and files of sid-code's home are.

use crate::store::{FileKind, Named, Names, Part, all_digits, all_hex, is_uuid};

/// What a folder of that name in this part of the home is.
pub(super) fn folder(within: Part, name: &[u8]) -> Option<Part> {
    Some(match (within, name) {
        (Part::Home, b"sessions") => Part::Sessions,
        (Part::Home, b"checkpoints") => Part::CheckpointFolders,
        (Part::Home, b"active-sessions") => Part::Registry,
        (Part::Home, b"file-intents") => Part::Intents,
        (Part::Home, b"progress") => Part::Progress,
        (Part::Home, b"protocol-violations") => Part::Dumps,
        (Part::Sessions | Part::Project, b"summaries") => Part::Summaries,
        // `sessions/<projectKey>/`, `sessions/_legacy/`
        (Part::Sessions, _) => Part::Project,
        (Part::CheckpointFolders, _) => Part::Checkpoints,
        _ => return None,
    })
}

/// What a file of that name in this part of the home is.
pub(super) fn file(within: Part, name: &[u8], names: &Names<'_>) -> Named {
    let (lines, json) = (name.ends_with(b".jsonl"), name.strip_suffix(b".json"));
    let kind = match within {
        // `.jsonl` lay directly in `sessions/` before 2026-07
        Part::Sessions | Part::Project => {
            return match json {
                None if !lines => Named::Nothing,
                _ if names.has_original_of(name) => Named::Is(FileKind::SyncCopy),
                None => Named::AskRecord,
                Some(stem) if is_session_id(stem) => Named::Is(FileKind::Whole),
                Some(_) => Named::AskJson,
            };
        }
        Part::Summaries if json.is_some() => FileKind::Summary,
        Part::Checkpoints if name == b"index.json" => FileKind::CheckpointIndex,
        Part::Checkpoints if json.is_some() && names.has_original_of(name) => FileKind::SyncCopy,
        Part::Registry if json.is_some() => FileKind::Registration,
        Part::Intents if json.is_some() => FileKind::Intent,
        Part::Dumps if json.is_some() => FileKind::ViolationDump,
        Part::Progress if name.ends_with(b".md") => FileKind::Progress,
        Part::Home if name == b"history.jsonl" => FileKind::History,
        Part::Home if name == b"settings.json" => FileKind::Settings,
        _ => return Named::Nothing,
    };
    Named::Is(kind)
}

/// UUID, time and eight digits, or the older eight digits alone.
pub(super) fn is_session_id(stem: &[u8]) -> bool {
    is_uuid(stem) || is_timed_id(stem) || (stem.len() == 8 && all_hex(stem))
}

/// `YYYYMMDD-HHMMSS-<8 hex>`.
fn is_timed_id(stem: &[u8]) -> bool {
    stem.len() == 24
        && stem[8] == b'-'
        && stem[15] == b'-'
        && all_digits(&stem[..8])
        && all_digits(&stem[9..15])
        && all_hex(&stem[16..])
}

/// Whether a file's name begins with a time, as sessions and what is beside them has it.
pub(super) fn is_name_by_time(name: &[u8]) -> bool {
    if let Some(stem) = name.strip_suffix(b".json") {
        return is_timed_id(stem);
    }
    let id = name.strip_suffix(b".jsonl").and_then(|stem| stem.split_at_checked(24));
    id.is_some_and(|(id, rest)| is_timed_id(id) && matches!(rest, [] | [b'-', ..]))
}

/// Whether a name is that of a sidechain: the id of a session, `-`, an agent's id. Ids of sessions have dashes themselves,
/// so either the session lies beside it or the id has one of the forms.
pub(super) fn has_side_name(stem: &[u8], names: &Names<'_>) -> bool {
    if is_session_id(stem) {
        return false;
    }
    stem.iter().enumerate().filter(|(_, b)| **b == b'-').any(|(at, _)| {
        let id = &stem[..at];
        at > 0 && (is_timed_id(id) || is_uuid(id) || names.has(&[id, b".jsonl"].concat()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "5e550000-0000-4000-8000-000000000001";

    #[test]
    fn sidechain_names_need_a_session_or_the_form_of_an_id() {
        let names: [&[u8]; 2] = [b"00000219-a.jsonl", b"00000219.jsonl"];
        let names = Names(&names);
        assert!(has_side_name(b"00000219-a", &names));
        assert!(has_side_name(b"20260301-090000-00000219-task-1", &names));
        assert!(has_side_name(format!("{ID}-task-1").as_bytes(), &names));
        assert!(!has_side_name(b"20260301-090000-00000219", &names));
        assert!(!has_side_name(ID.as_bytes(), &names));
        assert!(!has_side_name(b"some-name", &names));
        assert!(!has_side_name(b"", &names));
    }
}
