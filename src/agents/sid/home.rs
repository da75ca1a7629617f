//! sid-code: where its homes are and how their files lie.

use std::path::{Path, PathBuf};

use super::{Sid, layout, sniff};
use crate::agents::REGISTRATION;
use crate::identity::{AgentId, Identity};
use crate::store::agent::{Certainty, DefaultHome, Document, Home, HomeName, Look, RegistrationKeys, Told};
use crate::store::{FileKind, Named, Names, Part, Probe};

static IDENTITY: Identity = Identity {
    name: "sid",
    agent: "sid-code",
    loader: "sid-code 3f3215144f68",
    formats: "formats 2.0 and 3.0, and whole-file JSON before that",
    about: "sid-code: `uuid`/`parentUuid`, formats 2.0 and 3.0, whole-file JSON before that",
    place: 0,
};

/// It, among the agents.
pub(crate) const ID: AgentId = AgentId::new(&IDENTITY);

static DEFAULT: DefaultHome = DefaultHome {
    variable: "SID_CONFIG_DIR",
    tilde: false,
    below: ".sid-code",
    former: &[],
    profiles: None,
    sessions: None,
};

static NAMES: [HomeName; 1] =
    [HomeName { path: ".sid-code", parts: &["sessions", "checkpoints", "active-sessions", "file-intents"] }];

impl Home for Sid {
    fn agent_id(&self) -> AgentId {
        ID
    }

    fn records_of(&self) -> AgentId {
        self.agent_id()
    }

    fn default_home(&self) -> Option<&'static DefaultHome> {
        Some(&DEFAULT)
    }

    fn home_names(&self) -> &'static [HomeName] {
        &NAMES
    }

    fn home_sign(&self, folder: &Look<'_>) -> Option<Certainty> {
        let own = ["active-sessions", "file-intents", "protocol-violations"];
        if folder.has("sessions") && own.iter().any(|name| folder.has(name)) {
            return Some(Certainty::Own);
        }
        let session = layout::is_name_by_time;
        folder.any("sessions", |entry| session(entry.name()) || entry.within(session)).then_some(Certainty::Weak)
    }

    fn project_files(&self) -> &'static [&'static str] {
        &[]
    }

    fn folder(&self, within: Part, name: &[u8]) -> Option<Part> {
        layout::folder(within, name)
    }

    fn file(&self, within: Part, name: &[u8], names: &Names<'_>) -> Named {
        layout::file(within, name, names)
    }

    fn stray_folder(&self, _: &[u8]) -> Option<Part> {
        None
    }

    fn stray_file(&self, _: &[u8]) -> Option<FileKind> {
        None
    }

    fn transcript(&self, _: &[u8]) -> FileKind {
        FileKind::Main
    }

    fn is_session_id(&self, stem: &[u8]) -> bool {
        layout::is_session_id(stem)
    }

    fn has_side_name(&self, stem: &[u8], names: &Names<'_>) -> bool {
        layout::has_side_name(stem, names)
    }

    fn recognises(&self, record: &Probe) -> Option<Told> {
        sniff::record(record)
    }

    fn sign(&self, line: &[u8]) -> Option<(Told, Certainty)> {
        sniff::sign(line)
    }

    fn document_head(&self, head: &[u8]) -> Option<Document> {
        sniff::document(head)
    }

    fn document_name(&self, name: &[u8], of_session: bool) -> Option<Document> {
        let stem = name.strip_suffix(b".json")?;
        match name {
            b"index.json" if of_session => Some(Document::CheckpointIndex),
            _ if of_session || layout::is_session_id(stem) => Some(Document::Whole),
            _ => None,
        }
    }

    fn registry(&self) -> Option<&'static str> {
        Some("active-sessions")
    }

    fn lock(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn registration(&self) -> &'static RegistrationKeys {
        &REGISTRATION
    }

    fn deletes_by_file_time(&self) -> bool {
        false
    }
}
