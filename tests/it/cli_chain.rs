//! What `chain` prints of one session, in every view.

use crate::support;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::run::{Outcome, Run};
use support::temp::{Temp, write};

fn run(args: &[&str], file: &Path) -> Outcome {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("chain").args(args).arg(file).go()
}

fn id(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// A record `n` below `parent`; `content` is a block.
fn record(n: u32, parent: Option<u32>, kind: &str, content: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |n| format!("\"{}\"", id(n)));
    format!(
        "{{\"type\":\"{kind}\",\"uuid\":\"{}\",\"parentUuid\":{parent},\"sessionId\":\"{SESSION}\",\
         \"timestamp\":\"2026-03-01T00:{:02}:00.000Z\",\"message\":{{\"role\":\"{kind}\",\"content\":[{content}]}}}}\n",
        id(n),
        n % 60
    )
}

const SESSION: &str = "5e550000-0000-4000-8000-000000000001";
const SECRET: &str = "words that nobody should see";

fn text(n: u32, parent: Option<u32>, kind: &str) -> String {
    record(n, parent, kind, &format!("{{\"type\":\"text\",\"text\":\"{SECRET}\"}}"))
}

/// A question, a call with its result, an answer; a branch that was left at the first answer; a record whose parent is
/// gone, with one below it.
///
/// ```text
/// 1 ─ 2 ─ 3(call) ─ 4(result) ─ 5        6 ─ 7 hang in the air
///     └ 8 ─ 9                            (lines: 1 2 8 9 6 7 3 4 5)
/// ```
fn forked() -> (Temp, PathBuf) {
    let temp = Temp::new("cli-chain");
    let call = format!(
        "{{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"Bash\",\"input\":{{\"command\":\"{SECRET}\"}}}}"
    );
    let result = "{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\",\"content\":\"no\",\"is_error\":true}";
    let lines = [
        text(1, None, "user"),
        text(2, Some(1), "assistant"),
        text(8, Some(2), "user"),
        text(9, Some(8), "assistant"),
        text(6, Some(99), "user"),
        text(7, Some(6), "assistant"),
        record(3, Some(2), "assistant", &call),
        record(4, Some(3), "user", result),
        text(5, Some(4), "assistant"),
    ];
    let file = temp.join("home/.claude/projects/-home-demo").join(format!("{SESSION}.jsonl"));
    write(&file, lines.concat());
    (temp, file)
}

fn json(args: &[&str], file: &Path) -> Value {
    run(&[args, &["--format", "json"]].concat(), file).json()
}

fn lines(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|row| row["line"].as_u64().unwrap()).collect()
}

#[test]
fn the_document_tells_how_it_hangs_together() {
    let (_temp, file) = forked();
    let report = json(&[], &file);
    assert_eq!(
        (&report["schema"], &report["mode"], &report["agent"]),
        (&"sid-audit.chain".into(), &"tree".into(), &"claude".into())
    );
    assert_eq!(lines(&report["heads"]), [1]);
    assert_eq!(lines(&report["leaves"]), [4, 6, 9]);
    assert_eq!((&report["leaf"]["line"], &report["leaf"]["id"]), (&9.into(), &id(5).into()));
    assert_eq!(lines(&report["adopted"]), [1, 2, 7, 8, 9]);
    assert_eq!(report["adopted"][2]["type"], "assistant");
    assert_eq!(lines(&report["messages"]), [1, 2, 7, 8, 9]);
    assert_eq!(report["path_stats"], serde_json::json!({"depth":5,"messages":5,"tool_calls":1,"error_results":1}));
    let skipped: Vec<(u64, &str)> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["line"].as_u64().unwrap(), row["reason"].as_str().unwrap()))
        .collect();
    // The path taken ends at a root, so what hangs in the air is a branch beside it and no loss of its own.
    assert_eq!(skipped[..2], [(3, "foreign_branch"), (4, "foreign_branch")]);
    assert_eq!(skipped.len(), 4);
    let branches = report["branches"].as_array().unwrap();
    let of = |n: usize| {
        let b = &branches[n];
        (
            b["leaf"]["line"].as_u64().unwrap(),
            b["records"].as_u64().unwrap(),
            b["messages"].as_u64().unwrap(),
            b["adopted"].as_bool().unwrap(),
        )
    };
    assert_eq!([of(0), of(1), of(2)], [(9, 5, 5, true), (4, 2, 2, false), (6, 2, 2, false)]);
    assert_eq!(branches[1]["fork"]["id"], id(2));
    assert_eq!(
        (&branches[1]["first"], &branches[1]["last"]),
        (&"2026-03-01T00:08:00.000Z".into(), &"2026-03-01T00:09:00.000Z".into())
    );
    let broken = &report["breaks"][0];
    assert_eq!((&broken["line"], &broken["id"], &broken["missing_parent"]), (&5.into(), &id(6).into(), &id(99).into()));
    assert!(broken.get("seen_in").is_none());
    assert!(!report.to_string().contains(SECRET));
}

