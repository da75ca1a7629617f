//! Whole stores measured: every session file and every checkpoint index once, the figures added up, and of each session
//! kept what is shown of it: a row a model, under a hundred bytes, and forty for the readers beside ours.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::driver::{Driver, Opened, Outcome, Visitor, largest_first};
use super::files::{Depth, add_stdin, is_session_or_index, read_again};
use crate::agents::{self, Agent};
use crate::metrics::agent::Metering;
use crate::metrics::checkpoints::Checkpoints;
use crate::metrics::cross_check::{CrossCheck, Fault, Recount, Sums};
use crate::metrics::figure::{Cost, Flow, Stock};
use crate::metrics::readers::{OtherReaders, Reader, Stream};
use crate::metrics::records::{Records, Sizes};
use crate::metrics::self_check::SelfCheck;
use crate::metrics::usage::SessionUsage;
use crate::metrics::usage::{Definition, Disagreement, Flows, Model, ModelUsage, Source, Stocks, StoreUsage};
use crate::session::{Session, Shape};
use crate::store::meter::Meter;
use crate::store::{self, Discovery};

/// What a store measures.
#[derive(Debug, Default)]
pub struct Measured {
    /// What was read.
    pub discovery: Discovery,
    /// Session files by what they are.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Folders of main sessions.
    pub projects: u64,
    /// Files of which something should hold.
    pub self_check: SelfCheck,
    /// Records.
    pub records: Records,
    /// Sizes of session files.
    pub sizes: Sizes,
    /// Readers that are not ours, file by file.
    pub others: OtherReaders,
    /// The strict reader over all files put together.
    pub stream: Reader,
    /// Usage of the store.
    pub usage: StoreUsage,
    /// Usage of each session by model, in the order of the files and model names.
    pub rows: Vec<UsageRow>,
    /// Stored totals that differ from their parts, in the order of the files; at most [`DISAGREEMENTS`].
    pub disagreements: Vec<PlacedDisagreement>,
    /// How many more there are.
    pub more_disagreements: u64,
    /// The file layer; none where no index was found.
    pub checkpoints: Option<Checkpoints>,
    /// Every figure counted again, where that was asked for.
    pub cross_check: Option<CrossCheck>,
    /// What could not be read. Exit status 2.
    pub errors: Vec<(PathBuf, String)>,
    /// Files on which sid-audit itself failed. Exit status 70.
    pub defects: Vec<(PathBuf, String)>,
    /// By root, the versions of the agent that wrote its records.
    pub versions: BTreeMap<u32, BTreeSet<String>>,
    /// Whether it was stopped before all files were read.
    pub interrupted: bool,
}

/// A stored total that differs, with its file's number and its line.
pub type PlacedDisagreement = (u32, u32, Disagreement);

/// How many stored totals that differ are listed.
pub const DISAGREEMENTS: usize = 1000;

/// One model's share of a session, packed.
#[derive(Clone, Copy, Debug)]
pub struct UsageRow {
    /// The file's number.
    pub file: u32,
    /// The model's number in [`Measured::usage`].
    pub model: Model,
    source: Source,
    definition: Definition,
    requests: u64,
    /// In the order of [`UsageRow::figures`]; [`NOT_THERE`] where the format has none.
    figures: [u64; 8],
}

const NOT_THERE: u64 = u64::MAX;

impl UsageRow {
    fn new(file: u32, model: Model, row: &ModelUsage) -> Self {
        let flow = |n: Option<Flow>| n.map_or(NOT_THERE, Flow::get);
        let stock = |n: Option<Stock>| n.map_or(NOT_THERE, Stock::get);
        let (stocks, flows) = (row.stock, row.flow);
        UsageRow {
            file,
            model,
            source: row.source,
            definition: row.definition,
            requests: row.requests.get(),
            figures: [
                stock(stocks.last_prompt),
                stock(stocks.last_input),
                flow(flows.input),
                flow(flows.cache_read),
                flow(flows.cache_write),
                flow(flows.output),
                flow(row.discarded),
                row.cost.map_or(NOT_THERE, Cost::nano),
            ],
        }
    }

    /// The row as it was.
    pub fn usage(&self, model: &str) -> ModelUsage {
        let there = |n: u64| (n != NOT_THERE).then_some(n);
        let [last_prompt, last_input, input, cache_read, cache_write, output, discarded, cost] =
            self.figures.map(there);
        let (flow, stock) = (|n: Option<u64>| n.map(Flow::new), |n: Option<u64>| n.map(Stock::new));
        ModelUsage {
            model: model.into(),
            source: self.source,
            definition: self.definition,
            requests: Flow::new(self.requests),
            stock: Stocks { last_prompt: stock(last_prompt), last_input: stock(last_input) },
            flow: Flows {
                input: flow(input),
                cache_read: flow(cache_read),
                cache_write: flow(cache_write),
                output: flow(output),
            },
            cost: cost.map(Cost::from_nano),
            discarded: flow(discarded),
        }
    }
}

