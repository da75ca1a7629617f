//! One session turn by turn.

use serde_json::{Value, json};

use super::home::{FIRST, Lines, home};
use super::{json as report, run};
use crate::support::temp::{Temp, write};

fn turns(text: &str, name: &str) -> Value {
    let temp = Temp::new("metrics-turns");
    let file = temp.join(name);
    write(&file, text);
    report("metrics", &["--turns"], &file)["turns"].clone()
}

/// Three turns, the running totals behind each: 0.04, then 0.30 more, then 0.05 more with another model.
fn changed() -> Lines {
    let mut lines = Lines::new(FIRST, "big");
    lines.prompt("one");
    lines.answer("big", &[], [1000, 10, 0]);
    lines.totals(&[("big", 0.04)]);
    lines.prompt("two");
    lines.answer("big", &["call_1"], [2000, 20, 800]);
    lines.results(&["call_1"]);
    lines.answer("big", &[], [3000, 30, 1800]);
    lines.totals(&[("big", 0.34)]);
    lines.prompt("three");
    lines.answer("small", &[], [3100, 5, 0]);
    lines.totals(&[("big", 0.34), ("small", 0.05)]);
    lines
}

#[test]
fn running_totals_give_what_each_turn_cost() {
    let turns = turns(&changed().text(), &format!("{FIRST}.jsonl"));
    let list = turns["list"].as_array().unwrap();
    let column = |name: &str| list.iter().map(|turn| turn[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("cost_usd"), [json!(0.04), json!(0.3), json!(0.05)]);
    assert_eq!(column("requests"), [1, 2, 1].map(|n| json!(n)));
    assert_eq!(column("line"), [2, 5, 10].map(|n| json!(n)));
    assert_eq!(list[1]["flow"], json!({"prompt": 5000, "input": 5000, "cache_read": 2600, "output": 50}));
    assert_eq!(list[1]["stock"]["last_prompt"], 3000);
    assert_eq!(turns["dearest"], json!({"turn": 2, "by": "cost"}));
    assert_eq!(turns["first_cached"], 2);
    let [change] = turns["model_changes"].as_array().unwrap().as_slice() else { panic!("{turns}") };
    assert_eq!(change["turn"], 3);
    let (before, after) = (&change["before"], &change["after"]);
    assert_eq!((&before["model"], &before["cost_usd"], &before["requests"]), (&json!("big"), &json!(0.34), &json!(3)));
    assert_eq!((&after["model"], &after["cost_usd"], &after["turns"]), (&json!("small"), &json!(0.05), &json!(1)));
    assert!((before["cost_usd_a_request"].as_f64().unwrap() - 0.34 / 3.0).abs() < 1e-9);
}

#[test]
fn a_cost_that_is_of_two_turns_says_so_and_one_that_began_anew_is_new() {
    let mut lines = Lines::new(FIRST, "big");
    lines.prompt("one");
    lines.answer("big", &[], [1000, 10, 0]);
    lines.prompt("two");
    lines.answer("big", &[], [1100, 10, 0]);
    lines.totals(&[("big", 0.5)]);
    lines.metadata("trace_session_id", json!("20260302-100000-000000cc"));
    lines.prompt("three");
    lines.answer("big", &[], [1200, 10, 0]);
    lines.totals(&[("big", 0.2)]);
    let turns = turns(&lines.text(), &format!("{FIRST}.jsonl"));
    assert_eq!(turns["list"][0]["cost_usd"], Value::Null);
    assert_eq!((&turns["list"][1]["cost_usd"], &turns["list"][1]["cost_of_turns"]), (&json!(0.5), &json!(2)));
    assert_eq!((&turns["list"][2]["cost_usd"], &turns["list"][2]["cost_of_turns"]), (&json!(0.2), &Value::Null));
    assert_eq!(turns["first_cached"], Value::Null);
}

/// pi stores what each response cost.
fn pi(costs: [f64; 3]) -> String {
    let mut lines = vec![json!({"type": "session", "version": 3, "id": "5e551d00-0000-4000-8000-0000000000aa",
        "timestamp": "2026-03-04T05:06:07.000Z", "cwd": "/home/demo"})];
    let mut parent = Value::Null;
    for (n, cost) in costs.iter().enumerate() {
        let (asked, answered) = (format!("aaaa{n:04}"), format!("bbbb{n:04}"));
        let read = [0, 50, 100][n];
        let time = format!("2026-03-04T05:0{n}:08.000Z");
        lines.push(json!({"type": "message", "id": asked, "parentId": parent, "timestamp": time,
            "message": {"role": "user", "content": [{"type": "text", "text": "q"}], "timestamp": 1}}));
        lines.push(json!({"type": "message", "id": answered, "parentId": asked, "timestamp": time,
            "message": {"role": "assistant", "content": [{"type": "text", "text": "a"}], "api": "anthropic-messages",
            "provider": "anthropic", "model": if n < 2 { "big" } else { "small" }, "stopReason": "stop", "timestamp": 1,
            "usage": {"input": 10, "output": 5, "cacheRead": read, "cacheWrite": 0, "totalTokens": 15 + read,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": cost}}}}));
        parent = json!(answered);
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn stored_costs_of_responses_are_the_turns_costs() {
    let name = "2026-03-04T05-06-07-000Z_5e551d00-0000-4000-8000-0000000000aa.jsonl";
    let dear = turns(&pi([0.25, 0.5, 0.125]), name);
    assert_eq!(dear["dearest"], json!({"turn": 2, "by": "cost"}));
    assert_eq!(dear["first_cached"], 2);
    let change = &dear["model_changes"][0];
    assert_eq!((&change["turn"], &change["before"]["cost_usd"]), (&json!(3), &json!(0.75)));
    assert_eq!(change["after"]["cost_usd"], 0.125);
    // Input excludes what was cached: 10 and 50 make 60.
    assert_eq!(dear["list"][1]["flow"]["prompt"], 60);
    // Nothing cost anything: the most tokens.
    let free = turns(&pi([0.0, 0.0, 0.0]), name);
    assert_eq!(free["dearest"], json!({"turn": 3, "by": "tokens"}));
}

#[test]
fn turns_are_of_one_session_on_a_path_or_on_standard_input() {
    let (_temp, home) = home(false);
    let outcome = run("metrics", &["--turns"], &home).go();
    assert_eq!(outcome.status, Some(2));
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(said.contains("one session, and 2 were given"), "{said}");
    let stdin = run("metrics", &["--turns", "--format", "json"], "-".as_ref()).stdin(changed().text()).go();
    assert_eq!(stdin.status, Some(0));
    assert_eq!(stdin.json()["turns"]["dearest"]["turn"], 2);
}

#[test]
fn the_page_names_what_was_asked_for() {
    let temp = Temp::new("metrics-turns");
    let file = temp.join(format!("{FIRST}.jsonl"));
    write(&file, changed().text());
    let page = run("metrics", &["--turns"], &file).go().text();
    for line in [
        "  dearest turn       2 (line 5): $0.3000",
        "  first cached turn  2 (line 5): 52.0 % of its prompts came from the cache",
        "  model change       big to small at turn 3 (line 10)",
        "before  $0.3400, $0.1133 a request: 2 turns, 3 requests,",
        "after   $0.0500, $0.0500 a request: 1 turn, 1 request, 0.0",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
}
