//! What another program gets from the crate: sessions of each agent, opened by their path.

use std::path::{Path, PathBuf};

use sid_audit::record::content::Part;
use sid_audit::{Options, Session, scan};

fn demo(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/demo").join(below)
}

/// The parts of all messages of the next request.
fn parts(session: &Session) -> Vec<Part> {
    let request = session.request();
    let records = request.cleaned().map(|row| request.rows[row as usize].record);
    records.flat_map(|record| session.content(record).unwrap()).collect()
}

#[test]
fn a_session_of_each_agent_says_what_it_holds() {
    for below in [
        "sid-code/sessions/home-mara-tidepool/20260305-074500-e20b315a.jsonl",
        "claude/projects/-home-mara-weather/eebf1fce-6915-4cca-9653-5f4c39530168.jsonl",
        "pi/agent/sessions/--home-mara-bread--/2026-03-03T06-30-00-000Z_e7462beb-1f67-4007-911a-06326bec1e57.jsonl",
    ] {
        let parts = parts(&Session::open(demo(below)).unwrap());
        let calls: Vec<&str> =
            parts.iter().filter_map(|p| if let Part::Call { id, .. } = p { Some(id.as_str()) } else { None }).collect();
        let answered = |id: &&str| parts.iter().any(|p| matches!(p, Part::Result { call, .. } if call == id));
        assert!(!calls.is_empty() && calls.iter().all(answered), "{below}: {calls:?}");
        assert!(parts.iter().any(|p| matches!(p, Part::Text(text) if !text.is_empty())), "{below}");
        assert!(!parts.iter().any(|p| matches!(p, Part::Other(_))), "{below}: {parts:?}");
    }
}

#[test]
fn what_is_no_session_is_refused() {
    let refused = Session::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"));
    assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::InvalidData);
}

#[test]
fn a_scan_of_a_folder_reports_its_findings() {
    let found = scan(&[demo("sid-code")], &Options::default());
    assert!(found.errors.is_empty(), "{:?}", found.errors);
    let codes: Vec<&str> =
        found.sessions.iter().flat_map(|session| session.findings()).map(|finding| finding.rule.code).collect();
    assert!(codes.contains(&"C201") && codes.contains(&"L106"), "{codes:?}");
}