/// What all workers look at.
struct Measuring {
    again: Option<Fault>,
    shared: Mutex<Shared>,
}

/// What depends on all files before, whichever worker read them: taken once a file.
#[derive(Default)]
struct Shared {
    usage: StoreUsage,
    stream: Stream,
}

/// What one worker has so far.
#[derive(Default)]
struct Sum {
    kinds: BTreeMap<&'static str, u64>,
    projects: BTreeSet<u32>,
    self_check: SelfCheck,
    records: Records,
    sizes: Sizes,
    others: OtherReaders,
    rows: Vec<UsageRow>,
    disagreements: Vec<PlacedDisagreement>,
    more_disagreements: u64,
    checkpoints: Checkpoints,
    recount: Recount,
}

/// Measures every session and checkpoint index that was found; `again`: and counts everything a second time.
pub fn measure(
    mut discovery: Discovery,
    stdin: Option<&store::Source>,
    again: Option<Fault>,
    meter: &Meter,
) -> Measured {
    if let Some(source) = stdin {
        add_stdin(&mut discovery, source);
    }
    let order = largest_first(&discovery, |file| is_session_or_index(file.kind));
    let measuring = Measuring { again, shared: Mutex::default() };
    let fault = again.unwrap_or_default();
    let driver = Driver { discovery: &discovery, stdin, meter, depth: Depth::Lines, waits: false, fault };
    let outcome = driver.run(&order, &measuring);
    let mut shared = measuring.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    shared.usage.finish(|n| read_again(&discovery, stdin, n, meter));
    finish(outcome, discovery, shared, again.is_some(), meter.stopped())
}

impl Visitor for Measuring {
    type Sum = Sum;

    fn session(&self, file: &Opened<'_>, session: Session, agent: &'static dyn Agent, sum: &mut Sum) -> io::Result<()> {
        let usage = SessionUsage::of(&session, agent);
        sum.session(file.n, &session, agent, &usage);
        if session.shape == Shape::Main {
            sum.projects.insert(file.entry.folder);
        }
        self.shared(file.n, &session, agent, &usage, sum);
        match self.again {
            Some(fault) => sum.recount.add(fault, file.n, (&session, agent), &file.source),
            None => Ok(()),
        }
    }

    fn index(&self, file: &Opened<'_>, sum: &mut Sum) -> io::Result<()> {
        sum.checkpoints.add(&file.source)?;
        match file.entry.agent_id.filter(|_| self.again.is_some()) {
            Some(agent_id) => sum.recount.add_index(agents::of(agent_id), &file.source),
            None => Ok(()),
        }
    }

    fn merge(sum: &mut Sum, other: Sum) {
        for (kind, n) in other.kinds {
            *sum.kinds.entry(kind).or_default() += n;
        }
        sum.projects.extend(other.projects);
        sum.self_check.merge(&other.self_check);
        sum.records.merge(&other.records);
        sum.sizes.merge(other.sizes);
        sum.others.merge(&other.others);
        sum.rows.extend(other.rows);
        sum.disagreements.extend(other.disagreements);
        sum.more_disagreements += other.more_disagreements;
        sum.checkpoints.merge(&other.checkpoints);
        sum.recount.merge(other.recount);
    }
}

impl Measuring {
    fn shared(&self, n: u32, session: &Session, agent: &dyn Metering, usage: &SessionUsage, sum: &mut Sum) {
        let records = Records::of(session, agent);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.usage.add(n, session, agent, usage);
        shared.stream.add(n, session, &records.tally);
        for row in &usage.rows {
            let model = shared.usage.number(&row.model);
            sum.rows.push(UsageRow::new(n, model, row));
        }
        drop(shared);
        sum.others.add(n, session, &records.tally);
        sum.records.merge(&records);
    }
}

impl Sum {
    fn session(&mut self, n: u32, session: &Session, agent: &dyn Metering, usage: &SessionUsage) {
        let kind = match session.shape {
            Shape::Main => "main",
            Shape::Sidechain => "sidechain",
            Shape::Subagent => "subagent",
            Shape::Legacy => "legacy",
        };
        *self.kinds.entry(kind).or_default() += 1;
        self.self_check.look(n, session, agent);
        self.sizes.add(session.source.size());
        self.more_disagreements += usage.more[1];
        for found in &usage.disagreements {
            self.disagreements.push((n, session.record(found.record).line, found.clone()));
        }
        if self.disagreements.len() > 2 * DISAGREEMENTS {
            self.shorten();
        }
    }

    /// Keeps the first stored totals that differ, in the order of files and lines.
    fn shorten(&mut self) {
        self.disagreements.sort_by_key(|(file, line, found)| (*file, *line, found.what));
        self.more_disagreements += self.disagreements.len().saturating_sub(DISAGREEMENTS) as u64;
        self.disagreements.truncate(DISAGREEMENTS);
    }
}

