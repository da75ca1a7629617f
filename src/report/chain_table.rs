//! One session's chain as a page: what comes back, what does not and why, where it breaks. Lists are cut here; the JSON
//! has them whole.

use std::io;

use super::chain_json::{Report, Rows};
use super::format::{counted, moments, number, paragraph, size};
use super::out::Out;
use super::style::{Style, dim, plain, span, strong};
use super::suggest::Next;
use super::table::Grid;
use super::{by_file, verdict};
use crate::chain::survey::{Branch, Gap, Reason};
use crate::text::Text;

/// How many rows of each list a page shows.
const ROWS: usize = 20;
/// With `--verbose`.
const MANY_ROWS: usize = 1000;
/// How many lines of heads and leaves are named.
const PLACES: usize = 8;

/// Prints the page.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let rows = Rows::new(report.session);
    head(out, report)?;
    adopted(out, report, &rows)?;
    skipped(out, report)?;
    branches(out, report, &rows)?;
    breaks(out, report, &rows)?;
    findings(out, report)
}

/// The lines that every view of a session begins with.
pub(super) fn head(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let session = report.session;
    let lines = &session.facts.lines;
    out.line([strong(session.path.to_string_lossy())])?;
    let mut versions: Vec<&str> = report.versions.iter().rev().take(3).map(String::as_str).collect();
    versions.reverse();
    let of = if versions.is_empty() { String::new() } else { format!(" {}", versions.join(", ")) };
    out.text(&format!(
        "  {}{of}, {}, {} on {}",
        session.agent_id.agent(),
        size(session.source.size()),
        counted(session.facts.records.len() as u64, "record"),
        counted(lines.physical, "line"),
    ))?;
    out.text(&format!("  judged by {}: {}", session.agent_id.loader(), how(session.chain.mode)))?;
    if report.other_leaf {
        return out.line([span(Style::Warning, "  another leaf than the loader's was asked for")]);
    }
    let audit = report.audit;
    out.gap()?;
    out.line([
        plain("  RESUME "),
        verdict::resume(audit),
        plain("   API "),
        verdict::api(audit),
        plain(if audit.live { "   in use" } else { "" }),
    ])
}

fn limit(report: &Report<'_>) -> usize {
    if report.verbose { MANY_ROWS } else { ROWS }
}

pub(super) fn how(mode: crate::chain::Mode) -> &'static str {
    use crate::chain::Mode;
    match mode {
        Mode::Chain => "upwards from the last line",
        Mode::Linear => "every line in the order of the file",
        Mode::Tree => "from a leaf up to the root, by id",
        Mode::File => "one document",
        Mode::None => "nothing is read",
    }
}

/// `line 12  5e55…`.
fn place(rows: &Rows<'_>, report: &Report<'_>, n: u32) -> String {
    let line = report.session.record(n).line;
    match rows.id(n) {
        Some(id) => format!("line {line}  {}", id.lossy()),
        None => format!("line {line}"),
    }
}

fn adopted(out: &mut Out, report: &Report<'_>, rows: &Rows<'_>) -> io::Result<()> {
    let (session, survey) = (report.session, report.survey);
    let stats = survey.stats;
    out.gap()?;
    out.line([strong("What comes back")])?;
    match session.chain.leaf {
        Some(leaf) => out.text(&format!("  leaf     {}", place(rows, report, leaf)))?,
        None => out.text("  leaf     none")?,
    }
    out.text(&format!(
        "  path     {}, {}, {}, {}",
        counted(stats.depth, "record"),
        counted(stats.messages, "message"),
        counted(stats.tool_calls, "tool call"),
        counted(stats.error_results, "error result"),
    ))?;
    list(out, report, "heads ", &survey.heads)?;
    list(out, report, "leaves", &survey.leaves)
}

fn list(out: &mut Out, report: &Report<'_>, name: &str, numbers: &[u32]) -> io::Result<()> {
    let mut lines: Vec<String> =
        numbers.iter().take(PLACES).map(|&n| report.session.record(n).line.to_string()).collect();
    if numbers.len() > PLACES {
        lines.push(format!("and {} more", number((numbers.len() - PLACES) as u64)));
    }
    let at = match numbers.len() {
        0 => String::new(),
        1 => format!(": line {}", lines.join("")),
        _ => format!(": lines {}", lines.join(", ")),
    };
    out.text(&format!("  {name}   {}{at}", number(numbers.len() as u64)))
}

fn skipped(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let reasons = report.survey.reasons();
    if reasons.is_empty() {
        return Ok(());
    }
    out.gap()?;
    out.line([strong("What does not, and why")])?;
    let mut grid = Grid::new(&["", "", ""]).right(&[0]);
    for (reason, count) in reasons {
        let style = if reason == Reason::Unreachable { Style::Error } else { Style::Plain };
        grid.row(style, [number(count), reason.name().replace('_', " "), meaning(reason).to_owned()]);
    }
    grid.print(out, |_, _| Ok(()))
}

pub(super) fn meaning(reason: Reason) -> &'static str {
    match reason {
        Reason::ForeignBranch => "on a branch that was left, or below another root",
        Reason::BeforeBoundary => "before a boundary behind which the context begins anew",
        Reason::Sidechain => "of a subagent",
        Reason::Unreachable => "cut off by a break",
        Reason::Meta => "read, and not shown as a message",
        Reason::Repeated => "another copy is taken",
        Reason::WithoutId => "no chain can hold them",
        Reason::NotLoaded => "the loader returns nothing",
    }
}

