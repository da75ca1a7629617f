//! The worked example: lines of several machines in one engine.

use super::{block, clone, shell};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Python that has DuckDB. `SID_AUDIT_PYTHON` names one that must have it; without it the usual ones are tried, and
/// where none has it the test prints that it is skipped.
fn python() -> Option<PathBuf> {
    let works = |python: &PathBuf| {
        let mut run = Command::new(python);
        run.args(["-c", "import duckdb"]).stdout(Stdio::null()).stderr(Stdio::null());
        run.status().is_ok_and(|status| status.success())
    };
    if let Some(named) = std::env::var_os("SID_AUDIT_PYTHON").map(PathBuf::from) {
        assert!(works(&named), "{} has no duckdb", named.display());
        return Some(named);
    }
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("venv").join("bin/python");
    let found = [own, PathBuf::from("python3")].into_iter().find(works);
    if found.is_none() {
        println!("skipped: no Python here has duckdb (.ci/run puts one into target/venv)");
    }
    found
}

#[test]
fn the_lines_of_two_machines_give_the_shown_answer() {
    let Some(python) = python() else { return };
    let place = clone();
    for line in block("sh", "--format ndjson").lines() {
        let done = shell(&place, line).output().expect("a shell");
        assert_eq!(done.status.code(), Some(1), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let program = place.join("sessions.py");
    std::fs::write(&program, block("python", "duckdb")).unwrap();
    let done = Command::new(python).arg(&program).current_dir(place.path()).output().expect("it runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stdout), block("text", "missing-parent"));
}
