//! sid-code's running totals: `usage_stats`, written after each turn. Some of its figures are of the last call (stock),
//! some are sums since the counting began (flow). Read in sid-code's source (`session/state.ts`):
//!
//! * `inputTokens` and `stockPromptTokens` are overwritten by each call. `cumulativePromptTokens`, the others and the
//!   costs are added up. `cumulativePromptTokens` adds what the provider calls input, so what it is differs, too.
//! * `totalCostUSD` is the sum of the models' costs; side calls are kept apart (`sideCostUSD`) and added only when shown.
//! * A resume takes the last record up again and counts on (before mid-2026 it began anew); `/clear` sets all to 0.
//!
//! So the counting may begin anew, and what stands before that is added. That it did is told by a fall: at the first
//! record of another process, or when the requests themselves fell, or are no more than the responses stored since.
//! Any other fall cannot be.

use std::collections::BTreeMap;

use super::meter::input_means;
use crate::metrics::figure::{Cost, Flow, Mixed, Stock};
use crate::metrics::usage::{
    Definition, Disagreement, FILE_COUNT, Flows, Impossible, MixedFigure, ModelUsage, SessionUsage, Source, Stocks,
    prompt, settled,
};
use crate::record::facts::{Kind, Record, flag};
use crate::record::json::Kind as Json;
use crate::record::read::nano_dollars;
use crate::record::reread;
use crate::record::value::Value;
use crate::session::{Session, Shape};

/// The running totals of one model, in the order of [`RUNNING`].
type Running = [Option<f64>; 7];

/// What only grows as long as the counting goes on.
const RUNNING: [&str; 7] = [
    "requests",
    "cumulativePromptTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
    "discardedRequests",
    "costUSD",
];
const REQUESTS: usize = 0;
const COST: usize = 6;

/// One model in one record.
#[derive(Clone, Debug, Default)]
struct ModelTotals {
    running: Running,
    input: Option<f64>,
    prompt: Option<f64>,
    provider: String,
    /// A number that the record itself calls a rate or a ratio: its name and value.
    rate: Option<(Box<str>, f64)>,
}

/// What is known of a model so far.
#[derive(Debug, Default)]
struct Followed {
    /// Sums of countings that ended.
    ended: Running,
    last: ModelTotals,
    /// Whether the last record names it.
    named: bool,
}

/// One record.
#[derive(Debug, Default)]
struct Snapshot {
    total: Option<f64>,
    side: Option<f64>,
    models: BTreeMap<Box<str>, ModelTotals>,
}

/// Follows the running totals of a session from record to record.
pub(super) fn follow(session: &Session, usage: &mut SessionUsage) {
    let names = &session.facts.names;
    let key = |name: &str| names.find(name.as_bytes());
    let (stats, trace, changes) = (key("usage_stats"), key("trace_session_id"), key("file_changes"));
    let mut follower =
        Follower { models: BTreeMap::new(), responses: 0, resumed: false, last: None, side: (0.0, None) };
    let mut messages = 0_u64;
    for (n, record) in (0_u32..).zip(&session.facts.records) {
        match record.kind {
            Kind::Metadata if record.agent == trace && trace != 0 => follower.resumed = true,
            Kind::Metadata if record.agent == stats && stats != 0 => follower.record(session, n, record, usage),
            Kind::Metadata if record.agent == changes && changes != 0 => file_changes(session, n, record, usage),
            Kind::User | Kind::ToolMessage => messages += 1,
            Kind::Assistant => {
                messages += 1;
                follower.responses += u64::from(record.has(flag::CONTEXT_FIELDS));
            }
            Kind::End => session_end(session, n, record, messages, follower.last.as_ref(), usage),
            _ => {}
        }
    }
    follower.finish(session, usage);
}

/// What sid-code's running totals grew by, at the record that says so. A total that fell began anew: all of it is new.
pub(super) fn spent(session: &Session) -> Vec<(u32, Cost)> {
    let stats = session.facts.names.find(b"usage_stats");
    if session.shape != Shape::Main || stats == 0 {
        return Vec::new();
    }
    // What cannot be is told where the totals are followed.
    let mut told = SessionUsage::default();
    let (mut spent, mut before) = (Vec::new(), BTreeMap::<Box<str>, f64>::new());
    for (n, record) in (0_u32..).zip(&session.facts.records) {
        if record.kind != Kind::Metadata || record.agent != stats {
            continue;
        }
        let Some(snapshot) = read(session, n, record, &mut told) else { continue };
        let now = snapshot.models.into_iter().filter_map(|(name, totals)| Some((name, totals.running[COST]?)));
        let now: BTreeMap<Box<str>, f64> = now.collect();
        let grown = now.iter().map(|(name, cost)| match before.get(name) {
            Some(before) if *before <= cost + 1e-9 => (cost - before).max(0.0),
            _ => *cost,
        });
        if let Some(nano) = nano_dollars(grown.sum()) {
            spent.push((n, Cost::from_nano(nano)));
        }
        before = now;
    }
    spent
}

