//! A whole healthy home: hundreds of sessions of every kind, half of them older than the 30 days after which the client
//! deletes them, with the side files that name them.

use super::copies::{ascii_lines, background, fork};
use super::talk::{Order, Says};
use super::{Session, Version, slug};
use crate::support::random::Rng;
use crate::support::temp::write;
use crate::support::time::{DAY, NOW, parse, touch};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Versions for sessions of no special kind.
const VERSIONS: &[u32] = &[37, 42, 79, 101, 119, 159, 183, 207, 220, 233];

/// Directories that sessions are started in; the emoji is two UTF-16 units and so two dashes.
const PROJECTS: &[&str] = &[
    "/home/dev/parser",
    "/home/dev/web.shop",
    "/home/dev/проект",
    "/home/dev/🚀 launch",
    "/Users/dev/notes_app",
    "/home/dev/a-very-long-name/that-goes-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/and-on/end",
];

/// How many kinds of session there are; session `n` is of kind `n % KINDS`.
pub const KINDS: usize = 20;

/// Writes a healthy home of so many sessions and returns the files of its sessions in the order in which they were made.
pub fn write_home(root: &Path, sessions: usize, seed: u64) -> Vec<PathBuf> {
    let mut home = Home { root: root.to_owned(), history: Vec::new(), files: Vec::new() };
    let (mut forkable, mut copyable) = (None, None);
    for n in 0..sessions {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(n as u64));
        let days = if n % 2 == 0 { rng.range(35, 95) } else { rng.range(1, 28) };
        let start = NOW - days as i64 * DAY - rng.below(DAY as u64 / 2) as i64;
        match (n % KINDS, &mut forkable, &copyable) {
            (8, Some(source), _) => home.add_fork(source, start.max(last_time(source) + DAY)),
            (15, _, Some(source)) => {
                let at = last_time(source) + 600_000;
                home.add(&background_session(source, at));
            }
            (kind, ..) => {
                let session = session_of_kind(kind, n, rng, start);
                home.add(&session);
                match kind {
                    1 | 2 => forkable = Some(session),
                    12 => copyable = Some(session),
                    _ => {}
                }
            }
        }
    }
    home.finish()
}

/// A session of one kind.
pub fn session_of_kind(kind: usize, n: usize, mut rng: Rng, start: i64) -> Session {
    let version = Version(match kind {
        1 => 233,
        2 | 18 => 220,
        3 => *rng.pick(&[37, 79, 159]),
        9 => *rng.pick(&[207, 220]),
        12 | 15 => *rng.pick(&[207, 220]),
        13 => 37,
        14 => *rng.pick(&[37, 79, 177]),
        17 => *rng.pick(&[119, 220]),
        19 => *rng.pick(&[37, 79]),
        _ => *rng.pick(VERSIONS),
    });
    let mut s = Session::new(rng, version, PROJECTS[n % PROJECTS.len()], start);
    if kind == 18 {
        sdk_session(&mut s);
        return s;
    }
    s.open();
    s.turn();
    match kind {
        1 | 3 => {
            s.prompt("clean up the error handling");
            s.compact_on_its_own();
        }
        2 => {
            s.compact_on_request();
            s.turn();
        }
        4 => rewound(&mut s),
        5 => moved(&mut s),
        6 => parallel(&mut s),
        7 => delegated(&mut s),
        9 => {
            s.prompt("run the long job");
            s.work();
            s.error_ending();
        }
        10 => queued(&mut s),
        11 => {
            s.local_command("model");
            s.turn();
            s.local_command("exit");
        }
        12 => interrupted(&mut s),
        13 => {
            s.prompt("what does the module do");
            s.progress_rows();
            s.answer();
        }
        14 => {
            s.prompt("plan the rewrite");
            s.work();
            s.clear_context();
        }
        16 => edited(&mut s),
        17 => {
            s.prompt("tidy up");
            s.skill();
            s.tool_search();
            s.spilled_output();
            s.answer();
        }
        19 => {
            s.replaced_prompt();
            s.prompt("go on");
            s.work();
            s.micro_compaction();
            s.answer();
        }
        _ => {}
    }
    for _ in 0..s.rng.range(0, 3) {
        if !matches!(kind, 9 | 11) {
            s.turn();
        }
    }
    if s.version.attachments() {
        s.about();
    }
    s
}

