//! Nothing that a file says about parents makes a command walk for ever: random graphs of records of every kind, of every
//! agent, through every command, each under a time limit. And long files cost what their length is, not its square.

use crate::support;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use support::run::{Outcome, Run};
use support::temp::{Temp, write};

const AGENTS: [&str; 3] = ["claude", "sid", "pi"];
const KINDS: usize = 7;

/// Kinds and parents: a parent is none, one that is missing, or any record of the file.
type Graph = Vec<(usize, usize)>;

fn id(agent: &str, n: usize) -> String {
    if agent == "pi" { format!("{:08x}", 0xaaaa_0000 + n) } else { format!("00000000-0000-4000-8000-{n:012}") }
}

/// `parent` counts from 1; 0 is none, one above the last is missing.
fn record(agent: &str, n: usize, kind: usize, parent: usize) -> Value {
    let parent = (parent > 0).then(|| id(agent, parent));
    let time = format!("2026-03-01T00:{:02}:{:02}.000Z", n / 60 % 60, n % 60);
    let text = json!([{"type": "text", "text": "a"}]);
    let call = json!([{"type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": {}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": format!("t{}", n - 1), "content": "b"}]);
    let mut record = match (agent, kind) {
        ("claude", 1 | 2) => {
            let content = if kind == 1 { text } else { call };
            json!({"type": "assistant", "message": {"id": format!("m{n}"), "role": "assistant", "content": content}})
        }
        ("claude", 3) => json!({"type": "user", "message": {"role": "user", "content": result}}),
        ("claude", 4) => json!({"type": "system", "subtype": "informational", "content": "s"}),
        ("claude", 5) => json!({"type": "progress", "data": {"type": "hook_progress"}, "toolUseID": "t"}),
        ("claude", 6) => json!({"type": "attachment", "attachment": {"type": "todo_reminder", "content": []}}),
        ("claude", _) => json!({"type": "user", "message": {"role": "user", "content": "u"}}),
        ("sid", 1 | 2) => {
            let content = if kind == 1 { text } else { call };
            json!({"type": "assistant_message", "message": {"role": "assistant", "content": content}})
        }
        ("sid", 3) => json!({"type": "tool_result", "message": {"role": "user", "content": result}}),
        ("sid", 4) => json!({"type": "metadata", "key": "todo_state", "value": {}}),
        ("sid", 5) => json!({"type": "context_compact", "summary": "s"}),
        ("sid", 6) => json!({"type": "session_end"}),
        ("sid", _) => json!({"type": "user_message", "message": {"role": "user", "content": text}}),
        (_, 1 | 2) => {
            json!({"type": "message", "message": {"role": "assistant", "content": text, "stopReason": "stop"}})
        }
        (_, 3) => json!({"type": "compaction", "summary": "s", "firstKeptEntryId": id(agent, 1), "tokensBefore": 1}),
        (_, 4) => json!({"type": "branch_summary", "summary": "s", "fromId": id(agent, 1)}),
        (_, 5) => json!({"type": "context_edit", "targetId": id(agent, 1), "replacement": null}),
        (_, 6) => json!({"type": "label", "targetId": id(agent, 1), "label": "l"}),
        _ => json!({"type": "message", "message": {"role": "user", "content": text}}),
    };
    let (own, up) = if agent == "pi" { ("id", "parentId") } else { ("uuid", "parentUuid") };
    record[own] = id(agent, n).into();
    record[up] = parent.into();
    record["timestamp"] = time.into();
    if agent == "claude" {
        record["sessionId"] = "5e550000-0000-4000-8000-000000000001".into();
        record["version"] = "2.1.200".into();
        record["isSidechain"] = (kind == 0 && n.is_multiple_of(5)).into();
    }
    record
}

fn save(folder: &Path, agent: &str, number: usize, graph: &Graph) -> PathBuf {
    let name = match agent {
        "claude" => format!("5e550000-0000-4000-8000-{number:012}.jsonl"),
        "sid" => format!("20260301-090000-{number:08}.jsonl"),
        _ => format!("2026-03-01T09-00-00-000Z_5e550000-0000-4000-8000-{number:012}.jsonl"),
    };
    let head = match agent {
        "claude" => String::new(),
        "sid" => {
            json!({"type": "session_start", "version": "3.0", "sessionId": format!("20260301-090000-{number:08}"),
            "cwd": "/home/demo", "uuid": id(agent, 0), "parentUuid": null})
            .to_string()
                + "\n"
        }
        _ => {
            json!({"type": "session", "version": 3, "id": format!("5e550000-0000-4000-8000-{number:012}"),
            "cwd": "/home/demo"})
            .to_string()
                + "\n"
        }
    };
    let lines = (1..).zip(graph).map(|(n, (kind, parent))| record(agent, n, *kind, *parent).to_string() + "\n");
    let path = folder.join(agent).join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    write(&path, head + &lines.collect::<String>());
    path
}

fn ends(home: &Temp, arguments: &[&str], target: &Path, limit: Duration) -> Outcome {
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(arguments).arg(target);
    let outcome = run.env("HOME", home.path()).limit(limit).go();
    assert!(matches!(outcome.status, Some(0..=3)), "{arguments:?} {}: {:?}", target.display(), outcome.status);
    outcome
}

/// Every command: the first five take whole folders.
const COMMANDS: [&[&str]; 9] = [
    &["scan"],
    &["metrics", "--cross-check"],
    &["fields"],
    &["repair", "--dry-run"],
    &["repair", "--dry-run", "--up-to", "content", "--relink", "auto"],
    &["chain"],
    &["chain", "--tree"],
    &["chain", "--format", "html"],
    &["predict"],
];

#[test]
fn every_command_ends_whatever_names_whom_as_its_parent() {
    let (home, mut runner) = (Temp::new("endless"), TestRunner::deterministic());
    let graphs = prop::collection::vec((0..KINDS, 0_usize..9), 1..8);
    let mut files = Vec::new();
    for agent in AGENTS {
        // Prompts that are their own parents or each other's, with and without one behind them, then anything.
        let rings: [Graph; 4] =
            [vec![(0, 1)], vec![(0, 1), (0, 1)], vec![(0, 2), (0, 1)], vec![(0, 2), (0, 1), (0, 2)]];
        let random = std::iter::repeat_with(|| graphs.new_tree(&mut runner).unwrap().current()).take(60);
        let all: Vec<Graph> = rings.into_iter().chain(random).collect();
        for (number, graph) in all.iter().enumerate() {
            files.push(save(home.path(), agent, number, graph));
        }
    }
    let limit = Duration::from_secs(60);
    for command in &COMMANDS[..5] {
        AGENTS.iter().for_each(|agent| drop(ends(&home, command, &home.path().join(agent), limit)));
    }
    for command in &COMMANDS[5..] {
        files.iter().for_each(|file| drop(ends(&home, command, file, limit)));
    }
}

/// Long chains, rings and combs take a time that grows with their length: in the square of it these would take hours.
#[test]
fn every_command_ends_on_long_files() {
    let home = Temp::new("endless-long");
    let many = 30_000;
    let ring: Graph = (1..=many).map(|n| (0, if n == 1 { many } else { n - 1 })).collect();
    let chain: Graph = (1..=many).map(|n| (usize::from(n % 2 == 0), n - 1)).collect();
    let progress: Graph = (1..=many).map(|n| (if n % 9 == 0 { 0 } else { 5 }, n - 1)).collect();
    let comb: Graph = (1..=many).map(|n| (n % 2, if n % 2 == 0 { n.saturating_sub(2) } else { n - 1 })).collect();
    for (number, graph) in [ring, chain, progress, comb].iter().enumerate() {
        let file = save(home.path(), "claude", number, graph);
        COMMANDS.iter().for_each(|command| drop(ends(&home, command, &file, Duration::from_secs(60))));
    }
}

#[test]
fn a_message_of_many_blocks_is_read_once_for_all_of_them() {
    let home = Temp::new("endless-blocks");
    let calls: Vec<Value> =
        (0..20_000).map(|n| json!({"type": "tool_use", "id": format!("t{n}"), "name": "B", "input": {}})).collect();
    let mut long = record("claude", 2, 1, 1);
    long["message"]["content"] = calls.into();
    let file = save(home.path(), "claude", 1, &vec![(0, 0)]);
    let first = std::fs::read_to_string(&file).unwrap();
    write(&file, format!("{first}{long}\n"));
    COMMANDS.iter().for_each(|command| drop(ends(&home, command, &file, Duration::from_secs(60))));
}

#[test]
fn keys_that_a_person_wrote_are_not_printed_unless_asked_for() {
    let home = Temp::new("endless-keys");
    let mut asked = record("claude", 2, 2, 1);
    asked["message"]["content"][0]["input"] = json!({"Shall I tell?": {"secretword": 1}, "content": {"secretword": 2}});
    let mut answer = record("claude", 3, 3, 2);
    answer["toolUseResult"] = json!({"answers": {"Shall I tell?": "yes"}});
    let file = save(home.path(), "claude", 1, &vec![(0, 0)]);
    let first = std::fs::read_to_string(&file).unwrap();
    write(&file, format!("{first}{asked}\n{answer}\n"));
    let limit = Duration::from_secs(60);
    for format in ["table", "json"] {
        let told = ends(&home, &["fields", "--all-paths", "--format", format], &file, limit).text();
        assert!(!told.contains("Shall") && !told.contains("secretword"), "{told}");
        assert!(told.contains("input.<key>"), "{told}");
        let shown = ends(&home, &["fields", "--all-paths", "--show-content", "--format", format], &file, limit).text();
        assert!(shown.contains("Shall I tell?") && shown.contains("secretword"), "{shown}");
    }
}

#[test]
fn both_counts_agree_on_lines_that_are_damaged() {
    let home = Temp::new("endless-counts");
    let graph = vec![(0, 0), (1, 1), (1, 2), (2, 3), (3, 4)];
    let damages: [fn(String) -> Vec<u8>; 3] = [
        |text| text.replace('\n', "\r\r\n").into_bytes(),
        |text| text.replacen("\"type\":\"assistant\"", "\"typm\":\"assistant\"", 1).into_bytes(),
        |text| {
            let at = text.find("\"type\":\"assistant\"").unwrap();
            [&text.as_bytes()[..at + 3], b"\xff", &text.as_bytes()[at + 3..]].concat()
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let file = save(home.path(), "claude", number, &graph);
        let rows = std::fs::read_to_string(&file).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
        let used: String = rows
            .iter()
            .map(|row| {
                let mut row: Value = serde_json::from_str(row).unwrap();
                if row["type"] == "assistant" {
                    row["message"]["id"] = "one".into();
                    row["message"]["usage"] = json!({"input_tokens": 3, "output_tokens": 5});
                }
                row.to_string() + "\n"
            })
            .collect();
        write(&file, damage(used));
        ends(&home, &["metrics", "--cross-check"], &file, Duration::from_secs(60));
    }
}
