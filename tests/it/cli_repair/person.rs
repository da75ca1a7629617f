//! What a person is told and may decide: what is still broken at the end, which leaf is used, which record hangs below
//! which, and what the agent deletes next.

use super::*;

const ID: &str = "5e55c0de-0000-4000-8000-000000000001";

fn key(n: u32) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

/// A row of Claude Code: of a user where the number is odd.
fn row(n: u32, parent: Option<u32>) -> String {
    let kind = if n % 2 == 1 { "user" } else { "assistant" };
    let content = json!([{"type": "text", "text": "words"}]);
    let mut message = json!({"role": kind, "content": content});
    if kind == "assistant" {
        message["id"] = json!(format!("msg_{n}"));
        message["model"] = json!("claude-opus-4-5");
        message["type"] = json!("message");
    }
    let row = json!({
        "parentUuid": parent.map(key), "isSidechain": false, "type": kind, "message": message, "uuid": key(n),
        "timestamp": format!("2026-03-01T09:00:{n:02}.000Z"), "sessionId": ID, "cwd": "/home/dev/demo",
        "version": "2.1.220", "userType": "external"
    });
    format!("{row}\n")
}

/// A home of Claude Code with one session of these rows.
fn claude(name: &str, rows: &[(u32, Option<u32>)], age: i64) -> House {
    let temp = Temp::new(name);
    let path = temp.join("home/.claude/projects/-home-dev-demo").join(format!("{ID}.jsonl"));
    let bytes: String = rows.iter().map(|(n, parent)| row(*n, *parent)).collect();
    write(&path, &bytes);
    touch(&path, NOW - age);
    House { temp, path, bytes: bytes.into_bytes() }
}

const DAY: i64 = 24 * 60 * 60 * 1000;
/// Six records one below the other, and a late one below the second, which takes the leaf.
const STRAY: [(u32, Option<u32>); 7] =
    [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(3)), (5, Some(4)), (6, Some(5)), (9, Some(2))];

impl House {
    /// Another command about the session's file.
    fn other(&self, command: &str, args: &[&str]) -> Outcome {
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg(command).arg(&self.path);
        run.args(["--now", NOW_TEXT]).args(args).go()
    }

    /// The same of `repair`.
    fn file(&self, args: &[&str]) -> Outcome {
        self.bare().arg(&self.path).args(["--now", NOW_TEXT, "--closed"]).args(args).go()
    }

