//! sid-code's states that stand in the session, and where the conversation stopped.

use super::{answers, home, metadata, predict, results, says, start, state, with};
use crate::support::temp::{Temp, write};
use serde_json::{Value, json};

#[test]
fn a_goal_is_a_json_string_inside_json() {
    let goal = |status: &str| {
        json!({"id": "g", "objective": "all pass", "status": status, "tokensUsed": 0, "turnsUsed": 1, "maxTurns": 20,
               "createdAt": 1, "updatedAt": 1, "evidenceLog": []})
        .to_string()
    };
    for (value, expected) in [
        (json!(goal("active")), "restored"),
        (json!(goal("paused")), "restored"),
        (json!(goal("complete")), "final"),
        (json!(goal("impossible")), "final"),
        (json!("__CLEARED__"), "final"),
        (json!("{\"status\":\"active\"}"), "normalised"),
        (json!("5"), "normalised"),
        (json!("{broken"), "failed"),
        (json!("null"), "failed"),
        (json!("NaN"), "failed"),
        (json!({"status": "active"}), "failed"),
        (json!(""), "missing"),
        (Value::Null, "missing"),
    ] {
        let temp = Temp::new("goal");
        let document = with(&temp, &[metadata("goal_state", value.clone())]);
        let (outcome, line, note) = state(&document, "goal");
        assert_eq!((outcome.as_str(), line), (expected, Some(4)), "{value}");
        assert!(!note.contains("all pass"), "what a person wrote is not shown: {note}");
    }
    let temp = Temp::new("goal");
    assert_eq!(state(&with(&temp, &[]), "goal"), ("missing".to_owned(), None, "no goal was set".to_owned()));
}

#[test]
fn the_last_value_on_the_accepted_chain_counts() {
    let temp = Temp::new("last");
    let document = with(
        &temp,
        &[
            metadata("goal_state", json!("__CLEARED__")),
            metadata("goal_state", json!("{\"id\":\"g\",\"objective\":\"x\",\"status\":\"complete\"}")),
        ],
    );
    assert_eq!(state(&document, "goal").1, Some(5));
    // A value that another process wrote on a branch of its own is not on the chain of the last writer.
    let temp = Temp::new("branch");
    let fork = "00000000-0000-4000-8000-000000000002";
    let mut other = metadata("goal_state", json!("{broken"));
    other["parentUuid"] = json!(fork);
    let mut spoken = answers("elsewhere", &[]);
    spoken["parentUuid"] = json!("00000000-0000-4000-8000-000000000004");
    let mut last = metadata("session_name", json!("mine"));
    last["parentUuid"] = json!("00000000-0000-4000-8000-000000000003");
    let document = predict(&home(
        &temp,
        &[
            start("/home/dev/demo"),
            says("go"),
            answers("done", &[]),
            metadata("goal_state", json!("__CLEARED__")),
            other,
            spoken,
            last,
        ],
    ));
    assert_eq!(state(&document, "goal").1, Some(4));
    let doubt = document["interruption"]["doubt"].as_str().expect("a doubt");
    assert!(doubt.contains("the last writer's branch decides") && doubt.contains("1 message"), "{doubt}");
}

#[test]
fn metadata_is_taken_back_item_by_item() {
    let model = json!({"inputTokens": 1, "stockPromptTokens": 1, "cumulativePromptTokens": 1, "outputTokens": 1,
        "cacheReadInputTokens": 0, "cacheCreationInputTokens": 0, "requests": 1, "costUSD": 0, "cacheSavingsUSD": 0,
        "provider": "demo"});
    let usage = |models: Value| json!({"totalCostUSD": 0.5, "sideCostUSD": 0, "totalAPIDuration": 1, "totalToolDuration": 1, "modelUsage": models});
    let item = |status: &str| json!({"content": "read it", "activeForm": "reading it", "status": status});
    let hypothesis = json!({"id": "H1", "statement": "s", "falsifier": "f", "status": "open"});
    for (key, value, name, expected) in [
        ("usage_stats", usage(json!({"demo-model": model})), "usage", "restored"),
        ("usage_stats", usage(json!({"demo-model": {"requests": 1}})), "usage", "normalised"),
        ("usage_stats", json!({"modelUsage": {}}), "usage", "normalised"),
        ("usage_stats", json!("much"), "usage", "ignored"),
        ("file_changes", json!({"files": ["/a", "/b"], "count": 2}), "changed files", "restored"),
        ("file_changes", json!({"files": ["/a", null], "count": 2}), "changed files", "normalised"),
        ("file_changes", json!({"count": 2}), "changed files", "ignored"),
        ("todo_state", json!({"todos": [item("pending"), item("completed")]}), "todo", "restored"),
        ("todo_state", json!({"todos": [item("pending"), item("someday")]}), "todo", "normalised"),
        ("todo_state", json!({"todos": [], "lastWritten": [item("completed")]}), "todo", "final"),
        ("todo_state", json!({"todos": []}), "todo", "restored"),
        ("todo_state", json!({"todos": 3}), "todo", "ignored"),
        ("agent_setting", json!({"model": "other"}), "model and provider", "restored"),
        ("agent_setting", json!({"effortLevel": "high"}), "model and provider", "ignored"),
        ("agent_setting", json!({"model": 5}), "model and provider", "unknown"),
        ("agent_setting", json!({"effortLevel": null, "thinking": "on"}), "effort and thinking", "restored"),
        ("agent_setting", json!({"effortLevel": "huge"}), "effort and thinking", "unknown"),
        ("agent_setting", json!({"model": "other"}), "effort and thinking", "missing"),
        ("agent_setting", json!({"permissionMode": "acceptEdits"}), "permission mode", "ignored"),
        ("hypothesis_ledger", json!({"seq": 1, "items": [hypothesis]}), "hypothesis ledger", "restored"),
        ("hypothesis_ledger", json!({"seq": 1, "items": [hypothesis, 3]}), "hypothesis ledger", "normalised"),
    ] {
        let temp = Temp::new("metadata");
        let document = with(&temp, &[metadata(key, value.clone())]);
        let (outcome, line, note) = state(&document, name);
        let line_wanted = if (name, expected) == ("model and provider", "ignored") { 1 } else { 4 };
        assert_eq!((outcome.as_str(), line), (expected, Some(line_wanted)), "{key} {value}: {note}");
        assert!(!note.contains("read it"), "{note}");
    }
}

