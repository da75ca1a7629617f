//! S516: what the agent's next start will delete. By what it goes is each agent's own; here is how it is told.

use serde_json::Value;

use super::World;
use crate::finding::{Deletion, Finding, Place, Rule, Severity, When};
use crate::identity::AgentId;
use crate::record::time;
use crate::rules::counted;
use crate::store::Source;

pub(crate) static DELETION_AHEAD: Rule =
    Rule { code: "S516", name: "deletion-ahead", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// So many files are named in one finding.
pub(crate) const FILES: usize = 5000;

/// What will be too old within this time is told beforehand.
pub(crate) const SOON: i64 = 7 * DAY_MS;

/// Files of a store that go together: what for, by which setting, and the first time that makes one too old.
pub(crate) struct Going<'a> {
    pub(crate) files: &'a [u32],
    pub(crate) when: When,
    pub(crate) reason: String,
    pub(crate) setting: String,
    pub(crate) due: Option<i64>,
}

/// What a start within the next days will find too old.
pub(crate) fn due_soon(
    world: &mut World<'_>,
    store: u32,
    files: &[u32],
    agent_id: AgentId,
    (days, setting): (i64, String),
    due: i64,
) {
    let agent = agent_id.agent();
    let count = counted(files.len() as u64, "session");
    let effect = format!("{agent} deletes {count} within 7 days, at its first start behind day {days}");
    let reason = format!("nearly {days} days old");
    let going = Going { files, when: When::Soon, reason, setting, due: Some(due) };
    grouped(world, store, &going, effect);
}

/// One finding for many files of a store; of a single file that a person passed it belongs to the file.
pub(crate) fn grouped<'w>(world: &'w mut World<'_>, store: u32, going: &Going<'_>, effect: String) -> &'w mut Finding {
    let files = going.files;
    let paths: Vec<String> = files.iter().take(FILES).map(|&n| world.path_text(n)).collect();
    let mut finding = DELETION_AHEAD
        .at(Place::default())
        .severity(Severity::Info)
        .path(&world.store_path(store))
        .effect(effect)
        .deletion(Deletion {
            files: paths,
            reason: going.reason.clone(),
            when: going.when,
            setting: going.setting.clone(),
            date: going.due.map_or_else(|| "next start".to_owned(), time::format),
        })
        .count(files.len() as u64);
    if files.len() > FILES {
        finding = finding.fact("files_not_named", files.len() - FILES);
    }
    let single = match files {
        [one] => world.is_single(*one).then_some(*one),
        _ => None,
    };
    world.add(single, finding)
}

/// The settings of a store's home, when they can be read. They are small; a longer file is none.
pub(crate) fn settings(world: &World<'_>, store: u32) -> Option<Value> {
    const LONGEST: u64 = 1 << 20;
    let path = world.home(store)?.join("settings.json");
    let bytes = Source::open(&path).ok()?.read_range(0, LONGEST).ok()?;
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).ok()
}
