//! The field census: what is never written, and whether that is right. A zero is a question with four answers: it cannot
//! occur, it did not occur here, it should have (its cause did) and was lost on the way, or something that could hold it
//! was not read.
//!
//! What a store holds is counted by the pass (`record::fields`); what it should hold stands in [`super::catalogue`]. Only
//! what must be there whenever its cause occurred is called lost: everything else that is missing has lawful reasons that
//! a store does not show.

use std::collections::{BTreeMap, HashSet};

use super::agent::Metering;
use super::catalogue::{Catalogue, Condition, Counted, Expected, Kind};
use super::records::{Counts, Tally};
use crate::identity::AgentId;
use crate::record::facts::Id;
use crate::session::{Session, Shape};

/// How many paths of one agent are counted by name.
const PATHS: usize = 20_000;

/// What the files of one agent hold.
#[derive(Clone, Debug)]
pub struct AgentCensus {
    agent: &'static dyn Metering,
    /// Record types.
    pub types: Counts,
    /// Metadata keys.
    pub metadata: Counts,
    /// Fields, by path.
    pub fields: BTreeMap<Box<str>, u64>,
    /// Fields beyond those counted by name.
    pub unnamed: u64,
    /// Lines that no loader reads.
    pub bad_lines: u64,
    /// Files that could not be read.
    pub unread_files: u64,
    conditions: BTreeMap<Condition, u64>,
}

impl AgentCensus {
    fn of(agent: &'static dyn Metering) -> Self {
        AgentCensus {
            agent,
            types: Counts::default(),
            metadata: Counts::default(),
            fields: BTreeMap::new(),
            unnamed: 0,
            bad_lines: 0,
            unread_files: 0,
            conditions: BTreeMap::new(),
        }
    }

    fn field(&mut self, path: &str, n: u64) {
        if let Some(sum) = self.fields.get_mut(path) {
            *sum += n;
        } else if self.fields.len() < PATHS {
            self.fields.insert(path.into(), n);
        } else {
            self.unnamed += n;
        }
    }

    fn condition(&mut self, condition: Condition, n: u64) {
        if n > 0 {
            *self.conditions.entry(condition).or_default() += n;
        }
    }

    fn merge(&mut self, other: AgentCensus) {
        self.types.merge(&other.types);
        self.metadata.merge(&other.metadata);
        for (path, n) in other.fields {
            self.field(&path, n);
        }
        self.unnamed += other.unnamed;
        self.bad_lines += other.bad_lines;
        self.unread_files += other.unread_files;
        for (condition, n) in other.conditions {
            self.condition(condition, n);
        }
    }

    fn occurrences(&self, entry: &Expected) -> u64 {
        match entry.kind {
            Kind::Type => self.types.get(&entry.path),
            Kind::Metadata => self.metadata.get(&entry.path),
            Kind::Field => self.fields.get(&entry.path).copied().unwrap_or(0),
        }
    }

    fn causes(&self, counted: &Counted) -> u64 {
        match counted {
            Counted::Type(name) => self.types.get(name),
            Counted::Key(name) => self.metadata.get(name),
            Counted::Field(path) => self.fields.get(path).copied().unwrap_or(0),
            Counted::Condition(condition) => self.conditions.get(condition).copied().unwrap_or(0),
        }
    }
}

/// Records of one session that say that files were changed, until it is known whether a snapshot of it is stored.
#[derive(Clone, Debug)]
struct Changes {
    agent: AgentId,
    /// Hashes of every id that the session is known by: a snapshot is stored under that of the process.
    ids: Box<[u64]>,
    records: u64,
}

/// What the files of a store hold.
#[derive(Clone, Debug, Default)]
pub struct Census {
    agents: BTreeMap<AgentId, AgentCensus>,
    changes: Vec<Changes>,
    snapshotted: HashSet<u64>,
}

fn hash(id: &str) -> u64 {
    Id::of(id.as_bytes()).short()
}

