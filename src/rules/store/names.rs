//! Names against contents: is the id inside the one that the file's name gives (S506), and does the file lie in the
//! folder of its project (S507)?
//!
//! A folder's name cannot be turned back into a path, all three rules are many-to-one. So every directory that the
//! records name is encoded as the agent would, and compared. What cannot be judged is left alone: names that no agent
//! gives, flat folders, a folder whose name is no encoded path (Claude Code lets a variable choose it).

use std::path::Path;

use super::Context;
use crate::dialect::Dialect;
use crate::finding::{Finding, Place, Rule, Severity};
use crate::record::again;
use crate::record::facts::{Kind, flag};
use crate::record::value::Value;
use crate::rules::Collector;
use crate::session::{Session, Shape};
use crate::store::{Discovery, Layout, is_session_id, is_uuid};
use crate::text::lossy;

pub(super) static ID_DIFFERS_FROM_NAME: Rule =
    Rule { code: "S506", name: "id-differs-from-name", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static WRONG_FOLDER: Rule =
    Rule { code: "S507", name: "wrong-folder", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// S506: the name of the file against the ids inside.
pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let stem = session.path.file_stem().map(|s| s.as_encoded_bytes()).unwrap_or_default();
    let differs = match (session.dialect, session.shape) {
        (Dialect::Sid, Shape::Sidechain) => sidechain_differs(session, stem),
        (Dialect::Sid, _) if is_session_id(stem) => sid_differs(session, stem),
        (Dialect::Claude, Shape::Subagent) => subagent_differs(session, stem),
        (Dialect::Claude, _) if is_uuid(stem) => claude_differs(session, stem),
        (Dialect::Pi | Dialect::Openclaw, _) => pi_differs(session, stem),
        _ => None,
    };
    let Some(Differs { place, inside, named, effect }) = differs else { return };
    found.add(
        ID_DIFFERS_FROM_NAME
            .at(place)
            .effect(format!("{}: {effect}", session.dialect.loader()))
            .fact("inside", inside)
            .fact("name", lossy(named)),
    );
}

struct Differs<'a> {
    place: Place,
    inside: String,
    named: &'a [u8],
    effect: &'static str,
}

const BY_NAME: &str = "the file is found by its name only, so asking for the id inside finds nothing";

fn sid_differs<'a>(session: &Session, stem: &'a [u8]) -> Option<Differs<'a>> {
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
    let start = facts.records.iter().find(|r| r.kind == Kind::SideStart && r.session != 0)?;
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

/// Not one record of the file bears the id of its name. Letter case is no difference: it is none for the loader.
fn claude_differs<'a>(session: &Session, stem: &'a [u8]) -> Option<Differs<'a>> {
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

fn pi_differs<'a>(session: &Session, stem: &'a [u8]) -> Option<Differs<'a>> {
    let named = pi_named_id(session.dialect, stem)?;
    let header = session.facts.records.iter().find(|r| crate::agents::pi::load::is_header(r))?;
    let id = again::id(&session.source, header)?;
    if id.as_bytes() == named {
        return None;
    }
    Some(Differs {
        place: Place::line(u64::from(header.line)).with_id(Some(id.clone())),
        inside: id.lossy(),
        named,
        effect: "the header's id counts; whoever looks for the file by its name takes it for another session",
    })
}

/// The id in a file's name, when the name is one that the agent gives: pi's time and id, OpenClaw's UUID with or without
/// a topic.
pub(super) fn pi_named_id(dialect: Dialect, stem: &[u8]) -> Option<&[u8]> {
    if dialect == Dialect::Openclaw
        && let Some((id, rest)) = stem.split_at_checked(36)
        && is_uuid(id)
    {
        return (rest.is_empty() || rest.starts_with(b"-topic-")).then_some(id);
    }
    let (time, rest) = stem.split_at_checked(24)?;
    let form = b"0000-00-00T00-00-00-000Z";
    let fits = |(a, b): (&u8, &u8)| if *b == b'0' { a.is_ascii_digit() } else { a == b };
    if !time.iter().zip(form).all(fits) {
        return None;
    }
    rest.strip_prefix(b"_").filter(|id| !id.is_empty())
}

