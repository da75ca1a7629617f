//! What happens in sessions beside plain turns, and is no damage: compaction, rewinds, interruptions, queued prompts,
//! commands of the client, cleared contexts, subagents, errors of the API.

use super::Session;
use super::talk::{Order, Says, Tool};
use crate::support::time::iso;
use serde_json::{Value, json};

const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
const BY_USER: &str = "[Request interrupted by user]";
const FOR_TOOL: &str = "[Request interrupted by user for tool use]";
const SUMMARY: &str = "This session is being continued from a previous conversation that ran out of context.";

impl Session {
    /// Goes back to the prompt that hung below `anchor` and takes another way; what was there stays as a side branch.
    pub fn rewind(&mut self, anchor: Option<String>) {
        self.tick(5_000, 600_000);
        self.parent = anchor;
    }

    /// A prompt that is stopped before it is answered, and the one that takes its place.
    pub fn replaced_prompt(&mut self) {
        let anchor = self.parent.clone();
        self.prompt("look into the failing test");
        self.tick(800, 3_000);
        self.marker(BY_USER, None);
        self.rewind(anchor);
        self.prompt("look into the failing test of the parser");
        self.work();
        self.answer();
    }

    /// A call that the user refuses.
    pub fn refused_call(&mut self) {
        let ids = self.response_ids();
        self.lead_in(&ids, Says { thinking: false, text: true }, "tool_use", false);
        let (record, id, _) = self.call(&ids, Tool::Bash, true);
        let block = json!({"type": "tool_result", "content": REJECTED, "is_error": true, "tool_use_id": id});
        self.result_with(&record, block, Some(json!("User rejected tool use")));
        self.marker(FOR_TOOL, None);
    }

    /// A turn that the user stops after a result.
    pub fn stopped_turn(&mut self) {
        self.step(Says { thinking: true, text: false }, 1, Order::AsCalled);
        let message = self.rows.iter().rev().find_map(|r| r.get("message")?["id"].as_str().map(str::to_owned));
        self.marker(BY_USER, message);
    }

