//! The drawing of a session with its words: which line, when, what, which id, which findings. Records are read again for
//! the rows that are shown, never for those that are folded.

use std::collections::BTreeMap;
use std::io::{self, Write};

use maud::{Markup, html};

use super::Page;
use super::lanes::{self, Ink, Layout, Row};
use super::svg::{self, Words};
use crate::chain::shape::is_prompt;
use crate::chain::survey::Reason;
use crate::finding::Severity;
use crate::record::facts::{BlockKind, Kind, NO_TIME, flag};
use crate::record::time;
use crate::report::chain_json::{Report, Rows};
use crate::report::chain_table::{meaning, sentence};
use crate::report::format::{counted, number};

/// How much of an id stands in the drawing; the title has all of it.
const ID: usize = 36;
/// How many codes stand beside a row.
const CODES: usize = 4;

/// The layout with what its words are made of.
pub(super) struct Drawing<'a> {
    report: &'a Report<'a>,
    rows: Rows<'a>,
    layout: Layout,
    /// By line the findings that stand on it, the worst first.
    findings: BTreeMap<u64, Vec<(Severity, &'static str)>>,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(report: &'a Report<'a>) -> Self {
        let mut findings: BTreeMap<u64, Vec<(Severity, &'static str)>> = BTreeMap::new();
        for finding in report.audit.findings().iter().filter(|finding| finding.path.is_none()) {
            if let Some(line) = finding.place.line {
                let codes = findings.entry(line).or_default();
                if !codes.contains(&(finding.severity, finding.rule.code)) {
                    codes.push((finding.severity, finding.rule.code));
                }
            }
        }
        for codes in findings.values_mut() {
            codes.sort_by_key(|&(severity, code)| (std::cmp::Reverse(severity), code));
        }
        let loud = |codes: &[(Severity, &str)]| codes.iter().any(|(severity, _)| *severity > Severity::Info);
        let lines: Vec<u64> = findings.iter().filter(|(_, codes)| loud(codes)).map(|(line, _)| *line).collect();
        let layout = lanes::layout(report.session, report.survey, &lines);
        Drawing { report, rows: Rows::new(report.session), layout, findings }
    }

    /// The anchor of the row on which a line of the file stands alone.
    pub(super) fn anchor(&self, line: u64) -> Option<String> {
        let row = self.layout.rows.iter().find(|row| row.is_single() && u64::from(row.lines.0) == line)?;
        Some(anchor(row))
    }

    pub(super) fn write(&self, page: &mut Page<impl Write>) -> io::Result<()> {
        page.put(html! { h2 #drawing { "The session in the order of its file" } })?;
        page.put(self.legend())?;
        page.put(html! { a.skip href="#after-drawing" { "Skip the drawing" } })?;
        page.raw("<figure><div class=\"wide\" id=\"rows\">\n")?;
        let mut before = String::new();
        for segment in 0..svg::segments(&self.layout) {
            let rows = &self.layout.rows[svg::rows_of(&self.layout, segment)];
            let words: Vec<Words> = rows.iter().map(|row| self.words(row, &mut before)).collect();
            page.put(svg::segment(&self.layout, segment, &words))?;
        }
        page.raw("</div>\n")?;
        page.put(self.caption())?;
        page.raw("</figure>\n<span id=\"after-drawing\"></span>\n")
    }

    fn caption(&self) -> Markup {
        let layout = &self.layout;
        let folds = layout.folds;
        html! {
            figcaption {
                (counted(layout.records, "record")) " in " (counted(layout.rows.len() as u64, "mark")) "."
                @if folds > 0 {
                    " " (counted(folds, "mark")) (if folds == 1 { " stands" } else { " stand" })
                    " for several records each, folded so that the drawing stays short; JSON has every record."
                }
                @if layout.sharing > 0 {
                    " " (number(layout.sharing)) " smaller branches share the last lane."
                }
                @if layout.beside > 0 {
                    " Not drawn: " (counted(layout.beside, "record")) " beside the conversation, which no chain holds."
                }
            }
        }
    }

    /// What lines and marks mean, of those that occur.
    fn legend(&self) -> Markup {
        let rows = &self.layout.rows;
        let inks = [
            (Ink::Adopted, "comes back"),
            (Ink::Left, meaning(Reason::ForeignBranch)),
            (Ink::Before, meaning(Reason::BeforeBoundary)),
            (Ink::Side, meaning(Reason::Sidechain)),
            (Ink::Unreachable, meaning(Reason::Unreachable)),
        ];
        let plain = Row::MESSAGE;
        let quiet = Row { speaks: false, ..plain };
        let fold = Row { count: 2, ..plain };
        let boundary = Row { boundaries: 1, speaks: false, ..plain };
        let broken = Row { breaks: 1, ink: Ink::Left, ..plain };
        let damage = Row::DAMAGE;
        let has = |test: fn(&Row) -> bool| rows.iter().any(test);
        let marks = [
            (has(|row| row.is_single() && row.speaks), plain, false, "message"),
            (
                has(|row| row.is_single() && !row.speaks && row.records.is_some()),
                quiet,
                false,
                "row that is no message",
            ),
            (has(|row| !row.is_single()), fold, false, "several records"),
            (self.report.session.chain.leaf.is_some(), plain, true, "leaf"),
            (has(|row| row.boundaries > 0), boundary, false, "boundary: the context begins anew"),
            (has(|row| row.breaks > 0), broken, false, "break: its way up leads nowhere"),
            (has(|row| row.damage > 0), damage, false, "line that no loader reads"),
        ];
        html! {
            ul.legend {
                @for (ink, what) in inks.into_iter().filter(|(ink, _)| rows.iter().any(|row| row.ink == *ink && row.records.is_some())) {
                    li {
                        svg width="34" height="18" viewBox="0 0 34 18" aria-hidden="true" {
                            path class={ "link " (svg::class(ink)) } d="M2 9h30" {}
                            (svg::mark(&Row { ink, ..plain }, 17, 9, false))
                        }
                        (what)
                    }
                }
                @for (_, row, leaf, what) in marks.iter().filter(|(occurs, ..)| *occurs) {
                    li {
                        svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true" { (svg::mark(row, 11, 11, *leaf)) }
                        (what)
                    }
                }
            }
        }
    }

    /// The words of a row; `before` is the day of the row above it.
    fn words(&self, row: &Row, before: &mut String) -> Words {
        let session = self.report.session;
        let lines = match row.lines {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}–{last}"),
        };
        let codes = self.findings.range(u64::from(row.lines.0)..=u64::from(row.lines.1));
        let mut codes: Vec<(&'static str, &'static str)> = match row.is_single() {
            true => codes.flat_map(|(_, codes)| codes).map(|&(severity, code)| (code, severity.name())).collect(),
            false => Vec::new(),
        };
        let more = codes.len().saturating_sub(CODES);
        codes.truncate(CODES);
        if more > 0 {
            codes.push(("and more", "faint"));
        }
        let Some((first, last)) = row.records else {
            let what = "a line that no loader reads".to_owned();
            let title = format!("line {lines}: {what}{}", told(&codes));
            return Words { anchor: anchor(row), title, lines, what, codes, ..Words::default() };
        };
        let time = clock(session.record(first).time);
        let (day, hour) = time.split_once(' ').unwrap_or(("", ""));
        let shown = if day == before { hour.to_owned() } else { time.clone() };
        if !day.is_empty() {
            *before = day.to_owned();
        }
        let leaf = session.chain.leaf.is_some_and(|leaf| leaf >= first && leaf <= last && row.ink == Ink::Adopted);
        if !row.is_single() {
            let mut what = format!("{}, {}", counted(row.count, "record"), counted(row.messages, "message"));
            let within = [
                (row.boundaries, if row.boundaries == 1 { "boundary" } else { "boundaries" }),
                (row.breaks, if row.breaks == 1 { "break" } else { "breaks" }),
                (row.damage, if row.damage == 1 { "damaged line" } else { "damaged lines" }),
            ];
            for (n, word) in within.into_iter().filter(|(n, _)| *n > 0) {
                what += &format!(", {} {word}", number(n));
            }
            let title = format!("lines {lines}: {what}, {}", self.state(first, row));
            return Words { anchor: anchor(row), title, lines, time: shown, what, codes, leaf, ..Words::default() };
        }
        let id = self.rows.id(first).map(|id| id.lossy()).unwrap_or_default();
        let what = self.what(first);
        let broken = self.report.survey.breaks.binary_search_by_key(&first, |one| one.child).ok();
        let broken = broken.and_then(|at| self.report.survey.breaks.get(at));
        let broken = broken.map(|one| format!("; {}", sentence(self.report, &self.rows, first, one.gap)));
        let title = format!(
            "line {lines}: {what}, id {}, {}{}{}{}",
            if id.is_empty() { "none" } else { &id },
            if time.is_empty() { "no time".to_owned() } else { format!("{time} UTC") },
            self.state(first, row),
            broken.unwrap_or_default(),
            told(&codes)
        );
        Words { anchor: anchor(row), title, lines, time: shown, what, id: cut(&id), codes, leaf }
    }

    /// Whether it comes back, and why not.
    fn state(&self, first: u32, row: &Row) -> &'static str {
        match self.report.survey.reason(first) {
            Some(reason) => meaning(reason),
            None if row.ink == Ink::Adopted => "comes back",
            None => "does not come back",
        }
    }

    /// What a record is, in a few words.
    fn what(&self, n: u32) -> String {
        let session = self.report.session;
        let record = session.record(n);
        let blocks = session.facts.blocks_of(record);
        let count = |kind: BlockKind| blocks.iter().filter(|block| block.kind == kind).count() as u64;
        if record.any(flag::BOUNDARY | flag::CLEARED) {
            return "boundary".to_owned();
        }
        if record.has(flag::MICRO_BOUNDARY) {
            return "boundary of a micro compaction".to_owned();
        }
        if record.has(flag::COMPACT_SUMMARY) {
            return "summary of what was compacted".to_owned();
        }
        if is_prompt(&session.facts, record) {
            return "prompt".to_owned();
        }
        match record.kind {
            Kind::Compaction => "compaction".to_owned(),
            Kind::User | Kind::ToolMessage if count(BlockKind::Result) > 0 => {
                counted(count(BlockKind::Result), "result").replace("1 result", "result")
            }
            Kind::Assistant => match (count(BlockKind::Call), count(BlockKind::Text), count(BlockKind::Thinking)) {
                (0, 0, n) if n > 0 => "assistant: thinking".to_owned(),
                (0, ..) => "assistant".to_owned(),
                (calls, ..) => format!("assistant: {}", counted(calls, "call")),
            },
            _ => self.rows.type_name(n).map_or_else(|| "no type".to_owned(), |name| cut(&name)),
        }
    }
}

fn told(codes: &[(&str, &str)]) -> String {
    let codes: Vec<&str> = codes.iter().map(|(code, _)| *code).collect();
    if codes.is_empty() { String::new() } else { format!("; findings: {}", codes.join(", ")) }
}

fn anchor(row: &Row) -> String {
    format!("line-{}", row.lines.0)
}

/// `2026-03-10 09:12:33`, in UTC; empty for no time.
fn clock(ms: i64) -> String {
    if ms == NO_TIME {
        return String::new();
    }
    let text = time::format(ms);
    match text.split_once('T') {
        Some((day, time)) => format!("{day} {}", time.get(..8).unwrap_or(time)),
        None => text,
    }
}

/// As much of an id or a type as there is room for.
fn cut(text: &str) -> String {
    match text.char_indices().nth(ID) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
