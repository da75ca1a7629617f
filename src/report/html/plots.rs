//! Plots of figures as SVG. A stock is a dot on a dotted line, a flow a bar from zero; each plot has one kind, one unit and
//! an axis of its own that names both, so that the two are never held against each other. Every mark has a title, takes
//! the keyboard's focus and has its number beside it in text.

use maud::{Markup, html};

use crate::report::format::{counted, number, size};

/// Width of the whole: what a page of paper holds.
const WIDTH: i64 = 1080;
/// Where the plot itself begins, and how wide it is; names stand before it, numbers behind it.
const LEFT: i64 = 330;
const SPAN: i64 = 590;
/// Height of a row, and of the axis below.
const ROW: i64 = 26;
const FOOT: i64 = 40;
/// How many lines an axis has at most.
const TICKS: u64 = 5;

/// What one row of a plot is about.
#[derive(Clone, Debug)]
pub(super) struct Name {
    /// The name as it fits.
    pub(super) short: String,
    /// What it is in full.
    pub(super) full: String,
}

/// What stands there: one number.
#[derive(Clone, Debug)]
pub(super) struct StockRow {
    pub(super) name: Name,
    pub(super) tokens: u64,
}

/// What went through: the prompts by where their tokens came from, and what was generated.
#[derive(Clone, Debug)]
pub(super) struct FlowRow {
    pub(super) name: Name,
    pub(super) fresh: u64,
    pub(super) cache_write: u64,
    pub(super) cache_read: u64,
    pub(super) output: u64,
}

impl FlowRow {
    /// Everything that went in.
    pub(super) fn prompt(&self) -> u64 {
        self.fresh.saturating_add(self.cache_write).saturating_add(self.cache_read)
    }
}

/// Draws stocks in tokens.
pub(super) fn stocks(label: &str, axis: &str, rows: &[StockRow]) -> Markup {
    let most = rows.iter().map(|row| row.tokens).max().unwrap_or(0);
    let height = rows.len() as i64 * ROW;
    let body = html! {
        @for (at, row) in (0..).zip(rows) {
            @let middle = at * ROW + ROW / 2;
            g.row tabindex="0" role="img" aria-label={ (row.name.full) ": " (counted(row.tokens, "token")) " there" } {
                title { (row.name.full) ": " (counted(row.tokens, "token")) " there" }
                (hit(at))
                text.end x=(LEFT - 12) y=(middle + 4) { (row.name.short) }
                line.dotted x1=(LEFT) x2=(LEFT + SPAN) y1=(middle) y2=(middle) {}
                circle.stock cx=(LEFT + along(row.tokens, most)) cy=(middle) r="5.5" {}
                text x=(LEFT + SPAN + 14) y=(middle + 4) { (number(row.tokens)) }
            }
        }
    };
    framed(label, axis, height, &ticks(most, number), &body)
}

/// Draws flows in tokens.
pub(super) fn flows(label: &str, axis: &str, rows: &[FlowRow]) -> Markup {
    let most = rows.iter().map(|row| row.prompt().max(row.output)).max().unwrap_or(0);
    let height = rows.len() as i64 * ROW;
    let body = html! {
        @for (at, row) in (0..).zip(rows) {
            @let top = at * ROW;
            @let said = said(row);
            g.row tabindex="0" role="img" aria-label=(said) {
                title { (said) }
                (hit(at))
                text.end x=(LEFT - 12) y=(top + ROW / 2 + 4) { (row.name.short) }
                @for (class, from, to) in parts(row) {
                    rect class={ "flow " (class) } x=(LEFT + along(from, most)) y=(top + 4) width=(wide(from, to, most)) height="11" {}
                }
                rect.flow.output x=(LEFT) y=(top + 17) width=(wide(0, row.output, most)) height="5" {}
                text x=(LEFT + SPAN + 14) y=(top + ROW / 2 + 4) { (number(row.prompt())) " in, " (number(row.output)) " out" }
            }
        }
    };
    framed(label, axis, height, &ticks(most, number), &body)
}

/// Draws how the sizes of files are spread: `sizes` has them at each twentieth of the files, from the smallest to the
/// largest. Sizes lie orders apart, so each line of the axis is twice or more of the one before it.
pub(super) fn sizes(label: &str, axis: &str, sizes: &[(usize, u64)]) -> Markup {
    const HEIGHT: i64 = 180;
    let power = |n: u64| i64::from(n.max(1).ilog2());
    let low = sizes.first().map_or(0, |&(_, n)| power(n));
    let high = sizes.last().map_or(0, |&(_, n)| power(n)) + 1;
    let x = |n: u64| {
        let exponent = (n.max(1) as f64).log2() - low as f64;
        (exponent / (high - low).max(1) as f64 * SPAN as f64) as i64
    };
    let step = usize::try_from((high - low).div_euclid(TICKS as i64).max(1)).unwrap_or(1);
    let marks: Vec<(i64, String)> = (low..=high)
        .step_by(step)
        .map(|power| (x(1_u64 << power.clamp(0, 62)), size(1_u64 << power.clamp(0, 62))))
        .collect();
    let body = html! {
        @for percent in [0, 50, 100] {
            @let y = height_of(percent, HEIGHT);
            line.dotted x1=(LEFT) x2=(LEFT + SPAN) y1=(y) y2=(y) {}
            text.end.faint x=(LEFT - 12) y=(y + 4) { (share(percent)) }
        }
        @for &(percent, bytes) in sizes {
            g.row tabindex="0" role="img" aria-label={ (share(percent)) ": " (size(bytes)) } {
                title { (share(percent)) ": " (size(bytes)) }
                circle.stock cx=(LEFT + x(bytes)) cy=(height_of(percent, HEIGHT)) r="4.5" {}
            }
        }
    };
    framed(label, axis, HEIGHT, &marks, &body)
}

