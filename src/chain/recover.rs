//! What an undamaged file would bring back: the same loader, run on the records with their lost links recovered.
//!
//! Whole records inside damaged lines count as records, and each break gets the parent that a repair would give it, with
//! the evidence for it. The RESUME verdict, C210 and the repair plan all stand on this one account of the damage.
//!
//! Longer than other files because it is that one account, in the order in which it is drawn up.

use std::collections::{HashMap, HashSet};

use super::agent::Loader;
use super::graph::{Graph, MISSING, numbered};
use super::shape::is_prompt;
use super::{Chain, Mode, walk};
use crate::record::agent::Field;
use crate::record::damage::BadKind;
use crate::record::facts::{BlockKind, Facts, Id, Kind, Record, flag};
use crate::store::Source;

/// Where a record of the recovered file comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A record of the file.
    Record(u32),
    /// A whole record inside a damaged line.
    Hidden(u32),
    /// The header or start record that is not there.
    MadeUp,
}

/// How sure a new link is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Evidence {
    /// A person said so.
    Decided,
    /// The lost pointer can be read in the damaged bytes.
    Legible,
    /// There is one candidate.
    Unique,
    /// The nearest earlier record of the main line.
    Nearest,
}

impl Evidence {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Evidence::Decided => "decided",
            Evidence::Legible => "legible",
            Evidence::Unique => "unique",
            Evidence::Nearest => "nearest",
        }
    }
}

/// Why a link is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Broken {
    /// No record bears the parent's id (C201).
    MissingParent,
    /// A root that is none of the lawful ones (C202).
    ExtraRoot,
    /// Its own parent (C203).
    SelfParent,
    /// On a loop (C204).
    Cycle,
    /// The parent stands below, where the loader does not look (C205).
    ParentBelow,
    /// No parent key, or one of the wrong type (C209).
    NoParentKey,
    /// Below a subagent's row (C213).
    SideParent,
}

/// One recovered link. Numbers are places in [`Recovered::records`].
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The record whose parent is recovered.
    pub child: u32,
    /// Its new parent; none makes it a root.
    pub parent: Option<u32>,
    /// What was wrong.
    pub broken: Broken,
    /// How sure it is.
    pub evidence: Evidence,
}

/// The recovered file.
#[derive(Debug)]
pub struct Recovered {
    /// Its records, in file order.
    pub records: Vec<Record>,
    /// Where each comes from.
    pub origins: Vec<Origin>,
    /// The links that were recovered, in file order.
    pub links: Vec<Link>,
    /// Records that were given the id that their child names (C209).
    pub named: Vec<u32>,
    /// Breaks of runs that belong to another session: they are no part of the recovered one.
    pub foreign: Vec<u32>,
    /// An equal copy that took the leaf and is left out, behind the record that stays: places in the file.
    pub spared: Option<(u32, u32)>,
    /// Results whose calls are nowhere in the file, in messages that say nothing else. They are no loss.
    answers_to_nothing: HashSet<u32>,
    /// What the loader makes of it.
    pub chain: Chain,
}

impl Recovered {
    /// Whether all that comes back from the file as it is comes back from the recovered one.
    fn keeps(&self, facts: &Facts, chain: &Chain) -> bool {
        let back: HashSet<Id> = self.chain.messages.iter().map(|&n| self.records[n as usize].id).collect();
        chain.messages.iter().all(|&n| back.contains(&facts.records[n as usize].id))
    }

    /// Messages that come back from the recovered file and do not from the file as it is.
    pub fn lost<'a>(&'a self, chain: &Chain) -> impl Iterator<Item = u32> + use<'a> {
        let back: HashSet<u32> = chain.messages.iter().copied().collect();
        self.chain
            .messages
            .iter()
            .copied()
            .filter(move |&n| match self.origins[n as usize] {
                Origin::Record(m) => {
                    !back.contains(&m) && self.spared.is_none_or(|(stays, goes)| m != stays || !back.contains(&goes))
                }
                Origin::Hidden(_) => true,
                Origin::MadeUp => false,
            })
            .filter(|n| !self.answers_to_nothing.contains(n))
    }

    /// How many messages an undamaged file would bring back: those of the recovered one, and of what answers nothing only what
    /// comes back as it is.
    pub fn expected(&self, chain: &Chain) -> usize {
        if self.answers_to_nothing.is_empty() {
            return self.chain.messages.len();
        }
        let back: HashSet<u32> = chain.messages.iter().copied().collect();
        let counts = |n: &&u32| {
            let comes_back = matches!(self.origins[**n as usize], Origin::Record(m) if back.contains(&m));
            comes_back || !self.answers_to_nothing.contains(n)
        };
        self.chain.messages.iter().filter(counts).count()
    }
}

