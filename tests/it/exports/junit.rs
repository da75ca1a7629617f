//! JUnit XML, parsed back by a library that many use.

use super::{planted, run};
use crate::support::run::{findings, fixtures};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
struct Case {
    name: String,
    failure: Option<(BTreeMap<String, String>, String)>,
    error: Option<String>,
    out: String,
}

#[derive(Debug, Default)]
struct Suite {
    attributes: BTreeMap<String, String>,
    cases: Vec<Case>,
}

fn attributes(of: &BytesStart<'_>) -> BTreeMap<String, String> {
    of.attributes()
        .map(|one| {
            let one = one.expect("well-formed");
            let value = one.normalized_value(quick_xml::XmlVersion::Implicit1_0);
            (one.key.as_ref().to_owned(), value.expect("escaped").into_owned())
        })
        .collect()
}

/// What a reader makes of it; it fails on whatever is not well-formed.
fn parsed(xml: &[u8]) -> Vec<Suite> {
    let text = std::str::from_utf8(xml).expect("UTF-8");
    // What XML 1.0 may hold at all.
    assert!(!text.chars().any(|c| (c < ' ' && !"\t\n\r".contains(c)) || c == '\u{fffe}' || c == '\u{ffff}'));
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let (mut suites, mut inside): (Vec<Suite>, Vec<String>) = (Vec::new(), Vec::new());
    loop {
        let event = reader.read_event().expect("well-formed");
        let case = |suites: &mut Vec<Suite>, of: &BytesStart<'_>| {
            let name = attributes(of)["name"].clone();
            suites.last_mut().expect("in a suite").cases.push(Case { name, ..Case::default() });
        };
        match event {
            Event::Start(start) => {
                let name = start.name().as_ref().to_owned();
                match name.as_str() {
                    "testsuites" => assert!(inside.is_empty()),
                    "testsuite" => suites.push(Suite { attributes: attributes(&start), cases: Vec::new() }),
                    "testcase" => case(&mut suites, &start),
                    "failure" => {
                        let last = suites.last_mut().and_then(|suite| suite.cases.last_mut()).expect("in a case");
                        last.failure = Some((attributes(&start), String::new()));
                    }
                    "error" | "system-out" => {}
                    other => panic!("<{other}>"),
                }
                inside.push(name);
            }
            Event::Empty(empty) => {
                assert_eq!(empty.name().as_ref(), "testcase");
                case(&mut suites, &empty);
            }
            Event::End(_) => drop(inside.pop()),
            Event::Text(text) => said(&mut suites, &inside, &text.xml10_content()),
            Event::GeneralRef(entity) => {
                let entity = entity.xml10_content().into_owned();
                let text = quick_xml::escape::resolve_predefined_entity(&entity).expect("one of the five");
                said(&mut suites, &inside, text);
            }
            Event::Decl(_) => {}
            Event::Eof => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(inside.is_empty());
    suites
}

fn said(suites: &mut [Suite], inside: &[String], text: &str) {
    let Some(case) = suites.last_mut().and_then(|suite| suite.cases.last_mut()) else { return };
    match inside.last().map(String::as_str) {
        Some("failure") => case.failure.as_mut().expect("begun").1.push_str(text),
        Some("error") => case.error.get_or_insert_default().push_str(text),
        Some("system-out") => case.out.push_str(text),
        _ => assert!(text.trim().is_empty(), "{text}"),
    }
}

#[test]
fn a_suite_for_each_root_and_a_case_for_each_session() {
    let demo = fixtures("demo");
    let suites = parsed(&run("scan", "junit", &demo).go().stdout);
    let report = run("scan", "json", &demo).go().json();
    assert_eq!(suites.len(), report["roots"].as_array().unwrap().len());
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let sessions = report["sessions"].as_array().unwrap();
    for session in sessions {
        let path = session["path"].as_str().unwrap();
        let case = cases.iter().find(|case| path.ends_with(&case.name)).unwrap_or_else(|| panic!("no case {path}"));
        let of = |severity: &str| -> usize {
            session["findings"].as_array().unwrap().iter().filter(|one| one["severity"] == severity).count()
        };
        let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        assert_eq!(case.failure.as_ref().map_or(0, |(_, text)| lines(text)), of("error"), "{path}");
        assert_eq!(lines(&case.out), of("warning") + of("info"), "{path}");
    }
    let count =
        |name: &str| -> usize { suites.iter().map(|suite| suite.attributes[name].parse::<usize>().unwrap()).sum() };
    assert_eq!(count("tests"), cases.len());
    assert_eq!(count("failures"), cases.iter().filter(|case| case.failure.is_some()).count());
    assert_eq!(count("errors"), 0);
}

#[test]
fn what_fails_is_what_fails_the_run() {
    let demo = fixtures("demo");
    let failures = |extra: &[&str]| {
        let outcome = run("scan", "junit", &demo).args(extra).go();
        let failing =
            parsed(&outcome.stdout).iter().flat_map(|suite| &suite.cases).filter(|c| c.failure.is_some()).count();
        assert_eq!(outcome.status, Some(i32::from(failing > 0)));
        failing
    };
    let (errors, all) = (failures(&[]), failures(&["--fail-on", "info"]));
    assert!(errors > 0 && all > errors);
    assert_eq!(failures(&["--fail-on", "never"]), 0);
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let demo = fixtures("demo/pi");
    let suites = parsed(&run("scan", "junit", &demo).arg("no-such-file.jsonl").go().stdout);
    let case = suites.iter().flat_map(|suite| &suite.cases).find(|case| case.error.is_some()).expect("an error");
    assert_eq!(case.name, "no-such-file.jsonl");
    assert!(case.error.as_deref().is_some_and(|text| text.contains("no-such-file.jsonl")));
}

#[test]
fn a_session_with_something_to_do_fails() {
    let demo = fixtures("demo");
    let outcome = run("repair", "junit", &demo).arg("--dry-run").go();
    let suites = parsed(&outcome.stdout);
    let report = run("repair", "json", &demo).arg("--dry-run").go().json();
    let plans = report["plan"].as_array().expect("plans");
    let working = plans.iter().filter(|plan| plan["edits"].as_array().is_some_and(|edits| !edits.is_empty())).count();
    let cases: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    assert!(working > 2);
    assert_eq!(cases.iter().filter(|case| case.failure.is_some()).count(), working);
}

#[test]
fn planted_text_stays_text() {
    let (home, _) = planted::stores();
    let outcome = run("scan", "junit", home.path()).go();
    let suites = parsed(&outcome.stdout);
    let report = run("scan", "json", home.path()).go().json();
    assert!(findings(&report).len() > 10);
    let cases = suites.iter().map(|suite| suite.cases.len()).sum::<usize>();
    assert!(cases >= report["sessions"].as_array().unwrap().len());
    let names: Vec<&str> = suites.iter().flat_map(|suite| &suite.cases).map(|case| case.name.as_str()).collect();
    assert!(names.iter().any(|name| name.contains("<planted-x>")), "the name comes back as it is: {names:?}");
}
