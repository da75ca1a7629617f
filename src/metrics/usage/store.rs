//! Usage over all files of a store. Forks, resumes and background copies carry a response into another file: it is
//! counted there as part of that session, and once in the store.
//!
//! Every file is counted whole while it is in hand, and of each response five bytes are remembered. When all files are
//! counted, those that share such bytes are read a second time, and of each response that several of them really hold all
//! copies but one are taken back. Copies are rare and responses are not: 600 000 responses of a store of five gigabytes
//! cost 3 MB this way. Of copies that differ (one was still streaming) the one with most output stays, whichever file is
//! read first: the totals depend on no order.

use std::collections::{BTreeSet, HashMap};
use std::io;

use super::responses::{model_name, model_number, there};
use super::{Definition, Flows, ModelUsage, SessionUsage, Source, Stocks};
use crate::metrics::agent::Metering;
use crate::metrics::figure::{Cost, Flow, Stock};
use crate::record::facts::{Record, Usage};
use crate::record::id_hasher::ByHash;
use crate::session::Session;

/// A model's number in [`StoreUsage::model`].
pub type Model = u32;

/// Sums of one model from one source under one definition. Stocks are those of all its sessions, added up.
#[derive(Clone, Copy, Debug, Default)]
struct StoreRow {
    sessions: u64,
    requests: Flow,
    flow: Flows,
    stock: Stocks,
    cost: Option<Cost>,
    discarded: Option<Flow>,
}

/// A response that stands in several files, as one of them has it.
#[derive(Clone, Copy, Debug)]
struct Counted {
    tokens: [u32; 4],
    cost: Option<u64>,
    file: u32,
    /// The row that it is counted in.
    row: u32,
}

/// The first bits of a response's number: what is remembered of every response.
const BITS: u32 = 40;

/// The responses that files count: of each five bytes, and per file where its own end. In order within a file.
#[derive(Debug, Default)]
struct Known {
    responses: Vec<[u8; 5]>,
    /// A file, and where its responses end.
    files: Vec<(u32, u32)>,
}

impl Known {
    fn add(&mut self, file: u32, keys: impl Iterator<Item = u64>) {
        let start = self.responses.len();
        self.responses.extend(keys.map(|key| pack(first_bits(key))));
        self.responses[start..].sort_unstable();
        if self.responses.len() > start {
            self.files.push((file, u32::try_from(self.responses.len()).unwrap_or(u32::MAX)));
        }
    }

    /// Each file with its responses.
    fn iter(&self) -> impl Iterator<Item = (u32, &[[u8; 5]])> {
        let mut start = 0;
        self.files.iter().map(move |&(file, end)| {
            let responses = self.responses.get(start..end as usize).unwrap_or_default();
            start = end as usize;
            (file, responses)
        })
    }
}

fn first_bits(key: u64) -> u64 {
    key >> (64 - BITS)
}

fn pack(bits: u64) -> [u8; 5] {
    let [_, _, _, a, b, c, d, e] = bits.to_be_bytes();
    [a, b, c, d, e]
}

fn unpack([a, b, c, d, e]: [u8; 5]) -> u64 {
    u64::from_be_bytes([0, 0, 0, a, b, c, d, e])
}

/// What a row is about.
type About = (Model, Source, Definition);

/// Usage of a store.
#[derive(Debug, Default)]
pub struct StoreUsage {
    known: Known,
    snapshots: ByHash<u32>,
    models: Vec<Box<str>>,
    numbers: HashMap<Box<str>, Model>,
    rows: Vec<(About, StoreRow)>,
    places: HashMap<About, u32>,
    /// Responses that stand in another file too, each copy counted.
    pub copied: u64,
    /// The files that hold them, by their number.
    pub copies_in: BTreeSet<u32>,
    /// What side calls cost, as stored.
    pub side_cost: Option<Cost>,
    /// Rows that clients made up.
    pub made_up: u64,
}

impl StoreUsage {
    /// A model's number; the same for the same name.
    pub fn number(&mut self, model: &str) -> Model {
        if let Some(&number) = self.numbers.get(model) {
            return number;
        }
        let number = u32::try_from(self.models.len()).unwrap_or(u32::MAX);
        self.models.push(model.into());
        self.numbers.insert(model.into(), number);
        number
    }

    /// A model's name.
    pub fn model(&self, number: Model) -> &str {
        self.models.get(number as usize).map(|m| &**m).unwrap_or_default()
    }

