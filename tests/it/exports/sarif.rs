//! SARIF: valid by the published schema, and saying the same as the JSON report.

use super::{planted, run, schemas};
use crate::support::run::{Outcome, findings, fixtures};
use crate::support::temp::{Temp, write};
use serde_json::{Value, json};
use sid_audit::agents::registry;
use std::path::{Path, PathBuf};
use std::process::Command;

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/sarif-schema-2.1.0.json");

/// The report, once it is valid.
fn valid(outcome: &Outcome) -> Value {
    let (log, schema) = (outcome.json(), std::fs::read(SCHEMA).expect("the schema"));
    let schema = serde_json::from_slice(&schema).expect("JSON");
    let wrong = schemas::violations(&schema, &log);
    assert!(wrong.is_empty(), "{wrong:#?}");
    log["runs"][0].clone()
}

fn results(run: &Value) -> &Vec<Value> {
    run["results"].as_array().expect("results")
}

/// The file that a place names.
fn file(run: &Value, location: &Value) -> PathBuf {
    let artifact = &location["physicalLocation"]["artifactLocation"];
    let base = artifact["uriBaseId"].as_str().expect("a root");
    let root = run["originalUriBaseIds"][base]["uri"].as_str().expect("a URI");
    assert!(root.starts_with("file:///") && root.ends_with('/'), "{root}");
    PathBuf::from(decoded(&root["file://".len()..])).join(decoded(artifact["uri"].as_str().expect("a URI")))
}

