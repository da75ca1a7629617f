//! S: sessions and stores. How a session stopped and whether anybody will find it again, what lies beside it, what the
//! agent's next start will do to it.
//!
//! [`check`] says what one session alone shows: `ending`, `clock`, `markers`, `foreign`, `queue`, `names`, and of `hidden_sessions`
//! whether the agent's own list shows it. While sessions are read, [`StoreCollector`] keeps what is needed of each
//! (`collect`, `sample`); when all were read, [`check_store`] looks at the store as a whole: `cleanup`, `beside`,
//! `copies`, `forks`, `stale_lists`, and the agent at what only its own stores can have. `alias` joins the layers.
//!
//! Of a single file that a person passed only what its own facts show is judged: nothing beside it is read but the
//! settings that decide about its deletion. Whether checkpoints fit their sessions is left to the checkpoint rules, how
//! the records of one file hang together to `chain`.

pub mod agent;
pub mod alias;
pub(crate) mod cleanup;
mod clock;
pub(crate) mod collect;
mod copies;
mod ending;
mod forks;
mod hidden_sessions;
pub(crate) mod markers;
pub(crate) mod names;
pub(crate) mod registry;
mod sample;
mod scan;
pub(crate) mod stale_lists;

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use super::{Collector, Context};
use crate::finding::{Finding, Place, Rule, Severity};
use crate::identity::AgentId;
use crate::rules::agent::Judged;
use crate::store::{Discovery, FileEntry, FileKind, Layout, Part, Registration};

use agent::Judges;
pub use alias::Aliases;
pub use collect::{MissingParent, SessionNote, StoreCollector};
pub(crate) use forks::INCOMPLETE_FORK;

/// The rules of this family.
pub static RULES: &[&Rule] = &[
    &ending::INTERRUPTED_PROMPT,
    &ending::INTERRUPTED_TURN,
    &markers::NO_SESSION_END,
    &markers::END_NOT_LAST,
    &markers::REPEATED_START,
    &names::ID_DIFFERS_FROM_NAME,
    &names::WRONG_FOLDER,
    &FOREIGN_RECORDS,
    &markers::VERSION_CONTRADICTION,
    &markers::UNFINISHED_SIDECHAIN,
    &registry::ORPHAN_SIDECHAIN,
    &registry::DEAD_REGISTRATION,
    &registry::STALE_INTENT,
    &hidden_sessions::HIDDEN_SESSION,
    &markers::GHOST_SESSION,
    &cleanup::DELETION_AHEAD,
    &stale_lists::ALREADY_DELETED,
    &copies::SYNC_COPY,
    &copies::SAME_ID_TWICE,
    &forks::MISSING_FORK_SOURCE,
    &clock::CLOCK_BACKWARDS,
    &stale_lists::STALE_INDEX,
    &LOST_PROMPT,
    &copies::SHARED_RECORD,
    &registry::EVIDENCE_OVERFLOW,
    &registry::CONFLICTING_INTENTS,
    &forks::INCOMPLETE_FORK,
    &markers::REPAIRED_RECORD,
];

pub(crate) static FOREIGN_RECORDS: Rule =
    Rule { code: "S508", name: "foreign-records", severity: Severity::Error, fix: None, since: "0.1.0" };

pub(crate) static LOST_PROMPT: Rule =
    Rule { code: "S523", name: "lost-prompt", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// So many names are given in one fact.
pub(crate) const NAMED: usize = 20;

/// Finds in one session what it shows alone.
pub fn check(context: &Context<'_>, found: &mut Collector) {
    ending::check(context, found);
    markers::check(context, found);
    names::check(context, found);
    hidden_sessions::check(context, found);
    clock::check(context, found);
    context.agent.check_session(context, found);
}

/// What the store as a whole shows.
#[derive(Debug, Default)]
pub struct StoreReport {
    /// Findings with their path, and the file when it is one session's.
    pub findings: Vec<(Option<u32>, Finding)>,
    /// Parents that are not in their file and are in another: C201 there becomes C212.
    pub elsewhere: Vec<Elsewhere>,
    /// What could not be read.
    pub errors: Vec<(PathBuf, String)>,
    /// Every id by which a session is known, for rules about other layers.
    pub aliases: Aliases,
}

/// A parent that lives in another file of the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Elsewhere {
    /// The file that lacks it.
    pub file: u32,
    /// The line of the record that names it.
    pub line: u32,
    /// The file that has it.
    pub other: u32,
}

/// Finds what only all sessions together show. Where rules need more than was collected they read single files again:
/// lists, histories, intents, and sessions that a candidate was found in.
pub fn check_store(
    discovery: &Discovery,
    collected: StoreCollector,
    registrations: &[Registration],
    now: i64,
) -> StoreReport {
    let agents = collected.agents();
    let collected = collected.finish();
    let mut sample = collected.sample;
    let aliases = Aliases::new(discovery, &collected.notes, registrations, agents);
    let mut world = World {
        discovery,
        notes: &collected.notes,
        registrations,
        now,
        agents,
        aliases: &aliases,
        whole: HashSet::new(),
        report: StoreReport::default(),
    };
    world.whole = (0..)
        .zip(&discovery.roots)
        .filter(|(_, root)| root.layout.is_home())
        .filter_map(|(n, _)| aliases.store_of_root(n))
        .collect();
    world.sessions();
    for agent in agents.iter() {
        agent.check_store(&mut world);
    }
    registry::check(&mut world);
    copies::check(&mut world, &mut sample);
    forks::check(&mut world, &mut sample);
    stale_lists::check(&mut world);
    world.report.elsewhere = copies::elsewhere(&world, &mut sample);
    let mut report = world.report;
    report.aliases = aliases;
    report.findings.sort_by(|a, b| (a.0, a.1.rule.code, &a.1.path).cmp(&(b.0, b.1.rule.code, &b.1.path)));
    report
}