/// S507: whether the session's directories belong to the folder it lies in.
pub(super) fn wrong_folder(session: &Session, file: u32, discovery: &Discovery) -> Option<Finding> {
    if session.shape == Shape::Sidechain || session.shape == Shape::Subagent {
        return None;
    }
    let folder = discovery.folder(discovery.files.get(file as usize)?)?;
    let name = lossy(folder.path.file_name()?.as_encoded_bytes());
    let store = discovery.roots.get(folder.root as usize)?.store.as_deref();
    let belongs: &dyn Fn(&str) -> bool = match folder.layout {
        Layout::SidProject if name != "_legacy" => &|cwd| lies_in(cwd, store) || sid_folder(cwd, &name),
        Layout::ClaudeProject if is_slug(&name) => &|cwd| claude_folder(cwd, &name),
        Layout::PiProject if name.len() >= 4 && name.starts_with("--") && name.ends_with("--") => {
            &|cwd| pi_folder(cwd, &name)
        }
        _ => return None,
    };
    let cwds = directories(session);
    let (line, first) = cwds.first()?;
    if cwds.iter().any(|(_, cwd)| belongs(cwd)) || origins(session).iter().any(|cwd| belongs(cwd)) {
        return None;
    }
    let expected = match folder.layout {
        Layout::SidProject => sid_key(first),
        Layout::ClaudeProject => claude_slug(first),
        _ => pi_encoded(first),
    };
    let cwds: Vec<String> = cwds.iter().map(|(_, cwd)| cwd.clone()).take(super::NAMED).collect();
    Some(
        WRONG_FOLDER
            .at(line.map(|n| Place::line(u64::from(n))).unwrap_or_default())
            .effect(format!(
                "{}: listed and resumed in the project of '{name}', and not found from its own directory",
                session.dialect.loader()
            ))
            .fact("folder", name.as_str())
            .fact("expected", expected)
            .fact("directories", cwds),
    )
}

/// The working directories that a session names, in the order in which they first appear, with the line.
fn directories(session: &Session) -> Vec<(Option<u32>, String)> {
    if let Some(document) = &session.document {
        return document.cwd.iter().map(|cwd| (None, cwd.clone())).collect();
    }
    let facts = &session.facts;
    let mut seen = std::collections::BTreeSet::new();
    let mut all = Vec::new();
    let mut last = 0;
    for record in facts.records.iter().filter(|r| r.cwd != 0) {
        if record.cwd != last {
            last = record.cwd;
            if seen.insert(last) {
                all.push((Some(record.line), facts.names.text(last)));
            }
        }
    }
    all.retain(|(_, cwd)| !cwd.is_empty());
    all
}

/// Where a session's worktree came from, and where it was moved: read again only when no directory fits.
fn origins(session: &Session) -> Vec<String> {
    const ROWS: usize = 1000;
    let facts = &session.facts;
    if session.dialect != Dialect::Claude
        || !["worktree-state", "relocated"].iter().any(|t| facts.types.contains_key(*t))
    {
        return Vec::new();
    }
    let rows = facts.records.iter().filter(|r| matches!(r.kind, Kind::Metadata | Kind::Other)).take(ROWS);
    let read = rows.filter_map(|r| again::text(&session.source, r).ok());
    read.flat_map(|text| {
        let value = Value::parse(&text);
        let at = |path: &[&str]| value.and_then(|v| v.at(path)).and_then(|v| v.string());
        [at(&["worktreeSession", "originalCwd"]), at(&["relocatedCwd"]), at(&["worktreeSession", "worktreePath"])]
    })
    .flatten()
    .collect()
}

/// The directory and every folder above it: an agent started in a project may work further down.
fn with_parents(cwd: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(cwd);
    std::iter::from_fn(move || {
        let this = next?;
        let trimmed = this.trim_end_matches(['/', '\\']);
        next = match trimmed.rfind(['/', '\\']) {
            Some(0) if trimmed.len() > 1 => Some(&trimmed[..1]),
            Some(at) if at > 0 => Some(&trimmed[..at]),
            _ => None,
        };
        Some(this)
    })
}

fn lies_in(cwd: &str, store: Option<&Path>) -> bool {
    store.is_some_and(|store| Path::new(cwd).starts_with(store))
}

