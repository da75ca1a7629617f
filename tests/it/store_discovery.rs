//! Discovery on small stores built for each test: every agent's layout, and what a person may pass.

use crate::support::store::{
    CLAUDE_LINE, INDEX, PI_LINE, SID, SID_LINE, SIDE_LINE, Temp, UUID, WHOLE, claude_home, find, sid_home,
};
use sid_audit::agents;
use sid_audit::identity::AgentId;
use sid_audit::store::{Discovery, Environment, FileKind, Layout, Part, default_homes, discover};
use std::fs;
use std::path::PathBuf;

/// Path below `base`, kind, agent of everything found, in order; every file can be opened.
fn list(found: &Discovery, base: &Temp) -> Vec<(String, FileKind, Option<AgentId>)> {
    let entry = |file| {
        assert_eq!(found.open(file).unwrap().size(), file.size);
        let path = found.path(file);
        (path.strip_prefix(&base.0).unwrap().display().to_string(), file.kind, file.agent_id)
    };
    found.files.iter().map(entry).collect()
}

fn expect(found: &Discovery, base: &Temp, agent_id: AgentId, wanted: &[(String, FileKind)]) {
    let mut wanted: Vec<_> = wanted.iter().map(|(path, kind)| (path.clone(), *kind, Some(agent_id))).collect();
    wanted.sort();
    assert_eq!(list(found, base), wanted);
    assert_eq!(found.errors, []);
}

#[test]
fn a_sid_home_by_name_by_content_and_from_outside() {
    let t = Temp::new();
    let files = sid_home(&t, "home/.sid-code");
    let found = find(t.at("home/.sid-code"));
    expect(&found, &t, sid_audit::agents::SID, &files);
    assert_eq!(found.roots[0].layout, Layout::Of(sid_audit::agents::SID, Part::Home));
    assert_eq!(found.roots[0].store.as_deref(), Some(&*t.at("home/.sid-code")));

    let outside = find(t.at("home"));
    expect(&outside, &t, sid_audit::agents::SID, &files);
    assert_eq!(outside.roots[0].path, t.at("home/.sid-code"));
    assert!(outside.roots[0].notes[0].contains("which is read"), "{:?}", outside.roots[0].notes);

    fs::rename(t.at("home/.sid-code"), t.at("home/copy")).unwrap();
    let renamed: Vec<_> = files.iter().map(|(path, kind)| (path.replace(".sid-code", "copy"), *kind)).collect();
    expect(&find(t.at("home/copy")), &t, sid_audit::agents::SID, &renamed);
    // and as a home that lies somewhere below
    let below = find(&t.0);
    expect(&below, &t, sid_audit::agents::SID, &renamed);
    assert_eq!((below.roots.len(), below.roots[1].layout), (2, Layout::Of(sid_audit::agents::SID, Part::Home)));
}

#[test]
fn parts_of_a_sid_home_know_where_they_are() {
    let t = Temp::new();
    let files = sid_home(&t, "x/.sid-code");
    for (name, part) in [
        ("sessions", Part::Sessions),
        ("sessions/home-dev", Part::Project),
        ("checkpoints", Part::CheckpointFolders),
        (&format!("checkpoints/{SID}"), Part::Checkpoints),
        ("active-sessions", Part::Registry),
    ] {
        let found = find(t.at("x/.sid-code").join(name));
        assert_eq!(found.roots[0].layout, Layout::Of(sid_audit::agents::SID, part));
        assert_eq!(found.roots[0].store.as_deref(), Some(&*t.at("x/.sid-code")));
        let place = format!("x/.sid-code/{name}/");
        let inside: Vec<_> = files.iter().filter(|(path, _)| path.starts_with(&place)).cloned().collect();
        expect(&found, &t, sid_audit::agents::SID, &inside);
    }
}

