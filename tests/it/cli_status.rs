//! How a run ends: exit statuses and what stands on standard error, whatever the report holds.

use crate::support;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use support::run::{Outcome, Run};
use support::temp::{Temp, write};

fn run(args: &[&str]) -> Run {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(args)
}

/// A session of Claude Code with so many records.
fn session(records: u32) -> String {
    let mut text = String::new();
    for n in 1..=records {
        let kind = if n % 2 == 1 { "user" } else { "assistant" };
        let parent = if n == 1 { "null".to_owned() } else { format!("\"00000000-0000-4000-8000-{:012}\"", n - 1) };
        text.push_str(&format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"00000000-0000-4000-8000-{n:012}\",\"parentUuid\":{parent},\
             \"sessionId\":\"5e550000-0000-4000-8000-000000000001\",\"timestamp\":\"2026-03-01T00:00:00.000Z\",\
             \"message\":{{\"role\":\"{kind}\",\"content\":[{{\"type\":\"text\",\"text\":\"x\"}}]}}}}\n"
        ));
    }
    text
}

const NAME: &str = "5e550000-0000-4000-8000-000000000001.jsonl";

/// A folder with one healthy and one broken session.
fn mixed() -> (Temp, PathBuf, PathBuf) {
    let temp = Temp::new("cli-status");
    let (healthy, broken) = (temp.join("healthy").join(NAME), temp.join("broken").join(NAME));
    write(&healthy, session(4));
    write(&broken, session(4).replacen("000000000001\",\"parentUuid\":null", "000000000009\",\"parentUuid\":null", 1));
    (temp, healthy, broken)
}

fn stderr(outcome: &Outcome) -> String {
    String::from_utf8(outcome.stderr.clone()).unwrap()
}

#[test]
fn clean_findings_and_trouble() {
    let (_temp, healthy, broken) = mixed();
    let status = |args: &[&str], path: &Path| run(args).arg(path).go().status;
    assert_eq!(status(&["scan"], &healthy), Some(0));
    assert_eq!(status(&["scan"], &broken), Some(1));
    assert_eq!(status(&["chain"], &healthy), Some(0));
    assert_eq!(status(&["chain"], &broken), Some(1));
    assert_eq!(status(&["scan", "--fail-on", "never"], &broken), Some(0));
    assert_eq!(status(&["scan", "--ignore", "ALL"], &broken), Some(0));
    assert_eq!(status(&["scan", "--select", "L"], &broken), Some(0));
    assert_eq!(status(&["scan", "--select", "C"], &broken), Some(1));
    assert_eq!(status(&["scan"], Path::new("/no/such/path")), Some(2));
    let quiet = run(&["scan", "-q"]).arg(&broken).go();
    assert_eq!((quiet.status, quiet.stdout.len(), quiet.stderr.len()), (Some(1), 0, 0));
}

#[test]
fn wrong_arguments_are_trouble() {
    let (_temp, healthy, _) = mixed();
    for args in [
        &["scan", "--nope"][..],
        &["scan", "--select", "Z999"],
        &["scan", "--jobs", "0"],
        &["scan", "--now", "yesterday"],
        &["scan", "--format", "yaml"],
        &["scan", "-q", "-v"],
        &["chain", "--tree", "--emit"],
        &["nope"],
        &[],
        &["chain"],
    ] {
        let outcome = run(args).arg(&healthy).go();
        let outcome = if args.len() < 2 { run(args).go() } else { outcome };
        assert_eq!(outcome.status, Some(2), "{args:?}");
        assert!(!outcome.stderr.is_empty() && outcome.stdout.is_empty(), "{args:?}");
    }
    let unknown = run(&["explain", "L999"]).go();
    assert_eq!(unknown.status, Some(2));
    assert_eq!(stderr(&unknown), "error: there is no finding 'L999'\nhint: `sid-audit explain` lists them\n");
    assert_eq!(run(&["--help"]).go().status, Some(0));
    let version = run(&["--version"]).go().text();
    assert!(version.starts_with(&format!("sid-audit {}\n", env!("CARGO_PKG_VERSION"))), "{version}");
    assert!(version.contains("JSON contract: version 2") && version.contains("sid-code"), "{version}");
}

#[test]
fn without_a_home_it_says_where_it_looked() {
    let outcome = run(&["scan"]).env("CLAUDE_CONFIG_DIR", "/nowhere/claude").go();
    let said = stderr(&outcome);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.stdout.is_empty());
    let tried = [".sid-code", "/nowhere/claude' (Claude Code, from CLAUDE_CONFIG_DIR)", ".pi/agent"];
    assert!(tried.iter().all(|place| said.contains(place)), "{said}");
    assert!(said.contains("hint: ") && said.contains("sid-audit scan fixtures/demo"), "{said}");
    let insisted = stderr(&run(&["scan", "--agent", "pi"]).go());
    assert!(insisted.contains(".pi/agent") && !insisted.contains(".claude"), "{insisted}");
}

