//! Writers that are killed: a process of ours appends as sid-code does, or rewrites a checkpoint index, and gets SIGKILL at
//! a random moment. What is found then is what really happened, and nothing else. And scans of a store that such a
//! process is writing to: no error.
//!
//! sid-code's writer (3f3215144f68): the start and the end of a session are written at once, everything else is queued and
//! appended every 100 ms. An index is rewritten in place. Node writes long files in pieces of 512 KiB.

use crate::support;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};
use support::random::Rng;
use support::run::{Outcome, Run, brief, findings};
use support::sid::Session;
use support::temp::{Temp, write};

/// Tells this very program what to write: the kind, the home, the seed.
const ROLE: &str = "SID_AUDIT_CHAOS_WRITER";
const PIECE: usize = 512 << 10;
const LARGE: usize = 6 << 20;

/// How often a writer is killed, or a live store read.
fn runs() -> u64 {
    if std::env::var_os("SID_AUDIT_FULL").is_some() { 50 } else { 12 }
}

fn now() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64)
}

/// Not a test of its own: the process that the others start, and kill. Without a role it has nothing to do.
#[test]
fn writer() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let [kind, root, seed] = role.splitn(3, '|').collect::<Vec<_>>()[..] else { panic!("{role}") };
    let (root, seed) = (Path::new(root), seed.parse().unwrap());
    std::thread::spawn(|| {
        // Whoever started it may have been killed itself.
        std::thread::sleep(Duration::from_secs(120));
        std::process::abort();
    });
    match kind {
        "small" => write_sessions(root, seed, 0.0, 30),
        "large" => write_sessions(root, seed, 0.5, 30),
        // To be read for a minute: it may not outgrow the reader.
        "large and slow" => write_sessions(root, seed, 0.15, 150),
        _ => write_indexes(root, seed),
    }
}

fn append(file: &mut File, bytes: &[u8]) {
    for piece in bytes.chunks(PIECE) {
        file.write_all(piece).unwrap();
    }
}

/// One session after the other, until it is killed. `large`: how likely a turn is of 6 MB; `pause`: the longest between
/// two turns, in milliseconds.
fn write_sessions(root: &Path, seed: u64, large: f64, pause: u64) {
    let mut rng = Rng::new(seed);
    for number in 0.. {
        let mut session = Session::new(seed * 1000 + number, 0, now() - 3_600_000);
        register(root, &session.id);
        let path = session.path(root);
        session.start(None);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        append(&mut file, &session.take());
        let (mut flushed, mut queue) = (Instant::now(), Vec::new());
        for turn in 0..rng.range(3, 12) {
            if rng.chance(large) {
                session.large_turn(LARGE);
            } else {
                session.turn(turn == 0);
            }
            std::thread::sleep(Duration::from_millis(rng.range(1, pause)));
            queue.extend(session.take());
            if flushed.elapsed() >= Duration::from_millis(100) {
                // The end of the turn comes with the next flush: an answer may still be streaming, a tool running.
                let ends: Vec<usize> = memchr::memchr_iter(b'\n', &queue).map(|at| at + 1).collect();
                let rest = queue.split_off(*rng.pick(&ends));
                append(&mut file, &queue);
                (flushed, queue) = (Instant::now(), rest);
            }
        }
        append(&mut file, &queue);
        session.end();
        append(&mut file, &session.take());
    }
}

fn register(root: &Path, id: &str) {
    let entry = json!({"sessionId": id, "pid": std::process::id(), "kind": "interactive", "cwd": "/home/dev/demo",
        "startedAt": now()});
    write(&root.join("active-sessions").join(format!("{id}.json")), serde_json::to_vec_pretty(&entry).unwrap());
}

const INDEXED: &str = "/home/dev/demo/src/a.txt";

