//! What only sid-code has beside its sessions: declared edits (S513, S526), and a folder of dumps that overflows (S525).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::finding::{Place, Severity};
use crate::record::time;
use crate::rules::counted;
use crate::rules::store::registry::{CONFLICTING_INTENTS, EVIDENCE_OVERFLOW, STALE_INTENT};
use crate::rules::store::{NAMED, World};
use crate::store::{FileEntry, FileKind, Part, State, liveness};

/// Finds them in a store.
pub(super) fn check(world: &mut World<'_>) {
    intents(world);
    dumps(world);
}

/// How long a declared read or edit counts.
const FRESH_MS: i64 = 300_000;

/// One declared path of one live session.
struct Intent {
    session: String,
    operation: String,
    file: PathBuf,
}

fn intents(world: &mut World<'_>) {
    let mut declared: BTreeMap<(u32, String), Vec<Intent>> = BTreeMap::new();
    let files: Vec<FileEntry> = world.discovery.of_kind(FileKind::Intent).cloned().collect();
    for file in &files {
        let path = world.discovery.path(file);
        let Some(store) = world.aliases.store(world.discovery, file) else { continue };
        let value = match world.read_small(file) {
            Ok(bytes) => serde_json::from_slice::<Value>(&bytes).ok().filter(Value::is_object),
            Err(e) => {
                world.unreadable(path, &e);
                continue;
            }
        };
        let Some(value) = value else {
            let finding = STALE_INTENT
                .at(Place::default())
                .path(&path)
                .effect(format!("{} deletes it", crate::agents::SID.loader()))
                .fact("why", "cannot be read: no JSON object");
            world.add(None, finding);
            continue;
        };
        let session = value.get("sessionId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let pid = value.get("pid").and_then(Value::as_i64);
        let dead = pid.is_none_or(|pid| liveness::pid_alive(pid) == State::Dead);
        let entries: Vec<&Value> =
            value.get("files").and_then(Value::as_object).into_iter().flat_map(|f| f.values()).collect();
        let now = world.now;
        let fresh = |entry: &Value| {
            let at = entry.get("lastAccessAt").and_then(Value::as_f64);
            at.is_some_and(|at| (now as f64) - at < FRESH_MS as f64)
        };
        let stale = entries.iter().filter(|e| dead || !fresh(e)).count();
        if dead || stale > 0 {
            let why = if dead { "its process is gone" } else { "past its 5 minutes" };
            let effect = if dead {
                format!("{} deletes the file", crate::agents::SID.loader())
            } else {
                format!(
                    "{} ignores {}",
                    crate::agents::SID.loader(),
                    counted(stale as u64, "entry").replace("entrys", "entries")
                )
            };
            let mut finding = STALE_INTENT
                .at(Place::default())
                .path(&path)
                .effect(effect)
                .fact("why", why)
                .fact("session", session.as_str())
                .fact("entries", entries.len())
                .count(stale as u64);
            if let Some(pid) = pid {
                finding = finding.fact("pid", pid);
            }
            world.add(None, finding);
        }
        if dead {
            continue;
        }
        for entry in entries.into_iter().filter(|e| fresh(e)) {
            let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let intent = Intent { session: session.clone(), operation: text("operation"), file: path.clone() };
            declared.entry((store, text("path"))).or_default().push(intent);
        }
    }
    for ((_, target), intents) in declared {
        conflict(world, target, &intents);
    }
}

fn conflict(world: &mut World<'_>, target: String, intents: &[Intent]) {
    let [first, rest @ ..] = intents else { return };
    if target.is_empty() || rest.iter().all(|i| i.session == first.session) {
        return;
    }
    let writes = intents.iter().any(|i| matches!(i.operation.as_str(), "edit" | "write"));
    let (severity, effect) = if writes {
        (Severity::Warning, "calls this critical and lets both go on: the later write wins")
    } else {
        (Severity::Info, "calls this a warning: both only read")
    };
    let who: Vec<String> = intents.iter().map(|i| format!("{} {}", i.session, i.operation)).take(NAMED).collect();
    let finding = CONFLICTING_INTENTS
        .at(Place::default())
        .severity(severity)
        .path(&first.file)
        .effect(format!("{} {effect}", crate::agents::SID.loader()))
        .fact("file", target)
        .fact("sessions", who);
    world.add(None, finding);
}

/// How many dumps the agent keeps, and how many bytes of them are too many.
const DUMPS: u64 = 500;
const DUMP_BYTES: u64 = 10 << 20;

fn dumps(world: &mut World<'_>) {
    let mut folders: BTreeMap<u32, (u64, u64, i64, i64)> = BTreeMap::new();
    for file in world.discovery.of_kind(FileKind::ViolationDump) {
        if world.part(file) != Some(Part::Dumps) {
            continue;
        }
        let at = dumped_at(file);
        let (count, bytes, first, last) = folders.entry(file.folder).or_insert((0, 0, i64::MAX, i64::MIN));
        (*count, *bytes) = (*count + 1, bytes.saturating_add(file.size));
        (*first, *last) = ((*first).min(at), (*last).max(at));
    }
    for (folder, (count, bytes, first, last)) in folders {
        if count <= DUMPS && bytes <= DUMP_BYTES {
            continue;
        }
        let path = world.discovery.folders[folder as usize].path.clone();
        let finding = EVIDENCE_OVERFLOW
            .at(Place::default())
            .path(&path)
            .effect(format!(
                "{} keeps the newest {DUMPS}: the violation happened at least {}",
                crate::agents::SID.loader(),
                counted(count, "time")
            ))
            .fact("dumps", count)
            .fact("bytes", bytes)
            .fact("first", time::format(first))
            .fact("last", time::format(last))
            .count(count);
        world.add(None, finding);
    }
}

/// When a dump was written: its name says so, else the time of the file.
fn dumped_at(file: &FileEntry) -> i64 {
    let name = file.name.os();
    let name = name.to_string_lossy();
    let digits = name.rsplit('-').next().and_then(|tail| tail.split('.').next());
    digits.and_then(|d| d.parse::<i64>().ok()).filter(|ms| *ms > 0).unwrap_or(file.mtime_ms)
}
