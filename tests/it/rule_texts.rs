//! Every rule has its text, and every text has its rule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sid_audit::agents;
use sid_audit::agents::registry;
use sid_audit::finding::Severity;

use crate::support::run::{Run, fixtures};
use crate::support::temp::{Temp, copy_tree};

#[test]
fn every_rule_has_a_text_under_each_heading() {
    let missing: Vec<String> = registry::all()
        .flat_map(|rule| {
            let doc = agents::doc(rule);
            let texts = [doc.symptom, doc.what, doc.arises, doc.agent, doc.repair, doc.loses];
            let headings = ["symptom", "what", "arises", "agent", "repair", "loses"].into_iter().zip(texts);
            let bad = headings.filter(|(_, text)| text.len() < "Nothing.".len() || !text.ends_with('.'));
            bad.map(|(heading, _)| format!("{} {heading}", rule.code)).collect::<Vec<_>>()
        })
        .collect();
    assert!(missing.is_empty(), "without a text: {missing:?}");
}

/// A text ends with a command that works when it is pasted, with the placeholders filled in; or with a sentence.
#[test]
fn every_rule_says_what_to_run() {
    let mut commands = BTreeSet::new();
    for rule in registry::all() {
        let doc = agents::doc(rule);
        let last = doc.command.rsplit("\n\n").next().unwrap_or_default();
        let pasted = last.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        assert!(pasted.is_some() || (last.len() > 10 && last.ends_with('.')), "{}: {last:?}", rule.code);
        let parts: Vec<&str> = doc.command.split("\n\n").collect();
        commands.extend(parts.iter().filter_map(|part| Some(part.strip_prefix('`')?.strip_suffix('`')?.to_owned())));
        let select = doc.command.contains("repair --dry-run") && rule.severity == Severity::Info && rule.fix.is_some();
        assert!(!select, "{} is repaired only when --select names it", rule.code);
    }
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "sid-audit", "{command}");
        let said = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(&words[1..]).go().stderr;
        let said = String::from_utf8_lossy(&said);
        // FILE is not there, and more is not wrong with it.
        assert!(
            said.is_empty() || ["FILE", "FOLDER", "INDEX"].iter().any(|at| said.contains(&format!("'{at}'"))),
            "{command}: {said}"
        );
    }
}

/// No private numbers of test cases, and no code that a reader cannot look up.
#[test]
fn texts_name_no_cases() {
    let codes: BTreeSet<&str> = registry::all().map(|rule| rule.code).collect();
    for (at, text) in texts() {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        for word in words {
            let (first, rest) = word.split_at(1);
            let number = rest.len() > 1 && rest.bytes().all(|b| b.is_ascii_digit());
            assert!(!(number && matches!(first, "s" | "h")), "{} names the case {word}", at.display());
            let code = number && rest.len() == 3 && matches!(first, "L" | "C" | "T" | "M" | "S" | "U" | "F" | "K");
            assert!(!code || codes.contains(word), "{} names {word}, which is not a rule", at.display());
        }
    }
}

#[test]
fn every_text_belongs_to_a_rule() {
    let codes: BTreeSet<&str> = registry::all().map(|rule| rule.code).collect();
    for (at, _) in texts() {
        let code = at.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        assert!(codes.contains(code), "{} belongs to no rule", at.display());
    }
}

/// The files that texts are made of.
fn texts() -> Vec<(PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let agents = std::fs::read_dir(src.join("agents")).unwrap().map(|entry| entry.unwrap().path());
    let folders = agents.chain([src.join("rules")]).map(|at| at.join("texts")).filter(|at| at.is_dir());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    files.map(|at| (at.clone(), std::fs::read_to_string(at).unwrap())).collect()
}

/// The words of which a text has one when repair does this.
fn words_for(action: &str) -> &'static [&'static str] {
    match action {
        "quarantine" => &["quarantine"],
        "terminate line" => &["line feed", "line end", "ends the"],
        "split line" => &["split", "line of its own", "lines of their own", "own line"],
        "strip NULs" => &["NUL"],
        "join lines" => &["join", "together", "newline", "line break"],
        "strip mark" => &["byte order mark", "mark"],
        "replace bytes" => &["replace", "escape", "U+FFFD", "becomes", "change"],
        "set parent" => &["parent", "link", "connect", "root"],
        "set id" => &["id"],
        "set pointer" => &["pointer", "parent", "names", "id", "first kept", "leaf"],
        "move line" => &["move", "order"],
        "drop copy" => &["cop", "repeat", "second"],
        "drop record" => &["quarantine", "remove", "record", "drop", "leave", "take"],
        "remove block" => &["remove", "drop", "leave", "take", "block"],
        "replace block" => &["replace", "sets", "becomes", "text", "id", "change", "put"],
        "mark record" => &["mark"],
        "insert record" => &["add", "insert", "put", "result", "header", "makes"],
        "salvage" => &["salvage", "keep", "whole", "read"],
        "remove element" => &["remove", "drop", "leave", "take"],
        "set counter" => &["count", "number", "nextId", "next id"],
        _ => &[],
    }
}

/// What `explain` promises of a repair is what the repair of the rule's own case does.
#[test]
fn a_repair_is_told_by_what_it_does() {
    let mut wrong = BTreeSet::new();
    for entry in std::fs::read_dir(fixtures("cases")).unwrap() {
        let folder = entry.unwrap().path();
        let temp = Temp::new("told");
        copy_tree(&folder, temp.path());
        let run =
            Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(["repair", "--dry-run", "--format", "json"]);
        let run =
            run.args(["--up-to", "content", "--orphans", "result", "--now", "2026-03-10T00:00:00Z"]).arg(temp.path());
        let report = run.go().json();
        for plan in report["plan"].as_array().unwrap() {
            for edit in plan["edits"].as_array().unwrap() {
                let (code, action) = (edit["code"].as_str().unwrap(), edit["action"].as_str().unwrap());
                let told = agents::doc(registry::find(code).unwrap()).repair.to_lowercase();
                // What leaves or comes in gives its neighbours another parent, which goes without saying.
                if (action, edit["class"].as_str()) == ("set parent", Some("content")) {
                    continue;
                }
                let words = words_for(action);
                assert!(!words.is_empty(), "no words are known for {action}");
                if !words.iter().any(|word| told.contains(&word.to_lowercase())) {
                    wrong.insert(format!("{code} {action}: {told}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
