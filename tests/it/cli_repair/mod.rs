//! `repair` as a user runs it: what is asked, shown, refused, listed and taken back, and the exit statuses.

mod past;
mod person;

use crate::support;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sid_audit::commit::Journal;
use support::run::{Outcome, Run};
use support::sid;
use support::temp::{Temp, files_below, write};
use support::time::{NOW, NOW_TEXT, touch};

/// The session of every house.
fn session() -> sid::Session {
    let mut session = sid::Session::plain(7, 0, NOW - 10_000_000, 2);
    session.end();
    session
}

/// A home of sid-code with one session in it, and a journal.
struct House {
    temp: Temp,
    path: PathBuf,
    bytes: Vec<u8>,
}

/// A healthy session.
fn whole() -> Vec<u8> {
    session().bytes()
}

/// The same, its last line cut.
fn torn() -> Vec<u8> {
    let bytes = whole();
    bytes[..bytes.len() - 30].to_vec()
}

/// The same with a record in the middle that has lost its parent: only a guess can mend it.
fn rootless() -> Vec<u8> {
    let text = String::from_utf8(whole()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (line, key) = (lines[6], "\"parentUuid\":\"");
    let start = line.find(key).unwrap() + key.len() - 1;
    let end = start + 1 + line[start + 1..].find('"').unwrap() + 1;
    let without = format!("{}null{}", &line[..start], &line[end..]);
    [lines[..6].concat(), without, lines[7..].concat()].concat().into_bytes()
}

/// The same without one line in the middle.
fn gap() -> Vec<u8> {
    let bytes = whole();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|b| *b == b'\n').collect();
    [&lines[..4].concat()[..], &lines[5..].concat()[..]].concat()
}

impl House {
    fn new(bytes: Vec<u8>) -> Self {
        let temp = Temp::new("cli-repair");
        let name = format!("{}.jsonl", session().id);
        let path = temp.join("home/.sid-code/sessions/home-dev-demo").join(name);
        write(&path, &bytes);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        touch(&path, NOW - 5_000_000);
        House { temp, path, bytes }
    }

    fn store(&self) -> PathBuf {
        self.temp.join("home/.sid-code")
    }

    /// The command with a state folder of its own.
    fn bare(&self) -> Run {
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("repair");
        run.env("XDG_STATE_HOME", self.temp.join("state"))
    }

    fn run(&self, args: &[&str]) -> Outcome {
        self.bare().arg(self.store()).args(["--now", NOW_TEXT]).args(args).go()
    }

    fn json(&self, args: &[&str]) -> (Option<i32>, Value) {
        let outcome = self.run(&[args, &["--format", "json"]].concat());
        (outcome.status, outcome.json())
    }

    fn undo(&self, args: &[&str]) -> Outcome {
        self.bare().args(args).args(["--format", "json"]).go()
    }

    fn now(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }

    fn untouched(&self) {
        assert_eq!(self.now(), self.bytes);
        assert_eq!(files_below(&self.temp.join("home/.sid-code/sessions")).len(), 1, "nothing is left beside it");
    }

    fn register(&self, pid: u32, started: i64) {
        let session = session().id;
        let entry = json!({"sessionId": session, "pid": pid, "startedAt": started, "cwd": "/home/dev/demo"});
        write(&self.store().join("active-sessions").join(format!("{session}.json")), entry.to_string());
    }
}

fn stderr(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.stderr).into_owned()
}

fn reason(report: &Value) -> &str {
    report["refused"][0]["reason"].as_str().unwrap_or_default()
}

fn now_ms() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

#[test]
fn without_yes_it_is_a_dry_run_and_says_so() {
    let house = House::new(torn());
    let inode = fs::metadata(&house.path).unwrap().ino();
    let outcome = house.run(&[]);
    assert_eq!(outcome.status, Some(1));
    assert!(stderr(&outcome).contains("note: nothing is changed without --yes"), "{}", stderr(&outcome));
    let page = outcome.text();
    assert!(page.contains("answers  L101 torn-tail") && page.contains("(L101, bytes): a cut record"), "{page}");
    assert!(page.contains("nothing was changed"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 80 || line.contains("/home/")), "{page}");
    house.untouched();
    assert_eq!(fs::metadata(&house.path).unwrap().ino(), inode);
    assert!(!house.temp.join("state").exists(), "a dry run makes no journal");
}

