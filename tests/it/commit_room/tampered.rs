//! A journal that was changed by hand: whatever its manifests say, nothing is written or taken away but a session and
//! files that carry the journal's own names and the bytes that it wrote.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sid_audit::commit::{Run, Undo, settle};

use super::support::*;

const MINE: &[u8] = b"precious\n";

/// A repaired session, and a folder of somebody else with files that must stay.
fn prepared() -> (House, String, PathBuf) {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let id = repair(&house, &path).unwrap().id.run;
    let victim = house.root.join("victim");
    fs::create_dir(&victim).unwrap();
    for name in ["other", ".bashrc", "thesis.tex"] {
        fs::write(victim.join(name), MINE).unwrap();
    }
    (house, id, victim)
}

fn tamper(house: &House, id: &str, change: impl Fn(&mut Value)) {
    let path = house.journal().root().join("runs").join(id).join("0001/manifest.json");
    let mut manifest = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut manifest);
    fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
}

/// Everything that acts on a manifest, 400 days later too.
fn act(house: &House, id: &str) {
    let lock = house.lock();
    let refuse = |_: &sid_audit::commit::Proof<'_>| Err(vec!["no session".to_owned()]);
    let _ = lock.undo(&Undo { id, only: None, appended: true, verify: &refuse }, &quick());
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(400 * 24 * 3600);
    let swept = lock.sweep_deleted(later, true, &[]).unwrap();
    for left in swept.remaining {
        if let Ok(swapped) = lock.reopen(&left.id) {
            settle(vec![(swapped, &refuse)], &quick());
        }
    }
    lock.prune(0, later, None).unwrap();
    drop(lock);
    let path = house.session("t.jsonl", OLD);
    repair_with(&mut Run::begin(&house.lock(), "next"), &path, &splices(), &quick()).unwrap();
}

fn unharmed(victim: &Path, at: &str) {
    for name in ["other", ".bashrc", "thesis.tex"] {
        assert_eq!(fs::read(victim.join(name)).ok().as_deref(), Some(MINE), "{at}: {name}");
    }
    assert_eq!(fs::read_dir(victim).unwrap().count(), 3, "{at}");
}

#[test]
fn names_that_are_not_the_journals_own_lead_nowhere() {
    for name in [".bashrc", "thesis.tex", ".sid-audit-1.kept", ".sid-audit-00000000.kept.new", "../victim/other"] {
        for state in ["planned", "applied", "verified", "undone"] {
            for named in ["other", name] {
                let (house, id, victim) = prepared();
                let inode = fs::metadata(victim.join(named)).map_or(1, |meta| meta.ino());
                tamper(&house, &id, |m| {
                    m["path"] = json!({"text": victim.join("other")});
                    m["state"] = json!(state);
                    m["kept"][0]["name"] = json!(name);
                    m["kept"][0]["ino"] = json!(inode);
                    m["kept"][0]["state"] = json!(if state == "planned" { "planned" } else { "kept" });
                });
                act(&house, &id);
                unharmed(&victim, &format!("{name}, {state}, the inode of {named}"));
            }
        }
    }
}

#[test]
fn a_path_or_a_hash_alone_is_not_believed() {
    for state in ["planned", "applied", "verified", "undone"] {
        for kept in ["planned", "kept", "gone"] {
            let (house, id, victim) = prepared();
            let inode = fs::metadata(victim.join("other")).unwrap().ino();
            let content = sid_audit::commit::Fingerprint::take(&victim.join("other")).unwrap();
            tamper(&house, &id, |m| {
                m["path"] = json!({"text": victim.join("other")});
                (m["state"], m["kept"][0]["state"]) = (json!(state), json!(kept));
                m["kept"][0]["ino"] = json!(inode);
                m["after"] = json!({"sha256": content.sha256, "len": content.len, "ends_in_lf": true});
                m["kept"][0]["successor"] = m["after"].clone();
            });
            act(&house, &id);
            unharmed(&victim, &format!("{state}, {kept}"));
        }
    }
}

/// Two entries that claim one kept file: it stays.
#[test]
fn an_entry_cannot_have_the_original_of_another_taken_away() {
    let house = House::new();
    let path = house.session("s.jsonl", OLD);
    let (one, kept) = repair(&house, &path).map(|out| (out.id.run, out.kept)).unwrap();
    let other = house.session("other.jsonl", OLD);
    let two = repair(&house, &other).unwrap().id.run;
    tamper(&house, &two, |m| {
        (m["state"], m["kept"][0]["name"]) = (json!("undone"), json!(kept.file_name().unwrap().to_str()));
    });
    act(&house, &two);
    assert_eq!(fs::read(&kept).unwrap(), OLD);
    let undo = Undo { id: &one, only: None, appended: true, verify: &agree };
    house.lock().undo(&undo, &quick()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), OLD);
}
