//! What is never written, and which of four answers that gets.

use serde_json::{Value, json};

use super::home::home;
use super::{json as report, run};
use crate::support::temp::write;

fn field<'a>(report: &'a Value, path: &str) -> &'a Value {
    let fields = report["fields"].as_array().unwrap();
    fields.iter().find(|field| field["path"] == path).unwrap_or_else(|| panic!("no field '{path}'"))
}

fn verdict(report: &Value, path: &str) -> (String, Option<u64>, u64) {
    let field = field(report, path);
    let count = field["cause_count"].as_u64();
    (field["verdict"].as_str().unwrap().to_owned(), count, field["occurrences"].as_u64().unwrap())
}

#[test]
fn one_symptom_and_three_verdicts() {
    let (_temp, home) = home(false);
    let fields = report("fields", &[], &home);
    assert_eq!(verdict(&fields, "tool_result"), ("cannot-occur".to_owned(), None, 0));
    assert_eq!(verdict(&fields, "context_compact"), ("did-not-occur".to_owned(), Some(0), 0));
    for lost in ["file_changes.lastSnapshotId", "file_changes.snapshotIds"] {
        assert_eq!(verdict(&fields, lost), ("lost-on-the-way".to_owned(), Some(1), 0));
        assert!(field(&fields, lost)["evidence"].as_str().unwrap().starts_with("0 of 1"));
    }
}

#[test]
fn what_is_written_is_present() {
    let (_temp, home) = home(true);
    let fields = report("fields", &[], &home);
    for there in ["file_changes.lastSnapshotId", "file_changes.snapshotIds"] {
        assert_eq!(verdict(&fields, there), ("present".to_owned(), Some(1), 1));
    }
}

#[test]
fn without_a_stored_snapshot_nothing_is_lost() {
    let (_temp, home) = home(false);
    std::fs::remove_dir_all(home.join("checkpoints")).unwrap();
    let fields = report("fields", &[], &home);
    for path in ["file_changes.lastSnapshotId", "file_changes.snapshotIds"] {
        assert_eq!(verdict(&fields, path).0, "did-not-occur");
    }
}

#[test]
fn every_path_and_a_catalogue_of_ones_own() {
    let (temp, home) = home(false);
    let all = report("fields", &["--all-paths"], &home);
    let paths = all["paths"].as_array().unwrap();
    let path = |name: &str| paths.iter().find(|p| p["path"] == name).unwrap_or_else(|| panic!("no path '{name}'"));
    assert_eq!(path("uuid")["types"], json!({"string": 17}));
    assert_eq!(path("parentUuid")["types"], json!({"null": 2, "string": 15}));
    assert_eq!(path("usage.inputTokens")["count"], 6);

    let deep = "user_message.message.content[tool_result].content";
    let own = json!({"agent": "sid", "expected": [{"path": deep, "cause": "a result"},
        {"path": "nowhere.ever", "never": "it is made up"}]});
    let file = temp.join("own.json");
    write(&file, own.to_string());
    let asked = report("fields", &["--catalogue", file.to_str().unwrap()], &home);
    assert_eq!(verdict(&asked, "nowhere.ever").0, "cannot-occur");
    assert_eq!(verdict(&asked, deep).0, "present");

    write(&file, "{\"agent\": 7}");
    assert_eq!(run("fields", &["--catalogue", file.to_str().unwrap()], &home).go().status, Some(2));
}
