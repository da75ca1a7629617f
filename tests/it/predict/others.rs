//! The same questions to Claude Code and pi.

use super::{outcome, predict, state};
use crate::support::temp::{Temp, write};
use serde_json::{Value, json};

/// Records one to a line.
fn text(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

#[test]
fn claude_code_tells_by_its_rows() {
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
}

#[test]
fn pi_tells_by_its_entries() {
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