/// Those of some messages that hold nothing but results whose calls no record has.
pub fn answers_to_nothing(facts: &Facts, messages: &[u32]) -> HashSet<u32> {
    let only_results = |n: &u32| {
        let blocks = facts.blocks_of(&facts.records[*n as usize]);
        !blocks.is_empty() && blocks.iter().all(|b| b.kind == BlockKind::Result)
    };
    let results: Vec<u32> = messages.iter().copied().filter(only_results).collect();
    if results.is_empty() {
        return HashSet::new();
    }
    let called: HashSet<u64> = facts.blocks.iter().filter(|b| b.kind == BlockKind::Call).map(|b| b.id).collect();
    let of_nothing = |n: &u32| !facts.blocks_of(&facts.records[*n as usize]).iter().any(|b| called.contains(&b.id));
    results.into_iter().filter(of_nothing).collect()
}

/// Recovers the file, if there is anything to recover that a loader's result depends on.
pub fn recover(
    agent: &'static dyn Loader,
    facts: &Facts,
    graph: &Graph,
    chain: &Chain,
    source: &Source,
) -> Option<Recovered> {
    if chain.mode == Mode::File {
        return None;
    }
    if agent.is_transcript(facts) {
        let inside = facts.hidden.iter().any(|r| r.kind == Kind::TranscriptMessage);
        return inside.then(|| Recovery::of(agent, facts, |_| true).load(facts));
    }
    // Read in physical order everything comes back; there is a chain to recover only where the tail lost its id.
    let linear = chain.mode == Mode::Linear && chain.refusal.is_none();
    let tail_lost_id = || {
        facts.records.last().is_some_and(|r| agent.lacks_id(r)) && facts.records.iter().any(|r| r.has(flag::ID_STRING))
    };
    if linear && !tail_lost_id() {
        let inside = facts.hidden.iter().any(|r| r.is_message() && !stands_elsewhere(agent, r, facts, graph));
        return inside.then(|| Recovery::of(agent, facts, |r| !stands_elsewhere(agent, r, facts, graph)).load(facts));
    }
    let copy = copy_at_the_end(facts, graph, chain, source);
    let mut recovery = Recovery::new(agent, facts, graph, chain, copy)?;
    recovery.name_the_nameless();
    recovery.link(facts, source);
    let recovered = recovery.load(facts);
    match copy {
        // Another branch is no recovery: which one is meant a person has to say.
        Some(_) if !recovered.keeps(facts, chain) => {
            let mut recovery = Recovery::new(agent, facts, graph, chain, None)?;
            recovery.name_the_nameless();
            recovery.link(facts, source);
            Some(recovery.load(facts))
        }
        _ => Some(recovered),
    }
}

/// Whether a record inside a damaged line also stands on a line of its own: clients write a lost record again.
fn stands_elsewhere(agent: &'static dyn Loader, record: &Record, facts: &Facts, graph: &Graph) -> bool {
    agent.is_node(record) && graph.find(record.id, facts).is_some()
}

/// An equal copy of an earlier record that took the leaf: what hangs below the record and behind the copy is left by it.
/// The record that stays, and the copy.
fn copy_at_the_end(facts: &Facts, graph: &Graph, chain: &Chain, source: &Source) -> Option<(u32, u32)> {
    let leaf = graph.canonical(chain.leaf?, facts);
    let (first, second) = graph.repeats.iter().copied().find(|&(_, later)| later == leaf)?;
    let (a, b) = (&facts.records[first as usize], &facts.records[second as usize]);
    let replay = facts.records[first as usize..second as usize].iter().any(|r| r.has(flag::BOUNDARY));
    let text = |r: &Record| source.read_range(r.offset, u64::from(r.length)).ok();
    let equal = !replay && a.length == b.length && text(a).is_some_and(|t| Some(t) == text(b));
    equal.then_some((first, second))
}