    fn brought_back(&self) -> Vec<String> {
        let messages = self.other("chain", &["--format", "json"]).json();
        let messages = messages["messages"].as_array().unwrap();
        messages.iter().map(|m| m["id"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn what_is_still_broken_stands_on_the_last_lines() {
    let house = House::new(rootless());
    for args in [&["--dry-run"][..], &["--yes"]] {
        let outcome = house.run(args);
        let page = outcome.text();
        assert_eq!(outcome.status, Some(1), "{page}");
        let last: Vec<&str> = page.lines().rev().take(4).collect();
        assert!(last.iter().any(|line| line.contains("still broken")), "{page}");
        assert!(last[0].contains("sid-audit repair --dry-run --relink auto"), "{page}");
    }
    let (status, report) = house.json(&["--dry-run"]);
    assert_eq!((status, &report["still_broken"][0]["resume"]), (Some(1), &json!("none")), "{report}");
    // The command that is named has a plan, and after it nothing is broken.
    assert_eq!(house.run(&["--yes", "--relink", "auto"]).status, Some(0));
    assert_eq!(house.run(&["--dry-run"]).status, Some(0));
}

#[test]
fn what_is_known_to_be_broken_fails_no_run() {
    let house = House::new(rootless());
    let known = house.temp.join("known.json");
    let scan = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("scan").arg(house.store());
    scan.args(["--now", NOW_TEXT, "--write-baseline"]).arg(&known).go();
    let known = known.to_str().unwrap();
    assert_eq!(house.run(&["--dry-run", "--baseline", known]).status, Some(0));
    assert_eq!(house.run(&["--yes", "--baseline", known]).status, Some(0));
    assert_eq!(house.run(&["--dry-run", "--baseline", "nowhere.json"]).status, Some(2));
}

#[test]
fn a_leaf_that_was_taken_can_be_given_back() {
    let house = claude("cli-repair-leaf", &STRAY, 0);
    assert_eq!(house.brought_back(), [1, 2, 9].map(key));
    let command = format!("sid-audit repair --dry-run --leaf {} ", key(6));
    for page in [house.other("scan", &[]).text(), house.other("chain", &[]).text()] {
        assert!(page.contains(&command), "{page}");
    }
    let (lines, leaf) = (house.bytes.iter().filter(|b| **b == b'\n').count(), key(6));
    let outcome = house.file(&["--yes", "--leaf", &leaf]);
    assert_eq!(outcome.status, Some(0), "{}{}", outcome.text(), stderr(&outcome));
    assert!(outcome.text().contains("decided"), "{}", outcome.text());
    assert_eq!(house.brought_back(), [1, 2, 3, 4, 5, 6, 9].map(key), "nothing went");
    assert_eq!(house.now().iter().filter(|b| **b == b'\n').count(), lines);
    let again = house.file(&["--yes", "--leaf", &leaf]);
    assert_eq!((again.status, stderr(&again).contains("it is so already")), (Some(0), true));
}

#[test]
fn no_decision_is_dropped_without_a_word() {
    let house = claude("cli-repair-decided", &STRAY, 0);
    let link = |child: u32, parent: u32| format!("{}={}", key(child), key(parent));
    let cases = [
        (vec!["--leaf", "nobody"], 2, "no session here has a record 'nobody'"),
        (vec!["--relink", "nobody=no-one"], 2, "no session here has a record 'nobody'"),
        (vec!["--up-to", "bytes", "--leaf", "nobody"], 2, "further than --up-to bytes"),
    ];
    for (args, status, words) in cases {
        let outcome = house.file(&[&["--dry-run"][..], &args].concat());
        assert_eq!(outcome.status, Some(status), "{args:?}: {}", stderr(&outcome));
        assert!(stderr(&outcome).contains(words), "{args:?}: {}", stderr(&outcome));
    }
    let absent = house.file(&["--dry-run", "--relink", &format!("{}=no-one", key(9))]);
    assert_eq!((absent.status, stderr(&absent).contains("has no record 'no-one'")), (Some(2), true));
    let looped = house.file(&["--yes", "--relink", &link(2, 4)]);
    assert_eq!((looped.status, stderr(&looped).contains("would make a loop")), (Some(3), true));
    // It would leave out messages that a resume brings back now.
    let worse = house.file(&["--yes", "--relink", &link(9, 1)]);
    assert_eq!((worse.status, stderr(&worse).contains("was not taken")), (Some(3), true), "{}", stderr(&worse));
    house_is_untouched(&house);
    // A record whose link is not broken is put where a person wants it.
    assert_eq!(house.file(&["--yes", "--relink", &link(9, 6)]).status, Some(0));
    assert_eq!(house.brought_back().len(), 7);
}

fn house_is_untouched(house: &House) {
    assert_eq!(house.now(), house.bytes);
}

#[test]
fn a_repair_says_that_the_agent_deletes_the_session() {
    // Half of it hangs below a parent that was never written.
    let rows = [(1, None), (2, Some(1)), (3, Some(2)), (4, Some(3)), (5, Some(40)), (6, Some(5))];
    let house = claude("cli-repair-deletion", &rows, 40 * DAY);
    let scan = house.other("scan", &[]).text();
    assert!(scan.contains("Deleted by the agent itself") && scan.contains("cleanupPeriodDays"), "{scan}");
    assert!(scan.contains("sid-audit repair --dry-run --touch "), "{scan}");
    let plan = house.file(&["--dry-run"]).text();
    let one_line: String = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("is 40 days old: Claude Code deletes it at its next start"), "{plan}");
    assert!(one_line.contains("--touch"), "{plan}");
    let before = fs::metadata(&house.path).unwrap().mtime();
    let done = house.file(&["--yes"]);
    assert_eq!(fs::metadata(&house.path).unwrap().mtime(), before, "the time is part of the session");
    assert!(done.text().contains("touch"), "{}", done.text());

    let house = claude("cli-repair-touch", &rows, 40 * DAY);
    let before = fs::metadata(&house.path).unwrap().mtime();
    let done = house.file(&["--yes", "--touch"]);
    assert_eq!(done.status, Some(0), "{}", done.text());
    assert!(fs::metadata(&house.path).unwrap().mtime() > before, "it has the time of its repair");
    assert!(!done.text().contains("deletes it"), "{}", done.text());
}

#[test]
fn a_scan_names_what_is_due_within_a_week() {
    let due = claude("cli-repair-due", &STRAY[..6], 27 * DAY).other("scan", &[]).text();
    assert!(
        due.contains("due for deletion within 7 days") && due.contains("within 7 days, nearly 30 days old"),
        "{due}"
    );
    let young = claude("cli-repair-young", &STRAY[..6], 20 * DAY).other("scan", &[]).text();
    assert!(!young.contains("Deleted by the agent itself"), "{young}");
}

#[test]
fn a_dry_run_says_that_the_run_would_be_refused() {
    let house = House::new(gap());
    fs::File::options().append(true).open(&house.path).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    let page = house.run(&["--dry-run"]).text();
    assert!(page.contains("a run now would leave it alone"), "{page}");
    assert_eq!(house.run(&["--yes"]).status, Some(3));
}
