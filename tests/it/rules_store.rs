//! Rules S over small stores, each code where it must speak and where it must not.
//!
//! The stores are written here, record by record, because most of what is tested lies between files: names, folders,
//! times, registries. What sid-code and the open SDK themselves make of such stores was compared with the recorded
//! behaviour of both; here stands what must stay so.
//!
//! Longer than other files because each code has its store and its counter-example side by side.

#![allow(clippy::needless_pass_by_value, reason = "the tests write the stores")]

use crate::support;
use serde_json::{Value, json};
use sid_audit::agents;
use sid_audit::finding::{Fact, Finding, Severity};
use sid_audit::rules::store::{Elsewhere, StoreCollector, check_store};
use sid_audit::rules::{Context, Examined, session_findings};
use sid_audit::session::{Session, Shape};
use sid_audit::store::meter::Meter;
use sid_audit::store::{Environment, FileKind, discover, liveness};
use std::path::Path;
use support::temp::{Temp, write};
use support::time::{DAY, iso, parse, touch};

/// The moment at which stores are looked at.
const NOW: &str = "2026-03-10T00:00:00Z";

/// What was found.
struct Found {
    findings: Vec<Finding>,
    elsewhere: Vec<Elsewhere>,
}

impl Found {
    fn of(&self, code: &str) -> Vec<&Finding> {
        self.findings.iter().filter(|f| f.rule.code == code).collect()
    }

    fn one(&self, code: &str) -> &Finding {
        let all = self.of(code);
        assert_eq!(all.len(), 1, "{code} once, not {:?}", self.codes());
        all[0]
    }

    fn codes(&self) -> Vec<String> {
        self.findings.iter().map(|f| format!("{} {}", f.rule.code, f.severity.name())).collect()
    }

    #[track_caller]
    fn none(&self, code: &str) {
        assert!(self.of(code).is_empty(), "{code} must not speak: {:?}", self.codes());
    }

    /// Warnings and errors of the family.
    #[track_caller]
    fn silent(&self) {
        let loud = self.findings.iter().filter(|f| f.rule.code.starts_with('S') && f.severity > Severity::Info);
        let loud: Vec<String> = loud.map(|f| format!("{} {} {:?}", f.rule.code, f.effect, f.path)).take(5).collect();
        assert!(loud.is_empty(), "{loud:#?}");
    }
}

fn scan(path: &Path) -> Found {
    scan_at(path, NOW, 1 << 19, None)
}

fn scan_at(path: &Path, now: &str, budget: usize, live: Option<bool>) -> Found {
    let now = parse(now);
    let discovery = discover(&[path.to_owned()], None, &Environment::default(), agents::HOMES);
    let (registrations, _) = liveness::registrations(&discovery);
    let collector = StoreCollector::with_budget(agents::JUDGES, budget);
    let mut findings = Vec::new();
    for (n, file) in (0_u32..).zip(&discovery.files) {
        let shape = match file.kind {
            FileKind::Main => Shape::Main,
            FileKind::Beside => Shape::Sidechain,
            FileKind::Subagent => Shape::Subagent,
            FileKind::Whole => Shape::Legacy,
            _ => continue,
        };
        let (path, source) = (discovery.path(file), discovery.open(file).unwrap());
        let agent = agents::reader(file.agent_id.unwrap(), shape);
        let session = Session::read(path, source, agent, shape, &Meter::default()).unwrap();
        let examined = Examined::of(session, agent);
        let context = Context::new(&examined, live.unwrap_or(false), now, 20);
        findings.extend(session_findings(&context).0);
        collector.add(&examined.session, n, &discovery, live.unwrap_or(false));
    }
    let report = check_store(&discovery, collector, &registrations, now);
    assert_eq!(report.errors, []);
    for (file, finding) in &report.findings {
        assert!(finding.path.is_some(), "{} has a path", finding.rule.code);
        assert!(file.is_none_or(|n| (n as usize) < discovery.files.len()));
    }
    findings.extend(report.findings.into_iter().map(|(_, finding)| finding));
    for finding in findings.iter().filter(|f| f.rule.code.starts_with('S')) {
        assert!(!finding.effect.is_empty() && !finding.effect.ends_with('.'), "{finding:?}");
    }
    Found { findings, elsewhere: report.elsewhere }
}

fn fact<'a>(finding: &'a Finding, name: &str) -> &'a Fact {
    &finding.facts.iter().find(|(key, _)| *key == name).unwrap_or_else(|| panic!("{name} in {finding:?}")).1
}

fn number(finding: &Finding, name: &str) -> i64 {
    match fact(finding, name) {
        Fact::Number(n) => *n,
        other => panic!("{name}: {other:?}"),
    }
}

fn words(finding: &Finding, name: &str) -> Vec<String> {
    match fact(finding, name) {
        Fact::Words(words) => words.clone(),
        Fact::Word(word) => vec![word.clone()],
        other => panic!("{name}: {other:?}"),
    }
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// The time so many seconds after the session began.
fn at(seconds: i64) -> String {
    iso(parse("2026-03-09T09:00:00Z") + seconds * 1000)
}

// ---- sid-code ----

const SID: &str = "20260309-090000-0000000a";
const SID_B: &str = "20260309-090000-0000000b";

/// Records of sid-code, chained in the order given.
fn chained(rows: Vec<Value>) -> Vec<Value> {
    let mut parent = Value::Null;
    let seed = rows.iter().fold(String::new(), |all, row| all + &row.to_string());
    let chain = |(n, mut row): (usize, Value)| {
        let id = format!("{:08x}-0000-4000-8000-{:012x}", fnv(&seed), n);
        row["timestamp"] = row.get("timestamp").cloned().unwrap_or_else(|| json!(at(n as i64)));
        row["uuid"] = json!(id);
        if row.get("parentUuid").is_none() {
            row["parentUuid"] = parent.clone();
        }
        parent = json!(id);
        row
    };
    rows.into_iter().enumerate().map(chain).collect()
}

fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

fn start(id: &str, cwd: &str) -> Value {
    json!({"type": "session_start", "version": "3.0", "sessionId": id, "model": "m", "provider": "demo", "cwd": cwd})
}

fn said(role: &str, content: Value) -> Value {
    json!({"type": format!("{role}_message"), "message": {"role": role, "content": content}})
}

fn text(role: &str, text: &str) -> Value {
    said(role, json!([{"type": "text", "text": text}]))
}

fn call(id: &str, name: &str) -> Value {
    said("assistant", json!([{"type": "tool_use", "id": id, "name": name, "input": {}}]))
}

fn result(id: &str) -> Value {
    said("user", json!([{"type": "tool_result", "tool_use_id": id, "content": "x"}]))
}

fn metadata(key: &str, value: Value) -> Value {
    json!({"type": "metadata", "key": key, "value": value})
}

fn end() -> Value {
    json!({"type": "session_end", "totalCostUSD": 0, "totalMessages": 2})
}

/// A finished session of two messages.
fn sid_rows(id: &str) -> Vec<Value> {
    vec![start(id, "/home/dev/demo"), text("user", id), text("assistant", "yes"), end()]
}

fn sid_home(temp: &Temp) -> std::path::PathBuf {
    temp.join(".sid-code")
}

fn put_sid(temp: &Temp, folder: &str, name: &str, rows: Vec<Value>) -> std::path::PathBuf {
    let path = sid_home(temp).join("sessions").join(folder).join(name);
    write(&path, lines(&chained(rows)));
    path
}

/// One session of sid-code in its project, and what is found in its home.
fn sid_of(rows: Vec<Value>) -> Found {
    let temp = Temp::new("rules-s");
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), rows);
    scan(&sid_home(&temp))
}

