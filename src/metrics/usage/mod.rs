//! What a session used, by model: requests, tokens as stock and as flow, money as stored. Every response is counted once,
//! on whichever branch it stands: a turn that was rewound was paid for all the same.
//!
//! Where an agent repeats a response's usage on each of its rows, growing while it streams, the row with most output
//! counts, of equals the last. Where it keeps running totals beside its messages, they are the row, because only they know
//! requests that left no message, and the sums of the messages stand beside it.
//!
//! What sub-files do: `responses` counts messages, `store` counts over all files.

mod responses;
mod rows;
mod store;

use super::figure::{Cost, Flow, Mixed, Ratio, Stock};
use crate::metrics::agent::Metering;
use crate::session::{Session, Shape};

pub(super) use responses::response;
pub use responses::settled;
pub use rows::Rows;
pub use store::{Model, StoreTotal, StoreUsage};

/// Where figures come from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The usage of each response.
    Messages,
    /// Running totals beside the messages.
    Snapshots,
}

impl Source {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Source::Messages => "messages",
            Source::Snapshots => "usage_stats",
        }
    }
}

/// What the field for input tokens means: providers differ, and an agent may store what the provider says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Definition {
    /// Input is what was neither read from nor written to the cache (Anthropic's meaning).
    WithoutCache,
    /// Input is the whole prompt, what was read from the cache included (OpenAI and those that follow it).
    WithCache,
    /// The provider should count the cache as input, and more was read from the cache than there was input.
    Contradicted,
}

impl Definition {
    /// The words in reports.
    pub fn name(self) -> &'static str {
        match self {
            Definition::WithoutCache => "input excludes cached tokens",
            Definition::WithCache => "input includes cached tokens",
            Definition::Contradicted => {
                "input excludes cached tokens, since more was read from the cache than it holds"
            }
        }
    }
}

/// What went through, in tokens. None: the format has no such figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flows {
    /// As stored; see [`Definition`].
    pub input: Option<Flow>,
    /// Read from the cache.
    pub cache_read: Option<Flow>,
    /// Written to the cache.
    pub cache_write: Option<Flow>,
    /// Generated, thinking included.
    pub output: Option<Flow>,
}

/// What was there when the model was asked last, in tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stocks {
    /// The last request's whole prompt: what stands in the context window.
    pub last_prompt: Option<Stock>,
    /// The last request's input as stored; see [`Definition`].
    pub last_input: Option<Stock>,
}

/// One model's share of a session.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelUsage {
    /// The model as the session names it.
    pub model: Box<str>,
    /// Where the figures come from.
    pub source: Source,
    /// What its input is.
    pub definition: Definition,
    /// Requests that were answered; of running totals, those that were sent.
    pub requests: Flow,
    /// What was there.
    pub stock: Stocks,
    /// What went through.
    pub flow: Flows,
    /// What it cost, as stored.
    pub cost: Option<Cost>,
    /// Requests whose answer was thrown away; part of `requests`.
    pub discarded: Option<Flow>,
}

impl ModelUsage {
    /// All prompts together, whatever part of them came from the cache.
    pub fn prompt(&self) -> Option<Flow> {
        prompt(self.definition, self.flow)
    }

    /// The share of all prompts that came from the cache.
    pub fn cache_hit(&self) -> Option<Ratio> {
        self.flow.cache_read?.of(self.prompt()?)
    }
}

/// All prompts together by what their input is.
pub fn prompt(definition: Definition, flow: Flows) -> Option<Flow> {
    match definition {
        Definition::WithCache => flow.input,
        _ => Some(flow.input? + flow.cache_read.unwrap_or_default() + flow.cache_write.unwrap_or_default()),
    }
}

/// Responses whose usage stands on more than one record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Group {
    /// Responses.
    pub responses: u64,
    /// Records that carry their usage.
    pub records: u64,
    /// The first record of the first of them.
    pub first: Option<u32>,
    /// Output tokens of all those records, and of the responses counted once.
    pub output: (u64, u64),
}

