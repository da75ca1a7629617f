//! What a folder can hold against a reader: links, loops, pipes, odd names, closed folders, very many files; and the
//! registries of live processes. Unix only, because most of it cannot be made elsewhere.

use crate::support::store::{CLAUDE_LINE, OTHER, PI_LINE, SID, SID_LINE, Temp, UUID, WHOLE, claude_home, find};
use sid_audit::agents;
use sid_audit::store::liveness::{State, live, registrations};
use sid_audit::store::{Environment, FileKind, discover};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

fn fifo(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn fifos_and_sockets_are_counted_and_never_opened() {
    let t = Temp::new();
    t.put(format!(".claude/projects/-a/{UUID}.jsonl"), CLAUDE_LINE);
    let project = t.at(".claude/projects/-a");
    fifo(&project.join(format!("{OTHER}.jsonl")));
    fifo(&t.at(".claude/history.jsonl"));
    let _socket = std::os::unix::net::UnixListener::bind(project.join("s.jsonl")).unwrap();
    let found = find(t.at(".claude"));
    assert_eq!((found.files.len(), found.specials), (1, 3));
    assert_eq!(found.errors, []);
    let passed = find(project.join(format!("{OTHER}.jsonl")));
    assert_eq!(passed.errors[0].1, "neither a plain file nor a folder: not opened");
}

#[test]
fn what_takes_the_place_of_a_file_is_not_opened() {
    let t = Temp::new();
    let file = t.put(format!(".claude/projects/-a/{UUID}.jsonl"), CLAUDE_LINE);
    let found = find(t.at(".claude"));
    let open = || found.open(&found.files[0]);
    assert!(open().is_ok());
    fs::remove_file(&file).unwrap();
    fifo(&file);
    assert_eq!(open().unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
    fs::remove_file(&file).unwrap();
    symlink(t.put("outside.jsonl", CLAUDE_LINE), &file).unwrap();
    assert!(open().is_err());
    // and no link on the way
    fs::rename(t.at(".claude/projects"), t.at("moved")).unwrap();
    fs::remove_file(t.at("moved/-a").join(format!("{UUID}.jsonl"))).unwrap();
    t.put(format!("moved/-a/{UUID}.jsonl"), CLAUDE_LINE);
    symlink(t.at("moved"), t.at(".claude/projects")).unwrap();
    assert!(file.exists() && open().is_err());
}

#[test]
fn a_link_as_root_is_followed_with_a_note() {
    let t = Temp::new();
    let files = claude_home(&t, "real");
    symlink(t.at("real"), t.at(".claude")).unwrap();
    for given in [t.at(".claude"), PathBuf::from(format!("{}/", t.at(".claude").display()))] {
        let found = find(&given);
        assert_eq!(found.files.len(), files.len());
        assert_eq!(found.roots[0].notes, [format!("is a link, followed to '{}'", t.at("real").display())]);
        assert!(found.files.iter().all(|file| found.path(file).starts_with(t.at(".claude"))));
    }
    let inside = find(&t.0);
    assert_eq!(inside.files.len(), files.len());
    assert!(inside.roots[0].notes.iter().any(|note| note.starts_with("is a link")));
}

#[test]
fn a_link_to_a_file_is_followed_with_a_note() {
    let t = Temp::new();
    let target = t.put("f/a.jsonl", PI_LINE);
    symlink(&target, t.at("l.jsonl")).unwrap();
    let found = find(t.at("l.jsonl"));
    assert_eq!((found.path(&found.files[0]), found.roots[0].notes.len()), (target, 1));
    symlink("nowhere", t.at("broken")).unwrap();
    assert!(find(t.at("broken")).errors[0].1.starts_with("is a link that leads nowhere"));
}

#[test]
fn links_inside_are_followed_once_if_they_stay_inside() {
    let t = Temp::new();
    let outside = Temp::new();
    outside.put(format!("-b/{OTHER}.jsonl"), CLAUDE_LINE);
    let main = t.put(format!(".claude/projects/-a/{UUID}.jsonl"), CLAUDE_LINE);
    let project = t.at(".claude/projects/-a");
    t.put(format!(".claude/moved/-c/{OTHER}.jsonl"), CLAUDE_LINE);
    t.put(".claude/moved/agent-9.jsonl", CLAUDE_LINE);
    symlink(outside.at("-b"), t.at(".claude/projects/-b")).unwrap(); // leaves the store
    symlink("../moved/-c", t.at(".claude/projects/-c")).unwrap(); // stays, not read otherwise
    symlink("../moved/-c", t.at(".claude/projects/-d")).unwrap(); // the same again
    symlink(&project, t.at(".claude/projects/-e")).unwrap(); // stays, read in its own place
    symlink(&main, project.join(format!("{OTHER}.jsonl"))).unwrap(); // likewise
    symlink("../../moved/agent-9.jsonl", project.join("agent-9.jsonl")).unwrap(); // stays, not read otherwise
    symlink("..", project.join("loop")).unwrap();
    symlink("itself", project.join("itself")).unwrap();
    let found = find(t.at(".claude"));
    let paths: Vec<_> = found.files.iter().map(|file| (found.path(file), file.kind)).collect();
    let wanted = [
        (t.at(&format!(".claude/moved/-c/{OTHER}.jsonl")), FileKind::Main),
        (t.at(".claude/moved/agent-9.jsonl"), FileKind::Subagent),
        (main, FileKind::Main),
    ];
    assert_eq!(paths, wanted);
    assert!(found.files.iter().all(|file| found.open(file).is_ok()));
    assert_eq!((found.followed_links, found.links_left_store, found.skipped_links), (2, 1, 6));
    assert!(found.roots[0].notes[0].contains("leaves the store"), "{:?}", found.roots[0].notes);
    assert_eq!(found.errors, []);
}

#[test]
fn loops_of_links_end() {
    let t = Temp::new();
    t.put("a/b/c.jsonl", PI_LINE);
    symlink("../..", t.at("a/b/up")).unwrap();
    symlink("../b", t.at("a/b/self")).unwrap();
    symlink("a", t.at("again")).unwrap();
    symlink("two", t.at("one")).unwrap();
    symlink("one", t.at("two")).unwrap();
    let found = find(&t.0);
    assert_eq!((found.files.len(), found.followed_links, found.skipped_links), (1, 0, 5));
}

#[test]
fn names_that_are_not_utf8_are_kept() {
    let t = Temp::new();
    let name = OsStr::from_bytes(b"a\xff\n\x1b[31m.jsonl");
    t.put(Path::new(OsStr::from_bytes(b"d\xfe")).join(name), PI_LINE);
    let found = find(&t.0);
    assert_eq!(&*found.files[0].name.os(), name);
    let path = found.path(&found.files[0]);
    assert!(path.exists() && found.open(&found.files[0]).is_ok());
    assert_eq!(find(path).files.len(), 1);
}

#[test]
fn a_folder_that_cannot_be_read_is_an_error_and_the_rest_is_reported() {
    let t = Temp::new();
    t.put("a.jsonl", PI_LINE);
    // deeper than any store; this is refused to root too
    let mut deep = PathBuf::from("deep");
    (0..70).for_each(|_| deep.push("d"));
    t.put(deep.join("b.jsonl"), PI_LINE);
    t.put("closed/c.jsonl", PI_LINE);
    fs::set_permissions(t.at("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let reads_all = fs::read_dir(t.at("closed")).is_ok();
    let found = find(&t.0);
    fs::set_permissions(t.at("closed"), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(found.files.len(), 1 + usize::from(reads_all));
    assert_eq!(found.errors.len(), 1 + usize::from(!reads_all), "{:?}", found.errors);
    assert!(found.errors.iter().any(|(_, message)| message == "deeper than 64 folders: not read"));
}

#[test]
fn registrations_of_every_store_are_read() {
    let t = Temp::new();
    let own = std::process::id();
    let later = 9_999_999_999_999_u64;
    let entry = format!(r#"{{"sessionId":"p","pid":{own},"startedAt":{later},"kind":"interactive","cwd":"/w"}}"#);
    t.put(".sid-code/active-sessions/a.json", &entry);
    t.put(".sid-code/active-sessions/dead.json", r#"{"sessionId":"d","pid":4194305,"startedAt":1}"#);
    t.put(".sid-code/active-sessions/torn.json", r#"{"sessionId": "x", "pid""#);
    fifo(&t.at(".sid-code/active-sessions/pipe.json"));
    t.put(".sid-code/sessions/00000219.json", WHOLE);
    let session = t.put(format!(".sid-code/sessions/k/{SID}.jsonl"), SID_LINE);
    let entry = format!(r#"{{"pid":{own},"sessionId":"{UUID}","startedAt":{later}}}"#);
    t.put(format!(".claude/sessions/{own}.json"), &entry);
    t.put(format!(".claude/projects/-a/{UUID}.jsonl"), CLAUDE_LINE);
    t.put("o/agents/m/sessions/sessions.json", "{}");
    let locked = t.put("o/agents/m/sessions/s.jsonl", PI_LINE);
    let entry = format!(r#"{{"pid":{own},"createdAt":"2286-11-20T17:46:39.999Z"}}"#);
    t.put("o/agents/m/sessions/s.jsonl.lock", &entry);

    let found =
        discover(&[t.at(".sid-code"), t.at(".claude"), t.at("o")], None, &Environment::default(), agents::HOMES);
    let (all, errors) = registrations(&found);
    assert_eq!(errors, []);
    let states: Vec<_> = all.iter().map(|entry| (entry.agent, entry.state, entry.damaged.is_some())).collect();
    let wanted = [
        (sid_audit::agents::CLAUDE, State::Alive, false),
        (sid_audit::agents::SID, State::Alive, false),
        (sid_audit::agents::SID, State::Dead, false),
        (sid_audit::agents::SID, State::Unknown, true),
        (sid_audit::agents::OPENCLAW, State::Alive, false),
    ];
    assert_eq!(states, wanted);
    assert_eq!(all[1].kind.as_deref(), Some("interactive"));
    assert!(live(&session, &[SID], &all).is_none());
    assert!(live(&session, &[SID, "p"], &all).is_some());
    assert!(live(&session, &[SID, "d"], &all).is_none());
    assert!(live(Path::new("x"), &[UUID], &all).is_some());
    assert!(live(&locked, &[], &all).is_some());
    // a single file has the registrations of its store
    for (file, n) in [(session, 3), (locked, 1)] {
        assert_eq!(registrations(&find(&file)).0.len(), n, "{file:?}");
    }
}

#[test]
fn a_hundred_thousand_files() {
    let t = Temp::new();
    let folder = t.at(".claude/file-history/x");
    fs::create_dir_all(&folder).unwrap();
    // hard links cost the test far less than files
    let mut first = folder.join(format!("{:016x}@v1", 0));
    fs::write(&first, "").unwrap();
    for n in 1..100_000_u32 {
        let next = folder.join(format!("{n:016x}@v1"));
        if fs::hard_link(&first, &next).is_err() {
            fs::write(&next, "").unwrap();
            first = next;
        }
    }
    let begun = std::time::Instant::now();
    let found = find(t.at(".claude"));
    assert_eq!((found.files.len(), found.errors.len()), (100_000, 0));
    assert!(size_of_val(&found.files[0]) <= 56);
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
