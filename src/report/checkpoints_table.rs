//! Checkpoint indexes as a page: how many files can be brought back, what the agent's own undo would do, what was found.

use std::collections::BTreeMap;
use std::io;

use super::checkpoints_json::{Judged, Report};
use super::format::{counted, full_copies, number, size};
use super::out::Out;
use super::style::{Style, dim, plain, span, strong};
use super::table::{Grid, keep_end};
use crate::checkpoint::moves::{Moves, Would};
use crate::checkpoint::rebuild::State;
use crate::finding::{Finding, Severity};

/// How many indexes are listed one by one.
const ROWS: usize = 40;

/// Prints the page.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: Report<'_>) -> io::Result<()> {
    let (mut snapshots, mut bytes) = (0, 0);
    let (mut full, mut compressed, mut diff) = (0, 0, 0);
    for j in report.judged {
        snapshots += j.kept.snapshots;
        bytes += j.kept.bytes;
        full += j.kept.entries.full;
        compressed += j.kept.entries.compressed;
        diff += j.kept.entries.diff;
    }
    out.line([
        strong(if report.judged.len() == 1 {
            "1 checkpoint index".to_owned()
        } else {
            format!("{} checkpoint indexes", number(report.judged.len() as u64))
        }),
        plain(format!(", {}, {}", counted(snapshots, "snapshot"), size(bytes))),
    ])?;
    let (full, diff) = (full_copies(full), counted(diff, "difference"));
    out.line([plain(format!("  {full} ({compressed} compressed), {diff}"))])?;
    out.gap()?;
    let mut worst: Vec<&Judged> = report.judged.iter().collect();
    worst.sort_by_key(|j| (std::cmp::Reverse(severity(j)), j.path.clone()));
    let mut grid = Grid::new(&["", "SNAPSHOTS", "FILES", "REBUILT", "UNDO", "SESSION"]).right(&[1, 2, 3]);
    for j in worst.iter().take(ROWS) {
        let (good, all) = rebuilt(j);
        let style = match severity(j) {
            Some(Severity::Error) => Style::Error,
            Some(Severity::Warning) => Style::Warning,
            _ => Style::Plain,
        };
        let word = severity(j).filter(|s| *s >= Severity::Warning).map_or("", Severity::name);
        let cells = [
            word.to_owned(),
            j.kept.snapshots.to_string(),
            j.audit.index.files.len().to_string(),
            format!("{good}/{all}"),
            undo(j),
            keep_end(&j.kept.session_id, 40),
        ];
        grid.row(style, cells);
    }
    grid.print(out, |_, _| Ok(()))?;
    if worst.len() > ROWS {
        out.line([dim(format!("  and {} more", worst.len() - ROWS))])?;
    }
    findings(out, report)?;
    for (path, message) in report.errors {
        out.line([span(Style::Error, "error  "), plain(format!("{}: {message}", path.display()))])?;
    }
    if report.judged.iter().any(|j| !j.audit.agent_sees()) {
        out.gap()?;
        out.line([strong("do not start the agent first: it would overwrite the index that it cannot read")])?;
    }
    Ok(())
}

fn severity(judged: &Judged) -> Option<Severity> {
    judged.kept.findings.iter().map(|f| f.severity).max()
}

/// Of the entries that were judged, how many give bytes.
fn rebuilt(judged: &Judged) -> (u64, u64) {
    let states = judged.audit.steps.iter().flatten().filter(|s| s.state != State::Unknown);
    states.fold((0, 0), |(good, all), s| (good + u64::from(matches!(s.state, State::Bytes(_))), all + 1))
}

/// What the agent's undo would do, in a word.
fn undo(judged: &Judged) -> String {
    let Some(undo) = Moves::new(&judged.audit).and_then(|m| m.undo()) else { return "-".to_owned() };
    let count = |would: Would| undo.files.iter().filter(|(_, m)| m.would == would).count();
    let wrong = undo.files.iter().filter(|(_, m)| !m.faithful).count();
    match (undo.throws || count(Would::Fail) > 0, wrong) {
        (true, _) => "fails".to_owned(),
        (false, 0) => "faithful".to_owned(),
        (false, _) => "differs".to_owned(),
    }
}

fn findings(out: &mut Out, report: Report<'_>) -> io::Result<()> {
    let mut groups: BTreeMap<(std::cmp::Reverse<Severity>, &str), (&Finding, u64, String)> = BTreeMap::new();
    for j in report.judged {
        for f in &j.kept.findings {
            let first = || (f, 0, j.kept.session_id.clone());
            let group = groups.entry((std::cmp::Reverse(f.severity), f.rule.code)).or_insert_with(first);
            group.1 += f.count.unwrap_or(1) + f.more.unwrap_or(0);
        }
    }
    if groups.is_empty() {
        return Ok(());
    }
    out.gap()?;
    out.line([strong("Findings")])?;
    let mut grid = Grid::new(&["", "", "", "", ""]).right(&[3]);
    for ((severity, code), (finding, count, first)) in groups {
        let style = match severity.0 {
            Severity::Error => Style::Error,
            Severity::Warning => Style::Warning,
            Severity::Info => Style::Plain,
        };
        let cells = [
            severity.0.name().to_owned(),
            code.to_owned(),
            finding.rule.name.to_owned(),
            count.to_string(),
            format!("first in {first}"),
        ];
        grid.row(style, cells);
    }
    grid.print(out, |_, _| Ok(()))?;
    out.gap()?;
    out.line([plain("next: sid-audit explain CODE; with --verify every file is rebuilt at every snapshot")])
}