#[test]
fn a_missing_parent_is_looked_for_in_the_store() {
    let (_temp, file) = forked();
    let other = file.with_file_name("5e550000-0000-4000-8000-000000000002.jsonl");
    write(&other, [text(98, None, "user"), text(99, Some(98), "assistant")].concat());
    let broken = json(&[], &file)["breaks"][0].clone();
    assert_eq!((broken["seen_in"].as_str(), &broken["seen_at_line"]), (other.to_str(), &2.into()));
    let page = run(&[], &file).text();
    assert!(page.contains("last seen in"), "{page}");
}

#[test]
fn another_leaf_is_followed_or_refused() {
    let (_temp, file) = forked();
    let report = json(&["--leaf", &id(9)], &file);
    assert_eq!(lines(&report["adopted"]), [1, 2, 3, 4]);
    assert!(report.get("resume").is_none(), "the verdict is about what a resume takes");
    let refused = |leaf: &str| {
        let outcome = run(&["--leaf", leaf], &file);
        assert_eq!(outcome.status, Some(2));
        String::from_utf8(outcome.stderr).unwrap()
    };
    let unknown = refused("nobody");
    assert!(unknown.contains("has the id 'nobody'") && unknown.contains("hint: "), "{unknown}");
    let gap = refused(&id(7));
    assert!(gap.contains("line 5") && gap.contains(&id(6)) && gap.contains(&id(99)), "{gap}");
}

#[test]
fn a_conflicting_id_anywhere_makes_no_path_certain() {
    let (_temp, file) = forked();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.extend_from_slice(record(9, Some(8), "user", "{\"type\":\"text\",\"text\":\"other\"}").as_bytes());
    std::fs::write(&file, bytes).unwrap();
    let outcome = run(&["--leaf", &id(5)], &file);
    let said = String::from_utf8(outcome.stderr).unwrap();
    assert_eq!(outcome.status, Some(2));
    assert!(said.contains("line 4") && said.contains("line 10") && said.contains("no path is certain"), "{said}");
}

#[test]
fn loops_are_refused_with_both_ends() {
    let temp = Temp::new("cli-loop");
    let file = temp.join(format!("{SESSION}.jsonl"));
    write(&file, [text(1, Some(2), "user"), text(2, Some(1), "assistant"), text(3, Some(2), "user")].concat());
    let outcome = run(&["--leaf", &id(3)], &file);
    let said = String::from_utf8(outcome.stderr).unwrap();
    assert_eq!(outcome.status, Some(2));
    assert!(said.contains(&id(1)) && said.contains(&id(2)) && said.contains("leads back"), "{said}");
    let own = temp.join("own.jsonl");
    write(&own, text(1, Some(1), "user"));
    assert_eq!(json(&[], &own)["breaks"][0]["gap"], "own_parent");
}

