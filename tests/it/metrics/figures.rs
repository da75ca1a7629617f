//! Totals that are known beforehand.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::home::{SECOND, home};
use super::json as report;
use crate::support::run::findings;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/usage").join(name)
}

#[test]
fn every_total_of_a_store_that_was_written_by_hand() {
    let (_temp, home) = home(false);
    let metrics = report("metrics", &[], &home);
    let at = |path: &str| metrics.pointer(path).cloned().unwrap_or(Value::Null);
    for (path, want) in [
        ("/scope/files", json!(2)),
        ("/scope/projects", json!(2)),
        ("/scope/records", json!(17)),
        (
            "/records",
            json!({"session_start": 2, "user_message": 6, "assistant_message": 6, "metadata": 2, "session_end": 1}),
        ),
        ("/metadata", json!({"usage_stats": 1, "file_changes": 1})),
        ("/user_records/prompts", json!(3)),
        ("/user_records/tool_results", json!(3)),
        ("/user_records/first_block", json!({"text": 3, "tool_result": 3})),
        ("/tool_results_per_record", json!({"1": 2, "2": 1})),
        ("/parallel/assistant_records_with_several_calls", json!(1)),
        ("/parallel/answered_in_one_record", json!(1)),
        ("/parallel/spread", json!(0)),
        ("/session_ends", json!({"with": 1, "without": 1, "last_line": 1})),
        ("/readers/javascript/records", json!(17)),
        ("/readers/javascript/bad", json!(0)),
        // It stops at line 4 of the second file, behind three records.
        ("/readers/strict_per_file/records", json!(13)),
        ("/readers/strict_per_file/user_records/prompts", json!(2)),
        ("/readers/strict_per_file/user_records/tool_results", json!(2)),
        ("/readers/strict_per_file/stops/0/line", json!(4)),
        ("/readers/single_stream/records", json!(13)),
        ("/readers/single_stream/stops/0/line", json!(4)),
        // Each result once; what quotes one is escaped and not found.
        ("/readers/raw/hits", json!(4)),
        ("/readers/raw/record_level", json!(0)),
        ("/readers/raw/nested", json!(4)),
        ("/checkpoints/indexes", json!(1)),
        ("/checkpoints/snapshots", json!(1)),
        ("/checkpoints/entries", json!({"full": 1, "compressed": 0, "diff": 0})),
    ] {
        assert_eq!(at(path), want, "{path}");
    }
    assert!(at("/readers/strict_per_file/stops/0/path").as_str().unwrap().ends_with(&format!("{SECOND}.jsonl")));
    for check in metrics["self_check"].as_array().unwrap() {
        assert_eq!((&check["expected"], &check["found"]), (&json!(2), &json!(2)), "{check}");
    }
}

#[test]
fn a_hit_rate_is_of_flows_and_the_last_prompt_is_a_stock() {
    let (_temp, home) = home(false);
    let metrics = report("metrics", &[], &home);
    let rows = metrics["usage"].as_array().unwrap();
    let totals = rows.iter().find(|row| row["source"] == "usage_stats" && row["session"].is_string()).unwrap();
    assert_eq!(totals["stock"], json!({"last_prompt": 33275, "last_input": 33275}));
    assert_eq!(totals["flow"]["prompt"], 100_381);
    let hit = &totals["ratios"]["cache_hit"];
    assert_eq!(
        (&hit["numerator"], &hit["denominator"], &hit["kind"]),
        (&json!(61888), &json!(100_381), &json!("flow"))
    );
    // The other session wrote no running totals: its responses are added up.
    let messages = rows.iter().find(|row| row["source"] == "messages" && row["session"].is_string()).unwrap();
    assert_eq!(messages["requests"], 3);
    assert_eq!(messages["flow"], json!({"prompt": 6300, "input": 6300, "cache_read": 4100, "output": 150}));
    assert_eq!(messages["definition"], "input includes cached tokens");
    let scan = report("scan", &[], &home);
    let mixed: Vec<&Value> = findings(&scan).into_iter().filter(|f| f["code"] == "U601").collect();
    assert_eq!(mixed.len(), 1);
    assert_eq!(mixed[0]["severity"], "info");
    let effect = mixed[0]["effect"].as_str().unwrap();
    assert!(effect.contains("186 %") && effect.contains("61.7 %"), "{effect}");
}

#[test]
fn a_scan_shows_the_figures_of_metrics_and_fields() {
    let (_temp, home) = home(false);
    let (scan, metrics, fields) =
        (report("scan", &[], &home), report("metrics", &[], &home), report("fields", &[], &home));
    assert_eq!(scan["totals"]["usage"], metrics["usage_total"]);
    assert_eq!(scan["totals"]["records"], metrics["records"]);
    let verdicts = |list: &Value| -> Vec<String> {
        let zero = list.as_array().unwrap().iter().filter(|f| f.get("occurrences").is_none_or(|n| n == 0));
        zero.map(|f| format!("{} {} {} {}", f["path"], f["kind"], f["cause_count"], f["verdict"])).collect()
    };
    let zero = verdicts(&fields["fields"]);
    assert!(zero.len() > 20);
    assert_eq!(verdicts(&scan["totals"]["zero_fields"]), zero);
}

#[test]
fn a_response_is_counted_once_however_many_rows_carry_its_usage() {
    // Three rows of one response, each with the whole usage; rows that grow while it streams; a gateway without request
    // ids.
    for (file, output) in
        [("75-usage-repeated-per-block", 50), ("76-usage-streaming-partials", 159), ("77-usage-no-request-id", 5)]
    {
        let metrics = report("metrics", &[], &data(&format!("{file}.jsonl")));
        let row = &metrics["usage"][0];
        assert_eq!((&row["requests"], &row["flow"]["output"]), (&json!(1), &json!(output)), "{file}");
        assert_eq!(metrics["usage_total"]["flow"]["output"], output, "{file}");
    }
}

#[test]
fn a_copy_of_a_session_adds_nothing_to_the_store() {
    let (temp, _home) = home(false);
    let text = std::fs::read(data("76-usage-streaming-partials.jsonl")).unwrap();
    let folder = temp.join("claude/projects/-home-dev-demo");
    for name in ["5e550000-0000-4000-8000-000000000001", "5e550000-0000-4000-8000-000000000002"] {
        crate::support::temp::write(&folder.join(format!("{name}.jsonl")), &text);
    }
    let metrics = report("metrics", &[], &temp.join("claude"));
    assert_eq!((&metrics["scope"]["files"], &metrics["usage_total"]["requests"]), (&json!(2), &json!(1)));
    assert_eq!(metrics["usage_total"]["flow"]["output"], 159);
    assert_eq!(metrics["usage_total"]["copied_responses"], 1);
}
