//! The whole of a chain, for a person who asks how a session hangs together: heads, leaves, branches, breaks, and why
//! each record that does not come back does not.
//!
//! Pure, and linear in the number of records whatever the shape: each record is walked over once. Nothing is judged here:
//! what is a defect and what is lawful stands in `rules`.

use super::agent::Loader;
use super::graph::{Graph, MISSING, NO_PARENT, numbered};
use super::recover::Broken;
use super::walk::{self, Inherited};
use super::{Chain, Mode, Stop};
use crate::record::facts::{BlockKind, Facts, Kind, NO_TIME, Record, block, flag};

/// Why a record does not come back.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Reason {
    /// It hangs on a branch that was left, or below another root.
    ForeignBranch,
    /// It stands before a boundary behind which the context begins anew.
    BeforeBoundary,
    /// It is a subagent's.
    Sidechain,
    /// A missing parent, a loop or a parent out of reach lies between it and what was adopted.
    Unreachable,
    /// A meta row: adopted, and not shown.
    Meta,
    /// Another copy of it was adopted.
    Repeated,
    /// It has no id, so no chain can hold it.
    WithoutId,
    /// The loader takes nothing from this file.
    NotLoaded,
}

impl Reason {
    /// All of them.
    pub const ALL: [Reason; 8] = [
        Reason::ForeignBranch,
        Reason::BeforeBoundary,
        Reason::Sidechain,
        Reason::Unreachable,
        Reason::Meta,
        Reason::Repeated,
        Reason::WithoutId,
        Reason::NotLoaded,
    ];

    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Reason::ForeignBranch => "foreign_branch",
            Reason::BeforeBoundary => "before_boundary",
            Reason::Sidechain => "sidechain",
            Reason::Unreachable => "unreachable",
            Reason::Meta => "meta",
            Reason::Repeated => "repeated",
            Reason::WithoutId => "without_id",
            Reason::NotLoaded => "not_loaded",
        }
    }
}

/// A branch: a leaf and the records above it that no branch told before it holds. So the records of all branches add up,
/// and what a branch counts is what only it would bring.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    /// Its last record.
    pub leaf: u32,
    /// The record of another branch that it hangs on; none at a root or a break.
    pub fork: Option<u32>,
    /// Its first record.
    pub top: u32,
    /// Its records.
    pub records: u32,
    /// Those of them that are messages of the main line.
    pub messages: u32,
    /// Earliest and latest time, [`NO_TIME`] where there is none.
    pub times: (i64, i64),
    /// Whether the loader takes it.
    pub adopted: bool,
}

/// What is wrong between a record and its parent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// No record bears the parent's id.
    Missing,
    /// It is its own parent.
    Own,
    /// The parent leads back to the record.
    Loop,
    /// The parent stands further down, where the loader does not look.
    Below,
}

impl Gap {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Gap::Missing => "missing",
            Gap::Own => "own_parent",
            Gap::Loop => "loop",
            Gap::Below => "parent_below",
        }
    }
}

/// A record whose way up is broken.
#[derive(Clone, Copy, Debug)]
pub struct Break {
    /// The record.
    pub child: u32,
    /// What is wrong.
    pub gap: Gap,
}

/// Figures of the adopted path.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathStats {
    /// Records.
    pub depth: u64,
    /// Messages that come back.
    pub messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Results that are errors.
    pub error_results: u64,
}

/// Everything that is known of how a session hangs together. Numbers are places in [`Facts::records`].
#[derive(Debug)]
pub struct Survey {
    /// Records without a parent, in file order.
    pub heads: Vec<u32>,
    /// Records that nobody names as parent, in file order.
    pub leaves: Vec<u32>,
    /// The adopted one first, the others in the order of their leaves.
    pub branches: Vec<Branch>,
    /// In file order.
    pub breaks: Vec<Break>,
    /// Figures of the adopted path.
    pub stats: PathStats,
    skipped: Vec<Option<Reason>>,
}

