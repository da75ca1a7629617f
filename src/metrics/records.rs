//! What the records of a store are: types, metadata keys, prompts and tool results apart, results per record, parallel
//! calls, end marks, sizes.
//!
//! "A user record" is one that stands in the user's place: some agents keep tool results there, others keep them apart;
//! they are counted alike, so that figures of agents can be compared. Everything in a file counts, on whichever
//! branch it stands.

use std::collections::BTreeMap;

use super::agent::Metering;
use crate::record::facts::{BlockKind, Kind, Record, flag};
use crate::record::id_hasher::ByHash;
use crate::session::{Session, Shape};

/// How many names of one sort are counted apart; a hostile store may have any number.
const NAMES: usize = 1000;

/// Counts by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// By name.
    pub named: BTreeMap<Box<str>, u64>,
    /// Under further names.
    pub others: u64,
}

impl Counts {
    /// Adds to a name.
    pub fn add(&mut self, name: &str, n: u64) {
        if n == 0 {
            return;
        }
        if let Some(sum) = self.named.get_mut(name) {
            *sum += n;
        } else if self.named.len() < NAMES {
            self.named.insert(name.into(), n);
        } else {
            self.others += n;
        }
    }

    /// The count of a name.
    pub fn get(&self, name: &str) -> u64 {
        self.named.get(name).copied().unwrap_or(0)
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: &Counts) {
        for (name, n) in &other.named {
            self.add(name, *n);
        }
        self.others += other.others;
    }
}

/// User records by what is in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Users {
    /// What somebody typed.
    pub prompts: u64,
    /// Tool results and nothing else.
    pub tool_results: u64,
    /// Tool results beside something else.
    pub mixed: u64,
    /// What stands in the user's place and nobody typed: meta rows, summaries, the client's own commands, interrupt
    /// marks, a subagent's orders.
    pub not_typed: u64,
}

impl Users {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.prompts + self.tool_results + self.mixed + self.not_typed
    }

    fn count(&mut self, sort: UserSort) {
        *match sort {
            UserSort::Prompt => &mut self.prompts,
            UserSort::Results => &mut self.tool_results,
            UserSort::Mixed => &mut self.mixed,
            UserSort::NotTyped => &mut self.not_typed,
        } += 1;
    }

    fn merge(&mut self, other: &Users) {
        self.prompts += other.prompts;
        self.tool_results += other.tool_results;
        self.mixed += other.mixed;
        self.not_typed += other.not_typed;
    }
}

/// What a user record is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UserSort {
    /// Typed.
    Prompt,
    /// Tool results.
    Results,
    /// Both.
    Mixed,
    /// Neither.
    NotTyped,
}

impl UserSort {
    /// What a record is, none when it does not stand in the user's place.
    pub fn of(session: &Session, record: &Record) -> Option<UserSort> {
        const NOT_TYPED: u64 = flag::META
            | flag::COMPACT_SUMMARY
            | flag::LOCAL_COMMAND
            | flag::INTERRUPT
            | flag::NOT_TYPED
            | flag::SIDECHAIN
            | flag::TEAM;
        if !matches!(record.kind, Kind::User | Kind::ToolMessage) {
            return None;
        }
        let blocks = session.facts.blocks_of(record);
        let results = blocks.iter().filter(|b| b.kind == BlockKind::Result).count();
        Some(match results {
            0 if record.kind == Kind::ToolMessage => UserSort::Results,
            0 if record.any(NOT_TYPED) || session.shape == Shape::Subagent => UserSort::NotTyped,
            0 => UserSort::Prompt,
            n if n == blocks.len() => UserSort::Results,
            _ => UserSort::Mixed,
        })
    }
}

/// What a reader counts who reads records one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Records.
    pub records: u64,
    /// By type, as the agents spell them.
    pub types: Counts,
    /// Metadata records by key.
    pub metadata: Counts,
    /// User records.
    pub users: Users,
}

