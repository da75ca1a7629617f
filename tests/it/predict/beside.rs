//! What lies beside a session of sid-code: registrations, crash snapshots, sidechains, progress file, worktree.

use super::{ID, PROCESS, answers, end, home, metadata, outcome, predict, says, start, state};
use crate::support::temp::{Temp, write};
use serde_json::{Value, json};

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
