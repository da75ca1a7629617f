//! Stores that are made to break a reader: too deep, too many, too odd, or changing under it. Whatever they hold, the
//! answer is a report within seconds, in bounded memory, with nothing raw on the terminal.
//!
//! Counts are a tenth of the full ones unless `SID_AUDIT_FULL=1` is set: test builds are hardly optimised.

use crate::support;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use support::run::{Outcome, Run};
use support::temp::{Temp, write};

const ID: &str = "5e550000-0000-4000-8000-000000000001";

/// A million, or a tenth of it.
fn many() -> u64 {
    if std::env::var_os("SID_AUDIT_FULL").is_some() { 1_000_000 } else { 100_000 }
}

fn run(command: &str, target: &Path) -> Run {
    Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg(command).arg(target)
}

/// A report came, whatever it says.
fn report(outcome: &Outcome) -> Value {
    assert!(matches!(outcome.status, Some(0..=2)), "status {:?}", outcome.status);
    let complaint = String::from_utf8_lossy(&outcome.stderr);
    assert!(!complaint.contains("panicked"), "{complaint}");
    outcome.json()
}

/// Scans as JSON and as a table; what the table shows is safe on a terminal. Returns the JSON.
fn scan(target: &Path) -> Value {
    let table = run("scan", target).go();
    assert!(matches!(table.status, Some(0..=2)), "status {:?}", table.status);
    assert_nothing_raw(&table.stdout);
    assert_nothing_raw(&table.stderr);
    report(&run("scan", target).args(["--format", "json"]).go())
}

/// No control character but the line feed, no escape sequence, no override of the direction of text.
fn assert_nothing_raw(bytes: &[u8]) {
    let text = std::str::from_utf8(bytes).expect("a report is UTF-8");
    let raw = |c: &char| {
        (c.is_control() && *c != '\n')
            || matches!(*c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(at) = text.find(|c| raw(&c)) {
        let shown: String = text[..at].chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("{:?} is shown raw behind {shown:?}", text[at..].chars().next());
    }
}

/// A session of Claude Code in a home of its own.
struct Session {
    home: Temp,
    path: PathBuf,
    file: BufWriter<File>,
}

impl Session {
    fn new(name: &str) -> Self {
        let home = Temp::new(name);
        let folder = home.join("projects/-home-demo");
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{ID}.jsonl"));
        let file = BufWriter::new(File::create(&path).unwrap());
        Session { home, path, file }
    }

    fn line(&mut self, line: impl AsRef<[u8]>) {
        self.file.write_all(line.as_ref()).unwrap();
        self.file.write_all(b"\n").unwrap();
    }

    /// A short record of the chain, as text.
    fn record(n: u64, parent: Option<u64>) -> String {
        let parent = parent.map_or("null".to_owned(), |p| format!("\"{}\"", id(p)));
        let (kind, content) =
            if n.is_multiple_of(2) { ("user", "\"q\"") } else { ("assistant", "[{\"type\":\"text\",\"text\":\"a\"}]") };
        format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"cwd\":\"/home/demo\",\"sessionId\":\"{ID}\",\"version\":\"2.1.200\",\
             \"type\":\"{kind}\",\"message\":{{\"role\":\"{kind}\",\"content\":{content}}},\"uuid\":\"{}\",\
             \"timestamp\":\"2026-08-01T00:00:00.000Z\"}}",
            id(n)
        )
    }

    fn finish(mut self) -> (Temp, PathBuf) {
        self.file.flush().unwrap();
        (self.home, self.path)
    }
}

/// Stops a thread when the test ends, well or not.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn id(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012x}")
}

#[test]
fn ten_million_blank_lines() {
    let mut s = Session::new("blank");
    s.line(Session::record(0, None));
    for _ in 0..many() {
        s.file.write_all(b"\n\n\n\n\n\n\n\n\n\n").unwrap();
    }
    s.line(Session::record(1, Some(0)));
    let (home, path) = s.finish();
    let report = scan(home.path());
    assert_eq!(report["sessions"][0]["lines"]["blank"], many() * 10);
    assert_eq!(report["sessions"][0]["resume"]["loaded"], 2);
    let chain = self::report(&run("chain", &path).args(["--format", "json"]).go());
    assert_eq!(chain["messages"][1]["line"], many() * 10 + 2, "lines are physical");
}

