//! What sid-code takes up from beside the session: transcripts of subagents that did not end, the progress file, and the
//! worktree of the project. Reading only, each file opened as a plain file and no further than it is needed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::predict::Around;
use crate::predict::states::{Outcome, State, is_blank, quoted};
use crate::record::agent::Cut;
use crate::record::facts::{Kind, flag};
use crate::record::json::Kind as Json;
use crate::record::parse;
use crate::record::value::Value;
use crate::session::{Session, ids};
use crate::store::{EntryKind, Handle, Source};
use crate::text::counted;

/// The binding to a worktree is the project's: it does not hang on the session.
pub(super) const WORKTREE: &str = "worktree";
/// The agent names at most so many transcripts.
const NAMED: usize = 10;
/// A progress file or a binding is a few lines; of a longer one no more is read.
const LONGEST: u64 = 1024 * 1024;

/// Transcripts of subagents of this session: recognised by the prefix of their names only, in the session's own folder.
pub(super) fn sidechains(session: &Session, around: Around<'_>) -> State {
    const NAME: &str = "unfinished sidechains";
    let folder = match session.path.parent() {
        Some(folder) if session.path != Path::new("-") => folder,
        _ => return State::new(NAME, Outcome::Unknown, "what lies beside standard input is not known"),
    };
    let id = id(session);
    let Ok(handle) = Handle::open_root(folder) else {
        return State::new(NAME, Outcome::Unknown, "the session's folder cannot be listed");
    };
    let (entries, stopped) = handle.list(usize::MAX);
    if stopped.is_some() {
        return State::new(NAME, Outcome::Unknown, "the session's folder cannot be listed");
    }
    let prefix = format!("{id}-");
    let ours = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(prefix.as_bytes()) && name.ends_with(b".jsonl")
    };
    let mut names: Vec<&OsStr> = entries
        .iter()
        .filter(|e| matches!(e.kind, EntryKind::File | EntryKind::Unknown) && ours(&e.name))
        .map(|e| e.name.as_os_str())
        .collect();
    names.sort_unstable();
    let (mut ended, mut unfinished, mut unread) = (0, Vec::new(), 0);
    for name in names {
        match handle.open_file(name).and_then(|source| how_it_ended(&source, around)) {
            Ok(Some(true)) => ended += 1,
            Ok(Some(false)) => unfinished.push(agent_of(name, &prefix)),
            Ok(None) => {}
            Err(_) => unread += 1,
        }
    }
    let unread = if unread == 0 { String::new() } else { format!("; {unread} could not be read") };
    match (unfinished.len(), ended) {
        (0, 0) if unread.is_empty() => State::new(NAME, Outcome::Missing, "no subagent left a transcript"),
        (0, 0) => State::new(NAME, Outcome::Unknown, unread.trim_start_matches("; ").to_owned()),
        (0, n) => State::new(NAME, Outcome::Final, format!("{} ended{unread}", counted(n, "subagent"))),
        (n, _) => {
            let mut note = unfinished.iter().take(NAMED).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
            if n > NAMED {
                note.push_str(&format!(" and {} more", n - NAMED));
            }
            note.push_str(if n == 1 { " is" } else { " are" });
            State::new(NAME, Outcome::Restored, format!("{note} named to the model; none goes on by itself{unread}"))
        }
    }
}

/// Whether a transcript has its end anywhere; none when the agent passes it over: it is empty, or a line of it is null,
/// at which the agent's reader throws.
fn how_it_ended(source: &Source, around: Around<'_>) -> std::io::Result<Option<bool>> {
    let facts = parse::read_cut(source, around.agent, Cut::TrimmedLines, around.meter)?;
    if facts.records.iter().any(|r| r.has(flag::IS_NULL)) || (facts.records.is_empty() && facts.lines.bad == 0) {
        return Ok(None);
    }
    Ok(Some(facts.records.iter().any(|r| r.kind == Kind::TranscriptEnd)))
}

/// The agent's id, as the name of its file has it.
fn agent_of(name: &OsStr, prefix: &str) -> String {
    let name = name.to_string_lossy();
    name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".jsonl")).unwrap_or(&name).to_owned()
}

/// The work log that outlives compactions: handed to the model as it stands.
pub(super) fn progress(session: &Session, around: Around<'_>) -> State {
    const NAME: &str = "progress file";
    let Some(store) = around.store else {
        return State::new(NAME, Outcome::Unknown, "the agent's home is not known");
    };
    let path = store.join("progress").join(format!("{}.md", flattened(&id(session))));
    match read(&path) {
        Ok(None) => State::new(NAME, Outcome::Missing, "none was written"),
        Ok(Some(text)) if is_blank(&text) => State::new(NAME, Outcome::Ignored, "only white space").by(path),
        Ok(Some(_)) => State::new(NAME, Outcome::Restored, "handed to the model as it stands").by(path),
        Err(why) => State::new(NAME, Outcome::Failed, format!("{why}: the agent goes on without it")).by(path),
    }
}

