//! The turns of one session as JSON. Turns are numbered from 1.

use serde::Serialize;

use super::usage_json::{FlowJson, RatioJson, StockJson};
use crate::metrics::figure::{Cost, Flow, Stock};
use crate::metrics::turns::{ModelChange, Stretch, Turn, Turns};
use crate::metrics::usage::Stocks;

/// All of it.
#[derive(Serialize)]
pub struct TurnsJson<'a> {
    list: Vec<TurnJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dearest: Option<DearestJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_cached: Option<usize>,
    model_changes: Vec<ChangeJson<'a>>,
}

#[derive(Serialize)]
struct TurnJson<'a> {
    turn: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_at: Option<String>,
    models: Vec<&'a str>,
    requests: u64,
    stock: StockJson,
    flow: FlowJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_hit: Option<RatioJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// Of how many turns the cost is, where it is not of this one alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_of_turns: Option<u32>,
}

#[derive(Serialize)]
struct DearestJson {
    turn: usize,
    by: &'static str,
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    turn: usize,
    before: StretchJson<'a>,
    after: StretchJson<'a>,
}

#[derive(Serialize)]
struct StretchJson<'a> {
    model: &'a str,
    turns: u64,
    requests: u64,
    prompt: u64,
    cache_read: u64,
    output: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd_a_request: Option<f64>,
}

impl<'a> From<&'a Turns> for TurnsJson<'a> {
    fn from(turns: &'a Turns) -> Self {
        TurnsJson {
            list: turns.turns.iter().enumerate().map(|(n, turn)| TurnJson::new(n + 1, turn)).collect(),
            dearest: turns.dearest.map(|(n, by)| DearestJson { turn: n + 1, by: by.name() }),
            first_cached: turns.first_cached.map(|n| n + 1),
            model_changes: turns.changes.iter().map(ChangeJson::from).collect(),
        }
    }
}

impl<'a> TurnJson<'a> {
    fn new(n: usize, turn: &'a Turn) -> Self {
        TurnJson {
            turn: n,
            line: turn.line,
            asked_at: turn.time.map(crate::record::time::format),
            models: turn.models.iter().map(|model| &**model).collect(),
            requests: turn.requests.get(),
            stock: StockJson::from(Stocks { last_prompt: turn.last_prompt, last_input: None::<Stock> }),
            flow: FlowJson::new(turn.prompt, turn.flow),
            cache_hit: turn.cache_hit().map(RatioJson::from),
            cost_usd: turn.cost.map(Cost::dollars),
            cost_of_turns: (turn.cost.is_some() && turn.cost_of > 1).then_some(turn.cost_of),
        }
    }
}

impl<'a> From<&'a ModelChange> for ChangeJson<'a> {
    fn from(change: &'a ModelChange) -> Self {
        ChangeJson {
            turn: change.turn + 1,
            before: StretchJson::from(&change.before),
            after: StretchJson::from(&change.after),
        }
    }
}

impl<'a> From<&'a Stretch> for StretchJson<'a> {
    fn from(stretch: &'a Stretch) -> Self {
        StretchJson {
            model: &stretch.model,
            turns: stretch.turns,
            requests: stretch.requests.get(),
            prompt: Flow::get(stretch.prompt),
            cache_read: stretch.cache_read.get(),
            output: stretch.output.get(),
            cost_usd: stretch.cost.map(Cost::dollars),
            cost_usd_a_request: stretch.cost_a_request(),
        }
    }
}