impl Survey {
    /// Looks at all records once.
    pub fn new(agent: &'static dyn Loader, facts: &Facts, graph: &Graph, chain: &Chain) -> Self {
        let by_position = matches!(chain.mode, Mode::Linear | Mode::File);
        let (heads, leaves) =
            if chain.mode == Mode::File { (Vec::new(), Vec::new()) } else { (graph.heads(facts), graph.leaves(facts)) };
        let adopted = marks(facts.records.len(), &chain.adopted);
        let branches = if chain.mode == Mode::File {
            Vec::new()
        } else {
            Branches::new(agent, facts, graph, chain, &adopted, by_position).all(&leaves)
        };
        Survey {
            breaks: breaks(agent, facts, graph),
            stats: stats(facts, chain),
            skipped: reasons(agent, facts, graph, chain, &adopted),
            heads,
            leaves,
            branches,
        }
    }

    /// Records that do not come back, with the reason, in file order.
    pub fn skipped(&self) -> impl Iterator<Item = (u32, Reason)> + '_ {
        (0..).zip(&self.skipped).filter_map(|(n, reason)| Some((n, (*reason)?)))
    }

    /// Why a record does not come back; none when it does, or is no part of any chain.
    pub fn reason(&self, n: u32) -> Option<Reason> {
        self.skipped.get(n as usize).copied().flatten()
    }

    /// How many there are for each reason that occurs.
    pub fn reasons(&self) -> Vec<(Reason, u64)> {
        let mut counts = [0_u64; Reason::ALL.len()];
        for reason in self.skipped.iter().flatten() {
            counts[*reason as usize] += 1;
        }
        Reason::ALL.into_iter().zip(counts).filter(|(_, n)| *n > 0).collect()
    }
}

fn marks(count: usize, numbers: &[u32]) -> Vec<bool> {
    let mut marks = vec![false; count];
    for &n in numbers {
        marks[n as usize] = true;
    }
    marks
}

fn stats(facts: &Facts, chain: &Chain) -> PathStats {
    let mut stats = PathStats {
        depth: chain.adopted.len() as u64,
        messages: if chain.refusal.is_none() { chain.messages.len() as u64 } else { 0 },
        ..PathStats::default()
    };
    for &n in &chain.adopted {
        for one in facts.blocks_of(&facts.records[n as usize]) {
            stats.tool_calls += u64::from(one.kind == BlockKind::Call);
            stats.error_results += u64::from(one.kind == BlockKind::Result && one.flags & block::ERROR != 0);
        }
    }
    stats
}

fn breaks(agent: &'static dyn Loader, facts: &Facts, graph: &Graph) -> Vec<Break> {
    let mut all: Vec<Break> = numbered(&facts.records)
        .filter(|(n, _)| graph.has(*n, facts))
        .filter_map(|(n, record)| {
            let gap = match graph.parent[n as usize] {
                _ if !record.parent.is_none() && record.parent == record.id => Gap::Own,
                MISSING => Gap::Missing,
                NO_PARENT => return None,
                parent if agent.breaks(n, parent, n, facts) == Some(Broken::ParentBelow) => Gap::Below,
                _ => return None,
            };
            Some(Break { child: n, gap })
        })
        .collect();
    // A loop closes where its earliest record names a later one; sid-code's are told as a parent below already.
    let known: Vec<u32> = all.iter().map(|b| b.child).collect();
    let closing = walk::loops(graph).into_iter().map(|(n, _)| n);
    all.extend(closing.filter(|n| known.binary_search(n).is_err()).map(|child| Break { child, gap: Gap::Loop }));
    all.sort_by_key(|b| b.child);
    all
}

/// Takes branches off one by one, each with the records that no other one has.
struct Branches<'a> {
    agent: &'static dyn Loader,
    facts: &'a Facts,
    graph: &'a Graph,
    chain: &'a Chain,
    adopted: &'a [bool],
    taken: Vec<bool>,
    by_position: bool,
}

impl<'a> Branches<'a> {
    fn new(
        agent: &'static dyn Loader,
        facts: &'a Facts,
        graph: &'a Graph,
        chain: &'a Chain,
        adopted: &'a [bool],
        by_position: bool,
    ) -> Self {
        let taken = vec![false; facts.records.len()];
        Branches { agent, facts, graph, chain, adopted, taken, by_position }
    }

