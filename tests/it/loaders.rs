//! Loader conformance: what `chain` says a resume brings back is what each agent's own loader brought back.
//!
//! `fixtures/loaders/{sid,claude,claude-npm,pi,real}` hold sessions and, in `expect.json`, what the loaders made of them:
//! sid-code's own store, both open SDKs of Claude Code, pi and OpenClaw themselves, run on these bytes. `real` are skeletons of real
//! sessions: structure and damage kept, every text replaced.

use crate::support;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use support::run::{Run, findings, fixtures, is_loud};
use support::temp::{Temp, write};
use support::{sid, time};

/// The moment at which the fixtures were judged.
const NOW: &str = "2026-03-10T00:00:00Z";

fn expectations(room: &str) -> Vec<(String, Value)> {
    let path = fixtures("loaders").join(room).join("expect.json");
    let text = std::fs::read_to_string(&path).expect("the expectations are there");
    let Value::Object(map) = serde_json::from_str(&text).expect("they are JSON") else { panic!("by file") };
    assert!(!map.is_empty());
    map.into_iter().collect()
}

fn chain(file: &Path, agent_id: &str) -> Value {
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("chain").arg(file);
    run.args(["--agent", agent_id, "--format", "json"]).go().json()
}

/// One line for each file on which we differ.
fn check(room: &str, differs: impl Fn(&Path, &Value) -> Option<String> + Sync) {
    let cases = expectations(room);
    let (left, right) = cases.split_at(cases.len() / 2);
    let half = |cases: &[(String, Value)]| -> Vec<String> {
        let one = |(name, want): &(String, Value)| {
            let file = fixtures("loaders").join(room).join(name);
            differs(&file, want).map(|why| format!("{name}: {why}"))
        };
        cases.iter().filter_map(one).collect()
    };
    let mut wrong = Vec::new();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(right));
        wrong = half(left);
        wrong.extend(other.join().expect("the other half"));
    });
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn list<'a>(report: &'a Value, name: &str) -> &'a [Value] {
    report[name].as_array().map_or(&[], Vec::as_slice)
}

/// The start of a list that may be long.
fn head(items: &impl std::fmt::Debug) -> String {
    format!("{items:?}").chars().take(120).collect()
}

#[test]
fn sid_code_adopts_these_lines() {
    check("sid", |file, want| sid_differs(&chain(file, "sid"), want));
}

/// `want`: the lines that the loader adopts; lines that are JSON but no object may be among them or not.
fn sid_differs(report: &Value, want: &Value) -> Option<String> {
    let odd = list(want, "not_object");
    let lines: Vec<&Value> = list(report, "adopted").iter().map(|a| &a["line"]).filter(|l| !odd.contains(l)).collect();
    let (wanted, messages) = (list(want, "chain_lines"), list(report, "messages").len());
    if lines != wanted.iter().collect::<Vec<_>>() {
        return Some(format!("adopts {}, not {}", head(&lines), head(&wanted)));
    }
    let differs = want["loadable"] == true && want["message_count"] != messages;
    differs.then(|| format!("{messages} messages, not {}", want["message_count"]))
}

#[test]
fn the_open_sdk_shows_these_messages() {
    check("claude", |file, want| {
        let report = chain(file, "claude");
        let messages: Vec<String> = list(&report, "messages").iter().map(short).collect();
        let got = messages.join(" ");
        (*want != got).then(|| format!("shows {}, not {}", head(&got), head(want)))
    });
}

/// `want`: the ids of its messages, or that it raises.
#[test]
fn the_newer_sdk_shows_these_messages() {
    check("claude-npm", |file, want| {
        let report = chain(file, "claude");
        let reader =
            list(&report, "readers").iter().find(|r| r["loader"].as_str().is_some_and(|l| l.contains("0.3.332")));
        let reader = reader.expect("it is asked");
        let ids: Vec<&str> = list(reader, "messages").iter().filter_map(|m| m["id"].as_str()).collect();
        let got = if reader["raises"].is_null() { ids.join(" ") } else { "raises".to_owned() };
        (*want != got).then(|| format!("shows {}, not {}", head(&got), head(want)))
    });
}

