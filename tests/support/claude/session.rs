//! One session on its way to a file: rows in order, each in the envelope of the client version that writes it.

use super::Version;
use super::files::Tracked;
use crate::support::random::Rng;
use crate::support::time::iso;
use serde_json::{Map, Value, json};

/// One row of the file, keys in order.
pub type Row = Map<String, Value>;

/// A session (or the transcript of a subagent) that is being written.
#[derive(Clone, Debug)]
pub struct Session {
    pub rng: Rng,
    pub id: String,
    /// The directory that the session was started in, which names its folder.
    pub project: String,
    pub cwd: String,
    pub branch: String,
    pub version: Version,
    pub slug: Option<String>,
    pub entrypoint: &'static str,
    /// `sessionKind`, written by background sessions.
    pub kind: Option<&'static str>,
    /// The agent whose transcript this is.
    pub agent: Option<String>,
    pub model: &'static str,
    /// Milliseconds since 1970 of the row to come.
    pub clock: i64,
    /// The row that the next one hangs below.
    pub parent: Option<String>,
    pub prompt_id: String,
    pub rows: Vec<Row>,
    /// Whether hooks are configured on this machine.
    pub hooks: bool,
    pub title: String,
    pub last_prompt: String,
    /// The prompt whose snapshot is the newest, and the files that it knows.
    pub snapshot: Option<(String, i64)>,
    pub tracked: Vec<Tracked>,
    /// Backups: name, bytes.
    pub backups: Vec<(String, String)>,
    /// Typed prompts for `history.jsonl`: when, what.
    pub history: Vec<(i64, String)>,
    /// Transcripts of its subagents.
    pub agents: Vec<Session>,
    /// Spilled tool output: name, text.
    pub spilled: Vec<(String, String)>,
}

impl Session {
    /// A session that starts at this moment in this directory.
    pub fn new(mut rng: Rng, version: Version, cwd: &str, start: i64) -> Self {
        let (id, prompt_id, title) = (rng.uuid(), rng.uuid(), rng.prose(4));
        let slug = (!rng.chance(0.5)).then(|| format!("{}-{}-{}", rng.word(), rng.word(), rng.word()));
        Session {
            id,
            project: cwd.to_owned(),
            cwd: cwd.to_owned(),
            branch: "main".to_owned(),
            version,
            slug,
            entrypoint: "cli",
            kind: None,
            agent: None,
            model: if version.0 < 79 { "claude-opus-4-5-20251101" } else { "claude-opus-4-7" },
            clock: start,
            parent: None,
            prompt_id,
            rows: Vec::new(),
            hooks: rng.chance(0.5),
            title,
            last_prompt: String::new(),
            snapshot: None,
            tracked: Vec::new(),
            backups: Vec::new(),
            history: Vec::new(),
            agents: Vec::new(),
            spilled: Vec::new(),
            rng,
        }
    }

    /// Lets time pass.
    pub fn tick(&mut self, low: u64, high: u64) {
        self.clock += self.rng.range(low, high) as i64;
    }

    /// Writes a row without a place on the chain.
    pub fn row(&mut self, row: Value) {
        let Value::Object(row) = row else { panic!("a row is an object") };
        self.rows.push(row);
    }

    /// Writes a record below the newest one, which it becomes.
    pub fn next(&mut self, body: Value) -> String {
        let parent = self.parent.clone();
        let uuid = self.below(parent.as_deref(), body);
        self.parent = Some(uuid.clone());
        uuid
    }

    /// Writes a record below any other. `body` holds the record's own fields in the client's order; in it `uuid`,
    /// `timestamp`, `promptId` and `session_id` that are null are filled in, or left out by versions without them.
    pub fn below(&mut self, parent: Option<&str>, body: Value) -> String {
        let Value::Object(mut body) = body else { panic!("a record is an object") };
        let mut row = Row::new();
        row.insert("parentUuid".into(), json!(parent));
        if let Some(logical) = body.shift_remove("logicalParentUuid") {
            row.insert("logicalParentUuid".into(), logical);
        }
        row.insert("isSidechain".into(), json!(self.agent.is_some()));
        if !self.version.envelope_last() {
            self.envelope(&mut row, false);
        } else if !body.contains_key("promptId") {
            self.agent_id(&mut row);
        }
        let uuid = body["uuid"].as_str().map_or_else(|| self.rng.uuid(), str::to_owned);
        for (name, value) in body {
            let fill = value.is_null();
            match name.as_str() {
                "uuid" => row.insert(name, json!(uuid)),
                "timestamp" if fill => row.insert(name, json!(iso(self.clock))),
                "session_id" if fill && !self.version.second_id() => None,
                "session_id" if fill => row.insert(name, json!(self.id)),
                "promptId" if fill && !self.version.prompt_id() => None,
                "promptId" => {
                    row.insert(name, if fill { json!(self.prompt_id) } else { value });
                    self.agent_id(&mut row);
                    None
                }
                _ => row.insert(name, value),
            };
        }
        if self.version.envelope_last() {
            self.envelope(&mut row, true);
        }
        self.rows.push(row);
        uuid
    }

    fn agent_id(&self, row: &mut Row) {
        if let Some(agent) = &self.agent {
            row.insert("agentId".into(), json!(agent));
        }
    }

    fn envelope(&self, row: &mut Row, last: bool) {
        if let (true, Some(kind)) = (last, self.kind) {
            row.insert("sessionKind".into(), json!(kind));
        }
        row.insert("userType".into(), json!("external"));
        if last {
            row.insert("entrypoint".into(), json!(self.entrypoint));
        }
        row.insert("cwd".into(), json!(self.cwd));
        row.insert("sessionId".into(), json!(self.id));
        row.insert("version".into(), json!(self.version.text()));
        row.insert("gitBranch".into(), json!(self.branch));
        if !last {
            self.agent_id(row);
        }
        if let Some(slug) = &self.slug {
            row.insert("slug".into(), json!(slug));
        }
    }

    /// The bytes of its file.
    pub fn bytes(&self) -> Vec<u8> {
        lines(&self.rows)
    }
}

/// Rows as a client writes them: compact, one a line, every line ended.
pub fn lines(rows: &[Row]) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut out, row).expect("writing to memory");
        out.push(b'\n');
    }
    out
}