    /// The rows by model name, each with the number of sessions that used it.
    pub fn rows(&self) -> Vec<(ModelUsage, u64)> {
        let mut rows: Vec<_> = self.rows.iter().map(|(about, row)| (self.usage(*about, row), row.sessions)).collect();
        rows.sort_by(|(a, _), (b, _)| (&a.model, a.source, a.definition).cmp(&(&b.model, b.source, b.definition)));
        rows
    }

    fn usage(&self, (model, source, definition): About, row: &StoreRow) -> ModelUsage {
        ModelUsage {
            model: self.model(model).into(),
            source,
            definition,
            requests: row.requests,
            stock: row.stock,
            flow: row.flow,
            cost: row.cost,
            discarded: row.discarded,
        }
    }

    /// Counts a session: the file's number, what is known of it.
    pub fn add(&mut self, file: u32, session: &Session, agent: &dyn Metering, usage: &SessionUsage) {
        self.made_up += usage.made_up;
        let from_snapshots = usage.rows.first().is_some_and(|row| row.source == Source::Snapshots);
        if from_snapshots {
            let id = usage.last_snapshot.map(|n| session.record(n).id).filter(|id| !id.is_none());
            if let Some(id) = id
                && let Some(other) = self.snapshots.insert(id.short(), file)
            {
                // The same running totals: a copy of the whole session. All its responses are.
                self.copied += usage.counted.len();
                self.copies_in.extend([other, file]);
                return;
            }
        }
        if let Some(side) = usage.side_cost {
            self.side_cost = Some(self.side_cost.unwrap_or_default() + side);
        }
        for row in &usage.rows {
            self.sum(row);
        }
        if !from_snapshots {
            let keys = usage.counted.iter().filter_map(|n| agent.response(record_of(session, n)));
            self.known.add(file, keys);
        }
    }

    /// Adds a session's row.
    fn sum(&mut self, row: &ModelUsage) {
        let about = (self.number(&row.model), row.source, row.definition);
        let place = self.place(about);
        let sum = &mut self.rows[place as usize].1;
        sum.sessions += 1;
        let stock = |sum: &mut Option<Stock>, n: Option<Stock>| {
            if let Some(n) = n {
                *sum = Some(sum.unwrap_or_default() + n);
            }
        };
        stock(&mut sum.stock.last_prompt, row.stock.last_prompt);
        stock(&mut sum.stock.last_input, row.stock.last_input);
        sum.requests += row.requests;
        for (sum, n) in [
            (&mut sum.flow.input, row.flow.input),
            (&mut sum.flow.cache_read, row.flow.cache_read),
            (&mut sum.flow.cache_write, row.flow.cache_write),
            (&mut sum.flow.output, row.flow.output),
            (&mut sum.discarded, row.discarded),
        ] {
            if let Some(n) = n {
                *sum = Some(sum.unwrap_or_default() + n);
            }
        }
        if let Some(cost) = row.cost {
            sum.cost = Some(sum.cost.unwrap_or_default() + cost);
        }
    }

    fn place(&mut self, about: About) -> u32 {
        let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        *self.places.entry(about).or_insert_with(|| {
            self.rows.push((about, StoreRow::default()));
            next
        })
    }

    /// The first bits that several files have in common, in order, and those files.
    fn in_common(&self) -> (Vec<u64>, BTreeSet<u32>) {
        let (mut bits, mut files) = (Vec::new(), BTreeSet::new());
        let most = self.known.responses.len();
        // A part of all numbers at a time: eight bytes for some thousands of them and not for all.
        let parts = (most / 16_384).next_power_of_two().min(256) as u64;
        let width = (1 << BITS) / parts;
        let mut held: Vec<(u64, u32)> = Vec::new();
        for part in 0..parts {
            held.clear();
            for (file, responses) in self.known.iter() {
                let from = responses.partition_point(|r| unpack(*r) < part * width);
                let part = responses[from..].iter().map(|r| unpack(*r)).take_while(|bits| *bits < (part + 1) * width);
                held.extend(part.map(|bits| (bits, file)));
            }
            held.sort_unstable();
            for same in held.chunk_by(|a, b| a.0 == b.0).filter(|same| same[0].1 != same[same.len() - 1].1) {
                bits.push(same[0].0);
                files.extend(same.iter().map(|(_, file)| *file));
            }
        }
        (bits, files)
    }

