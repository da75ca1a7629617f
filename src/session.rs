//! One session through the rooms: bytes, facts, graph, and what its agent's loader makes of it.

pub mod ids;

use std::io;
use std::path::PathBuf;

use crate::chain::agent::Loader;
use crate::chain::graph::Graph;
use crate::chain::{Chain, Mode, Reading, Refusal};
use crate::identity::AgentId;
use crate::record::document::{self, Document};
use crate::record::facts::{Facts, Record};
use crate::record::{parse, reread};
use crate::store::Source;
use crate::store::meter::Meter;
use crate::text::Text;

/// What kind of session file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A session that is resumed.
    Main,
    /// A subagent's transcript of sid-code.
    Sidechain,
    /// A subagent's transcript of Claude Code.
    Subagent,
    /// A whole-file session (v0, v1).
    Legacy,
}

/// One session, read.
#[derive(Debug)]
pub struct Session {
    /// Where it lies.
    pub path: PathBuf,
    /// Its bytes.
    pub source: Source,
    /// Whose it is.
    pub agent_id: AgentId,
    /// What answers for that agent.
    pub agent: &'static dyn Loader,
    /// What it is.
    pub shape: Shape,
    /// What is known of its lines.
    pub facts: Facts,
    /// How its records hang together.
    pub graph: Graph,
    /// What its agent's loader makes of it.
    pub chain: Chain,
    /// Of a whole-file session what stands around its messages.
    pub document: Option<Document>,
}

impl Session {
    /// Reads a session.
    ///
    /// # Errors
    /// I/O errors; `Interrupted` when the meter was stopped.
    pub fn read(
        path: PathBuf,
        source: Source,
        agent: &'static dyn Loader,
        shape: Shape,
        meter: &Meter,
    ) -> io::Result<Self> {
        let mut session = Session::read_unlinked(path, source, agent, shape, meter)?;
        if session.shape != Shape::Legacy {
            let facts = &session.facts;
            session.graph = Graph::new(agent, facts);
            session.chain = match session.shape {
                Shape::Sidechain | Shape::Subagent => agent.load_transcript(facts, &session.graph),
                Shape::Main | Shape::Legacy => agent.load(facts, &session.graph),
            };
        }
        Ok(session)
    }

    /// Reads what a session's lines hold and not how they hang together: graph and chain stay empty. For figures, which
    /// count every record wherever it stands.
    ///
    /// # Errors
    /// As [`Session::read`].
    pub fn read_unlinked(
        path: PathBuf,
        source: Source,
        agent: &'static dyn Loader,
        shape: Shape,
        meter: &Meter,
    ) -> io::Result<Self> {
        let agent_id = agent.agent_id();
        if shape == Shape::Legacy {
            return Session::read_document(path, source, agent);
        }
        let facts = parse::read(&source, agent, meter)?;
        let shape = if agent.is_transcript(&facts) { Shape::Sidechain } else { shape };
        let (graph, chain) = (Graph::new(agent, &Facts::default()), Chain::none(None));
        Ok(Session { path, source, agent_id, agent, shape, facts, graph, chain, document: None })
    }

    fn read_document(path: PathBuf, source: Source, agent: &'static dyn Loader) -> io::Result<Self> {
        let (facts, document) = document::read(&source, agent)?;
        let graph = Graph::new(agent, &facts);
        let all: Vec<u32> = (0..facts.records.len() as u32).collect();
        let chain = Chain {
            mode: Mode::File,
            adopted: all.clone(),
            messages: all,
            ..Chain::none(document.refusal.map(Refusal::BadDocument))
        };
        Ok(Session {
            path,
            source,
            agent_id: agent.agent_id(),
            agent,
            shape: Shape::Legacy,
            facts,
            graph,
            chain,
            document: Some(document),
        })
    }

    /// The same session as if its agent had taken another leaf.
    #[must_use]
    pub fn following(self, chain: Chain) -> Self {
        Session { chain, ..self }
    }

    /// What the agent's other known loaders make of it.
    pub fn other_readings(&self) -> Vec<Reading> {
        match self.shape {
            Shape::Main => self.agent.other_readings(&self.source, &self.facts, &self.graph),
            _ => Vec::new(),
        }
    }

    /// Whether its agent keeps a summary beside the session: then a long one is shown as that and a shorter tail.
    pub fn has_summary(&self) -> bool {
        self.agent.summary(&self.path).is_some_and(|summary| summary.is_file())
    }

    /// A record by its number.
    pub fn record(&self, n: u32) -> &Record {
        &self.facts.records[n as usize]
    }

    /// A record's id as text.
    pub fn id(&self, n: u32) -> Option<Text> {
        reread::id(&self.source, self.record(n))
    }
}
