//! The layout of a session as SVG: lanes, marks, a line of text for each. Cut into segments of a few dozen rows, so that
//! paper can break between them. Every mark has a title, takes the keyboard's focus, and says its line and id in text, so
//! nothing is told by colour or shape alone.

use maud::{Markup, html};

use super::lanes::{Ink, Layout, Link, Row};

/// Height of a row, width of a lane.
const ROW: i64 = 22;
const LANE: i64 = 18;
/// Space before the first lane.
const LEFT: i64 = 16;
/// Width of the whole: what a page of paper holds.
const WIDTH: i64 = 1080;
/// How many rows stand in one segment.
const SEGMENT: usize = 20;
/// Columns of the text, from the end of the lanes.
const LINE: i64 = 104;
const TIME: i64 = 120;
const WHAT: i64 = 276;

/// The words beside a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// Its anchor on the page.
    pub(super) anchor: String,
    /// The whole of what is known of it.
    pub(super) title: String,
    /// `12`, `120–156`.
    pub(super) lines: String,
    /// When.
    pub(super) time: String,
    /// What it is.
    pub(super) what: String,
    /// Its id.
    pub(super) id: String,
    /// The findings on it, with the class of their severity.
    pub(super) codes: Vec<(&'static str, &'static str)>,
    /// Whether it is the leaf that the loader takes.
    pub(super) leaf: bool,
}

/// The class of a stretch.
pub(super) fn class(ink: Ink) -> &'static str {
    match ink {
        Ink::Adopted => "adopted",
        Ink::Left => "left",
        Ink::Before => "before",
        Ink::Side => "side",
        Ink::Unreachable => "unreachable",
    }
}

/// The number of segments of a layout.
pub(super) fn segments(layout: &Layout) -> usize {
    layout.rows.len().div_ceil(SEGMENT)
}

/// The rows of one segment.
pub(super) fn rows_of(layout: &Layout, segment: usize) -> std::ops::Range<usize> {
    segment * SEGMENT..((segment + 1) * SEGMENT).min(layout.rows.len())
}

/// Draws one segment; `words` has those of its rows, in order.
pub(super) fn segment(layout: &Layout, segment: usize, words: &[Words]) -> Markup {
    let range = rows_of(layout, segment);
    let height = range.len() as i64 * ROW;
    let text = LEFT + layout.lanes as i64 * LANE;
    let lines: Vec<(Ink, String)> =
        layout.links.iter().filter_map(|link| Some((link.ink, path(layout, link, &range)?))).collect();
    html! {
        svg.segment role="group" aria-label={ "rows " (range.start + 1) " to " (range.end) } width=(WIDTH) height=(height)
            viewBox={ "0 0 " (WIDTH) " " (height) } {
            // What is adopted lies on top where lines cross.
            @for (ink, d) in lines.iter().filter(|(ink, _)| *ink != Ink::Adopted) { path class={ "link " (class(*ink)) } d=(d) {} }
            @for (ink, d) in lines.iter().filter(|(ink, _)| *ink == Ink::Adopted) { path class={ "link " (class(*ink)) } d=(d) {} }
            @for (row, (at, words)) in layout.rows[range.clone()].iter().zip((0..).zip(words)) {
                (self::row(row, at, words, text))
            }
        }
    }
}

fn x_of(lane: usize) -> i64 {
    LEFT + lane as i64 * LANE
}

/// A link as far as it lies in this segment: straight down, and where it changes its lane, bent below its upper row.
fn path(layout: &Layout, link: &Link, range: &std::ops::Range<usize>) -> Option<String> {
    if link.to < range.start || link.from >= range.end {
        return None;
    }
    let y = |row: usize| (row as i64 - range.start as i64) * ROW + ROW / 2;
    let (from, to) = (x_of(layout.rows.get(link.from)?.lane), x_of(layout.rows.get(link.to)?.lane));
    let end = y(link.to).min(range.len() as i64 * ROW);
    if from == to || link.from < range.start {
        return Some(format!("M{to} {}V{end}", y(link.from).max(0)));
    }
    let start = y(link.from);
    let bend = (start + ROW).min(end);
    Some(format!("M{from} {start}C{from} {bend} {to} {start} {to} {bend}V{end}"))
}

fn row(row: &Row, at: i64, words: &Words, text: i64) -> Markup {
    let (top, middle) = (at * ROW, at * ROW + ROW / 2);
    let x = x_of(row.lane);
    let base = middle + 4;
    html! {
        g.row id=(words.anchor) tabindex="0" role="img" aria-label=(words.title) {
            title { (words.title) }
            rect.hit x="1" y=(top + 1) width=(WIDTH - 2) height=(ROW - 2) rx="3" {}
            @if row.boundaries > 0 && row.is_single() {
                line.boundary x1="4" x2=(text + LINE + TIME) y1=(top + 2) y2=(top + 2) {}
            }
            (mark(row, x, middle, words.leaf))
            text.end x=(text + LINE) y=(base) { (words.lines) }
            text.faint x=(text + TIME) y=(base) { (words.time) }
            text x=(text + WHAT) y=(base) {
                tspan { (words.what) }
                @for (code, severity) in &words.codes { tspan class=(severity) dx="10" { (code) } }
            }
            text.faint.mono.end x=(WIDTH - 8) y=(base) { (words.id) }
        }
    }
}

/// The mark itself: a disc for a message, a dot for a row beside it, a lozenge for a boundary, a cross for a line that no
/// loader reads, a pill for several; a broken stub above it where its way up is broken.
pub(super) fn mark(row: &Row, x: i64, y: i64, leaf: bool) -> Markup {
    let class = format!("mark {}{}", class(row.ink), if row.speaks { "" } else { " quiet" });
    html! {
        @if row.breaks > 0 {
            path.wound d={ "M" (x - 5) " " (y - 10) "h10M" (x - 3) " " (y - 7) "h6" } {}
        }
        @if row.records.is_none() {
            (cross(x, y))
        } @else if row.boundaries > 0 && row.is_single() {
            path class=(class) d={ "M" (x) " " (y - 6) "L" (x + 6) " " (y) "L" (x) " " (y + 6) "L" (x - 6) " " (y) "Z" } {}
        } @else if !row.is_single() {
            rect class=(class) x=(x - 4) y=(y - 8) width="8" height="16" rx="4" {}
        } @else if row.speaks {
            circle class=(class) cx=(x) cy=(y) r="5" {}
        } @else {
            circle class=(class) cx=(x) cy=(y) r="3" {}
        }
        @if leaf { circle.ring cx=(x) cy=(y) r="9" {} }
    }
}

fn cross(x: i64, y: i64) -> Markup {
    html! { path.wound d={ "M" (x - 4) " " (y - 4) "l8 8m0 -8l-8 8" } {} }
}