/// pi: a compaction whose first kept entry is not on its way up, and the last entry before it that hangs below that one.
/// None where it names nothing that stands before it.
pub fn kept_branch(facts: &Facts, graph: &Graph, lost: u32) -> Option<u32> {
    let target = facts.records[lost as usize].target();
    let kept = numbered(&facts.records).find(|(_, r)| r.id.short() == target && r.kind != Kind::Start).map(|(n, _)| n);
    let kept = kept.filter(|&kept| kept < lost)?;
    // Each record asks its parent, which was asked before unless it stands below.
    let mut below = vec![false; lost as usize];
    below[kept as usize] = true;
    for n in kept + 1..lost {
        let parent = graph.parent[n as usize];
        below[n as usize] = parent < n && below[parent as usize];
    }
    (kept..lost).rev().find(|&n| graph.has(n, facts) && below[n as usize])
}

struct Recovery {
    agent: &'static dyn Loader,
    records: Vec<Record>,
    origins: Vec<Origin>,
    links: Vec<Link>,
    named: Vec<u32>,
    /// Records whose parent is missing and before which nothing of their session stands.
    foreign: Vec<u32>,
    spared: Option<(u32, u32)>,
}

impl Recovery {
    /// The records of the file and the whole ones inside damaged lines, in file order; none when nothing is damaged that
    /// a loader's result can depend on. A hidden copy of a record that also stands on a line of its own is left out:
    /// clients write a lost record again.
    fn new(
        agent: &'static dyn Loader,
        facts: &Facts,
        graph: &Graph,
        chain: &Chain,
        spared: Option<(u32, u32)>,
    ) -> Option<Self> {
        let lost = |r: &Record| r.kind == Kind::Start || (agent.is_node(r) && graph.find(r.id, facts).is_none());
        let sound = spared.is_none()
            && chain.kept_range_lost.is_none()
            && chain.refusal.is_none()
            && !facts.hidden.iter().any(lost)
            && !broken_anywhere(agent, facts, graph);
        if sound {
            return None;
        }
        let mut recovery = Recovery::of(agent, facts, lost);
        recovery.spared = spared;
        if let Some(at) = spared.and_then(|(_, n)| recovery.origins.iter().position(|o| *o == Origin::Record(n))) {
            recovery.records.remove(at);
            recovery.origins.remove(at);
        }
        recovery.make_up_head(facts);
        Some(recovery)
    }

    /// The records of the file, with those inside damaged lines that are asked for.
    fn of(agent: &'static dyn Loader, facts: &Facts, asked: impl Fn(&Record) -> bool) -> Self {
        let extra: Vec<u32> = numbered(&facts.hidden).filter(|(_, r)| asked(r)).map(|(n, _)| n).collect();
        let mut records = Vec::with_capacity(facts.records.len() + extra.len());
        let mut origins = Vec::with_capacity(records.capacity());
        let mut next = extra.iter().copied().peekable();
        for (n, record) in numbered(&facts.records) {
            if record.kind == Kind::NonObject {
                continue;
            }
            while let Some(h) = next.next_if(|&h| facts.hidden[h as usize].offset < record.offset) {
                records.push(facts.hidden[h as usize]);
                origins.push(Origin::Hidden(h));
            }
            records.push(*record);
            origins.push(Origin::Record(n));
        }
        for h in next {
            records.push(facts.hidden[h as usize]);
            origins.push(Origin::Hidden(h));
        }
        Recovery { agent, records, origins, links: Vec::new(), named: Vec::new(), foreign: Vec::new(), spared: None }
    }

    /// A file without its header or start: what is lost stands before everything else.
    fn make_up_head(&mut self, facts: &Facts) {
        if facts.records.is_empty() {
            return;
        }
        let Some(id) = self.agent.lost_head(&self.records) else { return };
        let flags = flag::SESSION_ID | flag::ID_STRING | flag::PARENT_KEY;
        let head = Record { kind: Kind::Start, flags, id, ..Record::default() };
        let id = if head.id.is_none() { Id::of(b"the head that is not there") } else { head.id };
        self.records.insert(0, Record { id, ..head });
        self.origins.insert(0, Origin::MadeUp);
    }