    fn marker(&mut self, text: &str, message: Option<String>) {
        self.tick(1, 30);
        let mut body = json!({"promptId": null, "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": text}]}, "uuid": null, "timestamp": null});
        if let (Some(message), true) = (message, self.version.0 >= 177) {
            body["interruptedMessageId"] = json!(message);
        }
        self.next(body);
    }

    /// A command that the client answers itself.
    pub fn local_command(&mut self, name: &str) {
        self.tick(1_000, 60_000);
        self.prompt_id = self.rng.uuid();
        let me = self.rng.uuid();
        self.snapshot_for(&me);
        let caveat = "<local-command-caveat>Caveat: made by the client.</local-command-caveat>";
        self.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": caveat},
            "isMeta": true, "uuid": null, "timestamp": null}));
        self.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": command(name)},
            "uuid": me, "timestamp": null}));
        let output = "<local-command-stdout>done</local-command-stdout>";
        if self.version.0 >= 81 {
            self.next(json!({"type": "system", "subtype": "local_command", "content": output, "level": "info",
                "timestamp": null, "uuid": null, "isMeta": false}));
        } else {
            self.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": output},
                "uuid": null, "timestamp": null}));
        }
    }

    /// The client makes room on its own, in the middle of a turn: what was kept is written again behind the summary.
    pub fn compact_on_its_own(&mut self) {
        self.work();
        self.step(Says { thinking: false, text: true }, 1, Order::AsCalled);
        if self.version.0 < 215 {
            let last = self.parent.clone();
            self.boundary("auto", last, None);
            self.session_start("compact");
        } else {
            // What streams while the summary is made stands behind it in the file and hangs below it.
            let (boundary, summary) = (self.rng.uuid(), self.rng.uuid());
            let at = self.rows.len();
            self.parent = Some(summary.clone());
            self.step(Says { thinking: false, text: true }, 1, Order::AsCalled);
            let kept: Vec<String> = chain_ids(&self.rows[at..]);
            let streamed = self.rows.split_off(at);
            let last = kept.last().cloned();
            let tail = self.parent.take();
            self.boundary("auto", last, Some((boundary, summary, kept)));
            self.rows.extend(streamed);
            self.parent = tail;
            self.attach_later(json!({"type": "compact_file_reference", "filename": format!("{}/a.rs", self.project),
                "displayPath": "a.rs"}));
            self.session_start("compact");
        }
        self.work();
        self.answer();
    }

    /// The user asks for room: the last rows before the boundary are kept where they stand.
    pub fn compact_on_request(&mut self) {
        let kept: Vec<String> = chain_ids(&self.rows).into_iter().rev().take(2).rev().collect();
        let last = self.parent.clone();
        self.tick(1_000, 60_000);
        self.prompt_id = self.rng.uuid();
        let me = self.rng.uuid();
        self.snapshot_for(&me);
        let (asked, ids) = (self.clock, (self.rng.uuid(), self.rng.uuid()));
        self.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": "/compact"},
            "uuid": me, "timestamp": null}));
        self.tick(40_000, 180_000);
        let with_kept = (self.version.0 >= 215).then_some((ids.0, ids.1, kept));
        self.boundary("manual", last, with_kept);
        let caveat = "<local-command-caveat>Caveat: made by the client.</local-command-caveat>";
        self.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": caveat},
            "isMeta": true, "uuid": null, "timestamp": iso(asked), "session_id": null}));
        for text in [command("compact").as_str(), "<local-command-stdout>Compacted</local-command-stdout>"] {
            self.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": text},
                "uuid": null, "timestamp": iso(asked), "session_id": null}));
        }
        self.session_start("compact");
        self.about();
    }

    /// A boundary and the summary below it, which becomes the newest record. `kept`: ids of the boundary and of the
    /// summary, and the records that stay in the context.
    fn boundary(&mut self, trigger: &str, last: Option<String>, kept: Option<(String, String, Vec<String>)>) {
        self.tick(20_000, 90_000);
        let mut meta = json!({"trigger": trigger, "preTokens": 167_979});
        let (boundary, summary) = match kept {
            None => (None, None),
            Some((boundary, summary, kept)) => {
                for (name, value) in
                    [("postTokens", 11_571), ("cumulativeDroppedTokens", 156_408), ("durationMs", 51_000)]
                {
                    meta[name] = json!(value);
                }
                meta["preservedSegment"] =
                    json!({"headUuid": kept.first(), "anchorUuid": summary, "tailUuid": kept.last()});
                meta["preservedMessages"] = json!({"anchorUuid": summary, "uuids": kept, "allUuids": kept});
                (Some(boundary), Some(summary))
            }
        };
        let content = "Conversation compacted";
        let body = if self.version.envelope_last() {
            json!({"logicalParentUuid": last, "type": "system", "subtype": "compact_boundary", "content": content,
                "level": "info", "compactMetadata": meta, "uuid": boundary, "timestamp": null})
        } else {
            json!({"logicalParentUuid": last, "type": "system", "subtype": "compact_boundary", "content": content,
                "isMeta": false, "timestamp": null, "uuid": boundary, "level": "info", "compactMetadata": meta})
        };
        self.parent = Some(self.below(None, body));
        let text = format!("{SUMMARY}\n\n{}", self.rng.prose(120));
        self.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": text},
            "isVisibleInTranscriptOnly": true, "isCompactSummary": true, "uuid": summary, "timestamp": null,
            "session_id": null}));
    }

    /// A micro compaction, which keeps the chain.
    pub fn micro_compaction(&mut self) {
        self.tick(20, 200);
        let meta = json!({"trigger": "auto", "preTokens": 60_497, "tokensSaved": 21_279, "compactedToolIds": [],
            "clearedAttachmentUUIDs": []});
        self.next(json!({"type": "system", "subtype": "microcompact_boundary", "content": "Context microcompacted",
            "isMeta": false, "timestamp": null, "uuid": null, "level": "info", "microcompactMetadata": meta}));
    }

    /// A plan that is approved with a cleared context: a new root in the same file.
    pub fn clear_context(&mut self) {
        let ids = self.response_ids();
        self.lead_in(&ids, Says { thinking: false, text: true }, "tool_use", false);
        let plan = self.rng.prose(40);
        let (record, id) = self.named_call(&ids, "ExitPlanMode", json!({"plan": plan}), true);
        let block = json!({"type": "tool_result", "content": REJECTED, "is_error": true, "tool_use_id": id});
        self.result_with(&record, block, Some(json!("User rejected tool use")));
        self.marker(FOR_TOOL, None);
        self.parent = None;
        self.session_start("clear");
        self.tick(100, 900);
        self.prompt_id = self.rng.uuid();
        let me = self.rng.uuid();
        self.snapshot_for(&me);
        let text = format!("Implement the following plan:\n\n{plan}");
        self.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": text},
            "uuid": me, "timestamp": null, "planContent": plan}));
        self.work();
        self.answer();
    }

    fn queue(&mut self, operation: &str, content: Option<&str>) {
        let mut row = json!({"type": "queue-operation", "operation": operation, "timestamp": self.now(),
            "sessionId": self.id});
        if let Some(content) = content {
            row["content"] = json!(content);
        }
        self.row(row);
    }

    /// A prompt typed during a turn and handed to the model between two of its calls.
    pub fn queued_and_delivered(&mut self) {
        let ids = self.response_ids();
        let (record, id, tool) = self.call(&ids, Tool::Bash, true);
        self.tick(500, 5_000);
        let (typed, text) = (self.now(), "also run the linter");
        self.queue("enqueue", Some(text));
        if self.rng.chance(0.4) {
            // Pulled back into the editor, and sent again with more to it.
            self.tick(500, 2_000);
            self.queue("popAll", Some(text));
            self.tick(500, 2_000);
        } else {
            self.deliver(&record, &id, tool, text, &typed);
            return;
        }
        let (typed, text) = (self.now(), "also run the linter, with all warnings");
        self.queue("enqueue", Some(text));
        self.deliver(&record, &id, tool, text, &typed);
    }

    fn deliver(&mut self, record: &str, id: &str, tool: Tool, text: &str, typed: &str) {
        self.tick(500, 3_000);
        self.queue("remove", (self.version.0 >= 207).then_some(text));
        self.result(record, id, tool);
        if self.version.attachments() {
            self.attach_at(
                typed,
                json!({"type": "queued_command", "prompt": text, "commandMode": "prompt",
                "origin": {"kind": "human"}, "timestamp": typed}),
            );
        }
        self.history.push((self.clock, text.to_owned()));
    }

    fn attach_at(&mut self, time: &str, attachment: Value) {
        self.next(json!({"attachment": attachment, "type": "attachment", "uuid": null, "timestamp": time,
            "session_id": null}));
    }

    /// A prompt typed during a turn that becomes the next prompt.
    pub fn queued_for_later(&mut self) {
        self.prompt("read the notes first");
        self.work();
        self.queue("enqueue", Some("then write the summary"));
        self.answer();
        self.tick(5, 60);
        self.queue("dequeue", None);
        self.prompt_from("queued", "then write the summary");
        self.answer();
    }

    /// The client tells the model that something it started in the background is done.
    pub fn task_notification(&mut self) {
        let text = format!("<task-notification>\n<task-id>{}</task-id>\n</task-notification>", self.rng.base62(9));
        self.queue("enqueue", Some(&text));
        self.tick(5, 60);
        self.queue("dequeue", None);
        self.prompt_id = self.rng.uuid();
        let mut body = json!({"promptId": null, "type": "user", "message": {"role": "user", "content": text},
            "uuid": null, "timestamp": null, "origin": {"kind": "task-notification"}});
        if self.version.0 >= 183 {
            body["promptSource"] = json!("system");
        }
        self.next(body);
        self.answer();
    }

    /// Works in another directory from here on, with the branch that is checked out there.
    pub fn change_directory(&mut self, cwd: &str, branch: &str) {
        let (old, name) = (self.cwd.clone(), branch.to_owned());
        (self.cwd, self.branch) = (cwd.to_owned(), branch.to_owned());
        if self.version.0 >= 233 && cwd.contains("worktrees") {
            let commit = self.rng.hex(40);
            self.row(json!({"type": "worktree-state", "worktreeSession": {"originalCwd": old,
                "preEnterOriginalCwd": old, "worktreePath": cwd, "worktreeName": name, "worktreeBranch": name,
                "originalBranch": "main", "originalHeadCommit": commit, "sessionId": self.id},
                "sessionId": self.id}));
            self.row(json!({"type": "relocated", "sessionId": self.id, "relocatedCwd": cwd}));
        }
    }

    /// The turn ends in an error of the API, which the client writes as a response of its own making.
    pub fn error_ending(&mut self) {
        self.tick(300, 9_000);
        let usage = json!({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": null, "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
            "inference_geo": null, "iterations": null, "speed": null});
        let message = json!({"id": self.rng.uuid(), "container": null, "model": "<synthetic>", "role": "assistant",
            "stop_details": null, "stop_reason": "stop_sequence", "stop_sequence": "", "type": "message",
            "usage": usage, "content": [{"type": "text", "text": "API Error: Overloaded"}],
            "context_management": null});
        let mut body = json!({"type": "assistant", "uuid": null, "timestamp": null, "message": message});
        if self.version.0 >= 220 {
            body["requestId"] = json!(format!("req_011{}", self.rng.base62(21)));
            body["apiErrorIsTransient"] = json!(false);
        }
        body["error"] = json!("rate_limit");
        body["isApiErrorMessage"] = json!(true);
        if self.version.0 >= 220 {
            body["apiErrorStatus"] = json!(429);
        }
        body["session_id"] = Value::Null;
        self.next(body);
        self.end_of_turn();
    }

    /// A skill: what it says reaches the model in a row of the client's own.
    pub fn skill(&mut self) {
        let ids = self.response_ids();
        let (record, id) = self.named_call(&ids, "Skill", json!({"skill": "tidy"}), true);
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": "Launching skill: tidy"});
        self.result_with(&record, block, Some(json!({"success": true, "commandName": "tidy"})));
        let text = "Base directory for this skill: /home/dev/.claude/skills/tidy";
        self.next(json!({"promptId": null, "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": text}]}, "isMeta": true, "uuid": null,
            "timestamp": null, "sourceToolUseID": id, "session_id": null}));
        self.attach_later(json!({"type": "command_permissions", "allowedTools": []}));
    }

    /// A search for tools, answered with references to them.
    pub fn tool_search(&mut self) {
        let ids = self.response_ids();
        let (record, id) = self.named_call(&ids, "ToolSearch", json!({"query": "select:TaskCreate"}), true);
        let block = json!({"type": "tool_result", "tool_use_id": id,
            "content": [{"type": "tool_reference", "tool_name": "TaskCreate"}]});
        let detail = json!({"matches": ["TaskCreate"], "query": "select:TaskCreate", "total_deferred_tools": 10});
        self.result_with(&record, block, Some(detail));
    }

    /// Output too long for the transcript: a file beside it holds it.
    pub fn spilled_output(&mut self) {
        let ids = self.response_ids();
        let (record, id, _) = self.call(&ids, Tool::Bash, true);
        let (name, text) = (format!("{}.txt", self.rng.base62(9)), self.rng.code(60));
        let path = format!("/home/dev/.claude/projects/{}/{}/tool-results/{name}", super::slug(&self.project), self.id);
        let note = format!("<persisted-output>\nOutput too large. Full output saved to: {path}\n</persisted-output>");
        let block = json!({"tool_use_id": id, "type": "tool_result", "content": note, "is_error": false});
        let detail = json!({"stdout": self.rng.code(3), "stderr": "", "interrupted": false, "isImage": false,
            "noOutputExpected": false, "persistedOutputPath": path, "persistedOutputSize": text.len()});
        self.result_with(&record, block, Some(detail));
        self.spilled.push((name, text));
    }

    /// Progress rows of a command and of a subagent between a call and its result, and a second call below them.
    pub fn progress_rows(&mut self) {
        let ids = self.response_ids();
        self.lead_in(&ids, Says { thinking: true, text: true }, "tool_use", false);
        let input = json!({"description": "Explore", "prompt": "explore the module", "subagent_type": "Explore"});
        let (agent, agent_call) = self.named_call(&ids, "Task", input, false);
        self.agent_progress(&ids, &agent_call, 2);
        let (record, id, tool) = self.call(&ids, Tool::Bash, true);
        for n in 1..=2 {
            self.tick(1_000, 1_100);
            self.next(json!({"type": "progress", "data": {"type": "bash_progress", "output": "", "fullOutput": "",
                "elapsedTimeSeconds": n, "totalLines": 0}, "toolUseID": format!("bash-progress-{n}"),
                "parentToolUseID": id, "uuid": null, "timestamp": null}));
        }
        self.result(&record, &id, tool);
        self.agent_progress(&ids, &agent_call, 3);
        let block = json!({"tool_use_id": agent_call, "type": "tool_result",
            "content": [{"type": "text", "text": "The module has two entry points."}]});
        let detail = json!({"status": "completed", "prompt": "explore the module", "agentId": "af35ba2",
            "content": [], "totalDurationMs": 9_000, "totalTokens": 900, "totalToolUseCount": 3});
        self.result_with(&agent, block, Some(detail));
    }

    fn agent_progress(&mut self, ids: &(String, String), call: &str, rows: usize) {
        for _ in 0..rows {
            self.tick(100, 900);
            let message = json!({"type": "user", "message": {"role": "user",
                "content": [{"type": "text", "text": self.rng.prose(5)}]}, "uuid": self.rng.uuid(),
                "timestamp": self.now()});
            let data = json!({"message": message, "normalizedMessages": [], "type": "agent_progress", "prompt": "",
                "agentId": "af35ba2"});
            self.next(json!({"type": "progress", "data": data, "toolUseID": format!("agent_{}", ids.0),
                "parentToolUseID": call, "uuid": null, "timestamp": null}));
        }
    }

    /// A subagent with a transcript of its own and no file that describes it.
    pub fn subagent(&mut self) {
        let ids = self.response_ids();
        let task = self.rng.prose(20);
        let input = json!({"description": "Explore", "subagent_type": "Explore", "prompt": task});
        let (record, id) = self.named_call(&ids, "Agent", input, true);
        let mut agent = Session::new(self.rng.clone(), self.version, &self.project, self.clock);
        (agent.id, agent.slug, agent.hooks) = (self.id.clone(), None, false);
        (agent.cwd, agent.branch, agent.prompt_id) = (self.cwd.clone(), self.branch.clone(), self.prompt_id.clone());
        agent.agent = Some(format!("a{}", self.rng.hex(16)));
        agent.next(json!({"promptId": null, "type": "user", "message": {"role": "user", "content": task},
            "uuid": null, "timestamp": null}));
        for _ in 0..2 {
            agent.step(Says { thinking: false, text: true }, 1, Order::AsCalled);
        }
        let last = agent.response_ids();
        agent.lead_in(&last, Says { thinking: false, text: true }, "end_turn", true);
        // The agent drew its random numbers from a copy; ours must not give the same ids again.
        self.rng = crate::support::random::Rng::new(agent.rng.u64());
        self.clock = agent.clock;
        let block = json!({"tool_use_id": id, "type": "tool_result",
            "content": [{"type": "text", "text": "Two entry points, both tested."}]});
        let detail = json!({"status": "completed", "prompt": task, "agentId": agent.agent, "agentType": "Explore",
            "content": [{"type": "text", "text": "Two entry points, both tested."}], "totalDurationMs": 9_000,
            "totalTokens": 33_854, "totalToolUseCount": 2});
        self.result_with(&record, block, Some(detail));
        self.agents.push(agent);
    }
}

fn command(name: &str) -> String {
    let gap = "\n            ";
    format!(
        "<command-name>/{name}</command-name>{gap}<command-message>{name}</command-message>{gap}<command-args></command-args>"
    )
}

/// Ids of the records among these rows.
fn chain_ids(rows: &[super::session::Row]) -> Vec<String> {
    rows.iter().filter_map(|row| row.get("uuid")?.as_str().map(str::to_owned)).collect()
}
