//! The figures of a store as a page: what is there, what went through, and both again in numbers. The two are apart in
//! shape, place and unit (see `plots`); the JSON has every figure.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::PathBuf;

use maud::{Markup, html};

use super::chain::SCRIPT;
use super::plots::{self, FlowRow, Name, StockRow};
use super::{Page, nothing};
use crate::audit::measure::Measured;
use crate::metrics::figure::{Flow, Stock};
use crate::metrics::usage::ModelUsage;
use crate::report::format::{counted, number, size};
use crate::report::scan_table::{short, versions};

/// How many rows a plot has.
const ROWS: usize = 30;
/// How many rows of other lists.
const LISTED: usize = 200;

/// Writes the page.
///
/// # Errors
/// Whatever the writer says.
pub fn page(out: impl Write, measured: &Measured, taken_at: i64) -> io::Result<()> {
    let mut page = Page::begin(out, "Session metrics", SCRIPT)?;
    let sessions: Vec<(PathBuf, ModelUsage)> = measured.rows.iter().map(|row| session(measured, row)).collect();
    let store = measured.usage.rows();
    page.put(head(measured))?;
    page.raw("<div id=\"rows\">\n")?;
    page.put(stock(measured, &sessions))?;
    page.put(flow(&store, &sessions))?;
    page.raw("</div>\n")?;
    page.put(usage(&store))?;
    page.put(records(measured))?;
    page.put(unread(measured))?;
    page.end(taken_at)
}

fn session(measured: &Measured, row: &crate::audit::measure::UsageRow) -> (PathBuf, ModelUsage) {
    let discovery = &measured.discovery;
    let path = discovery.files.get(row.file as usize).map(|file| discovery.path(file)).unwrap_or_default();
    (path, row.usage(measured.usage.model(row.model)))
}

fn head(measured: &Measured) -> Markup {
    html! {
        header {
            p.kicker { "Session metrics" }
            h1 {
                (counted(measured.sizes.files(), "session file")) ", "
                (counted(measured.records.tally.records, "record")) ", " (size(measured.sizes.total()))
            }
            ul.roots {
                @for (n, root) in (0..).zip(&measured.discovery.roots).take(LISTED) {
                    li {
                        code.path { (root.path.display()) } " "
                        @if let Some(agent_id) = root.agent_id {
                            span.dim { (agent_id.agent()) (versions(measured.versions.get(&n))) }
                        }
                        @for note in &root.notes { p.note { (note) } }
                    }
                }
            }
            @if measured.interrupted {
                p.notice { "Interrupted: not every file was read; the figures are of the rest." }
            }
        }
    }
}

fn stock(measured: &Measured, sessions: &[(PathBuf, ModelUsage)]) -> Markup {
    let sizes: Vec<(usize, u64)> =
        (0..=100).step_by(5).filter_map(|percent| Some((percent, at(measured, percent)?))).collect();
    let mut rows: Vec<StockRow> = sessions
        .iter()
        .filter_map(|(path, usage)| {
            let tokens = usage.stock.last_prompt.map(Stock::get)?;
            Some(StockRow { name: name(path, &usage.model), tokens })
        })
        .collect();
    rows.sort_by_key(|row| Reverse(row.tokens));
    let left = rows.len().saturating_sub(ROWS);
    rows.truncate(ROWS);
    html! {
        section.stock {
            h2 { "Stock: what is there at one moment" }
            ul.legend { li { (plots::stock_sample()) "a dot: the amount at that moment, which tells nothing of how much went through" } }
            @if !sizes.is_empty() {
                figure {
                    div.wide tabindex="0" role="group" aria-label="Sizes of session files" {
                        (plots::sizes("sizes of session files", "bytes on the disk, each line of the axis a multiple of the one before", &sizes))
                    }
                    figcaption {
                        "How large session files are: each dot is a share of the files and the size that they do not pass. "
                        "Half of them are no larger than " (size(at(measured, 50).unwrap_or(0))) ", the largest is "
                        (size(measured.sizes.max().unwrap_or(0))) "."
                    }
                }
            }
            @if !rows.is_empty() {
                figure {
                    div.wide tabindex="0" role="group" aria-label="Prompts that stand in the context window" {
                        (plots::stocks("the last prompt of each session", "tokens in the context window at the last request", &rows))
                    }
                    figcaption {
                        "What the model had before it when it was asked last, by session, the largest first."
                        (and_more(left))
                    }
                }
            }
        }
    }
}

