//! Claude Code's names: of session files, of subagents' transcripts, of project folders.

use std::path::Path;

use crate::finding::Place;
use crate::record::facts::{Kind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::store::names::{BY_NAME, Differs, with_parents};
use crate::session::{Session, Shape};
use crate::store::is_uuid;

/// The id inside a session against the name; of a subagent's transcript its agent's and its session's.
pub(super) fn differs<'a>(session: &'a Session, stem: &'a [u8]) -> Option<Differs<'a>> {
    match session.shape {
        Shape::Subagent => subagent_differs(session, stem),
        _ if is_uuid(stem) => session_differs(session, stem),
        _ => None,
    }
}

/// Not one record of the file bears the id of its name. Letter case is no difference: it is none for the loader.
fn session_differs<'a>(session: &Session, stem: &'a [u8]) -> Option<Differs<'a>> {
    let facts = &session.facts;
    let first = facts.records.iter().find(|r| r.session != 0)?;
    let own = |n: u16| facts.names.get(n).is_some_and(|id| id.eq_ignore_ascii_case(stem));
    let mut last = 0;
    for record in &facts.records {
        if record.session != last {
            last = record.session;
            if own(last) {
                return None;
            }
        }
    }
    let place = Place::line(u64::from(first.line));
    Some(Differs { place, inside: facts.names.text(first.session), named: stem, effect: BY_NAME })
}

fn subagent_differs<'a>(session: &'a Session, stem: &'a [u8]) -> Option<Differs<'a>> {
    let facts = &session.facts;
    let folder = subagent_session(&session.path);
    let place = |n: u32| Place::line(u64::from(n));
    if let Some(folder) = folder
        && let Some(first) = facts.records.iter().find(|r| r.session != 0)
        && !facts.records.iter().any(|r| facts.names.get(r.session).is_some_and(|id| id.eq_ignore_ascii_case(folder)))
    {
        let effect = "the transcript is read for the session whose folder it lies in";
        return Some(Differs {
            place: place(first.line),
            inside: facts.names.text(first.session),
            named: folder,
            effect,
        });
    }
    let agent = stem.strip_prefix(b"agent-")?;
    let first = facts.records.iter().find(|r| r.agent != 0 && r.any(flag::SIDECHAIN))?;
    let other = !facts.records.iter().any(|r| facts.names.get(r.agent) == Some(agent));
    let effect = "the agent is known by its file's name, and the id in its records names no file";
    other.then(|| Differs { place: place(first.line), inside: facts.names.text(first.agent), named: agent, effect })
}

/// The folder of the session above `subagents/`, when it bears a session's name.
pub(super) fn subagent_session(path: &Path) -> Option<&[u8]> {
    let subagents = path.ancestors().skip(1).find(|above| above.file_name().is_some_and(|n| n == "subagents"))?;
    subagents.parent()?.file_name().map(|n| n.as_encoded_bytes()).filter(|n| is_uuid(n))
}

/// Where a session's worktree came from, and where it was moved: read again only when no directory fits.
pub(super) fn origins(session: &Session) -> Vec<String> {
    const ROWS: usize = 1000;
    let facts = &session.facts;
    if !["worktree-state", "relocated"].iter().any(|t| facts.types.contains_key(*t)) {
        return Vec::new();
    }
    let rows = facts.records.iter().filter(|r| matches!(r.kind, Kind::Metadata | Kind::Other)).take(ROWS);
    let read = rows.filter_map(|r| reread::text(&session.source, r).ok());
    read.flat_map(|text| {
        let value = Value::parse(&text);
        let at = |path: &[&str]| value.and_then(|v| v.at(path)).and_then(|v| v.string());
        [at(&["worktreeSession", "originalCwd"]), at(&["relocatedCwd"]), at(&["worktreeSession", "worktreePath"])]
    })
    .flatten()
    .collect()
}

/// How much of a slug is compared: what follows in a longer one depends on the client's runtime.
const SLUG: usize = 200;

/// Whether sessions of a directory may lie in the project folder of that name.
pub(super) fn belongs(cwd: &str, folder: &str) -> bool {
    // Letter case: drive letters alternate within one session, and file systems differ in what they take for equal.
    let folder = folder.to_ascii_lowercase();
    let fits = |slug: &str| {
        let slug = slug.to_ascii_lowercase();
        slug == folder || (slug.len() > SLUG && folder.starts_with(&slug[..SLUG]))
    };
    with_parents(cwd).any(|path| fits(&slug(path)) || fits(&slug(&composed(path))))
}

/// Every UTF-16 unit outside `[A-Za-z0-9]` becomes one dash.
pub(super) fn slug(path: &str) -> String {
    let unit = |unit: u16| u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from);
    path.encode_utf16().map(unit).collect()
}

/// The path as its composed form would be for the slug: clients normalise a path before they encode it. A letter with
/// its marks becomes one character that is no ASCII letter; which one does not matter here.
fn composed(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}') {
            if out.pop().is_some() {
                out.push('\u{fffd}');
            }
        } else if !matches!(c, '\u{1161}'..='\u{1175}' | '\u{11a8}'..='\u{11c2}') {
            out.push(c);
        }
    }
    out
}

/// Whether a folder's name can be an encoded path: a path begins with a separator or with a drive.
pub(super) fn is_slug(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first() == Some(&b'-') || (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1..].starts_with(b"--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_count_utf16_units() {
        assert_eq!(slug("/home/🎉"), "-home---");
        assert_eq!(slug("C:\\Users\\ada"), "C--Users-ada");
        assert!(belongs("/home/ada/p/src", "-home-ada-p"));
        assert!(belongs("c:\\p", "C--p"));
        assert!(belongs("/home/cafe\u{301}", "-home-caf-"));
        assert!(!belongs("/home/ada/other", "-home-ada-p"));
        let long = format!("/{}", "abcdefghij/".repeat(30));
        assert!(belongs(&long, &format!("{}-zzzzzz", &slug(&long)[..200])));
    }
}