#[test]
fn adopted_records_are_emitted_byte_for_byte() {
    let (_temp, file) = forked();
    let all = std::fs::read_to_string(&file).unwrap();
    let by_line: Vec<&str> = all.split_inclusive('\n').collect();
    let want: String = [1, 2, 7, 8, 9].map(|n: usize| by_line[n - 1]).concat();
    assert_eq!(run(&["--emit"], &file).text(), want);
    let crlf = file.with_file_name("crlf.jsonl");
    write(&crlf, [text(1, None, "user"), text(2, Some(1), "assistant")].concat().replace('\n', "\r\n"));
    assert_eq!(run(&["--emit"], &crlf).stdout, std::fs::read(&crlf).unwrap());
    let cut = file.with_file_name("cut.jsonl");
    write(&cut, text(1, None, "user").trim_end());
    assert_eq!(run(&["--emit"], &cut).text(), text(1, None, "user"));
}

#[test]
fn messages_are_listed_and_their_text_only_when_asked_for() {
    let (_temp, file) = forked();
    let page = run(&["--messages"], &file).text();
    assert!(page.contains("tool_use Bash") && page.contains("tool_result"), "{page}");
    assert!(!page.contains(SECRET));
    assert!(run(&["--messages", "--show-content"], &file).text().contains(SECRET));
    let blocks = &json(&["--messages"], &file)["messages"][2]["blocks"];
    assert_eq!(
        (&blocks[0]["type"], &blocks[0]["name"], &blocks[0]["call"]),
        (&"tool_use".into(), &"Bash".into(), &"toolu_1".into())
    );
    assert!(blocks[0].get("text").is_none());
}

#[test]
fn a_line_by_line_reader_mixes_branches() {
    let (_temp, file) = forked();
    let compare = json(&["--compare", "linear"], &file)["compare"].clone();
    assert_eq!((&compare["messages"], &compare["out_of_order"]), (&9.into(), &0.into()));
    assert_eq!(lines(&compare["mixed"]), [3, 4, 5, 6]);
    assert!(run(&["--compare", "linear"], &file).text().contains("It mixes in 4 messages"));
}

#[test]
fn a_tail_is_widened_to_the_call() {
    let (_temp, file) = forked();
    let report = json(&["--tail", "2"], &file);
    assert_eq!(lines(&report["messages"]), [7, 8, 9]);
    assert_eq!(lines(&report["tail"]["a_plain_cut_would_break"]), [8]);
    assert_eq!((&report["tail"]["start"]["line"], &report["tail"]["plain_start"]["line"]), (&7.into(), &8.into()));
    assert_eq!(lines(&json(&["--tail", "1"], &file)["messages"]), [9]);
    let page = run(&["--tail", "2"], &file).text();
    assert!(page.contains("1 more than asked for"), "{page}");
}

#[test]
fn the_drawing_shows_forks_and_breaks_and_stays_short() {
    let (_temp, file) = forked();
    let page = run(&["--tree"], &file).text();
    for part in
        ["line 1  adopted", "├─ foreign branch  leaf line 4", "✕ line 5", "● 3 records, 3 messages, lines 7 to 9"]
    {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let temp = Temp::new("cli-comb");
    let comb = temp.join(format!("{SESSION}.jsonl"));
    let mut all = text(1, None, "user");
    for n in 1..3000 {
        all.push_str(&text(2 * n, Some(2 * n - 1), "assistant"));
        all.push_str(&text(2 * n + 1, Some(2 * n - 1), "user"));
    }
    write(&comb, all);
    let page = run(&["--tree"], &comb).text();
    assert!(
        page.lines().count() < 500 && page.contains("more; --format json has them all"),
        "{}",
        page.lines().count()
    );
}

#[test]
fn the_page_fits_and_names_what_a_stranger_needs() {
    let (_temp, file) = forked();
    let page = run(&[], &file).text();
    for part in ["RESUME", "API", "What comes back", "What does not, and why", "Branches", "Breaks", "adopted"] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    for line in page.lines().filter(|line| !line.contains('/')) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn what_is_no_session_is_told() {
    let temp = Temp::new("cli-nosession");
    assert_eq!(run(&[], temp.path()).status, Some(2));
    let note = temp.join("notes.txt");
    write(&note, "nothing of an agent\n");
    let outcome = run(&[], &note);
    assert_eq!(outcome.status, Some(2), "{}", String::from_utf8_lossy(&outcome.stderr));
}