#[test]
fn a_dry_run_in_a_folder_that_cannot_be_written() {
    let house = House::new(torn());
    let folder = house.path.parent().unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    // Just checked out, as in CI: to be written to a moment ago is no obstacle to a plan.
    fs::File::open(&house.path).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    let (status, report) = house.json(&["--dry-run"]);
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!((status, &report["dry_run"]), (Some(1), &json!(true)));
    assert!(report["refused"].is_null(), "{}", report["refused"]);
    house.untouched();
}

#[test]
fn the_shape_of_the_json() {
    let house = House::new(torn());
    let (status, report) = house.json(&["--yes", "--diff"]);
    assert_eq!(status, Some(0));
    assert_eq!((&report["schema"], &report["version"]), (&json!("sid-audit.repair"), &json!(2)));
    let plan = &report["plan"][0];
    assert_eq!((plan["path"].as_str(), &plan["agent"]), (house.path.to_str(), &json!("sid")));
    for side in ["before", "after"] {
        assert!(plan[side]["resume"]["verdict"].is_string() && plan[side]["api"]["verdict"].is_string(), "{plan}");
        assert_eq!(plan[side]["sha256"].as_str().map(str::len), Some(64));
    }
    assert_eq!(plan["answers"], json!(["L101"]));
    let edit = &plan["edits"][0];
    assert_eq!(
        (&edit["action"], &edit["class"], &edit["evidence"]),
        (&json!("quarantine"), &json!("bytes"), &json!("none"))
    );
    assert!(edit["line"].is_u64() && edit["reason"].is_string());
    assert_eq!(plan["left"], json!([]));
    assert!(plan["changes"][0]["removed"].as_u64() > Some(0) && plan["changes"][0]["text"].is_null(), "{plan}");
    let applied = &report["applied"][0];
    assert_eq!((&applied["path"], &applied["before_sha256"]), (&plan["path"], &plan["before"]["sha256"]));
    assert_eq!(applied["after_sha256"], plan["after"]["sha256"]);
    let retained = Path::new(applied["retained"].as_str().unwrap());
    assert_eq!(fs::read(retained).unwrap(), house.bytes);
    assert!(applied["journal_id"].as_str().unwrap().ends_with("/0001"));

    // The second one has nothing to do, and writes nothing.
    let seen = fs::metadata(&house.path).unwrap();
    let (status, report) = house.json(&["--yes"]);
    assert_eq!((status, &report["plan"], &report["applied"]), (Some(0), &json!([]), &json!([])));
    let now = fs::metadata(&house.path).unwrap();
    assert_eq!((seen.ino(), seen.ctime_nsec()), (now.ino(), now.ctime_nsec()));
}

#[test]
fn lines_stand_for_themselves() {
    let house = House::new(torn());
    let outcome = house.run(&["--dry-run", "--format", "ndjson"]);
    let lines: Vec<Value> = outcome.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    assert_eq!(kinds, ["plan", "totals"]);
    assert_eq!((&lines[1]["planned"], &lines[1]["dry_run"]), (&json!(1), &json!(true)));
}

#[test]
fn repaired_listed_and_taken_back() {
    let house = House::new(torn());
    let before = fs::metadata(&house.path).unwrap();
    let (_, report) = house.json(&["--yes"]);
    let id = report["applied"][0]["journal_id"].as_str().unwrap().to_owned();
    let run = id.split('/').next().unwrap();
    assert_ne!(house.now(), house.bytes);

    let list = house.undo(&["--list"]);
    assert_eq!(list.status, Some(0));
    let entry = &list.json()["journal"][0]["files"][0];
    assert_eq!(
        (&entry["journal_id"], &entry["state"], &entry["codes"]),
        (&json!(id), &json!("verified"), &json!(["L101"]))
    );
    assert_eq!(entry["quarantined"], json!(1));
    let page = house.bare().arg("--list").go().text();
    assert!(page.contains(run) && page.contains("verified") && page.contains(&session().id), "{page}");

    // The original, elsewhere; never over something.
    let target = house.temp.join("original.jsonl");
    let wrote = house.bare().args(["--undo", run, "--to"]).arg(&target).go();
    assert_eq!((wrote.status, fs::read(&target).unwrap()), (Some(0), house.bytes.clone()));
    let wrote = house.bare().args(["--undo", run, "--to"]).arg(&target).go();
    assert_eq!(wrote.status, Some(2), "{}", stderr(&wrote));

    // Without --yes nothing is put back.
    let asked = house.undo(&["--undo", run]);
    assert_eq!((asked.status, &asked.json()["undo"][0]["standing"]), (Some(1), &json!("as-repaired")));
    assert_ne!(house.now(), house.bytes);

    let undone = house.undo(&["--undo", &id, "--yes"]);
    assert_eq!(undone.status, Some(0), "{}", stderr(&undone));
    assert_eq!(undone.json()["applied"][0]["after_sha256"], report["plan"][0]["before"]["sha256"]);
    house.untouched();
    let after = fs::metadata(&house.path).unwrap();
    assert_eq!((before.mode(), before.mtime(), before.mtime_nsec()), (after.mode(), after.mtime(), after.mtime_nsec()));

    let again = house.undo(&["--undo", run]);
    assert_eq!((again.status, &again.json()["undo"][0]["standing"]), (Some(0), &json!("undone")));
    let again = house.bare().args(["--undo", run, "--yes"]).go();
    assert_eq!(again.status, Some(2), "{}", stderr(&again));
    assert_eq!(house.bare().args(["--undo", "nothing", "--yes"]).go().status, Some(2));
    assert_eq!(house.bare().arg("--prune").go().status, Some(0));
}

