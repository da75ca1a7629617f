//! What `predict` says, end to end: the recovery that was recorded, and stores that show each outcome of each state.
//!
//! The recorded sessions under `fixtures/predict/` are held to what sid-code did with them in `rules_tm/predict.rs`, fact
//! by fact; here the program says the same. The stores below are built in a folder of their own, because a binding to a
//! worktree, a registration and a crash lie beside a session and name places of this machine.

#![allow(clippy::needless_pass_by_value, reason = "a value is written as a literal where it is handed over")]

mod beside;
mod others;
mod states;

use crate::support;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::run::{Outcome, Run, fixtures};
use support::temp::{Temp, write};

const ID: &str = "20260301-090000-000000aa";
const PROCESS: &str = "20260302-100000-000000bb";

fn run(file: &Path, more: &[&str]) -> Outcome {
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("predict").arg(file);
    run.args(["--now", "2026-03-10T00:00:00Z"]).args(more).go()
}

fn predict(file: &Path) -> Value {
    let outcome = run(file, &["--format", "json"]);
    assert_eq!(outcome.status, Some(0), "{}", String::from_utf8_lossy(&outcome.stderr));
    outcome.json()
}

/// The outcome of a state, its line and its note.
fn state(document: &Value, name: &str) -> (String, Option<u64>, String) {
    let states = document["states"].as_array().expect("states");
    let state = states.iter().find(|s| s["name"] == name).unwrap_or_else(|| panic!("no state '{name}'"));
    let text = |key: &str| state[key].as_str().unwrap_or_default().to_owned();
    (text("outcome"), state["line"].as_u64(), text("note"))
}

fn outcome(document: &Value, name: &str) -> String {
    state(document, name).0
}

/// Lines of a session of sid-code in one chain; a record that names its own `uuid` or parent keeps it.
fn chain(records: &[Value]) -> String {
    let mut text = String::new();
    let mut last = Value::Null;
    for (n, record) in records.iter().enumerate() {
        let mut record = record.clone();
        let object = record.as_object_mut().expect("a record is an object");
        object.entry("timestamp").or_insert_with(|| json!(format!("2026-03-01T09:00:{n:02}.000Z")));
        object.entry("uuid").or_insert_with(|| json!(format!("00000000-0000-4000-8000-{n:012}")));
        object.entry("parentUuid").or_insert_with(|| last.clone());
        last = object["uuid"].clone();
        text.push_str(&format!("{record}\n"));
    }
    text
}

fn start(cwd: &str) -> Value {
    json!({"type": "session_start", "version": "3.0", "schemaCompat": "claude-code-like/v3", "sessionId": ID,
           "model": "demo-model", "provider": "demo", "cwd": cwd})
}

fn says(text: &str) -> Value {
    json!({"type": "user_message", "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
}

fn results(calls: &[&str]) -> Value {
    let blocks: Vec<Value> =
        calls.iter().map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})).collect();
    json!({"type": "user_message", "message": {"role": "user", "content": blocks}})
}

fn answers(text: &str, calls: &[(&str, &str)]) -> Value {
    let mut blocks = Vec::new();
    if !text.is_empty() {
        blocks.push(json!({"type": "text", "text": text}));
    }
    blocks.extend(calls.iter().map(|(id, name)| json!({"type": "tool_use", "id": id, "name": name, "input": {}})));
    json!({"type": "assistant_message", "message": {"role": "assistant", "content": blocks}, "model": "demo-model"})
}

fn metadata(key: &str, value: Value) -> Value {
    json!({"type": "metadata", "key": key, "value": value})
}

fn end() -> Value {
    json!({"type": "session_end", "totalCostUSD": 0, "totalMessages": 2})
}

/// A home with one session of these records.
fn home(temp: &Temp, records: &[Value]) -> PathBuf {
    let path = temp.join(format!(".sid-code/sessions/home-dev-demo/{ID}.jsonl"));
    write(&path, chain(records));
    path
}

/// A session that went well, with this metadata.
fn with(temp: &Temp, metadata: &[Value]) -> Value {
    let mut records = vec![start("/home/dev/demo"), says("go"), answers("done", &[])];
    records.extend(metadata.iter().cloned());
    predict(&home(temp, &records))
}

#[test]
fn the_program_says_what_the_agents_recovery_did() {
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures("predict")).expect("the fixtures") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let Some((stem, _)) = name.rsplit_once('.').filter(|(stem, _)| !stem.ends_with(".expect")) else { continue };
        let expected = std::fs::read(path.with_file_name(format!("{stem}.expect.json"))).expect("its expectation");
        let expected: Value = serde_json::from_slice(&expected).expect("JSON");
        let run = |more: &[&str]| run(&path, &[&["--agent", "sid", "--format", "json"], more].concat()).json();
        let document = run(&[]);
        assert_eq!(document["loadable"], true, "{name}");
        seen += 1;
        if expected.get("throws").is_some() {
            assert!(document["refused"].is_string() && document["resume"].get("cleaned").is_none(), "{name}");
            assert_eq!(outcome(&document, "messages"), "failed", "{name}");
            continue;
        }
        assert_eq!(document["interruption"]["state"], expected["interruption"], "{name}");
        assert_eq!(document["interruption"]["tools"], expected["tools"], "{name}");
        assert_eq!(document["resume"]["cleaned"], expected["cleaned"], "{name}");
        assert_eq!(document["resume"]["shown"], expected["shown"], "{name}");
        let layers = document["layers"].as_array().expect("layers");
        assert_eq!(layers.len(), 6, "{name}");
        let dropped: u64 = layers.iter().filter_map(|layer| layer["messages_dropped"].as_u64()).sum();
        let held = u64::from(document["interruption"]["state"] == "interrupted_prompt");
        let left = document["resume"]["loaded"].as_u64().expect("a number") - dropped - held;
        assert_eq!(json!(left), expected["cleaned"], "{name}");
        for asked in ["3", "10", "15"] {
            let tail = &run(&["--tail", asked])["safe_tail"];
            assert_eq!(tail["start"], expected["safe_tail"][asked], "{name} {asked}");
            assert_eq!(json!(left - tail["start"].as_u64().expect("a number")), tail["messages"], "{name} {asked}");
        }
    }
    assert!(seen >= 16, "{seen} sessions");
}

#[test]
fn a_page_tells_what_would_be_done_and_where_the_rules_err_apart() {
    let temp = Temp::new("page");
    let records = [
        start("/home/dev/\u{202e}demo\u{1b}[31m"),
        says("the secret prompt"),
        answers("let me see", &[("c1", "ba\u{1b}[2Jsh")]),
        metadata("agent_setting", json!({"model": "a-very-long-name-".repeat(20)})),
    ];
    let outcome = run(&home(&temp, &records), &[]);
    let page = outcome.text();
    let sections = [
        "What the agent would do on resume",
        "What its cleaning drops",
        "Where the conversation stopped",
        "How the last run ended",
        "Where its rules err",
    ];
    let found: Vec<usize> = sections.iter().map(|s| page.find(s).unwrap_or_else(|| panic!("{s}\n{page}"))).collect();
    assert!(found.is_sorted(), "{page}");
    let errs = &page[found[4]..];
    assert!(errs.contains("cut off in mid-call"), "{page}");
    assert!(!page.contains("secret") && !page.contains('\u{1b}') && !page.contains('\u{202e}'), "{page}");
    let long = page.lines().skip(1).filter(|line| line.chars().count() > 80 && !line.contains("a-very-long-name"));
    assert_eq!(long.count(), 0, "{page}");
    assert_eq!(run(Path::new("/nowhere/at/all.jsonl"), &[]).status, Some(2));
}
