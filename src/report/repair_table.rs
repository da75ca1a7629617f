//! A repair as a page: for each file what the plan answers, each edit with place, class and evidence, what a resume brings
//! back before and after, and what is left and why; then what became of it, and the next command.

use std::collections::BTreeMap;
use std::io;

use super::out::Out;
use super::repair_diff::{self, Change};
use super::repair_json::{Report, loud_codes, next_of};
use super::sanitize::visible;
use super::style::{Span, Style, dim, plain, span, strong};
use super::suggest::with_path;
use super::wrap::wrap;
use crate::audit::repair::standing::Still;
use crate::audit::repair::{Applied, Applying, FilePlan, Refused, Subject};
use crate::chain::recover::Evidence;
use crate::finding::{Rule, codes};
use crate::repair::checkpoints::IndexState;
use crate::repair::plan::{Planned, State};
use crate::rules::counted;
use crate::verdict::{ApiVerdict, ResumeVerdict};

/// How many edits of one file are listed, unless all are asked for.
const EDITS: usize = 20;
/// How many places of one code that is left are listed.
const PLACES: usize = 5;

/// Prints the plans.
///
/// # Errors
/// I/O errors.
pub fn plans(out: &mut Out, report: &Report<'_>, all: bool) -> io::Result<()> {
    let work = report.plans.iter().filter(|plan| plan.has_work()).count();
    let read = match report.indexes {
        0 => counted(report.sessions, "session"),
        1 => format!("{} and 1 checkpoint index", counted(report.sessions, "session")),
        n => format!("{} and {n} checkpoint indexes", counted(report.sessions, "session")),
    };
    match work {
        0 => out.text(&format!("nothing to repair within the chosen classes in {read}"))?,
        n => out.line([strong(format!("{} to repair, in {read}", counted(n as u64, "file")))])?,
    }
    for (n, plan) in report.plans.iter().enumerate() {
        out.gap()?;
        one(out, plan, all)?;
        if let Some(changes) = report.changes.and_then(|all| all.get(n)) {
            shown(out, changes)?;
        }
    }
    Ok(())
}

fn one(out: &mut Out, plan: &FilePlan, all: bool) -> io::Result<()> {
    out.line([strong(plan.path.to_string_lossy()), dim(format!("  {}", plan.agent_id.agent()))])?;
    let mut compare = |word: &str, before: Span<'static>, after: Span<'static>| {
        let after = if plan.has_work() { vec![dim(" -> "), after] } else { Vec::new() };
        out.line([row(word), before].into_iter().chain(after))
    };
    match &plan.subject {
        Subject::Session(session) => {
            let (before, after) = (&session.before, &session.after);
            compare("resume", resume_words(before), resume_words(after))?;
            compare("api", api_words(before), api_words(after))?;
        }
        Subject::Index(index) => compare("index", index_words(&index.before), index_words(&index.after))?,
    }
    if plan.has_work() {
        let answers: Vec<String> = plan.answers.iter().map(|rule| named(rule)).collect();
        item(out, row("answers"), &answers.join(", "))?;
    }
    let mut edits: Vec<&Planned> = plan.edits.iter().collect();
    edits.sort_by_key(|e| e.line);
    let listed = if all { edits.len() } else { EDITS };
    for planned in edits.iter().take(listed) {
        let edit = &planned.edit;
        let evidence = edit.evidence.map(|e| format!(", {}", e.name())).unwrap_or_default();
        let (action, class, code) = (edit.action.name(), edit.class.name(), edit.rule.code);
        let text = format!("{action} ({code}, {class}{evidence}): {}", edit.reason);
        item(out, place(planned), &text)?;
    }
    if edits.len() > listed {
        let more = edits.len() - listed;
        out.line([dim(format!("    and {} (-v lists them)", counted(more as u64, "more edit")))])?;
    }
    left(out, plan)?;
    if let Some(other) = &plan.nearest {
        for planned in other.edits.iter().filter(|e| e.edit.evidence == Some(Evidence::Nearest)).take(PLACES) {
            let text = format!(
                "line {}: the nearest link would be {}; --relink auto takes it, --relink CHILD=PARENT another",
                planned.line, planned.edit.reason
            );
            item(out, row("guess"), &text)?;
        }
    }
    for warning in &plan.warnings {
        item(out, row("note"), warning)?;
    }
    for refused in plan.refused.iter().chain(&plan.withheld) {
        refusal(out, refused)?;
    }
    Ok(())
}

/// Prints the links of a plan that are only the nearest, for a person to agree to.
///
/// # Errors
/// I/O errors.
pub fn nearest(out: &mut Out, plan: &FilePlan) -> io::Result<()> {
    out.line([strong(plan.path.to_string_lossy())])?;
    for planned in plan.edits.iter().filter(|e| e.edit.evidence == Some(Evidence::Nearest)) {
        let text = format!("({}) the nearest link is {}", planned.edit.rule, planned.edit.reason);
        item(out, place(planned), &text)?;
    }
    match &plan.subject {
        Subject::Session(session) => {
            let (before, after) = (resume_words(&session.before), resume_words(&session.after));
            out.line([row("resume"), before, dim(" -> "), after])
        }
        Subject::Index(_) => Ok(()),
    }
}

