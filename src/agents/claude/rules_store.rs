//! Claude Code: how it names, lists and deletes sessions, and what only its own stores can have.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde::Deserialize;

use super::{Claude, cleanup, file_history, list, names, rules_foreign, rules_queue};
use crate::finding::Finding;
use crate::record::facts::{Id, flag};
use crate::record::reread;
use crate::rules::store::World;
use crate::rules::store::agent::{Hidden, Listed, StoreWords, Stored};
use crate::rules::store::collect::Fork;
use crate::rules::store::names::Differs;
use crate::rules::store::stale_lists::Row;
use crate::rules::{Collector, Context};
use crate::session::{Session, Shape};
use crate::store::{FileEntry, FileKind, Layout, Part, State};

static WORDS: StoreWords = StoreWords {
    open_prompt: "the prompt comes back, and the next one follows it",
    without_message: "listed only when it bears a title",
    sync_copy: "does not see it",
    same_id: "lists the newest, and opens the first in the file system's order unless a folder is named",
    stale_list: "does not read it; clients before 2.1.30 did",
    shadows: false,
};

impl Stored for Claude {
    fn check_session(&self, context: &Context<'_>, found: &mut Collector) {
        rules_foreign::check(context, found);
        rules_queue::check(context, found);
    }

    fn check_store(&self, world: &mut World<'_>) {
        cleanup::check(world);
    }

    fn check_files(&self, session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
        file_history::check(session, store, places)
    }

    fn store_words(&self) -> &'static StoreWords {
        &WORDS
    }

    fn closing(&self) -> u64 {
        flag::INTERRUPT | flag::LOCAL_COMMAND | flag::COMPACT_SUMMARY
    }

    fn results_may_come_early(&self) -> bool {
        true
    }

    fn hidden(&self, session: &Session) -> Option<Hidden> {
        list::hidden(session)
    }

    fn listed(&self, _: &Session) -> Option<Listed> {
        None
    }

    fn contradicted(&self, _: Option<f64>, _: bool, _: bool) -> Option<&'static str> {
        None
    }

    fn named_id<'n>(&self, stem: &'n [u8]) -> Option<&'n [u8]> {
        Some(stem)
    }

    /// UUIDs in any letter case.
    fn id_compared<'i>(&self, id: &'i [u8]) -> Cow<'i, [u8]> {
        Cow::Owned(id.to_ascii_lowercase())
    }

    fn goes_by_id_inside(&self) -> bool {
        false
    }

    fn id_key(&self) -> &'static str {
        "\"uuid\""
    }

    /// The name decides; an id inside that the name does not give is S506 or S508 and finds no file.
    fn ids_inside(&self, _: &Session) -> Vec<Vec<u8>> {
        Vec::new()
    }

    /// Transcripts that lie beside their session (2.0).
    fn owner(&self, session: &Session) -> Option<Vec<u8>> {
        if session.shape != Shape::Subagent || names::subagent_session(&session.path).is_some() {
            return None;
        }
        let facts = &session.facts;
        facts.records.iter().find(|r| r.session != 0).and_then(|r| facts.names.get(r.session)).map(<[u8]>::to_vec)
    }

    /// The folder of the newer layout is named by the session; in the older one the records name it.
    fn orphan(&self, world: &World<'_>, n: u32, file: &FileEntry, store: u32) -> Option<String> {
        if file.kind != FileKind::Subagent {
            return None;
        }
        if let Some(id) = names::subagent_session(&world.discovery.path(file)) {
            return (!world.aliases.has(store, file.agent_id?, id)).then(|| crate::text::lossy(id));
        }
        let (id, text) = world.note(n)?.extra()?.owner.clone()?;
        world.aliases.files_by_hash(store, id).next().is_none().then_some(text)
    }

    fn fork(&self, session: &Session) -> Option<Fork> {
        let record = session.facts.records.iter().find(|r| r.has(flag::FORKED))?;
        let id = reread::field(&session.source, record, &["forkedFrom", "sessionId"])?;
        let source = Some(Id::of(&self.id_compared(id.as_bytes())).short());
        Some(Fork { source, named: id.lossy(), tail: None, messages: None, line: record.line })
    }

    fn marks_copies(&self) -> bool {
        true
    }

    fn differs<'a>(&self, session: &'a Session, stem: &'a [u8]) -> Option<Differs<'a>> {
        names::differs(session, stem)
    }

    fn is_project(&self, layout: Layout, name: &str) -> bool {
        layout.part() == Some(Part::Project) && names::is_slug(name)
    }

    fn project(&self, cwd: &str) -> String {
        names::slug(cwd)
    }

    fn belongs(&self, cwd: &str, name: &str, _: Option<&Path>) -> bool {
        names::belongs(cwd, name)
    }

    fn origins(&self, session: &Session) -> Vec<String> {
        names::origins(session)
    }

    fn keeps_files_of_a_session(&self, layout: Layout) -> bool {
        layout.part() == Some(Part::Backups)
    }

    /// `sessions-index.json`.
    fn list_rows(&self, bytes: &[u8]) -> serde_json::Result<Vec<Row>> {
        #[derive(Deserialize)]
        struct Index {
            entries: Vec<Row>,
        }
        serde_json::from_slice::<Index>(bytes).map(|index| index.entries)
    }

    fn dead_registration(&self, _: State) -> String {
        "Claude Code leaves it: the session looks as if it were in use".to_owned()
    }
}
