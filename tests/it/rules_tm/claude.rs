//! Claude Code: rows of one response are merged, and what is stored is sent.

use super::build::{Lines, call, result, text, thinking};
use super::{fact, judge, judge_session, session, word};
use serde_json::{Value, json};
use sid_audit::agents::CLAUDE;
use sid_audit::finding::{Fact, Severity};
use sid_audit::request::{autopsy, content_span, pairing::Pairing};
use sid_audit::rules::Examined;
use sid_audit::session::Shape;
use sid_audit::verdict::ApiVerdict::{Healed, InFlight, Ok as Fine, Refused, Unknown};

fn hello() -> Lines {
    Lines::default().user(json!("hello"))
}

/// A user, a call, and then what follows.
fn called() -> Lines {
    hello().says("m1", json!([call("c1", "Bash")]))
}

#[test]
fn a_whole_turn_is_silent() {
    let lines = called().user(json!([result("c1")])).says("m2", json!([text("ok")]));
    judge(CLAUDE, lines.bytes()).is_silent();
}

#[test]
fn results_may_come_while_the_response_still_streams() {
    let lines = hello()
        .says("m1", json!([thinking("")]))
        .says("m1", json!([call("c1", "Read")]))
        .user(json!([result("c1")]))
        .says("m1", json!([call("c2", "Read")]))
        .user(json!([result("c2")]))
        .says("m2", json!([text("ok")]));
    judge(CLAUDE, lines.bytes()).is_silent();
}

#[test]
fn an_open_call_at_the_end_is_healed_and_in_mid_chain_refused() {
    let tail = judge(CLAUDE, called().bytes());
    tail.says(Healed, &["T301 warning@2"]);
    let finding = tail.one("T301");
    assert_eq!(finding.cause.map(|c| c.to_string()).as_deref(), Some("killed in the run"));
    assert_eq!(word(finding, "side_effect"), "outside or unknown");
    assert_eq!(word(finding, "call_id"), "c1");
    let mid = judge(CLAUDE, called().user(json!("stop")).says("m2", json!([text("ok")])).bytes());
    mid.says(Refused, &["T301 error@2"]);
    assert_eq!(mid.codes, ["T301"]);
}

#[test]
fn two_of_three_parallel_calls_answered() {
    let lines = hello()
        .says("m1", json!([call("c1", "Read"), call("c2", "Edit"), call("c3", "Bash")]))
        .user(json!([result("c1")]))
        .user(json!([result("c3")]))
        .says("m2", json!([text("ok")]));
    let judged = judge(CLAUDE, lines.bytes());
    judged.says(Refused, &["T301 error@2"]);
    assert_eq!(word(judged.one("T301"), "side_effect"), "file write");
}

#[test]
fn a_live_session_is_in_flight() {
    let session = session(CLAUDE, Shape::Main, called().bytes());
    let judged = judge_session(&session, true);
    judged.says(InFlight, &[]);
    assert_eq!(judged.one("T301").severity, Severity::Info);
    assert_eq!(word(judged.one("T301"), "state"), "in flight");
}

#[test]
fn an_edit_with_and_without_a_snapshot() {
    let edit = |path: &str| json!({"type": "tool_use", "id": "c1", "name": "Edit", "input": {"file_path": path}});
    let snapshot = r#"{"type":"file-history-snapshot","messageId":"id-1","snapshot":{"messageId":"id-1","trackedFileBackups":{"src/a.rs":{"backupFileName":"x@v1","version":1}}}}"#;
    for (path, kept) in [("/w/src/a.rs", true), ("/w/src/b.rs", false)] {
        let lines = hello().raw(snapshot).says("m1", json!([edit(path)]));
        let judged = judge(CLAUDE, lines.bytes());
        assert_eq!(fact(judged.one("T301"), "snapshot"), Some(&Fact::Flag(kept)), "{path}");
    }
}

#[test]
fn a_result_without_its_call() {
    let judged = judge(CLAUDE, hello().user(json!([result("gone")])).says("m1", json!([text("ok")])).bytes());
    judged.says(Refused, &["T302 error@2"]);
    assert_eq!(judged.one("T302").cause.map(|c| c.to_string()).as_deref(), Some("nowhere"));
}

#[test]
fn the_call_lies_before_a_boundary() {
    let lines = called()
        .claude(json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null, "compactMetadata": {}}))
        .claude(json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "Summary."}}))
        .user(json!([result("c1")]))
        .says("m2", json!([text("ok")]));
    let judged = judge(CLAUDE, lines.bytes());
    judged.says(Refused, &["T302 error@5"]);
    assert_eq!(judged.one("T302").cause.map(|c| c.to_string()).as_deref(), Some("cut by a boundary"));
    assert_eq!(fact(judged.one("T302"), "other_half_line"), Some(&Fact::Number(2)));
}