fn sidechain(id: &str, agent: &str, ended: bool) -> String {
    let mut rows = vec![
        json!({"type": "sidechain_start", "sessionId": id, "agentId": agent, "agentType": "explore", "timestamp": at(0)}),
        json!({"type": "message", "role": "user", "content": [{"type": "text", "text": "look"}], "turn": 1,
            "timestamp": at(1)}),
    ];
    if ended {
        rows.push(json!({"type": "sidechain_end", "status": "completed", "timestamp": at(2)}));
    }
    lines(&rows)
}

#[test]
fn a_healthy_session_of_sid_code_is_silent() {
    let found = sid_of(sid_rows(SID));
    assert_eq!(found.codes(), Vec::<String>::new());
}

#[test]
fn an_unanswered_question_and_unanswered_results() {
    let found = sid_of(vec![start(SID, "/home/dev/demo"), text("user", "hello")]);
    assert_eq!(found.one("S501").place.line, Some(2));
    found.none("S502");

    let rows = || vec![start(SID, "/home/dev/demo"), text("user", "go"), call("c1", "bash"), result("c1")];
    let found = sid_of(rows());
    assert_eq!(words(found.one("S502"), "tools"), ["bash"]);
    found.none("S501");

    // A call without a result is dropped before the agent looks: the prompt is the end.
    let mut open = rows();
    open.pop();
    assert_eq!(sid_of(open).one("S501").place.line, Some(2));

    let temp = Temp::new("rules-s");
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), rows());
    let live = scan_at(&sid_home(&temp), NOW, 1000, Some(true));
    assert_eq!(words(live.one("S502"), "state"), ["in flight"]);
    sid_of(sid_rows(SID)).none("S501");
}

#[test]
fn end_marks_are_counted() {
    let rows = |id: &str| vec![start(id, "/home/dev/demo"), text("user", "q"), text("assistant", "a")];
    let temp = Temp::new("rules-s");
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), rows(SID));
    put_sid(&temp, "home-dev-demo", &format!("{SID_B}.jsonl"), rows(SID_B));
    let found = scan(&sid_home(&temp));
    assert_eq!(found.one("S503").count, Some(2), "one for the store");

    let found = sid_of(sid_rows(SID));
    found.none("S503");
    found.none("S504");
    let mut resumed = sid_rows(SID);
    resumed.extend([text("user", "more"), text("assistant", "yes"), end()]);
    let found = sid_of(resumed);
    assert_eq!((number(found.one("S504"), "end_marks"), number(found.one("S504"), "records_behind")), (2, 3));
}

#[test]
fn a_second_start_and_records_before_the_first() {
    let mut rows = sid_rows(SID);
    rows.extend(sid_rows(SID));
    assert_eq!(sid_of(rows).one("S505").place.line, Some(5));
    let mut rows = sid_rows(SID);
    rows.insert(0, text("user", "before"));
    assert_eq!(number(sid_of(rows).one("S505"), "records_before_first"), 1);
    sid_of(sid_rows(SID)).none("S505");
}

#[test]
fn names_and_ids_of_sid_code() {
    let found = sid_of(sid_rows(SID_B));
    assert_eq!(words(found.one("S506"), "inside"), [SID_B]);

    // A name of no agent's form is not judged.
    let temp = Temp::new("rules-s");
    let path = temp.join("notes.jsonl");
    write(&path, lines(&chained(sid_rows(SID_B))));
    scan(&path).none("S506");

    let temp = Temp::new("rules-s");
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
    let folder = sid_home(&temp).join("sessions/home-dev-demo");
    write(&folder.join(format!("{SID}-task-1.jsonl")), sidechain(SID, "task-1", true));
    scan(&sid_home(&temp)).none("S506");
    write(&folder.join(format!("{SID}-task-2.jsonl")), sidechain(SID_B, "task-2", true));
    assert_eq!(words(scan(&sid_home(&temp)).one("S506"), "name"), [SID]);
}

#[test]
fn project_folders_of_sid_code() {
    let found = |folder: &str, cwd: &str| {
        let temp = Temp::new("rules-s");
        let rows = vec![start(SID, cwd), text("user", "q"), text("assistant", "a"), end()];
        put_sid(&temp, folder, &format!("{SID}.jsonl"), rows);
        scan(&sid_home(&temp))
    };
    for (folder, cwd) in [
        ("home-dev-demo", "/home/dev/demo"),
        // the top of the repository is some folder above
        ("home-dev-demo", "/home/dev/demo/src/deep"),
        ("home-dev-demo-9ed22e", "/home/dev/demo/演示 项目"),
        ("_legacy", "/anywhere"),
    ] {
        found(folder, cwd).none("S507");
    }
    let wrong = found("home-dev-other", "/home/dev/demo");
    assert_eq!(words(wrong.one("S507"), "expected"), ["home-dev-demo"]);
    // A flat file waits for its migration.
    let temp = Temp::new("rules-s");
    put_sid(&temp, ".", &format!("{SID}.jsonl"), sid_rows(SID));
    scan(&sid_home(&temp)).none("S507");
}

#[test]
fn versions_that_the_records_contradict() {
    let no_ids = |rows: Vec<Value>| -> Vec<Value> {
        let strip = |mut row: Value| {
            row.as_object_mut().unwrap().retain(|key, _| key != "uuid" && key != "parentUuid");
            row
        };
        chained(rows).into_iter().map(strip).collect()
    };
    let of = |rows: Vec<Value>| {
        let temp = Temp::new("rules-s");
        let path = sid_home(&temp).join(format!("sessions/home-dev-demo/{SID}.jsonl"));
        write(&path, lines(&rows));
        scan(&sid_home(&temp))
    };
    assert_eq!(of(no_ids(sid_rows(SID))).one("S509").place.line, Some(1));
    let mut old = sid_rows(SID);
    old[0].as_object_mut().unwrap().remove("version");
    of(no_ids(old.clone())).none("S509");
    of(chained(old)).one("S509");
    of(chained(sid_rows(SID))).none("S509");

    let header = |version: Value| json!({"type": "session", "version": version, "id": "a", "timestamp": at(0), "cwd": "/home/demo"});
    let pi = |version: u32, ids: bool| {
        let temp = Temp::new("rules-s");
        let path = temp.join("x.jsonl");
        let mut row = pi_message("aaaa0001", None, "user", 1);
        if !ids {
            row.as_object_mut().unwrap().retain(|key, _| key != "id" && key != "parentId");
        }
        write(&path, lines(&[header(json!(version)), row]));
        scan(&path)
    };
    pi(1, true).none("S509");
    pi(1, true).one("C233");
    pi(3, false).one("S509");
    pi(3, true).none("S509");
    pi(1, false).none("S509");
}