fn refusal(out: &mut Out, refused: &Refused) -> io::Result<()> {
    item(out, span(Style::Error, format!("  {:<9}", "refused")), &refused.reason)?;
    refused.hint.as_ref().map_or(Ok(()), |hint| item(out, row("hint"), hint))
}

/// What stays, by code and reason.
fn left(out: &mut Out, plan: &FilePlan) -> io::Result<()> {
    let mut groups: BTreeMap<(&Rule, &str), (Vec<u64>, u64)> = BTreeMap::new();
    for left in &plan.left {
        let group = groups.entry((left.finding.rule, &left.why)).or_default();
        group.0.extend(left.finding.place.line);
        group.1 += 1 + left.finding.more.unwrap_or(0);
    }
    for ((rule, why), (mut lines, count)) in groups {
        lines.sort_unstable();
        lines.dedup();
        let places: Vec<String> = lines.iter().take(PLACES).map(u64::to_string).collect();
        let more = lines.len().saturating_sub(PLACES);
        let mut places = match (lines.len(), more) {
            (0, _) => String::new(),
            (1, _) => format!(" on line {}", places.join(", ")),
            (_, 0) => format!(" on lines {}", places.join(", ")),
            (_, more) => format!(" on lines {} and {more} more", places.join(", ")),
        };
        if count > 1 && count != lines.len() as u64 {
            places.push_str(&format!(" ({count} times)"));
        }
        item(out, row("left"), &format!("{}{places}: {why}", named(rule)))?;
    }
    Ok(())
}

fn shown(out: &mut Out, changes: &[Change]) -> io::Result<()> {
    for change in changes {
        let bytes = |n| counted(n, "byte");
        let what = match (change.removed, change.inserted) {
            (0, inserted) => format!("{} come", bytes(inserted)),
            (removed, 0) => format!("{} go", bytes(removed)),
            (removed, inserted) => format!("{} become {}", bytes(removed), bytes(inserted)),
        };
        let id = change.id.as_ref().map(|id| format!(" of {id}")).unwrap_or_default();
        out.line([dim(format!("  @ line {}{id}, offset {}: {what}", change.line, change.offset))])?;
        for (sign, text) in change.text.iter().flat_map(repair_diff::lines) {
            let style = match sign {
                '-' => Style::Error,
                '+' => Style::Good,
                _ => Style::Dim,
            };
            out.line([span(style, format!("  {sign} {text}"))])?;
        }
    }
    Ok(())
}

/// How many sessions that are still broken are named.
const STILL: usize = 3;

/// Prints what is still broken when the run ends, or would be after the run that is planned, with the command that goes
/// further. These lines are the last: who reads only them knows how it stands.
///
/// # Errors
/// I/O errors.
pub fn still_broken(out: &mut Out, report: &Report<'_>, planned: bool) -> io::Result<()> {
    let Some(worst) = report.still.iter().filter(|still| !still.known).count().checked_sub(1) else {
        return known_broken(out, report.still.len());
    };
    let new: Vec<&Still<'_>> = report.still.iter().take(worst + 1).collect();
    out.gap()?;
    let lost = new.iter().filter(|still| still.standing.resume.verdict != ResumeVerdict::Full).count() as u64;
    let refused = new.iter().filter(|still| still.standing.api == ApiVerdict::Refused).count() as u64;
    let counts = [(lost, "not loading in full"), (refused, "refused by the API")];
    let counts: Vec<String> =
        counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let then = if planned { " after that repair" } else { "" };
    let all = counted(new.len() as u64, "session");
    out.line([strong(format!("{all} still broken{then}: {}", counts.join(", ")))])?;
    if new.len() > STILL {
        let more = new.len() - STILL;
        out.line([dim(format!("the worst {STILL} of them; {more} more stand in the JSON report"))])?;
    }
    known_broken(out, report.still.len() - new.len())?;
    for still in new.iter().take(STILL) {
        let standing = &still.standing;
        let text = format!(
            "'{}': resume {}, API {}; found {}",
            still.path.display(),
            standing.resume.verdict.name(),
            standing.api.name().replace('_', " "),
            loud_codes(&standing.findings).join(" ")
        );
        item(out, span(Style::Error, "  still broken  "), &text)?;
        if let Some(command) = next_of(still) {
            // Cut, a command could not be run.
            out.line([dim("    "), plain(command)])?;
        }
    }
    Ok(())
}

fn known_broken(out: &mut Out, known: usize) -> io::Result<()> {
    match known {
        0 => Ok(()),
        n => out.line([dim(format!("{} broken as the baseline knows them", counted(n as u64, "session")))]),
    }
}

