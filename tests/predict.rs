//! What `predict` says, end to end: the recovery that was recorded, and stores that show each outcome of each state.
//!
//! The recorded sessions under `fixtures/predict/` are held to what sid-code did with them in `rules_tm/predict.rs`, fact
//! by fact; here the program says the same. The stores below are built in a folder of their own, because a binding to a
//! worktree, a registration and a crash lie beside a session and name places of this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is test code outside #[test]")]
#![allow(clippy::disallowed_methods, clippy::needless_pass_by_value, reason = "the tests write the stores")]

mod support;

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
        let run = |more: &[&str]| run(&path, &[&["--dialect", "sid", "--format", "json"], more].concat()).json();
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
fn a_goal_is_a_json_string_inside_json() {
    let goal = |status: &str| {
        json!({"id": "g", "objective": "all pass", "status": status, "tokensUsed": 0, "turnsUsed": 1, "maxTurns": 20,
               "createdAt": 1, "updatedAt": 1, "evidenceLog": []})
        .to_string()
    };
    for (value, expected) in [
        (json!(goal("active")), "restored"),
        (json!(goal("paused")), "restored"),
        (json!(goal("complete")), "final"),
        (json!(goal("impossible")), "final"),
        (json!("__CLEARED__"), "final"),
        (json!("{\"status\":\"active\"}"), "normalised"),
        (json!("5"), "normalised"),
        (json!("{broken"), "failed"),
        (json!("null"), "failed"),
        (json!("NaN"), "failed"),
        (json!({"status": "active"}), "failed"),
        (json!(""), "missing"),
        (Value::Null, "missing"),
    ] {
        let temp = Temp::new("goal");
        let document = with(&temp, &[metadata("goal_state", value.clone())]);
        let (outcome, line, note) = state(&document, "goal");
        assert_eq!((outcome.as_str(), line), (expected, Some(4)), "{value}");
        assert!(!note.contains("all pass"), "what a person wrote is not shown: {note}");
    }
    let temp = Temp::new("goal");
    assert_eq!(state(&with(&temp, &[]), "goal"), ("missing".to_owned(), None, "no goal was set".to_owned()));
}

#[test]
fn the_last_value_on_the_accepted_chain_counts() {
    let temp = Temp::new("last");
    let document = with(
        &temp,
        &[
            metadata("goal_state", json!("__CLEARED__")),
            metadata("goal_state", json!("{\"id\":\"g\",\"objective\":\"x\",\"status\":\"complete\"}")),
        ],
    );
    assert_eq!(state(&document, "goal").1, Some(5));
    // A value that another process wrote on a branch of its own is not on the chain of the last writer.
    let temp = Temp::new("branch");
    let fork = "00000000-0000-4000-8000-000000000002";
    let mut other = metadata("goal_state", json!("{broken"));
    other["parentUuid"] = json!(fork);
    let mut spoken = answers("elsewhere", &[]);
    spoken["parentUuid"] = json!("00000000-0000-4000-8000-000000000004");
    let mut last = metadata("session_name", json!("mine"));
    last["parentUuid"] = json!("00000000-0000-4000-8000-000000000003");
    let document = predict(&home(
        &temp,
        &[
            start("/home/dev/demo"),
            says("go"),
            answers("done", &[]),
            metadata("goal_state", json!("__CLEARED__")),
            other,
            spoken,
            last,
        ],
    ));
    assert_eq!(state(&document, "goal").1, Some(4));
    let doubt = document["interruption"]["doubt"].as_str().expect("a doubt");
    assert!(doubt.contains("the last writer's branch decides") && doubt.contains("1 message"), "{doubt}");
}