#[test]
fn subagents_of_sid_code() {
    let temp = Temp::new("rules-s");
    let folder = sid_home(&temp).join("sessions/home-dev-demo");
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
    write(&folder.join(format!("{SID}-task-1.jsonl")), sidechain(SID, "task-1", true));
    let found = scan(&sid_home(&temp));
    found.none("S510");
    found.none("S511");
    // every finished subagent goes at the next start
    let ahead = found.one("S516");
    assert_eq!(ahead.severity, Severity::Warning);
    assert!(words(ahead, "files")[0].ends_with("-task-1.jsonl"));

    write(&folder.join(format!("{SID}-task-2.jsonl")), sidechain(SID, "task-2", false));
    write(&folder.join(format!("{SID_B}-task-3.jsonl")), sidechain(SID_B, "task-3", true));
    let found = scan(&sid_home(&temp));
    assert_eq!(words(found.one("S510"), "agent"), ["task-2"]);
    assert!(words(found.one("S511"), "files")[0].ends_with("-task-3.jsonl"));
    // A single transcript that a person passed says nothing about what lies beside it.
    scan(&folder.join(format!("{SID_B}-task-3.jsonl"))).none("S511");
}

#[test]
fn registrations_of_processes() {
    let temp = Temp::new("rules-s");
    let home = sid_home(&temp);
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
    let own = std::process::id();
    let entry = |pid: u32| json!({"sessionId": SID, "pid": pid, "kind": "interactive", "cwd": "/"}).to_string();
    write(&home.join("active-sessions/alive.json"), entry(own));
    scan(&home).none("S512");
    write(&home.join("active-sessions/dead.json"), entry(4_194_305));
    write(&home.join("active-sessions/torn.json"), "{\"sessionId\": \"x");
    let found = scan(&home);
    let why: Vec<String> = found.of("S512").iter().flat_map(|f| words(f, "why")).collect();
    assert_eq!(why.len(), 2, "{why:?}");
    assert!(why[0].contains("gone") && why[1].contains("cannot be read"), "{why:?}");
    // Of a single file the registry is not judged.
    scan(&home.join(format!("sessions/home-dev-demo/{SID}.jsonl"))).none("S512");
}

#[test]
fn declared_edits() {
    let temp = Temp::new("rules-s");
    let home = sid_home(&temp);
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
    let now = parse(NOW);
    let intent = |session: &str, pid: u32, path: &str, age: i64, operation: &str| {
        let entry = json!({"path": path, "declaredAt": now - age, "lastAccessAt": now - age, "operation": operation});
        json!({"sessionId": session, "pid": pid, "cwd": "/", "files": {path: entry}}).to_string()
    };
    let own = std::process::id();
    write(&home.join("file-intents/a.json"), intent("a", own, "/x", 299_999, "edit"));
    let found = scan(&home);
    found.none("S513");
    found.none("S526");

    write(&home.join("file-intents/b.json"), intent("b", own, "/x", 300_000, "edit"));
    let found = scan(&home);
    assert_eq!(found.one("S513").count, Some(1), "past its five minutes");
    found.none("S526");

    write(&home.join("file-intents/b.json"), intent("b", own, "/x", 1000, "read"));
    let found = scan(&home);
    assert_eq!(found.one("S526").severity, Severity::Warning);
    write(&home.join("file-intents/a.json"), intent("a", own, "/x", 1000, "read"));
    assert_eq!(scan(&home).one("S526").severity, Severity::Info);
    write(&home.join("file-intents/a.json"), intent("a", own, "/y", 1000, "write"));
    scan(&home).none("S526");

    write(&home.join("file-intents/a.json"), intent("a", 4_194_305, "/x", 1000, "write"));
    write(&home.join("file-intents/c.json"), "{");
    let found = scan(&home);
    found.none("S526");
    assert_eq!(found.of("S513").len(), 2);
}

#[test]
fn what_the_list_of_sid_code_hides_goes_at_the_next_start() {
    // a chain that does not reach the start
    let mut rows = sid_rows(SID);
    rows[2]["parentUuid"] = json!("00000000-0000-4000-8000-000000000000");
    let found = sid_of(rows);
    let hidden = found.one("S514");
    assert_eq!((hidden.severity, hidden.cause.map(|c| c.to_string()).as_deref()), (Severity::Warning, Some("C211@3")));
    let ahead = found.one("S516");
    assert_eq!((ahead.severity, words(ahead, "reason")), (Severity::Warning, vec!["cannot be loaded".to_owned()]));

    // no time on the last record
    let mut rows = sid_rows(SID);
    rows[3]["timestamp"] = Value::Null;
    let found = sid_of(rows);
    assert_eq!(words(found.one("S516"), "reason"), ["no time of creation or last update"]);
    found.one("S514");
    let mut rows = sid_rows(SID);
    rows.insert(1, metadata("kind", json!("subagent")));
    assert_eq!(words(sid_of(rows).one("S516"), "reason"), ["its kind is subagent"]);

    // nothing said: a ghost, gone without a warning
    let found = sid_of(vec![start(SID, "/home/dev/demo"), metadata("session_name", json!("x")), end()]);
    found.one("S515");
    found.none("S514");
    assert_eq!(found.one("S516").severity, Severity::Info);
    sid_of(sid_rows(SID)).none("S515");
}

#[test]
fn whole_files_that_the_list_does_not_show() {
    let whole = |text: &str| {
        let temp = Temp::new("rules-s");
        write(&sid_home(&temp).join("sessions/home-dev-demo/0000148a.json"), text);
        scan(&sid_home(&temp))
    };
    let messages = r#"[{"role": "user", "content": [{"type": "text", "text": "q"}]}]"#;
    let document = |messages: &str| {
        format!(
            r#"{{"version": "1.0", "id": "0000148a", "model": "m", "provider": "demo",
                "createdAt": "2026-03-09T08:00:00.000Z", "updatedAt": "2026-03-09T09:00:00.000Z", "messages": {messages}}}"#
        )
    };
    let found = whole(&document(messages));
    found.none("S514");
    found.none("S515");
    // Broken off: what it held is not known, and it is not listed.
    let text = document(messages);
    let hidden = whole(&text[..text.len() - 20]);
    assert_eq!(hidden.one("S514").severity, Severity::Info);
    assert_eq!(words(hidden.one("S514"), "why"), ["cannot be loaded"]);
    // sid-code loads a text in the place of messages, and finds none in it.
    whole(&document("\"abc\"")).one("S515");
    whole("").none("S514");
}

