//! sid-code: its cleaning heals some of it, and its own check decides on pairs whatever the provider.

use super::build::{Lines, call, result, text, thinking};
use super::{judge, judge_session, session};
use serde_json::json;
use sid_audit::agents::SID;
use sid_audit::request::tail;
use sid_audit::request::{CleanupPass, Interruption};
use sid_audit::session::Shape;
use sid_audit::verdict::ApiVerdict::{Healed, Ok as Fine, Refused};

fn start(provider: &str) -> Lines {
    Lines::default().start(provider).sid("user", json!([text("go")]))
}

fn end(lines: Lines) -> Vec<u8> {
    lines.sid("user", json!([text("and?")])).sid("assistant", json!([text("done")])).bytes()
}

#[test]
fn healthy_sessions_of_a_known_and_an_unknown_provider() {
    let whole = |p| end(start(p).sid("assistant", json!([call("c", "ls")])).sid("user", json!([result("c")])));
    judge(SID, whole("anthropic")).says(Fine, &[]);
    judge(SID, whole("demo")).says(Fine, &[]);
}

#[test]
fn an_open_call_is_dropped_by_the_cleaning() {
    for provider in ["anthropic", "demo"] {
        let judged = judge(SID, end(start(provider).sid("assistant", json!([text("x"), call("c", "bash")]))));
        judged.says(Healed, &["T301 warning@3"]);
        assert_eq!(judged.codes, ["T301"]);
    }
}

#[test]
fn a_dangling_result_is_taken_out_of_each_request() {
    for provider in ["anthropic", "demo"] {
        let judged = judge(SID, end(start(provider).sid("user", json!([result("c")]))));
        judged.says(Fine, &[]).has("T302");
    }
}

#[test]
fn the_cleaning_itself_leaves_half_a_pair() {
    let nameless = json!({"type": "tool_use", "id": "c", "name": "", "input": {}});
    let judged = judge(SID, end(start("demo").sid("assistant", json!([nameless])).sid("user", json!([result("c")]))));
    judged.says(Refused, &["T306 error@3"]);
    // A call and a result without ids go together, and nothing is left behind.
    let call = json!({"type": "tool_use", "name": "ls", "input": {}});
    let answer = json!({"type": "tool_result", "content": "x"});
    let both = |p| end(start(p).sid("assistant", json!([call])).sid("user", json!([answer])));
    judge(SID, both("demo")).says(Fine, &["T306 warning@3", "T306 warning@4"]);
    judge(SID, both("anthropic")).says(Healed, &["T306 warning@3", "T306 warning@4"]);
}

#[test]
fn order_and_repeats_depend_on_the_provider() {
    let lines = |p| {
        end(start(p)
            .sid("assistant", json!([call("c", "ls"), call("c", "ls")]))
            .sid("user", json!([result("c"), result("c")]))
            .sid("user", json!([result("d")]))
            .sid("assistant", json!([call("d", "ls")])))
    };
    judge(SID, lines("demo")).says(Fine, &["T303 warning@3", "T304 warning@4", "T305 warning@5"]);
    judge(SID, lines("anthropic")).says(Refused, &["T303 error@3", "T304 error@4", "T305 error@5"]);
}

#[test]
fn an_id_called_again_in_a_later_turn() {
    let lines = |p| {
        end(start(p)
            .sid("assistant", json!([call("c", "ls")]))
            .sid("user", json!([result("c")]))
            .sid("assistant", json!([call("c", "ls")]))
            .sid("user", json!([result("c")])))
    };
    judge(SID, lines("kimi")).says(Fine, &[]);
    judge(SID, lines("anthropic")).says(Refused, &["T303 error@5"]);
}

#[test]
fn messages_that_the_cleaning_drops() {
    let judged = judge(SID, end(start("anthropic").sid("assistant", json!([thinking("hm")]))));
    judged.says(Healed, &["M404 warning@3"]);
    judge(SID, end(start("anthropic").sid("assistant", json!([])))).says(Healed, &["M403 warning@3"]);
    judge(SID, end(start("demo").sid("assistant", json!([])))).says(Fine, &["M403 warning@3"]);
    judge(SID, end(start("anthropic").sid("assistant", json!([text(" ")])))).says(Refused, &["M402 error@3"]);
    let limit = json!({"type": "assistant_message", "stopReason": "max_tokens",
        "message": {"role": "assistant", "content": [thinking("hm")]}});
    judge(SID, end(start("anthropic").record(limit))).says(Fine, &[]);
}