#[test]
fn nesting_a_million_deep() {
    for (name, open, close) in [("arrays", "[", "]"), ("objects", "{\"a\":", "}")] {
        let mut s = Session::new(name);
        s.line(Session::record(0, None));
        let depth = usize::try_from(many()).unwrap();
        let input = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        let block = format!("{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{{\"x\":{input}}}}}");
        s.line(Session::record(1, Some(0)).replace("{\"type\":\"text\",\"text\":\"a\"}", &block));
        s.line(Session::record(2, Some(1)));
        let (home, path) = s.finish();
        let report = scan(home.path());
        let codes: Vec<&str> = support::run::findings(&report).into_iter().filter_map(|f| f["code"].as_str()).collect();
        assert!(codes.contains(&"L116"), "{codes:?}");
        self::report(&run("chain", &path).args(["--format", "json"]).go());
    }
}

#[test]
fn a_chain_of_a_million_records() {
    let mut s = Session::new("chain");
    for n in 0..many() {
        s.line(Session::record(n, n.checked_sub(1)));
    }
    let (home, path) = s.finish();
    let outcome = run("scan", home.path()).args(["--jobs", "1", "--format", "json"]).go();
    let report = self::report(&outcome);
    assert_eq!(report["sessions"][0]["resume"]["loaded"], many());
    assert_eq!(report["sessions"][0]["resume"]["verdict"], "full");
    assert_memory(&outcome, many(), 512);
    let chain = self::report(&run("chain", &path).args(["--format", "json"]).go());
    assert_eq!(chain["messages"].as_array().map(Vec::len), usize::try_from(many()).ok());
    assert_nothing_raw(&run("chain", &path).go().stdout);
}

/// Memory as `--help` promises it: 16 MiB, the longest line, 160 bytes a record of the file in hand. A quarter more is
/// left to the allocator.
fn assert_memory(outcome: &Outcome, records: u64, longest: u64) {
    let promised = 16 * 1024 * 1024 + longest + 160 * records;
    assert!(outcome.peak <= promised + promised / 4, "{} bytes, {promised} promised", outcome.peak);
}

#[test]
fn a_million_siblings() {
    let mut s = Session::new("siblings");
    s.line(Session::record(0, None));
    for n in 1..many() {
        s.line(Session::record(n, Some(0)));
    }
    let (home, path) = s.finish();
    scan(home.path());
    self::report(&run("chain", &path).args(["--format", "json"]).go());
    assert_nothing_raw(&run("chain", &path).arg("--tree").go().stdout);
}

#[test]
fn a_million_records_with_one_id() {
    let mut s = Session::new("one-id");
    for n in 0..many() {
        let record = Session::record(1, Some(0));
        s.line(record.replace("\"text\":\"a\"", &format!("\"text\":\"{n}\"")));
    }
    let (home, path) = s.finish();
    let report = scan(home.path());
    let listed = support::run::findings(&report).len();
    assert!(listed < 1_000, "{listed} findings are listed one by one");
    self::report(&run("chain", &path).args(["--format", "json"]).go());
}

#[test]
fn a_million_bad_lines() {
    let mut s = Session::new("bad-lines");
    s.line(Session::record(0, None));
    for n in 0..many() {
        s.line(format!("{{\"type\":\"user\",\"uuid\":\"{}\",\"parentUuid\":\"", id(n)));
    }
    s.line(Session::record(1, Some(0)));
    let (home, _) = s.finish();
    let outcome = run("scan", home.path()).args(["--jobs", "1", "--format", "json"]).go();
    let report = self::report(&outcome);
    assert_eq!(outcome.status, Some(1));
    assert_eq!(report["sessions"][0]["lines"]["bad"], many());
    assert!(outcome.stdout.len() < 4_000_000, "places are capped");
    assert_memory(&outcome, many(), 512);
}

#[test]
fn one_line_of_many_megabytes() {
    let megabytes = if many() == 1_000_000 { 200 } else { 20 };
    let mut s = Session::new("long-line");
    s.line(Session::record(0, None));
    let text = "x".repeat(megabytes * 1024 * 1024);
    s.line(Session::record(1, Some(0)).replace("\"text\":\"a\"", &format!("\"text\":\"{text}\"")));
    let (home, _) = s.finish();
    let outcome = run("scan", home.path()).args(["--jobs", "1", "--format", "json"]).go();
    let report = self::report(&outcome);
    assert_eq!(report["sessions"][0]["resume"]["loaded"], 2);
    assert!(support::run::findings(&report).iter().any(|f| f["code"] == "L117"), "a line over 16 MiB is told");
    assert_memory(&outcome, 2, text.len() as u64);
}

