//! L109: as bad as what the agent would send of it.

use super::build::{Lines, call, result, text};
use super::session;
use serde_json::json;
use sid_audit::agents::{CLAUDE, OPENCLAW, PI, SID};
use sid_audit::identity::AgentId;
use sid_audit::rules::{Collector, Context, api_verdict, lines as line_rules};
use sid_audit::session::Shape;
use sid_audit::verdict::{ApiVerdict, ResumeVerdict};

/// `HALF` in a text becomes half a pair.
fn bytes(lines: Lines) -> Vec<u8> {
    String::from_utf8(lines.bytes()).unwrap().replace("HALF", "\\ud83d").into_bytes()
}

/// What L109 says, by line: its severity and effect; and the verdict.
fn judge(agent_id: AgentId, lines: Lines) -> (Vec<(u64, &'static str, String)>, ApiVerdict) {
    let session = session(agent_id, Shape::Main, bytes(lines));
    let context = Context::new(&session, false, 1_773_100_800_000, 20);
    let mut found = Collector::new(20);
    line_rules::check(&context, &mut found);
    let found = found.finish();
    let (verdict, _) = api_verdict::api(&context, ResumeVerdict::Full, &found);
    let halves = found.into_iter().filter(|f| f.rule.code == "L109");
    (halves.map(|f| (f.place.line.unwrap(), f.severity.name(), f.effect)).collect(), verdict)
}

fn severities(agent_id: AgentId, lines: Lines) -> Vec<(u64, &'static str)> {
    judge(agent_id, lines).0.into_iter().map(|(line, severity, _)| (line, severity)).collect()
}

#[test]
fn in_what_is_sent_it_is_refused() {
    let lines = Lines::default().user(json!("q HALF")).says("m1", json!([text("ok")]));
    let (found, verdict) = judge(CLAUDE, lines);
    assert_eq!((found[0].1, verdict), ("error", ApiVerdict::Refused));
    let keyed = json!([{"type": "tool_use", "id": "c1", "name": "Bash", "input": {"HALF": "HALF"}}]);
    let lines =
        Lines::default().user(json!("q")).says("m1", keyed).user(json!([result("c1")])).says("m2", json!([text("ok")]));
    assert_eq!(severities(CLAUDE, lines), [(2, "error"), (2, "error")]);
    let lines =
        Lines::default().start("anthropic").sid("user", json!([text("HALF")])).sid("assistant", json!([text("ok")]));
    assert_eq!(severities(SID, lines), [(2, "error")]);
}

#[test]
fn beside_what_is_sent_it_hinders_strict_readers_only() {
    // In a field of the client beside the message, and on a branch that was left.
    let beside = json!({"type": "user", "toolUseResult": {"stdout": "HALF"},
        "message": {"role": "user", "content": [result("c1")]}});
    let lines = Lines::default()
        .user(json!("q"))
        .says("m1", json!([call("c1", "Bash")]))
        .claude(beside)
        .says("m2", json!([text("ok")]));
    let (found, verdict) = judge(CLAUDE, lines);
    assert_eq!((found[0].0, found[0].1, verdict), (3, "warning", ApiVerdict::Ok));
    assert!(found[0].2.contains("does not send it"));
    let left = json!({"type": "user", "uuid": "left", "parentUuid": "id-2",
        "message": {"role": "user", "content": "HALF"}});
    let back = json!({"type": "user", "parentUuid": "id-2", "message": {"role": "user", "content": "again"}});
    let lines = Lines::default()
        .user(json!("q"))
        .says("m1", json!([text("ok")]))
        .claude(left)
        .claude(back)
        .says("m2", json!([text("ok")]));
    assert_eq!(severities(CLAUDE, lines), [(3, "warning")]);
    // sid-code leaves an open call out, and with it the message that is nothing else.
    let open = json!([{"type": "tool_use", "id": "c9", "name": "bash", "input": {"command": "HALF"}}]);
    let lines = Lines::default()
        .start("anthropic")
        .sid("user", json!([text("q")]))
        .sid("assistant", open)
        .sid("user", json!([text("and?")]))
        .sid("assistant", json!([text("ok")]));
    assert_eq!(severities(SID, lines), [(3, "warning")]);
}

#[test]
fn of_another_provider_it_is_not_known() {
    let lines = Lines::default().start("demo").sid("user", json!([text("HALF")])).sid("assistant", json!([text("ok")]));
    let (found, verdict) = judge(SID, lines);
    assert_eq!((found[0].1, verdict), ("warning", ApiVerdict::Ok));
    assert!(found[0].2.contains("not known here"));
}

#[test]
fn pi_takes_it_out_before_it_sends() {
    for agent_id in [PI, OPENCLAW] {
        let lines = Lines::default().header().asks("q HALF").answers(json!([text("ok")]), "stop");
        let (found, verdict) = judge(agent_id, lines);
        assert_eq!((found[0].1, verdict), ("warning", ApiVerdict::Healed));
        assert!(found[0].2.contains("takes it out before it sends"), "{found:?}");
    }
}
