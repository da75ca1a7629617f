//! Usage on a page: by model, then the sessions that used most. A stock stands under CONTEXT, everything else is a flow.

use std::collections::BTreeMap;
use std::io;

use super::format::{amount, counted, dollars, number, paragraph};
use super::metrics_json::{path_of, session_id};
use super::out::Out;
use super::style::{Style, dim, plain, strong};
use super::table::{Grid, keep_start};
use crate::audit::measure::{Measured, PlacedDisagreement};
use crate::metrics::figure::{Cost, Flow, Stock};
use crate::metrics::usage::ModelUsage;

/// So many sessions are listed unless all are.
const SESSIONS: usize = 10;
/// So many models are listed unless all are.
const MODELS: usize = 20;

/// Prints the part.
///
/// # Errors
/// I/O errors.
pub fn part(out: &mut Out, measured: &Measured, all: bool) -> io::Result<()> {
    let rows = measured.usage.rows();
    out.gap()?;
    out.line([strong("Usage"), dim("  tokens; each response counted once")])?;
    if rows.is_empty() {
        return out.text("  none is stored");
    }
    models(out, measured, &rows, all)?;
    notes(out, measured, &rows)?;
    sessions(out, measured, all)?;
    stored(out, measured)
}

fn flow(n: Option<Flow>) -> String {
    n.map_or("-".to_owned(), |n| amount(n.get()))
}

fn stock(n: Option<Stock>) -> String {
    n.map_or("-".to_owned(), |n| amount(n.get()))
}

/// Requests, context, prompt, hit rate, output, cost.
fn figures(row: &ModelUsage) -> [String; 6] {
    [
        number(row.requests.get()),
        stock(row.stock.last_prompt),
        flow(row.prompt()),
        row.cache_hit().map_or("-".to_owned(), |hit| hit.percent()),
        flow(row.flow.output),
        row.cost.map_or("-".to_owned(), dollars),
    ]
}

fn models(out: &mut Out, measured: &Measured, rows: &[(ModelUsage, u64)], all: bool) -> io::Result<()> {
    let headings = ["REQ", "CONTEXT", "PROMPT", "HIT", "OUTPUT", "COST", "SESSIONS", "MODEL"];
    let mut grid = Grid::new(&headings).right(&[0, 1, 2, 3, 4, 5, 6]);
    let shown = if all { rows.len() } else { MODELS.min(rows.len()) };
    for (row, sessions) in rows.iter().take(shown) {
        // Sums of responses and running totals of one model are not of the same sessions, and stand apart.
        let twice = rows.iter().filter(|(other, _)| other.model == row.model).count() > 1;
        let name = if twice { format!("{} ({})", row.model, row.source.name()) } else { row.model.to_string() };
        grid.row(Style::Plain, figures(row).into_iter().chain([number(*sessions), name]));
    }
    if rows.len() > 1 {
        let total = measured.usage.total();
        let hit = total.cache_read.of(total.prompt).map_or("-".to_owned(), |hit| hit.percent());
        let cells = [
            number(total.requests.get()),
            amount(total.last_prompt.get()),
            amount(total.prompt.get()),
            hit,
            amount(total.output.get()),
            total.cost.map_or("-".to_owned(), dollars),
            String::new(),
            "(all)".to_owned(),
        ];
        grid.row(Style::Strong, cells);
    }
    grid.print(out, |_, _| Ok(()))?;
    if shown < rows.len() {
        out.line([dim(format!("  and {}; --verbose lists them", counted((rows.len() - shown) as u64, "more model")))])?;
    }
    Ok(())
}