/// Figures of one record that invite to divide a flow by a stock.
#[derive(Clone, PartialEq, Debug)]
pub struct MixedFigure {
    /// The record.
    pub record: u32,
    /// The model.
    pub model: Box<str>,
    /// What the division gives.
    pub wrong: Mixed,
    /// What it should be.
    pub right: Option<Ratio>,
    /// A ratio that the record itself stores and that is the mixed one: its name.
    pub stored: Option<Box<str>>,
}

/// A stored total that is not what its parts give.
#[derive(Clone, PartialEq, Debug)]
pub struct Disagreement {
    /// The record.
    pub record: u32,
    /// What is stored, by its path.
    pub what: &'static str,
    /// The model, where it is one model's.
    pub model: Option<Box<str>>,
    /// As stored.
    pub stored: f64,
    /// What the parts give.
    pub parts: f64,
    /// Whether the parts stand in the same record.
    pub same_record: bool,
    /// What explains it.
    pub why: &'static str,
}

impl Disagreement {
    /// Whether it cannot be: the parts stand in the same record, and a sum is less than what it contains, or the length of
    /// a list is not its length. A sum may hold more than the record names.
    pub fn is_contradiction(&self) -> bool {
        self.same_record && (self.stored < self.parts || self.what == FILE_COUNT) && self.why != WITHOUT_CACHE
    }
}

/// A figure that cannot be.
#[derive(Clone, PartialEq, Debug)]
pub struct Impossible {
    /// The record.
    pub record: u32,
    /// The field, by its path.
    pub field: String,
    /// Why.
    pub why: &'static str,
    /// The value before it, of a running total that fell, and the value after.
    pub fell: Option<(f64, f64)>,
}

/// What is known of a session's usage.
#[derive(Clone, Debug, Default)]
pub struct SessionUsage {
    /// By model, in the order of their names.
    pub rows: Vec<ModelUsage>,
    /// Where the rows come from running totals: the sums of the messages.
    pub beside: Vec<ModelUsage>,
    /// The usage rows that count, by their place in `Facts::usage`.
    pub counted: Rows,
    /// The record whose running totals the rows end with.
    pub last_snapshot: Option<u32>,
    /// Stored twice or more, always the same.
    pub repeated: Group,
    /// Stored twice or more, and growing.
    pub growing: Group,
    /// Rows that the client made up (limit and error notices): no request.
    pub made_up: u64,
    /// Figures that invite to divide a flow by a stock.
    pub mixed: Vec<MixedFigure>,
    /// Stored totals that differ from their parts.
    pub disagreements: Vec<Disagreement>,
    /// Figures that cannot be.
    pub impossible: Vec<Impossible>,
    /// How many of the last three kinds are not kept.
    pub more: [u64; 3],
    /// What side calls (titles, summaries) cost, as stored; in no row.
    pub side_cost: Option<Cost>,
}

/// The stored length of a list.
pub const FILE_COUNT: &str = "file_changes.count";
/// What explains a total that some providers give without the cache.
const WITHOUT_CACHE: &str = "the provider's total leaves the cache out";

/// How many mixed, disagreeing and impossible figures of a session are kept with their place.
const KEPT: usize = 1000;

impl SessionUsage {
    /// Counts a session.
    pub fn of(session: &Session, agent: &dyn Metering) -> SessionUsage {
        let mut usage = SessionUsage::default();
        if session.shape == Shape::Legacy {
            return usage;
        }
        responses::count(session, agent, &mut usage);
        agent.follow_totals(session, &mut usage);
        usage
    }

    /// Notes a figure that invites to divide a flow by a stock.
    pub fn note_mixed(&mut self, figure: MixedFigure) {
        if self.mixed.len() < KEPT { self.mixed.push(figure) } else { self.more[0] += 1 }
    }

    /// Notes a stored total that is not what its parts give.
    pub fn note_disagreement(&mut self, figure: Disagreement) {
        if self.disagreements.len() < KEPT { self.disagreements.push(figure) } else { self.more[1] += 1 }
    }

    /// Notes a figure that cannot be.
    pub fn note_impossible(&mut self, figure: Impossible) {
        if self.impossible.len() < KEPT { self.impossible.push(figure) } else { self.more[2] += 1 }
    }
}
