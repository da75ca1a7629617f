//! How fast a scan is, beside what any reader of the same bytes has to do: one run, the same data, the same minute, so
//! that the ratios mean something on any machine. `benches/README.md` says how to read them.
//!
//! No benchmark library: what is measured takes seconds, and the CPU time of a child process is not what they measure.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a benchmark makes its store and prints")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is test code")]

#[path = "../tests/support/mod.rs"]
mod support;

use serde::de::IgnoredAny;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::run::high_water;
use support::temp::{Temp, files_below};

/// Ticks of the counters in `/proc/*/stat`; Linux shows 100 a second to programs.
const TICKS: f64 = 100.0;

/// What a pass over the store took.
#[derive(Clone, Copy, Default)]
struct Cost {
    cpu: f64,
    wall: f64,
    peak: f64,
}

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

/// The mean of several runs of a child process, after one that warms the page cache.
fn child(command: &mut Command) -> Cost {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    run_child(command);
    let (before, start, mut rounds, mut peak) = (cpu_seconds(2), Instant::now(), 0, 0.0_f64);
    while rounds < 3 || start.elapsed() < Duration::from_secs(2) {
        peak = peak.max(run_child(command));
        rounds += 1;
    }
    let n = f64::from(rounds);
    Cost { cpu: (cpu_seconds(2) - before) / n, wall: start.elapsed().as_secs_f64() / n, peak }
}

/// Runs a child to its end; the most memory that it had resident, in MB.
fn run_child(command: &mut Command) -> f64 {
    let Ok(mut child) = command.spawn() else { return 0.0 };
    let facts = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    while child.try_wait().expect("our own child").is_none() {
        peak = peak.max(high_water(&facts).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    }
    peak as f64 / 1e6
}

/// A pass in this process, repeated until the clock's steps of 10 ms do not matter.
fn repeated(pass: impl Fn() -> bool) -> Cost {
    assert!(pass(), "two ways of counting agree");
    let (before, start, mut rounds) = (cpu_seconds(0), Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(2) {
        assert!(pass(), "two ways of counting agree");
        rounds += 1;
    }
    let n = f64::from(rounds);
    Cost { cpu: (cpu_seconds(0) - before) / n, wall: start.elapsed().as_secs_f64() / n, peak: 0.0 }
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

/// User and system seconds: of this process (0) or of its children that ended (2). Zero where there is no `/proc`.
fn cpu_seconds(first: usize) -> f64 {
    let Ok(mut file) = File::open("/proc/self/stat") else { return 0.0 };
    let mut text = String::new();
    if file.read_to_string(&mut text).is_err() {
        return 0.0;
    }
    // The name in parentheses may hold anything; behind it stand numbers, of which user time is the twelfth.
    let numbers = text.rsplit(')').next().unwrap_or_default();
    let ticks = numbers.split_whitespace().skip(11 + first).take(2).filter_map(|n| n.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}
