//! Man pages and completions: what is committed is what the declarations make, and the tools that show them have nothing
//! to say against it. With `SID_AUDIT_RECORD=1` the committed ones are written again.

use crate::support::run::{Run, fixtures};
use crate::support::temp::{Temp, files_below};
use serde_json::Value;
use sid_audit::agents::registry;
use sid_audit::cli::status::Status;
use sid_audit::report::man;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn program() -> Run {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit")))
}

/// Holds a folder to what is made anew.
pub(super) fn compare(what: &str, folder: &str) {
    if std::env::var_os("SID_AUDIT_RECORD").is_some_and(|value| value == "1") {
        assert_eq!(program().args(["generate", what]).arg(here(folder)).go().status, Some(0));
    }
    let temp = Temp::new(what);
    assert_eq!(program().args(["generate", what]).arg(temp.path()).go().status, Some(0));
    let made = files_below(temp.path());
    let again = format!("`SID_AUDIT_RECORD=1 cargo test --test it exports::pages` writes {folder}/ again");
    assert_eq!(files_below(&here(folder)), made, "{again}");
    for name in made {
        let (old, new) = (std::fs::read(here(folder).join(&name)).unwrap(), std::fs::read(temp.join(&name)).unwrap());
        assert!(old == new, "{} is not what the declarations say; {again}", name.display());
    }
}

#[test]
fn man_pages_are_what_the_declarations_make() {
    compare("man", "man");
}

#[test]
fn completions_are_what_the_declarations_make() {
    compare("completions", "completions");
    for (shell, file) in [("bash", "sid-audit.bash"), ("zsh", "_sid-audit"), ("fish", "sid-audit.fish")] {
        let printed = program().args(["completions", shell]).go();
        assert_eq!(printed.stdout, std::fs::read(here("completions").join(file)).unwrap(), "{shell}");
        assert!(!printed.text().contains("generate"), "{shell} completes what is hidden");
    }
}

#[test]
fn the_first_page_promises_and_prints_the_table() {
    let page = std::fs::read_to_string(here("man/sid-audit.1")).unwrap();
    assert!(page.contains("An error is never found in a healthy store.") && page.contains("is no proof"));
    for status in Status::ALL {
        assert!(page.contains(&format!(".TP\n\\fB{}\\fR\n", status.number())), "{}", status.number());
    }
    let findings = std::fs::read_to_string(here("man/sid-audit-findings.7")).unwrap();
    for rule in registry::all() {
        assert!(findings.contains(&format!(".SS \"{} {}\"\n", rule.code, rule.name)), "{}", rule.code);
    }
}

#[test]
fn what_shows_man_pages_has_nothing_to_say_against_them() {
    let pages = files_below(&here("man"));
    let check = |tool: &str, args: &[&str]| {
        for page in &pages {
            let Ok(done) = Command::new(tool).args(args).arg(here("man").join(page)).output() else {
                println!("skipped: {tool} is not installed here");
                return;
            };
            let said = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
            let said = if tool == "man" { &said[1..] } else { &said[..] };
            assert!(said.iter().all(|text| text.trim().is_empty()), "{tool} on {}: {said:?}", page.display());
        }
    };
    check("mandoc", &["-T", "lint"]);
    check("man", &["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"]);
}

/// Names of members wherever they stand, but not below those whose own names are data.
fn members(value: &Value, found: &mut BTreeSet<String>) {
    const DATA: &[&str] = &[
        "facts",
        "records",
        "metadata",
        "by_type",
        "first_block",
        "tool_results_per_record",
        "kinds",
        "exempt",
        "rebuilt",
        "restore",
        "files",
        "stored",
        "true",
        "undo_file",
        "severities",
        "readers",
        "parallel",
        "user_records",
        "quota",
    ];
    match value {
        Value::Array(all) => all.iter().for_each(|one| members(one, found)),
        Value::Object(all) => {
            for (name, inner) in all {
                found.insert(name.clone());
                let of_codes = name == "findings" && inner.is_object();
                if !DATA.contains(&name.as_str()) && !of_codes {
                    members(inner, found);
                }
            }
        }
        _ => {}
    }
}

/// Every member that a document has is told of in the contract.
#[test]
fn the_contract_names_every_member() {
    let demo = fixtures("demo");
    let session = demo.join("claude/projects/-home-mara-weather/932d823f-fae6-467d-a537-437fc3015f9f.jsonl");
    let sid = demo.join("sid-code/sessions/home-mara-tidepool/20260306-222000-e77f2770.jsonl");
    let broken = fixtures("cases/open-call-mid-chain").join("store/projects/-home-demo");
    let broken = broken.join("5e55c0de-0000-4000-8000-000000000001.jsonl");
    let runs: [(&str, &Path, &[&str]); 10] = [
        ("scan", &demo, &[]),
        ("chain", &session, &["--tail", "2"]),
        ("chain", &session, &["--compare", "linear"]),
        ("chain", &broken, &["--autopsy", "T301"]),
        ("chain", &sid, &["--anchors"]),
        ("checkpoints", &demo, &["--verify"]),
        ("predict", &sid, &[]),
        ("metrics", &demo, &[]),
        ("fields", &demo, &[]),
        ("repair", &demo, &["--dry-run", "--diff"]),
    ];
    let mut found = BTreeSet::new();
    for (command, target, extra) in runs {
        let outcome = program().arg(command).arg(target).args(extra).args(["--format", "json"]).go();
        members(&outcome.json(), &mut found);
    }
    let told: BTreeSet<&str> = man::CONTRACT.split('`').skip(1).step_by(2).collect();
    let missing: Vec<&String> = found.iter().filter(|name| !told.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "the contract says nothing of {missing:?}");
}

#[test]
fn the_version_names_what_is_read() {
    let text = program().arg("--version").go().text();
    assert!(text.starts_with(&format!("sid-audit {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    for word in ["commit", "development build"] {
        if text.contains(word) {
            for agent in ["sid-code: ", "Claude Code: ", "pi: ", "OpenClaw: "] {
                assert!(text.contains(agent), "{text}");
            }
            return;
        }
    }
    panic!("no word of where it comes from: {text}");
}