impl Census {
    /// Adds a session: what was counted of its records, and a way to every id that it is known by, asked only of sessions
    /// that changed files.
    pub fn add<I>(&mut self, session: &Session, of: &'static dyn Metering, tally: &Tally, ids: impl FnOnce() -> I)
    where
        I: IntoIterator<Item = String>,
    {
        let facts = &session.facts;
        let agent = self.of(of);
        if session.shape == Shape::Legacy {
            // A document has no records; nothing of a catalogue is expected there.
            return;
        }
        agent.types.merge(&tally.types);
        agent.metadata.merge(&tally.metadata);
        for (path, n) in facts.fields.iter() {
            agent.field(path, n);
        }
        agent.unnamed += facts.fields.unnamed;
        agent.bad_lines += facts.lines.bad;
        for (condition, n) in of.conditions(session) {
            agent.condition(condition, n);
        }
        let records = of.changes(tally);
        if records > 0 {
            let ids = ids().into_iter().map(|id| hash(&id)).collect();
            self.changes.push(Changes { agent: of.counted_as(), ids, records });
        }
    }

    fn of(&mut self, agent: &'static dyn Metering) -> &mut AgentCensus {
        self.agents.entry(agent.counted_as()).or_insert_with(|| AgentCensus::of(agent))
    }

    /// Adds a file that could not be read.
    pub fn unread(&mut self, agent: &'static dyn Metering) {
        self.of(agent).unread_files += 1;
    }

    /// Adds a session, or the process that resumed it, of which a snapshot is stored.
    pub fn snapshotted(&mut self, id: &str) {
        self.snapshotted.insert(hash(id));
    }

    /// Adds another census.
    pub fn merge(&mut self, other: Census) {
        for agent in other.agents.into_values() {
            self.of(agent.agent).merge(agent);
        }
        self.changes.extend(other.changes);
        self.snapshotted.extend(other.snapshotted);
    }

    /// What the files of an agent hold.
    pub fn agent(&self, agent_id: AgentId) -> Option<&AgentCensus> {
        self.agents.get(&agent_id)
    }

    /// The answers to every entry of the built-in catalogues of the agents that were met, and of `more`.
    pub fn judge(&mut self, more: &[Catalogue], deeper: impl Fn(&str) -> Option<u64>) -> Vec<FieldVerdict> {
        let changes = std::mem::take(&mut self.changes);
        for changed in changes.iter().filter(|c| c.ids.iter().any(|id| self.snapshotted.contains(id))) {
            if let Some(agent) = self.agents.get_mut(&changed.agent) {
                agent.condition(Condition::SnapshottedChanges, changed.records);
            }
        }
        let mut verdicts = Vec::new();
        for (&agent_id, agent) in &self.agents {
            let own = Catalogue::of(agent.agent);
            let wanted = std::iter::once(&own).chain(more).filter(|c| *c.agent == *agent_id.name());
            for entry in wanted.flat_map(|c| &c.expected) {
                let occurrences = match agent.occurrences(entry) {
                    0 if entry.kind == Kind::Field => deeper(&entry.path).unwrap_or(0),
                    n => n,
                };
                verdicts.push(verdict(agent_id, agent, entry, occurrences));
            }
        }
        verdicts
    }
}

/// What a zero means, or that it is none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    /// It is there.
    Present,
    /// The format's own rules make it unreachable.
    CannotOccur,
    /// Its cause did not occur either, as far as the store shows.
    DidNotOccur,
    /// Its cause occurred, and it must be there then.
    LostOnTheWay,
    /// Something that could hold it was not read, or its cause does not always write it.
    Unproven,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 5] =
        [Verdict::Present, Verdict::CannotOccur, Verdict::DidNotOccur, Verdict::LostOnTheWay, Verdict::Unproven];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Present => "present",
            Verdict::CannotOccur => "cannot-occur",
            Verdict::DidNotOccur => "did-not-occur",
            Verdict::LostOnTheWay => "lost-on-the-way",
            Verdict::Unproven => "unproven",
        }
    }
}

/// One answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldVerdict {
    /// The agent.
    pub agent_id: AgentId,
    /// What it is about.
    pub kind: Kind,
    /// The path.
    pub path: Box<str>,
    /// What makes it occur, or why it cannot.
    pub cause: Box<str>,
    /// How often that happened; none where it leaves no trace of its own.
    pub cause_count: Option<u64>,
    /// How often it is there.
    pub occurrences: u64,
    /// The answer.
    pub verdict: Verdict,
    /// What tells.
    pub evidence: String,
    /// How to make it occur.
    pub how: Option<Box<str>>,
}

fn verdict(agent_id: AgentId, agent: &AgentCensus, entry: &Expected, occurrences: u64) -> FieldVerdict {
    let cause_count = entry.counted.as_ref().map(|counted| agent.causes(counted));
    let unread = unread(agent);
    // A field is looked for on records that were read: what was not read takes nothing from the count of those.
    let by_records = entry.kind == Kind::Field;
    let (verdict, evidence) = match (&entry.never, cause_count) {
        _ if occurrences > 0 => (Verdict::Present, format!("{occurrences} times")),
        (Some(why), _) => (Verdict::CannotOccur, why.to_string()),
        (None, Some(n)) if n > 0 && entry.always && (by_records || unread.is_none()) => {
            (Verdict::LostOnTheWay, format!("0 of {n}: its cause occurred each time, and must write it"))
        }
        (None, Some(n)) if n > 0 => (
            Verdict::Unproven,
            unread.unwrap_or_else(|| format!("0 of {n}: its cause occurred, and not every version or case writes it")),
        ),
        (None, _) if unread.is_some() && !by_records => (Verdict::Unproven, unread.unwrap_or_default()),
        (None, Some(_)) => (Verdict::DidNotOccur, "its cause did not occur either".to_owned()),
        (None, None) => (
            Verdict::DidNotOccur,
            "nothing in the store shows that its cause occurred; it leaves no other trace".to_owned(),
        ),
    };
    FieldVerdict {
        agent_id,
        kind: entry.kind,
        path: entry.path.clone(),
        cause: entry.never.clone().or_else(|| entry.cause.clone()).unwrap_or_default(),
        cause_count,
        occurrences,
        verdict,
        evidence,
        how: entry.how.clone(),
    }
}

/// What could hold more and was not read.
fn unread(agent: &AgentCensus) -> Option<String> {
    let parts = [
        (agent.bad_lines, "line", "that no loader reads"),
        (agent.unread_files, "file", "that could not be read"),
        (agent.types.others, "record", "of types beyond those counted by name"),
        (agent.unnamed, "field", "of paths beyond those counted by name"),
    ];
    let named: Vec<String> = parts
        .into_iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, what, which)| format!("{n} {what}{} {which}", if n == 1 { "" } else { "s" }))
        .collect();
    (!named.is_empty()).then(|| format!("{} could hold it", named.join(", ")))
}
