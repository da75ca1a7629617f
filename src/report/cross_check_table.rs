//! Both counts on a page: a line where they agree, and where not, each figure with the lines that explain it or do not.

use std::io;

use super::format::{counted, number, paragraph};
use super::out::Out;
use super::style::{Style, dim, plain, span, strong};
use super::table::Grid;
use crate::metrics::cross_check::{CrossCheck, METHODS, Row};
use crate::store::Discovery;

/// So many figures and lines are named.
const NAMED: usize = 20;

/// Prints the part; nothing where nothing was counted twice.
///
/// # Errors
/// I/O errors.
pub fn part(out: &mut Out, check: Option<&CrossCheck>, discovery: &Discovery) -> io::Result<()> {
    let Some(check) = check else { return Ok(()) };
    out.gap()?;
    let differing: Vec<&Row> = check.rows.iter().filter(|row| row.first != row.second).collect();
    let all = counted(check.rows.len() as u64, "total");
    let said = match (check.is_defect(), differing.len()) {
        (true, _) => span(Style::Error, "they differ, and nothing explains it: a defect of sid-audit"),
        (false, 0) => span(Style::Good, "all the same"),
        (false, _) => span(Style::Good, "what differs is explained line by line"),
    };
    out.line([strong(format!("Counted twice: {all}, ")), said])?;
    if !differing.is_empty() {
        let [first, second] = METHODS;
        let mut grid = Grid::new(&["", first, second, "TOTAL"]).right(&[1, 2]);
        for row in differing.iter().take(NAMED) {
            let (style, word) = if row.holds { (Style::Dim, "explained") } else { (Style::Error, "differs") };
            grid.row(style, [word.to_owned(), number(row.first), number(row.second), row.what.clone()]);
        }
        grid.print(out, |_, _| Ok(()))?;
        more(out, differing.len().saturating_sub(NAMED) as u64, "total")?;
    }
    for difference in check.differences.iter().take(NAMED) {
        let path = discovery.files.get(difference.file as usize).map(|file| discovery.path(file)).unwrap_or_default();
        out.line([plain(format!("  {}:{}", path.display(), difference.line))])?;
        let [first, second] = METHODS;
        let both = format!("{first}: {}; {second}: {}", difference.first, difference.second);
        paragraph(out, vec![dim("    ")], 4, &both)?;
        match difference.why {
            Some(why) => paragraph(out, vec![dim("    ")], 4, why)?,
            None => out.line([span(Style::Error, "    nothing in the line explains it")])?,
        }
    }
    more(out, check.differences.len().saturating_sub(NAMED) as u64 + check.more, "line")
}

fn more(out: &mut Out, n: u64, what: &str) -> io::Result<()> {
    if n == 0 { Ok(()) } else { out.line([dim(format!("  and {} more; --format json has them", counted(n, what)))]) }
}
