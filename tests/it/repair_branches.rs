//! Which branch a repair leaves in use, and how sure it calls a link: a person decides where messages would change.

use std::fs;
use std::path::PathBuf;

use crate::support;
use serde_json::{Value, json};
use support::run::{Outcome, Run};
use support::temp::{Temp, write};
use support::time::touch;

/// Long before any moment at which this is judged.
const THEN: i64 = 1_770_000_000_000;

const SESSION: &str = "5e55c0de-0000-4000-8000-000000000001";

fn id(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// A row of Claude Code: number, parent's number (0 for none), and what it says.
fn row(n: u64, parent: u64, content: &Value) -> String {
    let role = if n % 2 == 1 { "user" } else { "assistant" };
    let parent = if parent == 0 { Value::Null } else { id(parent).into() };
    let message = json!({"role": role, "content": content});
    json!({"parentUuid": parent, "isSidechain": false, "sessionId": SESSION, "version": "2.1.220", "cwd": "/home/demo",
        "type": role, "message": message, "uuid": id(n), "timestamp": format!("2026-03-01T09:00:{n:02}.000Z")})
    .to_string()
}

fn said(n: u64, parent: u64) -> String {
    row(n, parent, &json!([{"type": "text", "text": "words"}]))
}

struct One {
    temp: Temp,
    file: PathBuf,
}

impl One {
    fn new(lines: &[String]) -> Self {
        let temp = Temp::new("repair-branches");
        let file = temp.join("s").join(format!("{SESSION}.jsonl"));
        write(&file, format!("{}\n", lines.join("\n")).as_bytes());
        touch(&file, THEN);
        One { temp, file }
    }

    fn run(&self, args: &[&str]) -> Outcome {
        let run = Run::new(env!("CARGO_BIN_EXE_sid-audit").as_ref()).args(args).arg(&self.file);
        run.env("XDG_STATE_HOME", self.temp.join("state")).go()
    }

    fn plan(&self, args: &[&str]) -> Value {
        self.run(&[&["repair", "--dry-run", "--format", "json"], args].concat()).json()["plan"][0].clone()
    }

    fn messages(&self) -> Vec<Value> {
        let report = self.run(&["chain", "--format", "json"]).json();
        report["messages"].as_array().unwrap().iter().map(|m| m["id"].clone()).collect()
    }
}

/// Two branches end before the break, and each could go on with it.
#[test]
fn a_link_with_two_candidates_is_a_guess() {
    let sure = One::new(&[said(1, 0), said(2, 1), said(5, 77), said(6, 5)]);
    assert_eq!(sure.plan(&[])["edits"][0]["evidence"], "unique");
    let guess = One::new(&[said(1, 0), said(2, 1), said(4, 1), said(5, 77), said(6, 5)]);
    let edits = guess.plan(&["--relink", "auto"])["edits"].clone();
    assert_eq!(edits[0]["evidence"], "nearest", "{edits}");
    assert!(guess.plan(&[])["edits"].as_array().is_none_or(Vec::is_empty));
}

/// A line of two records ends another branch: mending it would change what comes back.
#[test]
fn another_branch_takes_a_decision() {
    let last = said(7, 2) + &said(8, 7);
    let lines = [said(1, 0), said(2, 1), said(3, 2), said(4, 3), last];
    let session = One::new(&lines);
    let before = fs::read(&session.file).unwrap();
    let plan = session.plan(&[]);
    let why = plan["left"].as_array().unwrap().iter().find(|l| l["code"] == "L104").unwrap()["why"].to_string();
    for part in ["2 messages would come back", "2 no longer would", &format!("--leaf {}", id(8))] {
        assert!(why.contains(part), "{part}: {why}");
    }
    session.run(&["repair", "--yes", "--closed"]);
    assert_eq!(fs::read(&session.file).unwrap(), before);
    let edits = session.plan(&["--leaf", &id(8)])["edits"].to_string();
    assert!(edits.contains("2 no longer would"), "{edits}");
    session.run(&["repair", "--yes", "--closed", "--leaf", &id(8)]);
    assert_eq!(session.messages(), [id(1), id(2), id(7), id(8)]);
}

/// A result whose call is nowhere is no message that is missing.
#[test]
fn a_result_of_no_call_is_not_expected() {
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "r"}]);
    let session = One::new(&[row(1, 0, &result), said(2, 77), said(3, 2), said(4, 3)]);
    let resume = session.run(&["scan", "--format", "json"]).json()["sessions"][0]["resume"].clone();
    assert_eq!((&resume["verdict"], &resume["expected"]), (&json!("full"), &json!(3)), "{resume}");
}

/// Each letter of a message in a member of its own, and no role: nothing can be made of it.
#[test]
fn a_message_spread_into_letters_goes() {
    let mut spread: Value = serde_json::from_str(&said(3, 2)).unwrap();
    spread["message"] = json!({"0": "h", "1": "i"});
    let session = One::new(&[said(1, 0), said(2, 1), spread.to_string()]);
    session.run(&["repair", "--yes", "--closed", "--up-to", "content"]);
    assert_eq!(session.messages(), [id(1), id(2)]);
    let api = session.run(&["scan", "--format", "json"]).json()["sessions"][0]["api"]["verdict"].clone();
    assert_ne!(api, "refused");
}
