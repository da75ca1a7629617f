//! One session's chain as a page: its verdicts, when it was written, the drawing, and in tables what comes back, what
//! does not and why, branches, breaks and findings. The JSON has every list whole.

use std::io::{self, Write};

use maud::{Markup, html};

use super::drawing::Drawing;
use super::{Page, figure, finding, nothing, timeline};
use crate::chain::survey::{Branch, Reason};
use crate::finding::Rule;
use crate::report::by_file::Listed;
use crate::report::chain_json::{Report, Rows};
use crate::report::chain_table::{how, meaning, sentence};
use crate::report::format::{counted, moment, number, size};
use crate::report::scan_table::versions;
use crate::report::suggest::Next;
use crate::report::verdict;
use crate::verdict::{ApiVerdict, ResumeVerdict};

pub(super) const SCRIPT: &str = include_str!("chain.js");

/// How many rows of each list a page shows.
const ROWS: usize = 200;
/// How many lines of heads and leaves are named.
const PLACES: usize = 20;

/// Writes the page.
///
/// # Errors
/// Whatever the writer says.
pub fn page(out: impl Write, report: &Report<'_>) -> io::Result<()> {
    let name = report.session.path.file_name().unwrap_or(report.session.path.as_os_str()).to_string_lossy();
    let mut page = Page::begin(out, &format!("{name}: the chain"), SCRIPT)?;
    let drawing = Drawing::new(report);
    let rows = Rows::new(report.session);
    page.put(head(report))?;
    page.put(timeline::drawing(report.session))?;
    drawing.write(&mut page)?;
    page.put(adopted(report, &rows))?;
    page.put(skipped(report))?;
    page.put(branches(report, &rows, &drawing))?;
    page.put(breaks(report, &rows, &drawing))?;
    page.put(findings(report))?;
    page.end(report.taken_at)
}

fn head(report: &Report<'_>) -> Markup {
    let session = report.session;
    html! {
        header {
            p.kicker { "Session chain" }
            h1 { (session.path.file_name().unwrap_or(session.path.as_os_str()).to_string_lossy()) }
            p { code.path { (session.path.display()) } }
            p {
                (session.agent_id.agent()) (versions(Some(report.versions))) ", " (size(session.source.size())) ", "
                (counted(session.facts.records.len() as u64, "record")) " on "
                (counted(session.facts.lines.physical, "line"))
            }
            p.dim { "Judged by " (session.agent_id.loader()) ": " (how(session.chain.mode)) "." }
            @if report.other_leaf {
                p.notice { "Another leaf than the loader's was asked for; the findings are about the loader's." }
            } @else {
                p.verdicts {
                    b class=(resume_class(report.audit.resume().verdict)) { span { "RESUME" } (verdict::resume_words(report.audit)) }
                    b class=(api_class(report.audit.api)) { span { "API" } (verdict::api_words(report.audit)) }
                    @if report.audit.live { b { "in use" } }
                }
            }
        }
    }
}

fn adopted(report: &Report<'_>, rows: &Rows<'_>) -> Markup {
    let (session, survey) = (report.session, report.survey);
    let stats = survey.stats;
    let lines = |numbers: &[u32]| {
        let lines: Vec<String> = numbers.iter().take(PLACES).map(|&n| session.record(n).line.to_string()).collect();
        let more = numbers.len().saturating_sub(PLACES);
        let more = if more > 0 { format!(" and {} more", number(more as u64)) } else { String::new() };
        format!("{}{more}", lines.join(", "))
    };
    html! {
        h2 { "What comes back" }
        p {
            (figure(stats.messages, "message")) " on a path of " (figure(stats.depth, "record")) ", with "
            (figure(stats.tool_calls, "tool call")) " and " (figure(stats.error_results, "error result")) "."
        }
        p {
            @match session.chain.leaf {
                Some(leaf) => {
                    "Leaf: line " (session.record(leaf).line)
                    @if let Some(id) = rows.id(leaf) { ", " code { (id.lossy()) } }
                },
                None => "There is no leaf.",
            }
        }
        @for (name, all) in [("Heads", &survey.heads), ("Leaves", &survey.leaves)] {
            @if !all.is_empty() { p { (name) ": " (number(all.len() as u64)) ", on " (if all.len() == 1 { "line " } else { "lines " }) (lines(all)) } }
        }
    }
}

fn skipped(report: &Report<'_>) -> Markup {
    let reasons = report.survey.reasons();
    if reasons.is_empty() {
        return nothing();
    }
    html! {
        h2 { "What does not, and why" }
        table {
            thead { tr { th.num scope="col" { "Records" } th scope="col" { "Reason" } th scope="col" { "What it means" } } }
            tbody {
                @for (reason, count) in reasons {
                    tr {
                        td.num { (number(count)) }
                        th scope="row" class=(if reason == Reason::Unreachable { "bad" } else { "" }) { (reason.name().replace('_', " ")) }
                        td { (meaning(reason)) }
                    }
                }
            }
        }
    }
}

