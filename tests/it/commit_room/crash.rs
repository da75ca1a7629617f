//! The process ends before and after every step: the name holds old or new bytes, the next start brings the journal in
//! order, and undo works.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use sid_audit::commit::manifest::State;
use sid_audit::commit::{Run, Undo, settle, swap};

use super::support::*;

const LATE: &[u8] = b"{\"n\":\"late\"}\n";

/// What a child does while it is killed.
fn work(task: &str, house: &House) {
    let path = house.store().join("s.jsonl");
    match task {
        "repair" => drop(repair(house, &path).unwrap()),
        "undo" => {
            let id = house.journal().list().unwrap()[0].id.clone();
            let undo = Undo { id: &id, only: None, appended: true, verify: &agree };
            house.lock().undo(&undo, &quick()).unwrap();
        }
        "late" => {
            let mut held = fs::OpenOptions::new().append(true).open(&path).unwrap();
            let lock = house.lock();
            let swapped =
                with_request(&path, &splices(), |r| swap(r, &mut Run::begin(&lock, "test"), &quick())).unwrap();
            held.write_all(LATE).unwrap();
            fs::write(house.root.join("written"), b"").unwrap();
            let out = settle(vec![(swapped, &agree)], &quick()).remove(0);
            assert!(out.unmerged.is_empty() && out.merged.is_some(), "{out:?}");
        }
        "undo late" => {
            let kept = house.beside().remove(0);
            append(&house.store().join(kept), LATE);
            fs::write(house.root.join("written"), b"").unwrap();
            work("undo", house);
        }
        "undo moved" => {
            let id = house.journal().list().unwrap()[0].id.clone();
            let undo = Undo { id: &id, only: Some(&path), appended: true, verify: &agree };
            house.lock().undo(&undo, &quick()).unwrap();
        }
        other => panic!("no such task: {other}"),
    }
}

#[test]
fn killed_child() {
    let Some((task, house)) = task() else { return };
    work(&task, &house);
}

fn prepared(task: &str) -> (House, PathBuf) {
    let house = House::fast();
    let path = house.session("s.jsonl", OLD);
    match task {
        "undo" | "undo late" => drop(repair(&house, &path).unwrap()),
        "undo moved" => {
            let (old, new) = (house.root.join("old"), house.store());
            repair(&house, &path).unwrap();
            let text = house.store();
            // The store was elsewhere when the session was repaired.
            for run in house.journal().list().unwrap() {
                let manifest = run.entries[0].folder.join("manifest.json");
                let was = fs::read_to_string(&manifest).unwrap();
                fs::write(&manifest, was.replace(text.to_str().unwrap(), old.to_str().unwrap())).unwrap();
            }
            assert!(new.is_dir() && !old.exists());
        }
        _ => {}
    }
    (house, path)
}

/// The names of the steps that a task takes, in order.
fn steps(task: &str, fail: Option<&str>) -> Vec<String> {
    let (house, _) = prepared(task);
    let list = house.root.join("steps");
    let mut command = child("crash::killed_child", task, &house);
    command.env("SID_AUDIT_STEPS", &list);
    command.envs(fail.map(|fail| ("SID_AUDIT_FAIL_AT", fail)));
    must_succeed(&command.output().unwrap());
    let list = fs::read_to_string(list).unwrap();
    list.lines().map(|l| l.split_once(' ').unwrap().1.to_owned()).collect()
}

fn matrix(task: &str, fail: Option<&str>) {
    let steps = steps(task, fail);
    assert!(steps.len() > 20, "{steps:?}");
    let mut outcomes = BTreeSet::new();
    for (n, name) in steps.iter().enumerate() {
        for after in ["", ":after"] {
            let (house, path) = prepared(task);
            let was = dress(&path);
            let mut command = child("crash::killed_child", task, &house);
            command.env("SID_AUDIT_CRASH_AT", format!("{}{after}", n + 1));
            command.envs(fail.map(|fail| ("SID_AUDIT_FAIL_AT", fail)));
            let output = command.output().unwrap();
            let at = format!("{task}, killed at step {} {name}{after}", n + 1);
            assert_eq!(output.status.signal(), Some(6), "{at}: {}", String::from_utf8_lossy(&output.stderr));
            outcomes.insert(check(task, &house, &path, was, &at));
        }
    }
    // The matrix has met both worlds.
    assert!(outcomes.len() >= 2, "{outcomes:?}");
}