#[test]
fn checkpoint_folders_go_by_the_time_of_the_folder() {
    let temp = Temp::new("rules-s");
    let home = sid_home(&temp);
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
    let put = |name: &str, folder_days: i64, index_days: i64, bytes: usize| {
        let folder = home.join("checkpoints").join(name);
        write(&folder.join("index.json"), " ".repeat(bytes));
        touch(&folder.join("index.json"), parse(NOW) - index_days * DAY);
        touch(&folder, parse(NOW) - folder_days * DAY);
    };
    put("young", 29, 29, 10);
    scan(&home).none("S516");
    // Begun 31 days ago, used yesterday: the time of the folder is what counts.
    put("used", 31, 1, 10);
    put("old", 40, 40, 10);
    let found = scan(&home);
    let ahead = found.one("S516");
    assert_eq!((ahead.severity, ahead.count), (Severity::Info, Some(2)));
    assert_eq!(words(ahead, "folders"), ["old", "used"]);
    assert_eq!(words(ahead, "date"), ["2026-02-28T00:00:00.000Z"]);
    assert_eq!((number(ahead, "older"), number(ahead, "beyond_size"), number(ahead, "used_since")), (2, 0, 1));
    // Of one project nothing is said: what lies beside it was not read.
    scan(&home.join("sessions/home-dev-demo")).none("S516");
    // Above 200 MB in total the oldest go, until what is left fits.
    let large = |name: &str, days: i64| {
        put(name, days, days, 0);
        let file = std::fs::OpenOptions::new().write(true).open(home.join("checkpoints").join(name).join("index.json"));
        file.unwrap().set_len(90 << 20).unwrap();
    };
    large("a", 3);
    large("b", 2);
    assert_eq!(words(scan(&home).one("S516"), "folders"), ["old", "used"]);
    large("c", 1);
    let found = scan(&home);
    assert_eq!(words(found.one("S516"), "folders"), ["old", "used", "young", "a"]);
    assert_eq!(number(found.one("S516"), "beyond_size"), 2);
}

