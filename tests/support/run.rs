//! The binary as a user runs it: arguments in, exit status and text out, never longer than a limit.

use serde_json::Value;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A run that takes longer is ended, and its test with it.
const LIMIT: Duration = Duration::from_secs(60);

/// What came back.
#[derive(Debug)]
pub struct Outcome {
    /// The exit status; none when a signal ended it.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// The most memory that it had resident, in bytes; 0 where the system does not tell.
    pub peak: u64,
}

impl Outcome {
    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard output as JSON, or a message that shows what came instead.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|why| {
            let (out, err) = (self.text(), String::from_utf8_lossy(&self.stderr));
            let head: String = out.chars().take(400).collect();
            panic!("no JSON ({why}), status {:?}\nstdout: {head}\nstderr: {err}", self.status)
        })
    }
}

/// A run in preparation.
#[derive(Debug)]
pub struct Run {
    command: Command,
    limit: Duration,
    stdin: Option<Vec<u8>>,
}

impl Run {
    /// Runs this binary with an environment in which no home of an agent can be found.
    pub fn new(binary: &Path) -> Self {
        let mut command = Command::new(binary);
        let nowhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-home");
        command.env("HOME", &nowhere).env("XDG_STATE_HOME", nowhere.join("state")).env("NO_COLOR", "1");
        for name in ["SID_CONFIG_DIR", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(name);
        }
        Run { command, limit: LIMIT, stdin: None }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Gives it these bytes on standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// The command itself, for a test that talks to the child while it runs.
    pub fn command(self) -> Command {
        self.command
    }

    /// Ends the run, and the test, after this time.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs it to its end.
    pub fn go(mut self) -> Outcome {
        let input = if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
        self.command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("the binary can be started");
        let stdout = drain(child.stdout.take().expect("piped"));
        let stderr = drain(child.stderr.take().expect("piped"));
        if let (Some(bytes), Some(mut pipe)) = (self.stdin.take(), child.stdin.take()) {
            // A child that ends early closes its end; what it says then is the outcome.
            std::thread::spawn(move || pipe.write_all(&bytes));
        }
        let (status, peak) = wait(&mut child, Instant::now() + self.limit).unwrap_or_else(|| {
            panic!("still running after {:?}: {:?}", self.limit, self.command);
        });
        let (stdout, stderr) = (stdout.join().expect("read"), stderr.join().expect("read"));
        Outcome { status: status.code(), stdout, stderr, peak }
    }
}

fn drain(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Waits until then, and watches the memory; a child that is still there is killed and nothing is returned.
fn wait(child: &mut Child, until: Instant) -> Option<(ExitStatus, u64)> {
    let (facts, mut peak) = (PathBuf::from(format!("/proc/{}/status", child.id())), 0);
    loop {
        if let Some(status) = child.try_wait().expect("our own child") {
            return Some((status, peak));
        }
        peak = peak.max(high_water(&facts).unwrap_or(0));
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The most memory that a process had resident so far, in bytes, where `/proc` tells.
pub fn high_water(facts: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(facts).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// A path inside the folder of fixtures.
pub fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// Every finding of a scan, wherever in the report it stands.
pub fn findings(report: &Value) -> Vec<&Value> {
    let lists = ["sessions", "checkpoints"].into_iter().filter_map(|name| report[name].as_array()).flatten();
    lists.chain([&report["store"]]).filter_map(|part| part["findings"].as_array()).flatten().collect()
}

/// Whether a finding is at warning or above.
pub fn is_loud(finding: &Value) -> bool {
    matches!(finding["severity"].as_str(), Some("error" | "warning"))
}

/// A finding in a few words, for the message of a failed test.
pub fn brief(finding: &Value) -> String {
    let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    let (code, path, effect) = (text("code"), text("path"), text("effect"));
    format!("{code} {} {path}:{} {} {effect}", text("severity"), finding["line"], finding["facts"])
}