    /// C209: chain records without an id, where the next one names an id that nobody bears: that is their id.
    fn name_the_nameless(&mut self) {
        let facts = Facts { records: std::mem::take(&mut self.records), ..Facts::default() };
        let graph = Graph::new(self.agent, &facts);
        let mut given = Vec::new();
        let mut next: Option<(u32, &Record)> = None;
        for (n, record) in numbered(&facts.records).rev() {
            if self.agent.lacks_id(record) {
                let id = match next {
                    Some((m, child)) if graph.parent[m as usize] == MISSING => child.parent,
                    _ => Id::of_other(&record.offset.to_le_bytes()),
                };
                given.push((n, id));
            }
            if self.agent.is_node(record) {
                next = Some((n, record));
            }
        }
        given.reverse();
        self.records = facts.records;
        for (n, id) in given {
            let record = &mut self.records[n as usize];
            record.id = id;
            record.flags = record.flags & !flag::ID_OTHER | flag::ID_STRING;
            self.named.push(n);
        }
    }

    fn link(&mut self, facts: &Facts, source: &Source) {
        let view =
            Facts { records: std::mem::take(&mut self.records), blocks: facts.blocks.clone(), ..Facts::default() };
        let graph = Graph::new(self.agent, &view);
        let mut broken: Vec<(u32, Broken)> = breaks(self.agent, &view, &graph).collect();
        broken.extend(walk::loops(&graph).into_iter().map(|(n, _)| (n, Broken::Cycle)));
        broken.sort_by_key(|b| b.0);
        broken.dedup_by_key(|b| b.0);
        let mut places = Places::new(self.agent, &view, &graph, &broken);
        let legible = Legible::new(self.agent, facts, source, &view, &graph);
        for (n, what) in broken {
            if what == Broken::ParentBelow {
                // The link is right, the order is not.
                let parent = Some(graph.parent[n as usize]);
                self.links.push(Link { child: n, parent, broken: what, evidence: Evidence::Unique });
                continue;
            }
            let read = if what == Broken::MissingParent { legible.parent_of(n, &view, &self.origins) } else { None };
            let candidate = read.or_else(|| places.candidate(n, what));
            let (parent, evidence) = match candidate {
                Some((p, evidence)) if places.join(n, p) => (Some(p), evidence),
                // What could come before it hangs below it.
                Some(_) => (None, Evidence::Nearest),
                None => {
                    self.foreign.extend((what == Broken::MissingParent).then_some(n));
                    (None, Evidence::Nearest)
                }
            };
            self.links.push(Link { child: n, parent, broken: what, evidence });
        }
        self.records = view.records;
        for link in &self.links {
            let parent = link.parent.map_or(Id::NONE, |p| self.records[p as usize].id);
            let record = &mut self.records[link.child as usize];
            record.parent = parent;
            record.flags = record.flags & !(flag::PARENT_OTHER | flag::PARENT_CONTAINER) | flag::PARENT_KEY;
            if !parent.is_none() {
                record.flags |= flag::PARENT_STRING;
            }
        }
    }

    /// A run that hangs in the air and belongs to another session is no part of this one.
    fn without_foreign_runs(&mut self) -> Vec<u32> {
        let foreign = std::mem::take(&mut self.foreign);
        if foreign.is_empty() {
            return foreign;
        }
        let view = Facts { records: std::mem::take(&mut self.records), ..Facts::default() };
        let graph = Graph::new(self.agent, &view);
        self.records = view.records;
        for n in walk::below(&graph, &foreign) {
            self.records[n as usize].kind = Kind::Other;
        }
        foreign
    }