/// A line as a link into the drawing, where it has a mark of its own.
fn line(line: u32, drawing: &Drawing<'_>) -> Markup {
    match drawing.anchor(u64::from(line)) {
        Some(anchor) => html! { a href={ "#" (anchor) } { (line) } },
        None => html! { (line) },
    }
}

fn branches(report: &Report<'_>, rows: &Rows<'_>, drawing: &Drawing<'_>) -> Markup {
    let all = &report.survey.branches;
    if all.len() < 2 {
        return nothing();
    }
    let mut sorted: Vec<&Branch> = all.iter().collect();
    sorted.sort_by_key(|branch| (!branch.adopted, std::cmp::Reverse(branch.messages), branch.leaf));
    html! {
        h2 { "Branches" }
        div.wide {
            table {
                caption { "Each with what only it has." }
                thead {
                    tr {
                        th scope="col" { "" } th.num scope="col" { "Records" } th.num scope="col" { "Messages" }
                        th scope="col" { "First" } th scope="col" { "Last" } th.num scope="col" { "Fork" }
                        th.num scope="col" { "Leaf" } th scope="col" { "Id of the leaf" }
                    }
                }
                tbody {
                    @for branch in sorted.iter().take(ROWS) {
                        tr {
                            th scope="row" class=(if branch.adopted { "ok" } else { "dim" }) { (if branch.adopted { "adopted" } else { "left" }) }
                            td.num { (number(u64::from(branch.records))) }
                            td.num { (number(u64::from(branch.messages))) }
                            td { (moment(branch.times.0)) }
                            td { (moment(branch.times.1)) }
                            td.num { @if let Some(fork) = branch.fork { (line(report.session.record(fork).line, drawing)) } }
                            td.num { (line(report.session.record(branch.leaf).line, drawing)) }
                            td { code { (rows.id(branch.leaf).map(|id| id.lossy()).unwrap_or_default()) } }
                        }
                    }
                }
            }
        }
        @if sorted.len() > ROWS { p.note { "and " (number((sorted.len() - ROWS) as u64)) " more branches." } }
    }
}

fn breaks(report: &Report<'_>, rows: &Rows<'_>, drawing: &Drawing<'_>) -> Markup {
    let all = &report.survey.breaks;
    if all.is_empty() {
        return nothing();
    }
    html! {
        h2 { "Breaks" }
        ul.plain {
            @for broken in all.iter().take(ROWS) {
                li {
                    (sentence(report, rows, broken.child, broken.gap)) " "
                    @if let Some(anchor) = drawing.anchor(u64::from(report.session.record(broken.child).line)) {
                        a href={ "#" (anchor) } { "in the drawing" }
                    }
                }
            }
        }
        @if all.len() > ROWS { p.note { "and " (number((all.len() - ROWS) as u64)) " more." } }
    }
}

fn findings(report: &Report<'_>) -> Markup {
    let all = report.audit.findings();
    if all.is_empty() {
        return html! { h2 { "Findings" } p.notice { "Nothing was found." } };
    }
    let path = &report.session.path;
    let listed = Listed { class: None, root: None, path: path.clone(), below: report.below.to_owned(), findings: all };
    let mut told: Vec<_> = listed.told(report.known).collect();
    told.sort_by_key(|told| std::cmp::Reverse(told.finding.severity));
    let mut rules: Vec<&'static Rule> = Vec::new();
    for told in &told {
        if !rules.iter().any(|rule| std::ptr::eq(*rule, told.finding.rule)) {
            rules.push(told.finding.rule);
        }
    }
    html! {
        h2 #findings { "Findings" }
        ul.findings {
            @for told in told.iter().take(ROWS) {
                (finding::item(told.finding, path, told.known))
            }
        }
        (finding::next(all, Next { path, shape: report.session.shape, mends: report.audit.mends() }))
        @if told.len() > ROWS { p.note { "and " (number((told.len() - ROWS) as u64)) " more." } }
        h2 { "What they are" }
        @for rule in rules {
            section.kind id=(rule.code) {
                h3 { (rule.code) " " (rule.name) }
                (finding::rule(rule))
            }
        }
    }
}

pub(super) fn resume_class(verdict: ResumeVerdict) -> &'static str {
    match verdict {
        ResumeVerdict::Full => "ok",
        ResumeVerdict::Partial | ResumeVerdict::None => "bad",
    }
}

pub(super) fn api_class(verdict: ApiVerdict) -> &'static str {
    match verdict {
        ApiVerdict::Ok => "ok",
        ApiVerdict::Healed => "so-so",
        ApiVerdict::Refused => "bad",
        ApiVerdict::InFlight | ApiVerdict::Unknown | ApiVerdict::NotSent => "dim",
    }
}