/// Looks at the house after the crash, starts again, undoes, repairs once more and undoes that.
fn check(task: &str, house: &House, path: &Path, was: (u32, u32, u32, i64, i64), at: &str) -> String {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("{at}: the name is gone: {e}"));
    let merged = [NEW, LATE].concat();
    let original = [OLD, LATE].concat();
    let known = [OLD, NEW, &merged[..], &original[..]];
    assert!(known.contains(&&bytes[..]), "{at}: {:?}", String::from_utf8_lossy(&bytes));
    if bytes == OLD || bytes == NEW {
        assert_eq!(dress(path), was, "{at}");
    }

    let lock = house.journal().lock().unwrap_or_else(|e| panic!("{at}: {e}"));
    let recovered: Vec<String> = lock.recovered().iter().map(|r| format!("{:?}", r.how)).collect();
    assert_eq!(fs::read(path).unwrap(), bytes, "{at}: the next start changed the session");
    drop(lock);
    assert!(house.lock().recovered().is_empty(), "{at}: a second start finds more");
    for run in house.journal().list().unwrap() {
        assert!(run.unreadable.is_empty(), "{at}: {:?}", run.unreadable);
        for entry in &run.entries {
            assert_ne!(entry.manifest.state, State::Planned, "{at}");
        }
    }
    // An undo that is in effect is recorded in what it undid.
    let runs = house.journal().list().unwrap();
    let state = |id| runs.iter().flat_map(|r| &r.entries).find(|e| e.id == id).map(|e| e.manifest.state);
    for manifest in runs.iter().flat_map(|r| &r.entries).map(|e| &e.manifest) {
        if let (Some(id), State::Applied | State::Verified) = (&manifest.undoes, manifest.state) {
            assert_eq!(state(id.clone()), Some(State::Undone), "{at}");
        }
    }
    // Every file beside the session is one that the journal names.
    let named: BTreeSet<String> =
        house.journal().list().unwrap().iter().flat_map(|run| &run.entries).fold(BTreeSet::new(), |mut set, entry| {
            set.extend(entry.kept.iter().map(|k| k.path.file_name().unwrap().to_str().unwrap().to_owned()));
            set
        });
    let elsewhere = task == "undo moved";
    for name in house.beside().into_iter().filter(|_| !elsewhere) {
        assert!(named.contains(&name), "{at}: {name} is not in the journal");
    }
    // No byte is lost: late ones are at the name, or in a kept file that the journal names.
    let late: u64 = late_bytes(house);
    let all = bytes.windows(LATE.len()).filter(|w| *w == LATE).count() as u64 * LATE.len() as u64 + late;
    let written = u64::from(house.root.join("written").exists()) * LATE.len() as u64;
    assert_eq!(all, written, "{at}");

    back_to_the_original(task, house, path, was, at);
    repair(house, path).unwrap_or_else(|e| panic!("{at}: a new repair: {e}"));
    back_to_the_original(task, house, path, was, at);
    format!("{recovered:?} {}", String::from_utf8_lossy(&bytes).len())
}

fn late_bytes(house: &House) -> u64 {
    let runs = house.journal().list().unwrap();
    runs.iter().flat_map(|r| &r.entries).flat_map(|e| &e.kept).map(|k| k.late).sum()
}

/// Undoes whatever is in effect until the original is there.
fn back_to_the_original(task: &str, house: &House, path: &Path, was: (u32, u32, u32, i64, i64), at: &str) {
    for run in house.journal().list().unwrap().iter().rev() {
        let entry = &run.entries[0];
        let in_effect = entry.manifest.state != State::Undone && entry.manifest.undoes.is_none();
        if in_effect && fs::read(path).unwrap() != OLD {
            let undo = Undo { id: &run.id, only: None, appended: true, verify: &agree };
            let undo = Undo { only: (task == "undo moved").then_some(path), ..undo };
            let undone = house.lock().undo(&undo, &quick()).unwrap_or_else(|e| panic!("{at}: undo: {e}"));
            assert!(undone.failed.is_empty(), "{at}: {:?}", undone.failed);
        }
    }
    let bytes = fs::read(path).unwrap();
    if task.ends_with("late") && bytes != OLD {
        assert_eq!(bytes, [OLD, LATE].concat(), "{at}");
        // For the next round: as it was.
        house.session("s.jsonl", OLD);
    } else {
        assert_eq!(bytes, OLD, "{at}: {:?}", house.journal().list());
        assert_eq!(dress(path), was, "{at}");
    }
}

#[test]
fn killed_in_a_repair() {
    matrix("repair", None);
}

#[test]
fn killed_in_an_undo() {
    matrix("undo", None);
}

#[test]
fn killed_in_an_undo_that_brings_late_lines_along() {
    matrix("undo late", None);
}

#[test]
fn killed_in_an_undo_at_a_new_place() {
    matrix("undo moved", None);
}

#[test]
fn killed_while_late_lines_are_brought_over() {
    matrix("late", None);
}

#[test]
fn killed_where_names_cannot_be_exchanged() {
    let exchange = steps("repair", None).iter().position(|s| s == "exchange").unwrap() + 1;
    let fail = format!("{exchange}:22");
    assert!(steps("repair", Some(&fail)).iter().any(|s| s == "link"));
    matrix("repair", Some(&fail));
}