#[test]
fn a_claude_home_by_name_and_by_content() {
    let t = Temp::new();
    let files = claude_home(&t, "h/.claude");
    expect(&find(t.at("h")), &t, sid_audit::agents::CLAUDE, &files);
    fs::rename(t.at("h/.claude"), t.at("h/93.tree")).unwrap();
    let renamed: Vec<_> = files.iter().map(|(path, kind)| (path.replace(".claude", "93.tree"), *kind)).collect();
    let found = find(t.at("h/93.tree"));
    expect(&found, &t, sid_audit::agents::CLAUDE, &renamed);
    assert_eq!(found.roots[0].layout, Layout::Of(sid_audit::agents::CLAUDE, Part::Home));
    assert!(found.other_folders >= 2 && found.other_files >= 1, "{found:?}");

    let project = find(t.at("h/93.tree/projects/-home-dev"));
    assert_eq!(project.roots[0].layout, Layout::Of(sid_audit::agents::CLAUDE, Part::Project));
    assert_eq!(project.roots[0].store.as_deref(), Some(&*t.at("h/93.tree")));
    let session = find(t.at("h/93.tree/projects/-home-dev").join(UUID));
    assert_eq!(
        (session.roots[0].layout, session.files.len()),
        (Layout::Of(sid_audit::agents::CLAUDE, Part::Session), 5)
    );
}

#[test]
fn a_home_under_another_name_is_known_by_its_variable() {
    let t = Temp::new();
    t.put("odd/file-history/a/16fd0df0a36513cf@v1", "");
    t.put("odd/history.jsonl", "");
    let env = Environment { variables: vec![("CLAUDE_CONFIG_DIR", t.at("odd").into())], ..Environment::default() };
    let found = discover(&[t.at("odd")], None, &env, agents::HOMES);
    assert_eq!((found.roots[0].layout, found.files.len()), (Layout::Of(sid_audit::agents::CLAUDE, Part::Home), 2));
    assert_eq!(find(t.at("odd")).roots[0].layout, Layout::Plain);
}

#[test]
fn pi_homes() {
    let t = Temp::new();
    let sessions = "p/.pi/agent/sessions";
    let files = [
        format!("{sessions}/--home-dev--/2026-03-04T05-06-07-000Z_{UUID}.jsonl"),
        format!("{sessions}/--home-dev--/own-name.jsonl"),
        format!("{sessions}/flat.jsonl"),
    ];
    files.iter().for_each(|file| drop(t.put(file, PI_LINE)));
    t.put("p/.pi/agent/auth.json", "{}");
    let wanted = files.map(|file| (file, FileKind::Main));
    for root in ["p/.pi/agent", "p/.pi", "p", sessions] {
        expect(&find(t.at(root)), &t, sid_audit::agents::PI, &wanted);
    }
    fs::rename(t.at("p/.pi/agent"), t.at("p/copy")).unwrap();
    let found = find(t.at("p/copy"));
    assert_eq!((found.roots[0].layout, found.files.len()), (Layout::Of(sid_audit::agents::PI, Part::Home), 3));
}