fn finish(outcome: Outcome<Sum>, mut discovery: Discovery, shared: Shared, again: bool, interrupted: bool) -> Measured {
    let Outcome { mut sum, mut errors, defects, versions, .. } = outcome;
    sum.shorten();
    sum.self_check.finish();
    sum.others.finish();
    sum.sizes.sort();
    let usage = shared.usage;
    sum.rows.sort_by(|a, b| (a.file, usage.model(a.model)).cmp(&(b.file, usage.model(b.model))));
    errors.append(&mut discovery.errors);
    errors.sort();
    let mut measured = Measured {
        discovery,
        kinds: sum.kinds,
        projects: sum.projects.len() as u64,
        self_check: sum.self_check,
        records: sum.records,
        sizes: sum.sizes,
        others: sum.others,
        stream: shared.stream.finish(),
        usage,
        rows: sum.rows,
        disagreements: sum.disagreements,
        more_disagreements: sum.more_disagreements,
        checkpoints: (sum.checkpoints.indexes > 0).then_some(sum.checkpoints),
        errors,
        defects,
        versions,
        interrupted,
        cross_check: None,
    };
    // Of a part of the files the two methods may have read different parts.
    if again && !interrupted {
        let capped = measured.records.tally.types.others + measured.records.tally.metadata.others > 0;
        measured.cross_check = Some(sum.recount.compare(&totals(&measured), capped, &[""]));
    }
    measured
}

/// Every total by its name, as the second method counts it.
fn totals(measured: &Measured) -> Sums {
    let mut sums = Sums::default();
    let records = &measured.records;
    sums.add("files", measured.sizes.files());
    sums.add("bytes.total", measured.sizes.total());
    sums.add("records", records.tally.records);
    records.tally.types.named.iter().for_each(|(name, n)| sums.add(format!("records.{name}"), *n));
    records.tally.metadata.named.iter().for_each(|(key, n)| sums.add(format!("metadata.{key}"), *n));
    let users = &records.tally.users;
    sums.add("user_records.prompts", users.prompts);
    sums.add("user_records.tool_results", users.tool_results);
    sums.add("user_records.mixed", users.mixed);
    sums.add("user_records.not_typed", users.not_typed);
    records.results.iter().for_each(|(n, count)| sums.add(format!("tool_results_per_record.{n}"), *count));
    let parallel = &records.parallel;
    sums.add("parallel.assistant_records_with_several_calls", parallel.several_calls);
    sums.add("parallel.answered_in_one_record", parallel.in_one_record);
    sums.add("parallel.spread", parallel.spread);
    sums.add("parallel.incomplete", parallel.incomplete);
    if let Some(ends) = records.ends {
        sums.add("session_ends.with", ends.with);
        sums.add("session_ends.without", ends.without);
        sums.add("session_ends.last_line", ends.last_line);
    }
    sums.add("readers.raw.hits", measured.others.raw.hits);
    sums.add("readers.strict_per_file.records", measured.others.strict.tally.records);
    usage_totals(&measured.usage, &mut sums);
    if let Some(checkpoints) = &measured.checkpoints {
        sums.add("checkpoints.indexes", checkpoints.indexes);
        sums.add("checkpoints.bytes", checkpoints.bytes);
        sums.add("checkpoints.snapshots", checkpoints.snapshots);
        sums.add("checkpoints.largest", checkpoints.largest);
        sums.add("checkpoints.entries.full", checkpoints.entries.full);
        sums.add("checkpoints.entries.compressed", checkpoints.entries.compressed);
        sums.add("checkpoints.entries.diff", checkpoints.entries.diff);
    }
    sums
}

/// The totals of usage by their names.
pub(super) fn usage_totals(usage: &StoreUsage, sums: &mut Sums) {
    for (row, _) in usage.rows() {
        let flow = row.flow;
        let figures = [
            ("requests", Some(row.requests)),
            ("input", flow.input),
            ("output", flow.output),
            ("cache_read", flow.cache_read),
            ("cache_write", flow.cache_write),
            ("cost_nano_usd", row.cost.map(|cost| Flow::new(cost.nano()))),
        ];
        for (name, n) in figures {
            let what = format!("usage.{}.{}.{name}", row.model, row.source.name());
            sums.add(what, n.map_or(0, Flow::get));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_small_and_comes_back_whole() {
        assert!(size_of::<UsageRow>() <= 88, "{}", size_of::<UsageRow>());
        let usage = ModelUsage {
            model: "m".into(),
            source: Source::Snapshots,
            definition: Definition::WithCache,
            requests: Flow::new(3),
            stock: Stocks { last_prompt: Some(Stock::new(33_275)), last_input: None },
            flow: Flows { input: Some(Flow::new(100_381)), output: Some(Flow::new(0)), ..Flows::default() },
            cost: Some(Cost::from_nano(5)),
            discarded: None,
        };
        assert_eq!(UsageRow::new(1, 2, &usage).usage("m"), usage);
    }
}
