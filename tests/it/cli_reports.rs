//! What `scan` and `explain` print: the shape of the JSON, lines that stand for themselves, the page, baselines.

use crate::support;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sid_audit::agents::registry;
use support::run::{Outcome, Run, findings, fixtures, is_loud};
use support::temp::{Temp, copy_tree};

fn run(args: &[&str]) -> Run {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(args)
}

const NOW: [&str; 2] = ["--now", "2026-03-10T00:00:00Z"];

fn demo(args: &[&str]) -> Outcome {
    run(&["scan"]).args(args).args(NOW).arg(fixtures("demo")).go()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_document_has_the_promised_members() {
    let report = demo(&["--format", "json"]).json();
    assert_eq!(keys(&report)[..4], ["schema", "version", "tool", "taken_at"]);
    assert_eq!(report["schema"], "sid-audit.scan");
    assert_eq!(report["taken_at"], "2026-03-10T00:00:00.000Z");
    for member in ["roots", "sessions", "checkpoints", "store", "totals", "errors"] {
        assert!(!report[member].is_null(), "{member}");
    }
    for root in report["roots"].as_array().unwrap() {
        assert!(root["path"].is_string() && root["versions"].is_array());
    }
    for session in report["sessions"].as_array().unwrap() {
        for member in
            ["path", "agent", "kind", "session_id", "bytes", "live", "format", "reader", "lines", "resume", "api"]
        {
            assert!(!session[member].is_null(), "{member} in {session}");
        }
        let resume = &session["resume"];
        for member in ["verdict", "loaded", "expected", "mode", "loader", "lawful"] {
            assert!(!resume[member].is_null(), "{member} in {resume}");
        }
    }
    let of = |name: &str| report["totals"][name].as_object().unwrap().values().filter_map(Value::as_u64).sum::<u64>();
    let sessions = report["sessions"].as_array().unwrap().len() as u64;
    assert_eq!((report["totals"]["sessions"].as_u64(), of("resume"), of("api")), (Some(sessions), sessions, sessions));
}

#[test]
fn findings_have_the_promised_members_and_fingerprints_of_their_own() {
    let report = demo(&["--format", "json"]).json();
    let all = findings(&report);
    assert!(!all.is_empty());
    let mut fingerprints = Vec::new();
    for finding in &all {
        for member in ["code", "name", "severity", "path", "effect", "facts", "fingerprint"] {
            assert!(!finding[member].is_null(), "{member} in {finding}");
        }
        assert!(finding.as_object().unwrap().contains_key("fix"));
        assert!(finding["next"].as_str().unwrap().starts_with("sid-audit "), "{finding}");
        fingerprints.push(finding["fingerprint"].as_str().unwrap());
    }
    fingerprints.sort_unstable();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), all.len());
    let counted: u64 = report["totals"]["findings"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert!(counted >= all.len() as u64);
}

#[test]
fn lines_stand_for_themselves() {
    let outcome = demo(&["--format", "ndjson"]);
    let lines: Vec<Value> = outcome.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let document = demo(&["--format", "json"]).json();
    for line in &lines {
        assert_eq!(line["tool"], document["tool"]);
        assert_eq!((&line["schema"], &line["taken_at"]), (&document["schema"], &document["taken_at"]));
    }
    let sessions: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "session").collect();
    assert_eq!(sessions.len(), document["sessions"].as_array().unwrap().len());
    for (line, session) in sessions.iter().zip(document["sessions"].as_array().unwrap()) {
        assert!(line["root"].is_string());
        assert_eq!(line["session_kind"], session["kind"]);
        assert_eq!((&line["path"], &line["findings"]), (&session["path"], &session["findings"]));
    }
    let last = lines.last().unwrap();
    assert_eq!((last["kind"].as_str(), &last["totals"]), (Some("totals"), &document["totals"]));
}