/// Prints what became of the plans.
///
/// # Errors
/// I/O errors.
pub fn applied(out: &mut Out, done: &Applying) -> io::Result<()> {
    out.gap()?;
    for applied in &done.applied {
        file(out, ("repaired", "original"), applied)?;
    }
    not_done(out, done)?;
    let runs: Vec<&str> = done.applied.iter().filter_map(|a| a.journal_id.split('/').next()).collect();
    if let Some(run) = runs.last() {
        out.gap()?;
        out.text("what a session was before stays beside it until a later run finds it unused for 24 hours")?;
        out.text(&format!("take it back with: sid-audit repair --undo {run}"))?;
    }
    Ok(())
}

/// Prints the files that were left alone or could not be written.
///
/// # Errors
/// I/O errors.
pub fn not_done(out: &mut Out, done: &Applying) -> io::Result<()> {
    for refused in &done.refused {
        out.line([span(Style::Error, "refused   "), strong(refused.path.to_string_lossy())])?;
        item(out, row(""), &refused.reason)?;
        if let Some(hint) = &refused.hint {
            item(out, row("hint"), hint)?;
        }
    }
    for failed in &done.failed {
        out.line([span(Style::Error, "failed    "), strong(failed.path.to_string_lossy())])?;
        item(out, row(""), &failed.message)?;
        if let Some(hint) = &failed.hint {
            item(out, row("hint"), hint)?;
        }
    }
    Ok(())
}

/// A file that has new bytes: what became of it, and what the file is that had its name before.
///
/// # Errors
/// I/O errors.
pub fn file(out: &mut Out, (word, kept): (&str, &str), applied: &Applied) -> io::Result<()> {
    out.line([span(Style::Good, format!("{word:<10}")), strong(applied.path.to_string_lossy())])?;
    item(out, row("journal"), &applied.journal_id)?;
    item(out, row(kept), &format!("stays in '{}'", applied.retained.display()))?;
    if let Some(merged) = applied.merged {
        let lines = counted(merged.lines, "line");
        let text = format!("{lines} that a writer still wrote to the old file were brought over");
        item(out, row("late"), &text)?;
        if merged.grown > 0 {
            let text = "the repaired file grew meanwhile, so the order of the last records is to be looked at";
            item(out, row("order"), text)?;
            if let Some(command) = with_path("sid-audit repair --dry-run", &applied.path) {
                item(out, row("next"), &command)?;
            }
        }
    }
    for unmerged in &applied.unmerged {
        let bytes = counted(unmerged.file.late, "byte");
        let text = format!("{bytes} of a writer stay in '{}': {}", unmerged.file.path.display(), unmerged.why);
        item(out, span(Style::Error, format!("  {:<9}", "late")), &text)?;
    }
    for warning in &applied.warnings {
        item(out, row("note"), warning)?;
    }
    Ok(())
}

fn row(word: &str) -> Span<'static> {
    dim(format!("  {word:<9}"))
}

/// Where an edit is, as the lead of its row.
fn place(planned: &Planned) -> Span<'static> {
    dim(format!("    line {:<6}", planned.line))
}

fn named(rule: &Rule) -> String {
    format!("{rule} {}", rule.name)
}

/// Text behind the word of a row, its further lines under its first.
fn item(out: &mut Out, lead: Span<'_>, text: &str) -> io::Result<()> {
    let text = visible(text);
    let column = lead.text.chars().count();
    let mut lines = wrap(&text, out.width().saturating_sub(column).max(20)).into_iter();
    out.line([lead, plain(lines.next().unwrap_or_default())])?;
    for line in lines {
        out.line([plain(format!("{:column$}{line}", ""))])?;
    }
    Ok(())
}

fn index_words(state: &IndexState) -> Span<'static> {
    let snapshots = counted(state.snapshots as u64, "whole snapshot");
    match state.readable {
        true => span(Style::Good, format!("read, {snapshots}")),
        false => span(Style::Error, format!("not read, {snapshots} in it")),
    }
}

fn resume_words(state: &State) -> Span<'static> {
    let resume = &state.resume;
    let (style, text) = match resume.verdict {
        ResumeVerdict::Full => (Style::Good, format!("full, {}", counted(resume.loaded, "message"))),
        ResumeVerdict::Partial => {
            (Style::Warning, format!("partial, {} of {} messages", resume.loaded, resume.expected))
        }
        ResumeVerdict::None => (Style::Error, format!("none of {}", counted(resume.expected, "message"))),
    };
    span(style, text)
}

fn api_words(state: &State) -> Span<'static> {
    let style = match state.api {
        ApiVerdict::Ok => Style::Good,
        ApiVerdict::Healed => Style::Warning,
        ApiVerdict::Refused => Style::Error,
        ApiVerdict::InFlight | ApiVerdict::Unknown | ApiVerdict::NotSent => Style::Dim,
    };
    let name = state.api.name().replace('_', " ");
    let codes = codes(&state.api_rules);
    span(style, if codes.is_empty() { name } else { format!("{name} ({codes})") })
}
