//! The usage of single responses: which rows of one response count, and what their sums are.

use std::collections::HashMap;

use super::{
    Definition, Disagreement, Flows, Group, Impossible, ModelUsage, Rows, SessionUsage, Source, Stocks, WITHOUT_CACHE,
};
use crate::metrics::agent::Metering;
use crate::metrics::figure::{Cost, Flow, Stock};
use crate::record::facts::{Facts, Kind, NO_TOKENS, Record, Usage, flag};
use crate::session::Session;

/// A figure that is there.
pub(super) fn there(tokens: u32) -> Option<u64> {
    (tokens != NO_TOKENS).then_some(u64::from(tokens))
}

/// A usage row by its place in `Facts::usage`: the model that it is said to be of, and what went through.
pub(in crate::metrics) fn response(session: &Session, row: u32) -> (Box<str>, Flows) {
    let Usage { record, tokens } = session.facts.usage[row as usize];
    let [input, output, cache_read, cache_write] = tokens.map(|n| there(n).map(Flow::new));
    let model = model_name(session, model_number(session.record(record)));
    (model, Flows { input, cache_read, cache_write, output })
}

/// Adds the responses of a session up.
pub(super) fn count(session: &Session, agent: &dyn Metering, usage: &mut SessionUsage) {
    let facts = &session.facts;
    choose(session, agent, usage);
    let provider = facts.provider.as_deref().unwrap_or_default();
    let mut rows: Vec<ModelUsage> = Vec::new();
    let mut places: HashMap<u32, usize> = HashMap::new();
    let mut last = (u32::MAX, 0);
    for n in usage.counted.iter() {
        let Usage { record, tokens } = facts.usage[n as usize];
        let model = model_number(session.record(record));
        // Nearly always the model of the response before.
        if last.0 != model {
            let at = *places.entry(model).or_insert_with(|| {
                rows.push(empty(session, agent, model, provider));
                rows.len() - 1
            });
            last = (model, at);
        }
        add(&mut rows[last.1], tokens, facts.cost_of(n as usize));
    }
    usage.rows = rows.into_iter().map(settled).collect();
    usage.rows.sort_by(|a, b| a.model.cmp(&b.model));
    for &Usage { record: number, tokens } in &facts.usage {
        let record = session.record(number);
        if record.has(flag::TOTAL_DIFFERS)
            && let Ok(at) = facts.usage_totals.binary_search_by_key(&number, |(record, _)| *record)
        {
            usage.note_disagreement(total(number, tokens, facts.usage_totals[at].1));
        }
        if record.has(flag::BAD_FIGURE) {
            usage.note_impossible(Impossible {
                record: number,
                field: "usage".to_owned(),
                why: "is no whole number that a response can have",
                fell: None,
            });
        }
    }
}

/// A total that is not the sum of its parts.
fn total(record: u32, tokens: [u32; 4], total: u32) -> Disagreement {
    let ([input, output, read, write], total) = (tokens.map(|t| there(t).unwrap_or(0)), u64::from(total));
    let parts = input + output + read + write;
    Disagreement {
        record,
        what: "usage.totalTokens",
        model: None,
        stored: total as f64,
        parts: parts as f64,
        same_record: true,
        why: match total {
            t if t == input + output => WITHOUT_CACHE,
            t if t < parts => "a sum that is less than its parts",
            _ => "the record does not name all that the total was made of",
        },
    }
}

