//! How fast `checkpoints --verify` rebuilds every file at every snapshot, beside parsing the same JSON once.
//! `benches/README.md` says how to read it.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark makes its store and prints")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is test code")]

#[path = "../tests/support/mod.rs"]
#[allow(dead_code, reason = "most of it is for the tests")]
mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::cost::{Cost, child, repeated};
use support::temp::{Temp, files_below};

fn main() {
    let temp = Temp::new("checkpoints");
    println!("{:<24}{:>8}{:>8}{:>10}{:>9}{:>12}", "pass", "CPU s", "wall s", "MB/s CPU", "peak MB", "x parsing");
    let (small, large) = (measure(&temp.join("1x"), 12_000_000), measure(&temp.join("10x"), 120_000_000));
    println!("growth from 12 MB to 120 MB: {:.1} times the CPU time", large / small.max(0.001));
}

/// The CPU time of `--verify` on indexes of so many bytes, and its ratio to parsing, printed.
fn measure(home: &Path, bytes: u64) -> f64 {
    let bytes = support::indexes::write_indexes(home, bytes);
    let files: Vec<PathBuf> = files_below(home).iter().map(|f| home.join(f)).collect();
    let parse = repeated(|| files.iter().all(|f| parsed(f)));
    let verify = child(
        Command::new(env!("CARGO_BIN_EXE_sid-audit"))
            .args(["checkpoints", "--verify", "--format", "json", "--jobs", "1", "--dialect", "sid"])
            .arg(home),
    );
    let print = |name: &str, cost: Cost| {
        let rate = bytes as f64 / 1e6 / cost.cpu.max(0.001);
        let ratio = cost.cpu / parse.cpu.max(0.001);
        println!("{name:<24}{:>8.3}{:>8.3}{rate:>10.0}{:>9.0}{ratio:>12.2}", cost.cpu, cost.wall, cost.peak);
    };
    print(&format!("serde_json, {} MB", bytes / 1_000_000), parse);
    print("checkpoints --verify", verify);
    verify.cpu
}

fn parsed(path: &Path) -> bool {
    let bytes = std::fs::read(path).expect("our own file");
    serde_json::from_slice::<Value>(&bytes).is_ok()
}
