//! Counting twice. The figures of `metrics` come from the reader and the pass; here every one of them is counted again by a
//! method that shares nothing with them: lines cut at line feeds, values cut by serde_json, names compared in full.
//!
//! Where the two differ, the lines are compared one by one. A difference is explained when the bytes of the line show why
//! the agent's own loader takes it otherwise (it splits at a carriage return, reads NaN, trims a byte order mark); else one
//! of the two is wrong, which is a defect of ours.
//!
//! It costs a second look at every byte and, for responses, their names: some hundred bytes each.

mod file;
pub mod line;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::metrics::agent::Metering;
use crate::session::{Session, Shape};
use crate::store::Source;
use crate::store::source::Piece;
use file::FileCount;
use usage::AllUsage;

/// Sums by what they are of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sums(pub BTreeMap<String, u64>);

impl Sums {
    /// Adds to a sum.
    pub fn add(&mut self, what: impl Into<String>, n: u64) {
        if n > 0 {
            *self.0.entry(what.into()).or_default() += n;
        }
    }
}

/// What is broken on purpose, for the tests that show a difference to be loud.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// The first method gives up half-way through each file, as a strict reader does at a line that it refuses.
    Reader,
    /// The second method does not know nesting: any `type` is the record's, as a text search has it.
    Scanner,
}

impl Fault {
    /// What a test asked for in the environment (`SID_AUDIT_BREAK_COUNT=reader` or `scanner`); in a shipped build never
    /// anything.
    pub fn asked_for() -> Fault {
        #[cfg(feature = "test-hooks")]
        return match std::env::var("SID_AUDIT_BREAK_COUNT").as_deref() {
            Ok("reader") => Fault::Reader,
            Ok("scanner") => Fault::Scanner,
            _ => Fault::None,
        };
        #[cfg(not(feature = "test-hooks"))]
        Fault::None
    }

    /// What the first method is given to read of a source.
    #[must_use]
    pub fn given(self, source: Source) -> Source {
        match self {
            Fault::Reader => Source::spliced(&source, &[Piece::Base(0, source.size() / 2)]),
            _ => source,
        }
    }
}

/// A line at which the two methods differ.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Difference {
    /// The file's number.
    pub file: u32,
    /// Its physical line.
    pub line: u64,
    /// What the first method makes of it.
    pub first: String,
    /// What the second does.
    pub second: String,
    /// Why both are right; none: one of them is wrong.
    pub why: Option<&'static str>,
    /// The sums that the line is in by one count and not by the other; of `SORTS` only the sort.
    pub on: Vec<String>,
}

/// Sums that are no sums of lines, by how their names begin: one line may make them another sum altogether.
const SORTS: [&str; 3] = [USAGE, PARALLEL, STRICT];
const USAGE: &str = "usage.";
const PARALLEL: &str = "parallel.";
const STRICT: &str = "readers.strict";

/// How many lines at which the methods differ are kept.
pub const KEPT: usize = 200;

/// The second count, as far as it has come.
#[derive(Debug, Default)]
pub struct Recount {
    sums: Sums,
    usage: AllUsage,
    most: u64,
    /// By sum, what explained lines add in the first count more than in the second.
    delta: BTreeMap<String, i64>,
    differences: Vec<Difference>,
    more: u64,
    unexplained: u64,
    /// The `SORTS` that an explained line bears on.
    loose: BTreeSet<&'static str>,
}

impl Recount {
    /// Counts a session again, from the source that the first method was to read.
    ///
    /// # Errors
    /// I/O errors while the file is read.
    pub fn add(
        &mut self,
        fault: Fault,
        file: u32,
        (session, agent): (&Session, &dyn Metering),
        source: &Source,
    ) -> io::Result<()> {
        self.sums.add("files", 1);
        let mut counter = FileCount::new(fault, file, (session, agent), source, self);
        let bytes = if session.shape == Shape::Legacy { counter.document()? } else { counter.lines()? };
        counter.finish();
        self.sums.add("bytes.total", bytes);
        Ok(())
    }

    /// Counts a checkpoint index again.
    ///
    /// # Errors
    /// I/O errors while the file is read.
    pub fn add_index(&mut self, agent: &dyn Metering, source: &Source) -> io::Result<()> {
        let snapshots = agent.count_index_again(source, &mut self.sums)?;
        self.most = self.most.max(snapshots);
        Ok(())
    }

    /// Adds another recount.
    pub fn merge(&mut self, other: Recount) {
        for (what, n) in other.sums.0 {
            self.sums.add(what, n);
        }
        self.usage.merge(other.usage);
        self.most = self.most.max(other.most);
        for (what, n) in other.delta {
            *self.delta.entry(what).or_default() += n;
        }
        self.differences.extend(other.differences);
        self.more += other.more;
        self.unexplained += other.unexplained;
        self.loose.extend(other.loose);
        self.shorten();
    }

    fn shorten(&mut self) {
        if self.differences.len() > 2 * KEPT {
            self.differences.sort();
            self.more += (self.differences.len() - KEPT) as u64;
            self.differences.truncate(KEPT);
        }
    }

    /// Ends the second count and lays it beside the first. `capped`: the first does not name all types and keys. `of`:
    /// how the names of those sums begin that the first has at all.
    pub fn compare(mut self, first: &Sums, capped: bool, of: &[&str]) -> CrossCheck {
        std::mem::take(&mut self.usage).finish(&mut self.sums);
        self.sums.add("checkpoints.largest", self.most);
        self.differences.sort();
        let names: BTreeSet<&String> = first.0.keys().chain(self.sums.0.keys()).collect();
        let mut rows = Vec::new();
        for what in names.into_iter().filter(|what| of.iter().any(|begin| what.starts_with(begin))) {
            let (a, b) = (first.0.get(what).copied().unwrap_or(0), self.sums.0.get(what).copied().unwrap_or(0));
            let differs = i128::from(a) - i128::from(b);
            let explained = i128::from(self.delta.get(what).copied().unwrap_or(0));
            let loose = self.loose.iter().any(|sort| what.starts_with(sort));
            let beyond = capped && a == 0 && (what.starts_with("records.") || what.starts_with("metadata."));
            let holds = differs == explained || loose || beyond;
            rows.push(Row { what: what.clone(), first: a, second: b, holds });
        }
        CrossCheck { rows, differences: self.differences, more: self.more, unexplained: self.unexplained }
    }
}

/// A figure counted by both methods.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// What is counted.
    pub what: String,
    /// By the reader.
    pub first: u64,
    /// By serde_json.
    pub second: u64,
    /// Whether both are the same, or all that they differ by is explained.
    pub holds: bool,
}

/// Both counts side by side.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CrossCheck {
    /// Every figure.
    pub rows: Vec<Row>,
    /// Lines at which the methods differ.
    pub differences: Vec<Difference>,
    /// How many more there are.
    pub more: u64,
    /// Lines at which they differ and nothing explains it.
    pub unexplained: u64,
}

impl CrossCheck {
    /// The lines at which the methods differ and that a figure is in.
    pub fn lines_of<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a Difference> {
        let is_on = |on: &String| *on == row.what || SORTS.contains(&on.as_str()) && row.what.starts_with(on.as_str());
        let differs = row.first != row.second;
        self.differences.iter().filter(move |difference| differs && difference.on.iter().any(is_on))
    }

    /// Whether there is a defect in one of the two.
    pub fn is_defect(&self) -> bool {
        self.unexplained > 0 || self.rows.iter().any(|row| !row.holds)
    }
}

/// The names of the two methods.
pub const METHODS: [&str; 2] = ["reader", "scanner"];
