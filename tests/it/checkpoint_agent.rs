//! What sid-code's own checkpoint manager rebuilt, undid and restored, against what is predicted here.

use serde_json::{Map, Value};
use sid_audit::agents;
use sid_audit::checkpoint::audit::Outcome;
use sid_audit::checkpoint::model::Fate;
use sid_audit::checkpoint::moves::{Moves, Rewind};
use sid_audit::checkpoint::rebuild::{State, content_at};
use sid_audit::checkpoint::{Audit, Options};
use sid_audit::finding::Severity;
use sid_audit::rules::checkpoints::{RULES, add_lines, index_findings};
use sid_audit::store::Source;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const VERIFY: bool = true;

fn indexes() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/checkpoints");
    let mut all = Vec::new();
    for case in std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        for session in std::fs::read_dir(&case).unwrap().map(|e| e.unwrap().path()) {
            all.push((case.file_name().unwrap().to_str().unwrap().to_owned(), session));
        }
    }
    all.sort();
    assert_eq!(all.len(), 40);
    all
}

fn open(folder: &Path) -> Source {
    Source::open(&folder.join("index.json")).unwrap()
}

fn audit(folder: &Path, source: &Source, verify: bool) -> Audit {
    let name = folder.file_name().unwrap().to_str();
    Audit::of(source, name, &Options { verify, ..Options::default() }).unwrap()
}

