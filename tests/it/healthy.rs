//! Silence: a healthy store gives no error, no warning and little to read, however odd the shapes in it are.

use crate::support;
use serde_json::Value;
use std::path::Path;
use support::run::{Outcome, Run, brief, findings, is_loud};
use support::temp::Temp;
use support::time::NOW_TEXT;
use support::{claude, pi, sid, writer::Writer};

fn scan(store: &Path) -> Run {
    scan_now(store).args(["--now", NOW_TEXT])
}

/// A scan by the clock of this machine, as sessions that are being written to need it.
fn scan_now(store: &Path) -> Run {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("scan").arg(store)
}

fn loud(report: &Value) -> Vec<String> {
    findings(report).into_iter().filter(|f| is_loud(f)).map(brief).collect()
}

fn assert_silent(outcome: &Outcome) -> Value {
    let report = outcome.json();
    let loud = loud(&report);
    assert!(loud.is_empty(), "{} false alarms:\n{}", loud.len(), loud[..loud.len().min(20)].join("\n"));
    assert_eq!(report["errors"].as_array().map_or(0, Vec::len), 0, "{}", report["errors"]);
    assert_eq!(outcome.status, Some(0));
    report
}

#[test]
fn five_hundred_healthy_sessions_print_at_most_forty_lines() {
    let home = Temp::new("healthy");
    let files = claude::home::write_home(home.path(), 500, 1);
    let report = assert_silent(&scan(home.path()).args(["--format", "json"]).go());
    let sessions = report["sessions"].as_array().expect("sessions");
    let mains = sessions.iter().filter(|s| s["kind"] == "main").count();
    assert_eq!(mains, files.len(), "every session is in the report");
    for session in sessions.iter().filter(|s| s["kind"] == "main") {
        assert_eq!(session["resume"]["verdict"], "full", "{}: {}", session["path"], session["resume"]);
    }

    let table = scan(home.path()).go();
    assert_eq!(table.status, Some(0));
    let text = table.text();
    assert!(text.lines().count() <= 40, "{} lines:\n{text}", text.lines().count());
}

#[test]
fn the_report_does_not_depend_on_the_number_of_jobs() {
    let home = Temp::new("jobs");
    claude::home::write_home(home.path(), 60, 2);
    let run = |jobs: &str| {
        let mut report = scan(home.path()).args(["--format", "json", "--jobs", jobs]).go().json();
        report["taken_at"] = Value::Null;
        report
    };
    assert_eq!(run("1"), run("4"));
}

#[test]
fn sessions_that_are_being_written_raise_no_alarm() {
    let home = Temp::new("live");
    claude::home::write_home(home.path(), 40, 3);
    let writers: Vec<Writer> = [40, 700, 60_000].iter().map(|w| Writer::start(home.path(), 70 + w, *w)).collect();
    for _ in 0..10 {
        let outcome = scan_now(home.path()).args(["--format", "json"]).go();
        assert_silent(&outcome);
    }
    for writer in writers {
        assert!(writer.stop() > 0, "it was written to all the time");
    }
    assert_silent(&scan_now(home.path()).args(["--format", "json"]).go());
}

#[test]
fn a_healthy_home_of_sid_code_is_silent() {
    let home = Temp::new("sid");
    let root = home.join(".sid-code");
    let files = sid::write_home(&root);
    let report = assert_silent(&scan(&root).args(["--format", "json"]).go());
    assert_eq!(report["sessions"].as_array().map(Vec::len), Some(files.len()));
}

#[test]
fn of_a_subagent_of_sid_code_only_its_coming_deletion_is_told() {
    let home = Temp::new("sidechain");
    let root = home.join(".sid-code");
    sid::write_home(&root);
    let session = sid::Session::plain(9, 0, support::time::NOW - support::time::DAY, 1);
    session.write_sidechain(&root);
    let report = scan(&root).args(["--format", "json"]).go().json();
    let codes: Vec<&str> =
        findings(&report).into_iter().filter(|f| is_loud(f)).filter_map(|f| f["code"].as_str()).collect();
    // S511: its session is not there either, because nobody wrote it.
    assert!(codes.iter().all(|code| ["S511", "S516"].contains(code)), "{codes:?}");
}

#[test]
fn a_healthy_home_of_pi_is_silent() {
    let home = Temp::new("pi");
    let root = home.join(".pi/agent");
    let files = pi::write_home(&root);
    let report = assert_silent(&scan(&root).args(["--format", "json"]).go());
    assert_eq!(report["sessions"].as_array().map(Vec::len), Some(files.len()));
}

#[test]
fn the_store_for_measuring_speed_is_healthy() {
    let home = Temp::new("bench");
    support::bench::write_store(home.path(), 6_000_000, None);
    assert_silent(&scan(home.path()).args(["--format", "json"]).go());
}