    /// sid-code: records move behind their parents, each as far as it must. Parents that stand below are emitted first,
    /// and what waited for them follows.
    fn reorder(&mut self) {
        if !self.links.iter().any(|l| l.broken == Broken::ParentBelow) {
            return;
        }
        let view = Facts { records: std::mem::take(&mut self.records), ..Facts::default() };
        let graph = Graph::new(self.agent, &view);
        let count = view.records.len();
        let mut order = walk::parents_first(&graph, |_, _| true);
        let mut out = vec![false; count];
        order.iter().for_each(|&n| out[n as usize] = true);
        // A loop never becomes ready; it was broken before, so nothing is left, but nothing may be lost either.
        order.extend((0..count as u32).filter(|&n| !out[n as usize]));
        let mut place = vec![0_u32; count];
        for (new, &old) in (0..).zip(&order) {
            place[old as usize] = new;
        }
        self.records = order.iter().map(|&n| view.records[n as usize]).collect();
        self.origins = order.iter().map(|&n| self.origins[n as usize]).collect();
        for link in &mut self.links {
            link.child = place[link.child as usize];
            link.parent = link.parent.map(|p| place[p as usize]);
        }
        for n in self.named.iter_mut().chain(&mut self.foreign) {
            *n = place[*n as usize];
        }
    }

    fn load(mut self, facts: &Facts) -> Recovered {
        self.reorder();
        let foreign = self.without_foreign_runs();
        let mut recovered = Facts {
            blocks: facts.blocks.clone(),
            version: facts.version.clone(),
            records: self.records,
            ..Facts::default()
        };
        let graph = Graph::new(self.agent, &recovered);
        let mut chain = match self.agent.is_transcript(&recovered) {
            true => self.agent.load_transcript(&recovered, &graph),
            false => self.agent.load(&recovered, &graph),
        };
        if let Some(lost) = chain.kept_range_lost
            && let Some(tip) = kept_branch(&recovered, &graph, lost)
        {
            recovered.records[lost as usize].parent = recovered.records[tip as usize].id;
            chain = self.agent.load(&recovered, &Graph::new(self.agent, &recovered));
        }
        // One inside a damaged line comes back with its line, call or none.
        let of_lines = |n: &u32| matches!(self.origins[*n as usize], Origin::Record(_));
        let answers_to_nothing = answers_to_nothing(&recovered, &chain.messages).into_iter().filter(of_lines).collect();
        Recovered {
            records: recovered.records,
            origins: self.origins,
            links: self.links,
            named: self.named,
            foreign,
            spared: self.spared,
            answers_to_nothing,
            chain,
        }
    }
}

/// Records whose link to their parent is broken, loops of two or more left out, in file order.
pub fn breaks<'a>(
    agent: &'static dyn Loader,
    facts: &'a Facts,
    graph: &'a Graph,
) -> impl Iterator<Item = (u32, Broken)> + use<'a> {
    let first = first_node(agent, facts);
    // A loader that looks upwards only finds any copy of the parent that stands above: of repeated ids the first counts.
    let mut copies: HashMap<u32, u32> = HashMap::new();
    for &(earlier, later) in &graph.repeats {
        copies.entry(graph.canonical(later, facts)).or_insert(earlier);
    }
    numbered(&facts.records).filter_map(move |(n, _)| {
        let broken = what_is_broken(agent, n, first, graph, facts)?;
        let above = || copies.get(&graph.parent[n as usize]).is_some_and(|&copy| copy < n);
        (broken != Broken::ParentBelow || !above()).then_some((n, broken))
    })
}

fn first_node(agent: &'static dyn Loader, facts: &Facts) -> u32 {
    numbered(&facts.records).find(|(_, r)| agent.is_node(r)).map_or(u32::MAX, |(n, _)| n)
}

fn broken_anywhere(agent: &'static dyn Loader, facts: &Facts, graph: &Graph) -> bool {
    breaks(agent, facts, graph).next().is_some()
        || facts.records.iter().any(|r| agent.lacks_id(r))
        || !walk::loops(graph).is_empty()
}

fn what_is_broken(agent: &'static dyn Loader, n: u32, first: u32, graph: &Graph, facts: &Facts) -> Option<Broken> {
    let record = &facts.records[n as usize];
    if !agent.is_node(record) || agent.begins(record) {
        return None;
    }
    if record.id == record.parent && !record.parent.is_none() {
        return Some(Broken::SelfParent);
    }
    if agent.lacks_parent_key(record) {
        return (n != first).then_some(Broken::NoParentKey);
    }
    if record.has(flag::PARENT_OTHER) {
        return Some(Broken::NoParentKey);
    }
    match graph.parent[n as usize] {
        MISSING => (n != first).then_some(Broken::MissingParent),
        parent => agent.breaks(n, parent, first, facts),
    }
}