#[test]
fn the_call_is_in_a_damaged_line() {
    let whole = called().user(json!([result("c1")])).says("m2", json!([text("ok")]));
    let mut out = whole.out;
    let cut = out[1].len() - 9;
    out[1].truncate(cut);
    let judged = judge(CLAUDE, (out.join("\n") + "\n").into_bytes());
    assert_eq!(judged.one("T302").cause.map(|c| c.to_string()).as_deref(), Some("L106@2"));
}

#[test]
fn one_id_for_two_calls() {
    let lines = called()
        .user(json!([result("c1")]))
        .says("m2", json!([call("c1", "Bash")]))
        .user(json!([result("c1")]))
        .says("m3", json!([text("ok")]));
    judge(CLAUDE, lines.bytes()).says(Refused, &["T303 error@4"]);
}

#[test]
fn two_results_for_one_call() {
    let lines = called().user(json!([result("c1")])).user(json!([result("c1")])).says("m2", json!([text("ok")]));
    judge(CLAUDE, lines.bytes()).says(Refused, &["T304 error@4"]);
}

#[test]
fn a_result_behind_another_turn_or_before_its_call() {
    let response =
        called().says("m2", json!([text("meanwhile")])).user(json!([result("c1")])).says("m3", json!([text("ok")]));
    judge(CLAUDE, response.bytes()).says(Refused, &["T305 error@4"]);
    let prompt = called().user(json!("and?")).user(json!([result("c1")])).says("m3", json!([text("ok")]));
    judge(CLAUDE, prompt.bytes()).says(Refused, &["T305 error@4"]);
    let early =
        hello().user(json!([result("c1")])).says("m1", json!([call("c1", "Bash")])).says("m2", json!([text("ok")]));
    judge(CLAUDE, early.bytes()).says(Refused, &["T305 error@2"]);
    // Meta rows, own commands and interrupt markers between are no turn.
    let meta = called()
        .claude(json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "aside"}}))
        .user(json!([result("c1")]))
        .user(json!([text("[Request interrupted by user]")]))
        .user(json!("go on"))
        .says("m2", json!([text("ok")]));
    judge(CLAUDE, meta.bytes()).is_silent();
}

#[test]
fn incomplete_calls_and_inputs() {
    let no_id = json!({"type": "tool_use", "name": "Bash", "input": {}});
    let judged = judge(
        CLAUDE,
        hello().says("m1", json!([no_id, text("x")])).user(json!("?")).says("m2", json!([text("ok")])).bytes(),
    );
    judged.says(Refused, &["T306 error@2"]);
    let text_input = json!({"type": "tool_use", "id": "c1", "name": "Bash", "input": "ls"});
    let lines = hello().says("m1", json!([text_input])).user(json!([result("c1")])).says("m2", json!([text("ok")]));
    judge(CLAUDE, lines.bytes()).says(Refused, &["T307 error@2"]);
}

#[test]
fn a_boundary_that_keeps_half_a_pair() {
    let boundary = |uuids: Value| {
        called()
            .user(json!([result("c1")]))
            .claude(json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null,
                "compactMetadata": {"preservedMessages": {"uuids": uuids}}}))
            .claude(
                json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": "Summary."}}),
            )
            .says("m2", json!([text("ok")]))
            .bytes()
    };
    judge(CLAUDE, boundary(json!(["id-2", "id-3"]))).is_silent();
    judge(CLAUDE, boundary(json!(["id-3"]))).says(Fine, &["T308 warning@4"]);
}

#[test]
fn a_subagent_s_parallel_results_are_its_own() {
    // Each result's parent is its own call's row, so the plain way up meets only the last.
    let lines = hello()
        .says("m1", json!([call("c1", "Read")]))
        .says("m1", json!([call("c2", "Read")]))
        .claude(json!({"type": "user", "parentUuid": "id-2", "message": {"role": "user", "content": [result("c1")]}}))
        .claude(json!({"type": "user", "parentUuid": "id-3", "message": {"role": "user", "content": [result("c2")]}}))
        .says("m2", json!([text("ok")]));
    let session = session(CLAUDE, Shape::Subagent, lines.bytes());
    judge_session(&session, false).is_silent();
}

