//! One session turn by turn: what each prompt set off, what it used, and what it cost.
//!
//! A turn is a prompt that somebody typed and every response up to the next one, in the order of the file, on whichever
//! branch they stand: what was rewound was paid for all the same. Responses in front of the first prompt (a fork carries
//! them over) are a turn without a prompt. Each response is counted once, as in [`super::usage`].
//!
//! Where an agent does not store what each response cost and writes running totals after each turn, what they grew by is
//! what was spent since the record before. Where several turns lie between two of them, their cost stands with the last,
//! and it says of how many turns it is.

use std::collections::BTreeMap;

use super::agent::Metering;
use super::figure::{Cost, Flow, Ratio, Stock};
use super::records::UserSort;
use super::usage::{Definition, Flows, ModelUsage, SessionUsage, Source, prompt, response};
use crate::record::facts::NO_TIME;
use crate::session::{Session, Shape};

/// One turn.
#[derive(Clone, PartialEq, Debug)]
pub struct Turn {
    /// The line of its prompt; none for responses in front of the first one.
    pub line: Option<u32>,
    /// When it was asked, in milliseconds since 1970.
    pub time: Option<i64>,
    /// The models that answered, in the order in which they did.
    pub models: Vec<Box<str>>,
    /// Responses.
    pub requests: Flow,
    /// All prompts together, whatever part of them came from the cache.
    pub prompt: Option<Flow>,
    /// As stored; see [`Definition`].
    pub flow: Flows,
    /// The last request's whole prompt.
    pub last_prompt: Option<Stock>,
    /// What it cost, as stored.
    pub cost: Option<Cost>,
    /// Of how many turns the cost is, this one the last of them.
    pub cost_of: u32,
}

impl Turn {
    fn new(line: Option<u32>, time: Option<i64>) -> Self {
        Turn {
            line,
            time,
            models: Vec::new(),
            requests: Flow::default(),
            prompt: None,
            flow: Flows::default(),
            last_prompt: None,
            cost: None,
            cost_of: 1,
        }
    }

    /// The share of its prompts that came from the cache.
    pub fn cache_hit(&self) -> Option<Ratio> {
        self.flow.cache_read?.of(self.prompt?)
    }

    /// The model that answered last.
    pub fn model(&self) -> Option<&str> {
        self.models.last().map(|model| &**model)
    }

    fn tokens(&self) -> u64 {
        self.prompt.map_or(0, Flow::get) + self.flow.output.map_or(0, Flow::get)
    }
}

/// What a stretch of turns with one model used.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The model.
    pub model: Box<str>,
    /// Turns.
    pub turns: u64,
    /// Responses.
    pub requests: Flow,
    /// All prompts together.
    pub prompt: Flow,
    /// Read from the cache.
    pub cache_read: Flow,
    /// Generated.
    pub output: Flow,
    /// What it cost, as stored.
    pub cost: Option<Cost>,
}

impl Stretch {
    /// The share of its prompts that came from the cache.
    pub fn cache_hit(&self) -> Option<Ratio> {
        self.cache_read.of(self.prompt)
    }

    /// What one response cost, in dollars.
    pub fn cost_a_request(&self) -> Option<f64> {
        (self.requests.get() > 0).then_some(self.cost?.dollars() / self.requests.get() as f64)
    }
}

/// Another model answered from this turn on.
#[derive(Clone, Debug)]
pub struct ModelChange {
    /// The first turn of the new model, from 0.
    pub turn: usize,
    /// From the change before to this one.
    pub before: Stretch,
    /// From this one to the next.
    pub after: Stretch,
}

/// By what the dearest turn was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// By what is stored of costs.
    Cost,
    /// No cost is stored: by all tokens.
    Tokens,
}

impl By {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            By::Cost => "cost",
            By::Tokens => "tokens",
        }
    }
}

/// The turns of a session.
#[derive(Clone, Debug, Default)]
pub struct Turns {
    /// In the order of the file.
    pub turns: Vec<Turn>,
    /// The dearest, of equals the first, and by what.
    pub dearest: Option<(usize, By)>,
    /// The first of which something was read from the cache.
    pub first_cached: Option<usize>,
    /// Where another model answered.
    pub changes: Vec<ModelChange>,
}

impl Turns {
    /// Of a session.
    pub fn of(session: &Session, agent: &dyn Metering) -> Turns {
        let mut turns = Turns { turns: collect(session, agent), ..Turns::default() };
        let dearest = |weight: &dyn Fn(&Turn) -> u64| {
            let all = turns.turns.iter().enumerate().map(|(n, turn)| (weight(turn), std::cmp::Reverse(n)));
            all.max().filter(|(weight, _)| *weight > 0).map(|(_, n)| n.0)
        };
        turns.dearest = match dearest(&|turn| turn.cost.map_or(0, Cost::nano)) {
            Some(n) => Some((n, By::Cost)),
            None => dearest(&Turn::tokens).map(|n| (n, By::Tokens)),
        };
        turns.first_cached = turns.turns.iter().position(|t| t.flow.cache_read.is_some_and(|read| read.get() > 0));
        turns.changes = changes(&turns.turns);
        turns
    }
}

