//! Usage as JSON has it: the same in `metrics` and in the totals of `scan`. A stock stands under `stock`, a flow under
//! `flow`, a ratio carries both its numbers and what they are.

use serde::Serialize;

use crate::metrics::figure::{Cost, Flow, Ratio, Stock};
use crate::metrics::usage::{Flows, ModelUsage, Stocks, StoreTotal, StoreUsage};

/// A ratio with what it is made of.
#[derive(Serialize)]
pub struct RatioJson {
    value: f64,
    numerator: u64,
    denominator: u64,
    kind: &'static str,
}

impl From<Ratio> for RatioJson {
    fn from(ratio: Ratio) -> Self {
        RatioJson {
            value: ratio.value(),
            numerator: ratio.numerator,
            denominator: ratio.denominator,
            kind: ratio.kind.name(),
        }
    }
}

/// What was there, in tokens.
#[derive(Serialize)]
pub struct StockJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    last_prompt: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_input: Option<u64>,
}

/// What went through, in tokens.
#[derive(Serialize)]
pub struct FlowJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
}

impl From<Stocks> for StockJson {
    fn from(stock: Stocks) -> Self {
        StockJson { last_prompt: stock.last_prompt.map(Stock::get), last_input: stock.last_input.map(Stock::get) }
    }
}

impl FlowJson {
    /// Flows with the prompts that they make.
    pub fn new(prompt: Option<Flow>, flow: Flows) -> Self {
        FlowJson {
            prompt: prompt.map(Flow::get),
            input: flow.input.map(Flow::get),
            cache_read: flow.cache_read.map(Flow::get),
            cache_write: flow.cache_write.map(Flow::get),
            output: flow.output.map(Flow::get),
        }
    }
}

/// Ratios by name; one that nothing can be divided by is left out.
#[derive(Serialize)]
pub struct RatiosJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_hit: Option<RatioJson>,
}

/// One model's usage, of a session or of a store.
#[derive(Serialize)]
pub struct UsageJson<'a> {
    model: &'a str,
    source: &'static str,
    definition: &'static str,
    requests: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    discarded_requests: Option<u64>,
    stock: StockJson,
    flow: FlowJson,
    ratios: RatiosJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
}

impl<'a> From<&'a ModelUsage> for UsageJson<'a> {
    fn from(row: &'a ModelUsage) -> Self {
        UsageJson {
            model: &row.model,
            source: row.source.name(),
            definition: row.definition.name(),
            requests: row.requests.get(),
            discarded_requests: row.discarded.map(Flow::get),
            stock: StockJson::from(row.stock),
            flow: FlowJson::new(row.prompt(), row.flow),
            ratios: RatiosJson { cache_hit: row.cache_hit().map(RatioJson::from) },
            cost_usd: row.cost.map(Cost::dollars),
        }
    }
}

/// Usage of a whole store in one row.
#[derive(Serialize)]
pub struct TotalJson {
    requests: u64,
    stock: StockJson,
    flow: FlowJson,
    ratios: RatiosJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    side_cost_usd: Option<f64>,
    /// Copies of responses in other files, counted there and not here.
    copied_responses: u64,
    /// Rows that clients made up.
    made_up: u64,
}

impl From<&StoreUsage> for TotalJson {
    fn from(usage: &StoreUsage) -> Self {
        let StoreTotal { requests, prompt, cache_read, cache_write, output, last_prompt, cost } = usage.total();
        TotalJson {
            requests: requests.get(),
            stock: StockJson { last_prompt: Some(last_prompt.get()), last_input: None },
            flow: FlowJson {
                prompt: Some(prompt.get()),
                input: None,
                cache_read: Some(cache_read.get()),
                cache_write: Some(cache_write.get()),
                output: Some(output.get()),
            },
            ratios: RatiosJson { cache_hit: cache_read.of(prompt).map(RatioJson::from) },
            cost_usd: cost.map(Cost::dollars),
            side_cost_usd: usage.side_cost.map(Cost::dollars),
            copied_responses: usage.copied,
            made_up: usage.made_up,
        }
    }
}
