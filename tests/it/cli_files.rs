//! Files that are no sessions, and files whose place no report takes.

use crate::support;
use std::fs;
use std::path::{Path, PathBuf};
use support::run::{Outcome, Run};
use support::temp::{Temp, write};

const ID: &str = "5e550000-0000-4000-8000-000000000001";

/// What lies beside sessions and is none.
const STRANGERS: [(&str, &str); 6] = [
    ("README.md", "# words\n\nmore words\n"),
    ("words.jsonl", "one\ntwo\n"),
    ("values.jsonl", "\"a\"\n17\nnull\n"),
    ("train.jsonl", "{\"prompt\":\"a\",\"completion\":\"b\"}\n{\"prompt\":\"c"),
    ("events.jsonl", "{\"type\":\"click\",\"id\":1}\n{\"type\":\"cl"),
    ("zero.bin", "\0\0\0end"),
];

/// A session of Claude Code whose last record names a parent that is not there, with a cut line before it.
fn broken() -> String {
    let record = |n: u32, parent: u32| {
        format!(
            "{{\"parentUuid\":\"00000000-0000-4000-8000-{parent:012}\",\"isSidechain\":false,\"type\":\"user\",\
             \"uuid\":\"00000000-0000-4000-8000-{n:012}\",\"sessionId\":\"{ID}\",\
             \"timestamp\":\"2026-03-01T00:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}"
        )
    };
    let first = record(1, 0).replace("\"00000000-0000-4000-8000-000000000000\"", "null");
    format!("{first}\n{}\n{}\n", &record(2, 1)[..90], record(3, 2))
}

struct Place {
    temp: Temp,
    session: PathBuf,
}

impl Place {
    fn new() -> Self {
        let temp = Temp::new("cli-files");
        let session = temp.join("s").join(format!("{ID}.jsonl"));
        write(&session, broken());
        Place { temp, session }
    }

    fn run(&self, args: &[&str]) -> Run {
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(args);
        run.env("XDG_STATE_HOME", self.temp.join("state")).env("HOME", self.temp.join("home"))
    }
}

fn said(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}

#[test]
fn what_holds_no_record_is_named_and_never_repaired() {
    let place = Place::new();
    let strangers: Vec<PathBuf> = STRANGERS.iter().map(|(name, _)| place.temp.join("s").join(name)).collect();
    strangers.iter().zip(STRANGERS).for_each(|(path, (_, text))| write(path, text));
    let scan = place.run(&["scan"]).args(&strangers).arg(&place.session).go();
    assert_eq!(said(&scan).matches("not recognised as a session").count(), 1, "{}", said(&scan));
    let alone = place.run(&["repair", "--yes"]).args(&strangers).go();
    assert_eq!(alone.status, Some(2));
    assert!(said(&alone).contains("not recognised as a session"), "{}", said(&alone));
    let insisted = place.run(&["repair", "--yes", "--agent", "claude"]).args(&strangers).go();
    assert_eq!(insisted.status, Some(2));
    let all = place.run(&["repair", "--yes", "--closed"]).args(&strangers).arg(&place.session).go();
    assert_eq!(said(&all).matches("not recognised as a session").count(), 1, "{}", said(&all));
    assert_ne!(fs::read_to_string(&place.session).unwrap(), broken());
    for (path, (name, text)) in strangers.iter().zip(STRANGERS) {
        assert_eq!(fs::read_to_string(path).unwrap(), text, "{name}");
    }
}

#[test]
fn a_session_without_a_record_is_reported_and_left() {
    let place = Place::new();
    let home = place.temp.join("home/.claude/projects/-home-demo").join(format!("{ID}.jsonl"));
    for text in ["plain words", "one\ntwo\n", "\0\0\0", "{}\n{\n", "null\n3\n", &broken()[..60]] {
        write(&home, text);
        let scan = place.run(&["scan", "--format", "json"]).arg(&home).go().json();
        assert_eq!(scan["sessions"].as_array().map(Vec::len), Some(1), "{text:?}");
        place.run(&["repair", "--yes", "--closed", "--up-to", "content"]).arg(&home).go();
        assert_eq!(fs::read_to_string(&home).unwrap(), text);
    }
}