/// How often a prompt may have been typed again without an answer.
const TYPED_AGAIN: usize = 1000;

/// A line of records: flags, agent and session.
type Line = (u64, u16, u16);

/// Where a record without a parent could go: earlier records of its own line, and which of them hang together already.
struct Places<'a> {
    agent: &'static dyn Loader,
    facts: &'a Facts,
    graph: &'a Graph,
    /// Union of records that hang together, by root.
    root: Vec<u32>,
    /// Of each record whether another than a progress row names it as parent.
    has_child: Vec<bool>,
    /// The last record of each line among those before `seen`: a line is told by flags, agent and session.
    last: HashMap<Line, u32>,
    /// How many tips of branches each line has among those before `seen`: records that nothing continues yet.
    tips: HashMap<Line, usize>,
    seen: u32,
}

impl<'a> Places<'a> {
    fn new(agent: &'static dyn Loader, facts: &'a Facts, graph: &'a Graph, broken: &[(u32, Broken)]) -> Self {
        let count = facts.records.len();
        let mut places = Places {
            agent,
            facts,
            graph,
            root: (0..count as u32).collect(),
            has_child: vec![false; count],
            last: HashMap::new(),
            tips: HashMap::new(),
            seen: 0,
        };
        let cut: HashSet<u32> = broken.iter().map(|b| b.0).collect();
        for n in 0..count as u32 {
            let p = graph.parent[n as usize];
            if p < MISSING && p != n && !cut.contains(&n) {
                let (a, b) = (places.find(n), places.find(p));
                places.root[a as usize] = b;
            }
            if p < MISSING && facts.records[n as usize].kind != Kind::Progress {
                places.has_child[p as usize] = true;
            }
        }
        places
    }

    fn find(&mut self, mut n: u32) -> u32 {
        while self.root[n as usize] != n {
            let up = self.root[self.root[n as usize] as usize];
            self.root[n as usize] = up;
            n = up;
        }
        n
    }

    /// Hangs a record below another, unless that one hangs below it.
    fn join(&mut self, child: u32, parent: u32) -> bool {
        let (c, p) = (self.find(child), self.find(parent));
        if c == p {
            return false;
        }
        self.root[c as usize] = p;
        if self.facts.records[child as usize].kind != Kind::Progress {
            if self.is_tip(parent) && parent < self.seen {
                let line = self.line(parent);
                self.tips.entry(line).and_modify(|tips| *tips = tips.saturating_sub(1));
            }
            self.has_child[parent as usize] = true;
        }
        true
    }

    fn line(&self, n: u32) -> Line {
        let r = &self.facts.records[n as usize];
        (r.flags & (flag::SIDECHAIN | flag::TEAM), self.agent.subagent(r), r.session)
    }

    /// Whether nothing continues a record, and its id leads to it. Progress rows end no branch.
    fn is_tip(&self, n: u32) -> bool {
        let r = &self.facts.records[n as usize];
        r.kind != Kind::Progress && !self.has_child[n as usize] && self.graph.canonical(n, self.facts) == n
    }

    /// Goes on to a record: those before it are candidates from now on.
    fn see(&mut self, n: u32) {
        for m in self.seen..n {
            let r = &self.facts.records[m as usize];
            if self.agent.is_node(r) && !r.has(flag::AGENT_PROGRESS) {
                let line = self.line(m);
                self.last.insert(line, m);
                *self.tips.entry(line).or_default() += usize::from(self.is_tip(m));
            }
        }
        self.seen = self.seen.max(n);
    }