/// sid-code takes the top of the repository that the directory lies in, which is some folder above it.
fn sid_folder(cwd: &str, folder: &str) -> bool {
    with_parents(cwd).any(|path| sid_key(path) == folder)
}

/// sid-code's project key (`docs/formats/sid-code.md`, section 1).
pub(super) fn sid_key(path: &str) -> String {
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

/// How much of a slug is compared: what follows in a longer one depends on the client's runtime.
const SLUG: usize = 200;

fn claude_folder(cwd: &str, folder: &str) -> bool {
    // Letter case: drive letters alternate within one session, and file systems differ in what they take for equal.
    let folder = folder.to_ascii_lowercase();
    let fits = |slug: &str| {
        let slug = slug.to_ascii_lowercase();
        slug == folder || (slug.len() > SLUG && folder.starts_with(&slug[..SLUG]))
    };
    with_parents(cwd).any(|path| fits(&claude_slug(path)) || fits(&claude_slug(&composed(path))))
}

/// Every UTF-16 unit outside `[A-Za-z0-9]` becomes one dash.
pub(super) fn claude_slug(path: &str) -> String {
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
fn is_slug(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first() == Some(&b'-') || (bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1..].starts_with(b"--"))
}

fn pi_folder(cwd: &str, folder: &str) -> bool {
    let fits = |encoded: &str| encoded.eq_ignore_ascii_case(folder);
    // with a separator at the end 0.73 wrote one more dash than 1.x does
    fits(&pi_encoded(cwd)) || fits(&pi_encoded(cwd.trim_end_matches(['/', '\\'])))
}

/// pi's folder of a directory (`docs/formats/pi.md`, section 2).
pub(super) fn pi_encoded(cwd: &str) -> String {
    let rest = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", rest.replace(['/', '\\', ':'], "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(sid_key(path), key, "{path}");
        }
    }

    #[test]
    fn slugs_count_utf16_units() {
        assert_eq!(claude_slug("/home/🎉"), "-home---");
        assert_eq!(claude_slug("C:\\Users\\ada"), "C--Users-ada");
        assert!(claude_folder("/home/ada/p/src", "-home-ada-p"));
        assert!(claude_folder("c:\\p", "C--p"));
        assert!(claude_folder("/home/cafe\u{301}", "-home-caf-"));
        assert!(!claude_folder("/home/ada/other", "-home-ada-p"));
        let long = format!("/{}", "abcdefghij/".repeat(30));
        assert!(claude_folder(&long, &format!("{}-zzzzzz", &claude_slug(&long)[..200])));
    }

    #[test]
    fn folders_as_pi_encodes_them() {
        assert_eq!(pi_encoded("/home/ada/my-app"), "--home-ada-my-app--");
        assert_eq!(pi_encoded("/"), "----");
        assert_eq!(pi_encoded("C:\\Users\\ada\\p"), "--C--Users-ada-p--");
        assert!(pi_folder("/home/ada/", "--home-ada---") && pi_folder("/home/ada/", "--home-ada--"));
    }

    #[test]
    fn a_path_and_all_above_it() {
        assert_eq!(with_parents("/a/b/").collect::<Vec<_>>(), ["/a/b/", "/a", "/"]);
        assert_eq!(with_parents("C:\\a").collect::<Vec<_>>(), ["C:\\a", "C:"]);
        assert_eq!(with_parents("").collect::<Vec<_>>(), [""]);
        assert_eq!(with_parents("/").collect::<Vec<_>>(), ["/"]);
    }

    #[test]
    fn ids_in_names_of_the_agents_own_form() {
        assert_eq!(pi_named_id(Dialect::Pi, b"2026-03-04T05-06-07-000Z_x.y"), Some(&b"x.y"[..]));
        assert_eq!(pi_named_id(Dialect::Pi, b"16-id-name-mismatch"), None);
        let id = b"5e550000-0000-4000-8000-000000000001";
        assert_eq!(pi_named_id(Dialect::Openclaw, &[&id[..], b"-topic-7"].concat()), Some(&id[..]));
        assert!(is_session_id(b"20260301-090000-00000219") && is_session_id(b"00000219") && !is_session_id(b"notes"));
    }
}
