//! Sessions of each agent, line by line: what a row says is given, ids and links are filled in.

use serde_json::{Value, json};

/// A text block.
pub(crate) fn text(t: &str) -> Value {
    json!({"type": "text", "text": t})
}

/// A call as Anthropic's API has it.
pub(crate) fn call(id: &str, name: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": {"path": "a"}})
}

/// Its result.
pub(crate) fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

/// Thinking with a signature of a plausible length.
pub(crate) fn thinking(t: &str) -> Value {
    json!({"type": "thinking", "thinking": t, "signature": "QWxsIHRoYXQgaXMgZ29sZCBkb2VzIG5vdCBnbGl0dGVy"})
}

/// Lines of one session.
#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) out: Vec<String>,
    last: Option<String>,
}

impl Lines {
    /// The file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.out.join("\n").into_bytes();
        bytes.push(b'\n');
        bytes
    }

    /// A line as it is.
    pub(crate) fn raw(mut self, line: &str) -> Self {
        self.out.push(line.to_owned());
        self
    }

    fn push(mut self, mut row: Value, id_key: &str, parent_key: &str) -> Self {
        let id = format!("id-{}", self.out.len() + 1);
        if row.get(id_key).is_none() {
            row[id_key] = json!(id);
        }
        if row.get(parent_key).is_none() {
            row[parent_key] = json!(self.last);
        }
        row["timestamp"] = json!(format!("2026-03-01T09:00:{:02}.000Z", self.out.len() % 60));
        self.last = row[id_key].as_str().map(str::to_owned);
        self.out.push(row.to_string());
        self
    }

    /// Claude Code: a row with more fields.
    pub(crate) fn claude(self, mut row: Value) -> Self {
        let base =
            json!({"isSidechain": false, "userType": "external", "cwd": "/w", "sessionId": "s", "version": "2.1.200"});
        for (key, value) in base.as_object().unwrap() {
            if row.get(key).is_none() {
                row[key] = value.clone();
            }
        }
        self.push(row, "uuid", "parentUuid")
    }

    /// Claude Code: the user's row.
    pub(crate) fn user(self, content: Value) -> Self {
        self.claude(json!({"type": "user", "message": {"role": "user", "content": content}}))
    }

    /// Claude Code: a row of a response.
    pub(crate) fn says(self, response: &str, content: Value) -> Self {
        let message = json!({"id": response, "type": "message", "role": "assistant", "model": "claude-opus-4-6",
            "content": content, "stop_reason": null});
        self.claude(json!({"type": "assistant", "message": message}))
    }

    /// sid-code: the start.
    pub(crate) fn start(self, provider: &str) -> Self {
        self.push(
            json!({"type": "session_start", "version": "3.0", "sessionId": "S", "model": "m", "provider": provider}),
            "uuid",
            "parentUuid",
        )
    }

    /// sid-code: a message.
    pub(crate) fn sid(self, role: &str, content: Value) -> Self {
        let row = json!({"type": format!("{role}_message"), "message": {"role": role, "content": content}});
        self.push(row, "uuid", "parentUuid")
    }

    /// sid-code: any record.
    pub(crate) fn record(self, row: Value) -> Self {
        self.push(row, "uuid", "parentUuid")
    }

    /// pi: the header.
    pub(crate) fn header(self) -> Self {
        let mut lines = self;
        lines.out.push(
            json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T09:00:00.000Z", "cwd": "/w"})
                .to_string(),
        );
        lines
    }

    /// pi: any entry.
    pub(crate) fn entry(self, row: Value) -> Self {
        self.push(row, "id", "parentId")
    }

    /// pi: the user's message.
    pub(crate) fn asks(self, t: &str) -> Self {
        self.entry(json!({"type": "message", "message": {"role": "user", "content": [text(t)]}}))
    }

    /// pi: the model's message.
    pub(crate) fn answers(self, content: Value, stop: &str) -> Self {
        self.entry(json!({"type": "message", "message": {"role": "assistant", "content": content,
            "provider": "anthropic", "model": "claude-opus-4-6", "stopReason": stop}}))
    }

    /// pi: a tool's result.
    pub(crate) fn tool(self, id: &str) -> Self {
        self.entry(json!({"type": "message", "message": {"role": "toolResult", "toolCallId": id, "toolName": "read",
            "content": [text("out")], "isError": false}}))
    }
}

/// pi: a call.
pub(crate) fn pi_call(id: &str, name: &str) -> Value {
    json!({"type": "toolCall", "id": id, "name": name, "arguments": {}})
}
