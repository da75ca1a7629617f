//! The forms of a report that other programs read: SARIF, JUnit, HTML. Each is read back by something that we did not
//! write, or held to the published schema; what comes out of a session stays text in all of them.

#![allow(clippy::disallowed_macros, reason = "a check that cannot be made here says so")]

mod browser;
mod html;
mod junit;
mod pages;
mod planted;
mod sarif;
mod schemas;

use crate::support;
use std::path::Path;
use support::run::Run;

/// The moment at which stores are looked at.
const NOW: &str = "2026-03-10T00:00:00Z";

/// A run of the program on a store or session, reported in this form.
fn run(command: &str, format: &str, target: &Path) -> Run {
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg(command).arg(target);
    run.args(["--format", format, "--now", NOW])
}
