//! Figures that say what they count, end to end: `metrics`, `fields`, the totals of `scan`, and every total counted twice.
//!
//! | file | what it holds the program to |
//! | --- | --- |
//! | `home` | a home of sid-code whose every total is known, because it is written here |
//! | `figures` | those totals, the readers side by side, one computation for `metrics` and `scan` |
//! | `twice` | both counts agree on everything that lies here, and each method is caught when it is broken |
//! | `census` | one symptom, three verdicts; a person's own catalogue; every path |
//! | `turns` | the dearest turn, the first that came from the cache, cost around a change of the model |
//! | `page` | the page for people |

#![allow(clippy::needless_pass_by_value, reason = "a record is written as a literal where it is handed over")]

mod census;
mod figures;
mod home;
mod page;
mod turns;
mod twice;

use crate::support;
use serde_json::Value;
use std::path::Path;
use support::run::Run;

/// The program with a command and a time.
fn run(command: &str, args: &[&str], path: &Path) -> Run {
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg(command).arg(path);
    run.args(["--now", "2026-03-10T00:00:00Z"]).args(args)
}

/// The report of a run that must end well or with findings.
fn json(command: &str, args: &[&str], path: &Path) -> Value {
    let outcome = run(command, args, path).args(["--format", "json"]).go();
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(matches!(outcome.status, Some(0 | 1)), "{:?} {said}", outcome.status);
    outcome.json()
}
