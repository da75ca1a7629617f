//! Sessions whose damage is known, repaired by the built program as a user would: what an agent could not load it loads
//! again, with every message that is still whole in the file; nothing stays that the chosen class could have answered.
//!
//! The sessions are those of `fixtures/loaders`, whose `expect.json` tells what the agents made of them before. What they
//! must make of them afterwards stands here: the branch that a whole file would have, less what a repair says it drops.

use crate::support;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::run::{Outcome, Run, fixtures};
use support::temp::{Temp, write};
use support::time::touch;

/// The moment at which the fixtures were judged, and one long before.
const NOW: &str = "2026-03-10T00:00:00Z";
const THEN: i64 = 1_770_000_000_000;

struct House {
    temp: Temp,
    store: PathBuf,
    /// Each session's bytes before.
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl House {
    fn new(store: &str) -> Self {
        let temp = Temp::new("repair-named");
        let store = temp.join(store);
        House { temp, store, before: BTreeMap::new() }
    }

    fn put(&mut self, folder: &str, name: &str, bytes: Vec<u8>) -> PathBuf {
        let path = self.store.join(folder).join(name);
        write(&path, &bytes);
        touch(&path, THEN);
        self.before.insert(path.clone(), bytes);
        path
    }

    /// The session of a fixture whose name starts like this.
    fn take(&mut self, room: &str, folder: &str, start: &str) -> PathBuf {
        let mut path = starting(&fixtures("loaders").join(room), start);
        if path.is_dir() {
            path = starting(&path, "2026");
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        self.put(folder, &name, fs::read(&path).unwrap())
    }

    fn repair(&self, args: &[&str]) -> Outcome {
        let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("repair").arg(&self.store).args(args);
        run.args(["--now", NOW]).env("XDG_STATE_HOME", self.temp.join("state")).go()
    }

    /// Applies, and returns what is said of each file.
    fn repaired(&self, args: &[&str]) -> BTreeMap<PathBuf, Value> {
        let outcome = self.repair(&[&["--yes", "--format", "json"], args].concat());
        // 1: of some a guess, or nothing, would bring back the rest.
        let ended = matches!(outcome.status, Some(0 | 1));
        assert!(ended, "{}{}", outcome.text(), String::from_utf8_lossy(&outcome.stderr));
        let report = outcome.json();
        assert!(report.get("refused").is_none(), "{}", report["refused"]);
        let plans = report["plan"].as_array().unwrap();
        plans.iter().map(|plan| (PathBuf::from(plan["path"].as_str().unwrap()), plan.clone())).collect()
    }
}

fn starting(folder: &Path, start: &str) -> PathBuf {
    let mut found = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with(start)
    });
    found.next().unwrap_or_else(|| panic!("no {start} in {folder:?}"))
}

fn chain(file: &Path, agent_id: &str) -> Value {
    let run = Run::new(Path::new(env!("CARGO_BIN_EXE_sid-audit"))).arg("chain").arg(file);
    run.args(["--agent", agent_id, "--format", "json"]).go().json()
}

/// Every message record that stands whole in these bytes, wherever on a line: by its id, where it has one. Found by a
/// reader that knows nothing of the tool's own.
fn whole_messages(bytes: &[u8]) -> Vec<Value> {
    let mut found = Vec::new();
    for line in bytes.split(|b| *b == b'\n' || *b == b'\r') {
        let mut at = 0;
        while let Some(start) = memchr::memmem::find(&line[at..], b"{\"type\":\"") {
            at += start;
            let mut values = serde_json::Deserializer::from_slice(&line[at..]).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) => {
                    at += values.byte_offset();
                    if ["user_message", "assistant_message"].contains(&value["type"].as_str().unwrap_or_default()) {
                        found.push(value["uuid"].clone());
                    }
                }
                _ => at += 1,
            }
        }
    }
    found
}