fn rewound(s: &mut Session) {
    let anchor = s.parent.clone();
    s.turn();
    s.turn();
    s.rewind(anchor);
    s.turn();
    let anchor = s.parent.clone();
    s.prompt_with_image("why does it look like this");
    s.answer();
    s.rewind(anchor);
}

fn moved(s: &mut Session) {
    let (below, aside) = (format!("{}/crates/core", s.project), format!("{}/.claude/worktrees/fix-7", s.project));
    s.change_directory(&below, "main");
    s.turn();
    s.change_directory(&aside, "fix-7");
    s.turn();
}

fn parallel(s: &mut Session) {
    s.prompt("read all of it");
    for order in [Order::AsCalled, Order::AsFinished, Order::WhileStreaming] {
        s.step(Says { thinking: true, text: true }, 4, order);
    }
    if s.version.attachments() {
        s.step_out_of_order();
    }
    s.answer();
}

fn delegated(s: &mut Session) {
    s.prompt("explore the module");
    s.subagent();
    s.subagent();
    s.answer();
}

fn queued(s: &mut Session) {
    s.prompt("fix the build");
    s.queued_and_delivered();
    s.answer();
    s.queued_for_later();
    if s.version.0 >= 177 {
        s.task_notification();
    }
}

fn interrupted(s: &mut Session) {
    s.prompt("delete the old files");
    s.refused_call();
    s.prompt("only list them");
    s.stopped_turn();
}

fn edited(s: &mut Session) {
    for _ in 0..4 {
        s.prompt("rename the field");
        for _ in 0..3 {
            s.step(Says { thinking: false, text: false }, 2, Order::AsCalled);
        }
        s.answer();
    }
}

fn sdk_session(s: &mut Session) {
    (s.entrypoint, s.hooks, s.slug) = ("sdk-py", false, None);
    let text = "count the lines of every file — gründlich 🚀";
    for operation in ["enqueue", "dequeue"] {
        let mut row =
            json!({"type": "queue-operation", "operation": operation, "timestamp": s.now(), "sessionId": s.id});
        if operation == "enqueue" {
            row["content"] = json!(text);
        }
        s.row(row);
    }
    s.prompt_from("sdk", text);
    s.work();
    s.answer();
    s.about();
}

fn background_session(source: &Session, at: i64) -> Session {
    let mut copy = background(source, at);
    copy.turn();
    copy.about();
    copy
}

fn last_time(session: &Session) -> i64 {
    let times = session.rows.iter().filter_map(|row| row.get("timestamp")?.as_str().map(parse));
    times.max().unwrap_or(session.clock)
}

struct Home {
    root: PathBuf,
    history: Vec<(i64, String)>,
    files: Vec<PathBuf>,
}

impl Home {
    fn add(&mut self, s: &Session) {
        let folder = self.root.join("projects").join(slug(&s.project));
        let file = folder.join(format!("{}.jsonl", s.id));
        write(&file, s.bytes());
        touch(&file, last_time(s));
        for agent in &s.agents {
            let name = format!("agent-{}.jsonl", agent.agent.as_deref().unwrap_or_default());
            let path = folder.join(&s.id).join("subagents").join(name);
            write(&path, agent.bytes());
            touch(&path, last_time(agent));
        }
        for (name, text) in &s.spilled {
            write(&folder.join(&s.id).join("tool-results").join(name), text);
        }
        for (name, text) in &s.backups {
            write(&self.root.join("file-history").join(&s.id).join(name), text);
        }
        for (at, text) in &s.history {
            let row = json!({"display": text, "pastedContents": {}, "timestamp": at, "project": s.project,
                "sessionId": s.id});
            self.history.push((*at, row.to_string()));
        }
        self.files.push(file);
    }

    fn add_fork(&mut self, source: &mut Session, at: i64) {
        let at = at.min(NOW - 3_600_000);
        let (id, rows) = fork(source, at);
        let file = self.root.join("projects").join(slug(&source.project)).join(format!("{id}.jsonl"));
        write(&file, ascii_lines(&rows));
        touch(&file, at);
        self.files.push(file);
    }

    fn finish(mut self) -> Vec<PathBuf> {
        self.history.sort();
        let lines: String = self.history.iter().map(|(_, row)| format!("{row}\n")).collect();
        write(&self.root.join("history.jsonl"), lines);
        write(&self.root.join("settings.json"), "{}\n");
        self.files
    }
}