impl Tally {
    /// The first so many records of a session.
    pub fn of(session: &Session, upto: usize) -> Tally {
        let facts = &session.facts;
        let records = &facts.records[..upto.min(facts.records.len())];
        let mut tally = Tally { records: records.len() as u64, ..Tally::default() };
        let mut types = vec![0_u64; facts.type_counts.len()];
        let mut keys: BTreeMap<u16, u64> = BTreeMap::new();
        for record in records {
            match types.get_mut(usize::from(record.type_name)) {
                Some(count) => *count += 1,
                None => tally.types.others += u64::from(record.kind != Kind::NonObject),
            }
            if record.kind == Kind::Metadata && session.agent.is_labelled(record.kind) {
                *keys.entry(record.agent).or_default() += 1;
            }
            if let Some(sort) = UserSort::of(session, record) {
                tally.users.count(sort);
            }
        }
        for (count, n) in facts.type_counts.iter().zip(types) {
            let name = if count.name.is_empty() { "(no type)".to_owned() } else { crate::text::lossy(&count.name) };
            tally.types.add(&name, n);
        }
        if session.shape == Shape::Legacy {
            // A document's messages have no type of their own.
            tally.types = Counts::default();
            tally.types.add("message", tally.records);
        }
        for (key, n) in keys {
            tally.metadata.add(&facts.names.text(key), n);
        }
        tally
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Tally) {
        self.records += other.records;
        self.types.merge(&other.types);
        self.metadata.merge(&other.metadata);
        self.users.merge(&other.users);
    }
}

/// How calls made together were answered. Rows of one response are one record here, as the model made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parallel {
    /// Assistant records with several calls.
    pub several_calls: u64,
    /// Those of them whose results all stand in one record.
    pub in_one_record: u64,
    /// Those whose results stand in several.
    pub spread: u64,
    /// Those of which a result is missing, and the others, if any, stand in one record.
    pub incomplete: u64,
    /// Records with results.
    pub result_records: u64,
    /// Those with several.
    pub several_results: u64,
    /// Most results in one record.
    pub most: u64,
}

/// End marks, by session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ends {
    /// Sessions with one.
    pub with: u64,
    /// Sessions without.
    pub without: u64,
    /// Sessions whose last line it is.
    pub last_line: u64,
}

impl Ends {
    /// Of one session.
    pub fn of(session: &Session) -> Ends {
        let records = &session.facts.records;
        let with = records.iter().any(|r| r.kind == Kind::End);
        let last = records.last().is_some_and(|r| r.kind == Kind::End);
        let [with, without, last_line] = [with, !with, last].map(u64::from);
        Ends { with, without, last_line }
    }
}

/// What is known of the records of a store, or of one file.
#[derive(Clone, Debug, Default)]
pub struct Records {
    /// What one reader after the other counts: this one as the agents' own loaders read.
    pub tally: Tally,
    /// Lines that they do not read.
    pub bad: u64,
    /// The first block of user records.
    pub first_block: BTreeMap<&'static str, u64>,
    /// Records by how many results they hold.
    pub results: BTreeMap<u32, u64>,
    /// Calls made together.
    pub parallel: Parallel,
    /// End marks; none where no session of an agent that writes them was read.
    pub ends: Option<Ends>,
}

impl Records {
    /// Of one session.
    pub fn of(session: &Session, agent: &dyn Metering) -> Records {
        let facts = &session.facts;
        let refused = session.document.as_ref().is_some_and(|d| d.refusal.is_some());
        let mut records = Records {
            tally: Tally::of(session, facts.records.len()),
            bad: facts.lines.bad + u64::from(refused),
            ..Records::default()
        };
        let mut calls = Calls::default();
        for (n, record) in (0_u32..).zip(&facts.records) {
            if matches!(record.kind, Kind::User | Kind::ToolMessage) {
                *records.first_block.entry(first_block(session, record)).or_default() += 1;
            }
            let results = calls.record(session, agent, n, record);
            if results > 0 {
                *records.results.entry(results).or_default() += 1;
            }
        }
        records.parallel = calls.finish();
        for (&n, &count) in &records.results {
            records.parallel.result_records += count;
            records.parallel.several_results += if n > 1 { count } else { 0 };
            records.parallel.most = records.parallel.most.max(u64::from(n));
        }
        records.ends = agent.ends(session);
        records
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Records) {
        self.tally.merge(&other.tally);
        self.bad += other.bad;
        for (kind, n) in &other.first_block {
            *self.first_block.entry(kind).or_default() += n;
        }
        for (results, n) in &other.results {
            *self.results.entry(*results).or_default() += n;
        }
        let (sum, more) = (&mut self.parallel, &other.parallel);
        sum.several_calls += more.several_calls;
        sum.in_one_record += more.in_one_record;
        sum.spread += more.spread;
        sum.incomplete += more.incomplete;
        sum.result_records += more.result_records;
        sum.several_results += more.several_results;
        sum.most = sum.most.max(more.most);
        if let Some(more) = other.ends {
            let sum = self.ends.get_or_insert_default();
            sum.with += more.with;
            sum.without += more.without;
            sum.last_line += more.last_line;
        }
    }
}