struct Follower {
    models: BTreeMap<Box<str>, Followed>,
    /// Responses stored since the last record.
    responses: u64,
    /// Whether another process took over since the last record.
    resumed: bool,
    last: Option<(u32, Snapshot)>,
    /// Side costs of countings that ended, and the last one.
    side: (f64, Option<f64>),
}

impl Follower {
    fn record(&mut self, session: &Session, n: u32, record: &Record, usage: &mut SessionUsage) {
        let Some(snapshot) = read(session, n, record, usage) else { return };
        let (responses, resumed) = (std::mem::take(&mut self.responses), std::mem::take(&mut self.resumed));
        let provider = session.facts.provider.as_deref().unwrap_or_default();
        let mut anew = false;
        for (name, totals) in &snapshot.models {
            mixed(n, name, totals, provider, usage);
            let model = self.models.entry(name.clone()).or_default();
            if model.named {
                anew |= model.step(n, name, totals, responses, resumed, usage);
            }
            model.last = totals.clone();
            model.named = true;
        }
        for (name, model) in &mut self.models {
            if model.named && !snapshot.models.contains_key(name) {
                // Only `/clear` takes a model away.
                model.end();
                (model.named, anew) = (false, true);
            }
        }
        if let (Some(before), Some(now)) = (self.side.1, snapshot.side)
            && (now < before || anew)
        {
            self.side.0 += before;
        }
        self.side.1 = snapshot.side.or(self.side.1);
        sums(n, &snapshot, usage);
        self.last = Some((n, snapshot));
    }

    fn finish(self, session: &Session, usage: &mut SessionUsage) {
        let Some((n, _)) = self.last else { return };
        usage.last_snapshot = Some(n);
        let provider = session.facts.provider.as_deref().unwrap_or_default();
        let rows: Vec<ModelUsage> = self.models.into_iter().map(|(name, model)| model.row(name, provider)).collect();
        if self.side.1.is_some() {
            usage.side_cost = nano_dollars(self.side.0 + self.side.1.unwrap_or(0.0)).map(Cost::from_nano);
        }
        if rows.is_empty() {
            // Totals of nothing: the messages know more.
            return;
        }
        usage.beside = std::mem::replace(&mut usage.rows, rows);
        against_messages(n, usage);
    }
}

impl Followed {
    /// From one record to the next. Returns whether the counting began anew.
    fn step(
        &mut self,
        n: u32,
        name: &str,
        now: &ModelTotals,
        responses: u64,
        resumed: bool,
        usage: &mut SessionUsage,
    ) -> bool {
        let fell = |i: usize| match (self.last.running[i], now.running[i]) {
            // Costs are sums of doubles; a last digit is no fall.
            (Some(before), Some(after)) if i == COST => after < before - 1e-9,
            (Some(before), Some(after)) => after < before,
            _ => false,
        };
        let fallen: Vec<usize> = (0..RUNNING.len()).filter(|i| fell(*i)).collect();
        if fallen.is_empty() {
            return false;
        }
        let requests = now.running[REQUESTS];
        let fresh = requests.is_none_or(|after| fell(REQUESTS) || after <= responses as f64);
        if resumed || fresh {
            self.end();
            return true;
        }
        for i in fallen {
            usage.note_impossible(Impossible {
                record: n,
                field: format!("usage_stats.modelUsage.{name}.{}", RUNNING[i]),
                why: "a running total falls, and nothing began anew",
                fell: self.last.running[i].zip(now.running[i]),
            });
        }
        false
    }

