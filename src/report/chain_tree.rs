//! A session drawn: the adopted chain as a trunk from top to bottom, branches that were left beside it where they part,
//! other trees below. Stretches without a fork are one line each, and side rows that bring no message of their own are
//! only counted, so that a chain of thousands of records fits on a page.

use std::collections::HashMap;
use std::io;

use super::chain_json::{Report, Rows};
use super::chain_table::{head, sentence};
use super::format::{counted, number, paragraph};
use super::out::Out;
use super::style::{Style, dim, plain, span, strong};
use crate::chain::survey::{Branch, Gap, Reason};
use crate::chain::walk::up;

/// How many lines a drawing has at most.
const LINES: usize = 400;
/// How many branches are drawn where one record has more.
const BRANCHES: usize = 6;
/// How deep branches of branches are drawn.
const DEPTH: usize = 8;

/// Draws it.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    head(out, report)?;
    out.gap()?;
    let mut tree = Tree::new(report);
    let branches = &report.survey.branches;
    let mut quiet = 0;
    for (n, branch) in branches.iter().enumerate().filter(|(_, branch)| branch.fork.is_none()) {
        if !tree.tells(n) {
            quiet += 1;
            continue;
        }
        if tree.left == 0 {
            break;
        }
        tree.root(out, n, branch)?;
    }
    if quiet > 0 {
        out.line([dim(format!("beside them {} without a message", counted(quiet, "tree")))])?;
    }
    if tree.cut > 0 {
        let what = counted(tree.cut, "branch").replace("branchs", "branches");
        out.line([dim(format!("… and {what} more; --format json has them all"))])?;
    }
    Ok(())
}

struct Tree<'a> {
    report: &'a Report<'a>,
    rows: Rows<'a>,
    /// By the record on which they hang.
    hanging: HashMap<u32, Vec<usize>>,
    /// How many lines may still be drawn.
    left: usize,
    /// Branches that were not drawn.
    cut: u64,
}

/// A stretch without a fork that is drawn.
#[derive(Default)]
struct Run {
    records: u64,
    messages: u64,
    lines: Option<(u32, u32)>,
    put_back: u64,
    silent: u64,
}

impl<'a> Tree<'a> {
    fn new(report: &'a Report<'a>) -> Self {
        let mut hanging: HashMap<u32, Vec<usize>> = HashMap::new();
        for (n, branch) in report.survey.branches.iter().enumerate() {
            if let Some(fork) = branch.fork {
                hanging.entry(fork).or_default().push(n);
            }
        }
        Tree { report, rows: Rows::new(report.session), hanging, left: LINES, cut: 0 }
    }

    /// Whether a branch is drawn by itself: it brings messages of its own and is not a row that the loader put back.
    fn tells(&self, n: usize) -> bool {
        let branch = &self.report.survey.branches[n];
        branch.messages > 0 && (n == 0 || !branch.adopted)
    }

    fn root(&mut self, out: &mut Out, n: usize, branch: &Branch) -> io::Result<()> {
        let (style, label) = self.label(branch);
        let top = self.report.session.record(branch.top);
        let broken = self.report.survey.breaks.binary_search_by_key(&branch.top, |b| b.child).ok();
        let gap = broken.and_then(|at| self.report.survey.breaks.get(at)).map(|broken| broken.gap);
        self.left = self.left.saturating_sub(2);
        out.line([strong(format!("line {}", top.line)), plain("  "), span(style, label)])?;
        if let Some(gap @ (Gap::Missing | Gap::Own | Gap::Below)) = gap {
            let text = sentence(self.report, &self.rows, branch.top, gap);
            paragraph(out, vec![span(Style::Error, "✕ ")], 2, &text)?;
        }
        self.draw(out, n, "", 0)?;
        out.gap()
    }

    fn label(&self, branch: &Branch) -> (Style, String) {
        if branch.adopted {
            return (Style::Good, "adopted".to_owned());
        }
        match self.report.survey.reason(branch.leaf).or_else(|| self.report.survey.reason(branch.top)) {
            Some(Reason::Unreachable) => (Style::Error, "unreachable".to_owned()),
            Some(reason) => (Style::Dim, reason.name().replace('_', " ")),
            None => (Style::Dim, "left".to_owned()),
        }
    }