fn expected(folder: &Path) -> Map<String, Value> {
    let text = std::fs::read_to_string(folder.join("expect.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The files that moves change: hash of what is written, null where deleted; what is on disk already is no change.
fn changed(moves: &Value, before: &Value) -> Value {
    let mut out = Map::new();
    for (path, made) in moves.as_object().unwrap() {
        match made["would"].as_str().unwrap() {
            "write" if made["sha256"] != before[path] => {
                out.insert(path.clone(), made["sha256"].clone());
            }
            "delete" if !before[path].is_null() => {
                out.insert(path.clone(), Value::Null);
            }
            _ => {}
        }
    }
    Value::Object(out)
}

fn fails(moves: &Value) -> bool {
    moves.as_object().unwrap().values().any(|made| made["would"] == "fail")
}

#[test]
fn every_rebuild_and_every_move_is_the_agents_own() {
    let mut compared = 0;
    let mut same = |what: String, ours: &Value, theirs: &Value| {
        compared += 1;
        assert_eq!(ours, theirs, "{what}");
    };
    for (case, folder) in indexes() {
        let source = open(&folder);
        let audit = audit(&folder, &source, VERIFY);
        let expect = expected(&folder);
        if expect.contains_key("unusable") {
            assert!(matches!(audit.outcome, Outcome::NotAnIndex { fate: Fate::Stuck, .. }), "{case}");
            continue;
        }
        if expect.contains_key("empty") {
            assert!(!audit.agent_sees(), "{case}");
            continue;
        }
        let ours = serde_json::to_value(audit.report(VERIFY)).unwrap();
        assert_eq!(ours["complete"], true, "{case}");
        same(format!("{case} ids"), &ours["snapshots"], &expect["ids"]);
        same(format!("{case} next id"), &ours["next_id"], &expect["next_id"]);
        same(format!("{case} stored"), &ours["latest_full"]["stored"], &expect["latest_full"]);
        same(format!("{case} true"), &ours["latest_full"]["true"], &expect["true_latest_full"]);
        assert_eq!(ours["rebuilt"].as_object().unwrap().len(), expect["rebuilt"].as_object().unwrap().len(), "{case}");
        for (path, ids) in expect["rebuilt"].as_object().unwrap() {
            for (id, theirs) in ids.as_object().unwrap() {
                let ours = match &ours["rebuilt"][path][id] {
                    Value::Null => Value::Null,
                    got if got.get("error").is_some() => "error".into(),
                    got => got["sha256"].clone(),
                };
                same(format!("{case} {path} at {id}"), &ours, theirs);
            }
        }
        let before = &expect["before"];
        same(format!("{case} undo"), &ours["undo"].is_null().into(), &expect["undo"].is_null().into());
        if let Some(undo) = expect["undo"].as_object() {
            same(format!("{case} undo"), &changed(&ours["undo"]["files"], before), &undo["changed"]);
            let throws = ours["undo"].get("throws").cloned().unwrap_or(false.into());
            same(format!("{case} undo throws"), &throws, &undo["throws"]);
        }
        for (path, theirs) in expect["undo_file"].as_object().unwrap() {
            let ours: Value =
                [(path.clone(), ours["undo_file"][path].clone())].into_iter().collect::<Map<_, _>>().into();
            same(format!("{case} undo {path}"), &changed(&ours, before), &theirs["changed"]);
            same(format!("{case} undo {path} throws"), &fails(&ours).into(), &theirs["throws"]);
        }
        for (id, theirs) in expect["restore"].as_object().unwrap() {
            let ours = &ours["restore"][id]["files"];
            same(format!("{case} restore {id}"), &changed(ours, before), &theirs["changed"]);
            same(format!("{case} restore {id} throws"), &fails(ours).into(), &theirs["throws"]);
        }
    }
    assert!(compared > 650, "{compared}");
}

#[test]
fn rebuilding_goes_by_position_where_ids_repeat() {
    for (case, folder) in indexes().into_iter().filter(|(case, _)| case.starts_with("c17b")) {
        let source = open(&folder);
        let audit = audit(&folder, &source, VERIFY);
        for (path, positions) in expected(&folder)["rebuilt_by_position"].as_object().unwrap() {
            let file = audit.index.file(path.as_bytes()).unwrap();
            for (position, theirs) in (0_u32..).zip(positions.as_array().unwrap()) {
                let State::Bytes(digest) = audit.state(file, position) else { panic!("{case} {position}") };
                assert_eq!(digest.hex(), theirs.as_str().unwrap(), "{case} {position}");
                let content = content_at(&audit.index, &source, file, position, audit.limits);
                assert_eq!(content.rebuilt.unwrap().unwrap().len() as u64, digest.bytes);
                // The difference of the last one was made against another base, and carries what was meant; where it only
                // removes other lines than it says, the text is right all the same.
                assert!(content.carried.is_none(), "{position}");
            }
        }
    }
}

/// The codes that must be there; a healthy case (`-`) has nothing at warning or above.
const CODES: [(&str, &str); 30] = [
    ("c01", "- K813"),
    ("c02", "- K813"),
    ("c03", "-"),
    ("c04", "-"),
    ("c05", "-"),
    ("c06", "-"),
    ("c06b", "-"),
    ("c06c", "-"),
    ("c11", "-"),
    ("c12", "K802"),
    ("c12b", "K803"),
    ("c12c", "K803"),
    ("c13", "K801"),
    ("c15", "K805"),
    ("c15b", "K805"),
    ("c15c", "K805 K803"),
    ("c16", "- K806"),
    ("c17", "K807"),
    ("c17b", "K808 K803"),
    ("c18c", "- K809"),
    ("c21", "-"),
    ("c21b", "- K809"),
    ("c22", "-"),
    ("c23", "-"),
    ("c27", "-"),
    ("c29", "-"),
    ("c30", "K801"),
    ("c31", "K814"),
    ("c33", "-"),
    ("c34", "-"),
];

#[test]
fn findings_are_those_of_the_case_with_or_without_verify() {
    for verify in [false, true] {
        for (key, codes) in CODES {
            let mut all = Vec::new();
            for (_, folder) in indexes().into_iter().filter(|(case, _)| case.split('-').next() == Some(key)) {
                let source = open(&folder);
                let mut findings = index_findings(&audit(&folder, &source, verify), 100);
                add_lines(&mut findings, &source).unwrap();
                assert!(findings.iter().all(|f| f.place.offset.is_some() == f.place.line.is_some()), "{key}");
                assert!(findings.iter().all(|f| !f.effect.is_empty()), "{key}");
                all.extend(findings);
            }
            let found: BTreeSet<&str> = all.iter().map(|f| f.rule.code).collect();
            let loud = all.iter().find(|f| f.severity >= Severity::Warning).map(|f| f.rule.code);
            for code in codes.split(' ') {
                match code {
                    "-" => assert_eq!(loud, None, "{key}"),
                    code => assert!(found.contains(code), "{key} {found:?}"),
                }
            }
        }
    }
}

#[test]
fn a_file_of_ten_thousand_lines_is_emptied_by_the_agents_undo() {
    let text: String = (0..10_001).map(|n| format!("line {n}\n")).collect();
    let index = serde_json::json!({"sessionId": "big", "createdAt": 1, "nextId": 4, "snapshots": [
        {"id": "s1", "timestamp": 1, "toolName": "edit", "toolSummary": "", "files": [
            {"filePath": "/a", "existedBefore": true, "type": "full", "content": text, "compressed": false}]},
        {"id": "s2", "timestamp": 2, "toolName": "edit", "toolSummary": "", "files": [
            {"filePath": "/a", "existedBefore": true, "type": "diff", "diff": {"ops": []}}]},
        {"id": "s3", "timestamp": 3, "toolName": "edit", "toolSummary": "", "files": [
            {"filePath": "/a", "existedBefore": true, "type": "diff", "diff": {"ops": []}}]},
    ], "latestFullMap": {"/a": "s1"}});
    let source = Source::from_bytes(serde_json::to_vec_pretty(&index).unwrap());
    let audit = Audit::of(&source, Some("big"), &Options::default()).unwrap();
    let codes: Vec<&str> = index_findings(&audit, 100).iter().map(|f| f.rule.code).collect();
    assert_eq!(codes, ["K804", "K813"]);
    let report = serde_json::to_value(audit.report(true)).unwrap();
    const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(report["rebuilt"]["/a"]["s1"]["bytes"], text.len());
    assert_eq!(report["rebuilt"]["/a"]["s2"]["sha256"], NOTHING);
    assert_eq!(report["undo"]["files"]["/a"]["sha256"], NOTHING);
    assert_eq!(report["undo"]["files"]["/a"]["faithful"], false);
    assert_eq!(report["restore"]["s1"]["files"]["/a"]["faithful"], true);
}

#[test]
fn a_rewind_is_measured_by_what_the_files_were_at_the_prompt() {
    // a.txt was one (s1), two (s2), three (s3); a prompt behind s2 sees three, and the agent brings back two.
    let diff = |from: &str, to: &str| {
        serde_json::json!({"filePath": "/a", "existedBefore": true, "type": "diff", "diff": {"ops": [
            {"type": "remove", "lines": [from]}, {"type": "add", "lines": [to]}]}})
    };
    let index = serde_json::json!({"sessionId": "r", "nextId": 4, "snapshots": [
        {"id": "s1", "files": [
            {"filePath": "/a", "existedBefore": true, "type": "full", "content": "one", "compressed": false}]},
        {"id": "s2", "files": [diff("one", "two")]},
        {"id": "s3", "files": [diff("two", "three"), {"filePath": "/new", "existedBefore": false, "type": "full",
            "content": "", "compressed": false}]},
    ]});
    let source = Source::from_bytes(serde_json::to_vec(&index).unwrap());
    let audit = Audit::of(&source, None, &Options::default()).unwrap();
    let moves = Moves::new(&audit).unwrap();
    let Rewind::Restore(1, files) = moves.rewind(Some(&"s2".into())) else { panic!() };
    let faithful: Vec<bool> = files.iter().map(|(_, made)| made.faithful).collect();
    assert_eq!(faithful, [false, true]);
    // A restore to s2 itself does bring back what s2 saw.
    assert!(moves.restore(1).iter().all(|(_, made)| made.faithful));
    assert_eq!(moves.rewind(None), Rewind::NoSnapshot);
    assert_eq!(moves.rewind(Some(&"s9".into())), Rewind::UnknownSnapshot);
}

#[test]
fn every_rule_has_its_texts() {
    let codes: Vec<String> = RULES.iter().map(|rule| rule.code.to_owned()).collect();
    let expected: Vec<String> = (801..=819).map(|n| format!("K{n}")).collect();
    assert_eq!(codes, expected);
    for rule in RULES {
        let doc = agents::doc(rule);
        for text in [&doc.what, &doc.arises, &doc.agent, &doc.repair, &doc.loses] {
            assert!(text.len() > 10 && text.ends_with('.') && !text.contains("  "), "{}: {text}", rule.code);
        }
        assert!(doc.agent.contains("3f3215144f68") || doc.agent.contains("Claude Code 2.1"), "{}", rule.code);
    }
}
