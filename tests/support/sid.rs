//! A healthy home of sid-code, format 3.0: each record points at the one that its process wrote before it.

use super::random::Rng;
use super::temp::write;
use super::time::{NOW, iso, touch};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Directories that sessions are started in, and the folders that sid-code makes of them.
const PROJECTS: &[(&str, &str)] = &[
    ("/home/dev/demo", "home-dev-demo"),
    ("/home/dev/web.shop", "home-dev-web.shop"),
    ("/home/dev/demo/演示 项目", "home-dev-demo-9ed22e"),
];

/// A session that is being written.
#[derive(Debug)]
pub struct Session {
    rng: Rng,
    /// Its id, which is the name of its file.
    pub id: String,
    cwd: &'static str,
    folder: &'static str,
    clock: i64,
    last: Option<String>,
    rows: Vec<Map<String, Value>>,
    requests: u64,
    messages: u64,
    calls: u64,
}

impl Session {
    /// A session that starts at this moment.
    pub fn new(seed: u64, project: usize, start: i64) -> Self {
        let mut rng = Rng::new(seed);
        let (cwd, folder) = PROJECTS[project % PROJECTS.len()];
        let time = iso(start);
        let id = format!(
            "{}{}{}-{}{}{}-{}",
            &time[..4],
            &time[5..7],
            &time[8..10],
            &time[11..13],
            &time[14..16],
            &time[17..19],
            rng.hex(8)
        );
        Session { rng, id, cwd, folder, clock: start, last: None, rows: Vec::new(), requests: 0, messages: 0, calls: 0 }
    }

    /// A whole plain session.
    pub fn plain(seed: u64, project: usize, start: i64, turns: usize) -> Self {
        let mut s = Session::new(seed, project, start);
        s.start(None);
        for n in 0..turns {
            s.turn(n == 0);
        }
        s
    }

    fn add(&mut self, kind: &str, own: Value) -> String {
        self.clock += self.rng.range(50, 9_000) as i64;
        let uuid = self.rng.uuid();
        let mut row = Map::new();
        row.insert("type".into(), json!(kind));
        if let Value::Object(own) = own {
            row.extend(
                own.into_iter().map(|(k, v)| if k == "timestamp" { (k, json!(iso(self.clock))) } else { (k, v) }),
            );
        }
        if !row.contains_key("timestamp") {
            row.insert("timestamp".into(), json!(iso(self.clock)));
        }
        row.insert("uuid".into(), json!(uuid));
        let parent = row.shift_remove("parent").unwrap_or_else(|| json!(self.last));
        row.insert("parentUuid".into(), parent);
        self.rows.push(row);
        self.last = Some(uuid.clone());
        uuid
    }

    /// The first record; a fork names the session that it was made from.
    pub fn start(&mut self, source: Option<&str>) {
        let own = json!({"version": "3.0", "schemaCompat": "claude-code-like/v3", "sessionId": self.id,
            "model": "demo-model", "provider": "demo", "cwd": self.cwd, "parent": source});
        self.add("session_start", own);
    }

    /// A prompt, some calls, an answer, and what the app notes after a turn.
    pub fn turn(&mut self, first: bool) {
        let words = self.rng.range(3, 30);
        let message = json!({"role": "user", "content": [{"type": "text", "text": self.rng.prose(words)}]});
        let mut own = json!({"message": message, "timestamp": null});
        if first {
            own["cwd"] = json!(self.cwd);
            own["gitBranch"] = json!("main");
            own["permissionMode"] = json!("default");
        }
        self.message("user_message", own);
        for _ in 0..self.rng.range(1, 3) {
            let width = *self.rng.pick(&[1, 1, 2, 4]);
            let ids: Vec<String> = (0..width).map(|n| format!("call_{}", self.calls + n)).collect();
            self.calls += width;
            let mut content = vec![json!({"type": "text", "text": self.rng.prose(6)})];
            content.extend(ids.iter().map(|id| {
                json!({"type": "tool_use", "id": id, "name": "read",
                "input": {"path": "src/a.ts"}})
            }));
            self.say(&json!(content), "tool_use");
            let results: Vec<Value> = ids
                .iter()
                .map(|id| {
                    json!({"type": "tool_result", "tool_use_id": id,
                "content": self.rng.code(3)})
                })
                .collect();
            self.message("user_message", json!({"message": {"role": "user", "content": results}, "timestamp": null}));
        }
        let text = json!([{"type": "text", "text": self.rng.prose(12)}]);
        self.say(&text, "end_turn");
        self.notes();
    }

    fn message(&mut self, kind: &str, own: Value) {
        self.messages += 1;
        self.add(kind, own);
    }

    fn say(&mut self, content: &Value, stop: &str) {
        self.requests += 1;
        let own = json!({"message": {"role": "assistant", "content": content}, "timestamp": null,
            "usage": {"inputTokens": 120, "outputTokens": 30, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0},
            "model": "demo-model", "stopReason": stop, "msgId": format!("msg_{}", self.rng.hex(8))});
        self.message("assistant_message", own);
    }

