//! Lists that the agents keep beside the sessions, against the sessions that are there: a cached list that disagrees
//! with its folder (S522), and sessions that are known and not on disk (S517).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use super::{NAMED, World};
use crate::finding::{Place, Rule, Severity};
use crate::identity::AgentId;
use crate::record::time;
use crate::record::value::Value;
use crate::rules::counted;
use crate::store::{FileEntry, FileKind, Layout};
use crate::text::lossy;

pub(super) static ALREADY_DELETED: Rule =
    Rule { code: "S517", name: "already-deleted", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) static STALE_INDEX: Rule =
    Rule { code: "S522", name: "stale-index", severity: Severity::Info, fix: None, since: "0.1.0" };

/// Where a session is known from.
mod from {
    pub(super) const HISTORY: u8 = 1;
    pub(super) const INDEX: u8 = 2;
    pub(super) const CHECKPOINTS: u8 = 4;
}

/// Sessions of one store that are known and not there.
#[derive(Default)]
struct Gone {
    ids: HashMap<u64, u8>,
    named: Vec<String>,
    times: Option<(i64, i64)>,
    bad_rows: u64,
    full: bool,
}

impl Gone {
    fn add(&mut self, id: u64, text: &[u8], source: u8) {
        /// So many are told apart; more are only known to be more.
        const KEPT: usize = 200_000;
        if let Some(known) = self.ids.get_mut(&id) {
            *known |= source;
        } else if self.ids.len() >= KEPT {
            self.full = true;
        } else {
            self.ids.insert(id, source);
            if self.named.len() < NAMED {
                self.named.push(lossy(text));
            }
        }
    }
}

pub(super) fn check(world: &mut World<'_>) {
    let mut gone: BTreeMap<(u32, AgentId), Gone> = BTreeMap::new();
    indexes(world, &mut gone);
    histories(world, &mut gone);
    folders(world, &mut gone);
    for ((store, agent_id), gone) in gone {
        if gone.ids.is_empty() || !world.is_whole(store) {
            continue;
        }
        let count = gone.ids.len() as u64;
        let of = |source: u8| gone.ids.values().filter(|known| **known & source != 0).count();
        let mut finding = ALREADY_DELETED
            .at(Place::default())
            .path(&world.store_path(store))
            .effect(format!("{} cannot resume {}", agent_id.loader(), counted(count, "session")))
            .fact("in_history", of(from::HISTORY))
            .fact("in_index", of(from::INDEX))
            .fact("in_checkpoints", of(from::CHECKPOINTS))
            .fact("sessions", gone.named)
            .count(count);
        if let Some((first, last)) = gone.times {
            finding = finding.fact("first", time::format(first)).fact("last", time::format(last));
        }
        if gone.bad_rows > 0 {
            finding = finding.fact("unreadable_history_rows", gone.bad_rows);
        }
        if gone.full {
            finding = finding.fact("at_least", true);
        }
        world.add(None, finding);
    }
}

/// A row of an agent's list of sessions; only what is compared.
#[derive(Deserialize, Default, Debug)]
#[serde(rename_all = "camelCase", default)]
pub struct Row {
    session_id: Option<String>,
    session_file: Option<String>,
}