    /// Of a file that is read a second time, those of its responses whose first bits several files have in common.
    fn again(&mut self, file: u32, session: &Session, agent: &dyn Metering, bits: &[u64]) -> Vec<(u64, Counted)> {
        let (facts, usage) = (&session.facts, SessionUsage::of(session, agent));
        // The row of each model of this session: looked up once a model, not once a response.
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut found = Vec::new();
        for n in usage.counted.iter() {
            let Usage { record, tokens } = facts.usage[n as usize];
            let record = session.record(record);
            let Some(key) = agent.response(record) else { continue };
            if bits.binary_search(&first_bits(key)).is_err() {
                continue;
            }
            let row = *places.entry(model_number(record)).or_insert_with(|| {
                let name = model_name(session, model_number(record));
                let row = usage.rows.iter().find(|row| row.model == name);
                let definition = row.map_or(Definition::WithoutCache, |row| row.definition);
                let model = self.number(&name);
                self.place((model, Source::Messages, definition))
            });
            found.push((key, Counted { tokens, cost: facts.cost_of(n as usize), file, row }));
        }
        found
    }

    /// Of a response that was counted in two files, takes the copy back that weighs less.
    fn once(&mut self, held: Counted, new: Counted) -> Counted {
        self.copied += 1;
        self.copies_in.extend([held.file, new.file]);
        let weight = |counted: Counted| (self.weight(counted), counted.cost);
        let (stays, goes) = if weight(new) > weight(held) { (new, held) } else { (held, new) };
        self.rows[goes.row as usize].1.take_back(goes.tokens, goes.cost);
        stays
    }

    /// Of copies the one counts that has most output, else more of everything; the rest only makes it the same one
    /// whatever the order.
    fn weight(&self, of: Counted) -> (u64, u64, [u32; 4], &str, Definition) {
        let [input, output, read, write] = of.tokens.map(|t| there(t).unwrap_or(0));
        let (model, _, definition) = self.rows[of.row as usize].0;
        (output, input + read + write, of.tokens, self.model(model), definition)
    }

    /// Ends the counting: reads the files that have responses in common a second time, and leaves one copy of each.
    /// A file that cannot be read again keeps what it counted.
    pub fn finish(&mut self, read: impl Fn(u32) -> io::Result<(Session, &'static dyn Metering)>) {
        let (bits, files) = self.in_common();
        (self.known, self.snapshots) = (Known::default(), ByHash::default());
        let mut stays: ByHash<Counted> = ByHash::default();
        for file in files {
            let Ok((session, agent)) = read(file) else { continue };
            for (key, new) in self.again(file, &session, agent, &bits) {
                let counted = match stays.get(&key) {
                    Some(&held) => self.once(held, new),
                    None => new,
                };
                stays.insert(key, counted);
            }
        }
    }

    /// All rows together.
    pub fn total(&self) -> StoreTotal {
        let mut total = StoreTotal::default();
        for ((_, _, definition), row) in &self.rows {
            total.requests += row.requests;
            let flow = row.flow;
            total.cache_read += flow.cache_read.unwrap_or_default();
            total.cache_write += flow.cache_write.unwrap_or_default();
            total.output += flow.output.unwrap_or_default();
            total.prompt += super::prompt(*definition, flow).unwrap_or_default();
            total.last_prompt += row.stock.last_prompt.unwrap_or_default();
            if let Some(cost) = row.cost {
                total.cost = Some(total.cost.unwrap_or_default() + cost);
            }
        }
        total
    }
}

/// The record that a usage row stands in.
fn record_of(session: &Session, n: u32) -> &Record {
    session.record(session.facts.usage[n as usize].record)
}

/// Usage of a store in one row: only figures that mean the same for every agent and provider.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreTotal {
    /// Requests.
    pub requests: Flow,
    /// All prompts together, in tokens, whatever part of them came from the cache.
    pub prompt: Flow,
    /// Read from the cache.
    pub cache_read: Flow,
    /// Written to the cache.
    pub cache_write: Flow,
    /// Generated.
    pub output: Flow,
    /// What stands in the context windows of all sessions.
    pub last_prompt: Stock,
    /// As stored, main calls only.
    pub cost: Option<Cost>,
}

impl StoreRow {
    /// Takes a response out again.
    fn take_back(&mut self, tokens: [u32; 4], cost: Option<u64>) {
        self.requests = Flow::new(self.requests.get().saturating_sub(1));
        for (sum, n) in self.flows().into_iter().zip(tokens) {
            if let Some(held) = sum {
                *held = Flow::new(held.get().saturating_sub(there(n).unwrap_or(0)));
            }
        }
        if let Some(cost) = cost {
            self.cost = self.cost.map(|held| held.without(Cost::from_nano(cost)));
        }
    }

    /// In the order of the tokens of a usage row.
    fn flows(&mut self) -> [&mut Option<Flow>; 4] {
        let Flows { input, cache_read, cache_write, output } = &mut self.flow;
        [input, output, cache_read, cache_write]
    }
}
