//! Prompts and responses: one record for each block of a response, results forked off the record of their own call,
//! hooks between them, and the rows about the session that are written again and again.

use super::Session;
use crate::support::time::iso;
use serde_json::{Value, json};

/// When the results of several calls are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// After the last call, as they were made.
    AsCalled,
    /// After the last call, as they came back.
    AsFinished,
    /// Each as soon as it is there, while the response goes on below it.
    WhileStreaming,
}

/// A call in a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    Read,
    Grep,
    Bash,
    Edit,
    Write,
}

const TOOLS: &[Tool] = &[Tool::Read, Tool::Read, Tool::Grep, Tool::Bash, Tool::Bash, Tool::Edit, Tool::Write];

/// What one response says before its calls.
#[derive(Clone, Copy, Debug)]
pub struct Says {
    pub thinking: bool,
    pub text: bool,
}

impl Session {
    /// Whatever stands before the first prompt: rows about the session, and what hooks say at the start.
    pub fn open(&mut self) {
        if self.version.0 >= 91 {
            self.about();
        }
        if self.hooks {
            self.session_start("startup");
        }
    }

    /// The hook that runs when a session starts, resumes, is cleared or is compacted.
    pub fn session_start(&mut self, source: &str) -> String {
        let (name, id) = (format!("SessionStart:{source}"), self.rng.uuid());
        if self.version.attachments() {
            self.next(json!({"attachment": {"type": "hook_success", "hookName": name, "toolUseID": id,
                "hookEvent": "SessionStart", "content": "", "stdout": "", "stderr": "", "exitCode": 0,
                "command": "~/bin/greet", "durationMs": 31}, "type": "attachment", "uuid": null, "timestamp": null}))
        } else {
            self.next(json!({"type": "progress", "data": {"type": "hook_progress", "hookEvent": "SessionStart",
                "hookName": name, "command": "~/bin/greet"}, "parentToolUseID": id, "toolUseID": id,
                "timestamp": null, "uuid": null}))
        }
    }

    /// The rows about the session that clients write at its start and again every few records.
    pub fn about(&mut self) {
        let v = self.version.0;
        if !self.last_prompt.is_empty() {
            let mut row = json!({"type": "last-prompt", "lastPrompt": self.last_prompt});
            if v >= 199 {
                row["leafUuid"] = json!(self.parent);
            }
            row["sessionId"] = json!(self.id);
            self.row(row);
            if v >= 101 {
                self.row(json!({"type": "ai-title", "aiTitle": self.title, "sessionId": self.id}));
            }
        }
        if v >= 169 {
            self.row(json!({"type": "mode", "mode": "normal", "sessionId": self.id}));
        }
        self.row(json!({"type": "permission-mode", "permissionMode": "default", "sessionId": self.id}));
    }

    /// A typed prompt below the newest record.
    pub fn prompt(&mut self, text: &str) -> String {
        self.prompt_from("typed", text)
    }

    /// A prompt that was typed, queued or handed over by the SDK.
    pub fn prompt_from(&mut self, source: &str, text: &str) -> String {
        let first = self.history.is_empty();
        let prompt = self.typed(json!(text), text, source);
        if first && self.version.0 >= 101 {
            self.listings();
        }
        prompt
    }

    /// A typed prompt with a picture.
    pub fn prompt_with_image(&mut self, text: &str) -> String {
        const PNG: &str =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
        let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
        self.typed(json!([{"type": "text", "text": text}, image]), text, "typed")
    }

    fn typed(&mut self, content: Value, text: &str, source: &str) -> String {
        self.tick(1_000, 90_000);
        self.prompt_id = self.rng.uuid();
        let me = self.rng.uuid();
        self.snapshot_for(&me);
        let v = self.version.0;
        let mut body = json!({"promptId": null, "type": "user", "message": {"role": "user", "content": content},
            "uuid": me, "timestamp": null});
        if v < 78 {
            body["thinkingMetadata"] = json!({"maxThinkingTokens": 31999});
            body["todos"] = json!([]);
        }
        body["permissionMode"] = json!("default");
        if v >= 183 && source == "typed" {
            body["origin"] = json!({"kind": "human"});
        }
        if v >= 177 {
            body["promptSource"] = json!(source);
        }
        self.history.push((self.clock, text.to_owned()));
        self.last_prompt = text.to_owned();
        self.next(body)
    }