fn indexes(world: &mut World<'_>, gone: &mut BTreeMap<(u32, AgentId), Gone>) {
    let lists: Vec<(u32, FileEntry)> = (0_u32..)
        .zip(&world.discovery.files)
        .filter(|(_, f)| f.kind == FileKind::ListIndex)
        .map(|(n, f)| (n, f.clone()))
        .collect();
    for (n, file) in lists {
        let Some(store) = world.aliases.store(world.discovery, &file).filter(|_| !world.is_single(n)) else { continue };
        let path = world.discovery.path(&file);
        let bytes = match world.read_small(&file) {
            Ok(bytes) => bytes,
            Err(e) => {
                world.unreadable(path, &e);
                continue;
            }
        };
        let Some(agent) = world.agent(&file) else { continue };
        let agent_id = agent.agent_id();
        let effect = format!("{} {}", agent_id.loader(), agent.store_words().stale_list);
        let finding = STALE_INDEX.at(Place::default()).path(&path).effect(effect);
        let rows = match agent.list_rows(&bytes) {
            Ok(rows) => rows,
            Err(e) => {
                let why = if bytes.is_empty() { "is empty".to_owned() } else { format!("cannot be read: {e}") };
                world.add(None, finding.fact("why", why));
                continue;
            }
        };
        let names = |row: &Row| -> Option<String> {
            let last = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned);
            row.session_file
                .as_deref()
                .and_then(last)
                .or_else(|| row.session_id.as_ref().map(|id| format!("{id}.jsonl")))
        };
        let listed: HashSet<String> = rows.iter().filter_map(names).map(|name| name.to_ascii_lowercase()).collect();
        let here: HashSet<Cow<'_, [u8]>> =
            world.discovery.files.iter().filter(|f| f.folder == file.folder).map(|f| f.name.bytes()).collect();
        let mut dead = Vec::new();
        for row in &rows {
            let Some(name) = names(row) else { continue };
            if !here.contains(name.as_bytes()) {
                let id = row.session_id.clone().unwrap_or(name);
                let hash = world.agents.hash(Some(agent_id), id.as_bytes());
                if world.aliases.files_by_hash(store, hash).next().is_none() {
                    gone.entry((store, agent_id)).or_default().add(hash, id.as_bytes(), from::INDEX);
                }
                dead.push(id);
            }
        }
        let unlisted: Vec<String> = world
            .discovery
            .files
            .iter()
            .filter(|f| f.folder == file.folder && f.kind == FileKind::Main)
            .map(|f| lossy(&f.name.bytes()))
            .filter(|name| !listed.contains(&name.to_ascii_lowercase()))
            .collect();
        if dead.is_empty() && unlisted.is_empty() {
            continue;
        }
        let (dead_count, unlisted_count) = (dead.len(), unlisted.len());
        dead.truncate(NAMED);
        let unlisted: Vec<String> = unlisted.into_iter().take(NAMED).collect();
        let finding = finding
            .fact("rows", rows.len())
            .fact("rows_without_file", dead_count)
            .fact("files_without_row", unlisted_count)
            .fact("sessions_without_file", dead)
            .fact("unlisted", unlisted)
            .count((dead_count + unlisted_count) as u64);
        world.add(None, finding);
    }
}

fn histories(world: &mut World<'_>, gone: &mut BTreeMap<(u32, AgentId), Gone>) {
    let files: Vec<FileEntry> = world.discovery.of_kind(FileKind::History).cloned().collect();
    for file in files {
        let home = world.layout(&file).filter(|layout| layout.is_home());
        let Some(agent_id) = home.and_then(Layout::agent_id) else { continue };
        let Some(store) = world.aliases.store(world.discovery, &file).filter(|s| world.is_whole(*s)) else { continue };
        let slot = gone.entry((store, agent_id)).or_default();
        if let Err(e) = history(world, &file, store, agent_id, slot) {
            world.unreadable(world.discovery.path(&file), &e);
        }
    }
}

fn history(world: &World<'_>, file: &FileEntry, store: u32, agent_id: AgentId, gone: &mut Gone) -> std::io::Result<()> {
    let source = world.discovery.open(file)?;
    let mut lines = source.lines();
    while let Some(line) = lines.next_line()? {
        let text = line.bytes.trim_ascii();
        if text.is_empty() {
            continue;
        }
        let Some(row) = Value::parse(text) else {
            gone.bad_rows += 1;
            continue;
        };
        // absent in rows of old clients
        let Some(id) = row.get("sessionId").and_then(|v| v.text()).filter(|id| !id.is_empty()) else { continue };
        let hash = world.agents.hash(Some(agent_id), id.as_bytes());
        if world.aliases.files_by_hash(store, hash).next().is_some()
            || world.aliases.is_registered(store, agent_id, id.as_bytes())
        {
            continue;
        }
        gone.add(hash, id.as_bytes(), from::HISTORY);
        if let Some(at) = row.get("timestamp").and_then(|v| v.number()).filter(|at| at.abs() < 9e15) {
            let at = at as i64;
            gone.times = Some(gone.times.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
        }
    }
    Ok(())
}

/// Folders of checkpoints and backups, which bear the session's id.
fn folders(world: &World<'_>, gone: &mut BTreeMap<(u32, AgentId), Gone>) {
    for folder in &world.discovery.folders {
        let agent = folder.layout.agent_id().and_then(|agent_id| world.agents.of(agent_id));
        let Some(agent) = agent.filter(|agent| agent.keeps_files_of_a_session(folder.layout)) else { continue };
        let agent_id = agent.agent_id();
        let (Some(store), Some(name)) = (world.aliases.store_of_root(folder.root), folder.path.file_name()) else {
            continue;
        };
        let id = name.as_encoded_bytes();
        if !world.aliases.has(store, agent_id, id) && !world.aliases.is_registered(store, agent_id, id) {
            let slot = gone.entry((store, agent_id)).or_default();
            slot.add(world.agents.hash(Some(agent_id), id), id, from::CHECKPOINTS);
        }
    }
}