fn first_block(session: &Session, record: &Record) -> &'static str {
    match session.facts.blocks_of(record).first().map(|b| b.kind) {
        None => "(none)",
        Some(BlockKind::Text) if record.has(flag::CONTENT_STRING) => "(string)",
        Some(kind) => block_name(kind),
    }
}

fn block_name(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Text => "text",
        BlockKind::Thinking => "thinking",
        BlockKind::Redacted => "redacted_thinking",
        BlockKind::Call => "tool_use",
        BlockKind::Result => "tool_result",
        BlockKind::Image => "image",
        BlockKind::Document => "document",
        BlockKind::ToolReference => "tool_reference",
        BlockKind::Server | BlockKind::ServerResult => "(server tool)",
        BlockKind::Other | BlockKind::NotObject => "(other)",
    }
}

/// Follows calls to their results through a file. A result comes after its call; of calls with one id the last is meant
/// (providers that number their calls begin anew each turn).
#[derive(Default)]
struct Calls {
    open: ByHash<u32>,
    /// The unit of each response whose rows are several records.
    responses: ByHash<u32>,
    units: Vec<Unit>,
}

/// The calls of one response.
#[derive(Clone, Copy, Default)]
struct Unit {
    calls: u32,
    answers: u32,
    /// The record of the first result.
    first: Option<u32>,
    spread: bool,
}

impl Calls {
    /// Takes a record; returns how many results it holds.
    fn record(&mut self, session: &Session, agent: &dyn Metering, n: u32, record: &Record) -> u32 {
        let blocks = session.facts.blocks_of(record);
        let mut results = 0;
        let mut own = None;
        for block in blocks {
            match block.kind {
                BlockKind::Call => {
                    let unit = *own.get_or_insert_with(|| self.unit(agent.row_of(record)));
                    self.units[unit as usize].calls += 1;
                    if block.id != 0 {
                        self.open.insert(block.id, unit);
                    }
                }
                BlockKind::Result => {
                    results += 1;
                    if let Some(unit) = self.open.remove(&block.id) {
                        let unit = &mut self.units[unit as usize];
                        unit.answers += 1;
                        unit.spread |= *unit.first.get_or_insert(n) != n;
                    }
                }
                _ => {}
            }
        }
        results
    }

    fn unit(&mut self, response: Option<u64>) -> u32 {
        let next = u32::try_from(self.units.len()).unwrap_or(u32::MAX);
        if let Some(response) = response {
            let known = *self.responses.entry(response).or_insert(next);
            if known != next {
                return known;
            }
        }
        self.units.push(Unit::default());
        next
    }

    fn finish(self) -> Parallel {
        let mut parallel = Parallel::default();
        for unit in self.units.iter().filter(|unit| unit.calls > 1) {
            parallel.several_calls += 1;
            if unit.spread {
                parallel.spread += 1;
            } else if unit.answers == unit.calls {
                parallel.in_one_record += 1;
            } else {
                parallel.incomplete += 1;
            }
        }
        parallel
    }
}

/// Sizes of files in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sizes {
    /// Of each file, ascending once [`Sizes::sorted`] was called.
    sizes: Vec<u64>,
}

impl Sizes {
    /// Adds a file.
    pub fn add(&mut self, bytes: u64) {
        self.sizes.push(bytes);
    }

    /// Adds others.
    pub fn merge(&mut self, other: Sizes) {
        self.sizes.extend(other.sizes);
    }

    /// Puts them in order.
    pub fn sort(&mut self) {
        self.sizes.sort_unstable();
    }

    /// The `floor(n*q)`-th smallest, at least the first; none of no files. `q` in hundredths.
    pub fn quantile(&self, hundredths: usize) -> Option<u64> {
        let rank = (self.sizes.len() * hundredths / 100).max(1);
        self.sizes.get(rank - 1).copied()
    }

    /// The largest.
    pub fn max(&self) -> Option<u64> {
        self.sizes.last().copied()
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.sizes.iter().sum()
    }

    /// How many.
    pub fn files(&self) -> u64 {
        self.sizes.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_files_own_sizes() {
        let mut sizes = Sizes::default();
        assert_eq!(sizes.quantile(50), None);
        (1..=51).rev().for_each(|n| sizes.add(n));
        sizes.sort();
        assert_eq!((sizes.quantile(0), sizes.quantile(50), sizes.quantile(95)), (Some(1), Some(25), Some(48)));
        assert_eq!(sizes.max(), Some(51));
        let mut one = Sizes::default();
        one.add(7);
        assert_eq!((one.quantile(50), one.quantile(95)), (Some(7), Some(7)));
    }
}
