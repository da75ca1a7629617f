//! The demonstration stores: what the README shows a stranger stays true.

use crate::support;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use support::run::{Outcome, Run, findings, fixtures, is_loud};

fn scan() -> Outcome {
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("scan").arg(fixtures("demo"));
    run.args(["--now", "2026-03-10T00:00:00Z", "--format", "json"]).go()
}

#[test]
fn the_three_agents_are_recognised() {
    let outcome = scan();
    assert_eq!(outcome.status, Some(1), "there is damage in it");
    let report = outcome.json();
    let sessions = report["sessions"].as_array().expect("sessions");
    let agents: BTreeSet<&str> = sessions.iter().filter_map(|s| s["agent"].as_str()).collect();
    assert_eq!(agents, BTreeSet::from(["claude", "pi", "sid"]));
    let homes = report["roots"].as_array().into_iter().flatten().filter(|root| !root["agent"].is_null());
    assert_eq!(homes.count(), 3, "{}", report["roots"]);
    assert_eq!(sessions.len(), 15);
}

/// A session by a part of its name, and a finding of the families L and C that it shows; none: it is healthy.
const SHOWN: &[(&str, Option<&str>)] = &[
    ("13ddf702", Some("L109")),
    ("6ca2e0f9", None),
    ("8f32a1f2", Some("L103")),
    ("932d823f", Some("C201")),
    ("db5b5fab", None),
    ("eebf1fce", Some("L102")),
    ("20260302", None),
    ("20260303", Some("L106")),
    ("20260305", Some("C208")),
    ("20260306", Some("L101")),
    ("2026-03-03", None),
    ("2026-03-05", Some("L103")),
    ("2026-03-09", Some("C220")),
];

#[test]
fn good_and_broken_sessions_are_told_apart() {
    let report = scan().json();
    for (name, code) in SHOWN {
        let mut all = findings(&report).into_iter().filter(|f| f["path"].as_str().is_some_and(|p| p.contains(name)));
        match code {
            Some(code) => assert!(all.any(|f| f["code"] == *code), "{name} shows no {code}"),
            None => {
                let loud: Vec<&Value> = all.filter(|f| is_loud(f)).collect();
                assert!(loud.is_empty(), "{name} is healthy, but {loud:?}");
            }
        }
    }
}