#[test]
fn openclaw_is_told_from_pi_by_layout_only() {
    let t = Temp::new();
    let sessions = "c/agents/main/sessions";
    let files = [
        ("sessions.json", "{}", Some(FileKind::ListIndex)),
        ("a.jsonl", PI_LINE, Some(FileKind::Main)),
        ("a.jsonl.lock", "{\"pid\":1}", Some(FileKind::Lock)),
        ("a.trajectory.jsonl", "{}", Some(FileKind::Other)),
        ("b-topic-3.jsonl", PI_LINE, Some(FileKind::Main)),
        ("b.jsonl.reset.2026-03-01T00-00-00.000Z", PI_LINE, Some(FileKind::Other)),
        ("b.jsonl.deleted.2026-03-01T00-00-00.000Z.zst", "", Some(FileKind::Other)),
        ("b.jsonl.bak-12-34", PI_LINE, Some(FileKind::Other)),
        ("b.checkpoint.1.jsonl", PI_LINE, Some(FileKind::Other)),
        ("b.corrupt-1-ff.jsonl", PI_LINE, Some(FileKind::Other)),
        ("b.trajectory-path.json", "{}", None),
    ];
    files.iter().for_each(|(name, text, _)| drop(t.put(format!("{sessions}/{name}"), text)));
    t.put("c/agents/main/agent/openclaw-agent.sqlite", "");
    let wanted: Vec<_> =
        files.iter().filter_map(|(name, _, kind)| Some((format!("{sessions}/{name}"), (*kind)?))).collect();
    for root in ["c", sessions] {
        expect(&find(t.at(root)), &t, sid_audit::agents::OPENCLAW, &wanted);
    }
    assert!(find(t.at("c")).roots[0].notes[0].contains("a database"));
    assert_eq!(find(t.at(sessions).join("a.jsonl")).files[0].agent_id, Some(sid_audit::agents::OPENCLAW));
    // elsewhere the same records are pi's, unless a person insists
    let copy = t.put("elsewhere/a.jsonl", PI_LINE);
    assert_eq!(find(&copy).files[0].agent_id, Some(sid_audit::agents::PI));
    let insisted =
        discover(&[t.at("elsewhere")], Some(sid_audit::agents::OPENCLAW), &Environment::default(), agents::HOMES);
    assert_eq!(insisted.files[0].agent_id, Some(sid_audit::agents::OPENCLAW));
}

#[test]
fn a_plain_folder_is_read_by_content() {
    let t = Temp::new();
    t.put("f/claude.jsonl", CLAUDE_LINE);
    t.put("f/claude 2.jsonl", CLAUDE_LINE);
    t.put("f/agent-1.jsonl", CLAUDE_LINE);
    t.put("f/deep/er/pi.jsonl", PI_LINE);
    t.put("f/sid/main.jsonl", SID_LINE);
    t.put("f/sid/main-task.jsonl", SIDE_LINE);
    t.put("f/sid/empty.jsonl", "");
    t.put("f/whole.json", WHOLE);
    t.put("f/deep/package.json", "{}");
    t.put(format!("f/checkpoints/{SID}/index.json"), INDEX);
    t.put("f/table.jsonl", "{\"a\":1}\n{\"a\":2}\n");
    t.put("f/table (1).jsonl", "{\"a\":1}\n");
    let (sid, claude, pi) =
        (Some(sid_audit::agents::SID), Some(sid_audit::agents::CLAUDE), Some(sid_audit::agents::PI));
    let found = find(t.at("f"));
    let index = format!("f/checkpoints/{SID}/index.json");
    let wanted = [
        ("f/agent-1.jsonl", FileKind::Subagent, claude),
        (&*index, FileKind::CheckpointIndex, sid),
        ("f/claude 2.jsonl", FileKind::SyncCopy, claude),
        ("f/claude.jsonl", FileKind::Main, claude),
        ("f/deep/er/pi.jsonl", FileKind::Main, pi),
        ("f/sid/empty.jsonl", FileKind::Main, sid),
        ("f/sid/main-task.jsonl", FileKind::Beside, sid),
        ("f/sid/main.jsonl", FileKind::Main, sid),
        ("f/table (1).jsonl", FileKind::Foreign, None),
        ("f/table.jsonl", FileKind::Foreign, None),
        ("f/whole.json", FileKind::Whole, sid),
    ];
    assert_eq!(list(&found, &t), wanted.map(|(path, kind, agent_id)| (path.to_owned(), kind, agent_id)));
    assert_eq!((found.roots[0].layout, found.roots[0].agent_id), (Layout::Plain, None));
    // a person who insists gets every .jsonl
    let insisted = discover(&[t.at("f")], Some(sid_audit::agents::CLAUDE), &Environment::default(), agents::HOMES);
    assert!(insisted.files.iter().all(|file| file.agent_id == claude && file.kind != FileKind::Other));
}

