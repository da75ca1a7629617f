//! The figures of a store as a page: first whether they can be believed, then what was counted, what was used, and how far
//! other readers of the same files would be off.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;

use super::format::{counted, full_copies, number, paragraph, size};
use super::metrics_json::{Report, path_of};
use super::out::Out;
use super::scan_table::versions;
use super::style::{Style, dim, plain, span, strong};
use super::table::Grid;
use super::{cross_check_table, turns_table, usage_table};
use crate::metrics::readers::Reader;
use crate::metrics::records::Counts;
use crate::metrics::self_check::CHECKS;

/// So many files are named in one place.
const NAMED: usize = 5;
/// So many names stand on one line of counts.
const COUNTS: usize = 12;
/// Where what is counted begins.
const SAID: usize = 16;

/// What of it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Every session, name and turn.
    pub verbose: bool,
}

/// Prints the page.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: &Report<'_>, extent: Extent) -> io::Result<()> {
    let measured = report.measured;
    head(out, report)?;
    self_check(out, report)?;
    records(out, report, extent)?;
    usage_table::part(out, measured, extent.verbose)?;
    if let Some(turns) = report.turns {
        turns_table::part(out, turns, extent.verbose)?;
    }
    readers(out, report)?;
    checkpoints(out, report)?;
    cross_check_table::part(out, measured.cross_check.as_ref(), &measured.discovery)?;
    errors(out, report)
}

/// `types       a 1, b 2`: a word, and what there is to say behind it.
fn said(out: &mut Out, word: &str, text: &str) -> io::Result<()> {
    paragraph(out, vec![plain(format!("  {word:<14}"))], SAID, text)
}

fn head(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let measured = report.measured;
    let (files, records) = (measured.sizes.files(), measured.records.tally.records);
    let total = size(measured.sizes.total());
    out.line([
        strong(format!("{}, {}, {total}", counted(files, "session file"), counted(records, "record"))),
        plain(format!(" in {}", counted(measured.projects, "project"))),
    ])?;
    for (n, root) in (0..).zip(&measured.discovery.roots).take(NAMED) {
        let of = versions(measured.versions.get(&n));
        let who = root.agent_id.map(|agent_id| format!("  {}{of}", agent_id.agent())).unwrap_or_default();
        out.line([plain(format!("  {}", root.path.display())), dim(who)])?;
    }
    let more = measured.discovery.roots.len().saturating_sub(NAMED) as u64;
    if more > 0 { out.line([dim(format!("  and {} more", number(more)))]) } else { Ok(()) }
}

fn self_check(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let measured = report.measured;
    out.gap()?;
    out.line([strong("Self-check"), dim("  what holds of every file before its figures are believed")])?;
    for name in CHECKS {
        let Some(check) = measured.self_check.get(name) else { continue };
        let style = if check.found == check.expected { Style::Good } else { Style::Warning };
        let exempt = check.exempt.iter().map(|(why, n)| format!("{} exempt ({why})", number(*n)));
        let exempt = exempt.collect::<Vec<_>>().join(", ");
        let result = format!("{} of {}", number(check.found), number(check.expected));
        paragraph(
            out,
            vec![
                plain(format!("  {name:<25} ")),
                span(style, result),
                plain(if exempt.is_empty() { "" } else { "  " }),
            ],
            SAID,
            &exempt,
        )?;
        for file in check.exceptions.iter().take(NAMED) {
            out.line([dim("      not "), plain(path_of(&measured.discovery, *file).display().to_string())])?;
        }
        let more = check.expected.saturating_sub(check.found).saturating_sub(NAMED as u64);
        if more > 0 {
            out.line([dim(format!("      nor {}", counted(more, "more file")))])?;
        }
    }
    Ok(())
}

fn records(out: &mut Out, report: &Report<'_>, extent: Extent) -> io::Result<()> {
    let (measured, records) = (report.measured, &report.measured.records);
    out.gap()?;
    out.line([strong("Records"), dim("  on all branches")])?;
    said(out, "by type", &by_name(&records.tally.types, extent))?;
    if !records.tally.metadata.named.is_empty() {
        said(out, "metadata", &by_name(&records.tally.metadata, extent))?;
    }
    let users = &records.tally.users;
    let sorts = [
        (users.prompts, "typed"),
        (users.tool_results, "tool results"),
        (users.mixed, "both"),
        (users.not_typed, "written by the client"),
    ];
    let sorts = sorts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", number(*n)));
    let sorts = sorts.collect::<Vec<_>>().join(", ");
    said(out, "user records", &format!("{}: {sorts}", number(users.all())))?;
    said(out, "first block", &list(&records.first_block))?;
    let parallel = &records.parallel;
    let results: Vec<String> =
        records.results.iter().map(|(n, count)| format!("{n} in {}", counted(*count, "record"))).collect();
    if !results.is_empty() {
        said(out, "tool results", &results.join(", "))?;
    }
    if parallel.several_calls > 0 {
        let text = format!(
            "{} with several calls: {} answered in one record, {} spread over several, {} not all answered",
            counted(parallel.several_calls, "response"),
            number(parallel.in_one_record),
            number(parallel.spread),
            number(parallel.incomplete)
        );
        said(out, "parallel", &text)?;
    }
    if let Some(ends) = records.ends {
        let text = format!(
            "{} of {}, the last line of {}",
            number(ends.with),
            counted(ends.with + ends.without, "session"),
            number(ends.last_line)
        );
        said(out, "end marks", &text)?;
    }
    let sizes = &measured.sizes;
    if sizes.files() < 2 {
        return Ok(());
    }
    let quantiles = [("smallest", sizes.quantile(0)), ("median", sizes.quantile(50)), ("p95", sizes.quantile(95))];
    let quantiles = quantiles.into_iter().chain([("largest", sizes.max())]);
    let text = quantiles.filter_map(|(word, bytes)| Some(format!("{word} {}", size(bytes?)))).collect::<Vec<_>>();
    said(out, "file sizes", &text.join(", "))
}