/// The size that so many hundredths of the files do not pass: the smallest at 0, the largest at 100.
fn at(measured: &Measured, percent: usize) -> Option<u64> {
    if percent == 100 { measured.sizes.max() } else { measured.sizes.quantile(percent) }
}

fn flow(store: &[(ModelUsage, u64)], sessions: &[(PathBuf, ModelUsage)]) -> Markup {
    let mut models: Vec<FlowRow> = store.iter().filter_map(|(usage, _)| bar(model_name(usage), usage)).collect();
    let mut rows: Vec<FlowRow> =
        sessions.iter().filter_map(|(path, usage)| bar(name(path, &usage.model), usage)).collect();
    let mut left = [0; 2];
    for (rows, left) in [&mut models, &mut rows].into_iter().zip(&mut left) {
        rows.sort_by_key(|row| Reverse(row.prompt()));
        *left = rows.len().saturating_sub(ROWS);
        rows.truncate(ROWS);
    }
    if models.is_empty() {
        return nothing();
    }
    html! {
        section.flows {
            h2 { "Flow: what went through, all requests together" }
            ul.legend {
                li { (plots::flow_sample("fresh")) "prompt, fresh" }
                li { (plots::flow_sample("cache-write")) "prompt, written to the cache" }
                li { (plots::flow_sample("cache-read")) "prompt, read from the cache" }
                li { (plots::flow_sample("output")) "output" }
            }
            figure {
                div.wide tabindex="0" role="group" aria-label="Tokens by model" {
                    (plots::flows("tokens by model", "tokens that went through, summed over all requests", &models))
                }
                figcaption {
                    "By model; a response that several files hold is counted once." (and_more(left[0]))
                }
            }
            @if !rows.is_empty() {
                figure {
                    div.wide tabindex="0" role="group" aria-label="Tokens by session" {
                        (plots::flows("tokens by session", "tokens that went through, summed over the session's requests", &rows))
                    }
                    figcaption {
                        "By session, the most first; what a session copied from another is counted in both."
                        (and_more(left[1]))
                    }
                }
            }
        }
    }
}

fn and_more(left: usize) -> String {
    match left {
        0 => String::new(),
        n => format!(" And {} more, none of them larger; --format json lists each.", number(n as u64)),
    }
}

fn name(path: &std::path::Path, model: &str) -> Name {
    Name { short: short(path), full: format!("{} ({model})", path.display()) }
}

fn model_name(usage: &ModelUsage) -> Name {
    const LONGEST: usize = 40;
    let mut short: String = usage.model.chars().take(LONGEST).collect();
    if usage.model.chars().nth(LONGEST).is_some() {
        short.push('…');
    }
    Name { short, full: usage.model.to_string() }
}

/// The bar of a row: what of the prompts is neither read from nor written to the cache is fresh, whatever the provider
/// calls input.
fn bar(name: Name, usage: &ModelUsage) -> Option<FlowRow> {
    let flow = |n: Option<Flow>| n.map_or(0, Flow::get);
    let (read, write) = (flow(usage.flow.cache_read), flow(usage.flow.cache_write));
    let (prompt, output) = (usage.prompt().map(Flow::get), usage.flow.output.map(Flow::get));
    if prompt.is_none() && output.is_none() {
        return None;
    }
    let fresh = prompt.unwrap_or(0).saturating_sub(read.saturating_add(write));
    Some(FlowRow { name, fresh, cache_write: write, cache_read: read, output: output.unwrap_or(0) })
}

