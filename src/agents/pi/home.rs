//! pi and OpenClaw: where their homes are and how their files lie.

use std::path::{Path, PathBuf};

use super::{Pi, sniff};
use crate::identity::AgentId;
use crate::store::agent::{Certainty, DefaultHome, Document, Home, HomeName, Look, RegistrationKeys, Told};
use crate::store::{FileKind, Named, Names, Part, Probe};

impl Home for Pi {
    fn agent_id(&self) -> AgentId {
        self.id
    }

    fn records_of(&self) -> AgentId {
        super::PI.agent_id()
    }

    fn default_home(&self) -> Option<&'static DefaultHome> {
        self.layout.default_home
    }

    fn home_names(&self) -> &'static [HomeName] {
        self.layout.home_names
    }

    fn home_sign(&self, folder: &Look<'_>) -> Option<Certainty> {
        (self.layout.home_sign)(folder)
    }

    fn project_files(&self) -> &'static [&'static str] {
        &["AGENTS.md"]
    }

    fn folder(&self, within: Part, name: &[u8]) -> Option<Part> {
        let fits = |own: &&[u8]| own.is_empty() || *own == name;
        self.layout.folders.iter().find(|(part, own, _)| *part == within && fits(own)).map(|(.., part)| *part)
    }

    fn file(&self, within: Part, name: &[u8], names: &Names<'_>) -> Named {
        self.layout.file(within, name, names)
    }

    fn stray_folder(&self, _: &[u8]) -> Option<Part> {
        None
    }

    fn stray_file(&self, name: &[u8]) -> Option<FileKind> {
        self.layout.is_lock(name).then_some(FileKind::Lock)
    }

    fn transcript(&self, name: &[u8]) -> FileKind {
        if super::layout::is_put_aside(name) { FileKind::Other } else { FileKind::Main }
    }

    fn is_session_id(&self, stem: &[u8]) -> bool {
        crate::store::is_uuid(stem)
    }

    fn has_side_name(&self, _: &[u8], _: &Names<'_>) -> bool {
        false
    }

    fn recognises(&self, record: &Probe) -> Option<Told> {
        let own = if self.title_row { sniff::is_title(record) } else { sniff::is_entry(record) };
        own.then_some(Told::Session)
    }

    fn sign(&self, line: &[u8]) -> Option<(Told, Certainty)> {
        (!self.title_row && sniff::has_sign(line)).then_some((Told::Session, Certainty::Form))
    }

    fn document_head(&self, _: &[u8]) -> Option<Document> {
        None
    }

    fn document_name(&self, _: &[u8], _: bool) -> Option<Document> {
        None
    }

    fn registry(&self) -> Option<&'static str> {
        None
    }

    fn lock(&self, session: &Path) -> Option<PathBuf> {
        let mut lock = session.as_os_str().to_owned();
        lock.push(self.layout.lock?);
        Some(lock.into())
    }

    fn registration(&self) -> &'static RegistrationKeys {
        &super::layout::LOCK
    }

    fn deletes_by_file_time(&self) -> bool {
        false
    }

    fn kept_beside(&self) -> Option<&'static str> {
        self.layout.list
    }

    fn is_archived(&self, name: &[u8]) -> bool {
        super::layout::is_archived(name)
    }

    /// `docs/formats/pi.md`, section 9: from 2026.8 on OpenClaw reads nothing but its database.
    fn of_database(&self) -> &'static str {
        "; OpenClaw 2026.8 and later read it and not the JSONL beside it, which 2026.7.35 still reads"
    }
}