#[test]
fn a_person_who_insists_is_followed_into_another_agents_store() {
    let t = Temp::new();
    claude_home(&t, ".claude");
    let found =
        discover(&[t.at(".claude/projects")], Some(sid_audit::agents::PI), &Environment::default(), agents::HOMES);
    assert!(found.files.iter().all(|file| file.agent_id == Some(sid_audit::agents::PI)));
    assert_eq!((found.roots[0].layout, found.roots[0].store.as_ref()), (Layout::Plain, None));
    assert_eq!(found.roots[0].notes, ["lies where Claude Code keeps its sessions; read as pi's, as asked"]);
}

#[test]
fn a_path_relative_to_here_is_reported_as_it_was_given() {
    let found = find("src/lib.rs");
    assert_eq!(found.path(&found.files[0]), PathBuf::from("src/lib.rs"));
    let found = find("Cargo.toml");
    assert_eq!(found.path(&found.files[0]), PathBuf::from("Cargo.toml"));
    assert!(found.open(&found.files[0]).is_ok());
}

#[test]
fn a_project_s_own_settings_folder_is_no_home() {
    let t = Temp::new();
    t.put("repo/.claude/settings.json", "{}");
    t.put("repo/.sid-code/session-config.json", "{}");
    t.put("repo/kept/a.jsonl", CLAUDE_LINE);
    let found = find(t.at("repo"));
    assert_eq!((found.roots.len(), found.files.len()), (1, 1));
}

#[test]
fn a_passed_file_is_read_alone_and_finds_its_store() {
    let t = Temp::new();
    sid_home(&t, ".sid-code");
    claude_home(&t, ".claude");
    for (path, kind) in [
        (format!(".sid-code/sessions/home-dev/{SID}.jsonl"), FileKind::Main),
        (format!(".sid-code/sessions/home-dev/{SID}-task-1.jsonl"), FileKind::Beside),
        (format!(".sid-code/sessions/home-dev/{SID} 2.jsonl"), FileKind::Main),
        (".sid-code/sessions/00000219.json".into(), FileKind::Whole),
        (format!(".sid-code/checkpoints/{SID}/index.json"), FileKind::CheckpointIndex),
        (format!(".claude/projects/-home-dev/{UUID}.jsonl"), FileKind::Main),
        (".claude/projects/-home-dev/notes.jsonl".into(), FileKind::Main),
        (format!(".claude/projects/-home-dev/{UUID}/subagents/workflows/run1/agent-b2.jsonl"), FileKind::Subagent),
    ] {
        let sid = path.starts_with(".sid");
        let (agent_id, store) =
            if sid { (sid_audit::agents::SID, ".sid-code") } else { (sid_audit::agents::CLAUDE, ".claude") };
        let found = find(t.at(&path));
        expect(&found, &t, agent_id, &[(path, kind)]);
        assert_eq!((found.roots[0].layout, found.roots[0].store.as_ref()), (Layout::File, Some(&t.at(store))));
    }
    // Its name alone makes no index of what no store holds.
    let alone = t.put("alone/index.json", "torn {");
    let found = find(alone);
    assert_eq!((found.files[0].kind, found.roots[0].store.as_ref()), (FileKind::Foreign, None));
}

#[test]
fn only_a_record_makes_a_session_of_a_file_outside_of_its_place() {
    let t = Temp::new();
    t.put("a.jsonl", PI_LINE);
    let blank = t.put("b.jsonl", " \n");
    let elsewhere = Temp::new();
    let lonely = elsewhere.put("b.jsonl", " \n");
    let text = t.put("b.txt", " \n");
    let foreign = t.put("c.jsonl", "{\"a\":1}\n");
    let quoted = t.put("NOTES.md", &format!("# notes\n\none\n{PI_LINE}\n"));
    for path in [&lonely, &text, &foreign, &quoted] {
        let found = find(path);
        assert_eq!((found.files[0].kind, path), (FileKind::Foreign, path));
    }
    // One that holds nothing is what the sessions beside it are.
    let found = find(&blank);
    assert_eq!((found.files[0].kind, found.files[0].agent_id), (FileKind::Main, Some(sid_audit::agents::PI)));
    let found = find(&t.0);
    let kinds: Vec<FileKind> = found.files.iter().map(|file| file.kind).collect();
    assert_eq!(kinds, [FileKind::Main, FileKind::Main, FileKind::Foreign]);
    let insisted = discover(&[foreign], Some(sid_audit::agents::PI), &Environment::default(), agents::HOMES);
    assert_eq!(insisted.files[0].kind, FileKind::Foreign);
}