#[test]
fn texts_without_anything_in_them() {
    let then = |lines: Lines| judge(CLAUDE, lines.user(json!("and?")).says("m9", json!([text("ok")])).bytes());
    then(hello().says("m1", json!([text(""), text("x")]))).says(Refused, &["M401 error@2"]);
    then(hello().says("m1", json!([text(" \n")]))).says(Refused, &["M402 error@2"]);
    then(Lines::default().user(json!([text(" \n")])).says("m1", json!([text("x")]))).says(Refused, &["M402 error@1"]);
    // Beside other blocks of the response, and where the response was cut off, it is a note.
    let beside = then(hello().says("m1", json!([text("\n\n")])).says("m1", json!([text("x")])));
    assert!(beside.is_silent().has("M402"));
    let cut = hello().says("m1", json!([text("\n\n")])).user(json!([text("[Request interrupted by user]")]));
    assert!(then(cut).is_silent().has("M402"));
    then(hello().says("m1", json!([]))).says(Refused, &["M403 error@2"]);
    judge(CLAUDE, hello().says("m1", json!([])).bytes()).is_silent();
}

#[test]
fn thinking_and_nothing_else() {
    let then = |lines: Lines| judge(CLAUDE, lines.user(json!("and?")).says("m9", json!([text("ok")])).bytes());
    then(hello().says("m1", json!([thinking("hm")]))).says(Fine, &["M404 warning@2"]);
    then(hello().says("m1", json!([thinking("hm")])).says("m1", json!([text("x")]))).is_silent();
    then(hello().says("m1", json!([thinking("hm")])).user(json!([text("[Request interrupted by user]")]))).is_silent();
    judge(CLAUDE, hello().says("m1", json!([thinking("hm")])).bytes()).is_silent();
    let notice = json!({"type": "assistant", "isApiErrorMessage": true, "message": {"id": "x", "role": "assistant",
        "model": "<synthetic>", "content": [text("API Error")]}});
    then(hello().says("m1", json!([thinking("hm")])).claude(notice)).is_silent();
    let limit = json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": "claude-opus-4-6",
        "content": [thinking("hm")], "stop_reason": "max_tokens"}});
    then(hello().claude(limit)).is_silent();
}

#[test]
fn thinking_behind_a_result_of_its_response() {
    let lines = hello()
        .says("m1", json!([thinking("")]))
        .says("m1", json!([call("c1", "Read")]))
        .user(json!([result("c1")]))
        .says("m1", json!([thinking("")]))
        .says("m1", json!([call("c2", "Read")]))
        .user(json!([result("c2")]))
        .says("m2", json!([text("ok")]));
    judge(CLAUDE, lines.bytes()).says(Refused, &["M405 error@5"]);
    // Text, thinking, text within one response is what models make.
    let lines =
        hello().says("m1", json!([text("\n\n")])).says("m1", json!([thinking("a")])).says("m1", json!([text("x")]));
    judge(CLAUDE, lines.bytes()).is_silent();
}

#[test]
fn signatures() {
    let with = |signature: Value, model: &str| {
        let block = json!({"type": "thinking", "thinking": "plan", "signature": signature});
        let row = json!({"type": "assistant", "message": {"id": "m1", "role": "assistant", "model": model, "content": [block, text("x")]}});
        judge(CLAUDE, hello().claude(row).bytes())
    };
    with(json!(""), "claude-opus-4-6").says(Refused, &["M406 error@2"]);
    let foreign = with(json!("reasoning_content"), "claude-opus-4-6");
    foreign.says(Refused, &["M406 error@2"]);
    assert_eq!(word(foreign.one("M406"), "signature"), "foreign");
    // Twenty-four characters of base64 may be one; another model asks for none, and its provider is not known here.
    with(json!("QWxsIHRoYXQgaXMgZ29sZCA="), "claude-opus-4-6").is_silent();
    assert!(with(json!(""), "glm-5").says(Unknown, &[]).has("M406"));
}

#[test]
fn media_on_the_chain_and_off_it() {
    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let image = |label: &str, data: &str| json!([{"type": "image", "source": {"type": "base64", "media_type": label, "data": data}}]);
    let judged = |content: Value| judge(CLAUDE, Lines::default().user(content).says("m1", json!([text("ok")])).bytes());
    judged(image("image/png", PNG)).is_silent();
    judged(image("image/jpeg", PNG)).says(Refused, &["M407 error@1"]);
    judged(image("image/png", "!!!!")).says(Refused, &["M408 error@1"]);
    judged(image("image/svg+xml", PNG)).says(Refused, &["M410 error@1"]);
    let wide = "iVBORw0KGgoAAAANSUhEUgAAH0EAAAAJCAYAAAA=";
    judged(image("image/png", wide)).says(Refused, &["M409 error@1"]);
    let pdf = |data: &str| json!([{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}]);
    judged(pdf("JVBERi0xLjQKJSVFT0YK")).is_silent();
    judged(pdf("JVBERi0xLjQK")).says(Refused, &["M411 error@1"]);
    // On a branch that was left it is a note.
    let off = hello()
        .claude(json!({"type": "user", "uuid": "left", "message": {"role": "user", "content": image("image/png", "!!!!")}}))
        .claude(json!({"type": "assistant", "parentUuid": "id-1", "message": {"id": "m1", "role": "assistant", "content": [text("ok")]}}));
    assert!(judge(CLAUDE, off.bytes()).says(Fine, &[]).has("M408"));
}