fn collect(session: &Session, agent: &dyn Metering) -> Vec<Turn> {
    let usage = &SessionUsage::of(session, agent);
    if session.shape == Shape::Legacy {
        return Vec::new();
    }
    let definitions = definitions(usage);
    let facts = &session.facts;
    let mut costs: BTreeMap<u32, Cost> = agent.spent(session).into_iter().collect();
    let from_totals = !costs.is_empty();
    let mut counted = usage.counted.iter().peekable();
    let mut turns: Vec<Turn> = Vec::new();
    let mut since_cost = 0;
    for (n, record) in (0_u32..).zip(&facts.records) {
        if matches!(UserSort::of(session, record), Some(UserSort::Prompt | UserSort::Mixed)) {
            turns.push(Turn::new(Some(record.line), (record.time != NO_TIME).then_some(record.time)));
            since_cost += 1;
        }
        while let Some(row) = counted.next_if(|row| facts.usage[*row as usize].record <= n) {
            let turn = last(&mut turns, &mut since_cost);
            let (model, tokens) = response(session, row);
            let definition = definitions.get(&*model).copied().unwrap_or(Definition::WithoutCache);
            add(turn, tokens, definition);
            if turn.model() != Some(&*model) {
                turn.models.push(model);
            }
            if let (Some(nano), false) = (facts.cost_of(row as usize), from_totals) {
                turn.cost = Some(turn.cost.unwrap_or_default() + Cost::from_nano(nano));
            }
        }
        if let Some(cost) = costs.remove(&n) {
            let turn = last(&mut turns, &mut since_cost);
            turn.cost = Some(turn.cost.unwrap_or_default() + cost);
            turn.cost_of = turn.cost_of.max(std::mem::take(&mut since_cost));
        }
    }
    turns
}

fn last<'t>(turns: &'t mut Vec<Turn>, since_cost: &mut u32) -> &'t mut Turn {
    if turns.is_empty() {
        turns.push(Turn::new(None, None));
        *since_cost += 1;
    }
    let at = turns.len() - 1;
    &mut turns[at]
}

/// What each model's input is, by the sums of the messages.
fn definitions(usage: &SessionUsage) -> BTreeMap<&str, Definition> {
    let of_messages = |row: &&ModelUsage| row.source == Source::Messages;
    let rows = usage.beside.iter().chain(&usage.rows).filter(of_messages);
    rows.map(|row| (&*row.model, row.definition)).collect()
}

fn add(turn: &mut Turn, flow: Flows, definition: Definition) {
    let whole = prompt(definition, flow);
    turn.requests += Flow::new(1);
    for (sum, n) in [
        (&mut turn.flow.input, flow.input),
        (&mut turn.flow.cache_read, flow.cache_read),
        (&mut turn.flow.cache_write, flow.cache_write),
        (&mut turn.flow.output, flow.output),
        (&mut turn.prompt, whole),
    ] {
        if let Some(n) = n {
            *sum = Some(sum.unwrap_or_default() + n);
        }
    }
    turn.last_prompt = whole.map(|whole| Stock::new(whole.get())).or(turn.last_prompt);
}

fn changes(turns: &[Turn]) -> Vec<ModelChange> {
    let mut stretches: Vec<(usize, Stretch)> = Vec::new();
    for (n, turn) in turns.iter().enumerate() {
        let Some(model) = turn.model() else { continue };
        if stretches.last().is_none_or(|(_, stretch)| *stretch.model != *model) {
            let (zero, model) = (Flow::default(), model.into());
            let new =
                Stretch { model, turns: 0, requests: zero, prompt: zero, cache_read: zero, output: zero, cost: None };
            stretches.push((n, new));
        }
        let Some((_, stretch)) = stretches.last_mut() else { continue };
        stretch.turns += 1;
        stretch.requests += turn.requests;
        stretch.prompt += turn.prompt.unwrap_or_default();
        stretch.cache_read += turn.flow.cache_read.unwrap_or_default();
        stretch.output += turn.flow.output.unwrap_or_default();
        if let Some(cost) = turn.cost {
            stretch.cost = Some(stretch.cost.unwrap_or_default() + cost);
        }
    }
    let pairs = stretches.windows(2).filter_map(|pair| match pair {
        [(_, before), (turn, after)] => Some(ModelChange { turn: *turn, before: before.clone(), after: after.clone() }),
        _ => None,
    });
    pairs.collect()
}