#[test]
fn metadata_is_taken_back_item_by_item() {
    let model = json!({"inputTokens": 1, "stockPromptTokens": 1, "cumulativePromptTokens": 1, "outputTokens": 1,
        "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "requests": 1, "costUSD": 0, "cacheSavingsUSD": 0,
        "provider": "demo"});
    let usage = |models: Value| json!({"totalCostUSD": 0.5, "sideCostUSD": 0, "totalAPIDuration": 1, "totalToolDuration": 1, "modelUsage": models});
    let item = |status: &str| json!({"content": "read it", "activeForm": "reading it", "status": status});
    let hypothesis = json!({"id": "H1", "statement": "s", "falsifier": "f", "status": "open"});
    for (key, value, name, expected) in [
        ("usage_stats", usage(json!({"demo-model": model})), "usage", "restored"),
        ("usage_stats", usage(json!({"demo-model": {"requests": 1}})), "usage", "normalised"),
        ("usage_stats", json!({"modelUsage": {}}), "usage", "normalised"),
        ("usage_stats", json!("much"), "usage", "ignored"),
        ("file_changes", json!({"files": ["/a", "/b"], "count": 2}), "changed files", "restored"),
        ("file_changes", json!({"files": ["/a", null], "count": 2}), "changed files", "normalised"),
        ("file_changes", json!({"count": 2}), "changed files", "ignored"),
        ("todo_state", json!({"todos": [item("pending"), item("completed")]}), "todo", "restored"),
        ("todo_state", json!({"todos": [item("pending"), item("someday")]}), "todo", "normalised"),
        ("todo_state", json!({"todos": [], "lastWritten": [item("completed")]}), "todo", "final"),
        ("todo_state", json!({"todos": []}), "todo", "restored"),
        ("todo_state", json!({"todos": 3}), "todo", "ignored"),
        ("agent_setting", json!({"model": "other"}), "model and provider", "restored"),
        ("agent_setting", json!({"effortLevel": "high"}), "model and provider", "ignored"),
        ("agent_setting", json!({"model": 5}), "model and provider", "unknown"),
        ("agent_setting", json!({"effortLevel": null, "thinking": "on"}), "effort and thinking", "restored"),
        ("agent_setting", json!({"effortLevel": "huge"}), "effort and thinking", "unknown"),
        ("agent_setting", json!({"model": "other"}), "effort and thinking", "missing"),
        ("agent_setting", json!({"permissionMode": "acceptEdits"}), "permission mode", "ignored"),
        ("hypothesis_ledger", json!({"seq": 1, "items": [hypothesis]}), "hypothesis ledger", "restored"),
        ("hypothesis_ledger", json!({"seq": 1, "items": [hypothesis, 3]}), "hypothesis ledger", "normalised"),
    ] {
        let temp = Temp::new("metadata");
        let document = with(&temp, &[metadata(key, value.clone())]);
        let (outcome, line, note) = state(&document, name);
        let line_wanted = if (name, expected) == ("model and provider", "ignored") { 1 } else { 4 };
        assert_eq!((outcome.as_str(), line), (expected, Some(line_wanted)), "{key} {value}: {note}");
        assert!(!note.contains("read it"), "{note}");
    }
}