#[test]
fn references_and_notices_are_notes() {
    let found = json!([{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "tool_reference", "tool_name": "x"}]}]);
    let judged = judge(CLAUDE, called().user(found).says("m2", json!([text("ok")])).bytes());
    assert!(judged.is_silent().has("M412"));
    let notice = |text_of: &str, error: bool| {
        json!({"type": "assistant", "isApiErrorMessage": error, "message": {"id": "a-uuid", "role": "assistant",
            "model": "<synthetic>", "content": [text(text_of)]}})
    };
    let meta = json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "Continue"}});
    assert!(judge(CLAUDE, hello().claude(notice("API Error", true)).bytes()).is_silent().has("M413"));
    let twice = hello().claude(notice("API Error", true)).claude(notice("API Error", true));
    judge(CLAUDE, twice.bytes()).says(Fine, &["M413 warning@2"]);
    let reply = hello().says("m1", json!([text("ok")])).claude(meta).claude(notice("No response requested.", false));
    judge(CLAUDE, reply.bytes()).says(Fine, &["M413 warning@4"]);
    // What a person typed after a notice ends the run.
    let prompt = hello().claude(notice("API Error", true)).user(json!("again")).claude(notice("API Error", true));
    assert!(judge(CLAUDE, prompt.bytes()).is_silent().has("M413"));
}

#[test]
fn shapes() {
    let then = |row: Value| judge(CLAUDE, hello().claude(row).user(json!("x")).says("m2", json!([text("ok")])).bytes());
    then(json!({"type": "assistant", "message": {"role": "assistant", "content": null}}))
        .says(Refused, &["M414 error@2"]);
    then(json!({"type": "assistant", "message": "text"})).says(Refused, &["M414 error@2"]);
    then(json!({"type": "assistant", "message": {"role": null, "content": [text("x")]}}))
        .says(Refused, &["M414 error@2"]);
    then(json!({"type": "assistant", "message": {"role": "assistant", "content": ["x"]}}))
        .says(Refused, &["M414 error@2"]);
    then(json!({"type": "assistant", "message": {"role": "assistant", "content": "a plain text"}})).is_silent();
}

#[test]
fn another_provider_is_not_known_here() {
    let row = |content: Value, id: &str| json!({"type": "assistant", "message": {"id": id, "role": "assistant", "model": "glm-5", "content": content}});
    let lines = hello()
        .claude(row(json!([call("c1", "Bash")]), "m1"))
        .user(json!("stop"))
        .claude(row(json!([text("ok")]), "m2"));
    judge(CLAUDE, lines.bytes()).says(Unknown, &["T301 warning@2"]);
}

#[test]
fn open_calls_on_a_branch_that_was_left_are_one_note() {
    let lines = hello()
        .says("m1", json!([call("c1", "Bash"), call("c2", "Write")]))
        .claude(json!({"type": "user", "parentUuid": "id-1", "message": {"role": "user", "content": "rather this"}}))
        .says("m2", json!([text("ok")]));
    let judged = judge(CLAUDE, lines.bytes());
    judged.is_silent();
    assert_eq!(judged.one("T301").count, Some(2));
}

#[test]
fn what_would_be_sent_and_where() {
    let lines = called().user(json!([result("c1")])).says("m2", json!([text("half \u{fffd}")]));
    let Examined { session: s, request, .. } = session(CLAUDE, Shape::Main, lines.bytes());
    assert!((0..4).all(|n| request.reaches(n)));
    assert!(!request.reaches(9));
    let line = s.record(3);
    let at = |needle: &str| line.offset + lines.out[3].find(needle).unwrap() as u64;
    let content = content_span(&s, 3).unwrap();
    assert!(content.contains(&at("half")) && !content.contains(&at("2.1.200")));
    let pairing = Pairing::new(&s, &request);
    let slabs = autopsy::around(&s, &request, &pairing, 1);
    assert_eq!(slabs.len(), 4);
    let part = &slabs[1].blocks[0];
    assert_eq!((part.state, part.other, part.call.as_ref().unwrap().lossy().as_str()), ("answered", Some(3), "c1"));
    assert_eq!((slabs[2].blocks[0].state, slabs[2].blocks[0].other), ("answers", Some(2)));
}