#[test]
fn no_output_takes_the_place_of_a_session() {
    let place = Place::new();
    let other = place.temp.join("home/.pi/agent/settings.json");
    let link = place.temp.join("report.txt");
    let new = place.temp.join("home/.claude/report.json");
    write(&other, "{}");
    write(&place.temp.join("home/.claude/projects/-home-demo").join(format!("{ID}.jsonl")), broken());
    std::os::unix::fs::symlink(&place.session, &link).unwrap();
    for target in [&place.session, &other, &link, &new] {
        for args in [&["explain", "C201"][..], &["completions", "bash"], &["repair", "--list"]] {
            let outcome = place.run(args).arg("-o").arg(target).go();
            assert_eq!(outcome.status, Some(2), "{args:?} {target:?}");
        }
        let baseline =
            place.run(&["scan"]).arg(place.session.parent().unwrap()).arg("--write-baseline").arg(target).go();
        assert_eq!(baseline.status, Some(2), "{target:?}");
    }
    assert_eq!(fs::read_to_string(&place.session).unwrap(), broken());
    assert_eq!(fs::read_to_string(&other).unwrap(), "{}");
    assert!(!new.exists());
    let report = place.temp.join("new.json");
    for _ in 0..2 {
        let outcome = place.run(&["chain", "--format", "json", "-o"]).arg(&report).arg(&place.session).go();
        assert_ne!(outcome.status, Some(2), "a report takes the place of one: {}", said(&outcome));
    }
    let dash = place.run(&["explain", "C201", "-o", "-"]).go();
    assert_eq!(dash.stdout, place.run(&["explain", "C201"]).go().stdout);
}

#[test]
fn the_journal_lies_outside_of_every_store() {
    let place = Place::new();
    let folder = place.session.parent().unwrap();
    for (name, value) in [("XDG_STATE_HOME", folder), ("HOME", Path::new(".")), ("HOME", Path::new("some/where"))] {
        let mut run = place.run(&["repair", "--yes", "--closed"]).arg(&place.session).env(name, value);
        if name == "HOME" {
            run = run.env("XDG_STATE_HOME", "");
        }
        let outcome = run.go();
        assert!(matches!(outcome.status, Some(2 | 3)), "{name} {value:?}: {:?}", outcome.status);
        let all = outcome.text() + &said(&outcome);
        assert!(all.contains("hint"), "{all}");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "{name} {value:?}");
    }
    assert_eq!(fs::read_to_string(&place.session).unwrap(), broken());
}

#[test]
fn a_path_that_is_not_there_is_named() {
    let place = Place::new();
    for command in ["scan", "chain", "metrics", "fields", "predict", "checkpoints", "repair"] {
        let outcome = place.run(&[command]).arg(place.temp.join("gone.jsonl")).go();
        assert_eq!(outcome.status, Some(2), "{command}");
        assert!(said(&outcome).contains("gone.jsonl"), "{command}: {}", said(&outcome));
    }
}

/// The system ends a program that writes beyond a limit, unless it has said that it wants to be told.
#[cfg(unix)]
#[test]
fn a_limit_on_the_size_of_files_is_an_error_of_the_report() {
    let place = Place::new();
    let report = place.temp.join("out").join("report.html");
    fs::create_dir_all(report.parent().unwrap()).unwrap();
    let limited = Run::new(Path::new("/bin/sh")).args(["-c", "ulimit -f 1; exec \"$0\" \"$@\""]);
    let limited = limited.arg(env!("CARGO_BIN_EXE_sid-audit")).args(["scan", "--format", "html", "-o"]);
    let outcome = limited.arg(&report).arg(&place.session).env("HOME", place.temp.join("home")).go();
    assert_eq!(outcome.status, Some(2), "{}", said(&outcome));
    assert!(said(&outcome).contains("could not be written"), "{}", said(&outcome));
    assert_eq!(fs::read_dir(report.parent().unwrap()).unwrap().count(), 0);
}