#[test]
fn content_on_which_the_cleaning_throws() {
    let null = json!({"type": "user_message", "message": {"role": "user", "content": null}});
    let bytes = end(start("demo").record(null));
    judge(SID, bytes.clone()).says(Refused, &["M414 error@3"]);
    let s = session(SID, Shape::Main, bytes);
    assert_eq!((s.request.throws, s.request.cleaned_count()), (Some(2), 0));
}

#[test]
fn a_permission_mode_that_is_gone() {
    let with = |mode: &str| {
        let row = json!({"type": "user_message", "message": {"role": "user", "content": [text("x")]}, "permissionMode": mode});
        judge(SID, start("anthropic").record(row).sid("assistant", json!([text("ok")])).bytes())
    };
    assert!(!with("plan").has("M415"));
    assert!(with("yolo").says(Fine, &[]).has("M415"));
    let inside = json!({"type": "user_message", "message": {"role": "user", "content": [text("x")], "_meta": {"permissionMode": "ask"}}});
    assert!(judge(SID, start("anthropic").record(inside).sid("assistant", json!([text("ok")])).bytes()).has("M415"));
}

#[test]
fn layers_are_counted_one_by_one() {
    let lines = start("demo")
        .sid("assistant", json!([thinking("a"), call("open", "bash")]))
        .sid("assistant", json!([call("open2", "bash"), text("x")]))
        .sid("assistant", json!([]))
        .sid("user", json!([text("unanswered")]));
    let s = session(SID, Shape::Main, lines.bytes());
    let sent = &s.request;
    assert_eq!(sent.dropped_by(CleanupPass::OpenCalls), (0, 2, vec![2, 3]));
    assert_eq!(sent.dropped_by(CleanupPass::ThinkingOnly), (1, 0, vec![2]));
    assert_eq!(sent.dropped_by(CleanupPass::Empty), (1, 0, vec![4]));
    assert_eq!(sent.interruption, Interruption::Prompt(5));
    assert_eq!(sent.cleaned_count(), 2);
}

#[test]
fn results_of_another_role_count_for_nothing() {
    let odd = json!({"type": "tool_result", "message": {"role": "tool", "content": [result("gone")]}});
    let lines = start("demo").record(odd).sid("assistant", json!([text("a")])).sid("assistant", json!([text("b")]));
    let s = session(SID, Shape::Main, lines.bytes());
    let whole = |one: &sid_audit::request::Integrity| one.orphans.is_empty() && one.dangling.is_empty();
    assert!(s.request.integrity.as_ref().is_some_and(|[raw, left]| whole(raw) && whole(left)));
    assert_eq!(tail::safe_tail(&s.session.facts, &s.request, 3), 1);
    assert!(!judge_session(&s, false).has("T302"));
}

#[test]
fn a_sidechain_is_put_together_by_its_own_rules() {
    let side = [
        r#"{"type":"sidechain_start","sessionId":"S","agentId":"a","agentType":"t","description":"d","model":"m","timestamp":"2026-03-01T09:00:00.000Z"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"read","input":{}},{"type":"tool_use","id":"c2","name":"read","input":{}}],"turn":1,"timestamp":"2026-03-01T09:00:01.000Z"}"#,
        r#"{"type":"message","role":"tool","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}],"turn":1,"timestamp":"2026-03-01T09:00:02.000Z"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"}],"turn":2,"timestamp":"2026-03-01T09:00:03.000Z"}"#,
    ];
    let s = session(SID, Shape::Main, (side.join("\n") + "\n").into_bytes());
    assert_eq!(s.session.shape, Shape::Sidechain);
    assert!(s.request.placeholder);
    assert_eq!(s.request.cleaned_count(), 2);
    judge_session(&s, false).says(Healed, &["T301 warning@2"]);
    // One that reached its end mark is never sent again.
    let end = r#"{"type":"sidechain_end","status":"aborted","timestamp":"2026-03-01T09:00:04.000Z"}"#;
    let ended = session(SID, Shape::Main, (side.join("\n") + "\n" + end + "\n").into_bytes());
    assert!(judge_session(&ended, false).says(Fine, &[]).has("T301"));
}