/// The session's id as a file's name: what is no letter, digit, dash or underscore becomes one underscore for each
/// UTF-16 unit.
fn flattened(id: &str) -> String {
    let id = if id.is_empty() { "default" } else { id };
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let units = id.chars().flat_map(|c| std::iter::repeat_n(if plain(c) { c } else { '_' }, c.len_utf16()));
    units.take(128).collect()
}

/// The worktree that the project is bound to. The agent asks the git root of the directory it is started in; taken here
/// is the session's.
pub(super) fn worktree(cwd: Option<&str>) -> State {
    let unknown = |note: String| State::new(WORKTREE, Outcome::Unknown, note);
    let Some(cwd) = cwd else {
        return unknown("the binding lies in the project, and no directory is stored".to_owned());
    };
    // A path out of a session is looked at on this machine only: a share's name would make the system log in somewhere.
    let Some(folder) = local(cwd).filter(|folder| folder.is_dir()) else {
        return unknown(format!("the binding lies in the project, and {} is not on this machine", quoted(cwd)));
    };
    let Some(root) = folder.ancestors().find(|above| std::fs::symlink_metadata(above.join(".git")).is_ok()) else {
        return State::new(WORKTREE, Outcome::Missing, format!("{} is in no git repository", quoted(cwd)));
    };
    let path = root.join(".sid-code").join("session-config.json");
    let text = match read(&path) {
        Ok(Some(text)) => text,
        Ok(None) => return State::new(WORKTREE, Outcome::Missing, "the project is bound to none"),
        Err(why) => return State::new(WORKTREE, Outcome::Missing, format!("{why}: taken for no binding")).by(path),
    };
    let config = Value::parse(text.as_bytes());
    let Some(binding) = config.and_then(|c| c.get("activeWorktreeSession")).filter(Value::truthy) else {
        let note = if config.is_some() { "the project is bound to none" } else { "no JSON: taken for no binding" };
        return State::new(WORKTREE, Outcome::Missing, note).by(path);
    };
    bound(binding.get("worktreePath").filter(|p| p.kind() == Json::String).and_then(|p| p.string()), path)
}

fn bound(to: Option<String>, path: PathBuf) -> State {
    let Some(to) = to else {
        return State::new(WORKTREE, Outcome::Failed, "the binding names no directory").by(path);
    };
    match local(&to) {
        None => State::new(WORKTREE, Outcome::Unknown, format!("{} is no path of this machine", quoted(&to))),
        Some(there) if there.is_dir() && std::fs::symlink_metadata(there.join(".git")).is_ok() => State::new(
            WORKTREE,
            Outcome::Restored,
            format!("{} is entered, whichever session of the project is resumed", quoted(&to)),
        ),
        Some(_) => {
            State::new(WORKTREE, Outcome::Failed, format!("{} is gone: the agent clears the binding", quoted(&to)))
        }
    }
    .by(path)
}

/// An absolute path that is no share of another machine.
fn local(path: &str) -> Option<&Path> {
    let share = path.starts_with("\\\\") || path.starts_with("//");
    Some(Path::new(path)).filter(|p| p.is_absolute() && !share)
}

/// The id under which the agent keeps what belongs to the session.
fn id(session: &Session) -> String {
    let inside = ids::session_id(session).map(|id| id.lossy());
    inside.unwrap_or_else(|| ids::implied_id(&session.path, session.agent, session.shape).lossy())
}

/// A small text file; none when there is none.
fn read(path: &Path) -> Result<Option<String>, String> {
    match Source::open(path).and_then(|source| source.read_range(0, LONGEST)) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(format!("cannot be read ({e})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_names_of_files() {
        assert_eq!(flattened("20260301-090000-0000_a"), "20260301-090000-0000_a");
        assert_eq!(flattened("a/../b 漢🦀"), "a____b____");
        assert_eq!(flattened(""), "default");
        assert_eq!(flattened(&"x".repeat(200)).len(), 128);
    }

    #[test]
    fn a_share_is_never_asked_for() {
        assert!(local("\\\\host\\share").is_none() && local("//host/share").is_none() && local("relative").is_none());
        let state = worktree(Some("//host/share"));
        assert_eq!(state.outcome, Outcome::Unknown);
        assert_eq!(worktree(None).outcome, Outcome::Unknown);
    }
}
