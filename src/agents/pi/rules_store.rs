//! pi and OpenClaw: how they name and list sessions.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::records::own;
use super::{Pi, names};
use crate::finding::{Finding, Place, Rule};
use crate::record::facts::{Block, BlockKind, Kind, block, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::chain::loading::MISSING_HEADER;
use crate::rules::lines::BYTE_ORDER_MARK;
use crate::rules::store::World;
use crate::rules::store::agent::{Hidden, Listed, StoreWords, Stored};
use crate::rules::store::collect::Fork;
use crate::rules::store::names::Differs;
use crate::rules::store::stale_lists::Row;
use crate::rules::{Collector, Context};
use crate::session::Session;
use crate::store::{FileEntry, Layout, Part, State};

/// What pi does.
pub(super) static PI_WORDS: StoreWords =
    StoreWords { without_message: "listed as a session without messages", ..OPENCLAW_WORDS };

/// What OpenClaw does.
pub(super) static OPENCLAW_WORDS: StoreWords = StoreWords {
    open_prompt: "the prompt comes back, and the next one follows it",
    without_message: "an empty history",
    sync_copy: "takes it for a session",
    same_id: "lists both, and opens the one whose file it is given",
    stale_list: "goes by it",
    shadows: false,
};

impl Stored for Pi {
    fn check_session(&self, _: &Context<'_>, _: &mut Collector) {}

    fn check_store(&self, _: &mut World<'_>) {}

    fn check_files(&self, _: &Session, _: Option<&Path>, _: usize) -> io::Result<Vec<Finding>> {
        Ok(Vec::new())
    }

    fn store_words(&self) -> &'static StoreWords {
        self.store_words
    }

    fn closing(&self) -> u64 {
        flag::INTERRUPT | flag::LOCAL_COMMAND | flag::COMPACT_SUMMARY
    }

    fn results_may_come_early(&self) -> bool {
        false
    }

    /// pi's list takes the first parsed value for the header and drops the file on anything that makes its reader throw.
    /// OpenClaw's list is its index: S522. oh-my-pi's was not run.
    fn hidden(&self, session: &Session) -> Option<Hidden> {
        if !self.lists_as_pi {
            return None;
        }
        let facts = &session.facts;
        if super::load::header(&facts.records).is_none() {
            let first = facts.records.iter().find(|r| !r.has(flag::IS_FALSY));
            let cause: &Rule = if facts.bom { &BYTE_ORDER_MARK } else { &MISSING_HEADER };
            let hidden = Hidden::new(Hidden::line_of(first), "its first record is no header");
            return Some(Hidden { cause: Some(cause), ..hidden });
        }
        let throws = facts.records.iter().find_map(|r| {
            let spoken = matches!(r.kind, Kind::User | Kind::Assistant);
            let why = match r {
                // an entry of type message without one: pi reads its role
                _ if r.has(flag::ROLE_BAD) && !r.any(flag::MESSAGE | flag::MESSAGE_OTHER) => "an entry has no message",
                _ if r.has(own::NAME_OTHER) => "the session's name is no text",
                _ if spoken && r.any(flag::CONTENT_NULL | flag::CONTENT_OTHER) => "a message's content is no list",
                _ if spoken && facts.blocks_of(r).iter().any(is_null) => "a message's content holds a null",
                _ => return None,
            };
            Some((r, why))
        });
        throws.map(|(r, why)| Hidden::new(Hidden::line_of(Some(r)), why))
    }

    fn listed(&self, _: &Session) -> Option<Listed> {
        None
    }

    /// From version 2 on entries have ids.
    fn contradicted(&self, version: Option<f64>, has_ids: bool, _: bool) -> Option<&'static str> {
        match (version.is_some_and(|v| v >= 2.0), has_ids) {
            (true, false) => Some("finds no tree: only the last entry comes back"),
            // Of an agent that goes by the version this is C233.
            (false, true) if !self.loader.by_version => Some("goes by the ids"),
            _ => None,
        }
    }

    fn named_id<'n>(&self, stem: &'n [u8]) -> Option<&'n [u8]> {
        (self.named_id)(stem)
    }

    fn id_compared<'i>(&self, id: &'i [u8]) -> Cow<'i, [u8]> {
        Cow::Borrowed(id)
    }

    /// Sessions lie in whatever folder `--session-dir` names.
    fn goes_by_id_inside(&self) -> bool {
        true
    }

    fn id_key(&self) -> &'static str {
        "\"id\""
    }

    fn ids_inside(&self, session: &Session) -> Vec<Vec<u8>> {
        let header = session.facts.records.iter().find(|r| super::load::is_header(r));
        let id = header.and_then(|r| reread::id(&session.source, r));
        id.map(|id| id.as_bytes().to_vec()).into_iter().collect()
    }

    fn owner(&self, _: &Session) -> Option<Vec<u8>> {
        None
    }

    fn orphan(&self, _: &World<'_>, _: u32, _: &FileEntry, _: u32) -> Option<String> {
        None
    }

    /// The header names the path of the source's file.
    fn fork(&self, session: &Session) -> Option<Fork> {
        let header = session.facts.records.iter().find(|r| r.kind == Kind::Start)?;
        let text = reread::text(&session.source, header).ok()?;
        let value = Value::parse(&text)?;
        let named = value.get("parentSession").or_else(|| value.get("branchedFrom"))?.string()?;
        let fork = Fork { source: None, named, tail: None, messages: None, line: header.line };
        (!fork.named.is_empty()).then_some(fork)
    }

    fn marks_copies(&self) -> bool {
        false
    }

    fn differs<'a>(&self, session: &'a Session, stem: &'a [u8]) -> Option<Differs<'a>> {
        let named = self.named_id(stem)?;
        let header = session.facts.records.iter().find(|r| super::load::is_header(r))?;
        let id = reread::id(&session.source, header).filter(|id| id.as_bytes() != named)?;
        Some(Differs {
            place: Place::line(u64::from(header.line)).with_id(Some(id.clone())),
            inside: id.lossy(),
            named,
            effect: "the header's id counts; whoever looks for the file by its name takes it for another session",
        })
    }

    fn is_project(&self, layout: Layout, name: &str) -> bool {
        self.lists_as_pi && layout.part() == Some(Part::Project) && super::layout::is_encoded(name.as_bytes())
    }

    fn project(&self, cwd: &str) -> String {
        names::project(cwd)
    }

    fn belongs(&self, cwd: &str, name: &str, _: Option<&Path>) -> bool {
        names::belongs(cwd, name)
    }

    fn origins(&self, _: &Session) -> Vec<String> {
        Vec::new()
    }

    fn keeps_files_of_a_session(&self, _: Layout) -> bool {
        false
    }

    /// OpenClaw's `sessions.json`.
    fn list_rows(&self, bytes: &[u8]) -> serde_json::Result<Vec<Row>> {
        serde_json::from_slice::<BTreeMap<String, Row>>(bytes).map(|rows| rows.into_values().collect())
    }

    /// Only OpenClaw's locks.
    fn dead_registration(&self, _: State) -> String {
        format!("{} takes the lock for stale and takes it over", self.id.loader())
    }
}

fn is_null(b: &Block) -> bool {
    b.kind == BlockKind::NotObject && b.flags & block::EMPTY != 0
}
