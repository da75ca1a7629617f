//! pi pairs by turn and makes up what is missing; OpenClaw mends more.

use super::build::{Lines, pi_call, text};
use super::{fact, judge};
use serde_json::json;
use sid_audit::agents::{OPENCLAW, PI};
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
    judge(PI, ends(lines)).is_silent();
    let lines =
        called(&["exec_0"]).tool("exec_0").answers(json!([pi_call("exec_0", "read")]), "toolUse").tool("exec_0");
    judge(OPENCLAW, ends(lines)).says(Refused, &["T303 error@5"]);
}

#[test]
fn an_open_call_gets_a_made_up_result() {
    judge(PI, called(&["a", "b"]).tool("a").bytes()).says(Healed, &["T301 warning@3"]);
    let judged = judge(PI, ends(called(&["a", "b"]).tool("a")));
    judged.says(Healed, &["T301 warning@3"]);
}

#[test]
fn results_out_of_place() {
    judge(PI, ends(start().answers(json!([text("x")]), "stop").tool("z"))).says(Refused, &["T302 error@4"]);
    judge(OPENCLAW, ends(start().answers(json!([text("x")]), "stop").tool("z"))).says(Healed, &["T302 warning@4"]);
    judge(PI, ends(called(&["a"]).tool("a").tool("a"))).says(Refused, &["T304 error@5"]);
    judge(OPENCLAW, ends(called(&["a"]).tool("a").tool("a"))).says(Healed, &["T304 warning@5"]);
    judge(PI, ends(called(&["a"]).asks("wait").tool("a"))).says(Refused, &["T305 error@5"]);
    judge(OPENCLAW, ends(called(&["a"]).asks("wait").tool("a"))).says(Healed, &["T305 warning@5"]);
    judge(PI, ends(called(&["a", "a"]).tool("a"))).says(Refused, &["T303 error@3"]);
}

#[test]
fn a_failed_turn_and_its_retry() {
    let retry = start()
        .answers(json!([pi_call("a", "read")]), "error")
        .answers(json!([pi_call("a", "read")]), "toolUse")
        .tool("a");
    judge(PI, ends(retry)).is_silent();
    let stored = start().answers(json!([pi_call("a", "read")]), "aborted").tool("a");
    let judged = judge(PI, ends(stored));
    judged.says(Refused, &["T309 error@4"]);
    assert_eq!(fact(judged.one("T309"), "failed_turn_line"), Some(&Fact::Number(3)));
    assert!(judge(PI, ends(start().answers(json!([]), "error"))).says(Fine, &[]).has("M416"));
}

#[test]
fn a_kept_range_that_begins_with_a_result() {
    let compacted = |first: &str| {
        let lines = called(&["a"]).tool("a").answers(json!([text("x")]), "stop");
        ends(lines.entry(json!({"type": "compaction", "summary": "s", "firstKeptEntryId": first, "tokensBefore": 1})))
    };
    judge(PI, compacted("id-3")).is_silent();
    let judged = judge(PI, compacted("id-4"));
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
    judge(PI, edit("id-3", json!(null))).says(Refused, &["T308 error@4"]);
    judge(PI, edit("id-4", json!(null))).says(Healed, &["T308 warning@3"]);
    // Other content in the place of the call takes it away as well.
    judge(PI, edit("id-3", json!({"content": [text("short")]}))).says(Refused, &["T308 error@4"]);
    judge(PI, edit("id-4", json!({"content": [text("short")]}))).is_silent();
}

#[test]
fn what_pi_leaves_out_or_takes_for_something_else() {
    judge(PI, Lines::default().header().asks("  ").answers(json!([text("x")]), "stop").bytes())
        .says(Healed, &["M402 warning@2"]);
    let null = json!({"type": "message", "message": {"role": "assistant", "content": null, "provider": "anthropic",
        "model": "claude-opus-4-6", "stopReason": "stop"}});
    judge(PI, ends(start().entry(null))).says(Healed, &["M414 warning@3"]);
    let role = |role: serde_json::Value| {
        ends(start().entry(json!({"type": "message", "message": {"role": role, "content": [text("x")]}})))
    };
    judge(PI, role(json!(null))).says(Healed, &["M414 warning@3"]);
    assert!(judge(PI, role(json!("narrator"))).is_silent().has("M414"));
    judge(PI, role(json!("developer"))).is_silent();
    let input = |arguments: serde_json::Value| {
        let call = json!({"type": "toolCall", "id": "a", "name": "read", "arguments": arguments});
        judge(PI, ends(start().answers(json!([call]), "toolUse").tool("a")))
    };
    input(json!("{\"path\": \"no")).says(Refused, &["T307 error@3"]);
    input(json!(null)).says(Healed, &["T307 warning@3"]);
    let unsigned = json!({"type": "thinking", "thinking": "hm"});
    judge(PI, ends(start().answers(json!([unsigned, text("x")]), "stop"))).says(Healed, &["M406 warning@3"]);
}
