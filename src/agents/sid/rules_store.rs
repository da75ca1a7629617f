//! sid-code: how it names, lists and deletes sessions, and what only its own stores can have.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use super::{Sid, cleanup, cleanup_folders, fork, names, rules_beside, rules_files, rules_marks, view};
use crate::finding::Finding;
use crate::record::facts::Kind;
use crate::record::reread;
use crate::rules::chain::loading::NOT_LOADABLE;
use crate::rules::store::World;
use crate::rules::store::agent::{Hidden, Listed, StoreWords, Stored};
use crate::rules::store::collect::Fork;
use crate::rules::store::names::Differs;
use crate::rules::store::stale_lists::Row;
use crate::rules::{Collector, Context};
use crate::session::Session;
use crate::store::{FileEntry, FileKind, Layout, Part, State};

static WORDS: StoreWords = StoreWords {
    open_prompt: "interrupted_prompt: taken off the history and offered again",
    without_message: "not listed, and deleted at the next start",
    sync_copy: "takes it for a session",
    same_id: "takes the one of the current project, else the first in the file system's order",
    stale_list: "keeps none",
    shadows: true,
};

impl Stored for Sid {
    fn check_session(&self, context: &Context<'_>, found: &mut Collector) {
        rules_marks::check(context, found);
    }

    fn check_store(&self, world: &mut World<'_>) {
        cleanup::check(world);
        cleanup_folders::check(world);
        rules_beside::check(world);
    }

    fn check_files(&self, session: &Session, store: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
        rules_files::check(session, store, places)
    }

    fn store_words(&self) -> &'static StoreWords {
        &WORDS
    }

    fn closing(&self) -> u64 {
        0
    }

    fn results_may_come_early(&self) -> bool {
        false
    }

    /// Its list is its clean-up's view.
    fn hidden(&self, session: &Session) -> Option<Hidden> {
        let why = view::of(session).corrupt?;
        let unloadable = why == view::Corrupt::NotLoadable && !session.chain.loads();
        Some(Hidden { cause: unloadable.then_some(&NOT_LOADABLE), ..Hidden::new(Default::default(), why.reason()) })
    }

    fn listed(&self, session: &Session) -> Option<Listed> {
        let view = view::of(session);
        Some(Listed { left_out: view.corrupt.map_or(0, |why| why as u8), updated: view.updated })
    }

    /// Version 3 has ids.
    fn contradicted(&self, version: Option<f64>, has_ids: bool, start_has_id: bool) -> Option<&'static str> {
        match (version.is_some_and(|v| v >= 3.0), has_ids) {
            (true, false) => Some("reads it in file order, as version 2"),
            (false, true) if start_has_id => Some("walks up from the tail, as in version 3"),
            _ => None,
        }
    }

    fn named_id<'n>(&self, stem: &'n [u8]) -> Option<&'n [u8]> {
        Some(stem)
    }

    fn id_compared<'i>(&self, id: &'i [u8]) -> Cow<'i, [u8]> {
        Cow::Borrowed(id)
    }

    fn goes_by_id_inside(&self) -> bool {
        false
    }

    fn id_key(&self) -> &'static str {
        "\"uuid\""
    }

    /// Also those of the processes that resumed it.
    fn ids_inside(&self, session: &Session) -> Vec<Vec<u8>> {
        let facts = &session.facts;
        let mut ids = Vec::new();
        let document = session.document.as_ref().and_then(|d| d.id.as_deref());
        ids.extend(document.map(|id| id.as_bytes().to_vec()));
        let starts = facts.records.iter().filter(|r| r.kind == Kind::Start && r.session != 0);
        ids.extend(starts.filter_map(|r| facts.names.get(r.session)).map(<[u8]>::to_vec));
        let trace = facts.names.find(b"trace_session_id");
        let traces = facts.records.iter().filter(|r| trace != 0 && r.kind == Kind::Metadata && r.agent == trace);
        ids.extend(traces.filter_map(|r| reread::field(&session.source, r, &["value"])).map(|t| t.as_bytes().to_vec()));
        ids
    }

    fn owner(&self, _: &Session) -> Option<Vec<u8>> {
        None
    }

    /// The prefix of the name is the session.
    fn orphan(&self, world: &World<'_>, _: u32, file: &FileEntry, store: u32) -> Option<String> {
        if file.kind != FileKind::Beside {
            return None;
        }
        let name = file.name.bytes();
        let stem = name.strip_suffix(b".jsonl").unwrap_or(&name);
        world.aliases.sidechain(store, file.agent_id?, stem).is_none().then(|| crate::text::lossy(stem))
    }

    fn fork(&self, session: &Session) -> Option<Fork> {
        fork::of(session)
    }

    fn marks_copies(&self) -> bool {
        false
    }

    fn differs<'a>(&self, session: &'a Session, stem: &'a [u8]) -> Option<Differs<'a>> {
        names::differs(session, stem)
    }

    fn is_project(&self, layout: Layout, name: &str) -> bool {
        layout.part() == Some(Part::Project) && name != "_legacy"
    }

    fn project(&self, cwd: &str) -> String {
        names::project_key(cwd)
    }

    fn belongs(&self, cwd: &str, name: &str, store: Option<&Path>) -> bool {
        names::belongs(cwd, name, store)
    }

    fn origins(&self, _: &Session) -> Vec<String> {
        Vec::new()
    }

    fn keeps_files_of_a_session(&self, layout: Layout) -> bool {
        layout.part() == Some(Part::Checkpoints)
    }

    fn list_rows(&self, _: &[u8]) -> serde_json::Result<Vec<Row>> {
        Ok(Vec::new())
    }

    fn dead_registration(&self, state: State) -> String {
        let agent = crate::agents::SID.loader();
        match state {
            State::Recycled => format!("{agent} takes it for alive: it does not notice a reused number"),
            _ => format!("{agent} deletes it when it next lists live sessions"),
        }
    }
}
