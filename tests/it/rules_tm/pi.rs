//! pi pairs by turn and makes up what is missing; OpenClaw mends more.

use super::build::{Lines, pi_call, text};
use super::{fact, judge};
use serde_json::json;
use sid_audit::dialect::Dialect::{Openclaw, Pi};
use sid_audit::finding::Fact;
use sid_audit::verdict::ApiVerdict::{Healed, Ok as Fine, Refused};

fn start() -> Lines {
    Lines::default().header().asks("q")
}

fn called(ids: &[&str]) -> Lines {
    let calls: Vec<_> = ids.iter().map(|id| pi_call(id, "read")).collect();
    start().answers(json!(calls), "toolUse")
}

fn ends(lines: Lines) -> Vec<u8> {
    lines.asks("and?").answers(json!([text("ok")]), "stop").bytes()
}

#[test]
fn ids_are_numbered_anew_in_each_turn() {
    let lines =
        called(&["exec_0"]).tool("exec_0").answers(json!([pi_call("exec_0", "read")]), "toolUse").tool("exec_0");
    judge(Pi, ends(lines)).is_silent();
    let lines =
        called(&["exec_0"]).tool("exec_0").answers(json!([pi_call("exec_0", "read")]), "toolUse").tool("exec_0");
    judge(Openclaw, ends(lines)).says(Refused, &["T303 error@5"]);
}

#[test]
fn an_open_call_gets_a_made_up_result() {
    judge(Pi, called(&["a", "b"]).tool("a").bytes()).says(Healed, &["T301 warning@3"]);
    let judged = judge(Pi, ends(called(&["a", "b"]).tool("a")));
    judged.says(Healed, &["T301 warning@3"]);
}

#[test]
fn results_out_of_place() {
    judge(Pi, ends(start().answers(json!([text("x")]), "stop").tool("z"))).says(Refused, &["T302 error@4"]);
    judge(Openclaw, ends(start().answers(json!([text("x")]), "stop").tool("z"))).says(Healed, &["T302 warning@4"]);
    judge(Pi, ends(called(&["a"]).tool("a").tool("a"))).says(Refused, &["T304 error@5"]);
    judge(Openclaw, ends(called(&["a"]).tool("a").tool("a"))).says(Healed, &["T304 warning@5"]);
    judge(Pi, ends(called(&["a"]).asks("wait").tool("a"))).says(Refused, &["T305 error@5"]);
    judge(Openclaw, ends(called(&["a"]).asks("wait").tool("a"))).says(Healed, &["T305 warning@5"]);
    judge(Pi, ends(called(&["a", "a"]).tool("a"))).says(Refused, &["T303 error@3"]);
}

#[test]
fn a_failed_turn_and_its_retry() {
    let retry = start()
        .answers(json!([pi_call("a", "read")]), "error")
        .answers(json!([pi_call("a", "read")]), "toolUse")
        .tool("a");
    judge(Pi, ends(retry)).is_silent();
    let stored = start().answers(json!([pi_call("a", "read")]), "aborted").tool("a");
    let judged = judge(Pi, ends(stored));
    judged.says(Refused, &["T309 error@4"]);
    assert_eq!(fact(judged.one("T309"), "failed_turn_line"), Some(&Fact::Number(3)));
    assert!(judge(Pi, ends(start().answers(json!([]), "error"))).says(Fine, &[]).has("M416"));
}

#[test]
fn a_kept_range_that_begins_with_a_result() {
    let compacted = |first: &str| {
        let lines = called(&["a"]).tool("a").answers(json!([text("x")]), "stop");
        ends(lines.entry(json!({"type": "compaction", "summary": "s", "firstKeptEntryId": first, "tokensBefore": 1})))
    };
    judge(Pi, compacted("id-3")).is_silent();
    let judged = judge(Pi, compacted("id-4"));
    judged.says(Refused, &["T308 error@4"]);
    assert_eq!(judged.one("T308").cause.map(|c| c.to_string()).as_deref(), Some("cut by a boundary"));
}

#[test]
fn a_context_edit_leaves_half_a_pair() {
    let edit = |target: &str, replacement: serde_json::Value| {
        ends(
            called(&["a"])
                .tool("a")
                .entry(json!({"type": "context_edit", "targetId": target, "replacement": replacement})),
        )
    };
    judge(Pi, edit("id-3", json!(null))).says(Refused, &["T308 error@4"]);
    judge(Pi, edit("id-4", json!(null))).says(Healed, &["T308 warning@3"]);
    // Other content in the place of the call takes it away as well.
    judge(Pi, edit("id-3", json!({"content": [text("short")]}))).says(Refused, &["T308 error@4"]);
    judge(Pi, edit("id-4", json!({"content": [text("short")]}))).is_silent();
}

#[test]
fn what_pi_leaves_out_or_takes_for_something_else() {
    judge(Pi, Lines::default().header().asks("  ").answers(json!([text("x")]), "stop").bytes())
        .says(Healed, &["M402 warning@2"]);
    let null = json!({"type": "message", "message": {"role": "assistant", "content": null, "provider": "anthropic",
        "model": "claude-opus-4-6", "stopReason": "stop"}});
    judge(Pi, ends(start().entry(null))).says(Healed, &["M414 warning@3"]);
    let role = |role: serde_json::Value| {
        ends(start().entry(json!({"type": "message", "message": {"role": role, "content": [text("x")]}})))
    };
    judge(Pi, role(json!(null))).says(Healed, &["M414 warning@3"]);
    assert!(judge(Pi, role(json!("narrator"))).is_silent().has("M414"));
    judge(Pi, role(json!("developer"))).is_silent();
    let input = |arguments: serde_json::Value| {
        let call = json!({"type": "toolCall", "id": "a", "name": "read", "arguments": arguments});
        judge(Pi, ends(start().answers(json!([call]), "toolUse").tool("a")))
    };
    input(json!("{\"path\": \"no")).says(Refused, &["T307 error@3"]);
    input(json!(null)).says(Healed, &["T307 warning@3"]);
    let unsigned = json!({"type": "thinking", "thinking": "hm"});
    judge(Pi, ends(start().answers(json!([unsigned, text("x")]), "stop"))).says(Healed, &["M406 warning@3"]);
}