/// What store rules look at, and what they found.
#[derive(Debug)]
pub struct World<'a> {
    pub(crate) discovery: &'a Discovery,
    pub(crate) notes: &'a [SessionNote],
    registrations: &'a [Registration],
    pub(crate) now: i64,
    agents: Judges,
    pub(crate) aliases: &'a Aliases,
    /// The stores of which a whole home was read.
    whole: HashSet<u32>,
    report: StoreReport,
}

impl World<'_> {
    /// Adds a finding, of one session or of none; what is returned may be added to.
    pub(crate) fn add(&mut self, file: Option<u32>, finding: Finding) -> &mut Finding {
        let all = &mut self.report.findings;
        all.push((file, finding));
        let last = all.len() - 1;
        &mut all[last].1
    }

    /// A file that had to be read and could not.
    pub(crate) fn unreadable(&mut self, path: PathBuf, e: &io::Error) {
        self.report.errors.push((path, format!("cannot be read: {e}")));
    }

    pub(crate) fn note(&self, file: u32) -> Option<&SessionNote> {
        self.notes.binary_search_by_key(&file, |note| note.file).ok().map(|at| &self.notes[at])
    }

    pub(crate) fn layout(&self, file: &FileEntry) -> Option<Layout> {
        self.discovery.folder(file).map(|folder| folder.layout)
    }

    /// Which part of its agent's store the file's folder is.
    pub(crate) fn part(&self, file: &FileEntry) -> Option<Part> {
        self.layout(file)?.part()
    }

    /// Whose a file is.
    pub(crate) fn agent(&self, file: &FileEntry) -> Option<&'static dyn Judged> {
        self.agents.of(file.agent_id?)
    }

    fn path(&self, file: u32) -> PathBuf {
        self.discovery.files.get(file as usize).map(|f| self.discovery.path(f)).unwrap_or_default()
    }

    pub(crate) fn path_text(&self, file: u32) -> String {
        self.path(file).to_string_lossy().into_owned()
    }

    /// Whether a person passed the file itself: then nothing beside it was read.
    pub(crate) fn is_single(&self, file: u32) -> bool {
        let root = self.discovery.files.get(file as usize).and_then(|f| self.discovery.root(f));
        root.is_some_and(|root| matches!(root.layout, Layout::File | Layout::Stdin))
    }

    /// Whether a whole home was read.
    pub(crate) fn is_whole(&self, store: u32) -> bool {
        self.whole.contains(&store)
    }

    /// The agent's home that a store is.
    pub(crate) fn home(&self, store: u32) -> Option<PathBuf> {
        self.discovery.roots.get(store as usize)?.store.clone()
    }

    pub(crate) fn store_path(&self, store: u32) -> PathBuf {
        self.discovery
            .roots
            .get(store as usize)
            .map(|r| r.store.clone().unwrap_or_else(|| r.path.clone()))
            .unwrap_or_default()
    }

    /// The first session file of each name, by store.
    fn sessions_by_name(&self) -> std::collections::HashMap<(u32, Vec<u8>), u32> {
        let mut names = std::collections::HashMap::new();
        for (n, file) in (0_u32..).zip(&self.discovery.files).filter(|(_, f)| f.kind == FileKind::Main) {
            if let Some(store) = self.aliases.store(self.discovery, file) {
                names.entry((store, file.name.bytes().into_owned())).or_insert(n);
            }
        }
        names
    }

    /// A side file that is read whole: a list, an intent.
    pub(crate) fn read_small(&self, file: &FileEntry) -> io::Result<Vec<u8>> {
        const LONGEST: u64 = 64 << 20;
        let bytes = self.discovery.open(file)?.read_range(0, LONGEST)?;
        Ok(bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(bytes))
    }

    /// The first of these records in a file, for its place.
    fn find_first(&self, file: u32, ids: Vec<u64>) -> Option<scan::Hit> {
        let entry = self.discovery.files.get(file as usize)?;
        let key = self.agent(entry)?.id_key();
        let source = self.discovery.open(entry).ok()?;
        scan::scan_ids(&source, key, ids.into_iter().collect(), true).ok()?.into_iter().next()
    }

    /// What the notes hold ready: sessions in the wrong folder (S507), and those without an end mark (S503).
    fn sessions(&mut self) {
        let mut endless: std::collections::BTreeMap<u32, (u32, u64, u64)> = std::collections::BTreeMap::new();
        for note in self.notes {
            let Some(file) = self.discovery.files.get(note.file as usize) else { continue };
            for finding in note.extra().into_iter().flat_map(|e| &e.findings) {
                self.report.findings.push((Some(note.file), finding.clone().path(&self.discovery.path(file))));
            }
            if note.has_no_end()
                && let Some(store) = self.aliases.store(self.discovery, file)
            {
                let slot = endless.entry(store).or_insert((note.file, 0, 0));
                slot.1 += 1;
                slot.2 += u64::from(note.is_live());
            }
        }
        for (store, (first, count, live)) in endless {
            let single = self.is_single(first).then_some(first);
            let loader = self.discovery.files[first as usize].agent_id.map_or("", AgentId::loader);
            let path = single.map_or_else(|| self.store_path(store), |n| self.path(n));
            let finding = markers::NO_SESSION_END
                .at(Place::default())
                .path(&path)
                .effect(format!("{loader} does not ask for it"))
                .fact("sessions", count)
                .fact("live", live)
                .count(count);
            self.add(single, finding);
        }
    }
}
