//! What a pass over some bytes costs, for the benchmarks: CPU time and wall time, of this process or of a child.
//!
//! No benchmark library: what is measured takes seconds, and the CPU time of a child process is not what they measure.

use super::run::high_water;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Ticks of the counters in `/proc/*/stat`; Linux shows 100 a second to programs.
const TICKS: f64 = 100.0;

/// What a pass over the store took.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cost {
    /// User and system seconds.
    pub cpu: f64,
    /// Seconds on the clock.
    pub wall: f64,
    /// The most memory that was resident, in MB; 0 where it is not looked at.
    pub peak: f64,
}

/// The mean of several runs of a child process, after one that warms the page cache.
pub fn child(command: &mut Command) -> Cost {
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
pub fn repeated(pass: impl Fn() -> bool) -> Cost {
    assert!(pass(), "two ways of counting agree");
    let (before, start, mut rounds) = (cpu_seconds(0), Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(2) {
        assert!(pass(), "two ways of counting agree");
        rounds += 1;
    }
    let n = f64::from(rounds);
    Cost { cpu: (cpu_seconds(0) - before) / n, wall: start.elapsed().as_secs_f64() / n, peak: 0.0 }
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