/// A session that says which file it changed, and its index, rewritten in place after each snapshot until it is killed.
fn write_indexes(root: &Path, seed: u64) {
    let mut session = Session::plain(seed, 0, now() - 3_600_000, 2);
    session.metadata("file_changes", &json!({"files": [INDEXED], "lastTool": "edit", "count": 1}));
    session.end();
    write(&session.path(root), session.take());
    let path = root.join("checkpoints").join(&session.id).join("index.json");
    let mut rng = Rng::new(seed);
    // A file of 2 000 lines of which one changes; the first copy is written plain, as a text of few repetitions may be.
    let lines: Vec<String> = (0..2_000).map(|n| format!("line {n} {}", rng.hex(60))).collect();
    let full = json!({"filePath": INDEXED, "existedBefore": true, "type": "full", "content": lines.join("\n"),
        "compressed": false});
    let mut snapshots: Vec<Value> = Vec::new();
    for n in 1_u64.. {
        let mut keep = lines[1..].to_vec();
        let end = keep.split_off(1_000);
        let ops = json!([{"type": "remove", "lines": [first(&lines, n - 1)]}, {"type": "add", "lines": [first(&lines, n)]},
            {"type": "keep", "lines": keep}, {"type": "keep", "lines": end}]);
        let file = match n {
            1 => full.clone(),
            _ => json!({"filePath": INDEXED, "existedBefore": true, "type": "diff", "diff": {"ops": ops}}),
        };
        snapshots
            .push(json!({"id": format!("s{n}"), "timestamp": now() - 3_500_000, "toolName": "edit", "toolSummary": "",
            "files": [file]}));
        let latest = BTreeMap::from([(INDEXED, "s1")]);
        let index = json!({"sessionId": session.id, "createdAt": now() - 3_600_000, "nextId": n + 1,
            "snapshots": snapshots, "latestFullMap": latest});
        let bytes = serde_json::to_vec_pretty(&index).unwrap();
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        append(&mut File::create(&path).unwrap(), &bytes);
        if n == 40 {
            // Below the agent's quota of entries: it goes on with the same index.
            snapshots.truncate(20);
            return write_indexes(root, seed + 1_000);
        }
    }
}

/// The first line of the file as it was before snapshot `n + 1`.
fn first(lines: &[String], n: u64) -> String {
    if n <= 1 { lines[0].clone() } else { format!("changed {n}") }
}