#[test]
fn a_session_that_lives_is_refused() {
    let house = House::new(gap());
    house.register(std::process::id(), now_ms());
    let (status, report) = house.json(&["--yes"]);
    assert_eq!(status, Some(3));
    assert!(reason(&report).starts_with("is in use: process"), "{}", report["refused"]);
    house.untouched();
    // The user's word.
    let outcome = house.run(&["--yes", "--closed", "--relink", "auto"]);
    // The call that was on the lost line is not there for its result, which the agent takes out of each request.
    assert_eq!((outcome.status, outcome.text().contains("refused by the API")), (Some(0), false));
    assert_ne!(house.now(), house.bytes);
}

/// What only shows that a write is under way is no damage of a session that lives.
#[test]
fn a_live_session_with_nothing_but_an_unfinished_line_is_left_in_peace() {
    let house = House::new(torn());
    house.register(std::process::id(), now_ms());
    assert_eq!(house.run(&["--yes"]).status, Some(0));
    house.untouched();
}

#[test]
fn a_process_that_is_not_found_here_may_live_elsewhere() {
    const NOBODY: u32 = 4_194_305;
    let house = House::new(torn());
    house.register(NOBODY, now_ms());
    touch(&house.path, now_ms() - 600_000);
    let (status, report) = house.json(&["--yes"]);
    assert_eq!(status, Some(3));
    assert!(reason(&report).contains("on another machine"), "{}", report["refused"]);
    house.untouched();
    // Unless it predates this machine's start, or the last write is over a day old.
    house.register(NOBODY, 1000);
    let predates = house.json(&["--dry-run"]);
    assert_eq!(predates.0, if cfg!(target_os = "linux") { Some(1) } else { Some(3) });
    house.register(NOBODY, now_ms());
    touch(&house.path, now_ms() - 90_000_000);
    assert_eq!(house.run(&["--yes"]).status, Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_is_open_elsewhere_is_refused() {
    let house = House::new(torn());
    let open = fs::OpenOptions::new().append(true).open(&house.path).unwrap();
    let (status, report) = house.json(&["--yes"]);
    assert_eq!(status, Some(3));
    let pid = std::process::id().to_string();
    assert!(reason(&report).contains(&pid) && reason(&report).contains("open"), "{}", report["refused"]);
    house.untouched();
    drop(open);
    assert_eq!(house.run(&["--yes"]).status, Some(0));
}

#[test]
fn a_file_that_was_written_to_just_now_is_refused_in_a_home() {
    let house = House::new(torn());
    touch(&house.path, now_ms());
    let (status, report) = house.json(&["--yes"]);
    assert_eq!(status, Some(3));
    assert!(reason(&report).contains("written to"), "{}", report["refused"]);
    house.untouched();
    assert_eq!(house.run(&["--yes", "--idle", "0"]).status, Some(0));
    // Outside of a home there is no agent to wait for.
    let temp = Temp::new("cli-repair-plain");
    let path = temp.join("copy.jsonl");
    write(&path, torn());
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).args(["repair", "--yes"]).arg(&path);
    let outcome = run.env("XDG_STATE_HOME", temp.join("state")).go();
    assert_eq!(outcome.status, Some(0), "{}{}", outcome.text(), stderr(&outcome));
}

#[test]
fn what_leads_out_of_the_store_or_is_no_file_is_refused() {
    let house = House::new(torn());
    let outside = house.temp.join("outside").join(house.path.file_name().unwrap());
    write(&outside, torn());
    touch(&outside, NOW - 5_000_000);
    let link = house.path.with_file_name("20260801-090000-00000002.jsonl");
    symlink(&outside, &link).unwrap();
    let outcome = house.bare().arg(&link).args(["--yes", "--format", "json"]).go();
    assert_eq!(outcome.status, Some(3), "{}", stderr(&outcome));
    assert!(reason(&outcome.json()).contains("leads out of its store"), "{}", outcome.json());
    assert_eq!(fs::read(&outside).unwrap(), torn());

    let outcome = house.bare().args(["/dev/null", "--yes", "--format", "json"]).go();
    assert_eq!((outcome.status, reason(&outcome.json())), (Some(3), "is not a plain file"));
}

#[test]
fn of_two_repairs_at_once_one_refuses() {
    let house = House::new(torn());
    let lock = Journal::at(house.temp.join("state/sid-audit")).lock().unwrap();
    let (status, report) = house.json(&["--yes"]);
    assert_eq!(status, Some(3));
    assert!(reason(&report).contains("another repair holds"), "{}", report["refused"]);
    house.untouched();
    // Nothing to do there: nobody is in the way.
    let healthy = House::new(whole());
    let outcome = healthy.bare().arg(healthy.store()).arg("--yes").env("XDG_STATE_HOME", house.temp.join("state")).go();
    assert_eq!(outcome.status, Some(0), "{}", stderr(&outcome));
    drop(lock);
    assert_eq!(house.run(&["--yes"]).status, Some(0));
}

#[test]
fn the_nearest_link_needs_agreement() {
    let house = House::new(rootless());
    let (status, report) = house.json(&["--yes"]);
    let plan = &report["plan"][0];
    assert_eq!((status, &plan["edits"]), (Some(1), &json!([])), "it is still broken");
    let left = plan["left"].as_array().unwrap().iter().find(|f| f["code"] == "C202").unwrap();
    assert!(left["why"].as_str().unwrap().contains("--relink auto"), "{plan}");
    house.untouched();

    let unknown = house.run(&["--dry-run", "--relink", "nobody=no-one"]);
    assert_eq!(unknown.status, Some(2));
    assert!(stderr(&unknown).contains("no session here has a record 'nobody'"), "{}", stderr(&unknown));
    assert_eq!(house.run(&["--relink", "sideways"]).status, Some(2));

    let edit = &plan["nearest"][0];
    assert_eq!(edit["evidence"], "nearest");
    let child = left["id"].as_str().unwrap();
    let parent = edit["reason"].as_str().unwrap().rsplit(' ').next().unwrap();
    let absent = house.run(&["--dry-run", "--relink", &format!("{child}=no-one")]);
    assert_eq!(absent.status, Some(2));
    let (status, decided) = house.json(&["--dry-run", "--relink", &format!("{child}={parent}")]);
    assert_eq!((status, &decided["plan"][0]["after"]["resume"]["verdict"]), (Some(1), &json!("full")));

    let (status, report) = house.json(&["--yes", "--relink", "auto"]);
    assert_eq!((status, &report["plan"][0]["edits"][0]["evidence"]), (Some(0), &json!("nearest")));
    assert_eq!(report["plan"][0]["after"]["resume"]["verdict"], "full");
}

#[test]
fn how_far_it_may_go() {
    let mut bytes = gap();
    bytes.extend_from_slice(b"{\"type\":\"user_mess");
    let house = House::new(bytes);
    let (status, report) = house.json(&["--dry-run", "--up-to", "bytes", "--relink", "auto"]);
    assert_eq!((status, &report["plan"][0]["answers"]), (Some(1), &json!(["L101"])));
    let left = report["plan"][0]["left"].as_array().unwrap();
    let why = |code: &str| left.iter().find(|f| f["code"] == code).map(|f| f["why"].as_str().unwrap().to_owned());
    assert_eq!(why("C201").as_deref(), Some("it takes --up-to links"));
    // It has no answer of its own, and goes with the link.
    assert_eq!(why("C211").as_deref(), Some("it takes --up-to links"));

    let (_, only) = house.json(&["--dry-run", "--select", "C201", "--relink", "auto"]);
    assert_eq!(only["plan"][0]["answers"], json!(["C201"]));
    let (_, others) = house.json(&["--dry-run", "--ignore", "L101", "--relink", "auto"]);
    assert_eq!(others["plan"][0]["answers"], json!(["C201"]));
    assert_eq!(house.run(&["--dry-run", "--select", "X999"]).status, Some(2));
}

#[test]
fn text_is_shown_only_when_it_is_asked_for() {
    let house = House::new(rootless());
    let args = ["--dry-run", "--relink", "auto", "--diff"];
    let plain = house.run(&args).text();
    assert!(plain.contains("@ line") && plain.contains("bytes become"), "{plain}");
    assert!(!plain.contains("parentUuid"), "{plain}");
    let shown = house.run(&[&args[..], &["--show-content"]].concat()).text();
    assert!(shown.lines().any(|l| l.starts_with("  - ")) && shown.lines().any(|l| l.starts_with("  + ")), "{shown}");
}

#[test]
fn what_cannot_be_asked_is_said() {
    let temp = Temp::new("cli-repair-arguments");
    let run = |args: &[&str]| {
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("repair").args(args);
        run.env("XDG_STATE_HOME", temp.join("state")).go()
    };
    for args in
        [&[][..], &["-"], &["/nowhere/at/all"], &["--yes", "--dry-run", "."], &["--to", "x"], &["--all-homes", "."]]
    {
        let outcome = run(args);
        assert_eq!(outcome.status, Some(2), "{args:?}: {}", stderr(&outcome));
    }
    assert_eq!(run(&["--list"]).status, Some(0));
    assert_eq!(run(&["--prune"]).status, Some(0));
    assert!(!temp.join("state").exists());
}

#[test]
fn hard_links_are_a_warning() {
    let house = House::new(torn());
    let other = house.temp.join("other-name.jsonl");
    fs::hard_link(&house.path, &other).unwrap();
    let (_, report) = house.json(&["--dry-run"]);
    let warning = report["plan"][0]["warnings"][0].as_str().unwrap();
    assert!(warning.contains("1 other name"), "{warning}");
    let (status, report) = house.json(&["--yes"]);
    assert_eq!((status, fs::read(&other).unwrap()), (Some(0), house.bytes));
    assert!(report["applied"][0]["warnings"][0].as_str().is_some_and(|w| w.contains("other name")), "{report}");
}

/// A checkpoint index that broke off: its whole snapshots stay, and it comes back as it was.
#[test]
fn a_checkpoint_index_is_salvaged_and_taken_back() {
    let house = House::new(whole());
    let index = house.store().join("checkpoints").join(session().id).join("index.json");
    let snapshot = |n: u32| {
        json!({"id": format!("s{n}"), "timestamp": n, "toolName": "edit", "files": [{"filePath": "/a", "existedBefore": true,
            "type": "full", "content": format!("{n}\n"), "compressed": false}]})
    };
    let list = [snapshot(1), snapshot(2), snapshot(3)];
    let text = json!({"sessionId": session().id, "createdAt": 5, "nextId": 4, "snapshots": list}).to_string();
    let torn = text[..text.len() - 40].to_owned();
    write(&index, &torn);
    touch(&index, NOW - 5_000_000);
    let (status, report) = house.json(&["--dry-run"]);
    assert_eq!((status, &report["plan"][0]["edits"]), (Some(0), &json!([])), "{report}");
    assert_eq!(report["plan"][0]["left"][0]["why"], "it takes --up-to content");

    let page = house.run(&["--dry-run", "--up-to", "content"]).text();
    assert!(page.contains("not read, 2 whole snapshots in it -> read, 2 whole snapshots"), "{page}");
    let (status, report) = house.json(&["--yes", "--up-to", "content"]);
    assert_eq!((status, &report["plan"][0]["kind"]), (Some(0), &json!("index")), "{report}");
    let now: Value = serde_json::from_slice(&fs::read(&index).unwrap()).unwrap();
    assert_eq!((&now["nextId"], now["snapshots"].as_array().map(Vec::len)), (&json!(4), Some(2)));
    assert_eq!(house.run(&["--dry-run", "--up-to", "content"]).status, Some(0));

    let id = report["applied"][0]["journal_id"].as_str().unwrap();
    let undone = house.undo(&["--undo", id, "--yes"]);
    assert_eq!((undone.status, fs::read_to_string(&index).unwrap()), (Some(0), torn), "{}", stderr(&undone));
}

/// Two files, one of which is refused: the other is repaired, and the refusal is the status.
#[test]
fn a_refusal_costs_its_file() {
    let house = House::new(torn());
    let other = house.path.with_file_name("20260801-090000-00000002.jsonl");
    write(&other, torn());
    touch(&other, now_ms());
    let (status, report) = house.json(&["--yes"]);
    assert_eq!((status, report["applied"].as_array().map(Vec::len)), (Some(3), Some(1)));
    assert_eq!(report["refused"][0]["path"].as_str(), other.to_str());
    assert_ne!(house.now(), house.bytes);
    assert_eq!(fs::read(&other).unwrap(), torn());
}
