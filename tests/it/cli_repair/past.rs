//! What a run says of earlier ones, and what it promises: interrupted runs, undo and its words, places, codes that a person
//! has to name, two programs at once.

use super::*;
use support::claude;
use support::run::fixtures;
use support::temp::copy_tree;

/// The steps of a repair of this house, by name.
fn steps() -> Vec<String> {
    let house = House::new(torn());
    let list = house.temp.join("steps");
    let run = house.bare().arg(house.store()).args(["--now", NOW_TEXT, "--yes"]).env("SID_AUDIT_STEPS", &list);
    assert_eq!(run.go().status, Some(0));
    let text = fs::read_to_string(&list).unwrap();
    text.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
}

#[test]
fn an_interrupted_run_is_finished_or_rolled_back_and_said() {
    let exchange = 1 + steps().iter().position(|step| step == "exchange").unwrap();
    for (at, said, repaired) in
        [(format!("{exchange}"), "was rolled back", false), (format!("{exchange}:after"), "was finished", true)]
    {
        let house = House::new(torn());
        let run = house.bare().arg(house.store()).args(["--now", NOW_TEXT, "--yes"]).env("SID_AUDIT_CRASH_AT", &at);
        assert_eq!(run.go().status, None, "it was not killed");
        assert_eq!(house.now() != house.bytes, repaired, "{at}");
        let list = house.undo(&["--list"]).json();
        let state = |list: &Value| list["journal"][0]["files"][0]["state"].clone();
        assert_ne!(state(&list), "verified");

        let next = house.run(&["--yes"]);
        let note = stderr(&next);
        assert_eq!(next.status, Some(0), "{note}");
        assert!(note.contains("an interrupted repair of") && note.contains(said), "{at}: {note}");
        assert!(note.contains(house.path.to_str().unwrap()), "{note}");
        let after = house.now();
        assert!(after.len() < house.bytes.len() && after.ends_with(b"\n"), "{at}");
        // Said once.
        assert!(!stderr(&house.run(&["--yes"])).contains("interrupted"));
        let list = house.undo(&["--list"]).json();
        let runs = list["journal"].as_array().unwrap();
        let id = runs.last().unwrap()["id"].as_str().unwrap();
        assert_eq!(runs.len(), if repaired { 1 } else { 2 });
        let undone = house.undo(&["--undo", id, "--yes"]);
        assert_eq!((undone.status, house.now()), (Some(0), house.bytes.clone()), "{at}: {}", stderr(&undone));
    }
}

#[test]
fn a_run_in_which_all_was_refused_says_that_nothing_was_changed() {
    let house = House::new(torn());
    touch(&house.path, now_ms());
    let outcome = house.run(&["--yes"]);
    assert!(outcome.status == Some(3) && outcome.text().ends_with("\nnothing was changed\n"), "{}", outcome.text());
    house.untouched();
}

#[test]
fn an_undo_tells_the_repaired_from_the_original() {
    let house = House::new(torn());
    let page = house.run(&["--yes"]).text();
    assert!(page.contains("original stays in") && page.contains("unused for 24 hours"), "{page}");
    let run = house.undo(&["--list"]).json()["journal"][0]["id"].as_str().unwrap().to_owned();
    let undone = house.bare().args(["--undo", &run, "--yes"]).go().text();
    assert!(undone.contains("repaired stays in") && !undone.contains("original stays"), "{undone}");
    let list = house.bare().arg("--list").go().text();
    assert!(list.contains("original: ") && list.contains("repaired: "), "{list}");
    let pruned = house.bare().arg("--prune").go().text();
    assert!(pruned.contains("2 originals stay") && pruned.contains("not yet unused for 24 hours"), "{pruned}");
}

#[test]
fn an_undo_carries_over_what_the_agent_appended() {
    let house = House::new(torn());
    let (_, report) = house.json(&["--yes"]);
    let run = report["applied"][0]["journal_id"].as_str().unwrap().split('/').next().unwrap().to_owned();
    let text = String::from_utf8(house.now()).unwrap();
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    let line = json!({"type": "user_message", "message": {"role": "user", "content": "on we go"},
        "timestamp": "2026-08-01T10:00:00.000Z", "uuid": "5e550000-0000-4000-8000-0000000000aa", "parentUuid": last["uuid"]});
    let line = format!("{line}\n");
    fs::write(&house.path, [text.as_bytes(), line.as_bytes()].concat()).unwrap();
    let asked = house.bare().args(["--undo", &run]).go();
    let bytes = format!("{} bytes were appended since", line.len());
    assert!(asked.status == Some(1) && asked.text().contains(&bytes), "{}", asked.text());
    let undone = house.undo(&["--undo", &run, "--yes", "--closed"]);
    assert_eq!(undone.status, Some(0), "{}", stderr(&undone));
    assert_eq!(house.now(), [&house.bytes[..], b"\n", line.as_bytes()].concat());

    // Whatever became of the session, its original can be had.
    fs::write(&house.path, b"{}\n").unwrap();
    let refused = house.undo(&["--undo", &run, "--yes", "--closed"]);
    assert_eq!(refused.status, Some(2), "{}", stderr(&refused));
    fs::remove_file(&house.path).unwrap();
    let target = house.temp.join("original.jsonl");
    let wrote = house.bare().args(["--undo", &run, "--to"]).arg(&target).go();
    assert_eq!((wrote.status, fs::read(&target).unwrap()), (Some(0), house.bytes), "{}", stderr(&wrote));
}