/// Starts the writer in a process of its own.
fn start(kind: &str, root: &Path, seed: u64) -> Writer {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "chaos::writer", "--nocapture"])
        .env(ROLE, format!("{kind}|{}|{seed}", root.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Writer(child.unwrap())
}

/// The process; it never outlives its test.
struct Writer(Child);

impl Writer {
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a path is there.
fn begun(path: &Path) {
    let limit = Instant::now() + Duration::from_secs(10);
    while !path.exists() {
        assert!(Instant::now() < limit, "the writer did not begin");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// When it is killed.
enum Moment {
    /// So long after it began.
    After(Duration),
    /// When the files of this folder together hold so many bytes, which falls into a write where writes are long.
    Bytes(u64),
}

fn kill_at(mut child: Writer, folder: &Path, moment: &Moment) {
    begun(folder);
    match moment {
        Moment::After(time) => std::thread::sleep(*time),
        Moment::Bytes(bytes) => {
            let limit = Instant::now() + Duration::from_secs(10);
            while size(folder) < *bytes && Instant::now() < limit {
                std::thread::sleep(Duration::from_micros(50));
            }
        }
    }
    child.kill();
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => size(&entry.path()),
        _ => entry.metadata().map_or(0, |meta| meta.len()),
    });
    sizes.sum()
}

/// F703 apart: that sid-code never writes which snapshot a change was stored in is true of every home of it.
fn scan(root: &Path) -> Outcome {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit")))
        .args(["scan", "--format", "json", "--ignore", "F703"])
        .arg(root)
        .go()
}

/// What is found beyond information, by code and severity; of C210 the cause is asked for.
fn check(report: &Value, allowed: &[(&str, &str)], seen: &mut BTreeMap<String, u64>) {
    for finding in findings(report) {
        let (code, severity) = (finding["code"].as_str().unwrap(), finding["severity"].as_str().unwrap());
        *seen.entry(format!("{code} {severity}")).or_default() += 1;
        if severity == "info" {
            continue;
        }
        assert!(allowed.contains(&(code, severity)), "{}", brief(finding));
        if code == "C210" {
            assert!(finding["cause"].as_str().is_some_and(|cause| cause.starts_with("L101@")), "{}", brief(finding));
        }
    }
    assert_eq!(report["errors"], json!([]));
}

/// Whether no run more is needed: all were made, and one of them cut what it should. On a busy machine a writer may not
/// have come that far when it is killed; then there are more, up to a limit at which the test fails.
fn enough(seed: u64, cut: bool) -> bool {
    seed > runs() && (cut || seed > 10 * runs())
}

/// A torn tail; what it takes away; a call whose result was still in the queue, which sid-code leaves out.
const KILLED: &[(&str, &str)] = &[("L101", "error"), ("C210", "error"), ("L102", "warning"), ("T301", "warning")];

#[test]
fn a_killed_writer_leaves_a_torn_tail_and_nothing_else() {
    let mut rng = Rng::new(5);
    let mut seen = BTreeMap::new();
    for seed in 1.. {
        if enough(seed, seen.contains_key("S503 info") && seen.contains_key("L101 error")) {
            break;
        }
        let temp = Temp::new("chaos-session");
        let root = temp.join(".sid-code");
        let kind = if seed % 2 == 0 { "large" } else { "small" };
        let child = start(kind, &root, seed);
        let moment = match seed % 4 {
            0 => Moment::Bytes(rng.range(1, 30 << 20)),
            _ => Moment::After(Duration::from_millis(rng.range(1, 500))),
        };
        kill_at(child, &root.join("sessions"), &moment);
        let outcome = scan(&root);
        check(&outcome.json(), KILLED, &mut seen);
        assert!(matches!(outcome.status, Some(0 | 1)), "{:?}", outcome.status);
    }
    assert!(seen.contains_key("S503 info") && seen.contains_key("L101 error"), "no session was cut: {seen:?}");
}

#[test]
fn a_killed_index_writer_leaves_a_torn_index_and_nothing_else() {
    let mut rng = Rng::new(6);
    let mut seen = BTreeMap::new();
    for seed in 1.. {
        if enough(seed, seen.contains_key("K801 error")) {
            break;
        }
        let temp = Temp::new("chaos-index");
        let root = temp.join(".sid-code");
        let child = start("index", &root, seed);
        kill_at(child, &root.join("checkpoints"), &Moment::After(Duration::from_millis(rng.range(1, 250))));
        let report = scan(&root).json();
        check(&report, &[("K801", "error")], &mut seen);
        if let Some(finding) = findings(&report).into_iter().find(|f| f["code"] == "K801") {
            assert!(finding["effect"].as_str().unwrap().contains("starts from an empty history"), "{}", brief(finding));
        }
    }
    assert!(seen.contains_key("K801 error"), "no index was cut: {seen:?}");
}

#[test]
fn a_store_that_is_written_to_has_no_error() {
    for kind in ["small", "large and slow"] {
        let temp = Temp::new("chaos-live");
        let root = temp.join(".sid-code");
        let mut child = start(kind, &root, 77);
        begun(&root.join("sessions"));
        let mut live = 0;
        for n in 0..runs() {
            if n == runs() / 2 {
                // From here on nothing tells that it lives but the growing file.
                std::fs::remove_dir_all(root.join("active-sessions")).unwrap();
            }
            let outcome = scan(&root);
            let report = outcome.json();
            let errors: Vec<String> =
                findings(&report).into_iter().filter(|f| f["severity"] == "error").map(brief).collect();
            assert!(errors.is_empty(), "run {n} of {kind}: {errors:#?}");
            assert_eq!(outcome.status, Some(0));
            live += report["sessions"].as_array().unwrap().iter().filter(|s| s["live"] == true).count();
        }
        assert!(child.0.try_wait().unwrap().is_none(), "it was written to all the time");
        child.kill();
        assert!(live > 0, "no session was seen to be in use");
    }
}
