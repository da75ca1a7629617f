//! Claude Code: where its homes are and how their files lie.

use std::path::{Path, PathBuf};

use super::{Claude, layout, sniff};
use crate::agents::REGISTRATION;
use crate::identity::{AgentId, Identity};
use crate::store::agent::{Certainty, DefaultHome, Document, Home, HomeName, Look, RegistrationKeys, Told};
use crate::store::{FileKind, Named, Names, Part, Probe};

static IDENTITY: Identity = Identity {
    name: "claude",
    agent: "Claude Code",
    loader: "claude-agent-sdk 0.2.189",
    formats: "clients 2.0 and 2.1, which state no format of their own",
    about: "Claude Code: `uuid`/`parentUuid`, read as the open SDK reads it",
    place: 1,
};

/// It, among the agents.
pub(crate) const ID: AgentId = AgentId::new(&IDENTITY);

static DEFAULT: DefaultHome = DefaultHome {
    variable: "CLAUDE_CONFIG_DIR",
    tilde: false,
    below: ".claude",
    former: &[],
    profiles: None,
    sessions: None,
};

static NAMES: [HomeName; 1] = [HomeName { path: ".claude", parts: &["projects", "file-history"] }];

impl Home for Claude {
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
        // A folder named `projects` is common, so what is in it must bear the agent's own names.
        let project = folder
            .any("projects", |entry| layout::has_slug_form(entry.name()) && entry.within(layout::is_project_file));
        project.then_some(Certainty::Names)
    }

    fn project_files(&self) -> &'static [&'static str] {
        &[".claude.json", ".mcp.json", "CLAUDE.md", "CLAUDE.local.md"]
    }

    fn folder(&self, within: Part, name: &[u8]) -> Option<Part> {
        layout::folder(within, name)
    }

    fn file(&self, within: Part, name: &[u8], names: &Names<'_>) -> Named {
        layout::file(within, name, names)
    }

    fn stray_folder(&self, name: &[u8]) -> Option<Part> {
        // a copied session folder still has its subagents in a folder of that name
        (name == b"subagents").then_some(Part::Subagents)
    }

    fn stray_file(&self, name: &[u8]) -> Option<FileKind> {
        match name {
            b"sessions-index.json" => Some(FileKind::ListIndex),
            _ if layout::is_subagent_meta(name) => Some(FileKind::SubagentMeta),
            _ => None,
        }
    }

    fn transcript(&self, name: &[u8]) -> FileKind {
        if name.starts_with(b"agent-") { FileKind::Subagent } else { FileKind::Main }
    }

    fn is_session_id(&self, stem: &[u8]) -> bool {
        crate::store::is_uuid(stem)
    }

    fn has_side_name(&self, _: &[u8], _: &Names<'_>) -> bool {
        false
    }

    fn recognises(&self, record: &Probe) -> Option<Told> {
        sniff::record(record)
    }

    fn sign(&self, line: &[u8]) -> Option<(Told, Certainty)> {
        sniff::sign(line)
    }

    fn document_head(&self, _: &[u8]) -> Option<Document> {
        None
    }

    fn document_name(&self, _: &[u8], _: bool) -> Option<Document> {
        None
    }

    fn registry(&self) -> Option<&'static str> {
        Some("sessions")
    }

    fn lock(&self, _: &Path) -> Option<PathBuf> {
        None
    }

    fn registration(&self) -> &'static RegistrationKeys {
        &REGISTRATION
    }

    fn deletes_by_file_time(&self) -> bool {
        true
    }
}
