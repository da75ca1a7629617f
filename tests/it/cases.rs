//! The fixture directories, found and not listed: each is a store, a command, and what must be said of it.
//!
//! `fixtures/cases/<slug>` holds damage, `fixtures/clean/<slug>` what is odd and healthy. In each:
//!
//! | file | what it holds |
//! | --- | --- |
//! | `name` | one line of English: what is wrong, or odd |
//! | `command` | one line of arguments, `{store}` for the store |
//! | `store/` | the store; instead of it, one session file of any other name |
//! | `expect.json` | what of the report is stable, and the exit status |
//! | `expect.2.json` | the same of a second run of the same command (after a repair) |
//! | `after/` | the store as the first run must leave it, when that may not be as it was |
//! | `times` | lines `path<TAB>time`: times of last change; everything else is of [`CHANGED`] |
//!
//! The store is copied before the run. Without `--now`, `now` is [`NOW`]; the format is JSON. With `SID_AUDIT_RECORD=1`
//! what came out is written to `expect.json`, and the difference is for a person to read.

use crate::support;
use serde_json::{Map, Value, json};
use sid_audit::agents::registry;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use support::run::{Outcome, Run, findings, fixtures, is_loud};
use support::temp::{Temp, copy_tree, files_below, write};
use support::time::{parse, touch};

/// The moment at which cases are looked at.
const NOW: &str = "2026-03-10T00:00:00Z";

/// The time of last change of everything in a case's store, a day before.
const CHANGED: &str = "2026-03-09T00:00:00Z";

/// Families of findings of which every code must have a case. A family joins when its rules are there.
const COMPLETE_FAMILIES: &str = "LCTMSUFK";

/// Codes whose smallest store is too large to keep, and the tests that make one.
const TOO_LARGE: &[(&str, &str)] = &[
    ("L117", "hostile.rs: one_line_of_many_megabytes"),
    ("L118", "loaders.rs: two_readers"),
    ("S525", "rules_store.rs: dumps_beyond_what_the_agent_keeps"),
];

/// A directory of fixtures.
struct Case {
    folder: PathBuf,
    clean: bool,
}

fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    for (room, clean) in [("cases", false), ("clean", true)] {
        let Ok(entries) = fs::read_dir(fixtures(room)) else { continue };
        let folders = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
        out.extend(folders.map(|folder| Case { folder, clean }));
    }
    out.sort_by(|a, b| a.folder.cmp(&b.folder));
    out
}

impl Case {
    fn slug(&self) -> String {
        let folder = self.folder.strip_prefix(fixtures("")).unwrap_or(&self.folder);
        folder.display().to_string()
    }

    fn line(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(self.folder.join(name)).ok()?;
        Some(text.trim_end().to_owned())
    }

    /// The store, copied to where it may be changed.
    fn copy(&self, temp: &Temp) -> PathBuf {
        let store = self.folder.join("store");
        let target = if store.is_dir() {
            let target = temp.join("store");
            copy_tree(&store, &target);
            target
        } else {
            let own = ["name", "command", "times", "expect.json", "expect.2.json"];
            let files = fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path());
            let is_session = |path: &PathBuf| path.is_file() && !own.iter().any(|name| path.ends_with(name));
            let file = files.filter(is_session).collect::<Vec<_>>();
            assert_eq!(file.len(), 1, "{}: a store, or one session file, but {file:?}", self.slug());
            let target = temp.join(file[0].file_name().unwrap());
            fs::copy(&file[0], &target).unwrap();
            target
        };
        set_times(&target, parse(CHANGED));
        for line in self.line("times").unwrap_or_default().lines() {
            let (path, time) = line.split_once('\t').expect("path, tab, time");
            touch(&target.join(path), parse(time));
        }
        target
    }

    /// Runs the command of the case and returns the stable part of what came out.
    fn run(&self, temp: &Temp, store: &Path) -> Value {
        let command = self.line("command").expect("a case has a command");
        let mut args: Vec<String> =
            words(&command).iter().map(|word| word.replace("{store}", &store.to_string_lossy())).collect();
        for (option, value) in [("--now", NOW), ("--format", "json")] {
            if args[0] != "explain" && !args.iter().any(|arg| arg == option) {
                args.extend([option.to_owned(), value.to_owned()]);
            }
        }
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(&args);
        let outcome = run.env("XDG_STATE_HOME", temp.join("state")).go();
        stable(&outcome, store)
    }

    /// What is wrong with the case, if anything is.
    fn check(&self) -> Vec<String> {
        let temp = Temp::new("case");
        let store = self.copy(&temp);
        let (before, mut wrong) = (bytes_of(&store), Vec::new());
        let first = self.run(&temp, &store);
        wrong.extend(self.compare("expect.json", &first));
        if self.clean {
            let loud: Vec<&Value> = findings_of(&first).into_iter().filter(|f| is_loud(f)).collect();
            if !loud.is_empty() {
                wrong.push(format!("is clean, but: {loud:?}"));
            }
        }
        let after = self.folder.join("after");
        let (want, left) =
            if after.is_dir() { (bytes_of(&after), bytes_of(&store)) } else { (before, bytes_of(&store)) };
        if want != left {
            let differs = |file: &&(PathBuf, Vec<u8>)| !(want.contains(file) && left.contains(file));
            let names: BTreeSet<&PathBuf> = want.iter().chain(&left).filter(differs).map(|file| &file.0).collect();
            wrong.push(format!("the run leaves another store: {names:?}"));
        }
        if self.folder.join("expect.2.json").exists() {
            let second = self.run(&temp, &store);
            wrong.extend(self.compare("expect.2.json", &second));
        }
        if self.line("name").is_none_or(|name| name.is_empty() || name.lines().count() != 1) {
            wrong.push("has no `name` of one line".to_owned());
        }
        wrong
    }

    fn compare(&self, name: &str, got: &Value) -> Option<String> {
        let path = self.folder.join(name);
        let got = pretty(got);
        if recording() {
            write(&path, &got);
            return None;
        }
        let want = fs::read_to_string(&path).unwrap_or_default();
        let same = serde_json::from_str::<Value>(&want).ok() == serde_json::from_str::<Value>(&got).ok();
        let diff = similar::TextDiff::from_lines(&want, &got);
        (!same).then(|| format!("differs from {name}:\n{}", diff.unified_diff().context_radius(4)))
    }
}

