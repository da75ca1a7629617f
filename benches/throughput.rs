//! How fast a scan is, beside what any reader of the same bytes has to do: one run, the same data, the same minute, so
//! that the ratios mean something on any machine. `benches/README.md` says how to read them.
//!
//! No benchmark library: what is measured takes seconds, and the CPU time of a child process is not what they measure.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark makes its store and prints")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is test code")]

#[path = "../tests/support/mod.rs"]
#[allow(dead_code, reason = "most of it is for the tests")]
mod support;

use serde::de::IgnoredAny;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::cost::{Cost, child, repeated};
use support::temp::{Temp, files_below};

fn main() {
    let megabytes: u64 = std::env::var("SID_AUDIT_BENCH_MB").ok().and_then(|v| v.parse().ok()).unwrap_or(500);
    let temp = Temp::new("throughput");
    let (small, large) = (temp.join("1x"), temp.join("10x"));
    support::bench::write_store(&small, megabytes * 100_000, None);
    support::bench::write_store(&large, megabytes * 1_000_000, None);
    let files: Vec<PathBuf> = files_below(&large).iter().map(|f| large.join(f)).collect();
    let bytes: u64 = files.iter().map(|f| f.metadata().expect("our own file").len()).sum();
    let lines = files.iter().map(|f| newlines(f)).sum::<u64>();
    println!("store: {} MB, {} files, {lines} lines", bytes / 1_000_000, files.len());

    let count = repeated(|| files.iter().map(|f| newlines(f)).sum::<u64>() == lines);
    let ignored = repeated(|| files.iter().map(|f| parsed(f)).sum::<u64>() == lines);
    let wc = child(Command::new("wc").arg("-l").args(&files));
    let (one, two, tenth) = (scan(&large, "1"), scan(&large, "2"), scan(&small, "1"));

    println!(
        "{:<24}{:>8}{:>8}{:>10}{:>9}{:>12}{:>14}",
        "pass", "CPU s", "wall s", "MB/s CPU", "peak MB", "x newlines", "x IgnoredAny"
    );
    let passes = [("newline count (memchr)", count), ("wc -l", wc), ("serde_json IgnoredAny", ignored)];
    for (name, cost) in passes.into_iter().chain([("scan --jobs 1", one), ("scan --jobs 2", two)]) {
        let (cpu, rate) = (cost.cpu, bytes as f64 / 1e6 / cost.cpu.max(0.001));
        let (newlines, ignored) = (cpu / count.cpu.max(0.001), cpu / ignored.cpu.max(0.001));
        let (wall, peak) = (cost.wall, cost.peak);
        println!("{name:<24}{cpu:>8.2}{wall:>8.2}{rate:>10.0}{peak:>9.0}{newlines:>12.1}{ignored:>14.2}");
    }
    println!("scan --jobs 1 over wc -l: {:.1} times its CPU time", one.cpu / wc.cpu.max(0.01));
    let (time, memory) = (one.cpu / tenth.cpu.max(0.01), one.peak / tenth.peak.max(0.1));
    println!("growth from 1x to 10x: {time:.1} times the CPU time, {memory:.1} times the memory");
    println!("two jobs over one: {:.2} times as fast", one.wall / two.wall.max(0.001));
}

/// A full scan by the program itself.
fn scan(store: &Path, jobs: &str) -> Cost {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sid-audit"));
    child(command.arg("scan").arg(store).args(["--dialect", "claude", "--format", "json", "--jobs", jobs]))
}

fn newlines(path: &Path) -> u64 {
    let mut file = File::open(path).expect("our own file");
    let (mut buffer, mut count) = (vec![0; 256 * 1024], 0);
    loop {
        match file.read(&mut buffer).expect("our own file") {
            0 => return count,
            n => count += memchr::memchr_iter(b'\n', &buffer[..n]).count() as u64,
        }
    }
}

fn parsed(path: &Path) -> u64 {
    let mut file = BufReader::with_capacity(256 * 1024, File::open(path).expect("our own file"));
    let (mut line, mut count) = (Vec::new(), 0);
    while file.read_until(b'\n', &mut line).expect("our own file") > 0 {
        count += u64::from(serde_json::from_slice::<IgnoredAny>(&line).is_ok());
        line.clear();
    }
    count
}