#[test]
fn the_page_says_how_bad_it_is_and_what_to_do() {
    let outcome = demo(&[]);
    let page = outcome.text();
    assert_eq!(outcome.status, Some(1));
    for line in ["cannot resume", "history missing", "would be refused", "will be deleted", "healthy"] {
        assert!(page.lines().take(20).any(|l| l.contains(line)), "{line}\n{page}");
    }
    assert!(page.contains("sid-audit explain "), "{page}");
    assert!(!page.contains('\x1b'), "colours in a pipe");
    // What is laid out fits; only commands, which must stay whole, and paths may be longer.
    for line in page.lines().filter(|line| !line.contains('/')) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn colour_is_asked_for_or_not_there() {
    let coloured = |run: Run| run.go().stdout.contains(&0x1b);
    let scan = || run(&["scan", "--now", NOW[1]]).arg(fixtures("demo"));
    assert!(!coloured(scan()));
    assert!(coloured(scan().args(["--color", "always"])));
    assert!(coloured(scan().env("NO_COLOR", "").env("CLICOLOR_FORCE", "1")));
    assert!(!coloured(scan().env("CLICOLOR_FORCE", "1")));
    assert!(!coloured(scan().env("NO_COLOR", "").env("CLICOLOR_FORCE", "1").args(["--color", "never"])));
}

#[test]
fn selected_and_ignored_codes() {
    let codes = |args: &[&str]| -> Vec<String> {
        let report = demo(&[&["--format", "json"], args].concat()).json();
        let mut codes: Vec<String> = findings(&report).iter().map(|f| f["code"].as_str().unwrap().to_owned()).collect();
        codes.sort();
        codes.dedup();
        codes
    };
    let all = codes(&[]);
    assert!(all.len() > 3, "{all:?}");
    let only_c = codes(&["--select", "C"]);
    assert!(!only_c.is_empty() && only_c.iter().all(|code| code.starts_with('C')), "{only_c:?}");
    let without = codes(&["--ignore", "c,torn-tail"]);
    assert!(without.iter().all(|code| !code.starts_with('C') && code != "L101"), "{without:?}");
    let first = all[0].as_str();
    assert_eq!(codes(&["--select", first]), [first]);
}

#[test]
fn a_baseline_is_written_and_then_known() {
    let temp = Temp::new("cli-baseline");
    let store = temp.join("store");
    copy_tree(&fixtures("demo"), &store);
    let file = temp.join("known.json");
    let scan = |args: &[&str]| run(&["scan", "--format", "json"]).args(NOW).args(args).arg(&store).go();
    let text = file.to_str().unwrap();
    assert_eq!(scan(&["--write-baseline", text]).status, Some(1));
    let document: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(document["schema"], "sid-audit.baseline");
    let again = scan(&["--baseline", text]);
    let report = again.json();
    assert_eq!(again.status, Some(0));
    assert!(findings(&report).iter().all(|finding| finding["known"] == true));
    assert_eq!(document["findings"].as_array().unwrap().len(), findings(&report).len());
    // A new break is not known, and the old findings still are.
    let session = walk(&store).into_iter().find(|path| path.to_string_lossy().contains("projects")).unwrap();
    let mut bytes = fs::read(&session).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"user\",\"uuid\":\"half of a rec");
    fs::write(&session, bytes).unwrap();
    let broken = scan(&["--baseline", text]);
    assert_eq!(broken.status, Some(1));
    let report = broken.json();
    let fresh: Vec<&Value> = findings(&report).into_iter().filter(|f| f["known"] != true && is_loud(f)).collect();
    assert!(!fresh.is_empty() && fresh.iter().all(|f| f["path"] == session.to_str().unwrap()), "{fresh:?}");
    // What is no baseline is trouble, and a store is no place for one.
    assert_eq!(scan(&["--baseline", session.to_str().unwrap()]).status, Some(2));
    let inside = store.join("claude").join("known.json");
    assert_eq!(scan(&["--write-baseline", inside.to_str().unwrap()]).status, Some(2));
    assert!(!inside.exists());
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    support::temp::files_below(folder)
        .into_iter()
        .map(|path| folder.join(path))
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .collect()
}

#[test]
fn a_report_is_written_whole_to_a_file() {
    let temp = Temp::new("cli-output");
    let file = temp.join("report.json");
    let outcome = demo(&["--format", "json", "--output", file.to_str().unwrap()]);
    assert_eq!((outcome.status, outcome.stdout.len()), (Some(1), 0));
    assert_eq!(fs::read(&file).unwrap(), demo(&["--format", "json"]).stdout);
}

#[test]
fn explain_has_every_rule_under_its_headings() {
    let list = run(&["explain", "--format", "json"]).go().json();
    assert_eq!(list.as_array().unwrap().len(), registry::all().count());
    let page = run(&["explain"]).go().text();
    for rule in registry::all() {
        assert!(page.contains(rule.code) && page.contains(rule.name), "{}", rule.code);
        let one = run(&["explain", rule.name]).go();
        let text = one.text();
        assert!(text.starts_with(&format!("{}  {}\n", rule.code, rule.name)), "{text}");
        for heading in ["What you see", "What happened in the file", "What repair does", "What to run"] {
            assert!(text.contains(heading), "{heading} of {}", rule.code);
        }
        let words = text.lines().filter(|line| line.contains(' '));
        assert!(words.clone().all(|line| line.chars().count() <= 80), "{text}");
    }
    let one = run(&["explain", "l101", "--format", "json"]).go().json();
    assert_eq!((one.as_array().unwrap().len(), &one[0]["code"]), (1, &Value::from("L101")));
}