#[test]
fn a_call_cut_off_in_mid_run_is_doubted() {
    let doubt = |records: &[Value]| {
        let temp = Temp::new("cut-off");
        let mut all = vec![start("/home/dev/demo"), says("go")];
        all.extend(records.iter().cloned());
        let document = predict(&home(&temp, &all));
        let interruption = &document["interruption"];
        let text = |key: &str| interruption[key].as_str().unwrap_or_default().to_owned();
        (text("state"), interruption["tools"].clone(), text("doubt"))
    };
    // Words and a call: the call is dropped, and what is left looks like a finished answer.
    let (state, _, why) = doubt(&[answers("let me see", &[("c1", "bash")])]);
    assert_eq!(state, "none");
    assert!(why.contains("cut off in mid-call and counts as none") && why.contains("'bash' (line 3)"), "{why}");
    // A call alone: the message goes with it, and the prompt looks unanswered.
    let (state, _, why) = doubt(&[answers("", &[("c1", "bash")])]);
    assert_eq!(state, "interrupted_prompt");
    assert!(why.contains("had begun to answer") && why.contains("'bash' (line 3)"), "{why}");
    // One of two calls was answered: the note names that one.
    let (state, tools, why) = doubt(&[answers("", &[("c1", "read"), ("c2", "bash")]), results(&["c1"])]);
    assert_eq!((state.as_str(), &tools), ("interrupted_turn", &json!(["read"])));
    assert!(why.contains("'bash' (line 3)") && why.contains("does not name it"), "{why}");
    // Nothing to doubt.
    let (state, tools, why) = doubt(&[answers("", &[("c1", "read")]), results(&["c1"])]);
    assert_eq!((state.as_str(), &tools, why.as_str()), ("interrupted_turn", &json!(["read"]), ""));
    let (state, _, why) = doubt(&[answers("done", &[])]);
    assert_eq!((state.as_str(), why.as_str()), ("none", ""));
    // The results' calls do not stand right before them.
    let (_, tools, why) = doubt(&[answers("", &[("c1", "read")]), answers("wait", &[]), results(&["c1"])]);
    assert_eq!(tools, json!([]));
    assert!(why.contains("no tool is named"), "{why}");
    let mut thought = answers("", &[]);
    thought["message"]["content"] = json!([{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]);
    let (state, _, why) = doubt(&[thought]);
    assert_eq!(state, "interrupted_prompt");
    assert!(why.contains("had begun to think on line 3"), "{why}");
}

#[test]
fn how_it_ended_is_not_where_it_stopped() {
    let temp = Temp::new("ended");
    // Ended in good order, and a prompt is open.
    let path = home(&temp, &[start("/home/dev/demo"), says("go"), answers("done", &[]), says("more"), end()]);
    let document = predict(&path);
    assert_eq!(document["ended"], json!({"end_mark": true, "process": "unknown"}));
    assert_eq!(document["interruption"]["state"], "interrupted_prompt");
    // A second process came, answered, and left no mark: that of the first one does not count.
    let mut records = vec![start("/home/dev/demo"), says("go"), answers("done", &[]), end()];
    records.push(metadata("trace_session_id", json!(PROCESS)));
    let document = predict(&home(&temp, &records));
    assert_eq!(document["ended"]["end_mark"], false);
    // Registered is the process, under the id that it noted here.
    let register = |id: &str, pid: i64, started: i64| {
        let entry = json!({"sessionId": id, "pid": pid, "kind": "interactive", "cwd": "/", "startedAt": started});
        write(&temp.join(format!(".sid-code/active-sessions/{id}.json")), entry.to_string());
    };
    register(ID, 4_194_305, 1_772_355_600_000);
    assert_eq!(predict(&path)["ended"]["process"], "dead");
    let far = 99_999_999_999_999;
    register(PROCESS, i64::from(std::process::id()), far);
    if cfg!(unix) {
        assert_eq!(predict(&path)["ended"]["process"], "alive");
    }
    if cfg!(target_os = "linux") {
        register(PROCESS, i64::from(std::process::id()), 1000);
        assert_eq!(predict(&path)["ended"]["process"], "recycled");
    }
}

#[test]
fn a_crash_leaves_a_snapshot_under_the_id_of_the_process() {
    let temp = Temp::new("crash");
    let records = [
        start("/home/dev/demo"),
        says("go"),
        answers("done", &[]),
        metadata("trace_session_id", json!(PROCESS)),
        says("more"),
    ];
    let path = home(&temp, &records);
    assert!(predict(&path)["ended"].get("crash").is_none());
    let snapshot = |id: &str, message: &str| {
        let snapshot = json!({"session_id": id, "timestamp": "2026-03-02T10:00:00.000Z", "error_name": "Error",
            "error_message": message, "signal": "SIGABRT", "last_tool": "bash", "last_stop_reason": "tool_use"});
        let path = temp.join(format!(".sid-code/trajectories/sessions/{id}/crash.json"));
        write(&path, snapshot.to_string());
    };
    // That of the first process is not about the last run.
    snapshot(ID, "boom");
    assert!(predict(&path)["ended"].get("crash").is_none());
    snapshot(PROCESS, "out of memory: the secret prompt");
    let crash = predict(&path)["ended"]["crash"].clone();
    assert_eq!((&crash["signal"], &crash["last_tool"]), (&json!("SIGABRT"), &json!("bash")));
    assert_eq!((&crash["session_id"], &crash["last_stop_reason"]), (&json!(PROCESS), &json!("tool_use")));
    assert_eq!(crash["terminal_closed"], false);
    assert!(!crash.to_string().contains("secret"));
    snapshot(PROCESS, "EIO: i/o error, write");
    assert_eq!(predict(&path)["ended"]["crash"]["terminal_closed"], true);
    write(&temp.join(format!(".sid-code/trajectories/sessions/{PROCESS}/crash.json")), "{torn");
    assert_eq!(predict(&path)["ended"]["crash"]["terminal_closed"], false);
    // An id that is a way to another folder is none.
    let mut records = records.to_vec();
    records[3] = metadata("trace_session_id", json!(format!("../sessions/{PROCESS}")));
    assert!(predict(&home(&temp, &records))["ended"].get("crash").is_none());
}

#[test]
fn what_lies_beside_the_session_is_taken_up() {
    let temp = Temp::new("beside");
    let project = temp.join("project");
    let (root, cwd) = (project.to_string_lossy().into_owned(), project.join("src"));
    std::fs::create_dir_all(project.join(".git")).expect("a folder");
    std::fs::create_dir_all(&cwd).expect("a folder");
    let path = home(&temp, &[start(&cwd.to_string_lossy()), says("go"), answers("done", &[])]);
    let document = predict(&path);
    for name in ["unfinished sidechains", "worktree", "progress file"] {
        assert_eq!(outcome(&document, name), "missing", "{name}");
    }
    let folder = path.parent().expect("a folder").to_owned();
    let side = |agent: &str, last: &str| {
        let start = json!({"type": "sidechain_start", "sessionId": ID, "agentId": agent, "agentType": "explore"});
        write(&folder.join(format!("{ID}-{agent}.jsonl")), format!("{start}\n{last}\n"));
    };
    side("task-1", r#"{"type":"sidechain_end","status":"completed"}"#);
    assert_eq!(outcome(&predict(&path), "unfinished sidechains"), "final");
    side("task-2", r#"{"type":"message","role":"user","content":[]}"#);
    // A null line: the agent's reader throws and passes the file over.
    side("task-3", "null");
    write(&folder.join(format!("{ID}-task-4.jsonl")), "");
    let (outcome_, _, note) = state(&predict(&path), "unfinished sidechains");
    assert_eq!(outcome_, "restored");
    assert!(note.starts_with("'task-2' is named to the model"), "{note}");
    let side = predict(&folder.join(format!("{ID}-task-2.jsonl")));
    assert_eq!(side["loadable"], false);
    assert_eq!(outcome(&side, "messages"), "failed");

    let progress = temp.join(format!(".sid-code/progress/{ID}.md"));
    write(&progress, " \n");
    assert_eq!(outcome(&predict(&path), "progress file"), "ignored");
    write(&progress, "# work log\n");
    let document = predict(&path);
    assert_eq!(outcome(&document, "progress file"), "restored");
    let states = document["states"].as_array().expect("states");
    let named = states.iter().find(|s| s["name"] == "progress file").expect("it");
    assert_eq!(named["path"], json!(progress.to_string_lossy()));

    let config = project.join(".sid-code/session-config.json");
    write(&config, "{torn");
    assert_eq!(outcome(&predict(&path), "worktree"), "missing");
    let bind = |to: Value| write(&config, json!({"activeWorktreeSession": {"worktreePath": to}}).to_string());
    bind(json!(format!("{root}/gone")));
    assert_eq!(outcome(&predict(&path), "worktree"), "failed");
    bind(json!(3));
    assert_eq!(outcome(&predict(&path), "worktree"), "failed");
    write(&project.join("tree/.git"), "gitdir: elsewhere\n");
    bind(json!(format!("{root}/tree")));
    assert_eq!(outcome(&predict(&path), "worktree"), "restored");
    // A session from another machine: the binding is not looked for.
    let away = home(&temp, &[start("/nowhere/at/all"), says("go"), answers("done", &[])]);
    assert_eq!(outcome(&predict(&away), "worktree"), "unknown");
}

#[test]
fn what_is_not_brought_back_keeps_its_states_to_itself() {
    let temp = Temp::new("unloadable");
    let records = [
        start("/home/dev/demo"),
        says("go"),
        answers("done", &[]),
        metadata("todo_state", json!({"todos": [{"content": "a", "activeForm": "b", "status": "pending"}]})),
    ];
    let path = home(&temp, &records);
    let text = std::fs::read_to_string(&path).expect("the session");
    let broken: Vec<&str> = text.lines().enumerate().map(|(n, l)| if n == 1 { "{torn" } else { l }).collect();
    write(&path, broken.join("\n"));
    let document = predict(&path);
    assert_eq!(document["loadable"], false);
    assert!(document["refused"].as_str().expect("why").contains("breaks on line 3"), "{}", document["refused"]);
    assert_eq!(document["interruption"], json!({"state": "none", "tools": [], "next": "nothing"}));
    assert_eq!(state(&document, "todo").0, "failed");
    assert_eq!(state(&document, "usage").0, "missing");
    assert_eq!(state(&document, "permission mode").0, "ignored");
}

#[test]
fn claude_code_and_pi_answer_the_same_questions() {
    let temp = Temp::new("claude");
    let id = "11111111-1111-4111-8111-111111111111";
    let row = |n: u32, parent: Option<u32>, kind: &str, content: Value| {
        let uuid = |n: u32| format!("00000000-0000-4000-8000-{n:012}");
        json!({"type": kind, "uuid": uuid(n), "parentUuid": parent.map(uuid), "sessionId": id, "cwd": "/w",
               "timestamp": format!("2026-03-01T09:00:{n:02}.000Z"), "version": "2.1.230",
               "message": {"role": kind, "content": content, "model": "claude-opus-5"}})
    };
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "TodoWrite", "input": {"todos": [{}, {}]}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]);
    let backup = json!({"backupFileName": "0123456789abcdef@v1", "version": 1});
    let mut rows = vec![
        row(1, None, "user", json!("go")),
        json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {"messageId": "m",
               "trackedFileBackups": {"a.rs": backup}}}),
        row(2, Some(1), "assistant", call),
        row(3, Some(2), "user", result),
        json!({"type": "custom-title", "customTitle": "secret plan", "sessionId": id}),
        json!({"type": "tag", "tag": "", "sessionId": id}),
        json!({"type": "agent-setting", "agentSetting": "reviewer", "sessionId": id}),
        json!({"type": "mode", "mode": "coordinator", "sessionId": id}),
        json!({"type": "permission-mode", "permissionMode": "plan", "sessionId": id}),
        json!({"type": "worktree-state", "worktreeSession": null, "sessionId": id}),
        json!({"type": "marble-origami-commit", "collapseId": "c", "firstArchivedUuid": "x", "lastArchivedUuid": "y"}),
    ];
    let path = temp.join(format!(".claude/projects/-w/{id}.jsonl"));
    let text = |rows: &[Value]| rows.iter().map(|row| format!("{row}\n")).collect::<String>();
    write(&path, text(&rows));
    let document = predict(&path);
    assert_eq!(document["interruption"]["state"], "interrupted_turn");
    assert_eq!(document["interruption"]["tools"], json!(["TodoWrite"]));
    assert_eq!((&document["ended"]["end_mark"], &document["layers"]), (&Value::Null, &json!([])));
    for (name, expected, line) in [
        ("messages", "restored", Some(4)),
        ("file history", "failed", Some(2)),
        ("todos", "unknown", Some(3)),
        ("agent type and model", "restored", Some(7)),
        ("mode", "restored", Some(8)),
        ("worktree", "final", Some(10)),
        ("titles", "restored", Some(6)),
        ("context collapse", "failed", Some(11)),
        ("permission mode", "unknown", Some(9)),
    ] {
        let (outcome, at, note) = state(&document, name);
        assert_eq!((outcome.as_str(), at), (expected, line), "{name}: {note}");
        assert!(!note.contains("secret"), "{note}");
    }
    write(&temp.join(format!(".claude/file-history/{id}/0123456789abcdef@v1")), "fn main() {}\n");
    assert_eq!(outcome(&predict(&path), "file history"), "restored");
    // A newer leaf elsewhere, and a line that nobody reads: what is reported of the client is told as a doubt.
    rows.insert(2, row(9, Some(1), "assistant", json!([{"type": "text", "text": "another"}])));
    write(&path, format!("{}{{torn\n", text(&rows)));
    let doubt = predict(&path)["interruption"]["doubt"].as_str().expect("a doubt").to_owned();
    assert!(doubt.contains("go by the time") && doubt.contains("stop at such a line"), "{doubt}");

    let temp = Temp::new("pi");
    let entry = |id: &str, parent: Value, kind: &str, more: Value| {
        let mut entry = json!({"type": kind, "id": id, "parentId": parent, "timestamp": "2026-03-01T09:00:00.000Z"});
        entry.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        entry
    };
    let message = |role: &str, more: Value| {
        let mut message = json!({"role": role, "content": [{"type": "text", "text": "x"}]});
        message.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!({"message": message})
    };
    let entries = [
        json!({"type": "session", "version": 3, "id": "p", "timestamp": "2026-03-01T09:00:00.000Z", "cwd": "/w"}),
        entry("00000001", Value::Null, "message", message("user", json!({}))),
        entry(
            "00000002",
            json!("00000001"),
            "message",
            message("assistant", json!({"provider": "a", "model": "m1", "stopReason": "stop"})),
        ),
        entry("00000003", json!("00000002"), "model_change", json!({"provider": "b", "modelId": "m2"})),
        entry("00000004", json!("00000003"), "thinking_level_change", json!({"thinkingLevel": "high"})),
        entry("00000005", json!("00000004"), "context_edit", json!({"targetId": "00000001", "replacement": null})),
        entry("00000006", json!("00000005"), "label", json!({"targetId": "00000002", "label": "here"})),
        entry("00000007", json!("00000006"), "session_info", json!({"name": ""})),
    ];
    let path = temp.join(".pi/agent/sessions/--w--/2026-03-01T09-00-00-000Z_p.jsonl");
    write(&path, text(&entries));
    let document = predict(&path);
    for (name, expected, line) in [
        ("messages", "restored", None),
        ("leaf", "restored", Some(8)),
        ("model", "restored", Some(4)),
        ("thinking level", "restored", Some(5)),
        ("context edits", "restored", Some(6)),
        ("labels", "restored", Some(7)),
        ("session name", "missing", Some(8)),
    ] {
        let (outcome, at, note) = state(&document, name);
        assert_eq!((outcome.as_str(), at), (expected, line), "{name}: {note}");
    }
    assert!(state(&document, "model").2.contains("'m2' of 'b'"));
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
