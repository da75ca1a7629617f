//! Every total counted by two methods that share nothing.

use std::path::Path;

use serde_json::Value;

use super::home::home;
use super::{json, run};
use crate::support::run::{Outcome, fixtures};
use crate::support::temp::Temp;
use crate::support::{claude, pi, sid};

const TWICE: &[&str] = &["--cross-check"];

/// The rows whose two figures differ.
fn differing(report: &Value) -> Vec<&Value> {
    let rows = report["cross_check"].as_array().expect("both counts");
    assert!(!rows.is_empty());
    rows.iter().filter(|row| row["first"]["value"] != row["second"]["value"]).collect()
}

fn agree(path: &Path) {
    for command in ["metrics", "scan"] {
        let outcome = run(command, TWICE, path).args(["--format", "json"]).go();
        let report = outcome.json();
        for row in differing(&report) {
            let explained = row["explained"].as_array().unwrap();
            assert!(row["unexplained"].is_null(), "{command} {}: {row}", path.display());
            assert!(!explained.is_empty(), "{command} {}: {row}", path.display());
            assert!(explained.iter().all(|line| line["why"].is_string()), "{row}");
        }
        assert_ne!(outcome.status, Some(70), "{command} {}", path.display());
    }
}

#[test]
fn both_counts_agree_on_everything_that_lies_here() {
    for name in ["clean", "cases", "loaders", "predict", "demo", "checkpoints"] {
        agree(&fixtures(name));
    }
    agree(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/usage").as_path());
}

#[test]
fn both_counts_are_the_same_on_healthy_homes() {
    let temp = Temp::new("metrics-healthy");
    let (_home, counted) = home(false);
    claude::home::write_home(&temp.join(".claude"), 40, 7);
    sid::write_home(&temp.join(".sid-code"));
    pi::write_home(&temp.join(".pi/agent"));
    for path in [temp.path(), counted.as_path()] {
        for command in ["metrics", "scan"] {
            assert_eq!(differing(&json(command, TWICE, path)), Vec::<&Value>::new(), "{command}");
        }
    }
}

#[test]
fn a_difference_that_the_bytes_explain_is_told_line_by_line() {
    // sid-code's reader takes a byte order mark off, which no JSON reader does.
    let temp = Temp::new("metrics-bom");
    let (_home, counted) = home(false);
    let from = walk(&counted.join("sessions"));
    let text = [b"\xef\xbb\xbf".as_slice(), &std::fs::read(&from[0]).unwrap()].concat();
    let file = temp.join(from[0].file_name().unwrap());
    std::fs::write(&file, text).unwrap();
    let report = json("metrics", TWICE, &file);
    let rows = differing(&report);
    let starts = rows.iter().find(|row| row["what"] == "records.session_start").expect("the first record differs");
    assert_eq!((&starts["first"]["value"], &starts["second"]["value"]), (&1.into(), &0.into()));
    assert_eq!(starts["explained"][0]["line"], 1);
    assert!(starts["explained"][0]["why"].as_str().unwrap().contains("white space"), "{starts}");
    // What the line has no part in is not said to be explained by it.
    assert!(rows.iter().all(|row| row["what"] != "usage.glm-5.2.usage_stats.requests"));
    let page = run("metrics", TWICE, &file).go().text();
    assert!(page.contains("what differs is explained line by line"), "{page}");
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

fn broken(method: &str, command: &str, format: &str, path: &Path) -> Outcome {
    run(command, TWICE, path).args(["--format", format]).env("SID_AUDIT_BREAK_COUNT", method).go()
}

#[test]
fn each_method_is_caught_when_it_is_broken() {
    let (_temp, home) = home(false);
    for method in ["reader", "scanner"] {
        for command in ["metrics", "scan"] {
            let outcome = broken(method, command, "json", &home);
            assert_eq!(outcome.status, Some(70), "{command} with a broken {method}");
            let report = outcome.json();
            let wrong: Vec<&Value> = differing(&report).into_iter().filter(|r| r["unexplained"] == true).collect();
            assert!(!wrong.is_empty(), "{command} with a broken {method}");
            let lines = wrong.iter().flat_map(|row| row["explained"].as_array().unwrap());
            let lines: Vec<&Value> = lines.filter(|line| line["why"].is_null() && line["line"].is_u64()).collect();
            assert!(!lines.is_empty(), "the lines are named: {command} with a broken {method}");
            let page = broken(method, command, "table", &home);
            assert_eq!(page.status, Some(70));
            assert!(page.text().contains("a defect of sid-audit"), "{}", page.text());
        }
    }
}

#[test]
fn nothing_is_counted_twice_unless_it_is_asked_for() {
    let (_temp, home) = home(false);
    for command in ["metrics", "scan"] {
        let outcome = run(command, &["--format", "json"], &home).env("SID_AUDIT_BREAK_COUNT", "reader").go();
        assert!(outcome.json()["cross_check"].is_null());
        assert_ne!(outcome.status, Some(70));
    }
}