#[test]
fn nothing_is_found_twice_and_the_order_is_that_of_paths() {
    let t = Temp::new();
    let files = claude_home(&t, ".claude");
    let file = t.at(".claude").join(format!("projects/-home-dev/{UUID}.jsonl"));
    let paths = [t.at(".claude/projects"), file.clone(), t.at(".claude"), file, t.0.clone()];
    let found = discover(&paths, None, &Environment::default(), agents::HOMES);
    assert_eq!(found.files.len(), files.len());
    let all: Vec<_> = found.files.iter().map(|f| found.path(f).into_os_string().into_encoded_bytes()).collect();
    assert!(all.is_sorted());
    assert!(found.roots.iter().any(|root| root.notes.iter().any(|n| n.contains("is read there"))));
}

#[test]
fn missing_paths_standard_input_and_nothing() {
    let t = Temp::new();
    let found = discover(&[PathBuf::from("-"), t.at("gone")], None, &Environment::default(), agents::HOMES);
    assert_eq!((found.roots.len(), found.roots[0].layout), (1, Layout::Stdin));
    assert_eq!(found.errors, [(t.at("gone"), "no such file or folder".to_owned())]);
    assert!(discover(&[], None, &Environment::default(), agents::HOMES).roots.is_empty());
}

#[test]
fn a_file_that_grows_or_vanishes_after_it_was_found() {
    let t = Temp::new();
    let path = t.put("a.jsonl", CLAUDE_LINE);
    let found = find(&t.0);
    let source = found.open(&found.files[0]).unwrap();
    assert!(!sid_audit::store::liveness::grew(&source).unwrap());
    fs::write(&path, format!("{CLAUDE_LINE}\n{CLAUDE_LINE}\n")).unwrap();
    assert!(sid_audit::store::liveness::grew(&source).unwrap());
    fs::remove_file(&path).unwrap();
    assert_eq!(found.open(&found.files[0]).unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn default_homes_come_from_variables_or_the_home() {
    let t = Temp::new();
    fs::create_dir_all(t.at(".claude")).unwrap();
    let mut env = Environment { home: Some(t.0.clone()), ..Environment::default() };
    let seen: Vec<_> =
        default_homes(agents::HOMES, &env).into_iter().map(|h| (h.agent_id, h.path, h.why, h.exists)).collect();
    let wanted = [
        (sid_audit::agents::SID, t.at(".sid-code"), "default", false),
        (sid_audit::agents::CLAUDE, t.at(".claude"), "default", true),
        (sid_audit::agents::PI, t.at(".pi/agent"), "default", false),
        (sid_audit::agents::OPENCLAW, t.at(".openclaw"), "default", false),
        (sid_audit::agents::OMP, t.at(".omp/agent"), "default", false),
    ];
    assert_eq!(seen, wanted);
    env.variables = vec![
        ("SID_CONFIG_DIR", "  ".into()),
        ("CLAUDE_CONFIG_DIR", t.at("elsewhere").into()),
        ("PI_CODING_AGENT_DIR", "~/p".into()),
    ];
    let seen: Vec<_> = default_homes(agents::HOMES, &env).into_iter().map(|h| (h.path, h.why)).collect();
    let wanted = [
        (t.at(".sid-code"), "default"),
        (t.at("elsewhere"), "CLAUDE_CONFIG_DIR"),
        (t.at("p"), "PI_CODING_AGENT_DIR"),
        (t.at(".openclaw"), "default"),
        (t.at(".omp/agent"), "default"),
    ];
    assert_eq!(seen, wanted);
}
