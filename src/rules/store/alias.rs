//! The one alias table of a store: every id under which a session is known, and its file.
//!
//! Layers are joined through it: a session's own id and that of its name, the ids of processes that resumed it,
//! registrations, the folders of checkpoints and backups, the prefix of a sidechain's name. Ids are
//! compared as their hashes (64 bits, keyed); stores that were scanned in one run are kept apart.

use std::path::Path;

use super::agent::Judges;
use super::collect::SessionNote;
use crate::identity::AgentId;
use crate::record::facts::Id;
use crate::rules::agent::Judged;
use crate::store::{Discovery, FileEntry, FileKind, Registration};

/// Ids and the files that they stand for.
#[derive(Debug, Default)]
pub struct Aliases {
    agents: Judges,
    /// Of each root its store: the smallest root of the same home.
    stores: Vec<u32>,
    /// Hash of the id, store, file. Sorted.
    known: Vec<(u64, u32, u32)>,
    /// Store and hash of the ids that living processes registered.
    registered: Vec<(u32, u64)>,
}

impl Aliases {
    /// The table of everything that was found.
    pub fn new(discovery: &Discovery, notes: &[SessionNote], registrations: &[Registration], agents: Judges) -> Self {
        let stores = stores(discovery);
        let mut table =
            Aliases { agents, stores, known: Vec::with_capacity(discovery.files.len()), registered: Vec::new() };
        for (n, file) in (0_u32..).zip(&discovery.files) {
            let store = table.store(discovery, file);
            let id = named_id(agents, file);
            if let (Some(store), Some(id)) = (store, id) {
                table.known.push((id, store, n));
            }
        }
        for note in notes.iter().filter(|note| note.is_session()) {
            let Some(file) = discovery.files.get(note.file as usize) else { continue };
            let Some(store) = table.store(discovery, file) else { continue };
            table.known.extend(note.ids().map(|id| (id, store, note.file)));
        }
        table.known.sort_unstable();
        table.known.dedup();
        table.known.shrink_to_fit();
        for registration in registrations.iter().filter(|r| r.damaged.is_none()) {
            let Some(id) = &registration.session_id else { continue };
            let home =
                |root: &crate::store::Root| root.store.as_deref().is_some_and(|s| registration.path.starts_with(s));
            if let Some(root) = discovery.roots.iter().position(home) {
                table.registered.push((table.stores[root], agents.hash(Some(registration.agent), id.as_bytes())));
            }
        }
        table.registered.sort_unstable();
        table
    }

    /// The store in which a file lies.
    pub fn store(&self, discovery: &Discovery, file: &FileEntry) -> Option<u32> {
        self.stores.get(discovery.folder(file)?.root as usize).copied()
    }

    /// The store of a root.
    pub fn store_of_root(&self, root: u32) -> Option<u32> {
        self.stores.get(root as usize).copied()
    }

    /// The files of the session known by this id, the first of them first.
    pub fn files(&self, store: u32, agent_id: AgentId, id: &[u8]) -> impl Iterator<Item = u32> + use<'_> {
        self.files_by_hash(store, self.agents.hash(Some(agent_id), id))
    }

    pub(crate) fn files_by_hash(&self, store: u32, id: u64) -> impl Iterator<Item = u32> + use<'_> {
        let from = self.known.partition_point(|k| (k.0, k.1) < (id, store));
        self.known[from..].iter().take_while(move |k| (k.0, k.1) == (id, store)).map(|k| k.2)
    }

    /// Whether there is a file of the session known by this id.
    pub fn has(&self, store: u32, agent_id: AgentId, id: &[u8]) -> bool {
        self.files(store, agent_id, id).next().is_some()
    }

    /// The files that share an id, by id and store: those of at least two files, in no order that means anything.
    pub(super) fn groups(&self) -> impl Iterator<Item = (u64, &[(u64, u32, u32)])> {
        self.known
            .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
            .filter(|group| group.len() > 1)
            .map(|group| (group[0].0, group))
    }

    /// Whether an entry of the registry of processes names this id.
    pub fn is_registered(&self, store: u32, agent_id: AgentId, id: &[u8]) -> bool {
        self.registered.binary_search(&(store, self.agents.hash(Some(agent_id), id))).is_ok()
    }

    /// The session whose sidechain bears this name: the longest prefix before a dash that is a session.
    pub fn sidechain(&self, store: u32, agent_id: AgentId, stem: &[u8]) -> Option<u32> {
        let dashes = stem.iter().enumerate().rev().filter(|(_, b)| **b == b'-');
        dashes.filter_map(|(at, _)| self.files(store, agent_id, &stem[..at]).next()).next()
    }
}

/// Of each root the first root of the same store.
fn stores(discovery: &Discovery) -> Vec<u32> {
    let base = |n: usize| -> &Path {
        let root = &discovery.roots[n];
        root.store.as_deref().unwrap_or(&root.path)
    };
    let mut first: std::collections::HashMap<&Path, u32> = std::collections::HashMap::new();
    (0..discovery.roots.len()).map(|n| *first.entry(base(n)).or_insert(n as u32)).collect()
}

/// The hash of the id that a session file's name gives.
pub(super) fn named_id(agents: Judges, file: &FileEntry) -> Option<u64> {
    let name = file.name.bytes();
    let stem = match file.kind {
        FileKind::Main => name.strip_suffix(b".jsonl").unwrap_or(&name),
        FileKind::Whole => name.strip_suffix(b".json").unwrap_or(&name),
        _ => return None,
    };
    let agent = file.agent_id.and_then(|agent_id| agents.of(agent_id));
    agent.map_or(Some(stem), |agent| agent.named_id(stem)).map(|id| hash(agent, id))
}

/// The hash of an id, as its agent compares it.
pub(super) fn hash(agent: Option<&dyn Judged>, id: &[u8]) -> u64 {
    match agent {
        Some(agent) => Id::of(&agent.id_compared(id)).short(),
        None => Id::of(id).short(),
    }
}