/// The newer SDK reads a file of more than 5 MiB from its last boundary that keeps nothing.
#[test]
fn beyond_five_megabytes_the_newer_sdk_forgets_what_stands_before_a_boundary() {
    const LIMIT: usize = 5 * 1024 * 1024;
    let row = |id: u32, parent: &str, body: &str| {
        let parent =
            if parent.is_empty() { "null".to_owned() } else { format!("\"00000000-0000-4000-8000-{parent:0>12}\"") };
        format!(
            "{{{body},\"parentUuid\":{parent},\"uuid\":\"00000000-0000-4000-8000-{id:012}\",\"sessionId\":\"5e550000-0000-4000-8000-000000000001\"}}\n"
        )
    };
    let user = |text: &str| format!("\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}");
    let boundary = "\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"c\"";
    let tail = row(2, "", boundary) + &row(3, "1", &user("a")) + &row(4, "3", &user("b"));
    let first = |filler: usize| row(1, "", &user(&"x".repeat(filler)));
    let empty = first(0).len() + tail.len();
    for (size, want) in [(LIMIT, json!([1, 3, 4])), (LIMIT + 1, json!([3, 4]))] {
        let temp = Temp::new("npm");
        let file = temp.join("5e550000-0000-4000-8000-000000000001.jsonl");
        write(&file, (first(size - empty) + &tail).as_bytes());
        let report = chain(&file, "claude");
        let lines: Vec<&Value> = list(&report["readers"][1], "messages").iter().map(|m| &m["line"]).collect();
        assert_eq!(json!(lines), want, "{size} bytes");
    }
}

/// `u:7`: the role's first letter and the end of the id, as a number where it is one.
fn short(message: &Value) -> String {
    let (role, id) = (message["role"].as_str().unwrap_or("?"), message["id"].as_str().unwrap_or_default());
    let start = id.char_indices().rev().nth(7).map_or(0, |(at, _)| at);
    let tail = &id[start..];
    let number = tail.bytes().all(|b| b.is_ascii_digit()).then(|| tail.parse::<u64>().ok()).flatten();
    format!("{}:{}", &role[..1], number.map_or_else(|| tail.to_owned(), |n| n.to_string()))
}

#[test]
fn pi_takes_this_branch() {
    check("pi", |file, want| branch_differs(file, &want["pi"], "pi"));
}

#[test]
fn openclaw_takes_this_branch() {
    check("pi", |file, want| branch_differs(file, &want["openclaw"], "openclaw"));
}

/// `want`: ids from the root to the leaf; only how many of them for version 1, in which the agent makes ids up.
fn branch_differs(file: &Path, want: &Value, agent_id: &str) -> Option<String> {
    let report = match want {
        Value::Null => return None,
        _ => chain(file, agent_id),
    };
    let adopted = list(&report, "adopted");
    if let Some(count) = want.as_u64() {
        return (adopted.len() as u64 != count).then(|| format!("{} entries, not {count}", adopted.len()));
    }
    let ids: Vec<&Value> = adopted.iter().map(|a| &a["id"]).filter(|id| !id.is_null()).collect();
    let wanted: Vec<&Value> = want.as_array().into_iter().flatten().collect();
    (ids != wanted).then(|| format!("adopts {}, not {}", head(&ids), head(&wanted)))
}

#[test]
fn where_pi_never_returns_we_do() {
    for name in ["25-cycle-two.jsonl", "26-self-parent.jsonl"] {
        let file = fixtures("loaders/pi").join(name);
        let report = chain(&file, "pi");
        let codes: Vec<&str> = list(&report, "findings").iter().filter_map(|f| f["code"].as_str()).collect();
        assert!(codes.contains(&"C203") || codes.contains(&"C204"), "{name}: {codes:?}");
    }
}

#[test]
fn real_sessions_come_back_as_the_open_sdk_shows_them() {
    check("real", |file, want| {
        let wanted = want["ids"].as_str()?;
        let report = chain(file, "claude");
        let ids: Vec<&str> = list(&report, "messages").iter().filter_map(|m| m["id"].as_str()).collect();
        let digest = Sha256::digest(ids.join(" ").as_bytes());
        let got: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        (wanted.strip_prefix("sha256:") != Some(&got))
            .then(|| format!("{} messages, want {}", ids.len(), want["count"]))
    });
}

