//! Stores in which every string that a session holds tries to become something else in a report: markup, a script, a
//! link, the end of an attribute or of a comment, a template, an instruction to a terminal.

use crate::support::temp::{Temp, write};
use serde_json::{Value, json};
use std::path::PathBuf;

/// What is planted. Whatever runs leaves `data-ran` on the page; whatever becomes an element is called `planted-x`.
pub(crate) const PLANTED: &str = concat!(
    "\"'><planted-x onclick=alert(1)>x</planted-x>",
    "<script>document.documentElement.setAttribute('data-ran','script')</script>",
    "<img src=x onerror=\"document.documentElement.setAttribute('data-ran','img')\">",
    "<svg onload=\"document.documentElement.setAttribute('data-ran','svg')\"></svg>",
    "</script></style></title></textarea></svg>--><!--]]>",
    "<style>body{display:none}</style><iframe srcdoc=\"<script>1</script>\"></iframe>",
    "[x](javascript:document.documentElement.setAttribute('data-ran','link'))",
    "{{7*7}}${7*7} \u{1b}[31m\u{202e}\u{0}\u{9b}\u{2028}\u{feff}&amp;&#60;\u{fffe}\u{ffff}",
);

/// A planted file name: what a file system takes of it.
pub(crate) fn name() -> String {
    "\"'><planted-x><img src=x onerror=alert(1)><script>&lt;\u{202e}".to_owned()
}

/// The same value with the planted text at the end of every string in it, but under these keys.
fn poisoned(value: &Value, keep: &[&str]) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}{PLANTED}")),
        Value::Array(items) => items.iter().map(|item| poisoned(item, keep)).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, item)| {
                let item = if keep.contains(&key.as_str()) { item.clone() } else { poisoned(item, keep) };
                (key.clone(), item)
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// What makes a record one: the rest is poisoned.
const KEEP: &[&str] = &["type", "role", "timestamp", "version", "parentUuid", "parentId"];

/// A home of each agent with sessions that are whole, broken and odd, all of it planted. Returns the sessions too.
pub(crate) fn stores() -> (Temp, Vec<PathBuf>) {
    let home = Temp::new("planted");
    let claude = |n: u32, parent: Value, kind: &str, content: Value| {
        let mut record = json!({"parentUuid": parent, "isSidechain": false, "cwd": "/home/demo", "sessionId": "s1",
            "version": "2.1.200", "gitBranch": "main", "type": kind, "slug": "slug", "userType": "external",
            "uuid": format!("u{n}"), "timestamp": format!("2026-03-08T00:00:{:02}.000Z", n % 60)});
        record["message"] = json!({"role": kind, "content": content});
        if kind == "assistant" {
            record["requestId"] = json!("req_1");
            record["message"]["id"] = json!(format!("msg_{n}"));
            record["message"]["model"] = json!("claude-opus-4-7");
            record["message"]["stop_reason"] = json!("tool_use");
            record["message"]["usage"] =
                json!({"input_tokens": 10 * n, "output_tokens": n, "service_tier": "standard"});
        }
        record
    };
    let planted = |id: &str| format!("{id}{PLANTED}");
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]);
    let rows = [
        claude(1, Value::Null, "user", json!("a prompt")),
        claude(2, json!(planted("u1")), "assistant", call.clone()),
        claude(3, json!(planted("u1")), "user", json!([{"type": "text", "text": "another branch"}])),
        claude(4, json!(planted("u2")), "user", json!([{"type": "tool_result", "tool_use_id": "t9", "content": "x"}])),
        claude(5, json!(planted("gone")), "user", json!("below a gap")),
        claude(6, json!(planted("u5")), "assistant", call),
        claude(6, json!(planted("u5")), "assistant", json!([{"type": "text", "text": " "}])),
        json!({"type": format!("odd{PLANTED}"), "uuid": "u7", "parentUuid": planted("u6"), "sessionId": "s1"}),
        json!({"type": "queue-operation", "operation": "enqueue", "content": PLANTED, "sessionId": "s1",
            "timestamp": "2026-03-08T00:00:08.000Z"}),
    ];
    let lines = |rows: &[Value]| rows.iter().map(|row| format!("{}\n", poisoned(row, KEEP))).collect::<String>();
    let torn = format!("{{\"type\":\"user\",\"uuid\":\"{}\n", PLANTED.replace(['\u{0}', '\u{1b}'], ""));
    let claude = home.join(format!("claude/projects/-home-{}", name().replace('/', "")));
    let mut files =
        vec![claude.join(format!("{}.jsonl", name())), claude.join("5e550000-0000-4000-8000-000000000001.jsonl")];
    write(&files[0], lines(&rows) + &torn);
    write(&files[1], lines(&rows[..2]) + &torn + &lines(&rows[2..]));

    let sid = |kind: &str, n: u32, parent: Value| {
        json!({"type": kind, "version": "3.0", "sessionId": "20260308-000000-00000001", "model": "m", "provider": "p",
            "cwd": "/home/demo", "timestamp": format!("2026-03-08T00:00:{n:02}.000Z"), "uuid": format!("u{n}"),
            "parentUuid": parent, "message": {"role": "user", "content": [{"type": "text", "text": "q"}]}})
    };
    let mut answer = sid("assistant_message", 3, json!("gone"));
    answer["message"] = json!({"role": "assistant", "content": [{"type": "text", "text": "a"}]});
    answer["usage"] =
        json!({"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 1, "cacheCreationInputTokens": 0});
    let rows = [sid("session_start", 1, Value::Null), sid("user_message", 2, json!(planted("u1"))), answer];
    files.push(home.join("sid-code/sessions/home-demo/20260308-000000-00000001.jsonl"));
    write(files.last().unwrap(), lines(&rows) + &torn);

    let pi = |id: &str, parent: Value| {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-08T00:00:01.000Z",
            "message": {"role": "user", "content": [{"type": "text", "text": "q"}]}})
    };
    let header =
        json!({"type": "session", "version": 3, "id": "x", "timestamp": "2026-03-08T00:00:00.000Z", "cwd": "/x"});
    let mut answer = pi("a4", json!(planted("a2")));
    answer["message"] = json!({"role": "assistant", "content": [{"type": "text", "text": "a"}], "api": "anthropic-messages",
        "provider": "anthropic", "model": "m", "stopReason": "stop",
        "usage": {"input": 7, "output": 3, "cacheRead": 2, "cacheWrite": 1, "cost": {"total": 0.5}}});
    let rows = [header, pi("a1", Value::Null), pi("a2", json!(planted("a1"))), answer, pi("a3", json!("gone"))];
    files.push(home.join("pi/agent/sessions/--home-demo--/2026-03-08T00-00-00-000Z_x.jsonl"));
    write(files.last().unwrap(), lines(&rows) + &torn);
    (home, files)
}