    /// What the client tells the model once: tools, agents, skills.
    fn listings(&mut self) {
        self.attach(json!({"type": "deferred_tools_delta", "addedNames": ["CronCreate", "CronDelete"],
            "addedLines": ["CronCreate", "CronDelete"], "removedNames": [], "readdedNames": [], "pendingMcpServers": []}));
        if self.version.0 >= 177 {
            self.attach(json!({"type": "agent_listing_delta", "addedTypes": ["Explore", "Plan"],
                "addedLines": ["- Explore: reads", "- Plan: plans"], "removedTypes": [], "isInitial": true,
                "showConcurrencyNote": true}));
        }
        self.attach(json!({"type": "skill_listing", "content": "- tidy: tidies", "skillCount": 1, "isInitial": true}));
    }

    /// An attachment of the first moments of a prompt (without `session_id`).
    pub fn attach(&mut self, attachment: Value) -> String {
        self.next(json!({"attachment": attachment, "type": "attachment", "uuid": null, "timestamp": null}))
    }

    /// An attachment of a running turn.
    pub fn attach_later(&mut self, attachment: Value) -> String {
        let body = json!({"attachment": attachment, "type": "attachment", "uuid": null, "timestamp": null,
            "session_id": null});
        self.next(body)
    }

    /// One record of an assistant's response.
    pub fn assistant(&mut self, message: &str, request: &str, block: Value, stop: &str, last: bool) -> String {
        self.tick(20, 4_000);
        let v = self.version.0;
        let stop_reason = match v {
            0..=41 => Value::Null,
            42..=91 if !last => Value::Null,
            _ => json!(stop),
        };
        let mut body = json!({"model": self.model, "id": message, "type": "message", "role": "assistant",
            "content": [block], "stop_reason": stop_reason, "stop_sequence": null});
        if v >= 101 {
            body["stop_details"] = Value::Null;
        }
        body["usage"] = self.usage(stop_reason_is_final(v, last));
        let mut record = json!({"message": body, "requestId": request, "type": "assistant", "uuid": null,
            "timestamp": null});
        if v >= 214 {
            record["effort"] = json!("high");
        }
        record["session_id"] = Value::Null;
        self.next(record)
    }

    fn usage(&mut self, finished: bool) -> Value {
        let (read, written) = (self.rng.range(9_000, 90_000), self.rng.range(100, 9_000));
        let output = if finished { self.rng.range(100, 900) } else { self.rng.range(1, 8) };
        let cache = json!({"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": written});
        if self.version.0 < 78 {
            return json!({"input_tokens": 10, "cache_creation_input_tokens": written, "cache_read_input_tokens": read,
                "cache_creation": cache, "output_tokens": output, "service_tier": "standard"});
        }
        json!({"input_tokens": 2, "cache_creation_input_tokens": written, "cache_read_input_tokens": read,
            "output_tokens": output, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard", "cache_creation": cache, "inference_geo": "not_available",
            "iterations": [{"input_tokens": 2, "output_tokens": output, "cache_read_input_tokens": read,
                "cache_creation_input_tokens": written, "cache_creation": cache, "type": "message"}],
            "speed": "standard"})
    }

    /// Ids of a new response: of its message and of its request.
    pub fn response_ids(&mut self) -> (String, String) {
        (format!("msg_01{}", self.rng.base62(22)), format!("req_011{}", self.rng.base62(21)))
    }

    /// The records of a response before its calls.
    pub fn lead_in(&mut self, ids: &(String, String), says: Says, stop: &str, ends: bool) {
        if self.version.blank_first() && says.thinking {
            self.assistant(&ids.0, &ids.1, json!({"type": "text", "text": "\n\n"}), stop, false);
        }
        if says.thinking {
            let text = if self.version.0 < 78 { self.rng.prose(9) } else { String::new() };
            let signature = format!("E{}", self.rng.base62(347));
            let block = json!({"type": "thinking", "thinking": text, "signature": signature});
            self.assistant(&ids.0, &ids.1, block, stop, false);
        }
        if says.text {
            let words = self.rng.range(4, 60);
            let block = json!({"type": "text", "text": self.rng.prose(words)});
            self.assistant(&ids.0, &ids.1, block, stop, ends);
        }
    }