#[test]
fn sessions_that_are_too_old_or_too_many() {
    let temp = Temp::new("rules-s");
    let home = sid_home(&temp);
    let put = |n: usize, days: i64| {
        let id = format!("20260101-000000-{n:08x}");
        let mut rows = sid_rows(&id);
        for row in &mut rows {
            row["timestamp"] = json!(iso(parse(NOW) - days * DAY));
        }
        put_sid(&temp, "home-dev-demo", &format!("{id}.jsonl"), rows);
    };
    (0..50).for_each(|n| put(n, 2));
    let found = scan(&home);
    found.none("S516");
    put(50, 29);
    let found = scan(&home);
    assert!(words(found.one("S516"), "reason")[0].contains("newest 50"));
    put(51, 31);
    put(52, 40);
    let found = scan(&home);
    found.silent();
    let old = found.one("S516");
    assert_eq!((old.count, words(old, "date")), (Some(3), vec!["2026-02-28T00:00:00.000Z".to_owned()]));
    assert_eq!((number(old, "older"), number(old, "beyond_number")), (2, 1));
    // A project alone does not tell how many sessions there are: what is not old enough yet is due soon.
    let project = scan(&home.join("sessions/home-dev-demo"));
    let when: Vec<String> = project.of("S516").iter().flat_map(|f| words(f, "when")).collect();
    assert_eq!(when, ["within 7 days", "next start"]);
    // Updated within a day: kept, whatever the number.
    let later = scan_at(&home, "2026-03-08T12:00:00Z", 1000, None);
    assert!(later.of("S516").iter().all(|f| !words(f, "files").iter().any(|p| p.contains("00000031.jsonl"))));

    write(&home.join("settings.json"), r#"{"sessionRetention": {"enabled": false}}"#);
    scan(&home).none("S516");
    write(&home.join("settings.json"), r#"{"sessionRetention": {"maxAge": "10w", "maxCount": 100}}"#);
    scan(&home).none("S516");
}

#[test]
fn one_id_in_two_places() {
    let temp = Temp::new("rules-s");
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
    let found = scan(&sid_home(&temp));
    found.none("S519");
    put_sid(&temp, "home-dev-other", &format!("{SID}.jsonl"), sid_rows(SID));
    let found = scan(&sid_home(&temp));
    assert_eq!(found.one("S519").count, Some(2));
    found.none("S524");

    let temp = Temp::new("rules-s");
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
    let whole = json!({"version": "1.0", "id": SID, "createdAt": at(0), "updatedAt": at(1), "provider": "demo",
        "directories": ["/home/dev/demo"], "messages": [{"role": "user", "content": "old"}]});
    write(&sid_home(&temp).join(format!("sessions/home-dev-demo/{SID}.json")), whole.to_string());
    let found = scan(&sid_home(&temp));
    assert!(words(found.one("S519"), "taken")[0].ends_with(".jsonl"));
    assert!(found.one("S519").path.as_ref().unwrap().to_string_lossy().ends_with(".json"));
}

#[test]
fn forks_and_their_sources() {
    let forked = |count: u64, tail: &str| {
        let mut rows = sid_rows(SID_B);
        rows[0]["parentUuid"] = json!(SID);
        rows.insert(1, metadata("forked_from", json!({"sessionId": SID, "uuid": tail, "messageCount": count})));
        rows
    };
    let source = chained(sid_rows(SID));
    let tail = source[3]["uuid"].as_str().unwrap().to_owned();
    let of = |count: u64, tail: &str, with_source: bool, budget: usize| {
        let temp = Temp::new("rules-s");
        put_sid(&temp, "home-dev-demo", &format!("{SID_B}.jsonl"), forked(count, tail));
        if with_source {
            put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
        }
        scan_at(&sid_home(&temp), NOW, budget, None)
    };
    let found = of(2, &tail, true, 1000);
    assert_eq!(found.codes(), Vec::<String>::new());
    // the sample need not hold the source
    of(2, &tail, true, 1).none("S527");
    assert_eq!(number(of(4, &tail, true, 1000).one("S527"), "announced"), 4);
    of(2, "00000000-0000-4000-8000-00000000ffff", true, 1000).one("S527");
    let found = of(2, &tail, false, 1000);
    assert_eq!(words(found.one("S520"), "sources"), [SID]);
    found.none("S527");
}

#[test]
fn dumps_beyond_what_the_agent_keeps() {
    let temp = Temp::new("rules-s");
    let home = sid_home(&temp);
    put_sid(&temp, "home-dev-demo", &format!("{SID}.jsonl"), sid_rows(SID));
    let dump = |n: i64| home.join(format!("protocol-violations/protocol-violation-{}.json", 1_772_000_000_000 + n));
    (0..500).for_each(|n| write(&dump(n), "{}"));
    scan(&home).none("S525");
    write(&dump(500), "{}");
    let found = scan(&home);
    assert_eq!((found.one("S525").count, number(found.one("S525"), "bytes")), (Some(501), 1002));
}

#[test]
fn records_that_a_repair_made() {
    let mut rows = sid_rows(SID);
    rows[1]["sidAudit"] = json!("T301");
    rows[2]["sidAudit"] = json!({"code": "T301"});
    rows.insert(3, metadata("x", json!({"sidAudit": "T301"})));
    let found = sid_of(rows);
    assert_eq!((found.one("S528").count, words(found.one("S528"), "answers")), (Some(2), vec!["T301".to_owned()]));
}

// ---- Claude Code ----

const A: &str = "5e550000-0000-4000-8000-00000000000a";
const B: &str = "5e550000-0000-4000-8000-00000000000b";

fn claude_id(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

fn row(session: &str, kind: &str, id: u64, parent: Option<u64>, content: Value) -> Value {
    let message = match kind {
        "assistant" => json!({"id": format!("msg_{id}"), "type": "message", "role": "assistant", "model": "claude-x",
            "content": content, "stop_reason": "end_turn"}),
        _ => json!({"role": kind, "content": content}),
    };
    json!({"parentUuid": parent.map(claude_id), "isSidechain": false, "userType": "external", "cwd": "/home/demo",
        "sessionId": session, "version": "2.1.200", "type": kind, "message": message, "uuid": claude_id(id),
        "timestamp": at(id as i64 % 1000)})
}

fn prompt(session: &str, id: u64, parent: Option<u64>, text: &str) -> Value {
    row(session, "user", id, parent, json!(text))
}

fn answer(session: &str, id: u64, parent: u64) -> Value {
    row(session, "assistant", id, Some(parent), json!([{"type": "text", "text": "ok"}]))
}

/// Two turns.
fn talk(session: &str, first: u64) -> Vec<Value> {
    vec![
        prompt(session, first, None, "one"),
        answer(session, first + 1, first),
        prompt(session, first + 2, Some(first + 1), "two"),
        answer(session, first + 3, first + 2),
    ]
}

fn put_claude(temp: &Temp, name: &str, rows: &[Value]) -> std::path::PathBuf {
    let path = temp.join("home/projects/-home-demo").join(name);
    write(&path, lines(rows));
    path
}

fn claude_of(rows: &[Value]) -> Found {
    let temp = Temp::new("rules-s");
    put_claude(&temp, &format!("{A}.jsonl"), rows);
    scan(&temp.join("home"))
}

#[test]
fn a_healthy_session_of_claude_code_is_silent() {
    assert_eq!(claude_of(&talk(A, 1)).codes(), Vec::<String>::new());
}

#[test]
fn local_commands_and_interrupts_are_no_question() {
    let mut rows = talk(A, 1);
    rows.push(prompt(A, 5, Some(4), "three"));
    assert_eq!(claude_of(&rows).one("S501").place.line, Some(5));
    for said in ["<command-name>/exit</command-name>", "[Request interrupted by user]"] {
        rows[4] = prompt(A, 5, Some(4), said);
        claude_of(&rows).none("S501");
    }
    rows[3] = row(A, "assistant", 4, Some(3), json!([{"type": "tool_use", "id": "c", "name": "Read", "input": {}}]));
    rows[4] = row(A, "user", 5, Some(4), json!([{"type": "tool_result", "tool_use_id": "c", "content": "x"}]));
    assert_eq!(words(claude_of(&rows).one("S502"), "tools"), ["Read"]);
}

#[test]
fn names_and_ids_of_claude_code() {
    let found = claude_of(&talk(B, 1));
    assert_eq!(words(found.one("S506"), "inside"), [B]);
    found.none("S508");

    let temp = Temp::new("rules-s");
    put_claude(&temp, &format!("{}.jsonl", A.to_uppercase()), &talk(A, 1));
    scan(&temp.join("home")).none("S506");
    // a copy under another name
    let path = temp.join("kept.jsonl");
    write(&path, lines(&talk(B, 1)));
    scan(&path).none("S506");
}

#[test]
fn folders_of_claude_code() {
    let found = |folder: &str, cwds: &[&str], extra: Option<Value>| {
        let temp = Temp::new("rules-s");
        let mut rows = talk(A, 1);
        for (n, row) in rows.iter_mut().enumerate() {
            row["cwd"] = json!(cwds[n % cwds.len()]);
        }
        rows.extend(extra);
        write(&temp.join("home/projects").join(folder).join(format!("{A}.jsonl")), lines(&rows));
        // beside one whose folder tells the home
        write(&temp.join(format!("home/projects/-home-demo/{B}.jsonl")), lines(&talk(B, 11)));
        scan(&temp.join("home"))
    };
    found("-home-p", &["/home/p"], None).none("S507");
    found("-home-p", &["/elsewhere", "/home/p/src"], None).none("S507");
    found("-home---", &["/home/🚀"], None).none("S507");
    found("C--work", &["c:\\work"], None).none("S507");
    // a name that a variable gave
    found("work", &["/home/p"], None).none("S507");
    let moved = json!({"type": "worktree-state", "sessionId": A, "worktreeSession": {"originalCwd": "/home/p"}});
    found("-home-p", &["/tmp/tree"], Some(moved)).none("S507");
    let wrong = found("-home-p", &["/home/q", "/home/r"], None);
    assert_eq!(words(wrong.one("S507"), "directories"), ["/home/q", "/home/r"]);
}

#[test]
fn a_run_of_another_session() {
    let mut rows = talk(A, 1);
    rows.push(prompt(B, 21, Some(12), "for the other"));
    rows.push(answer(B, 22, 21));
    let temp = Temp::new("rules-s");
    put_claude(&temp, &format!("{A}.jsonl"), &rows);
    put_claude(&temp, &format!("{B}.jsonl"), &talk(B, 11)[..2]);
    let found = scan(&temp.join("home"));
    let foreign = found.one("S508");
    assert_eq!((foreign.severity, foreign.place.line, number(foreign, "messages")), (Severity::Error, Some(5), 2));
    // and where the parent is: C212 is made of it
    assert_eq!(found.elsewhere.len(), 1);
    assert_eq!((found.elsewhere[0].line, found.elsewhere[0].file < found.elsewhere[0].other), (5, true));
    // also when the sample is too small to hold it
    assert_eq!(scan_at(&temp.join("home"), NOW, 1, None).elsewhere, found.elsewhere);

    // A conversation that goes on under a new id, and hook rows that keep an old one.
    let mut rows = talk(A, 1);
    rows.push(prompt(B, 5, Some(4), "goes on"));
    rows.push(answer(B, 6, 5));
    let mut hook = row(B, "user", 7, None, json!("x"));
    hook["type"] = json!("progress");
    rows.push(hook);
    claude_of(&rows).none("S508");
    // Copies for the background bear the mark.
    let mut rows = talk(A, 1);
    let mut copy = prompt(B, 21, Some(99), "x");
    copy["sessionKind"] = json!("bg");
    rows.push(copy);
    claude_of(&rows).none("S508");
}

#[test]
fn subagents_of_claude_code() {
    let side = |session: &str, agent: &str| {
        let mut rows = talk(session, 31);
        for row in &mut rows {
            row["isSidechain"] = json!(true);
            row["agentId"] = json!(agent);
        }
        rows
    };
    let temp = Temp::new("rules-s");
    put_claude(&temp, &format!("{A}.jsonl"), &talk(A, 1));
    put_claude(&temp, &format!("{A}/subagents/agent-a1.jsonl"), &side(A, "a1"));
    put_claude(&temp, "agent-a2.jsonl", &side(A, "a2"));
    let found = scan(&temp.join("home"));
    found.silent();
    // no end mark is ever written: not judged
    found.none("S510");

    put_claude(&temp, &format!("{B}/subagents/agent-b1.jsonl"), &side(B, "b1"));
    put_claude(&temp, &format!("{B}/subagents/deep/agent-b2.jsonl"), &side(B, "b2"));
    put_claude(&temp, "agent-b3.jsonl", &side(B, "b3"));
    let found = scan(&temp.join("home"));
    assert_eq!(found.one("S511").count, Some(3), "one for the session");
    put_claude(&temp, &format!("{A}/subagents/agent-a9.jsonl"), &side(A, "a8"));
    assert_eq!(words(scan(&temp.join("home")).one("S506"), "name"), ["a9"]);
}

#[test]
fn what_the_list_of_claude_code_does_not_show() {
    let mut rows = talk(A, 1);
    rows[0]["isSidechain"] = json!(true);
    assert_eq!(claude_of(&rows).one("S514").severity, Severity::Warning);

    let long = "x".repeat(70_000);
    let mut rows = talk(A, 1);
    rows[0]["message"]["content"] = json!(long);
    rows.push(row(A, "assistant", 5, Some(4), json!([{"type": "text", "text": long}])));
    let found = claude_of(&rows);
    assert!(words(found.one("S514"), "why")[0].contains("first prompt ends beyond"), "{:?}", found.codes());
    rows.push(json!({"type": "custom-title", "customTitle": "t", "sessionId": A}));
    claude_of(&rows).none("S514");
    rows.swap(1, 5);
    assert!(words(claude_of(&rows).one("S514"), "why")[0].contains("title stands"));

    // nobody typed anything: information
    let notice = "<ide_opened_file>x</ide_opened_file>";
    let mut rows = vec![prompt(A, 1, None, notice)];
    assert_eq!(claude_of(&rows).one("S514").severity, Severity::Info);
    rows.push(answer(A, 2, 1));
    assert_eq!(claude_of(&rows).one("S514").severity, Severity::Warning);

    // ghosts hold no message
    let found = claude_of(&[json!({"type": "mode", "mode": "normal", "sessionId": A})]);
    found.none("S514");
    found.one("S515");
}

#[test]
fn transcripts_that_claude_code_will_sweep() {
    let temp = Temp::new("rules-s");
    let (old, new) =
        (put_claude(&temp, &format!("{A}.jsonl"), &talk(A, 1)), put_claude(&temp, &format!("{B}.jsonl"), &talk(B, 11)));
    touch(&old, parse(NOW) - 31 * DAY);
    touch(&new, parse(NOW) - 29 * DAY);
    let found = scan(&temp.join("home"));
    for (ahead, (when, file)) in found.of("S516").into_iter().zip([("within 7 days", &new), ("next start", &old)]) {
        assert_eq!((ahead.severity, ahead.count), (Severity::Info, Some(1)));
        assert_eq!(
            (words(ahead, "when"), words(ahead, "files")),
            (vec![when.to_owned()], vec![file.display().to_string()])
        );
    }
    assert_eq!(found.of("S516").len(), 2);
    // a single file by its own age
    assert_eq!(words(scan(&old).one("S516"), "when"), ["next start"]);
    assert_eq!(words(scan(&new).one("S516"), "when"), ["within 7 days"]);
    write(&temp.join("home/settings.json"), r#"{"cleanupPeriodDays": 99}"#);
    scan(&temp.join("home")).none("S516");
    // a file that lies in no store is not swept
    let copy = temp.join("kept.jsonl");
    write(&copy, lines(&talk(A, 1)));
    touch(&copy, parse(NOW) - 99 * DAY);
    scan(&copy).none("S516");
}

#[test]
fn lists_histories_and_backups_of_sessions_that_are_gone() {
    let temp = Temp::new("rules-s");
    put_claude(&temp, &format!("{A}.jsonl"), &talk(A, 1));
    let index = |ids: &[&str]| {
        let rows: Vec<Value> =
            ids.iter().map(|id| json!({"sessionId": id, "fullPath": "/x", "firstPrompt": "p"})).collect();
        json!({"version": 1, "entries": rows}).to_string()
    };
    let path = temp.join("home/projects/-home-demo/sessions-index.json");
    write(&path, index(&[A]));
    let history = |ids: &[&str]| {
        let row =
            |id: &&str| json!({"display": "p", "timestamp": 1_772_000_000_000_i64, "project": "/", "sessionId": id});
        lines(&ids.iter().map(row).collect::<Vec<_>>())
    };
    write(&temp.join("home/history.jsonl"), history(&[A, A]));
    let found = scan(&temp.join("home"));
    found.none("S522");
    found.none("S517");

    write(&path, index(&[B]));
    write(&temp.join("home/history.jsonl"), format!("{}not json\n", history(&[A, B, B])));
    write(&temp.join(format!("home/file-history/{B}/0123456789abcdef@v1")), "x");
    let found = scan(&temp.join("home"));
    let stale = found.one("S522");
    assert_eq!((number(stale, "rows_without_file"), number(stale, "files_without_row"), stale.count), (1, 1, Some(2)));
    let gone = found.one("S517");
    assert_eq!((gone.count, number(gone, "unreadable_history_rows")), (Some(1), 1));
    assert_eq!(["in_history", "in_index", "in_checkpoints"].map(|k| number(gone, k)), [1, 1, 1]);
    // A project alone does not tell what the home has.
    scan(&temp.join("home/projects/-home-demo")).none("S517");
    write(&path, "");
    assert_eq!(words(scan(&temp.join("home")).one("S522"), "why"), ["is empty"]);
}

#[test]
fn copies_of_sync_tools() {
    let temp = Temp::new("rules-s");
    put_claude(&temp, &format!("{A}.jsonl"), &talk(A, 1)[..2]);
    put_claude(&temp, &format!("{A} 2.jsonl"), &talk(A, 1));
    let found = scan(&temp.join("home"));
    let copy = found.one("S518");
    assert_eq!((number(copy, "only_in_copy"), number(copy, "only_in_original")), (2, 0));
    assert_eq!(*fact(copy, "only_in_copy_lines"), Fact::Numbers(vec![3, 4]));
    found.none("S519");
    found.none("S524");
}

#[test]
fn records_in_two_sessions() {
    let shared = |mark: &dyn Fn(&mut Value), budget: usize| {
        let temp = Temp::new("rules-s");
        let mut rows = talk(A, 1);
        put_claude(&temp, &format!("{A}.jsonl"), &rows);
        for row in &mut rows {
            row["sessionId"] = json!(B);
            mark(row);
        }
        put_claude(&temp, &format!("{B}.jsonl"), &rows);
        scan_at(&temp.join("home"), NOW, budget, None)
    };
    let found = shared(&|_| {}, 1000);
    let pair = found.one("S524");
    assert_eq!((pair.count, pair.place.line), (Some(4), Some(1)));
    // in a store that is too large for all its records
    let sampled = shared(&|_| {}, 7);
    assert!(sampled.of("S524").iter().all(|f| number(f, "sampled_one_of") > 1));
    shared(&|row| row["forkedFrom"] = json!({"sessionId": A, "messageUuid": row["uuid"]}), 1000).none("S524");
    shared(&|row| row["session_id"] = json!(A), 1000).none("S524");
    shared(&|row| row["sessionKind"] = json!("bg"), 1000).none("S524");
    shared(&|row| row["isMeta"] = json!(true), 1000).none("S524");
    shared(&|row| row["timestamp"] = json!(at(5000)), 1000).none("S524");
}

#[test]
fn time_that_runs_backwards() {
    let with = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut rows = talk(A, 1);
        change(&mut rows);
        claude_of(&rows)
    };
    with(&|rows| rows[2]["timestamp"] = json!(at(-3))).none("S521");
    let found = with(&|rows| rows[2]["timestamp"] = json!(at(-60)));
    assert_eq!((found.one("S521").place.line, number(found.one("S521"), "largest_ms")), (Some(3), 62_000));
    with(&|rows| rows[2]["timestamp"] = json!("yesterday")).one("S521");
    // a queued prompt bears the time of typing, a response's rows may be reordered
    with(&|rows| {
        rows[2]["type"] = json!("attachment");
        rows[2]["attachment"] = json!({"type": "queued_command", "prompt": "two"});
        rows[2]["timestamp"] = json!(at(-60));
    })
    .none("S521");
    with(&|rows| {
        rows[3]["message"]["id"] = json!("msg_2");
        rows[2] = rows[3].clone();
        rows[2]["uuid"] = json!(claude_id(3));
        rows[2]["parentUuid"] = json!(claude_id(2));
        rows[2]["timestamp"] = json!(at(-60));
    })
    .none("S521");
}

#[test]
fn queued_prompts() {
    let op = |name: &str, content: Option<&str>| {
        let mut row = json!({"type": "queue-operation", "operation": name, "timestamp": at(3), "sessionId": A});
        if let Some(content) = content {
            row["content"] = json!(content);
        }
        row
    };
    let of = |ops: &[Value], version: &str, goes_on: bool, live: Option<bool>| {
        let mut rows = talk(A, 1);
        rows.iter_mut().for_each(|row| row["version"] = json!(version));
        let at = if goes_on { 2 } else { 4 };
        rows.splice(at..at, ops.iter().cloned());
        let temp = Temp::new("rules-s");
        put_claude(&temp, &format!("{A}.jsonl"), &rows);
        scan_at(&temp.join("home"), NOW, 1000, live)
    };
    let new = "2.1.200";
    let left = of(&[op("enqueue", Some("do that too"))], new, false, None);
    assert_eq!((left.one("S523").severity, left.one("S523").place.line), (Severity::Warning, Some(5)));
    of(&[op("enqueue", Some("do that too"))], new, false, Some(true)).none("S523");
    let lost = of(&[op("enqueue", Some("do that too")), op("dequeue", None)], new, true, None);
    assert_eq!(words(lost.one("S523"), "fate"), ["dequeued without a message"]);
    // its message would be the next line
    of(&[op("enqueue", Some("do that too")), op("dequeue", None)], new, false, None).none("S523");
    of(&[op("enqueue", Some("two")), op("dequeue", None)], new, true, None).none("S523");
    of(&[op("enqueue", Some("x")), op("popAll", Some("x"))], new, true, None).none("S523");
    of(&[op("enqueue", Some("x")), op("remove", Some("x"))], new, true, None).none("S523");
    of(&[op("enqueue", Some("/clear")), op("dequeue", None)], new, true, None).none("S523");
    of(&[op("enqueue", Some("<task-notification>x")), op("dequeue", None)], new, true, None).none("S523");
    let removed = [op("enqueue", Some("and this")), op("remove", None)];
    assert_eq!(of(&removed, new, true, None).one("S523").severity, Severity::Warning);
    assert_eq!(of(&removed, "2.1.81", true, None).one("S523").severity, Severity::Info);
    let attached = json!({"type": "attachment", "uuid": claude_id(77), "parentUuid": claude_id(2), "sessionId": A,
        "timestamp": at(3), "attachment": {"type": "queued_command", "prompt": [{"type": "text", "text": "and this"}]}});
    let mut delivered = removed.to_vec();
    delivered.push(attached);
    of(&delivered, new, true, None).none("S523");
    // the text itself is never in a report
    assert!(!format!("{:?}", lost.one("S523")).contains("do that too"));
}

// ---- pi and OpenClaw ----

fn pi_message(id: &str, parent: Option<&str>, role: &str, seconds: i64) -> Value {
    let mut row = json!({"type": "message", "id": id, "parentId": parent, "timestamp": at(seconds),
        "message": {"role": role, "content": [{"type": "text", "text": "x"}], "timestamp": 0}});
    if role == "assistant" {
        row["message"]["usage"] = json!({"input": 1, "output": 1, "cost": {"total": 0}});
    }
    row
}

fn pi_rows(id: &str, cwd: &str) -> Vec<Value> {
    vec![
        json!({"type": "session", "version": 3, "id": id, "timestamp": at(0), "cwd": cwd}),
        pi_message("aaaa0001", None, "user", 1),
        pi_message("aaaa0002", Some("aaaa0001"), "assistant", 2),
    ]
}

#[test]
fn names_and_folders_of_pi() {
    let found = |folder: &str, name: &str, cwd: &str| {
        let temp = Temp::new("rules-s");
        write(&temp.join(".pi/agent/sessions").join(folder).join(name), lines(&pi_rows(A, cwd)));
        scan(&temp.join(".pi/agent"))
    };
    let name = format!("2026-03-09T09-00-00-000Z_{A}.jsonl");
    assert_eq!(found("--home-demo--", &name, "/home/demo").codes(), Vec::<String>::new());
    found("--home-demo--", &name, "/home/demo/").none("S507");
    found("--home-demo--", &name, "/home/other").one("S507");
    // a flat folder holds many directories
    found(".", &name, "/home/other").none("S507");
    let other = name.replace(A, B);
    assert_eq!(words(found("--home-demo--", &other, "/home/demo").one("S506"), "inside"), [A]);
    found("--home-demo--", "kept.jsonl", "/home/demo").none("S506");
}

#[test]
fn sessions_that_pi_shares_and_hides() {
    let temp = Temp::new("rules-s");
    let folder = temp.join(".pi/agent/sessions/--home-demo--");
    let name = |minute: u32, id: &str| folder.join(format!("2026-03-09T09-{minute:02}-00-000Z_{id}.jsonl"));
    write(&name(0, A), lines(&pi_rows(A, "/home/demo")));
    write(&name(1, A), lines(&pi_rows(A, "/home/demo")));
    assert_eq!(scan(&temp.join(".pi/agent")).one("S519").count, Some(2));

    let mut fork = pi_rows(B, "/home/demo");
    fork[0]["parentSession"] = json!(name(0, A).to_string_lossy());
    std::fs::remove_file(name(1, A)).unwrap();
    write(&name(2, B), lines(&fork));
    let found = scan(&temp.join(".pi/agent"));
    ["S519", "S520", "S524"].iter().for_each(|code| found.none(code));
    fork[0].as_object_mut().unwrap().remove("parentSession");
    write(&name(2, B), lines(&fork));
    scan(&temp.join(".pi/agent")).one("S524");
    fork[0]["parentSession"] = json!("/gone/2026-01-01T00-00-00-000Z_x.jsonl");
    write(&name(2, B), lines(&fork));
    scan(&temp.join(".pi/agent")).one("S520");

    // its list drops a file on which it throws
    let mut odd = pi_rows(A, "/home/demo");
    odd[2]["message"]["content"] = Value::Null;
    write(&name(3, "x"), lines(&odd[1..]));
    assert_eq!(scan(&name(3, "x")).one("S514").cause.map(|c| c.to_string()).as_deref(), Some("C220@1"));
    write(&name(0, A), lines(&odd));
    scan(&name(0, A)).one("S514");
    odd[2]["message"]["content"] = json!("text");
    write(&name(0, A), lines(&odd));
    scan(&name(0, A)).none("S514");
}

#[test]
fn the_list_of_openclaw() {
    let temp = Temp::new("rules-s");
    let folder = temp.join("claw/agents/main/sessions");
    write(&folder.join(format!("{A}.jsonl")), lines(&pi_rows(A, "/home/demo")));
    let rows = |id: &str| json!({"agent:main:main": {"sessionId": id, "updatedAt": 1}}).to_string();
    write(&folder.join("sessions.json"), rows(A));
    let found = scan(&temp.join("claw"));
    assert_eq!(found.codes(), Vec::<String>::new());
    write(&folder.join("sessions.json"), rows(B));
    let found = scan(&temp.join("claw"));
    assert_eq!(found.one("S522").count, Some(2));
    found.silent();
}

// ---- laws ----

#[test]
fn healthy_homes_are_silent() {
    let temp = Temp::new("rules-s");
    support::claude::home::write_home(temp.path(), 120, 7);
    let found = scan_at(temp.path(), support::time::NOW_TEXT, 1 << 19, None);
    found.silent();
    let temp = Temp::new("rules-s");
    support::sid::write_home(&sid_home(&temp));
    scan_at(&sid_home(&temp), support::time::NOW_TEXT, 1 << 19, None).silent();
    let temp = Temp::new("rules-s");
    support::pi::write_home(&temp.join(".pi/agent"));
    scan_at(&temp.join(".pi/agent"), support::time::NOW_TEXT, 1 << 19, None).silent();
}

#[test]
fn damaged_bytes_never_stop_a_rule() {
    let temp = Temp::new("rules-s");
    let mut rng = support::random::Rng::new(11);
    let claude =
        lines(&talk(A, 1)) + &lines(&[json!({"type": "queue-operation", "operation": "enqueue", "content": "x"})]);
    let pi = lines(&pi_rows(A, "/home/demo"));
    let sid = lines(&chained(sid_rows(SID)));
    let files = [
        (format!("home/projects/-home-demo/{A}.jsonl"), claude.clone()),
        (format!("home/projects/-home-demo/{B}.jsonl"), claude),
        ("home/projects/-home-demo/sessions-index.json".into(), json!({"entries": [{"sessionId": A}]}).to_string()),
        ("home/history.jsonl".into(), format!("{{\"sessionId\":\"{A}\"}}\n")),
        ("home/settings.json".into(), r#"{"cleanupPeriodDays": 30}"#.into()),
        (format!(".sid-code/sessions/home-dev-demo/{SID}.jsonl"), sid),
        (format!(".sid-code/sessions/home-dev-demo/{SID}-t.jsonl"), sidechain(SID, "t", false)),
        (
            format!(".sid-code/sessions/home-dev-demo/{SID_B}.json"),
            r#"{"id":"x","messages":[null,{"role":"user"}]}"#.into(),
        ),
        (".sid-code/file-intents/a.json".into(), r#"{"pid":1,"files":{"/x":{"path":"/x"}}}"#.into()),
        (".sid-code/active-sessions/a.json".into(), r#"{"pid":1,"sessionId":"x"}"#.into()),
        (format!(".pi/agent/sessions/--home-demo--/2026-03-09T09-00-00-000Z_{A}.jsonl"), pi),
    ];
    for _ in 0..60 {
        for (name, bytes) in &files {
            let mut bytes = bytes.clone().into_bytes();
            for _ in 0..rng.below(4) {
                let at = rng.below(bytes.len() as u64) as usize;
                match rng.below(4) {
                    0 => bytes[at] = rng.below(256) as u8,
                    1 => bytes.truncate(at),
                    2 => bytes.insert(at, b'\n'),
                    _ => {
                        bytes.remove(at);
                    }
                }
                if bytes.is_empty() {
                    bytes.push(b'{');
                }
            }
            write(&temp.join(name), bytes);
        }
        for home in ["home", ".sid-code", ".pi/agent"] {
            let found = scan_at(&temp.join(home), NOW, 8, None);
            assert!(found.findings.iter().all(|f| f.rule.code.len() == 4));
        }
    }
}