    /// The nearest earlier record of the same line; unique when it is the only tip of a branch that the record could
    /// continue. Breaks come in file order.
    fn candidate(&mut self, n: u32, what: Broken) -> Option<(u32, Evidence)> {
        self.see(n);
        let child = &self.facts.records[n as usize];
        let (flags, subagent, _) = self.line(n);
        let unnamed = self.last.get(&(flags, subagent, 0)).copied();
        let mut near = match self.last.get(&(flags, subagent, child.session)).copied().max(unnamed) {
            Some(m) => m,
            None if child.session == 0 => {
                self.last.iter().filter(|(k, _)| (k.0, k.1) == (flags, subagent)).map(|(_, &m)| m).max()?
            }
            None => return None,
        };
        if what == Broken::SideParent && is_prompt(self.facts, child) {
            // A prompt that was typed again replaces the unanswered one before it.
            for n in walk::up(self.graph, near).take(TYPED_AGAIN).take_while({
                let mut last = near;
                move |&n| std::mem::replace(&mut last, n) >= n
            }) {
                near = n;
                if !is_prompt(self.facts, &self.facts.records[n as usize]) {
                    break;
                }
            }
        }
        // One candidate: the record just before, which the loader finds by its id and nothing else continues, where no other
        // branch ends in a record that could be it.
        let of_line = |session| self.tips.get(&(flags, subagent, session)).copied().unwrap_or(0);
        let tips = match child.session {
            0 => self.tips.iter().filter(|(k, _)| (k.0, k.1) == (flags, subagent)).map(|(_, &tips)| tips).sum(),
            named => of_line(named) + of_line(0),
        };
        let found = !self.has_child[near as usize] && self.graph.canonical(near, self.facts) == near;
        let alone = found && tips <= usize::from(self.is_tip(near)) && near + 1 == n && what != Broken::ExtraRoot;
        Some((near, if alone { Evidence::Unique } else { Evidence::Nearest }))
    }
}

/// Parents that can be read in damaged lines.
struct Legible {
    /// By the line that follows it: the parent that the damaged line itself named.
    by_next: HashMap<u32, u32>,
    /// By the lost record's own id.
    by_id: HashMap<Id, u32>,
}

impl Legible {
    /// How many damaged lines are looked into, and how many bytes of each.
    const LINES: usize = 2000;
    const BYTES: u64 = 1 << 20;

    fn new(agent: &'static dyn Loader, facts: &Facts, source: &Source, view: &Facts, graph: &Graph) -> Self {
        let keys = &agent.keys().record;
        let quoted_key = |is: fn(&Field) -> bool| {
            let name = keys.first(|slot| is(&slot.field)).unwrap_or_default();
            [b"\"", name, b"\":\""].concat()
        };
        let own = quoted_key(|field| matches!(field, Field::Id));
        let parent = quoted_key(|field| matches!(field, Field::Parent(_)));
        let mut legible = Legible { by_next: HashMap::new(), by_id: HashMap::new() };
        for bad in facts.bad_lines.iter().take(Self::LINES) {
            if !matches!(bad.kind, BadKind::Unparsable | BadKind::Spliced | BadKind::Torn | BadKind::Nul) {
                continue;
            }
            let Ok(bytes) = source.read_range(bad.offset, bad.length.min(Self::BYTES)) else { continue };
            // Only what is no whole record: those speak for themselves.
            let end = facts.hidden[bad.hidden.0 as usize..]
                .iter()
                .take(bad.hidden.1 as usize)
                .map(|r| r.offset - bad.offset)
                .min();
            let fragment = &bytes[..end.map_or(bytes.len(), |e| (e as usize).min(bytes.len()))];
            let Some(named) = quoted(fragment, &parent).and_then(|id| graph.find(id, view)) else { continue };
            legible.by_next.insert(bad.before, named);
            if let Some(id) = quoted(fragment, &own) {
                legible.by_id.insert(id, named);
            }
        }
        legible
    }

    fn parent_of(&self, n: u32, view: &Facts, origins: &[Origin]) -> Option<(u32, Evidence)> {
        let record = &view.records[n as usize];
        let found = self.by_id.get(&record.parent).or_else(|| match origins[n as usize] {
            Origin::Record(m) => self.by_next.get(&m),
            _ => None,
        })?;
        (*found < n).then_some((*found, Evidence::Legible))
    }
}

/// The id behind the last mention of a key that is whole in a fragment.
fn quoted(fragment: &[u8], key: &[u8]) -> Option<Id> {
    let at = memchr::memmem::rfind(fragment, key)? + key.len();
    let rest = &fragment[at..];
    let end = memchr::memchr(b'"', rest)?;
    (end > 0).then(|| Id::of(&rest[..end]))
}