    /// A counting ends: its sums are kept.
    fn end(&mut self) {
        for (sum, last) in self.ended.iter_mut().zip(self.last.running) {
            *sum = match (*sum, last) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            };
        }
        self.last.running = Running::default();
    }

    fn row(mut self, model: Box<str>, provider: &str) -> ModelUsage {
        self.end();
        let [requests, input, output, read, write, discarded, cost] = self.ended;
        let flow = |n: Option<f64>| n.map(|n| Flow::new(n as u64));
        let stock = |n: Option<f64>| n.map(|n| Stock::new(n as u64));
        let definition = definition(&self.last, provider, &model);
        settled(ModelUsage {
            model,
            source: Source::Snapshots,
            definition,
            requests: flow(requests).unwrap_or_default(),
            stock: Stocks { last_prompt: stock(self.last.prompt), last_input: stock(self.last.input) },
            flow: Flows { input: flow(input), cache_read: flow(read), cache_write: flow(write), output: flow(output) },
            cost: cost.and_then(nano_dollars).map(Cost::from_nano),
            discarded: flow(discarded),
        })
    }
}

fn definition(totals: &ModelTotals, provider: &str, model: &str) -> Definition {
    let named = if totals.provider.is_empty() { provider } else { &totals.provider };
    input_means(named, model)
}

/// Reads a record's value again from the file, noting figures that cannot be.
fn read(session: &Session, n: u32, record: &Record, usage: &mut SessionUsage) -> Option<Snapshot> {
    let text = reread::text(&session.source, record).ok()?;
    let value = Value::parse(&text)?.get("value").filter(|v| v.kind() == Json::Object)?;
    let mut snapshot = Snapshot::default();
    for (key, value) in value.members() {
        match key.as_bytes() {
            b"totalCostUSD" => snapshot.total = figure(n, "usage_stats.totalCostUSD", &value, usage),
            b"sideCostUSD" => snapshot.side = figure(n, "usage_stats.sideCostUSD", &value, usage),
            b"modelUsage" => {
                for (name, value) in value.members() {
                    snapshot.models.insert(name.lossy().into(), model(n, &name.lossy(), &value, usage));
                }
            }
            _ => {}
        }
    }
    Some(snapshot)
}

fn model(n: u32, name: &str, value: &Value<'_>, usage: &mut SessionUsage) -> ModelTotals {
    let mut totals = ModelTotals::default();
    for (key, value) in value.members() {
        let key = key.lossy();
        let path = || format!("usage_stats.modelUsage.{name}.{key}");
        if let Some(i) = RUNNING.iter().position(|field| *field == key) {
            totals.running[i] = figure(n, &path(), &value, usage);
            continue;
        }
        match key.as_str() {
            "inputTokens" => totals.input = figure(n, &path(), &value, usage),
            "stockPromptTokens" => totals.prompt = figure(n, &path(), &value, usage),
            "provider" => totals.provider = value.string().unwrap_or_default(),
            other => {
                let lower = other.to_ascii_lowercase();
                if lower.contains("rate") || lower.contains("ratio") || lower.contains("percent") {
                    totals.rate = value.number().map(|number| (other.into(), number)).or(totals.rate);
                }
            }
        }
    }
    totals
}

/// A figure as JavaScript reads it. `JSON.stringify` writes what is no number as null.
fn figure(n: u32, path: &str, value: &Value<'_>, usage: &mut SessionUsage) -> Option<f64> {
    let number = value.number().filter(|n| n.is_finite() && *n >= 0.0);
    if number.is_none() {
        let why = match value.number() {
            Some(_) => "is negative or beyond all numbers",
            None => "is no number",
        };
        usage.note_impossible(Impossible { record: n, field: path.to_owned(), why, fell: None });
    }
    number
}

/// Whether a record's figures invite to divide what was read from the cache, a sum, by the last call's input.
fn mixed(n: u32, name: &str, totals: &ModelTotals, provider: &str, usage: &mut SessionUsage) {
    let whole = |n: f64| n as u64;
    let (Some(read), Some(input)) = (totals.running[3].map(whole), totals.input.map(whole)) else { return };
    let Some(wrong) = Mixed::new(Flow::new(read), Stock::new(input)).filter(|_| read > 0) else { return };
    let flow = |i: usize| totals.running[i].map(|n| Flow::new(n as u64));
    let mut row = Flows { input: flow(1), cache_read: flow(3), cache_write: flow(4), output: flow(2) };
    let mut definition = definition(totals, provider, name);
    if definition == Definition::WithCache && row.cache_read > row.input {
        definition = Definition::Contradicted;
    }
    row.cache_read = Some(Flow::new(read));
    let right = prompt(definition, row).and_then(|prompt| Flow::new(read).of(prompt));
    // After one request the sum is the last call's figure, and the division is right by chance.
    if right.is_some_and(|right| (right.value() - wrong.value()).abs() < 5e-4) {
        return;
    }
    let near = |a: f64, b: f64| (a - b).abs() <= 0.01 * b.max(0.01);
    let is_mixed = |rate: f64| near(rate, wrong.value()) || near(rate, 100.0 * wrong.value());
    let stored = totals.rate.as_ref().filter(|(_, rate)| is_mixed(*rate)).map(|(name, _)| name.clone());
    usage.note_mixed(MixedFigure { record: n, model: name.into(), wrong, right, stored });
}