/// Words of a command line; quotes hold spaces together.
fn words(line: &str) -> Vec<String> {
    let (mut out, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' | '"' => quoted = !quoted,
            ' ' if !quoted => out.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            c => word.push(c),
        }
    }
    out.extend((!word.is_empty()).then_some(word));
    out
}

fn set_times(path: &Path, ms: i64) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            set_times(&entry.unwrap().path(), ms);
        }
    }
    touch(path, ms);
}

/// Every file of a store with its bytes; originals that a repair has left beside their sessions are none of it.
fn bytes_of(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    if store.is_file() {
        return vec![(PathBuf::new(), fs::read(store).unwrap())];
    }
    let kept = |file: &Path| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".sid-audit-"));
    let files = files_below(store).into_iter().filter(|file| !kept(file));
    files.map(|file| (file.clone(), fs::read(store.join(file)).unwrap())).collect()
}

/// The part of a report that does not change with versions, wording and the place of the store.
fn stable(outcome: &Outcome, store: &Path) -> Value {
    let report = outcome.json();
    let mut out = Map::new();
    out.insert("exit".into(), json!(outcome.status));
    let schema = report["schema"].as_str().unwrap_or_default();
    if schema == "sid-audit.scan" {
        out.insert("sessions".into(), report["sessions"].as_array().into_iter().flatten().map(session).collect());
        let indexes: Vec<Value> = report["checkpoints"].as_array().into_iter().flatten().map(index).collect();
        if !indexes.is_empty() {
            out.insert("checkpoints".into(), json!(indexes));
        }
        if let Some(list) = report["store"]["findings"].as_array().filter(|list| !list.is_empty()) {
            out.insert("store".into(), list.iter().map(finding).collect());
        }
        if let Some(errors) = report["errors"].as_array().filter(|errors| !errors.is_empty()) {
            out.insert("errors".into(), errors.iter().map(|error| error["path"].clone()).collect());
        }
    } else {
        out.insert("report".into(), whole(&report));
    }
    let mut out = Value::Object(out);
    relative(&mut out, &store.to_string_lossy());
    out
}

fn session(s: &Value) -> Value {
    let resume = &s["resume"];
    let resume = format!("{} {}/{}", resume["verdict"].as_str().unwrap_or("?"), resume["loaded"], resume["expected"]);
    json!({"path": s["path"], "agent": s["agent"], "kind": s["kind"], "resume": resume,
        "api": s["api"]["verdict"], "findings": own_findings(s)})
}

fn index(i: &Value) -> Value {
    json!({"path": i["path"], "snapshots": i["snapshots"], "findings": own_findings(i)})
}

/// Findings of a file, which need not name it.
fn own_findings(part: &Value) -> Vec<Value> {
    let mut out: Vec<Value> = part["findings"].as_array().into_iter().flatten().map(finding).collect();
    for finding in out.iter_mut().filter_map(Value::as_object_mut) {
        if finding.get("path") == Some(&part["path"]) {
            finding.shift_remove("path");
        }
    }
    out
}