fn height_of(percent: usize, height: i64) -> i64 {
    let percent = i64::try_from(percent.min(100)).unwrap_or(100);
    8 + (height - 16) * (100 - percent) / 100
}

fn share(percent: usize) -> String {
    match percent {
        0 => "the smallest file".to_owned(),
        100 => "the largest file".to_owned(),
        n => format!("{n} % of the files are no larger"),
    }
}

/// The shape that stands for a stock in a legend.
pub(super) fn stock_sample() -> Markup {
    html! { svg width="32" height="12" aria-hidden="true" { line.dotted x1="0" x2="32" y1="6" y2="6" {} circle.stock cx="16" cy="6" r="5.5" {} } }
}

/// The shape that stands for a part of a flow.
pub(super) fn flow_sample(class: &str) -> Markup {
    let (y, height) = if class == "output" { (4, 5) } else { (1, 11) };
    html! { svg width="32" height="12" aria-hidden="true" { rect class={ "flow " (class) } x="0" y=(y) width="32" height=(height) {} } }
}

/// The axis with its words, and the rows above it.
fn framed(label: &str, axis: &str, height: i64, ticks: &[(i64, String)], body: &Markup) -> Markup {
    html! {
        svg role="group" aria-label=(label) width=(WIDTH) height=(height + FOOT) viewBox={ "0 0 " (WIDTH) " " (height + FOOT) } {
            @for (x, words) in ticks {
                line.axis x1=(LEFT + x) x2=(LEFT + x) y1="0" y2=(height + 4) {}
                text.faint.middle x=(LEFT + x) y=(height + 18) { (words) }
            }
            (body)
            text.middle x=(LEFT + SPAN / 2) y=(height + 35) { (axis) }
        }
    }
}

fn hit(at: i64) -> Markup {
    html! { rect.hit x="1" y=(at * ROW + 1) width=(WIDTH - 2) height=(ROW - 2) rx="3" {} }
}

/// Where a number stands on an axis from 0 to `most`.
fn along(n: u64, most: u64) -> i64 {
    let top = ticks_top(most);
    i64::try_from(u128::from(n) * SPAN as u128 / u128::from(top)).unwrap_or(SPAN).min(SPAN)
}

/// The width of a part of a bar; what is there at all can be seen.
fn wide(from: u64, to: u64, most: u64) -> i64 {
    (along(to, most) - along(from, most)).max(i64::from(to > from))
}

/// The step between two lines of an axis: 1, 2 or 5 and noughts.
fn step(most: u64) -> u64 {
    let mut unit = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let step = unit.saturating_mul(factor);
            if most.div_ceil(step) <= TICKS || step == u64::MAX {
                return step;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

fn ticks_top(most: u64) -> u64 {
    let step = step(most);
    most.div_ceil(step).max(1).saturating_mul(step)
}

fn ticks(most: u64, words: impl Fn(u64) -> String) -> Vec<(i64, String)> {
    let step = step(most);
    (0..=most.div_ceil(step).max(1)).map(|n| n.saturating_mul(step)).map(|n| (along(n, most), words(n))).collect()
}

fn parts(row: &FlowRow) -> [(&'static str, u64, u64); 3] {
    let written = row.fresh.saturating_add(row.cache_write);
    [("fresh", 0, row.fresh), ("cache-write", row.fresh, written), ("cache-read", written, row.prompt())]
}

fn said(row: &FlowRow) -> String {
    format!(
        "{}: {} went in ({} fresh, {} written to the cache, {} read from it), {} came out",
        row.name.full,
        counted(row.prompt(), "token"),
        number(row.fresh),
        number(row.cache_write),
        number(row.cache_read),
        number(row.output)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_few_round_lines_and_holds_every_number() {
        for most in [0, 1, 4, 5, 6, 99, 1299, 1_000_000, 7_654_321, u64::MAX / 3, u64::MAX] {
            let ticks = ticks(most, number);
            assert!((2..=6).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!(ticks.iter().zip(&ticks[1..]).all(|(a, b)| a.0 < b.0), "{most}: {ticks:?}");
            assert!(along(most, most) <= SPAN && ticks_top(most) >= most);
        }
        assert_eq!((step(1299), ticks_top(1299), step(6), step(5)), (500, 1500, 2, 1));
    }

    #[test]
    fn the_parts_of_a_bar_are_the_prompt() {
        let name = Name { short: "a".into(), full: "b".into() };
        let row = FlowRow { name, fresh: 3, cache_write: 4, cache_read: 5, output: 99 };
        assert_eq!(parts(&row), [("fresh", 0, 3), ("cache-write", 3, 7), ("cache-read", 7, 12)]);
        assert_eq!(row.prompt(), 12);
    }
}
