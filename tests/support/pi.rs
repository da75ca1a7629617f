//! A healthy home of pi, format version 3: entries in a tree, the leaf is the last one written.

use super::random::Rng;
use super::temp::write;
use super::time::{DAY, NOW, iso, touch};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const CWD: &str = "/home/dev/my-app";
const FOLDER: &str = "--home-dev-my-app--";

/// A session that is being written.
#[derive(Debug)]
pub struct Session {
    rng: Rng,
    id: String,
    start: i64,
    clock: i64,
    leaf: Option<String>,
    rows: Vec<Value>,
}

impl Session {
    /// A session that starts at this moment; `parent`: the file that it was forked from.
    pub fn new(seed: u64, start: i64, parent: Option<&Path>) -> Self {
        let mut rng = Rng::new(seed);
        let id = rng.uuid();
        let mut header = json!({"type": "session", "version": 3, "id": id, "timestamp": iso(start), "cwd": CWD});
        if let Some(parent) = parent {
            header["parentSession"] = json!(parent);
        }
        let mut s = Session { rng, id, start, clock: start, leaf: None, rows: vec![header] };
        s.add(json!({"type": "model_change"}), json!({"provider": "anthropic", "modelId": "claude-opus-4-7"}));
        s.add(json!({"type": "thinking_level_change"}), json!({"thinkingLevel": "high"}));
        s
    }

    fn add(&mut self, mut row: Value, own: Value) -> String {
        self.clock += self.rng.range(50, 9_000) as i64;
        let id = self.rng.hex(8);
        row["id"] = json!(id);
        row["parentId"] = json!(self.leaf);
        row["timestamp"] = json!(iso(self.clock));
        if let (Some(row), Value::Object(own)) = (row.as_object_mut(), own) {
            row.extend(own);
        }
        self.rows.push(row);
        self.leaf = Some(id.clone());
        id
    }

    fn message(&mut self, message: Value) -> String {
        let mut message = message;
        message["timestamp"] = json!(self.clock);
        self.add(json!({"type": "message"}), json!({"message": message}))
    }

    fn assistant(&mut self, content: &Value, stop: &str) -> String {
        let usage = json!({"input": 10, "output": 5, "cacheRead": 20, "cacheWrite": 3, "totalTokens": 38,
            "cost": {"input": 0.1, "output": 0.1, "cacheRead": 0.1, "cacheWrite": 0.1, "total": 0.4}});
        self.message(json!({"role": "assistant", "content": content, "api": "anthropic-messages",
            "provider": "anthropic", "model": "claude-opus-4-7", "usage": usage, "stopReason": stop}))
    }

    /// A prompt, two calls at once, an answer; returns the id of the prompt's entry.
    pub fn turn(&mut self) -> String {
        let words = self.rng.range(3, 20);
        let text = self.rng.prose(words);
        let prompt = self.message(json!({"role": "user", "content": [{"type": "text", "text": text}]}));
        let ids: Vec<String> = (0..2).map(|_| format!("toolu_01{}", self.rng.base62(22))).collect();
        let mut content = vec![json!({"type": "text", "text": "Reading both."})];
        content.extend(ids.iter().map(|id| {
            json!({"type": "toolCall", "id": id, "name": "read",
            "arguments": {"path": "src/a.ts"}})
        }));
        self.assistant(&json!(content), "toolUse");
        for id in ids {
            let text = self.rng.code(4);
            self.message(json!({"role": "toolResult", "toolCallId": id, "toolName": "read",
                "content": [{"type": "text", "text": text}], "isError": false}));
        }
        let text = self.rng.prose(9);
        self.assistant(&json!([{"type": "text", "text": text}]), "stop");
        prompt
    }

    /// Goes back to an entry, with a summary of the branch that is left.
    fn branch(&mut self, to: Option<String>) {
        let from = std::mem::replace(&mut self.leaf, to);
        let own = json!({"fromId": from, "summary": "Tried the other way, without success."});
        self.add(json!({"type": "branch_summary"}), own);
    }

    fn compact(&mut self, first_kept: &str) {
        let own =
            json!({"summary": "The parser was rewritten.", "firstKeptEntryId": first_kept, "tokensBefore": 90_000});
        self.add(json!({"type": "compaction"}), own);
    }

    fn label(&mut self, target: &str) {
        self.add(json!({"type": "label"}), json!({"targetId": target, "label": "good state"}));
    }

    /// Its rows as lines.
    pub fn bytes(&self) -> Vec<u8> {
        self.rows.iter().flat_map(|row| format!("{row}\n").into_bytes()).collect()
    }

    fn write(&self, root: &Path) -> PathBuf {
        let time = iso(self.start).replace([':', '.'], "-");
        let path = root.join("sessions").join(FOLDER).join(format!("{time}_{}.jsonl", self.id));
        write(&path, self.bytes());
        touch(&path, self.clock);
        path
    }
}

/// Writes an agent folder with a session of each healthy kind and returns their files.
pub fn write_home(root: &Path) -> Vec<PathBuf> {
    let mut plain = Session::new(1, NOW - 9 * DAY, None);
    plain.turn();
    plain.turn();
    let first = plain.write(root);

    let mut branched = Session::new(2, NOW - 8 * DAY, None);
    let kept = branched.turn();
    let fork_point = branched.leaf.clone();
    branched.turn();
    branched.branch(fork_point);
    branched.label(&kept);
    branched.turn();
    let second = branched.write(root);

    let mut compacted = Session::new(3, NOW - 7 * DAY, None);
    compacted.turn();
    let kept = compacted.turn();
    compacted.compact(&kept);
    compacted.turn();
    let third = compacted.write(root);

    let mut fork = Session::new(4, NOW - 6 * DAY, Some(&first));
    fork.turn();
    fork.add(json!({"type": "session_info"}), json!({"name": "a fork"}));
    let fourth = fork.write(root);
    vec![first, second, third, fourth]
}