#[test]
fn an_empty_folder_holds_no_session() {
    let temp = Temp::new("cli-empty");
    let outcome = run(&["scan"]).arg(temp.path()).go();
    assert_eq!(outcome.status, Some(2));
    assert!(stderr(&outcome).starts_with("error: there is no session"), "{}", stderr(&outcome));
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_told_and_the_rest_reported() {
    use std::os::unix::fs::PermissionsExt;
    let (temp, healthy, _) = mixed();
    let locked = healthy.with_file_name("5e550000-0000-4000-8000-000000000002.jsonl");
    write(&locked, session(2));
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&locked).is_ok() {
        return; // this user may read everything
    }
    let outcome = run(&["scan", "--format", "json"]).arg(temp.join("healthy")).go();
    let report = outcome.json();
    assert_eq!(outcome.status, Some(2));
    assert_eq!(report["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(report["errors"].as_array().unwrap().len(), 1);
    assert!(stderr(&outcome).contains("000000000002.jsonl"));
}

#[test]
fn one_session_comes_from_standard_input() {
    let bytes = session(6).into_bytes();
    for command in ["scan", "chain"] {
        let outcome = run(&[command, "-", "--format", "json"]).stdin(bytes.clone()).go();
        let report = outcome.json();
        let session = if command == "scan" { &report["sessions"][0] } else { &report };
        assert_eq!((outcome.status, session["path"].as_str()), (Some(0), Some("-")), "{command}");
        assert_eq!(session["agent"], "claude");
    }
    let emitted = run(&["chain", "-", "--emit"]).stdin(bytes.clone()).go();
    assert_eq!(emitted.stdout, bytes);
    let nothing = run(&["scan", "-"]).stdin("").go();
    assert_eq!(nothing.status, Some(2));
    let twice = run(&["scan", "-", "-"]).stdin("").go();
    assert_eq!(stderr(&twice), "error: standard input was given twice\n");
}

#[test]
fn a_closed_pipe_ends_quietly_with_the_status_as_computed() {
    let temp = Temp::new("cli-pipe");
    let (healthy, broken) = (temp.join("a").join(NAME), temp.join("b").join(NAME));
    write(&healthy, session(20_000));
    write(&broken, session(20_000).replacen("000000000001\",\"parentUuid\":null", "x\",\"parentUuid\":null", 1));
    for (path, status) in [(&healthy, 0), (&broken, 1)] {
        let mut command = run(&["chain", "--format", "json"]).arg(path).command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 16];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(status));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// On a terminal even bytes that are asked for are made visible; `script` gives the child one.
#[cfg(target_os = "linux")]
#[test]
fn bytes_on_a_terminal_are_made_visible() {
    let temp = Temp::new("cli-terminal");
    let file = temp.join(NAME);
    write(&file, session(2).replace("\"x\"", "\"\u{202e}\u{9b}31m\""));
    let on_terminal = |options: &str| {
        let line = format!("{} chain --emit {options} {}", env!("CARGO_BIN_EXE_sid-audit"), file.display());
        std::process::Command::new("script").args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output()
    };
    let Ok(shown) = on_terminal("") else { return };
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("\\u{202e}\\u{9b}31m") && !shown.contains(['\u{202e}', '\u{9b}']), "{shown}");
    assert!(String::from_utf8(on_terminal("--raw").unwrap().stdout).unwrap().contains("\u{202e}\u{9b}31m"));
    assert_eq!(run(&["chain", "--emit"]).arg(&file).go().stdout, fs::read(&file).unwrap());
}

/// A hundred and more names for one file: much to read, little to keep.
#[cfg(unix)]
#[test]
fn an_interrupt_reports_what_was_finished() {
    use rustix::process::{Pid, Signal, kill_process};
    let temp = Temp::new("cli-interrupt");
    let first = temp.join("00000000-0000-4000-8000-000000000000.jsonl");
    write(&first, session(8_000));
    for n in 1..400 {
        fs::hard_link(&first, temp.join(format!("00000000-0000-4000-8000-{n:012}.jsonl"))).unwrap();
    }
    for wait in [400, 200, 100, 800, 50, 1600] {
        let mut command = run(&["scan", "--jobs", "1", "--format", "json"]).arg(temp.path()).command();
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let _ = kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT);
        let output = child.wait_with_output().unwrap();
        if output.status.code() != Some(130) {
            continue; // too late, or so early that nobody listened yet
        }
        // On a busy machine one session may take longer than an interrupt waits: then there is no report.
        let Ok(report) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else { continue };
        let (read, unread) = (report["sessions"].as_array().unwrap().len(), &report["totals"]["unread"]);
        assert_eq!(report["interrupted"], true);
        assert_eq!(unread.as_u64().unwrap() + read as u64, 400);
        assert_eq!(report["errors"].as_array().unwrap().len(), 0);
        return;
    }
    panic!("no run was interrupted while it read");
}

/// In the middle of one very large session as well, where nothing asks whether it is to stop.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_what_only_reads_soon() {
    use rustix::process::{Pid, Signal, kill_process};
    let temp = Temp::new("cli-interrupt-long");
    let file = temp.join("s/5e550000-0000-4000-8000-000000000001.jsonl");
    let whole = session(150_000);
    let cut = |(n, line): (usize, &str)| if n % 5_000 == 4_999 { line[..60].to_owned() } else { line.to_owned() };
    write(&file, whole.lines().enumerate().map(cut).collect::<Vec<_>>().join("\n") + "\n");
    for command in [&["scan"][..], &["chain"], &["predict"], &["metrics"], &["repair", "--dry-run"]] {
        for wait in [300, 1_500, 3_000] {
            let mut child = run(command).arg(&file).env("HOME", temp.path()).command();
            let mut child = child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(wait));
            let asked = std::time::Instant::now();
            let _ = kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT);
            let status = child.wait().unwrap();
            // A second, and what a busy machine adds.
            assert!(asked.elapsed() < Duration::from_secs(3), "{command:?}: {:?}", asked.elapsed());
            assert!(status.code() == Some(130) || status.code().is_none_or(|code| code <= 3), "{command:?}: {status}");
        }
    }
}
