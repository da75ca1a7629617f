//! What a session says of the file layer, judged from facts.

use serde_json::json;
use sid_audit::checkpoint::layers::Held;
use sid_audit::checkpoint::model::{Index, IndexRead};
use sid_audit::checkpoint::{Audit, Options};
use sid_audit::finding::{Fact, Finding, Severity};
use sid_audit::rules::checkpoints::{
    Change, ChangedBy, Named, Unpartnered, index_findings, unknown_snapshots, unpartnered_layers, unprotected_changes,
};
use sid_audit::store::Source;
use sid_audit::text::Text;

fn index(snapshots: &[(&str, u64, &[&str])], next: u64) -> Index {
    let snapshots: Vec<_> = snapshots
        .iter()
        .map(|(id, time, files)| {
            let files: Vec<_> = files
                .iter()
                .map(|f| json!({"filePath": f, "existedBefore": true, "type": "full", "content": "x", "compressed": false}))
                .collect();
            json!({"id": id, "timestamp": time, "toolName": "edit", "files": files})
        })
        .collect();
    let text = serde_json::to_vec(&json!({"sessionId": "s", "nextId": next, "snapshots": snapshots})).unwrap();
    match Index::read(&Source::from_bytes(text), None).unwrap() {
        IndexRead::Readable(index) => index,
        other => panic!("{other:?}"),
    }
}

fn named(line: u64, id: &str) -> Named {
    Named { line, record: Some("u".into()), snapshot: id.into() }
}

fn loud(findings: &[Finding]) -> Vec<(Option<u64>, Severity)> {
    findings.iter().map(|f| (f.place.line, f.severity)).collect()
}

#[test]
fn an_id_that_was_handed_out_is_only_worth_knowing() {
    let held = Held::of(&index(&[("s2", 1, &["/a"]), ("s3", 2, &["/a"])], 5));
    let names = [named(1, "s1"), named(2, "s2"), named(3, "s4"), named(4, "s5"), named(5, "s5"), named(6, "sx")];
    let found = unknown_snapshots(&names, Some(&held), 100);
    assert_eq!(
        loud(&found),
        [
            (Some(1), Severity::Info),
            (Some(3), Severity::Info),
            (Some(4), Severity::Warning),
            (Some(6), Severity::Warning)
        ]
    );
    assert_eq!(unknown_snapshots(&names[..1], None, 100)[0].severity, Severity::Warning);
    assert!(unknown_snapshots(&names[1..2], Some(&held), 100).is_empty());
}

fn change(line: u64, path: Option<&str>, by: ChangedBy, time: Option<f64>) -> Change {
    Change { line, record: None, path: path.map(Text::from), by, time }
}

#[test]
fn a_write_is_unprotected_only_where_nothing_was_lost() {
    let complete = Held::of(&index(&[("s1", 100_000, &["/a"]), ("s2", 200_000, &["/b"])], 3));
    assert!(complete.complete);
    let changes = [
        change(1, Some("/a"), ChangedBy::Write, Some(100_500.0)),
        change(2, Some("/b"), ChangedBy::Write, Some(150_000.0)),
        change(3, Some("/c"), ChangedBy::Write, None),
        change(4, Some("/c"), ChangedBy::Write, None),
        change(5, None, ChangedBy::Command("rm"), None),
        change(6, Some("/b"), ChangedBy::Write, None),
    ];
    let found = unprotected_changes(&changes, Some(&complete), 100);
    assert_eq!(loud(&found), [(Some(2), Severity::Warning), (Some(3), Severity::Warning), (Some(5), Severity::Info)]);
    assert_eq!(found[1].count, Some(2));
    // s1 was evicted or undone, and /c may have been in it.
    let evicted = Held::of(&index(&[("s2", 200_000, &["/b"])], 3));
    assert!(unprotected_changes(&changes, Some(&evicted), 100).iter().all(|f| f.severity == Severity::Info));
    assert!(unprotected_changes(&changes, None, 100).is_empty());
}

#[test]
fn layers_without_a_partner_are_one_finding_by_reason() {
    assert!(unpartnered_layers(&[]).is_none());
    let list = [
        ("a".into(), Unpartnered::SessionDeleted),
        ("b".into(), Unpartnered::CheckpointsMissing),
        ("c".into(), Unpartnered::SessionDeleted),
    ];
    let found = unpartnered_layers(&list).unwrap();
    assert_eq!((found.severity, found.count), (Severity::Info, Some(3)));
    assert!(found.facts.contains(&("session_deleted", Fact::Number(2))));
}

#[test]
fn quotas_times_and_counters_are_told() {
    let snapshots: Vec<_> = (1..=60)
        .map(|n| {
            let content = if n == 9 { "H4sIAAAA" } else { "x" };
            json!({"id": format!("s{n}"), "timestamp": if n == 30 { 1 } else { n * 1000 }, "files": [{"filePath": "/a",
                "existedBefore": true, "type": "full", "content": content, "compressed": n == 9}]})
        })
        .collect();
    let text = serde_json::to_vec_pretty(&json!({"sessionId": "s", "nextId": "5", "snapshots": snapshots})).unwrap();
    let audit = Audit::of(&Source::from_bytes(text), Some("s"), &Options::default()).unwrap();
    let found = index_findings(&audit, 100);
    let codes: Vec<&str> = found.iter().map(|f| f.rule.code).collect();
    // All texts are the same, so that the undo is right for once.
    assert_eq!(codes, ["K805", "K807", "K811", "K815"]);
    let quota = found.iter().find(|f| f.rule.code == "K811").unwrap();
    assert_eq!(quota.cause.map(|c| c.to_string()).as_deref(), Some("K805"));
    assert!(quota.facts.contains(&("entries", Fact::Number(60))));
}

#[test]
fn replaced_characters_are_told_once_a_file() {
    let files = json!([{"filePath": "/bin", "existedBefore": true, "type": "full", "content": "a\u{fffd}b"}]);
    let again = json!([{"filePath": "/bin", "existedBefore": true, "type": "diff", "diff": {"ops": [
        {"type": "keep", "lines": ["a\u{fffd}b"]}, {"type": "add", "lines": ["c"]}]}}]);
    let text = serde_json::to_vec(&json!({"nextId": 3, "snapshots": [{"id": "s1", "files": files},
        {"id": "s2", "files": again}]}))
    .unwrap();
    let audit = Audit::of(&Source::from_bytes(text), None, &Options::default()).unwrap();
    let found = index_findings(&audit, 100);
    let lossy: Vec<_> = found.iter().filter(|f| f.rule.code == "K810").collect();
    assert_eq!((lossy.len(), lossy[0].severity), (1, Severity::Warning));
}