fn codes_left(plan: &Value) -> Vec<&str> {
    plan["left"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect()
}

/// Not loadable before, and after the gentle classes every whole message is back, in the order of the file.
#[test]
fn sid_code_loads_again_what_it_could_not() {
    let mut house = House::new("home/.sid-code");
    let names = ["s21", "s22", "s24", "s28", "s42", "s68", "k07"];
    let paths: Vec<PathBuf> =
        names.iter().map(|name| house.take("sid", "sessions/home-dev-demo", &format!("{name}-"))).collect();
    for path in &paths {
        assert_eq!(chain(path, "sid")["resume"]["verdict"], "none", "{path:?} loads before");
    }
    let plans = house.repaired(&["--up-to", "links"]);
    for (name, path) in names.iter().zip(&paths).filter(|(name, _)| **name != "s42") {
        let ids: Vec<Value> =
            chain(path, "sid")["messages"].as_array().unwrap().iter().map(|m| m["id"].clone()).collect();
        let whole = whole_messages(&house.before[path]);
        assert!(whole.len() >= 7, "{name}: {}", whole.len());
        assert_eq!(ids, whole, "{name}");
        assert_eq!(plans[path]["after"]["resume"]["verdict"], "full", "{name}");
    }
    // Its first half has no ids: that the second continues it is a guess, and a person has to take it.
    let s42 = &paths[4];
    assert_eq!(fs::read(s42).unwrap(), house.before[s42]);
    let left = plans[s42]["left"].as_array().unwrap();
    let not_loadable = left.iter().find(|f| f["code"] == "C211").unwrap();
    assert!(not_loadable["why"].as_str().unwrap().contains("--relink auto"), "{not_loadable}");
    let plans = house.repaired(&["--up-to", "links", "--relink", "auto"]);
    let messages = chain(s42, "sid")["messages"].as_array().unwrap().len();
    assert_eq!((messages, messages), (whole_messages(&house.before[s42]).len(), 8));
    assert_eq!(plans[s42]["after"]["resume"]["verdict"], "full");
    assert_eq!(house.repair(&["--dry-run", "--relink", "auto"]).status, Some(0), "a second repair has work");
}

/// A torn tail costs the torn record and nothing else, however long it is.
#[test]
fn every_whole_record_is_kept() {
    let mut house = House::new("home/.sid-code");
    let mut paths: Vec<PathBuf> =
        ["s20-", "s23-"].iter().map(|name| house.take("sid", "sessions/home-dev-demo", name)).collect();
    // A flush of megabytes that was cut by a kill, as the process with its 512 KiB left it.
    let whole = house.before[&paths[0]].clone();
    let begin: Vec<&[u8]> = whole.split_inclusive(|b| *b == b'\n').take(2).collect();
    let mut killed = begin.concat();
    killed.extend_from_slice(
        br#"{"type":"assistant_message","message":{"role":"assistant","content":[{"type":"text","text":""#,
    );
    killed.resize(512 * 1024, b'x');
    paths.push(house.put("sessions/home-dev-demo", "20260301-110000-0000036f.jsonl", killed));
    let plans = house.repaired(&["--up-to", "links"]);
    for path in &paths {
        let (before, after) = (&house.before[path], fs::read(path).unwrap());
        let records = memchr::memrchr(b'\n', before).unwrap() + 1;
        assert_eq!(after, before[..records], "{path:?}");
        assert_eq!(plans[path]["answers"], json!(["L101"]), "{path:?}");
        let messages = chain(path, "sid")["messages"].as_array().unwrap().len();
        assert_eq!(messages, whole_messages(before).len(), "{path:?}");
    }
}

/// Case, and the messages that the open SDK shows afterwards: role and number, `*` for one that the repair made.
const CLAUDE: &[(&str, &str)] = &[
    ("09", "u:1 a:2 u:3 a:4"),
    ("10", "u:1 a:2 u:3 a:4"),
    // Its third record is cut; what is left of it is in quarantine.
    ("14", "u:1 a:2 a:4 u:5 a:6"),
    ("23", "u:1 a:2 u:3 a:4 u:5 a:6"),
    ("24", "u:1 a:2 u:3 a:4 u:5 a:6 u:7 a:8"),
    ("26", "u:1 a:2 u:3 a:4"),
    ("50", "u:1 a:2 u:*"),
    ("51", "u:1 a:2 u:* u:3 a:4"),
    // Results without a call: the API refuses them, and nothing can be made of them.
    ("53", "u:1 a:3"),
    ("54", "u:4 a:6"),
    ("55", "u:1 a:2 u:4 a:3 a:5"),
    ("56", "u:1 a:2 u:3 a:4 u:5 a:6"),
    ("57", "u:1 a:2 u:3 a:5"),
    ("58", "u:1 a:2 u:3 a:4"),
    ("60", "u:1 a:2"),
    ("61", "u:1 a:2 u:3 a:4"),
    ("62", "u:1 a:2 u:3 a:4"),
];

/// What they break by their codes, since a model answered after some of it: what an answer proves is only information.
const EACH: &str = "C,L,M401,M402,M403,M405,M406,M407,M408,M409,M410,M411,T301,T302,T303,T304,T305,T306,T307";

#[test]
fn claude_code_gets_the_branch_of_a_whole_file() {
    let mut house = House::new("copies");
    let paths: Vec<PathBuf> = CLAUDE.iter().map(|(name, _)| house.take("claude", "", &format!("{name}-"))).collect();
    let plans = house.repaired(&["--up-to", "content", "--select", EACH]);
    for ((name, wanted), path) in CLAUDE.iter().zip(&paths) {
        let report = chain(path, "claude");
        let shown: Vec<String> = report["messages"].as_array().unwrap().iter().map(short).collect();
        assert_eq!(shown.join(" "), *wanted, "{name}");
        assert!(plans.contains_key(path), "{name} has no plan");
        assert_eq!(codes_left(&plans[path]), [""; 0], "{name}");
        assert_eq!(plans[path]["after"]["api"]["verdict"], "ok", "{name}");
    }
    assert_eq!(
        house.repair(&["--dry-run", "--up-to", "content", "--select", EACH]).status,
        Some(0),
        "a second repair has work"
    );
    let text = fs::read_to_string(&paths[6]).unwrap();
    assert!(text.contains("outcome is unknown") && text.contains("\"sidAudit\":{\"code\":\"T301\""), "{text}");
}

/// `u:7`: the role's first letter and the number at the end of the id.
fn short(message: &Value) -> String {
    let (role, id) = (message["role"].as_str().unwrap(), message["id"].as_str().unwrap());
    let number = id.rsplit('-').next().and_then(|end| end.get(4..)).and_then(|n| n.parse::<u32>().ok());
    format!("{}:{}", &role[..1], number.map_or("*".to_owned(), |n| n.to_string()))
}

/// Case, and the ends of the ids on pi's branch afterwards.
const PI: &[(&str, &[u32])] = &[
    // The fifth is cut; the id of the sixth stands on the line that was cut into it.
    ("03", &[1, 2, 3, 4, 6, 7]),
    ("05", &[1, 2, 4]),
    ("07", &[1, 2, 3]),
    ("21", &[1, 2, 5, 6]),
    ("25", &[1, 2]),
    ("26", &[1, 2]),
];

/// Each in a store of its own: the sessions have the same ids, and what another file of a store has is not guessed.
#[test]
fn pi_gets_the_branch_of_a_whole_file() {
    std::thread::scope(|scope| {
        for (name, wanted) in PI {
            scope.spawn(move || pi_branch(name, wanted));
        }
    });
}

fn pi_branch(name: &str, wanted: &[u32]) {
    let mut house = House::new("copies");
    let path = house.take("pi", "", &format!("{name}-"));
    let plans = house.repaired(&["--up-to", "content"]);
    for agent_id in ["pi", "openclaw"] {
        let report = chain(&path, agent_id);
        let branch: Vec<&str> = report["adopted"].as_array().unwrap().iter().filter_map(|a| a["id"].as_str()).collect();
        let ids: Vec<String> = wanted.iter().map(|n| format!("aaaa{n:04}")).collect();
        assert_eq!(branch, ids, "{name} as {agent_id}");
    }
    assert_eq!(codes_left(&plans[&path]), [""; 0], "{name}");
    assert_eq!(house.repair(&["--dry-run", "--up-to", "content"]).status, Some(0), "{name}: a second repair has work");
}
