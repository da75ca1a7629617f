//! sid-code's names: of session files, of subagents' transcripts, of project folders.

use std::path::Path;

use super::layout::is_session_id;
use crate::finding::Place;
use crate::record::facts::Kind;
use crate::rules::store::names::{BY_NAME, Differs, with_parents};
use crate::session::{Session, Shape};
use crate::text::lossy;

/// The id inside a session, or of a subagent's transcript its session's, against the name.
pub(super) fn differs<'a>(session: &Session, stem: &'a [u8]) -> Option<Differs<'a>> {
    match session.shape {
        Shape::Sidechain => sidechain_differs(session, stem),
        _ if is_session_id(stem) => session_differs(session, stem),
        _ => None,
    }
}

fn session_differs<'a>(session: &Session, stem: &'a [u8]) -> Option<Differs<'a>> {
    if let Some(document) = &session.document {
        let inside = document.id.clone().filter(|id| id.as_bytes() != stem)?;
        return Some(Differs { place: Place::default(), inside, named: stem, effect: BY_NAME });
    }
    let facts = &session.facts;
    let mut starts = facts.records.iter().filter(|r| r.kind == Kind::Start && r.session != 0);
    let first = starts.clone().next()?;
    if starts.any(|r| facts.names.get(r.session) == Some(stem)) {
        return None;
    }
    let place = Place::line(u64::from(first.line));
    Some(Differs { place, inside: facts.names.text(first.session), named: stem, effect: BY_NAME })
}

/// A sidechain's name is its session's id, a dash, and the agent's id with odd characters replaced.
fn sidechain_differs<'a>(session: &Session, stem: &'a [u8]) -> Option<Differs<'a>> {
    let facts = &session.facts;
    let start = facts.records.iter().find(|r| r.kind == Kind::TranscriptStart && r.session != 0)?;
    let id = facts.names.get(start.session)?;
    let own = [24, 36].into_iter().find_map(|n| stem.split_at_checked(n).filter(|(id, _)| is_session_id(id)));
    let (prefix, rest) = own?;
    if rest.first() != Some(&b'-') || stem.strip_prefix(id).is_some_and(|rest| rest.starts_with(b"-")) {
        return None;
    }
    Some(Differs {
        place: Place::line(u64::from(start.line)),
        inside: lossy(id),
        named: prefix,
        effect: "a subagent's transcript is found by the prefix of its name only: it is taken for another session's",
    })
}

/// Whether sessions of a directory may lie in the project folder of that name.
pub(super) fn belongs(cwd: &str, name: &str, store: Option<&Path>) -> bool {
    store.is_some_and(|store| Path::new(cwd).starts_with(store)) || lies_below(cwd, name)
}

/// sid-code takes the top of the repository that the directory lies in, which is some folder above it.
fn lies_below(cwd: &str, folder: &str) -> bool {
    with_parents(cwd).any(|path| project_key(path) == folder)
}

/// sid-code's project key (`docs/formats/sid-code.md`, section 1).
pub(super) fn project_key(path: &str) -> String {
    let trimmed = path.trim_matches(['/', '\\']);
    let (mut key, mut odd) = (String::with_capacity(path.len() + 7), false);
    for unit in trimmed.encode_utf16() {
        let c = char::from_u32(u32::from(unit)).filter(char::is_ascii);
        match c {
            Some(c) if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') => key.push(c),
            Some('/' | '\\') => key.push('-'),
            _ => {
                odd = true;
                key.push('-');
            }
        }
    }
    while let Some(at) = key.find("--") {
        let run = key[at..].len() - key[at..].trim_start_matches('-').len();
        key.replace_range(at..at + run, "-");
    }
    let key = key.trim_matches('-');
    let key = if key.is_empty() { "default" } else { key };
    if odd { format!("{key}-{:.6}", format!("{:08x}", fnv(path))) } else { key.to_owned() }
}

/// FNV-1a over UTF-16 units, each taken as one number.
fn fnv(text: &str) -> u32 {
    text.encode_utf16().fold(0x811c_9dc5, |hash, unit| (hash ^ u32::from(unit)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_the_agents_own_forms() {
        assert!(is_session_id(b"20260301-090000-00000219") && is_session_id(b"00000219") && !is_session_id(b"notes"));
    }

    #[test]
    fn project_keys_as_sid_code_makes_them() {
        for (path, key) in [
            ("/home/dev/demo/演示 项目", "home-dev-demo-9ed22e"),
            ("/home/dev/demo/(x)", "home-dev-demo-x-990caf"),
            ("/home/dev/demo/工作/app", "home-dev-demo-app-4ba2ed"),
            ("/home/dev/demo/文档/app", "home-dev-demo-app-c60dd3"),
            ("/home/dev/demo/--y--", "home-dev-demo-y"),
            ("/", "default"),
            ("/home/dev/a.b_c", "home-dev-a.b_c"),
        ] {
            assert_eq!(project_key(path), key, "{path}");
        }
    }
}
