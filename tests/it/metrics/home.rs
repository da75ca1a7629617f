//! A small home of sid-code, written line by line, so that each of its totals can be told by reading this file.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::temp::{Temp, write};

/// One session, each record pointing at the one before.
pub(crate) struct Lines {
    id: String,
    lines: Vec<String>,
}

impl Lines {
    pub(crate) fn new(id: &str, model: &str) -> Self {
        let mut lines = Lines { id: id.to_owned(), lines: Vec::new() };
        let own = json!({"version": "3.0", "schemaCompat": "claude-code-like/v3", "sessionId": id, "model": model,
            "provider": "openai", "cwd": "/home/dev/demo"});
        lines.add("session_start", own);
        lines
    }

    pub(crate) fn add(&mut self, kind: &str, own: Value) {
        let n = self.lines.len();
        let uuid = |n: usize| format!("00000000-0000-4000-8000-{}{n:04}", &self.id[self.id.len() - 8..]);
        let mut row = json!({"type": kind, "timestamp": format!("2026-03-01T09:00:{:02}.000Z", n % 60),
            "uuid": uuid(n), "parentUuid": n.checked_sub(1).map(uuid)});
        row.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        self.lines.push(row.to_string());
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.add("user_message", json!({"message": {"role": "user", "content": [{"type": "text", "text": text}]}}));
    }

    /// A response with these calls: input, output and tokens read from the cache.
    pub(crate) fn answer(&mut self, model: &str, calls: &[&str], [input, output, read]: [u64; 3]) {
        let mut content = vec![json!({"type": "text", "text": "yes"})];
        content.extend(
            calls.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "edit", "input": {"path": "a.ts"}})),
        );
        let usage = json!({"inputTokens": input, "outputTokens": output, "cacheReadInputTokens": read});
        let own = json!({"message": {"role": "assistant", "content": content}, "usage": usage, "model": model,
            "stopReason": if calls.is_empty() { "end_turn" } else { "tool_use" }});
        self.add("assistant_message", own);
    }

    /// Results of these calls in one record. What is in them quotes a record, as a tool that reads a session would.
    pub(crate) fn results(&mut self, calls: &[&str]) {
        let quoted = "a line {\"type\":\"tool_result\"} of a file";
        let one = |id: &&str| json!({"type": "tool_result", "tool_use_id": id, "content": quoted});
        let content: Vec<Value> = calls.iter().map(one).collect();
        self.add("user_message", json!({"message": {"role": "user", "content": content}}));
    }

    pub(crate) fn metadata(&mut self, key: &str, value: Value) {
        self.add("metadata", json!({"key": key, "value": value}));
    }

    /// Running totals: by model what it cost so far. The other figures are those of the real session whose hit rate was
    /// shown as 186 %.
    pub(crate) fn totals(&mut self, costs: &[(&str, f64)]) {
        let row = |cost: f64| {
            json!({"inputTokens": 33275, "stockPromptTokens": 33275, "cumulativePromptTokens": 100381,
            "outputTokens": 486, "cacheReadInputTokens": 61888, "requests": 3, "costUSD": cost, "provider": "openai"})
        };
        let models: serde_json::Map<String, Value> =
            costs.iter().map(|(model, cost)| ((*model).to_owned(), row(*cost))).collect();
        let total: f64 = costs.iter().map(|(_, cost)| cost).sum();
        self.metadata("usage_stats", json!({"totalCostUSD": total, "sideCostUSD": 0.01, "modelUsage": models}));
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

pub(crate) const FIRST: &str = "20260301-090000-000000a1";
pub(crate) const SECOND: &str = "20260301-100000-000000b2";

/// Two sessions in two projects and the index of the first. In the second a prompt holds half a surrogate pair, in line
/// 4, as JavaScript writes it. `with_ids`: the changes name their snapshots, as they should.
pub(crate) fn home(with_ids: bool) -> (Temp, PathBuf) {
    let temp = Temp::new("metrics-home");
    let home = temp.join(".sid-code");
    let mut first = Lines::new(FIRST, "glm-5.2");
    first.prompt("do it");
    first.answer("glm-5.2", &["call_1", "call_2"], [1000, 10, 0]);
    first.results(&["call_1", "call_2"]);
    first.answer("glm-5.2", &["call_3"], [1200, 20, 900]);
    first.results(&["call_3"]);
    first.answer("glm-5.2", &[], [1300, 30, 1100]);
    first.totals(&[("glm-5.2", 0.0366)]);
    let mut changes = json!({"files": ["/home/dev/demo/a.ts"], "lastTool": "edit", "count": 1});
    if with_ids {
        (changes["lastSnapshotId"], changes["snapshotIds"]) = (json!("s1"), json!(["s1"]));
    }
    first.metadata("file_changes", changes);
    first.add("session_end", json!({"totalCostUSD": 0.0366, "totalMessages": 6}));
    write(&home.join("sessions").join("home-dev-demo").join(format!("{FIRST}.jsonl")), first.text());

    let mut second = Lines::new(SECOND, "glm-5.2");
    second.prompt("and this");
    second.answer("glm-5.2", &[], [2000, 40, 0]);
    second.prompt("half HALF of it");
    second.answer("glm-5.2", &["call_9"], [2100, 50, 2000]);
    second.results(&["call_9"]);
    second.answer("glm-5.2", &[], [2200, 60, 2100]);
    let text = second.text().replace("HALF", "\\ud83d");
    write(&home.join("sessions").join("home-dev-shop").join(format!("{SECOND}.jsonl")), text);

    let entry = json!({"filePath": "/home/dev/demo/a.ts", "existedBefore": true, "type": "full", "compressed": false,
        "content": "a\n"});
    let index = json!({"sessionId": FIRST, "createdAt": 1_772_355_600_000_u64, "nextId": 2, "latestFullMap":
        {"/home/dev/demo/a.ts": "s1"}, "snapshots": [{"id": "s1", "timestamp": 1_772_355_603_000_u64,
        "toolName": "edit", "toolSummary": "/home/dev/demo/a.ts", "files": [entry]}]});
    write(&home.join("checkpoints").join(FIRST).join("index.json"), index.to_string());
    (temp, home)
}