    /// The records of a branch from its top to its leaf.
    fn records(&self, n: usize) -> Vec<u32> {
        let session = self.report.session;
        let branch = &self.report.survey.branches[n];
        if n == 0 && branch.adopted && Some(branch.leaf) == session.chain.leaf {
            return session.chain.adopted.clone();
        }
        let mut records: Vec<u32> = up(&session.graph, branch.leaf).take(branch.records as usize).collect();
        records.reverse();
        records
    }

    fn draw(&mut self, out: &mut Out, n: usize, lead: &str, depth: usize) -> io::Result<()> {
        let leaf = self.report.survey.branches[n].leaf;
        let mut run = Run::default();
        for record in self.records(n) {
            self.add(&mut run, record);
            let mut telling = Vec::new();
            for &branch in self.hanging.get(&record).map(Vec::as_slice).unwrap_or_default() {
                match (self.tells(branch), self.report.survey.branches[branch].adopted) {
                    (true, _) => telling.push(branch),
                    (false, true) => run.put_back += 1,
                    (false, false) => run.silent += 1,
                }
            }
            if telling.is_empty() {
                continue;
            }
            self.run(out, lead, &std::mem::take(&mut run), record == leaf)?;
            self.fork(out, &telling, lead, depth)?;
        }
        if run.records > 0 { self.run(out, lead, &run, true) } else { Ok(()) }
    }

    fn fork(&mut self, out: &mut Out, branches: &[usize], lead: &str, depth: usize) -> io::Result<()> {
        let drawn = if depth < DEPTH && self.left > 0 { branches.len().min(BRANCHES) } else { 0 };
        for &branch in &branches[..drawn] {
            if self.left == 0 {
                self.cut += 1;
                continue;
            }
            let of = self.report.survey.branches[branch];
            let (style, label) = self.label(&of);
            self.left -= 1;
            out.line([
                plain(format!("{lead}├─ ")),
                span(style, label),
                dim(format!("  leaf line {}", self.report.session.record(of.leaf).line)),
            ])?;
            self.draw(out, branch, &format!("{lead}│  "), depth + 1)?;
        }
        let rest = &branches[drawn..];
        if rest.is_empty() {
            return Ok(());
        }
        if self.left == 0 {
            self.cut += rest.len() as u64;
            return Ok(());
        }
        let sum = |of: fn(&Branch) -> u32| -> u64 {
            rest.iter().map(|&n| u64::from(of(&self.report.survey.branches[n]))).sum()
        };
        self.left -= 1;
        let (records, messages) = (sum(|b| b.records), sum(|b| b.messages));
        out.line([dim(format!(
            "{lead}├─ {} more: {}, {}",
            number(rest.len() as u64),
            counted(records, "record"),
            counted(messages, "message")
        ))])
    }

    fn add(&self, run: &mut Run, n: u32) {
        let record = self.report.session.record(n);
        run.records += 1;
        run.messages += u64::from(self.report.session.agent.is_shown(record));
        run.lines =
            Some(run.lines.map_or((record.line, record.line), |(a, b)| (a.min(record.line), b.max(record.line))));
    }

    fn run(&mut self, out: &mut Out, lead: &str, run: &Run, last: bool) -> io::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        let lines = match run.lines {
            Some((a, b)) if a == b => format!("line {a}"),
            Some((a, b)) => format!("lines {a} to {b}"),
            None => String::new(),
        };
        let mut beside = Vec::new();
        if run.put_back > 0 {
            beside.push(format!("{} put back beside it", counted(run.put_back, "parallel row")));
        }
        if run.silent > 0 {
            beside.push(format!("{} without a message", counted(run.silent, "side row")));
        }
        let beside = if beside.is_empty() { String::new() } else { format!("  ({})", beside.join(", ")) };
        out.line([
            plain(format!("{lead}{} ", if last { "●" } else { "│" })),
            plain(format!("{}, {}, {lines}", counted(run.records, "record"), counted(run.messages, "message"))),
            dim(beside),
        ])
    }
}
