//! The field census as a page: what is lost on the way first, because something is to be done about it, then what cannot
//! be told, then what is right to be missing. What is there is one line.

use std::collections::BTreeMap;
use std::io;

use super::fields_json::Report;
use super::format::{counted, number, paragraph};
use super::out::Out;
use super::style::{Style, dim, plain, span, strong};
use super::table::Grid;
use crate::metrics::census::{FieldVerdict, Verdict};
use crate::metrics::paths::{AllPaths, TYPES};

/// What of it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// What is there too, and how to make occur what is not.
    pub verbose: bool,
}

/// The verdicts in the order in which they are shown, each with its heading and style.
const PARTS: [(Verdict, &str, Style); 5] = [
    (Verdict::LostOnTheWay, "lost on the way: the cause occurred, and the field is never written", Style::Warning),
    (Verdict::Unproven, "unproven: why it is missing cannot be told", Style::Info),
    (Verdict::DidNotOccur, "did not occur: nor did the cause, as far as the store shows", Style::Dim),
    (Verdict::CannotOccur, "cannot occur: 0 is right", Style::Dim),
    (Verdict::Present, "present", Style::Good),
];
/// So many of those with one reason are named, unless more is asked for.
const NAMED: usize = 16;
/// So many files that could not be read are named.
const ERRORS: usize = 10;

/// Prints the page.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: &Report<'_>, extent: Extent) -> io::Result<()> {
    let answers = report.answers;
    out.line([strong(format!(
        "{}, {}: {} expected",
        counted(answers.files, "session file"),
        counted(answers.records, "record"),
        counted(answers.fields.len() as u64, "type or field").replace("type or fields", "types and fields")
    ))])?;
    for (verdict, heading, style) in PARTS {
        let of: Vec<&FieldVerdict> = answers.fields.iter().filter(|f| f.verdict == verdict).collect();
        if of.is_empty() {
            continue;
        }
        out.gap()?;
        out.line([span(style, format!("{:>4}  ", of.len())), strong(heading)])?;
        if verdict == Verdict::Present && !extent.verbose {
            continue;
        }
        part(out, verdict, &of, extent)?;
    }
    if let Some(all) = &answers.paths {
        paths(out, all)?;
    }
    if !answers.errors.is_empty() {
        out.gap()?;
        for (path, message) in answers.errors.iter().take(ERRORS) {
            paragraph(out, vec![span(Style::Error, "  "), plain(format!("{}: ", path.display()))], 4, message)?;
        }
    }
    Ok(())
}

fn part(out: &mut Out, verdict: Verdict, of: &[&FieldVerdict], extent: Extent) -> io::Result<()> {
    if verdict == Verdict::LostOnTheWay {
        for field in of {
            let count = format!("  0 of {}", number(field.cause_count.unwrap_or(0)));
            out.line([plain("      "), span(Style::Warning, field.path.to_string()), plain(count)])?;
            paragraph(out, vec![dim("        cause: ")], 8, &field.cause)?;
        }
        return out.line([dim("        sid-audit explain F703 gives the four hops to check")]);
    }
    if extent.verbose {
        for field in of {
            let count = match (verdict, field.cause_count) {
                (Verdict::Present, _) => format!("  {}", number(field.occurrences)),
                (_, Some(n)) if n > 0 => format!("  0 of {}", number(n)),
                _ => String::new(),
            };
            out.line([plain(format!("      {}", field.path)), plain(count)])?;
            if verdict != Verdict::Present {
                paragraph(out, vec![dim("        cause: ")], 8, &field.cause)?;
            }
            if let (Some(how), Verdict::DidNotOccur) = (&field.how, verdict) {
                paragraph(out, vec![dim("        to have it: ")], 8, how)?;
            }
        }
        return Ok(());
    }
    // Those with one reason together: what is said once is read.
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for field in of {
        let reason = match verdict {
            Verdict::Unproven | Verdict::CannotOccur => field.evidence.clone(),
            _ => String::new(),
        };
        reasons.entry(reason).or_default().push(&field.path);
    }
    for (reason, paths) in reasons {
        let named = paths.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = match paths.len().saturating_sub(NAMED) {
            0 => String::new(),
            n => format!(", and {n} more; --verbose lists them"),
        };
        paragraph(out, vec![plain("      ")], 6, &format!("{named}{more}"))?;
        if !reason.is_empty() {
            paragraph(out, vec![dim("        ")], 8, &reason)?;
        }
    }
    Ok(())
}

fn paths(out: &mut Out, all: &AllPaths) -> io::Result<()> {
    out.gap()?;
    out.line([strong(counted(all.paths.len() as u64, "path"))])?;
    let mut grid = Grid::new(&["COUNT", "TYPES", "PATH"]).right(&[0]);
    for (path, count) in &all.paths {
        let types: Vec<&str> = TYPES.into_iter().zip(count.types).filter(|(_, n)| *n > 0).map(|(t, _)| t).collect();
        grid.row(Style::Plain, [number(count.count()), types.join("|"), path.to_string()]);
    }
    grid.print(out, |_, _| Ok(()))?;
    if all.others > 0 {
        out.line([dim(format!("  and {} at further paths, not told apart", counted(all.others, "value")))])?;
    }
    Ok(())
}