fn finding(f: &Value) -> Value {
    let names = ["code", "severity", "fix", "path", "line", "offset", "length", "id", "cause", "count", "more"];
    let kept = names.into_iter().filter(|name| !f[*name].is_null()).map(|name| (name.to_owned(), f[name].clone()));
    kept.collect::<Map<_, _>>().into()
}

/// Any other report, but for what names this build, this moment, and the words.
fn whole(value: &Value) -> Value {
    const LEFT_OUT: [&str; 9] =
        ["tool", "taken_at", "effect", "next", "fingerprint", "journal_id", "retained", "message", "loader"];
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), whole(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(whole).collect(),
        other => other.clone(),
    }
}

/// Paths below the store are written below `{store}`.
fn relative(value: &mut Value, store: &str) {
    match value {
        Value::String(text) => *text = text.replace(store, "{store}"),
        Value::Array(items) => items.iter_mut().for_each(|item| relative(item, store)),
        Value::Object(map) => map.values_mut().for_each(|item| relative(item, store)),
        _ => {}
    }
}

/// JSON with one line for each finding, so that a difference is read at a glance.
fn pretty(value: &Value) -> String {
    fn put(value: &Value, indent: usize, out: &mut String) {
        let flat = |value: &Value| !value.is_object() && !value.is_array() || value.to_string().len() < 80;
        match value {
            Value::Object(map) if indent == 0 || !map.values().all(flat) => {
                out.push_str("{\n");
                for (n, (name, item)) in map.iter().enumerate() {
                    out.push_str(&format!("{:1$}{2}: ", "", indent + 1, json!(name)));
                    put(item, indent + 1, out);
                    out.push_str(if n + 1 < map.len() { ",\n" } else { "\n" });
                }
                out.push_str(&format!("{:1$}}}", "", indent));
            }
            Value::Array(items) if !flat(value) => {
                out.push_str("[\n");
                for (n, item) in items.iter().enumerate() {
                    out.push_str(&format!("{:1$}", "", indent + 1));
                    put(item, indent + 1, out);
                    out.push_str(if n + 1 < items.len() { ",\n" } else { "\n" });
                }
                out.push_str(&format!("{:1$}]", "", indent));
            }
            _ => out.push_str(&value.to_string()),
        }
    }
    let mut out = String::new();
    put(value, 0, &mut out);
    out.push('\n');
    out
}

/// Findings in the stable part, or in a whole report inside it.
fn findings_of(stable: &Value) -> Vec<&Value> {
    let mut out = findings(stable);
    out.extend(stable["store"].as_array().into_iter().flatten());
    out.extend(stable["report"]["findings"].as_array().into_iter().flatten());
    out
}

fn recording() -> bool {
    std::env::var_os("SID_AUDIT_RECORD").is_some()
}

#[test]
fn every_case_is_reported_as_expected() {
    let cases = cases();
    assert!(!cases.is_empty(), "there are cases");
    let wrong: Vec<String> = cases
        .iter()
        .flat_map(|case| case.check().into_iter().map(|what| format!("{} {what}", case.slug())).collect::<Vec<_>>())
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases\n\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_code_of_a_complete_family_has_a_case() {
    if recording() {
        // The recordings are written by the test beside it.
        return;
    }
    let mut shown = BTreeSet::new();
    for case in cases() {
        let text = fs::read_to_string(case.folder.join("expect.json")).unwrap_or_default();
        let expect: Value = serde_json::from_str(&text).unwrap_or_default();
        shown.extend(findings_of(&expect).into_iter().filter_map(|f| f["code"].as_str().map(str::to_owned)));
    }
    let owed = registry::all().map(|rule| rule.code).filter(|code| COMPLETE_FAMILIES.contains(&code[..1]));
    let missing: Vec<&str> =
        owed.filter(|code| !shown.contains(*code) && TOO_LARGE.iter().all(|(large, _)| large != code)).collect();
    assert!(missing.is_empty(), "no case shows {missing:?}");
}

#[test]
fn words_of_a_command_line() {
    assert_eq!(words("scan {store} --now 'a b'"), ["scan", "{store}", "--now", "a b"]);
}

#[test]
fn a_record_reads_back_as_it_was() {
    let value = json!({"exit": 1, "sessions": [{"path": "x".repeat(200), "findings": [{"code": "L101", "line": 3}]}]});
    assert_eq!(serde_json::from_str::<Value>(&pretty(&value)).ok(), Some(value));
}