fn usage(store: &[(ModelUsage, u64)]) -> Markup {
    let stock = |n: Option<Stock>| n.map_or_else(|| "–".to_owned(), |n| number(n.get()));
    let flow = |n: Option<Flow>| n.map_or_else(|| "–".to_owned(), |n| number(n.get()));
    html! {
        @if !store.is_empty() {
            h2 { "Usage by model" }
            div.wide tabindex="0" role="group" aria-label="Usage by model" {
                table.usage {
                    caption { "Tokens. A dash: the format has no such figure." }
                    thead {
                        tr {
                            th colspan="3" {}
                            th.num scope="colgroup" { "Stock" }
                            th.num scope="colgroup" colspan="6" { "Flow" }
                        }
                        tr {
                            th scope="col" { "Model" } th.num scope="col" { "Sessions" } th.num scope="col" { "Requests" }
                            th.num scope="col" { "Last prompts" }
                            th.num scope="col" { "Prompts" } th.num scope="col" { "Input" } th.num scope="col" { "Cache read" }
                            th.num scope="col" { "Cache write" } th.num scope="col" { "Output" } th.num scope="col" { "From cache" }
                        }
                    }
                    tbody {
                        @for (row, sessions) in store.iter().take(LISTED) {
                            tr {
                                th scope="row" {
                                    code { (row.model) }
                                    span.meta { (row.definition.name()) ", from " (row.source.name())
                                        @if let Some(cost) = row.cost.filter(|cost| cost.nano() > 0) { ", $" (format!("{:.4}", cost.dollars())) " as stored" }
                                    }
                                }
                                td.num { (number(*sessions)) } td.num { (number(row.requests.get())) }
                                td.num { (stock(row.stock.last_prompt)) }
                                td.num { (flow(row.prompt())) } td.num { (flow(row.flow.input)) }
                                td.num { (flow(row.flow.cache_read)) } td.num { (flow(row.flow.cache_write)) }
                                td.num { (flow(row.flow.output)) }
                                td.num {
                                    @match row.cache_hit() {
                                        Some(ratio) => span title={ (number(ratio.numerator)) " of " (number(ratio.denominator)) } { (ratio.percent()) },
                                        None => "–",
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if store.len() > LISTED { p.note { "and " (counted((store.len() - LISTED) as u64, "row")) " more." } }
        }
    }
}

fn records(measured: &Measured) -> Markup {
    let tally = &measured.records.tally;
    let users = &tally.users;
    let mut types: Vec<(&str, u64)> = tally.types.named.iter().map(|(name, n)| (&**name, *n)).collect();
    types.sort_by_key(|&(name, n)| (Reverse(n), name));
    let more = types.len().saturating_sub(LISTED) as u64;
    html! {
        @if !types.is_empty() {
            h2 { "Records" }
            p {
                "In the user's place: " b { (number(users.prompts)) } " typed, " b { (number(users.tool_results)) }
                " of tool results, " b { (number(users.mixed)) } " of both, " b { (number(users.not_typed)) }
                " that the agent wrote."
            }
            @if let Some(ends) = measured.records.ends {
                p {
                    (counted(ends.with, "session")) " of sid-code with an end mark, in " (number(ends.last_line))
                    " of them on the last line; " (number(ends.without)) " without."
                }
            }
            @if let Some(found) = &measured.checkpoints {
                p {
                    (number(found.indexes)) (if found.indexes == 1 { " checkpoint index" } else { " checkpoint indexes" }) ", " (size(found.bytes)) ", "
                    (counted(found.snapshots, "snapshot")) ", the most in one " (number(found.largest)) "."
                }
            }
            details open {
                summary { "Records by type" }
                table {
                    thead { tr { th scope="col" { "Type" } th.num scope="col" { "Records" } } }
                    tbody {
                        @for (name, n) in types.iter().take(LISTED) {
                            tr { th scope="row" { code { (name) } } td.num { (number(*n)) } }
                        }
                    }
                }
                @if more > 0 { p.note { "and " (counted(more, "type")) " more." } }
            }
        }
    }
}

fn unread(measured: &Measured) -> Markup {
    let all = || measured.errors.iter().chain(&measured.defects);
    let more = all().count().saturating_sub(LISTED) as u64;
    html! {
        @if all().count() > 0 {
            h2 { "Not read" }
            ul.plain {
                @for (path, why) in all().take(LISTED) {
                    li { code.path { (path.display()) } ": " (why) }
                }
            }
            @if more > 0 { p.note { "and " (counted(more, "file")) " more." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::usage::{Definition, Flows, Source, Stocks};

    fn used(definition: Definition) -> ModelUsage {
        let flow = |n| Some(Flow::new(n));
        ModelUsage {
            model: "m".into(),
            source: Source::Messages,
            definition,
            requests: Flow::new(2),
            stock: Stocks::default(),
            flow: Flows { input: flow(100), cache_read: flow(60), cache_write: flow(10), output: flow(5) },
            cost: None,
            discarded: None,
        }
    }

    #[test]
    fn fresh_is_what_the_cache_has_no_part_in_whatever_input_means() {
        let fresh = |definition| {
            let usage = used(definition);
            let bar = bar(model_name(&usage), &usage).unwrap();
            (bar.fresh, bar.prompt())
        };
        assert_eq!(fresh(Definition::WithoutCache), (100, 170));
        assert_eq!(fresh(Definition::WithCache), (30, 100));
    }
}
