//! The turns of one session as a page.

use std::io;

use super::format::{amount, counted, dollars, moment, number, paragraph};
use super::out::Out;
use super::style::{Style, dim, plain, strong};
use super::table::{Grid, keep_start};
use crate::metrics::figure::{Cost, Flow, Stock};
use crate::metrics::turns::{By, ModelChange, Stretch, Turn, Turns};

/// So many turns are listed unless all are: the first and the last, and those that something is said of.
const LISTED: usize = 40;

/// Prints the part.
///
/// # Errors
/// I/O errors.
pub fn part(out: &mut Out, turns: &Turns, all: bool) -> io::Result<()> {
    out.gap()?;
    out.line([strong("Turns"), dim("  a prompt and all its responses, in the order of the file")])?;
    if turns.turns.is_empty() {
        return out.text("  nobody was answered");
    }
    said(out, turns)?;
    out.gap()?;
    let wide = out.width() >= 100;
    let headings = ["TURN", "LINE", "ASKED", "REQ", "CONTEXT", "PROMPT", "HIT", "OUTPUT", "COST", "MODEL"];
    let mut grid = Grid::new(&headings).right(&[0, 1, 3, 4, 5, 6, 7, 8]);
    let skipped = turns.turns.len().saturating_sub(LISTED);
    let mut hidden = 0;
    for (n, turn) in turns.turns.iter().enumerate() {
        let told = turns.dearest.is_some_and(|(at, _)| at == n)
            || turns.first_cached == Some(n)
            || turns.changes.iter().any(|change| change.turn == n || change.turn == n + 1);
        if !all && skipped > 0 && n >= LISTED / 2 && n < turns.turns.len() - LISTED / 2 && !told {
            hidden += 1;
            continue;
        }
        grid.row(if told { Style::Strong } else { Style::Plain }, row(n, turn, wide));
    }
    grid.print(out, |_, _| Ok(()))?;
    if hidden > 0 {
        out.line([dim(format!("  {} in between; --verbose lists them", counted(hidden, "turn")))])?;
    }
    Ok(())
}

fn row(n: usize, turn: &Turn, wide: bool) -> [String; 10] {
    let flow = |n: Option<Flow>| n.map_or("-".to_owned(), |n| amount(n.get()));
    let asked = turn.time.map(moment).unwrap_or_default();
    let asked = if wide { asked } else { asked.get(11..).unwrap_or_default().to_owned() };
    let model = turn.models.iter().map(|model| &**model).collect::<Vec<_>>().join(", ");
    [
        number(n as u64 + 1),
        turn.line.map_or("-".to_owned(), |line| line.to_string()),
        asked,
        number(turn.requests.get()),
        turn.last_prompt.map_or("-".to_owned(), |n: Stock| amount(n.get())),
        flow(turn.prompt),
        turn.cache_hit().map_or("-".to_owned(), |hit| hit.percent()),
        flow(turn.flow.output),
        turn.cost.map_or("-".to_owned(), dollars),
        keep_start(&model, if wide { 40 } else { 14 }),
    ]
}

fn said(out: &mut Out, turns: &Turns) -> io::Result<()> {
    let line = |n: usize| {
        let turn = turns.turns.get(n);
        let at = turn.and_then(|turn| turn.line).map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("{}{at}", number(n as u64 + 1))
    };
    if let Some((n, by)) = turns.dearest
        && let Some(turn) = turns.turns.get(n)
    {
        let text = match (by, turn.cost) {
            (By::Cost, Some(cost)) if turn.cost_of > 1 => {
                format!("{}: {} for {}", line(n), dollars(cost), counted(turn.cost_of.into(), "turn"))
            }
            (By::Cost, Some(cost)) => format!("{}: {}", line(n), dollars(cost)),
            _ => format!(
                "{}: {} tokens of prompt, {} of output; {}",
                line(n),
                amount(turn.prompt.map_or(0, Flow::get)),
                amount(turn.flow.output.map_or(0, Flow::get)),
                if turn.cost.is_some() { "each cost that is stored is 0" } else { "no cost is stored" }
            ),
        };
        paragraph(out, vec![plain("  dearest turn       ")], 21, &text)?;
    }
    let cached = match turns.first_cached {
        Some(n) => {
            let hit = turns.turns.get(n).and_then(Turn::cache_hit).map(|hit| format!(": {}", hit.percent()));
            format!("{}{} of its prompts came from the cache", line(n), hit.unwrap_or_default())
        }
        None => "none: nothing ever came from the cache".to_owned(),
    };
    paragraph(out, vec![plain("  first cached turn  ")], 21, &cached)?;
    if turns.changes.is_empty() {
        return paragraph(out, vec![plain("  model changes      ")], 21, "none");
    }
    turns.changes.iter().try_for_each(|change| one_change(out, change, &line(change.turn)))
}

fn one_change(out: &mut Out, change: &ModelChange, at: &str) -> io::Result<()> {
    let (before, after) = (&change.before, &change.after);
    let text = format!("{} to {} at turn {at}", before.model, after.model);
    paragraph(out, vec![plain("  model change       ")], 21, &text)?;
    for (word, stretch) in [("before", before), ("after", after)] {
        paragraph(out, vec![dim(format!("                     {word:<7} "))], 29, &spent(stretch))?;
    }
    Ok(())
}

fn spent(stretch: &Stretch) -> String {
    let cost = match (stretch.cost, stretch.cost_a_request()) {
        (Some(cost), Some(each)) => {
            format!("{}, {} a request", dollars(cost), dollars(Cost::from_nano((each * 1e9).round() as u64)))
        }
        (Some(cost), None) => dollars(cost),
        _ => "no cost stored".to_owned(),
    };
    let hit = stretch.cache_hit().map(|hit| format!(", {} from the cache", hit.percent())).unwrap_or_default();
    format!("{cost}: {}, {}{hit}", counted(stretch.turns, "turn"), counted(stretch.requests.get(), "request"))
}