#[test]
fn real_sessions_are_judged_as_the_manifest_says() {
    check("real", |file, want| {
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("scan").arg(file);
        let report = run.args(["--now", NOW, "--format", "json"]).go().json();
        let code = |f: &&Value| f["code"].as_str().map(str::to_owned);
        let all = findings(&report);
        let found: Vec<String> = all.iter().filter_map(code).collect();
        let named = |code: &String, name: &str| list(want, name).iter().any(|c| c == code);
        // S516, the age of a copied file, is no fact about the session.
        let loud = all.iter().filter(|f| is_loud(f)).filter_map(code).filter(|c| c != "S516" && !named(c, "may"));
        let loud: Vec<String> = loud.collect();
        let missed: Vec<&Value> = list(want, "codes").iter().filter(|c| !found.iter().any(|f| *c == f)).collect();
        match want["state"].as_str() {
            Some("healthy") if !loud.is_empty() => Some(format!("false alarms {loud:?}")),
            Some("damaged") if !missed.is_empty() => Some(format!("misses {missed:?}, has {found:?}")),
            _ => None,
        }
    });
}

/// sid-code reads a file of more than 4 MiB with another reader, which also ends lines at U+2028.
mod two_readers {
    use super::*;

    const LIMIT: usize = 4 * 1024 * 1024;

    /// A session of exactly so many bytes, this text in its second prompt; and how many lines it has.
    fn session(bytes: usize, text: &str) -> (Vec<u8>, u64) {
        let mut session = sid::Session::plain(5, 0, time::NOW - time::DAY, 2);
        session.end();
        let body = String::from_utf8(session.bytes()).expect("JSON is UTF-8");
        let lines: Vec<&str> = body.lines().collect();
        let prompts = |line: &str| line.contains("user_message") && line.contains("\"text\":\"");
        let (first, second) = {
            let mut at = (0..lines.len()).filter(|n| prompts(lines[*n]));
            (at.next().expect("a prompt"), at.next().expect("another"))
        };
        let put = |line: &str, text: &str| line.replacen("\"text\":\"", &format!("\"text\":\"{text}"), 1);
        let filler = bytes - body.len() - text.len();
        let out: String = lines
            .iter()
            .enumerate()
            .map(|(n, line)| match n {
                n if n == first => put(line, &"x".repeat(filler)) + "\n",
                n if n == second => put(line, text) + "\n",
                _ => format!("{line}\n"),
            })
            .collect();
        assert_eq!(out.len(), bytes);
        (out.into_bytes(), lines.len() as u64)
    }

    fn adopted(bytes: &[u8]) -> (Vec<Value>, Value) {
        let temp = Temp::new("readers");
        let file = temp.join("20260831-000000-00000001.jsonl");
        write(&file, bytes);
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("scan").arg(&file);
        let scan = run.args(["--format", "json"]).go().json();
        let told = findings(&scan).iter().any(|f| f["code"] == "L118");
        assert_eq!(told, bytes.len() > LIMIT, "the other reader is told");
        let report = chain(&file, "sid");
        (list(&report, "adopted").iter().map(|a| a["line"].clone()).collect(), report)
    }

    #[test]
    fn at_the_limit_the_file_is_read_whole() {
        let (bytes, lines) = session(LIMIT, "a\u{2028}b");
        let (adopted, _) = adopted(&bytes);
        assert_eq!(adopted, (1..=lines).map(|n| json!(n)).collect::<Vec<_>>());
    }

    #[test]
    fn beyond_the_limit_a_line_separator_loses_the_record() {
        let (bytes, lines) = session(LIMIT + 1, "a\u{2028}b");
        let text = String::from_utf8_lossy(&bytes);
        let broken = 1 + text.split('\n').position(|line| line.contains('\u{2028}')).expect("it is there") as u64;
        let (adopted, report) = adopted(&bytes);
        assert_eq!(adopted, (broken + 1..=lines).map(|n| json!(n)).collect::<Vec<_>>());
        assert!(list(&report, "messages").is_empty(), "without its start the session cannot be loaded");
    }

    #[test]
    fn beyond_the_limit_a_plain_session_is_read_the_same() {
        let (bytes, lines) = session(LIMIT + 1, "ab");
        let (adopted, _) = adopted(&bytes);
        assert_eq!(adopted, (1..=lines).map(|n| json!(n)).collect::<Vec<_>>());
    }
}