#[test]
fn a_call_cut_off_in_mid_run_is_doubted() {
    let doubt = |records: &[Value]| {
        let temp = Temp::new("cut-off");
        let mut all = vec![start("/home/dev/demo"), says("go")];
        all.extend(records.iter().cloned());
        let document = predict(&home(&temp, &all));
        let interruption = &document["interruption"];
        let text = |key: &str| interruption[key].as_str().unwrap_or_default().to_owned();
        (text("state"), interruption["tools"].clone(), text("doubt"))
    };
    // Words and a call: the call is dropped, and what is left looks like a finished answer.
    let (state, _, why) = doubt(&[answers("let me see", &[("c1", "bash")])]);
    assert_eq!(state, "none");
    assert!(why.contains("cut off in mid-call and counts as none") && why.contains("'bash' (line 3)"), "{why}");
    // A call alone: the message goes with it, and the prompt looks unanswered.
    let (state, _, why) = doubt(&[answers("", &[("c1", "bash")])]);
    assert_eq!(state, "interrupted_prompt");
    assert!(why.contains("had begun to answer") && why.contains("'bash' (line 3)"), "{why}");
    // One of two calls was answered: the note names that one.
    let (state, tools, why) = doubt(&[answers("", &[("c1", "read"), ("c2", "bash")]), results(&["c1"])]);
    assert_eq!((state.as_str(), &tools), ("interrupted_turn", &json!(["read"])));
    assert!(why.contains("'bash' (line 3)") && why.contains("does not name it"), "{why}");
    // Nothing to doubt.
    let (state, tools, why) = doubt(&[answers("", &[("c1", "read")]), results(&["c1"])]);
    assert_eq!((state.as_str(), &tools, why.as_str()), ("interrupted_turn", &json!(["read"]), ""));
    let (state, _, why) = doubt(&[answers("done", &[])]);
    assert_eq!((state.as_str(), why.as_str()), ("none", ""));
    // The results' calls do not stand right before them.
    let (_, tools, why) = doubt(&[answers("", &[("c1", "read")]), answers("wait", &[]), results(&["c1"])]);
    assert_eq!(tools, json!([]));
    assert!(why.contains("no tool is named"), "{why}");
    let mut thought = answers("", &[]);
    thought["message"]["content"] = json!([{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]);
    let (state, _, why) = doubt(&[thought]);
    assert_eq!(state, "interrupted_prompt");
    assert!(why.contains("had begun to think on line 3"), "{why}");
}

#[test]
fn what_is_not_brought_back_keeps_its_states_to_itself() {
    let temp = Temp::new("unloadable");
    let records = [
        start("/home/dev/demo"),
        says("go"),
        answers("done", &[]),
        metadata("todo_state", json!({"todos": [{"content": "a", "activeForm": "b", "status": "pending"}]})),
    ];
    let path = home(&temp, &records);
    let text = std::fs::read_to_string(&path).expect("the session");
    let broken: Vec<&str> = text.lines().enumerate().map(|(n, l)| if n == 1 { "{torn" } else { l }).collect();
    write(&path, broken.join("\n"));
    let document = predict(&path);
    assert_eq!(document["loadable"], false);
    assert!(document["refused"].as_str().expect("why").contains("breaks on line 3"), "{}", document["refused"]);
    assert_eq!(document["interruption"], json!({"state": "none", "tools": [], "next": "nothing"}));
    assert_eq!(state(&document, "todo").0, "failed");
    assert_eq!(state(&document, "usage").0, "missing");
    assert_eq!(state(&document, "permission mode").0, "ignored");
}