/// Which rows count: of each response the one with most output, of equals the last.
fn choose(session: &Session, agent: &dyn Metering, usage: &mut SessionUsage) {
    let facts = &session.facts;
    let key_of = |n: u32| agent.response(session.record(facts.usage[n as usize].record)).unwrap_or(0);
    // Four bytes a row and not the keys beside them: a session may have a million rows.
    let mut order: Vec<u32> = Vec::with_capacity(facts.usage.len());
    usage.counted = Rows::none_of(facts.usage.len());
    for (n, row) in (0_u32..).zip(&facts.usage) {
        let record = session.record(row.record);
        let nothing = row.tokens.iter().all(|t| matches!(*t, 0 | NO_TOKENS));
        if record.has(flag::SYNTHETIC) || nothing && record.any(flag::FAILED | flag::API_ERROR) {
            usage.made_up += 1;
            continue;
        }
        match agent.response(record) {
            Some(_) => order.push(n),
            None => usage.counted.insert(n),
        }
    }
    order.sort_unstable_by_key(|n| (key_of(*n), *n));
    for group in order.chunk_by(|a, b| key_of(*a) == key_of(*b)) {
        let first = group[0];
        if group.len() == 1 {
            usage.counted.insert(first);
            continue;
        }
        let best = group.iter().copied().max_by_key(|n| (output(facts, *n), *n)).unwrap_or(first);
        usage.counted.insert(best);
        let same = group.iter().all(|n| facts.usage[*n as usize].tokens == facts.usage[best as usize].tokens);
        let told = if same { &mut usage.repeated } else { &mut usage.growing };
        tell(told, facts, group, best);
    }
}

fn output(facts: &Facts, n: u32) -> u64 {
    there(facts.usage[n as usize].tokens[1]).unwrap_or(0)
}

fn tell(told: &mut Group, facts: &Facts, group: &[u32], best: u32) {
    told.responses += 1;
    told.records += group.len() as u64;
    told.output.0 += group.iter().map(|n| output(facts, *n)).sum::<u64>();
    told.output.1 += output(facts, best);
    let first = group.first().map(|n| facts.usage[*n as usize].record);
    told.first = match (told.first, first) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
}

/// Numbers for what is said to be of no model: what calls inside a tool used, and what summaries did.
const INSIDE_TOOLS: u32 = 1 << 16;
const SUMMARIES: u32 = INSIDE_TOOLS + 1;

/// The model's number in the file's names.
pub(in crate::metrics) fn model_number(record: &Record) -> u32 {
    match record.kind {
        Kind::ToolMessage => INSIDE_TOOLS,
        Kind::Compaction | Kind::BranchSummary => SUMMARIES,
        _ => u32::from(record.model),
    }
}

/// The name for a model's number.
pub(in crate::metrics) fn model_name(session: &Session, model: u32) -> Box<str> {
    let name = match model {
        INSIDE_TOOLS => return "(calls inside tools)".into(),
        SUMMARIES => return "(summaries)".into(),
        n => u16::try_from(n).map(|n| session.facts.names.text(n)).unwrap_or_default(),
    };
    if name.is_empty() { "(not named)".into() } else { name.into() }
}

fn empty(session: &Session, agent: &dyn Metering, model: u32, provider: &str) -> ModelUsage {
    let name = model_name(session, model);
    let definition = agent.input_means(provider, &name);
    ModelUsage {
        model: name,
        source: Source::Messages,
        definition,
        requests: Flow::default(),
        stock: Stocks::default(),
        flow: Flows::default(),
        cost: None,
        discarded: None,
    }
}

fn add(row: &mut ModelUsage, tokens: [u32; 4], cost: Option<u64>) {
    let [input, output, read, write] = tokens.map(there);
    let add = |sum: &mut Option<Flow>, n: Option<u64>| {
        if let Some(n) = n {
            *sum = Some(sum.unwrap_or_default() + Flow::new(n));
        }
    };
    row.requests += Flow::new(1);
    add(&mut row.flow.input, input);
    add(&mut row.flow.output, output);
    add(&mut row.flow.cache_read, read);
    add(&mut row.flow.cache_write, write);
    row.stock.last_input = input.map(Stock::new).or(row.stock.last_input);
    let cached = read.unwrap_or(0) + write.unwrap_or(0);
    let last = match row.definition {
        Definition::WithCache => input.map(|n| if read.unwrap_or(0) > n { n + cached } else { n }),
        _ => input.map(|n| n + cached),
    };
    row.stock.last_prompt = last.map(Stock::new).or(row.stock.last_prompt);
    if let Some(nano) = cost {
        row.cost = Some(row.cost.unwrap_or_default() + Cost::from_nano(nano));
    }
}

/// What can only be told when everything is added up: whether the provider's definition can be true.
pub fn settled(mut row: ModelUsage) -> ModelUsage {
    if row.definition == Definition::WithCache && row.flow.cache_read > row.flow.input {
        row.definition = Definition::Contradicted;
    }
    row
}