fn decoded(uri: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), uri.as_bytes());
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&tail[..2]).unwrap(), 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn it_says_what_the_json_says() {
    let demo = fixtures("demo");
    let log = valid(&run("scan", "sarif", &demo).go());
    let rules = log["tool"]["driver"]["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), registry::all().count());
    let report = run("scan", "json", &demo).go().json();
    let all = findings(&report);
    assert_eq!(results(&log).len(), all.len());
    for (result, finding) in results(&log).iter().zip(&all) {
        let location = &result["locations"][0];
        let region = &location["physicalLocation"]["region"];
        assert_eq!(result["ruleId"], finding["code"]);
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], finding["code"]);
        assert_eq!(result["level"] == "error", finding["severity"] == "error");
        assert_eq!(result["level"] == "note", finding["severity"] == "info");
        assert_eq!(region["startLine"], finding["line"]);
        assert_eq!(region["byteOffset"], finding["offset"]);
        assert_eq!(result["partialFingerprints"]["sidAudit/v1"], finding["fingerprint"]);
        assert_eq!(result["properties"]["facts"], finding["facts"]);
        let path = file(&log, location);
        assert!(path.ends_with(finding["path"].as_str().unwrap()), "{}", path.display());
        assert!(path.exists(), "{}", path.display());
    }
    assert_eq!(log["invocations"][0]["exitCode"], 1);
    assert_eq!(log["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn what_was_left_out_and_what_is_known_is_told() {
    let (demo, temp) = (fixtures("demo"), Temp::new("baseline"));
    let known = temp.join("baseline.json");
    run("scan", "json", &demo).args(["--select", "L"]).arg("--write-baseline").arg(&known).go();
    let log = valid(&run("scan", "sarif", &demo).args(["--select", "L,C"]).arg("--baseline").arg(&known).go());
    let overrides = log["invocations"][0]["ruleConfigurationOverrides"].as_array().expect("overrides");
    assert!(overrides.iter().all(|one| one["configuration"]["enabled"] == false));
    assert!(overrides.iter().any(|one| one["descriptor"]["id"] == "T301"));
    assert!(!overrides.iter().any(|one| one["descriptor"]["id"] == "L101"));
    for result in results(&log) {
        let old = result["ruleId"].as_str().is_some_and(|code| code.starts_with('L'));
        assert_eq!(result["baselineState"], if old { "unchanged" } else { "new" });
        assert_eq!(result["suppressions"].as_array().map(Vec::len), Some(usize::from(old)));
    }
}

#[cfg(unix)]
#[test]
fn what_could_not_be_read_is_a_notification() {
    let temp = Temp::new("unread");
    write(&temp.join("a.jsonl"), "{}\n");
    let log = valid(&run("scan", "sarif", temp.path()).arg(temp.join("missing file.jsonl")).go());
    let invocation = &log["invocations"][0];
    assert_eq!(invocation["exitCode"], 2);
    assert_eq!(invocation["executionSuccessful"], false);
    let told = invocation["toolExecutionNotifications"].as_array().expect("notifications");
    let missing = told.iter().find(|one| one["message"]["text"].as_str().unwrap().contains("missing file.jsonl"));
    let uri = &missing.expect("told")["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert!(uri.as_str().unwrap().ends_with("missing%20file.jsonl"), "{uri}");
}

#[test]
fn one_file_and_nothing_found() {
    let healthy = fixtures("clean/sid-plain");
    let log = valid(&run("scan", "sarif", &healthy).args(["--select", "C"]).go());
    assert!(results(&log).is_empty());
    assert_eq!(log["invocations"][0]["exitCode"], 0);
}

#[test]
fn a_plan_is_told_edit_by_edit() {
    let demo = fixtures("demo");
    let outcome = run("repair", "sarif", &demo).arg("--dry-run").go();
    let log = valid(&outcome);
    let report = run("repair", "json", &demo).arg("--dry-run").go().json();
    let plans = report["plan"].as_array().expect("plans");
    let of = |name: &str| plans.iter().filter_map(|plan| plan[name].as_array()).map(Vec::len).sum::<usize>();
    assert!(of("edits") > 3);
    assert_eq!(results(&log).len(), of("edits") + of("left"));
    let planned = results(&log).iter().filter(|one| one["properties"]["facts"]["action"].is_string()).count();
    assert_eq!(planned, of("edits"));
    assert_eq!(log["invocations"][0]["exitCode"].as_i64(), outcome.status.map(i64::from));
    assert_eq!(log["automationDetails"]["id"], "sid-audit/repair/");
    let refused = run("repair", "sarif", &demo).arg("--yes").go();
    assert_eq!(refused.status, Some(2), "what was done is no finding");
}

#[test]
fn planted_text_stays_text() {
    let (home, _) = planted::stores();
    let outcome = run("scan", "sarif", home.path()).go();
    let log = valid(&outcome);
    assert!(results(&log).len() > 10);
    for result in results(&log) {
        let text = result["message"]["text"].as_str().unwrap();
        assert!(!text.contains("[x]("), "a link: {text}");
        assert!(!text.chars().any(char::is_control), "{text:?}");
        let location = &result["locations"][0];
        assert!(file(&log, location).exists());
    }
}

/// The published schema in the hands of a validator that everybody uses.
#[test]
fn python_agrees() {
    let works =
        Command::new("python3").args(["-c", "import jsonschema"]).output().is_ok_and(|done| done.status.success());
    if !works {
        println!("skipped: Python's jsonschema is not installed here");
        return;
    }
    let temp = Temp::new("python");
    let (home, _) = planted::stores();
    for (n, store) in [fixtures("demo"), fixtures("cases"), home.path().to_owned()].iter().enumerate() {
        let path = temp.join(format!("{n}.sarif"));
        write(&path, run("scan", "sarif", store).go().stdout);
        let script = "import json,sys,jsonschema as j\nload=lambda p: json.load(open(p,encoding='utf-8'))\n\
            v=j.Draft4Validator(load(sys.argv[1]),format_checker=j.FormatChecker())\n\
            e=[f'{list(e.path)} {e.message[:300]}' for e in v.iter_errors(load(sys.argv[2]))]\nprint(*e,sep='\\n')\nsys.exit(bool(e))";
        let done = Command::new("python3").args(["-c", script, SCHEMA]).arg(&path).output().expect("Python");
        assert!(
            done.status.success(),
            "{}{}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        );
    }
}

#[test]
fn standard_input_has_no_file() {
    // Nothing is given on it here, so all there is to say is that nothing tells whose session it is.
    let log = valid(&run("scan", "sarif", Path::new("-")).go());
    let told = &log["invocations"][0]["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"];
    assert_eq!(told["artifactLocation"], json!({"description": {"text": "standard input"}}));
}