/// The record's own sums.
fn sums(n: u32, snapshot: &Snapshot, usage: &mut SessionUsage) {
    let costs: Vec<f64> = snapshot.models.values().filter_map(|m| m.running[COST]).collect();
    let (Some(total), false) = (snapshot.total, costs.is_empty()) else { return };
    let parts: f64 = costs.iter().sum();
    let side = snapshot.side.unwrap_or(0.0);
    let about = |a: f64, b: f64| match (nano_dollars(a), nano_dollars(b)) {
        (Some(a), Some(b)) => Cost::from_nano(a).is_about(Cost::from_nano(b)),
        _ => a == b,
    };
    if about(total, parts) || about(total, parts + side) {
        return;
    }
    usage.note_disagreement(Disagreement {
        record: n,
        what: "usage_stats.totalCostUSD",
        model: None,
        stored: total,
        parts,
        same_record: true,
        why: if total < parts {
            "a sum that is less than its parts"
        } else {
            "the record does not name all that the total was made of"
        },
    });
}

fn file_changes(session: &Session, n: u32, record: &Record, usage: &mut SessionUsage) {
    let Ok(text) = reread::text(&session.source, record) else { return };
    let Some(value) = Value::parse(&text).and_then(|v| v.get("value")) else { return };
    let files = value.get("files").filter(|files| files.kind() == Json::Array).map(|files| files.items().len());
    let (Some(count), Some(files)) = (value.get("count").and_then(|c| c.number()), files) else { return };
    if count != files as f64 {
        usage.note_disagreement(Disagreement {
            record: n,
            what: FILE_COUNT,
            model: None,
            stored: count,
            parts: files as f64,
            same_record: true,
            why: "the count of a list is not its length",
        });
    }
}

/// The end mark's own totals against what stands before it.
fn session_end(
    session: &Session,
    n: u32,
    record: &Record,
    messages: u64,
    last: Option<&(u32, Snapshot)>,
    usage: &mut SessionUsage,
) {
    let Ok(text) = reread::text(&session.source, record) else { return };
    let Some(value) = Value::parse(&text) else { return };
    if let Some(cost) = value.get("totalCostUSD")
        && let Some(stored) = figure(n, "session_end.totalCostUSD", &cost, usage)
        && let Some((total, side)) = last.and_then(|(_, s)| Some((s.total?, s.side.unwrap_or(0.0))))
        && (stored - total).abs() > 1e-6
        && (stored - total - side).abs() > 1e-6
    {
        usage.note_disagreement(Disagreement {
            record: n,
            what: "session_end.totalCostUSD",
            model: None,
            stored,
            parts: total,
            same_record: false,
            why: "the last usage_stats before it was written at the end of a turn, or the counting began anew",
        });
    }
    if let Some(stored) = value.get("totalMessages").and_then(|m| m.number())
        && stored != messages as f64
    {
        usage.note_disagreement(Disagreement {
            record: n,
            what: "session_end.totalMessages",
            model: None,
            stored,
            parts: messages as f64,
            same_record: false,
            why: "the end mark counts the messages in memory: compacted or cleaned there, the file keeps them all",
        });
    }
}

/// Running totals against the sums of the messages, model by model.
fn against_messages(n: u32, usage: &mut SessionUsage) {
    let mut found = Vec::new();
    for row in &usage.rows {
        let Some(messages) = usage.beside.iter().find(|m| m.model == row.model) else { continue };
        let (stored, parts) = (row.requests.get(), messages.requests.get());
        if stored == parts {
            continue;
        }
        found.push(Disagreement {
            record: n,
            what: "usage_stats.modelUsage.requests",
            model: Some(row.model.clone()),
            stored: stored as f64,
            parts: parts as f64,
            same_record: false,
            why: if stored > parts {
                "requests of subagents and those that were thrown away are in the running totals and in no message"
            } else {
                "messages that were stored after the last running totals, or before the counting began"
            },
        });
    }
    found.into_iter().for_each(|d| usage.note_disagreement(d));
}