#[test]
fn a_run_that_was_never_made_is_named() {
    let house = House::new(torn());
    for args in [&["--undo", "20260101T000000000Z-00000000"][..], &["--undo", "nothing", "--to", "x"]] {
        let outcome = house.bare().args(args).go();
        let said = stderr(&outcome);
        assert_eq!(outcome.status, Some(2), "{said}");
        assert!(said.contains(args[1]) && said.contains("does not exist"), "{said}");
    }
}

/// Edits and what is left are told by the lines of the file that is there.
#[test]
fn places_are_those_of_the_file() {
    let house = House::new(gap());
    let text = String::from_utf8(house.now()).unwrap();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    // A text with nothing in it, in the last message.
    let last = lines.iter().rposition(|line| line.contains("assistant_message")).unwrap();
    let empty = lines[last].replacen("\"content\":[", "\"content\":[{\"type\":\"text\",\"text\":\"\"},", 1);
    lines[last] = &empty;
    // A line that nobody reads above it: it goes, and what stands below moves up in the result.
    write(&house.path, [lines[..1].concat(), "{\"torn\": \n".to_owned(), lines[1..].concat()].concat());
    touch(&house.path, NOW - 5_000_000);
    let (_, report) = house.json(&["--dry-run"]);
    let plan = &report["plan"][0];
    assert_eq!((&plan["edits"][0]["line"], &plan["edits"][0]["action"]), (&json!(2), &json!("quarantine")), "{plan}");
    // What is left stands a line higher in the result than in the file.
    let left = plan["left"].as_array().unwrap().iter().find(|f| f["code"] == "M401").unwrap();
    assert_eq!(left["line"], json!(last + 2), "{plan}");
    let (at, length) = (left["offset"].as_u64().unwrap() as usize, left["length"].as_u64().unwrap() as usize);
    assert!(lines[last].contains(std::str::from_utf8(&house.now()[at..at + length]).unwrap()), "{plan}");
    let page = house.run(&["--dry-run"]).text();
    assert!(page.contains(&format!("M401 empty-text on line {}", last + 2)), "{page}");
}

/// A class is named only where it was tried and would mend something.
#[test]
fn what_would_not_help_is_not_promised() {
    let house = House::new(whole());
    let index = house.store().join("checkpoints").join(session().id).join("index.json");
    write(&index, "{\"sessionId\":\"x\",\"snapshots\":[{\"id\":\"s1\",\"fil");
    touch(&index, NOW - 5_000_000);
    for up_to in ["links", "content"] {
        let (_, report) = house.json(&["--dry-run", "--up-to", up_to]);
        let left = &report["plan"][0]["left"][0];
        assert_eq!(left["code"], "K801");
        assert!(!left["why"].as_str().unwrap().contains("--up-to"), "{left}");
    }
    // A consequence goes with its cause.
    let temp = Temp::new("cli-repair-header");
    let file = fixtures("loaders/pi/12-missing-header.jsonl");
    let copy = temp.join("12-missing-header.jsonl");
    fs::copy(file, &copy).unwrap();
    let run = |up_to: &str| {
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("repair").arg(&copy);
        run.args(["--dry-run", "--format", "json", "--up-to", up_to]).go().json()
    };
    let report = run("links");
    let left = report["plan"][0]["left"].as_array().unwrap();
    assert!(left.iter().any(|f| f["code"] == "C211"), "{report}");
    assert!(left.iter().all(|f| f["why"] == "it takes --up-to content"), "{report}");
    assert_eq!(run("content")["plan"][0]["left"], json!([]));
}

