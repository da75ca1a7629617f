//! `chain --autopsy` and `chain --anchors`: a finding's places laid out, and the prompts that a rewind can go to.

use crate::support;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::run::{Outcome, Run};
use support::temp::{Temp, write};

const SECRET: &str = "words that nobody should see";
const SESSION: &str = "5e550000-0000-4000-8000-000000000001";

fn run(args: &[&str], file: &Path) -> Outcome {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("chain").args(args).arg(file).go()
}

fn read(args: &[&str], file: &Path) -> Value {
    run(&[args, &["--format", "json"]].concat(), file).json()
}

fn id(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// A row of Claude Code below the row before it.
fn row(n: u32, kind: &str, content: &Value) -> String {
    let parent = if n == 1 { Value::Null } else { id(n - 1).into() };
    let row = json!({"type": kind, "uuid": id(n), "parentUuid": parent, "sessionId": SESSION, "isSidechain": false,
        "timestamp": format!("2026-03-01T00:{:02}:00.000Z", n % 60), "message": {"role": kind, "content": content}});
    format!("{row}\n")
}

fn text(n: u32, kind: &str) -> String {
    row(n, kind, &json!([{"type": "text", "text": SECRET}]))
}

/// Twelve rows; the call on line 5 is open, its name would ring a bell, and line 9 is no record.
fn with_an_open_call(temp: &Temp) -> PathBuf {
    let mut lines: Vec<String> = (1..=12).map(|n| text(n, if n % 2 == 1 { "user" } else { "assistant" })).collect();
    lines[3] =
        row(4, "assistant", &json!([{"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"a": SECRET}}]));
    lines[4] = row(5, "user", &json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": SECRET}]));
    lines[5] = row(
        6,
        "assistant",
        &json!([{"type": "text", "text": SECRET},
        {"type": "tool_use", "id": "toolu_\u{7}2", "name": "Ba\u{202e}sh", "input": {"command": SECRET}}]),
    );
    lines.insert(8, format!("{{\"type\":\"user\",\"cut\":\"{SECRET}\n"));
    let file = temp.join("home/.claude/projects/-home-demo").join(format!("{SESSION}.jsonl"));
    write(&file, lines.concat());
    file
}

#[test]
fn an_autopsy_lays_out_three_records_on_either_side() {
    let temp = Temp::new("chain-autopsy");
    let file = with_an_open_call(&temp);
    let autopsy = read(&["--autopsy", "T301"], &file)["autopsy"].clone();
    assert_eq!((&autopsy["code"], &autopsy["name"]), (&"T301".into(), &"orphan-tool-use".into()));
    let [place] = autopsy["places"].as_array().unwrap().as_slice() else { panic!("{autopsy}") };
    let records = place["records"].as_array().unwrap();
    let lines: Vec<u64> = records.iter().map(|r| r["line"].as_u64().unwrap()).collect();
    assert_eq!((&place["line"], lines), (&6.into(), vec![3, 4, 5, 6, 7, 8, 10]));
    let subjects: Vec<&Value> = records.iter().filter(|r| r["subject"] == true).map(|r| &r["line"]).collect();
    assert_eq!(subjects, [&Value::from(6)]);
    assert_eq!(
        records[1]["blocks"][0],
        json!({"kind": "call", "call": "toolu_1", "tool": "Read", "state": "answered", "other_line": 5})
    );
    assert_eq!(
        records[2]["blocks"][0],
        json!({"kind": "result", "call": "toolu_1", "state": "answers", "other_line": 4})
    );
    assert_eq!(records[3]["blocks"][0], json!({"kind": "text"}));
    assert_eq!(records[3]["blocks"][1]["state"], "open");
}

#[test]
fn an_autopsy_shows_no_text_and_nothing_that_a_terminal_obeys() {
    let temp = Temp::new("chain-autopsy-page");
    let file = with_an_open_call(&temp);
    for args in [&["--autopsy", "T301"][..], &["--autopsy", "orphan-tool-use", "--show-content"]] {
        let page = run(args, &file).text();
        assert!(page.contains("call Ba\\u{202e}sh toolu_\\x072: open"), "{page}");
        assert!(page.contains("result toolu_1: answers, its call is on line 4"), "{page}");
        assert!(!page.contains(SECRET), "{page}");
        assert_eq!(page.lines().filter(|line| line.starts_with("  > ")).count(), 1, "{page}");
    }
    assert!(!run(&["--autopsy", "T301", "--format", "json"], &file).text().contains(SECRET));
}

#[test]
fn a_place_that_is_no_record_stands_between_its_neighbours() {
    let temp = Temp::new("chain-autopsy-bad");
    let file = with_an_open_call(&temp);
    let places = read(&["--autopsy", "L106"], &file)["autopsy"]["places"].clone();
    let records = places[0]["records"].as_array().unwrap();
    let lines: Vec<u64> = records.iter().map(|r| r["line"].as_u64().unwrap()).collect();
    assert_eq!((&places[0]["line"], lines), (&9.into(), vec![6, 7, 8, 10, 11, 12]));
    assert!(records.iter().all(|r| r["subject"] == false));
    let page = run(&["--autopsy", "L106"], &file).text();
    let shown: Vec<&str> = page.lines().filter(|line| line.contains(" line ") && !line.contains("call")).collect();
    assert!(shown[3].starts_with("  > line 9 ") && shown[3].contains("no record"), "{page}");
}

#[test]
fn an_autopsy_of_what_is_not_there_says_so() {
    let temp = Temp::new("chain-autopsy-none");
    let file = with_an_open_call(&temp);
    let outcome = run(&["--autopsy", "T304", "--fail-on", "never"], &file);
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.text().contains("no T304 repeated-result in this session"), "{}", outcome.text());
    let places = read(&["--autopsy", "T304"], &file)["autopsy"]["places"].clone();
    assert_eq!(places, json!([]));
    let unknown = run(&["--autopsy", "T999"], &file);
    assert_eq!(unknown.status, Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("there is no finding 'T999'"));
}

const SID: &str = "20260301-120000-0000abcd";

/// Four prompts, at minutes 0, 10, 20 and 30, of a session that names snapshot s1 before its second prompt.
fn sid_home(temp: &Temp, snapshots: &Value) -> PathBuf {
    let home = temp.join(".sid-code");
    let file = home.join("sessions/home-dev-demo").join(format!("{SID}.jsonl"));
    let mut lines = String::new();
    let mut parent = Value::Null;
    let mut add = |n: u32, mut record: Value| {
        record["uuid"] = id(n).into();
        record["parentUuid"] = std::mem::replace(&mut parent, id(n).into());
        lines.push_str(&format!("{record}\n"));
    };
    add(
        1,
        json!({"type": "session_start", "version": "3.0", "sessionId": SID, "model": "m", "provider": "demo",
        "cwd": "/home/dev/demo", "timestamp": "2026-03-01T11:59:00.000Z"}),
    );
    for turn in 0..4 {
        let time = |minute: u32| format!("2026-03-01T12:{:02}:00.000Z", turn * 10 + minute);
        add(
            turn * 4 + 2,
            json!({"type": "user_message", "timestamp": time(0),
            "message": {"role": "user", "content": [{"type": "text", "text": SECRET}]}}),
        );
        add(
            turn * 4 + 3,
            json!({"type": "assistant_message", "timestamp": time(9),
            "message": {"role": "assistant", "content": [{"type": "text", "text": SECRET}]}}),
        );
        if turn == 0 {
            add(
                4,
                json!({"type": "metadata", "key": "file_changes", "timestamp": time(9), "value": {"files": ["/a"],
                "lastTool": "edit", "count": 1, "lastSnapshotId": "s1", "snapshotIds": ["s1"]}}),
            );
        }
    }
    write(&file, lines);
    let index = json!({"sessionId": SID, "createdAt": 0, "nextId": 5, "snapshots": snapshots, "latestFullMap": {}});
    write(&home.join("checkpoints").join(SID).join("index.json"), index.to_string());
    file
}

/// A snapshot at a minute of that hour.
fn snapshot(n: u32, minute: u64, file: &Value) -> Value {
    json!({"id": format!("s{n}"), "timestamp": 1_772_366_400_000_u64 + minute * 60_000, "toolName": "edit",
        "toolSummary": "", "files": [file]})
}

fn full(path: &str, content: &str) -> Value {
    json!({"filePath": path, "existedBefore": true, "type": "full", "content": content, "compressed": false})
}

fn diff(path: &str, from: &str, to: &str) -> Value {
    json!({"filePath": path, "existedBefore": true, "type": "diff",
        "diff": {"ops": [{"type": "remove", "lines": [from]}, {"type": "add", "lines": [to]}]}})
}

fn anchors(file: &Path) -> Vec<(u64, Option<String>, bool, Option<bool>)> {
    let report = read(&["--anchors"], file);
    let rows = report["anchors"].as_array().unwrap();
    rows.iter()
        .map(|a| {
            let snapshot = a["snapshot"].as_str().map(str::to_owned);
            (
                a["line"].as_u64().unwrap(),
                snapshot,
                a["evicted"].as_bool().unwrap(),
                a.get("restorable").map(|r| r == true),
            )
        })
        .collect()
}

#[test]
fn a_rewind_goes_to_the_newest_snapshot_before_its_prompt() {
    let temp = Temp::new("chain-anchors");
    // /a was one, then two (s2), then three (s3); the agent's rewind behind s2 brings back two, where three stood.
    let snapshots = json!([
        snapshot(1, 5, &full("/a", "one")),
        snapshot(2, 15, &diff("/a", "one", "two")),
        snapshot(3, 25, &diff("/a", "two", "three"))
    ]);
    let file = sid_home(&temp, &snapshots);
    let s = |n: u32| Some(format!("s{n}"));
    assert_eq!(
        anchors(&file),
        [
            // Nothing to go to, and /a was changed later.
            (2, None, false, Some(false)),
            (5, s(1), false, Some(false)),
            (7, s(2), false, Some(false)),
            // Nothing was changed behind it.
            (9, s(3), false, Some(true)),
        ]
    );
    let page = run(&["--anchors"], &file).text();
    assert!(page.contains("The last 4 prompts") && page.contains("nothing to bring back"), "{page}");
    assert!(!page.contains(SECRET));
}

#[test]
fn a_file_that_was_first_seen_after_the_prompt_comes_back() {
    let temp = Temp::new("chain-anchors-new");
    let mut born = full("/b", "");
    born["existedBefore"] = false.into();
    let file = sid_home(&temp, &json!([snapshot(1, 5, &full("/a", "one")), snapshot(2, 15, &born)]));
    let found = anchors(&file);
    assert_eq!(found[1], (5, Some("s1".to_owned()), false, Some(true)));
}

#[test]
fn an_evicted_snapshot_is_told_from_one_that_was_never_stored() {
    let temp = Temp::new("chain-anchors-evicted");
    let file = sid_home(&temp, &json!([snapshot(3, 25, &full("/a", "three"))]));
    // The session names s1, and the index begins with s3.
    assert_eq!(anchors(&file)[1], (5, Some("s1".to_owned()), true, Some(false)));
    assert!(run(&["--anchors"], &file).text().contains("none: evicted"));
    let without = sid_home(&temp, &json!([]));
    std::fs::remove_dir_all(temp.join(".sid-code/checkpoints")).unwrap();
    assert_eq!(anchors(&without)[1], (5, Some("s1".to_owned()), false, None));
}

#[test]
fn the_anchors_of_claude_code_are_its_own_snapshots() {
    let temp = Temp::new("chain-anchors-claude");
    let home = temp.join("home/.claude");
    let snapshot = |n: u32, name: &str| {
        let backup = json!({"backupFileName": name, "version": 1, "backupTime": "2026-03-01T00:00:00.000Z"});
        let row = json!({"type": "file-history-snapshot", "messageId": id(n), "isSnapshotUpdate": false,
            "snapshot": {"messageId": id(n), "timestamp": "2026-03-01T00:00:00.000Z", "trackedFileBackups": {"a.txt": backup}}});
        format!("{row}\n")
    };
    let lines = [
        text(1, "user"),
        snapshot(1, "00000000000000aa@v1"),
        text(2, "assistant"),
        text(3, "user"),
        snapshot(3, "00000000000000aa@v2"),
        text(4, "assistant"),
        text(5, "user"),
        text(6, "assistant"),
    ];
    let file = home.join("projects/-home-demo").join(format!("{SESSION}.jsonl"));
    write(&file, lines.concat());
    write(&home.join("file-history").join(SESSION).join("00000000000000aa@v2"), "two\n");
    assert_eq!(
        anchors(&file),
        [(1, Some(id(1)), true, Some(false)), (4, Some(id(3)), false, Some(true)), (7, None, false, None)]
    );
    let pi = temp.join("pi.jsonl");
    write(
        &pi,
        "{\"type\":\"session\",\"version\":3,\"id\":\"a\",\"timestamp\":\"2026-03-01T00:00:00.000Z\",\"cwd\":\"/\"}\n",
    );
    let outcome = run(&["--anchors", "--agent", "pi"], &pi);
    assert_eq!(outcome.status, Some(2));
    assert!(String::from_utf8_lossy(&outcome.stderr).contains("pi keeps no snapshots of files"));
}