fn branches(out: &mut Out, report: &Report<'_>, rows: &Rows<'_>) -> io::Result<()> {
    let all = &report.survey.branches;
    let tells = |branch: &&Branch| branch.messages > 0 && (!branch.adopted || Some(branch.leaf) == main(report));
    let mut telling: Vec<&Branch> = all.iter().filter(tells).collect();
    if telling.len() < 2 && all.len() < 2 {
        return Ok(());
    }
    let beside = all.len() - telling.len();
    // The adopted one first, then the fullest.
    telling.sort_by_key(|branch| (!branch.adopted, std::cmp::Reverse(branch.messages), branch.leaf));
    out.gap()?;
    out.line([strong("Branches"), dim("  (each with what only it has)")])?;
    let mut grid = Grid::new(&["", "RECORDS", "MESSAGES", "FIRST", "LAST", "LINE", "LEAF"]).right(&[1, 2, 4, 5]);
    for branch in telling.iter().take(limit(report)) {
        let (style, mark) = if branch.adopted { (Style::Good, "adopted") } else { (Style::Plain, "left") };
        let (first, last) = moments(branch.times.0, branch.times.1);
        let line = u64::from(report.session.record(branch.leaf).line);
        let id = rows.id(branch.leaf).map(|id| id.lossy()).unwrap_or_default();
        let counts = [branch.records, branch.messages].map(|n| number(u64::from(n)));
        grid.row(style, [mark.to_owned()].into_iter().chain(counts).chain([first, last, number(line), id]));
    }
    grid.print(out, |_, _| Ok(()))?;
    if telling.len() > limit(report) {
        out.line([dim(format!("  and {} more branches", number((telling.len() - limit(report)) as u64)))])?;
    }
    if beside > 0 {
        let what = counted(beside as u64, "side run");
        out.line([dim(format!("  beside them {what} without a message of its own"))])?;
    }
    Ok(())
}

fn main(report: &Report<'_>) -> Option<u32> {
    report.survey.branches.first().filter(|branch| branch.adopted).map(|branch| branch.leaf)
}

fn breaks(out: &mut Out, report: &Report<'_>, rows: &Rows<'_>) -> io::Result<()> {
    let all = &report.survey.breaks;
    if all.is_empty() {
        return Ok(());
    }
    out.gap()?;
    out.line([strong("Breaks")])?;
    for broken in all.iter().take(limit(report)) {
        paragraph(out, vec![plain("  ")], 4, &sentence(report, rows, broken.child, broken.gap))?;
    }
    if all.len() > limit(report) {
        out.line([dim(format!("  and {} more", number((all.len() - limit(report)) as u64)))])?;
    }
    Ok(())
}

/// Both ends of a break.
pub(super) fn sentence(report: &Report<'_>, rows: &Rows<'_>, child: u32, gap: Gap) -> String {
    let record = report.session.record(child);
    let own = rows.id(child).map(|id| format!(" '{}'", id.lossy())).unwrap_or_default();
    let parent = rows.parent(child).as_ref().map(Text::lossy).unwrap_or_default();
    let line = record.line;
    match gap {
        Gap::Missing => {
            let seen = match report.seen.get(&record.parent) {
                Some(seen) => format!("; it was last seen in '{}' on line {}", seen.path.display(), seen.line),
                None => String::new(),
            };
            format!("line {line}{own} names '{parent}' as its parent, which no record of this file bears{seen}")
        }
        Gap::Own => format!("line {line}{own} is its own parent"),
        Gap::Loop => format!("line {line}{own} names '{parent}' as its parent, which leads back to it"),
        Gap::Below => {
            let at = report.session.graph.parent.get(child as usize).copied().unwrap_or(u32::MAX);
            let below = report.session.facts.records.get(at as usize).map_or(0, |record| record.line);
            format!(
                "line {line}{own} names '{parent}' as its parent, which stands below it on line {below}, where the loader does not look"
            )
        }
    }
}

fn findings(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let all = report.audit.findings();
    if all.is_empty() {
        return Ok(());
    }
    out.gap()?;
    out.line([strong("Findings")])?;
    let mut sorted: Vec<_> = all.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    for finding in sorted.iter().take(limit(report)) {
        let lead = vec![
            plain("  "),
            span(finding.severity.into(), format!("{:<8}", finding.severity.name())),
            plain(format!("{}  ", finding.as_cause())),
        ];
        paragraph(out, lead, 10, &by_file::sentence(finding))?;
    }
    if sorted.len() > limit(report) {
        out.line([dim(format!("  and {} more", number((sorted.len() - limit(report)) as u64)))])?;
    }
    let Some(worst) = sorted.first() else { return Ok(()) };
    out.gap()?;
    out.line([plain("next: "), strong(format!("sid-audit explain {}", worst.rule.code))])?;
    let (path, shape) = (&report.session.path, report.session.shape);
    match (Next { path, shape, mends: report.audit.mends() }).for_file(all) {
        Some(command) if !command.starts_with("sid-audit chain") && !command.starts_with("sid-audit explain") => {
            out.line([plain("      "), strong(command)])
        }
        _ => Ok(()),
    }
}
