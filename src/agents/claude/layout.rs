//! What the folders and files of Claude Code's home are.

use crate::store::{FileKind, Named, Names, Part, all_digits, all_hex, aside, copied_from, is_uuid};

/// What a folder of that name in this part of the home is.
pub(super) fn folder(within: Part, name: &[u8]) -> Option<Part> {
    Some(match (within, name) {
        (Part::Home, b"projects") => Part::Projects,
        (Part::Home, b"file-history") => Part::BackupFolders,
        (Part::Home, b"sessions") => Part::Registry,
        // `projects/<slug>/`
        (Part::Projects, _) => Part::Project,
        (Part::Project, b"memory") => return None,
        // `projects/<slug>/<session>/`
        (Part::Project, _) => Part::Session,
        (Part::Session, b"subagents") | (Part::Subagents, _) => Part::Subagents,
        (Part::Session, b"tool-results") => Part::Spilled,
        // `file-history/<session>/`
        (Part::BackupFolders, _) => Part::Backups,
        _ => return None,
    })
}

/// What a file of that name in this part of the home is.
pub(super) fn file(within: Part, name: &[u8], names: &Names<'_>) -> Named {
    let stem = name.strip_suffix(b".jsonl");
    let kind = match (within, stem) {
        (Part::Home, _) if name == b"history.jsonl" => FileKind::History,
        (Part::Home, _) if name == b"settings.json" => FileKind::Settings,
        (Part::Spilled, _) => FileKind::SpilledOutput,
        (Part::Backups, _) if is_backup(name) => FileKind::FileBackup,
        (Part::Registry, _) if name.strip_suffix(b".json").is_some_and(all_digits) => FileKind::Registration,
        (Part::Project, Some(stem)) if is_uuid(stem) => FileKind::Main,
        (Part::Project, Some(stem)) if is_copy_of_uuid(stem, names) => FileKind::SyncCopy,
        (Part::Project | Part::Session | Part::Subagents, Some(_)) if names.has_original_of(name) => FileKind::SyncCopy,
        (Part::Project | Part::Subagents, Some(stem)) if stem.starts_with(b"agent-") => FileKind::Subagent,
        (Part::Session | Part::Subagents, Some(b"journal")) => FileKind::SubagentJournal,
        (Part::Project, None) if name == b"sessions-index.json" => FileKind::ListIndex,
        (Part::Project | Part::Session | Part::Subagents, None) if is_subagent_meta(name) => FileKind::SubagentMeta,
        (Part::Project | Part::Session | Part::Subagents, _) => return aside(name),
        _ => return Named::Nothing,
    };
    Named::Is(kind)
}

/// Every character of a path outside `[A-Za-z0-9]` becomes a dash.
pub(super) fn has_slug_form(name: &[u8]) -> bool {
    name.contains(&b'-') && name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'-')
}

/// Whether a project's folder has files of such names.
pub(super) fn is_project_file(name: &[u8]) -> bool {
    match name.strip_suffix(b".jsonl") {
        Some(stem) => is_uuid(stem) || stem.starts_with(b"agent-"),
        None => name == b"sessions-index.json",
    }
}

/// `agent-*.meta.json` beside a subagent's transcript.
pub(super) fn is_subagent_meta(name: &[u8]) -> bool {
    name.starts_with(b"agent-") && name.ends_with(b".meta.json")
}

fn is_backup(name: &[u8]) -> bool {
    name.len() > 18 && all_hex(&name[..16]) && &name[16..18] == b"@v" && all_digits(&name[18..])
}

/// In a project a session is a UUID and nothing else, so a UUID with something behind it is a copy even when the original
/// is gone. A host name behind a dash (OneDrive) is one only beside its original.
fn is_copy_of_uuid(stem: &[u8], names: &Names<'_>) -> bool {
    let Some((id, rest)) = stem.split_at_checked(36) else { return false };
    is_uuid(id)
        && (copied_from(&[stem, b".jsonl"].concat()).is_some()
            || (rest.first() == Some(&b'-') && names.has(&[id, b".jsonl"].concat())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "5e550000-0000-4000-8000-000000000001";

    #[test]
    fn a_project_has_uuids_agents_and_copies() {
        let original = format!("{ID}.jsonl");
        let names = [original.as_bytes()];
        let at = |name: String| file(Part::Project, name.as_bytes(), &Names(&names));
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
}