/// What is only information is left alone until a person names its code; then a resume brings back the same.
#[test]
fn what_is_only_information_takes_its_code() {
    let temp = Temp::new("cli-repair-information");
    let session = |case: &str| {
        let store = temp.join(case);
        copy_tree(&fixtures("clean").join(case).join("store"), &store);
        let file = files_below(&store).into_iter().find(|f| f.extension().is_some_and(|e| e == "jsonl")).unwrap();
        store.join(file)
    };
    let logical = session("dangling-logical-parent");
    let text = fs::read_to_string(&logical).unwrap();
    let segment = "\"preTokens\":1000,\"preservedSegment\":{\"headUuid\":\"00000000-0000-4000-8000-000000000005\",\
        \"anchorUuid\":\"00000000-0000-4000-8000-000000000008\",\"tailUuid\":\"00000000-0000-4000-8000-000000000006\"}";
    write(&logical, text.replace("\"preTokens\":1000", segment));
    let progress = session("progress-parent");
    let separator = session("raw-line-separator");
    for (file, code, pointer) in [
        (&logical, "C215", "\"logicalParentUuid\":\"00000000-0000-4000-8000-000000000006\""),
        (
            &progress,
            "C214",
            "\"parentUuid\":\"00000000-0000-4000-8000-000000000001\",\"isSidechain\":false,\"message\"",
        ),
        (&separator, "L114", "\\u2028"),
    ] {
        let before = fs::read(file).unwrap();
        let messages = |file: &Path| {
            let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("chain").arg(file);
            run.args(["--format", "json"]).go().json()["messages"].clone()
        };
        let were = messages(file);
        let run = |args: &[&str]| {
            let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("repair").arg(file);
            run.env("XDG_STATE_HOME", temp.join("state")).args(["--now", NOW_TEXT]).args(args).go()
        };
        assert_eq!(run(&["--dry-run", "--up-to", "content"]).status, Some(0), "{code}");
        assert_eq!(run(&["--dry-run", "--select", &code[..1]]).status, Some(0), "{code}: its family is not its name");
        assert_eq!(run(&["--dry-run", "--select", code]).status, Some(1), "{code}");
        assert_eq!(fs::read(file).unwrap(), before);
        let done = run(&["--yes", "--select", code, "--idle", "0"]);
        assert_eq!(done.status, Some(0), "{code}: {}", stderr(&done));
        let after = fs::read_to_string(file).unwrap();
        assert!(after.contains(pointer) && !String::from_utf8_lossy(&before).contains(pointer), "{code}: {after}");
        assert_eq!(messages(file), were, "{code}");
        assert_eq!(run(&["--dry-run", "--select", code]).status, Some(0), "{code}: a second repair has work");
    }
}

/// A lookup that is behind is only information: the agent never reads it.
#[test]
fn a_stale_lookup_is_set_when_it_is_named() {
    let house = House::new(whole());
    let index = house.store().join("checkpoints").join(session().id).join("index.json");
    let snapshot = json!({"id": "s1", "timestamp": 1, "toolName": "edit", "files": [{"filePath": "/a", "existedBefore": true,
        "type": "full", "content": "x\n", "compressed": false}]});
    let text = json!({"sessionId": session().id, "createdAt": 5, "nextId": 2, "snapshots": [snapshot],
        "latestFullMap": {"/b": "s9"}});
    write(&index, text.to_string());
    touch(&index, NOW - 5_000_000);
    assert_eq!(house.run(&["--dry-run", "--up-to", "content"]).status, Some(0));
    assert_eq!(house.run(&["--yes", "--select", "K806"]).status, Some(0));
    let now: Value = serde_json::from_slice(&fs::read(&index).unwrap()).unwrap();
    assert_eq!(now["latestFullMap"], json!({"/a": "s1"}));
    assert_eq!(now["snapshots"], text["snapshots"]);
}

/// Two programs that start together: one repairs, and the other, when it comes while the first is at work, refuses.
#[test]
fn of_two_programs_at_once_one_works() {
    let mut refused = 0;
    for _ in 0..4 {
        let house = House::new(torn());
        let start = || {
            let args = ["--yes", "--now", NOW_TEXT, "--format", "json"];
            let mut command = house.bare().arg(house.store()).args(args).command();
            let piped = std::process::Stdio::piped;
            command.stdout(piped()).stderr(piped()).spawn().unwrap()
        };
        let both = [start(), start()].map(|child| child.wait_with_output().unwrap());
        let reports = both.each_ref().map(|out| serde_json::from_slice::<Value>(&out.stdout).unwrap());
        let applied: usize = reports.iter().filter_map(|r| r["applied"].as_array()).map(Vec::len).sum();
        assert_eq!(applied, 1, "{reports:#?}");
        for (out, report) in both.iter().zip(&reports) {
            let worked = report["applied"].as_array().is_some_and(|a| !a.is_empty());
            match out.status.code() {
                Some(3) => {
                    refused += 1;
                    assert!(!worked, "{report}");
                }
                status => assert_eq!(status, Some(0), "{report}"),
            }
        }
        let after = house.now();
        assert!(after.len() < house.bytes.len() && after.ends_with(b"\n"));
    }
    assert!(refused > 0, "they never met");
}

#[test]
fn every_home_of_the_machine() {
    let temp = Temp::new("cli-repair-homes");
    claude::home::write_home(&temp.join(".claude"), 3, 9);
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(["repair", "--all-homes", "--yes"]);
    let outcome = run.args(["--now", NOW_TEXT]).env("HOME", temp.path()).go();
    assert_eq!(outcome.status, Some(0), "{}{}", outcome.text(), stderr(&outcome));
    assert!(outcome.text().starts_with("nothing to repair within the chosen classes in"), "{}", outcome.text());
}