/// What the figures mean, where providers and sources differ.
fn notes(out: &mut Out, measured: &Measured, rows: &[(ModelUsage, u64)]) -> io::Result<()> {
    let text = "REQ are requests. CONTEXT is a stock: the last request's prompt of each session, added up. All else is \
                flow; HIT is what came from the cache of all prompts.";
    paragraph(out, vec![dim("  ")], 2, text)?;
    for (what, name) in [
        ("input", &(|row: &ModelUsage| row.definition.name()) as &dyn Fn(&ModelUsage) -> &'static str),
        ("from", &|row: &ModelUsage| row.source.name()),
    ] {
        let mut models: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        rows.iter().for_each(|(row, _)| models.entry(name(row)).or_default().push(&row.model));
        let mut sorts: Vec<(&str, Vec<&str>)> = models.into_iter().collect();
        sorts.sort_by_key(|(_, models)| std::cmp::Reverse(models.len()));
        for (name, mut models) in sorts {
            models.dedup();
            let named = models.iter().take(6).copied().collect::<Vec<_>>().join(", ");
            let more = models.len().saturating_sub(6) as u64;
            let more = if more > 0 { format!(" and {}", number(more)) } else { String::new() };
            let name = if what == "from" { format!("counted from {name}") } else { name.to_owned() };
            paragraph(out, vec![dim("  ")], 4, &format!("{name}: {named}{more}"))?;
        }
    }
    let usage = &measured.usage;
    let beside = [
        (usage.copied, "copies of responses in other files, not counted again"),
        (usage.made_up, "rows that the client made up, no requests"),
    ];
    for (n, what) in beside.into_iter().filter(|(n, _)| *n > 0) {
        out.line([dim(format!("  {} {what}", number(n)))])?;
    }
    if let Some(side) = usage.side_cost {
        out.line([dim(format!("  {} more for side calls (titles, summaries), in no row", dollars(side)))])?;
    }
    Ok(())
}

fn sessions(out: &mut Out, measured: &Measured, all: bool) -> io::Result<()> {
    let mut rows: Vec<ModelUsage> = Vec::new();
    let mut order: Vec<(usize, u32)> = Vec::new();
    for row in &measured.rows {
        order.push((rows.len(), row.file));
        rows.push(row.usage(measured.usage.model(row.model)));
    }
    if order.len() < 2 {
        return Ok(());
    }
    // Money first, then tokens: what a person asks for who opens such a page.
    let weight = |n: usize| {
        let row = &rows[n];
        (row.cost.map_or(0, Cost::nano), row.prompt().map(Flow::get), row.flow.output.map(Flow::get))
    };
    order.sort_by(|(a, _), (b, _)| weight(*b).cmp(&weight(*a)).then(a.cmp(b)));
    let shown = if all { order.len() } else { SESSIONS.min(order.len()) };
    out.gap()?;
    out.line([strong(if shown < order.len() { "The sessions that used most" } else { "Sessions" })])?;
    let headings = ["REQ", "CONTEXT", "PROMPT", "HIT", "OUTPUT", "COST", "MODEL", "SESSION"];
    let mut grid = Grid::new(&headings).right(&[0, 1, 2, 3, 4, 5]);
    let model_width = if out.width() < 100 { 10 } else { 24 };
    for (n, file) in order.iter().take(shown) {
        let Some(row) = rows.get(*n) else { continue };
        let entry = measured.discovery.files.get(*file as usize);
        let session = entry.map(|entry| session_id(entry, &path_of(&measured.discovery, *file))).unwrap_or_default();
        grid.row(Style::Plain, figures(row).into_iter().chain([keep_start(&row.model, model_width), session]));
    }
    grid.print(out, |_, _| Ok(()))?;
    if shown < order.len() {
        let more = counted((order.len() - shown) as u64, "more row");
        out.line([dim(format!("  and {more} of a session and a model; --verbose lists them"))])?;
    }
    Ok(())
}

/// Stored totals that are not the sum of their parts: once for each reason.
fn stored(out: &mut Out, measured: &Measured) -> io::Result<()> {
    let mut reasons: BTreeMap<(&str, &str), Vec<&PlacedDisagreement>> = BTreeMap::new();
    for found in &measured.disagreements {
        reasons.entry((found.2.what, found.2.why)).or_default().push(found);
    }
    if reasons.is_empty() {
        return Ok(());
    }
    out.gap()?;
    out.line([strong("Stored totals that differ from their parts")])?;
    for ((what, why), all) in reasons {
        let [(file, line, first), ..] = all.as_slice() else { continue };
        let path = path_of(&measured.discovery, *file);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let text = format!("{what}: {} stored, {} counted at {name}:{line}", first.stored, first.parts);
        paragraph(out, vec![plain(format!("  {:>6}  ", number(all.len() as u64)))], 10, &text)?;
        paragraph(out, vec![dim("          ")], 10, why)?;
    }
    if measured.more_disagreements > 0 {
        out.line([dim(format!("  and {} more, not told apart", number(measured.more_disagreements)))])?;
    }
    Ok(())
}
