//! Usage over all files of a store. Forks, resumes and background copies carry a response into another file: it is
//! counted there as part of that session, and once in the store.
//!
//! For that each response is remembered by the number that it is known by, with its figures: about 40 bytes, so 4 MB for
//! the 100 000 responses of a store of half a gigabyte. Its figures are kept, and not only that it was seen, so that of
//! copies that differ (one was still streaming) the one with most output counts whichever file is read first: the totals
//! depend on no order.

use std::collections::{BTreeSet, HashMap};

use super::responses::{key, model_name, model_number, there};
use super::{Definition, Flows, ModelUsage, SessionUsage, Source, Stocks};
use crate::metrics::figure::{Cost, Flow, Stock};
use crate::record::facts::Usage;
use crate::record::hashed::ByHash;
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

/// What is remembered of a response.
#[derive(Clone, Copy, Debug)]
struct Counted {
    tokens: [u32; 4],
    file: u32,
    /// The row that it is counted in.
    row: u32,
}

/// What a row is about.
type About = (Model, Source, Definition);

/// Usage of a store.
#[derive(Debug, Default)]
pub struct StoreUsage {
    responses: ByHash<Counted>,
    costs: ByHash<u64>,
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
    pub fn add(&mut self, file: u32, session: &Session, usage: &SessionUsage) {
        self.made_up += usage.made_up;
        let from_snapshots = usage.rows.first().is_some_and(|row| row.source == Source::Snapshots);
        if from_snapshots {
            let id = usage.last_snapshot.map(|n| session.record(n).id).filter(|id| !id.is_none());
            if let Some(id) = id
                && let Some(other) = self.snapshots.insert(id.short(), file)
            {
                // The same running totals: a copy of the whole session. All its responses are.
                self.copied += usage.counted.len() as u64;
                self.copies_in.extend([other, file]);
                return;
            }
        }
        if let Some(side) = usage.side_cost {
            self.side_cost = Some(self.side_cost.unwrap_or_default() + side);
        }
        for row in &usage.rows {
            self.sum(row, !from_snapshots);
        }
        if !from_snapshots {
            self.responses(file, session, usage);
        }
    }

    /// Adds a session's row. `once`: its flows are added response by response, when it is known which are new.
    fn sum(&mut self, row: &ModelUsage, once: bool) {
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
        if once {
            return;
        }
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

    fn responses(&mut self, file: u32, session: &Session, usage: &SessionUsage) {
        let facts = &session.facts;
        // The row of each model of this session: looked up once a model, not once a response.
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut last = (u32::MAX, 0);
        for &n in &usage.counted {
            let Usage { record, tokens: [a, b, c, d, _] } = facts.usage[n as usize];
            let record = session.record(record);
            let number = model_number(record);
            if last.0 != number {
                let row = match places.get(&number) {
                    Some(&row) => row,
                    None => {
                        let name = model_name(session, number);
                        let row = usage.rows.iter().find(|row| row.model == name);
                        let definition = row.map_or(Definition::WithoutCache, |row| row.definition);
                        let model = self.number(&name);
                        let row = self.place((model, Source::Messages, definition));
                        places.insert(number, row);
                        row
                    }
                };
                last = (number, row);
            }
            let new = Counted { tokens: [a, b, c, d], file, row: last.1 };
            let cost = facts.cost_of(n as usize);
            match key(session.dialect, record) {
                Some(key) => self.once(key, new, cost),
                None => self.rows[new.row as usize].1.take(new.tokens, cost),
            }
        }
    }

    /// Counts a response unless a copy of it was counted that weighs as much; a lighter one is taken back.
    fn once(&mut self, key: u64, new: Counted, cost: Option<u64>) {
        let Some(&held) = self.responses.get(&key) else {
            self.responses.insert(key, new);
            if let Some(cost) = cost {
                self.costs.insert(key, cost);
            }
            self.rows[new.row as usize].1.take(new.tokens, cost);
            return;
        };
        self.copied += 1;
        self.copies_in.extend([held.file, new.file]);
        if (self.weight(new), cost) <= (self.weight(held), self.costs.get(&key).copied()) {
            return;
        }
        self.responses.insert(key, new);
        let held_cost = match cost {
            Some(cost) => self.costs.insert(key, cost),
            None => self.costs.remove(&key),
        };
        self.rows[held.row as usize].1.take_back(held.tokens, held_cost);
        self.rows[new.row as usize].1.take(new.tokens, cost);
    }

    /// Of copies the one counts that has most output, else more of everything; the rest only makes it the same one
    /// whatever the order.
    fn weight(&self, of: Counted) -> (u64, u64, [u32; 4], &str, Definition) {
        let [input, output, read, write] = of.tokens.map(|t| there(t).unwrap_or(0));
        let (model, _, definition) = self.rows[of.row as usize].0;
        (output, input + read + write, of.tokens, self.model(model), definition)
    }

    /// Ends the counting: what only served to know copies is let go.
    pub fn finish(&mut self) {
        self.responses = ByHash::default();
        self.costs = ByHash::default();
        self.snapshots = ByHash::default();
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
    /// Adds a response.
    fn take(&mut self, tokens: [u32; 4], cost: Option<u64>) {
        self.requests += Flow::new(1);
        for (sum, n) in self.flows().into_iter().zip(tokens) {
            if let Some(n) = there(n) {
                *sum = Some(sum.unwrap_or_default() + Flow::new(n));
            }
        }
        if let Some(cost) = cost {
            self.cost = Some(self.cost.unwrap_or_default() + Cost::from_nano(cost));
        }
    }

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
