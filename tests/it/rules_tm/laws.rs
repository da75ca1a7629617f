//! Laws over many inputs: the safe tail is what its definition says, and no bytes make the rules fall over.

use super::build::{Lines, call, result, text, thinking};
use super::{judge_session, session};
use proptest::prelude::*;
use serde_json::{Value, json};
use sid_audit::request::{autopsy, pairing::Pairing, tail};
use sid_audit::session::Shape;
use std::collections::HashSet;

/// One message: the model's calls, or the user's results; no ids makes it a text.
fn message() -> impl Strategy<Value = (bool, Vec<u8>)> {
    (any::<bool>(), proptest::collection::vec(0_u8..6, 0..3))
}

fn lines(messages: &[(bool, Vec<u8>)]) -> Lines {
    messages.iter().fold(Lines::default().start("demo"), |lines, (model, ids)| {
        let id = |n: &u8| format!("c{n}");
        let mut content: Vec<Value> =
            ids.iter().map(|n| if *model { call(&id(n), "ls") } else { result(&id(n)) }).collect();
        content.push(text("x"));
        lines.sid(if *model { "assistant" } else { "user" }, json!(content))
    })
}

/// The definition, tried out.
fn by_definition(messages: &[(bool, Vec<u8>)], asked: usize) -> usize {
    let dangling = |start: usize| {
        let window = &messages[start..];
        let made: HashSet<u8> = window.iter().filter(|m| m.0).flat_map(|m| m.1.iter().copied()).collect();
        window.iter().filter(|m| !m.0).flat_map(|m| &m.1).any(|id| !made.contains(id))
    };
    if messages.len() <= asked {
        return 0;
    }
    let mut start = messages.len() - asked;
    let lowest = start.saturating_sub(tail::WIDENED);
    while start > lowest && dangling(start) {
        start -= 1;
    }
    while start < messages.len() && dangling(start) {
        start += 1;
    }
    start
}

proptest! {
    #[test]
    fn the_safe_tail_is_what_its_definition_says(
        messages in proptest::collection::vec(message(), 0..30),
        asked in 0_usize..20,
    ) {
        // What the cleaning would drop is taken out first, and the last prompt with it.
        let answered: HashSet<u8> = messages.iter().filter(|m| !m.0).flat_map(|m| m.1.iter().copied()).collect();
        let mut left: Vec<(bool, Vec<u8>)> = messages
            .iter()
            .map(|(model, ids)| (*model, ids.iter().copied().filter(|id| !*model || answered.contains(id)).collect()))
            .collect();
        if left.last().is_some_and(|(model, ids)| !model && ids.is_empty()) {
            left.pop();
        }
        let s = session(sid_audit::agents::SID, Shape::Main, lines(&messages).bytes());
        prop_assert_eq!(s.request.cleaned_count(), left.len());
        prop_assert_eq!(tail::safe_tail(&s.session.facts, &s.request, asked), by_definition(&left, asked));
    }

    #[test]
    fn no_bytes_make_the_rules_fall_over(
        cuts in proptest::collection::vec((0_usize..4000, any::<u8>(), 0_u8..4), 0..12),
        agent_id in 0_usize..4,
        live in any::<bool>(),
    ) {
        let agent_id = [sid_audit::agents::SID, sid_audit::agents::CLAUDE, sid_audit::agents::PI, sid_audit::agents::OPENCLAW][agent_id];
        let lines = match agent_id.name() {
            "sid" => Lines::default().start("anthropic").sid("user", json!([text("q")]))
                .sid("assistant", json!([thinking("a"), call("c1", "ls"), call("c2", "edit")]))
                .sid("user", json!([result("c1"), result("c2")])).sid("assistant", json!([text("ok")])),
            "claude" => Lines::default().user(json!("q")).says("m1", json!([thinking("a")]))
                .says("m1", json!([call("c1", "Read")])).user(json!([result("c1")]))
                .says("m1", json!([call("c2", "Edit")])).user(json!([result("c2")])).says("m2", json!([text("ok")])),
            _ => Lines::default().header().asks("q").answers(json!([super::build::pi_call("a", "read")]), "toolUse")
                .tool("a").answers(json!([text("ok")]), "stop"),
        };
        let mut bytes = lines.bytes();
        for (at, byte, kind) in cuts {
            if bytes.is_empty() {
                break;
            }
            let at = at % bytes.len();
            match kind {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                _ => {
                    let from = bytes[at..].to_vec();
                    bytes.extend(from.into_iter().take(400));
                }
            }
        }
        for shape in [Shape::Main, Shape::Subagent, Shape::Legacy] {
            let s = session(agent_id, shape, bytes.clone());
            let _ = judge_session(&s, live);
            let pairing = Pairing::new(&s.session, &s.request);
            for n in 0..s.session.facts.records.len().min(4) as u32 {
                let _ = autopsy::around(&s.session, &s.request, &pairing, n);
            }
        }
    }
}