    fn notes(&mut self) {
        let n = self.requests;
        let model = json!({"inputTokens": 120, "stockPromptTokens": 120, "cumulativePromptTokens": 120 * n,
            "outputTokens": 30 * n, "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "requests": n,
            "costUSD": 0.5 * n as f64, "cacheSavingsUSD": 0, "provider": "demo"});
        let usage = json!({"totalCostUSD": 0.5 * n as f64, "sideCostUSD": 0, "totalAPIDuration": 100 * n,
            "totalToolDuration": 0, "modelUsage": {"demo-model": model}});
        self.metadata("usage_stats", &usage);
        self.metadata("todo_state", &json!({"todos": []}));
        let ledger = json!({"seq": 0, "strategyNagged": false, "staleNagged": false, "items": []});
        self.metadata("hypothesis_ledger", &ledger);
    }

    /// A metadata record.
    pub fn metadata(&mut self, key: &str, value: &Value) {
        self.add("metadata", json!({"key": key, "value": value, "timestamp": null}));
    }

    /// The last record of a process.
    pub fn end(&mut self) {
        self.add("session_end", json!({"totalCostUSD": 0.5 * self.requests as f64, "totalMessages": self.messages}));
    }

    /// Another process takes the session up, hours later.
    pub fn resume(&mut self) {
        self.clock += 5 * 3_600_000;
        self.requests = 0;
        let process = format!("20260815-093000-{}", self.rng.hex(8));
        self.metadata("trace_session_id", &json!(process));
        self.turn(true);
    }

    /// A fork: every message again under a new id, with what the records said beside the message inside it.
    pub fn fork(&self, seed: u64, start: i64) -> Session {
        let project = PROJECTS.iter().position(|p| p.0 == self.cwd).unwrap_or_default();
        let mut fork = Session::new(seed, project, start);
        fork.calls = self.calls;
        fork.start(Some(&self.id));
        let from = json!({"sessionId": self.id, "uuid": self.last, "messageCount": self.messages});
        fork.metadata("forked_from", &from);
        for row in self.rows.iter().filter(|row| row.contains_key("message")) {
            let mut message = row["message"].clone();
            let names = ["usage", "model", "stopReason", "msgId", "cwd", "gitBranch", "permissionMode"];
            let meta: Map<String, Value> =
                names.iter().filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone()))).collect();
            if !meta.is_empty() {
                message["_meta"] = Value::Object(meta);
            }
            let kind = row["type"].as_str().unwrap_or_default();
            fork.message(kind, json!({"message": message, "timestamp": null}));
        }
        fork.turn(true);
        fork
    }

    /// Its rows as lines.
    pub fn bytes(&self) -> Vec<u8> {
        super::claude::session::lines(&self.rows)
    }

    /// The rows that were not taken yet, as lines: what a writer appends next.
    pub fn take(&mut self) -> Vec<u8> {
        let bytes = self.bytes();
        self.rows.clear();
        bytes
    }

    /// A prompt of this many bytes, and an answer.
    pub fn large_turn(&mut self, bytes: usize) {
        let text = self.rng.prose(50).repeat(bytes / 250);
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        self.message("user_message", json!({"message": message, "timestamp": null}));
        let text = json!([{"type": "text", "text": self.rng.prose(12)}]);
        self.say(&text, "end_turn");
        self.notes();
    }

    /// Its file in a home.
    pub fn path(&self, root: &Path) -> PathBuf {
        root.join("sessions").join(self.folder).join(format!("{}.jsonl", self.id))
    }

    fn write(&self, root: &Path) -> PathBuf {
        let path = self.path(root);
        write(&path, self.bytes());
        touch(&path, self.clock);
        path
    }

    /// The finished transcript of a subagent, beside the session. sid-code itself deletes it at its next start, so an
    /// audit does warn about it.
    pub fn write_sidechain(&self, root: &Path) -> PathBuf {
        let name = format!("{}-task-1.jsonl", self.id);
        let path = root.join("sessions").join(self.folder).join(name);
        let text = |role: &str, turn: u64, text: &str| {
            json!({"type": "message", "role": role,
            "content": [{"type": "text", "text": text}], "turn": turn, "timestamp": iso(self.clock)})
        };
        let rows = [
            json!({"type": "sidechain_start", "sessionId": self.id, "agentId": "task-1", "agentType": "explore",
                "description": "look around", "model": "demo-model", "timestamp": iso(self.clock)}),
            text("user", 1, "look around"),
            text("assistant", 1, "two files"),
            json!({"type": "sidechain_end", "status": "completed", "timestamp": iso(self.clock)}),
        ];
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        write(&path, lines);
        touch(&path, self.clock);
        path
    }
}

/// Writes a home with a session of each healthy kind and returns their files.
pub fn write_home(root: &Path) -> Vec<PathBuf> {
    let day = super::time::DAY;
    let mut plain = Session::plain(1, 0, NOW - 9 * day, 3);
    plain.end();
    let mut resumed = Session::plain(2, 1, NOW - 8 * day, 2);
    resumed.end();
    resumed.resume();
    resumed.end();
    let mut fork = plain.fork(3, NOW - 7 * day);
    fork.end();
    let forked_again = fork.fork(4, NOW - 6 * day);
    let mut named = Session::new(5, 2, NOW - 5 * day);
    named.start(None);
    named.metadata("session_name", &json!("演示"));
    for n in 0..12 {
        named.turn(n == 0);
    }
    let compact = json!({"summary": "", "removedCount": 0, "timestamp": null, "isBoundary": true});
    named.add("context_compact", compact);
    named.turn(false);
    named.end();
    [plain, resumed, fork, forked_again, named].iter().map(|session| session.write(root)).collect()
}