    /// A response that calls tools, with their results.
    pub fn step(&mut self, says: Says, calls: usize, order: Order) {
        let ids = self.response_ids();
        self.lead_in(&ids, says, "tool_use", false);
        let mut open = Vec::new();
        for n in 0..calls {
            let tool = *self.rng.pick(TOOLS);
            open.push(self.call(&ids, tool, n + 1 == calls));
            if order == Order::WhileStreaming {
                let (record, id, tool) = open.remove(0);
                self.result(&record, &id, tool);
            }
        }
        if order == Order::AsFinished {
            open.reverse();
        }
        for (record, id, tool) in open {
            self.result(&record, &id, tool);
        }
        if self.version.second_id() && self.rng.chance(0.2) {
            self.attach_later(json!({"type": "task_reminder", "content": [], "itemCount": 0}));
        }
        if self.version.0 >= 101 && self.rng.chance(0.15) {
            self.about();
        }
    }

    /// A response whose rows were flushed out of order: the result stands before its own call, and before the text.
    pub fn step_out_of_order(&mut self) {
        let ids = self.response_ids();
        self.lead_in(&ids, Says { thinking: true, text: false }, "tool_use", false);
        let at = self.rows.len();
        self.lead_in(&ids, Says { thinking: false, text: true }, "tool_use", false);
        let (record, id, tool) = self.call(&ids, Tool::Read, true);
        self.result(&record, &id, tool);
        self.rows[at..].rotate_right(1);
    }

    /// A call: its record and its id.
    pub fn call(&mut self, ids: &(String, String), tool: Tool, last: bool) -> (String, String, Tool) {
        let file = format!("src/{}.rs", self.rng.word());
        let path = format!("{}/{file}", self.project);
        let (name, input) = match tool {
            Tool::Read => ("Read", json!({"file_path": path})),
            Tool::Grep => ("Grep", json!({"pattern": self.rng.word(), "output_mode": "content"})),
            Tool::Bash => ("Bash", json!({"command": "cargo test --quiet", "description": "Run the tests"})),
            Tool::Edit => {
                let (old, new) = (self.rng.code(1), self.rng.code(1));
                let edit = json!({"replace_all": false, "file_path": path, "old_string": old, "new_string": new});
                ("Edit", edit)
            }
            Tool::Write => ("Write", json!({"file_path": path, "content": self.rng.code(8)})),
        };
        let edits = matches!(tool, Tool::Edit | Tool::Write);
        let record = self.named_call(ids, name, input, last);
        if edits && self.agent.is_none() {
            self.track(&record.0, &file, tool == Tool::Edit);
        }
        (record.0, record.1, tool)
    }

    /// A call of a tool by name: its record and its id.
    pub fn named_call(&mut self, ids: &(String, String), name: &str, input: Value, last: bool) -> (String, String) {
        let id = format!("toolu_01{}", self.rng.base62(22));
        let mut block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        if self.version.0 >= 42 {
            block["caller"] = json!({"type": "direct"});
        }
        let record = self.assistant(&ids.0, &ids.1, block, "tool_use", last);
        if self.hooks && self.version.progress() {
            let hook = format!("PostToolUse:{name}");
            self.below(
                Some(&record),
                json!({"type": "progress", "data": {"type": "hook_progress",
                "hookEvent": "PostToolUse", "hookName": hook, "command": "callback"}, "parentToolUseID": id,
                "toolUseID": id, "timestamp": null, "uuid": null}),
            );
        }
        (record, id)
    }