    fn all(mut self, leaves: &[u32]) -> Vec<Branch> {
        let mut branches = Vec::new();
        let main = if self.by_position { None } else { self.chain.leaf.filter(|_| !self.chain.adopted.is_empty()) };
        if let Some(leaf) = main {
            // The loader's own path, which for sid-code is not the graph's where an id is borne twice. Rows of parallel
            // calls that Claude's loader puts back hang beside it and are branches of their own.
            let mut branch = self.empty(leaf);
            branch.adopted = true;
            let mut above = leaf;
            for &n in self.chain.adopted.iter().rev() {
                if n == leaf || !self.agent.is_put_back(n, above, self.graph) {
                    self.take(&mut branch, n);
                    above = n;
                }
            }
            branches.push(branch);
        }
        // From the end of the file: where two branches share a stretch, the later one is the likelier main line.
        for &leaf in leaves.iter().rev() {
            if !self.taken[leaf as usize] {
                branches.push(self.walk(leaf));
            }
        }
        let own = usize::from(main.is_some());
        branches[own..].sort_by_key(|branch| branch.leaf);
        branches
    }

    fn walk(&mut self, leaf: u32) -> Branch {
        let mut branch = self.empty(leaf);
        branch.adopted = self.adopted[leaf as usize];
        let graph = self.graph;
        for at in walk::up(graph, leaf) {
            if self.taken[at as usize] {
                branch.fork = Some(at);
                break;
            }
            self.take(&mut branch, at);
        }
        branch
    }

    fn empty(&self, leaf: u32) -> Branch {
        Branch { leaf, fork: None, top: leaf, records: 0, messages: 0, times: (NO_TIME, NO_TIME), adopted: false }
    }

    fn take(&mut self, branch: &mut Branch, n: u32) {
        let record = &self.facts.records[n as usize];
        self.taken[n as usize] = true;
        branch.top = n;
        branch.records += 1;
        branch.messages += u32::from(self.agent.is_shown(record));
        if record.time != NO_TIME {
            let (first, last) = branch.times;
            branch.times = match first {
                NO_TIME => (record.time, record.time),
                first => (first.min(record.time), last.max(record.time)),
            };
        }
    }
}

/// Where the way up from a record ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Unknown,
    Adopted,
    Root,
    Broken,
}

/// The same order of questions as the lawful figures of the RESUME verdict, so that both count the same records.
fn reasons(
    agent: &'static dyn Loader,
    facts: &Facts,
    graph: &Graph,
    chain: &Chain,
    adopted: &[bool],
) -> Vec<Option<Reason>> {
    let shown = marks(facts.records.len(), if chain.refusal.is_none() { &chain.messages } else { &[] });
    let mut copies = vec![false; if graph.repeats.is_empty() { 0 } else { facts.records.len() }];
    if !copies.is_empty() {
        for &n in &chain.adopted {
            copies[graph.canonical(n, facts) as usize] = true;
        }
    }
    let first = chain.adopted.first().copied();
    let cut = first.filter(|&n| facts.records[n as usize].any(flag::BOUNDARY | flag::CLEARED));
    let own = adopted.iter().map(|&adopted| if adopted { End::Adopted } else { End::Unknown }).collect();
    let mut ends = Inherited::new(own, End::Unknown, End::Broken);
    let top = |_, end| if end == NO_PARENT { End::Root } else { End::Broken };
    numbered(&facts.records)
        .map(|(n, record)| {
            if shown[n as usize] {
                return None;
            }
            let node = graph.has(n, facts);
            if record.any(flag::SIDECHAIN | flag::TEAM) && node {
                return Some(Reason::Sidechain);
            }
            if record.has(flag::META) && record.is_message() && node && !agent.is_shown(record) {
                return Some(Reason::Meta);
            }
            if adopted[n as usize] {
                return match chain.refusal {
                    Some(_) => speaks(record).then_some(Reason::NotLoaded),
                    None => agent.passes_over(record),
                };
            }
            if !node {
                return agent.misses_for_its_id(chain, record).then_some(Reason::WithoutId);
            }
            if chain.adopted.is_empty() {
                return Some(Reason::NotLoaded);
            }
            if !copies.is_empty() && copies[graph.canonical(n, facts) as usize] {
                return Some(Reason::Repeated);
            }
            Some(match ends.of(graph, n, top) {
                End::Adopted => Reason::ForeignBranch,
                _ if cut.is_some_and(|boundary| n < boundary) => Reason::BeforeBoundary,
                End::Root if chain.stop == Stop::Root => Reason::ForeignBranch,
                End::Root | End::Broken | End::Unknown => Reason::Unreachable,
            })
        })
        .collect()
}

/// Whether a record says something to the model.
pub fn speaks(record: &Record) -> bool {
    record.is_message() || matches!(record.kind, Kind::Custom | Kind::BranchSummary)
}