fn by_name(counts: &Counts, extent: Extent) -> String {
    let mut named: Vec<(&str, u64)> = counts.named.iter().map(|(name, n)| (&**name, *n)).collect();
    named.sort_by_key(|(name, n)| (std::cmp::Reverse(*n), *name));
    let shown = if extent.verbose { named.len() } else { COUNTS.min(named.len()) };
    let rest = named[shown..].iter().map(|(_, n)| n).sum::<u64>() + counts.others;
    let mut text: Vec<String> = named[..shown].iter().map(|(name, n)| format!("{name} {}", number(*n))).collect();
    if rest > 0 {
        text.push(format!("{} of {}", number(rest), counted((named.len() - shown) as u64, "more name")));
    }
    text.join(", ")
}

fn list<K: Display>(counts: &BTreeMap<K, u64>) -> String {
    let mut all: Vec<(&K, u64)> = counts.iter().map(|(name, n)| (name, *n)).collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    all.iter().map(|(name, n)| format!("{name} {}", number(*n))).collect::<Vec<_>>().join(", ")
}

fn readers(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let measured = report.measured;
    out.gap()?;
    out.line([strong("The same files as others read them")])?;
    let tally = &measured.records.tally;
    let mut grid = Grid::new(&["READER", "RECORDS", "REFUSED", "TYPED", "RESULTS", "STOPS AT"]).right(&[1, 2, 3, 4]);
    let own = Reader { tally: tally.clone(), bad: measured.records.bad, ..Reader::default() };
    let rows = [
        ("JavaScript, as the agents", &own),
        ("strict, file by file", &measured.others.strict),
        ("strict, one stream", &measured.stream),
    ];
    for (name, reader) in rows {
        let style = if reader.tally.records == tally.records { Style::Plain } else { Style::Warning };
        let stop = match reader.stops.as_slice() {
            [] => String::new(),
            [one, more @ ..] => {
                let path = path_of(&measured.discovery, one.file);
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let more = more.len() as u64 + reader.more;
                let more = if more > 0 { format!(" +{}", number(more)) } else { String::new() };
                format!("{name}:{}{more}", one.line)
            }
        };
        let users = &reader.tally.users;
        let counts = [reader.tally.records, reader.bad, users.prompts, users.tool_results].map(number);
        grid.row(style, [name.to_owned()].into_iter().chain(counts).chain([stop]));
    }
    grid.print(out, |_, _| Ok(()))?;
    let raw = &measured.others.raw;
    let text = format!(
        "a text search finds `\"type\":\"tool_result\"` {} times: {} are records, {} are blocks inside of records",
        number(raw.hits),
        number(raw.record_level),
        number(raw.hits.saturating_sub(raw.record_level))
    );
    paragraph(out, vec![plain("  ")], 2, &text)?;
    if measured.others.strict.bad > 0 {
        let text = "a strict reader refuses half a surrogate pair, which JavaScript writes and reads, and stops there";
        paragraph(out, vec![dim("  ")], 2, text)?;
    }
    Ok(())
}

fn checkpoints(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let Some(checkpoints) = &report.measured.checkpoints else { return Ok(()) };
    out.gap()?;
    let many = if checkpoints.indexes == 1 { "index" } else { "indexes" };
    out.line([
        strong(format!("{} checkpoint {many}", number(checkpoints.indexes))),
        plain(format!(", {}, {}", counted(checkpoints.snapshots, "snapshot"), size(checkpoints.bytes))),
    ])?;
    let entries = checkpoints.entries;
    let share = checkpoints.diff_share().map(|share| format!(" ({} of all)", share.percent())).unwrap_or_default();
    said(
        out,
        "entries",
        &format!(
            "{}, {} of them compressed, {}{share}",
            full_copies(entries.full),
            number(entries.compressed),
            counted(entries.diff, "difference")
        ),
    )?;
    said(out, "most in one", &counted(checkpoints.largest, "snapshot"))?;
    if checkpoints.unreadable > 0 {
        said(out, "unreadable", &format!("{}: the agent begins anew there", number(checkpoints.unreadable)))?;
    }
    Ok(())
}

fn errors(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let measured = report.measured;
    let lists = [("Could not be read", &measured.errors), ("sid-audit itself failed on", &measured.defects)];
    for (title, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        out.gap()?;
        out.line([strong(title)])?;
        for (path, message) in list.iter().take(2 * NAMED) {
            paragraph(out, vec![span(Style::Error, "  ")], 4, &format!("'{}': {message}", path.display()))?;
        }
        if list.len() > 2 * NAMED {
            out.line([dim(format!("  and {} more", number((list.len() - 2 * NAMED) as u64)))])?;
        }
    }
    if measured.interrupted {
        out.gap()?;
        out.line([span(Style::Warning, "interrupted: these are figures of a part of the files")])?;
    }
    Ok(())
}
