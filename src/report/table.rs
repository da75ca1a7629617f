//! Columns of the human reports. Cells are neutralised before they are laid out, so that what is made visible has its
//! place, and cut to fit: a report that wraps is a report that nobody reads.

use std::io;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::out::Out;
use super::sanitize::visible;
use super::style::{Style, plain, span};

/// Rows in columns, with a heading or without one. The first cell of each row is shown in the row's style.
#[derive(Debug)]
pub struct Grid {
    headings: Vec<&'static str>,
    rows: Vec<(Style, Vec<String>)>,
    right: Vec<usize>,
    flexible: usize,
}

/// Space before the first column.
const INDENT: usize = 2;
/// Space between columns.
const GAP: usize = 2;
/// A column is not cut below this.
const LEAST: usize = 12;

impl Grid {
    /// Columns with these headings; all empty, there is no heading line. The last column is cut first.
    pub fn new(headings: &[&'static str]) -> Self {
        Grid {
            headings: headings.to_vec(),
            rows: Vec::new(),
            right: Vec::new(),
            flexible: headings.len().saturating_sub(1),
        }
    }

    /// Columns of numbers.
    #[must_use]
    pub fn right(mut self, columns: &[usize]) -> Self {
        self.right = columns.to_vec();
        self
    }

    /// Adds a row.
    pub fn row(&mut self, style: Style, cells: impl IntoIterator<Item = String>) {
        self.rows.push((style, cells.into_iter().map(|cell| visible(&cell).into_owned()).collect()));
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Prints the rows; `after` may print more below each, given its number.
    ///
    /// # Errors
    /// I/O errors.
    pub fn print(mut self, out: &mut Out, mut after: impl FnMut(&mut Out, usize) -> io::Result<()>) -> io::Result<()> {
        self.cut(out.width());
        let heading = self.headings.iter().any(|heading| !heading.is_empty());
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        if heading {
            table.set_header(self.headings.clone());
        }
        for (_, cells) in &self.rows {
            table.add_row(cells.clone());
        }
        for (n, column) in table.column_iter_mut().enumerate() {
            column.set_padding((if n == 0 { INDENT as u16 } else { 0 }, GAP as u16));
            if self.right.contains(&n) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut lines = table.lines();
        if heading && let Some(line) = lines.next() {
            out.line([span(Style::Dim, line.trim_end().to_owned())])?;
        }
        for (n, line) in lines.enumerate() {
            let Some((style, cells)) = self.rows.get(n) else { break };
            let line = line.trim_end();
            let first = cells.first().map_or(0, |cell| INDENT + cell.len());
            let (lead, rest) = line.split_at_checked(first).unwrap_or((line, ""));
            out.line([span(*style, lead), plain(rest)])?;
            after(out, n)?;
        }
        Ok(())
    }

    /// Cuts the flexible column so that the widest row fits.
    fn cut(&mut self, width: usize) {
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|(_, cells)| cells.get(column)).map(|cell| cell.width());
            cells.max().unwrap_or(0).max(self.headings.get(column).map_or(0, |heading| heading.width()))
        };
        let others: usize =
            (0..self.headings.len()).filter(|column| *column != self.flexible).map(|column| widest(column) + GAP).sum();
        let room = width.saturating_sub(others + INDENT).max(LEAST);
        for (_, cells) in &mut self.rows {
            if let Some(cell) = cells.get_mut(self.flexible) {
                *cell = keep_end(cell, room);
            }
        }
    }
}

/// The text in at most so many columns, its end kept: the end of a path tells more than its beginning.
pub fn keep_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        start = at;
    }
    format!("…{}", &text[start..])
}

/// The text in at most so many columns, its beginning kept.
pub fn keep_start(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        end = at + c.len_utf8();
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cells_are_cut_and_hostile_ones_made_visible() {
        let mut grid = Grid::new(&["A", "N", "PATH"]).right(&[1]);
        grid.row(
            Style::Error,
            ["x\x1b[2J".to_owned(), "7".to_owned(), "/very/long/path/to/a/session.jsonl".to_owned()],
        );
        grid.row(Style::Plain, ["yy".to_owned(), "123".to_owned(), "b".to_owned()]);
        let mut out = Out::memory(40);
        grid.print(&mut out, |_, _| Ok(())).unwrap();
        let page = String::from_utf8(out.into_bytes()).unwrap();
        assert_eq!(page, "  A           N  PATH\n  x\\x1b[2J    7  …ath/to/a/session.jsonl\n  yy        123  b\n");
        assert!(page.lines().all(|line| line.width() <= 40));
    }

    #[test]
    fn cut_text_keeps_its_telling_end() {
        assert_eq!(keep_end("abcdef", 4), "…def");
        assert_eq!(keep_end("ab漢字", 4), "…字");
        assert_eq!(keep_start("abcdef", 4), "abc…");
        assert_eq!(keep_end("abc", 3), "abc");
    }
}
