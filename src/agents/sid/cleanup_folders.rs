//! S516 for the file layer: which checkpoint folders sid-code's next clean-up removes.
//!
//! `docs/formats/sid-code.md`, sections 7 and 8.2 (run): at the start of any session and once a day it removes each
//! folder of `checkpoints/` that was last changed more than 30 days ago, and then, oldest first, what is above 200 MB
//! in total. The time is that of the *folder*, which writing into `index.json` in place does not touch: a session that
//! was begun 31 days ago and used today loses its history. Only the starting process's own id is protected.

use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::finding::{Deletion, Place, Severity, When};
use crate::record::time;
use crate::rules::counted;
use crate::rules::store::World;
use crate::rules::store::cleanup::{DAY_MS, DELETION_AHEAD, FILES};
use crate::store::{Layout, Part};

const MAX_AGE: i64 = 30 * DAY_MS;
/// As its quota of one index, taken in binary.
const MAX_BYTES: u64 = 200 << 20;

struct Folder {
    changed: i64,
    name: String,
    bytes: u64,
    /// When something in it was last written.
    written: i64,
}

pub(super) fn check(world: &mut World<'_>) {
    let homes = world.discovery.roots.iter().filter(|root| root.layout == Layout::Of(crate::agents::SID, Part::Home));
    let mut checkpoints: Vec<_> = homes.filter_map(|root| Some(root.store.as_ref()?.join("checkpoints"))).collect();
    checkpoints.sort();
    checkpoints.dedup();
    for folder in checkpoints {
        store(world, &folder);
    }
}

fn store(world: &mut World<'_>, checkpoints: &Path) {
    let mut folders = read(checkpoints);
    folders.sort_by(|a, b| (a.changed, &a.name).cmp(&(b.changed, &b.name)));
    let old = folders.partition_point(|f| world.now.saturating_sub(f.changed) > MAX_AGE);
    let mut left: u64 = folders.iter().skip(old).map(|f| f.bytes).sum();
    let above = folders.iter().skip(old).take_while(|f| {
        let goes = left > MAX_BYTES;
        left = left.saturating_sub(f.bytes);
        goes
    });
    let above = above.count();
    let going = folders.get(..old + above).unwrap_or_default();
    let Some(first) = going.first() else { return };
    // Used since: what the folder's time does not tell.
    let used = going.iter().take(old).filter(|f| world.now.saturating_sub(f.written) <= MAX_AGE).count();
    let reason = match (old, above) {
        (_, 0) => "folder older than 30 days",
        (0, _) => "beyond 200 MB in total",
        _ => "folder older than 30 days, or beyond 200 MB in total",
    };
    let lost = match used {
        0 => String::new(),
        n => format!("; {} written into since then", counted(n as u64, "folder")),
    };
    let effect = format!(
        "{} removes {} when its next session begins: {reason}{lost}",
        crate::agents::SID.loader(),
        counted(going.len() as u64, "checkpoint folder"),
    );
    let date = if old > 0 { time::format(first.changed.saturating_add(MAX_AGE)) } else { "next start".to_owned() };
    let names: Vec<String> = going.iter().take(FILES).map(|f| f.name.clone()).collect();
    let deletion = Deletion {
        files: Vec::new(),
        reason: reason.to_owned(),
        when: When::NextStart,
        setting: String::new(),
        date: date.clone(),
    };
    let mut finding = DELETION_AHEAD
        .at(Place::default())
        .severity(Severity::Info)
        .path(checkpoints)
        .effect(effect)
        .fact("folders", names)
        .fact("reason", reason)
        .fact("date", date)
        .fact("older", old)
        .fact("beyond_size", above)
        .fact("used_since", used)
        .count(going.len() as u64);
    finding.deletion = Some(Box::new(deletion));
    world.add(None, finding);
}

/// The folders there; what cannot be seen is not judged.
fn read(checkpoints: &Path) -> Vec<Folder> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(checkpoints).into_iter().flatten().flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        let Some(changed) = milliseconds(&meta).filter(|_| meta.is_dir()) else { continue };
        let (mut bytes, mut written) = (0_u64, changed);
        for file in std::fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            let Ok(meta) = file.metadata() else { continue };
            bytes = bytes.saturating_add(meta.len());
            written = written.max(milliseconds(&meta).unwrap_or(i64::MIN));
        }
        folders.push(Folder { changed, name: entry.file_name().to_string_lossy().into_owned(), bytes, written });
    }
    folders
}

fn milliseconds(meta: &std::fs::Metadata) -> Option<i64> {
    let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}