/// Escape sequences that colour, move the cursor, set the title and write to the clipboard; C1 controls; overrides of
/// direction; a line break.
const NASTY: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}\u{2066}\u{200f}\r\n\u{0}\u{7f}";

/// The same record with this text at the end of every string in it, keys included when `keys` is set.
fn poison(value: &Value, keys: bool) -> Value {
    match value {
        Value::String(text) => json!(format!("{text}{NASTY}")),
        Value::Array(items) => items.iter().map(|item| poison(item, keys)).collect(),
        Value::Object(map) => {
            let name = |key: &String| if keys { format!("{key}{NASTY}") } else { key.clone() };
            map.iter().map(|(key, item)| (name(key), poison(item, keys))).collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// A record in which every string but those that make it a record is hostile.
fn hostile(record: &Value, keep: &[&str]) -> Value {
    let mut out = poison(record, false);
    for name in keep {
        if !record[name].is_null() {
            out[name] = record[name].clone();
        }
    }
    out["another"] = poison(&json!({"key": "value"}), true);
    out
}

fn hostile_stores() -> Vec<(&'static str, Value, &'static [&'static str], &'static str)> {
    vec![
        (
            "projects/-home-demo/5e550000-0000-4000-8000-000000000001.jsonl",
            json!({"parentUuid": null, "isSidechain": false, "cwd": "/home/demo", "sessionId": ID, "version": "2.1.200",
                "gitBranch": "main", "type": "assistant", "message": {"id": "msg_1", "role": "assistant",
                "model": "claude-opus-4-7", "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": "t1",
                "name": "Bash", "input": {"command": "ls"}}]}, "requestId": "req_1", "uuid": "u1",
                "timestamp": "2026-08-01T00:00:00.000Z"}),
            &["type"],
            "claude",
        ),
        (
            "sessions/home-demo/20260801-000000-00000001.jsonl",
            json!({"type": "session_start", "version": "3.0", "sessionId": "20260801-000000-00000001", "model": "m",
                "provider": "p", "cwd": "/home/demo", "timestamp": "2026-08-01T00:00:00.000Z", "uuid": "u1",
                "parentUuid": null}),
            &["type"],
            "sid",
        ),
        (
            "sessions/--home-demo--/2026-08-01T00-00-00-000Z_x.jsonl",
            json!({"type": "message", "id": "aaaa0001", "parentId": "aaaa0000", "timestamp": "2026-08-01T00:00:00.000Z",
                "message": {"role": "user", "content": [{"type": "text", "text": "q"}]}}),
            &["type"],
            "pi",
        ),
    ]
}

#[test]
fn nothing_hostile_reaches_the_terminal() {
    for (path, record, keep, agent_id) in hostile_stores() {
        let home = Temp::new("escapes");
        let header = json!({"type": "session", "version": 3, "id": NASTY, "timestamp": NASTY, "cwd": NASTY});
        let mut lines = if agent_id == "pi" { format!("{header}\n") } else { String::new() };
        // Whole records, then damage of several kinds: each has places and ids that a report wants to show.
        for keep in [keep, &["type", "uuid", "parentUuid", "id", "parentId"], &["type", "message"], &[]] {
            lines += &format!("{}\n", hostile(&record, keep));
        }
        lines += &format!("{}\n", hostile(&record, keep)).replace("u1", "u2").replace("aaaa0001", "aaaa0002");
        lines += &format!("{{\"type\":\"{NASTY}\",\"uuid\":\"{NASTY}\n");
        lines += &hostile(&record, keep).to_string()[..60];
        let file = home.join(path);
        write(&file, lines);
        scan(home.path());
        for extra in [&[][..], &["--tree"], &["--messages"], &["--show-content"]] {
            let chain = run("chain", &file).args(["--agent", agent_id]).args(extra).go();
            assert_nothing_raw(&chain.stdout);
            assert_nothing_raw(&chain.stderr);
        }
        // An id that a person passes comes back in a message.
        let unknown = run("chain", &file).args(["--agent", agent_id, "--leaf", &NASTY.replace('\0', "")]).go();
        assert_eq!(unknown.status, Some(2));
        assert_nothing_raw(&unknown.stderr);
        for extra in [&["--all"][..], &["-v"], &["--show-content"]] {
            assert_nothing_raw(&run("scan", home.path()).args(extra).go().stdout);
        }
    }
}

#[test]
fn nothing_hostile_in_a_name_reaches_the_terminal() {
    let home = Temp::new("names");
    let record = format!("{}\n{{\"type\":", Session::record(0, Some(7)));
    let names: [&[u8]; 4] = [b"\x1b[31mred", "\u{202e}evil".as_bytes(), b"line\nfeed", b"not-\xff-utf8"];
    for name in names {
        let folder = home.join("projects").join(OsString::from_vec(name.to_vec()));
        fs::create_dir_all(&folder).unwrap();
        write(&folder.join(format!("{ID}.jsonl")), &record);
        let mut file = name.to_vec();
        file.extend_from_slice(b".jsonl");
        write(&folder.join(OsString::from_vec(file)), &record);
    }
    let report = scan(home.path());
    assert!(report["sessions"].as_array().map_or(0, Vec::len) >= 4, "a name that is no UTF-8 hides nothing");
}

#[test]
fn a_fifo_and_a_socket_in_the_folder() {
    let mut s = Session::new("fifo");
    s.line(Session::record(0, None));
    s.line(Session::record(1, Some(0)));
    let (home, path) = s.finish();
    let folder = path.parent().unwrap();
    let fifo = folder.join("5e550000-0000-4000-8000-00000000000f.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // The path of a socket may have 108 bytes: it is bound beside the store and moved in.
    let short = std::env::temp_dir().join(format!("sid-audit-{}", std::process::id()));
    let socket = std::os::unix::net::UnixListener::bind(&short).unwrap();
    if fs::rename(&short, folder.join("5e550000-0000-4000-8000-0000000000ff.jsonl")).is_err() {
        fs::remove_file(&short).unwrap();
    }
    let report = scan(home.path());
    let loaded = report["sessions"].as_array().unwrap().iter().any(|s| s["resume"]["loaded"] == 2);
    assert!(loaded, "the session beside them is read");
    let outcome = run("scan", &fifo).args(["--format", "json"]).go();
    assert_eq!(outcome.status, Some(2), "a FIFO is nothing to read");
    drop(socket);
}

#[test]
fn loops_of_links_and_links_out_of_the_store() {
    let mut s = Session::new("links");
    s.line(Session::record(0, None));
    s.line(Session::record(1, Some(0)));
    let (home, path) = s.finish();
    let folder = path.parent().unwrap();
    std::os::unix::fs::symlink(home.path(), folder.join("up")).unwrap();
    std::os::unix::fs::symlink("round", folder.join("round")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("5e550000-0000-4000-8000-00000000000e.jsonl")).unwrap();
    std::os::unix::fs::symlink("/nowhere", folder.join("5e550000-0000-4000-8000-00000000000d.jsonl")).unwrap();
    let report = scan(home.path());
    assert!(!report.to_string().contains("root:x"), "nothing outside the store is read");
    assert!(report["sessions"].as_array().unwrap().iter().any(|s| s["resume"]["loaded"] == 2));
}

#[test]
fn a_file_that_is_truncated_while_it_is_read() {
    let mut s = Session::new("truncated");
    for n in 0..many() / 4 {
        s.line(Session::record(n, n.checked_sub(1)));
    }
    let (home, path) = s.finish();
    let bytes = fs::read(&path).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let file = OpenOptions::new().write(true).open(&path).unwrap();
                file.set_len(bytes.len() as u64 / 3).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(3));
                fs::write(&path, &bytes).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(7));
            }
        });
        let _stop = Stop(&stop);
        for _ in 0..20 {
            let outcome = run("scan", home.path()).args(["--format", "json"]).go();
            report(&outcome);
        }
    });
}

#[test]
fn files_that_vanish_and_appear_while_the_store_is_read() {
    let home = Temp::new("vanish");
    let folder = home.join("projects/-home-demo");
    let name = |n: u64| folder.join(format!("5e550000-0000-4000-8000-{n:012x}.jsonl"));
    let text = format!("{}\n{}\n", Session::record(0, None), Session::record(1, Some(0)));
    (0..300).for_each(|n| write(&name(n), &text));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in (0..300).cycle().take_while(|_| !stop.load(Ordering::Relaxed)) {
                let _ = fs::remove_file(name(n));
                write(&name(300 + n), &text);
                let _ = fs::remove_file(name(300 + n));
                write(&name(n), &text);
            }
        });
        let _stop = Stop(&stop);
        for _ in 0..10 {
            report(&run("scan", home.path()).args(["--format", "json"]).go());
        }
    });
}