    /// The result of a call, below the record of that call.
    pub fn result(&mut self, record: &str, id: &str, tool: Tool) {
        let lines = *self.rng.pick(&[0, 1, 1, 3, 10, 25]);
        let text = self.rng.code(lines);
        let detail = match tool {
            Tool::Read => json!({"type": "text", "file": {"filePath": format!("{}/a.rs", self.project),
                "content": text, "numLines": lines, "startLine": 1, "totalLines": lines}}),
            Tool::Grep => {
                json!({"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": lines})
            }
            Tool::Bash => json!({"stdout": text, "stderr": "", "interrupted": false, "isImage": false}),
            Tool::Edit => json!({"filePath": format!("{}/a.rs", self.project), "oldString": "a", "newString": "b",
                "originalFile": text, "structuredPatch": [], "userModified": false, "replaceAll": false}),
            Tool::Write => json!({"type": "create", "filePath": format!("{}/a.rs", self.project), "content": text,
                "structuredPatch": [], "originalFile": null}),
        };
        let mut block = json!({"tool_use_id": id, "type": "tool_result", "content": text});
        if tool == Tool::Bash {
            block["is_error"] = json!(false);
        }
        self.result_with(record, block, Some(detail));
    }

    /// Any result below the record of its call.
    pub fn result_with(&mut self, record: &str, block: Value, detail: Option<Value>) -> String {
        self.tick(5, 3_000);
        let mut body = json!({"promptId": null, "type": "user", "message": {"role": "user", "content": [block]},
            "uuid": null, "timestamp": null});
        if let Some(detail) = detail {
            body["toolUseResult"] = detail;
        }
        body["sourceToolAssistantUUID"] = json!(record);
        body["session_id"] = Value::Null;
        let uuid = self.below(Some(record), body);
        self.parent = Some(uuid.clone());
        uuid
    }

    /// The last response of a turn, and what follows it.
    pub fn answer(&mut self) {
        let ids = self.response_ids();
        let thinking = self.rng.chance(0.5);
        self.lead_in(&ids, Says { thinking, text: true }, "end_turn", true);
        self.end_of_turn();
    }

    /// The stop hook's rows and the length of the turn.
    pub fn end_of_turn(&mut self) {
        let id = self.rng.uuid();
        self.tick(20, 200);
        if self.hooks {
            if self.version.progress() {
                self.next(json!({"type": "progress", "data": {"type": "hook_progress", "hookEvent": "Stop",
                    "hookName": "Stop", "command": "~/bin/chime"}, "parentToolUseID": id, "toolUseID": id,
                    "timestamp": null, "uuid": null}));
            }
            let mut body = json!({"type": "system", "subtype": "stop_hook_summary", "hookCount": 1,
                "hookInfos": [{"command": "~/bin/chime"}], "hookErrors": []});
            if self.version.0 >= 169 {
                body["hookAdditionalContext"] = json!([]);
            }
            for (name, value) in [
                ("preventedContinuation", json!(false)),
                ("stopReason", json!("")),
                ("hasOutput", json!(false)),
                ("level", json!("suggestion")),
                ("timestamp", Value::Null),
                ("uuid", Value::Null),
                ("toolUseID", json!(id)),
                ("session_id", Value::Null),
            ] {
                body[name] = value;
            }
            self.next(body);
        }
        let mut body = json!({"type": "system", "subtype": "turn_duration", "durationMs": self.rng.range(900, 99_000)});
        if self.version.0 >= 114 {
            body["messageCount"] = json!(self.rows.len());
        }
        for (name, value) in [("timestamp", Value::Null), ("uuid", Value::Null), ("isMeta", json!(false))] {
            body[name] = value;
        }
        self.next(body);
    }

    /// A whole turn of the usual kind.
    pub fn turn(&mut self) {
        let words = self.rng.range(3, 40);
        let text = self.rng.prose(words);
        self.prompt(&text);
        self.work();
        self.answer();
    }

    /// Some steps of the usual kind.
    pub fn work(&mut self) {
        for _ in 0..self.rng.range(0, 3) {
            let says = Says { thinking: self.rng.chance(0.4), text: self.rng.chance(0.5) };
            let (calls, order) = match self.rng.below(6) {
                0 => (2, Order::AsCalled),
                1 => (3, Order::AsFinished),
                2 => (2, Order::WhileStreaming),
                _ => (1, Order::AsCalled),
            };
            self.step(says, calls, order);
        }
    }

    /// The time of the row to come, as text.
    pub fn now(&self) -> String {
        iso(self.clock)
    }
}

/// Whether a record carries the whole usage of its response: old clients wrote what was known while it streamed.
fn stop_reason_is_final(version: u32, last: bool) -> bool {
    version >= 92 || last
}
