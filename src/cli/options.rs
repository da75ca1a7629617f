//! Options that several commands share. Their doc comments are the help, so they are written once.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::failure::Failure;
use crate::agents::{self, registry};
use crate::identity::AgentId;
use crate::report::out::{Colour, Out};
use crate::rules::baseline::Baseline;
use crate::rules::filter::{FailOn, Gate};
use crate::store::Source;

/// How what is read is read.
#[derive(Args, Debug)]
#[command(next_help_heading = "Reading")]
pub struct Reading {
    /// Treat the input as sessions of AGENT instead of detecting it
    #[arg(long, alias = "dialect", value_name = "AGENT", value_parser = agent())]
    pub agent: Option<AgentId>,
    /// Read this many files at once (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// The time that ages are taken against, as RFC 3339 (default: now)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub now: Option<i64>,
}

impl Reading {
    /// The time that ages are taken against, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.now.unwrap_or_else(|| jiff::Timestamp::now().as_millisecond())
    }

    /// Does work on as many threads as were asked for.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn with_jobs<T: Send>(&self, work: impl FnOnce() -> T + Send) -> anyhow::Result<T> {
        let jobs = self.jobs.map_or(0, usize::from);
        // This thread works, too, instead of waiting: its memory is given back better than that of a second one.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).use_current_thread().build()?;
        Ok(pool.install(work))
    }
}

/// What is done with findings.
#[derive(Args, Debug)]
#[command(next_help_heading = "Findings")]
pub struct Policy {
    /// Report only these findings: codes (L101), family letters (L), names, or ALL
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub select: Vec<String>,
    /// Do not report these findings
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub ignore: Vec<String>,
    /// Exit with status 1 when a finding is at least this bad
    #[arg(long, value_enum, value_name = "SEVERITY", default_value_t)]
    pub fail_on: FailOn,
    /// Findings in this file are known: shown and counted, but they fail no run
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
}

/// A baseline is a list of short lines; a longer file is none.
const LONGEST_BASELINE: u64 = 256 * 1024 * 1024;

impl Policy {
    /// Which findings are kept.
    ///
    /// # Errors
    /// A word that names no finding.
    pub fn gate(&self) -> Result<Gate, Failure> {
        Gate::new(&self.select, &self.ignore, &registry::all())
            .map_err(|message| Failure::new(message).hint("`sid-audit explain` lists them"))
    }

    /// The findings that are known.
    ///
    /// # Errors
    /// A file that cannot be read or is no baseline.
    pub fn known(&self) -> Result<Baseline, Failure> {
        known(self.baseline.as_deref())
    }
}

/// The findings of a baseline; none is known without one.
///
/// # Errors
/// As [`Policy::known`].
pub fn known(path: Option<&Path>) -> Result<Baseline, Failure> {
    let Some(path) = path else { return Ok(Baseline::default()) };
    let bytes = Source::open(path)
        .and_then(|source| source.read_range(0, LONGEST_BASELINE))
        .map_err(|e| Failure::new(format!("the baseline '{}' cannot be read: {e}", path.display())))?;
    Baseline::parse(&bytes).map_err(|what| {
        Failure::new(format!("'{}' {what}", path.display())).hint("`sid-audit scan --write-baseline FILE` writes one")
    })
}

/// The names of standard output.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Where a report goes, and how it looks.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct Page {
    /// Write the report to this file (never inside a store; - is standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// When to colour
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub color: Colour,
}

impl Page {
    /// Opens where the report goes.
    ///
    /// # Errors
    /// A file that cannot be written, or that lies inside one of the stores.
    pub fn open(&self, stores: &[&Path]) -> anyhow::Result<Out> {
        self.open_raw(stores, false)
    }

    fn open_raw(&self, stores: &[&Path], raw: bool) -> anyhow::Result<Out> {
        match &self.output {
            None => Ok(Out::stdout(self.color, raw)),
            Some(path) if STDOUT.iter().any(|name| path.as_os_str() == *name) => Ok(Out::stdout(self.color, raw)),
            Some(path) => Ok(Out::file(super::write::create(path, stores)?, self.color)),
        }
    }
}

/// What a report shows, for commands that read sessions.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct Output {
    #[command(flatten)]
    page: Page,
    /// Show message text, which reports leave out otherwise
    #[arg(long)]
    pub show_content: bool,
    /// On a terminal, show bytes of a store as they are, escape sequences
    /// included
    #[arg(long)]
    pub raw: bool,
    /// Show no progress
    #[arg(long)]
    pub no_progress: bool,
    /// Print nothing but errors; the exit status tells
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more about what was read, and how
    #[arg(short, long)]
    pub verbose: bool,
}

impl Output {
    /// Opens where the report goes.
    ///
    /// # Errors
    /// As [`Page::open`].
    pub fn open(&self, stores: &[&Path]) -> anyhow::Result<Out> {
        self.page.open_raw(stores, self.raw)
    }

    /// Whether progress may be shown.
    pub fn progress(&self) -> bool {
        !self.no_progress && !self.quiet
    }
}

/// The name of an agent on the command line.
fn agent() -> impl TypedValueParser<Value = AgentId> {
    let identities = agents::ALL.iter().map(|agent| agent.agent_id().identity());
    let names = identities.map(|identity| PossibleValue::new(identity.name).help(identity.about));
    PossibleValuesParser::new(names).try_map(|name| {
        let agent = agents::named(&name).ok_or("there is no such agent")?;
        Ok::<_, &str>(agent.agent_id())
    })
}

/// A time on the command line: RFC 3339, or a date, which is its first moment in UTC.
fn time(text: &str) -> Result<i64, String> {
    crate::record::time::parse(text.as_bytes())
        .or_else(|| crate::record::time::parse(format!("{text}T00:00:00Z").as_bytes()))
        .ok_or_else(|| "not a time such as 2026-03-10T00:00:00Z or 2026-03-10".to_owned())
}

/// What is read, for commands that read whole stores.
#[derive(Args, Debug)]
pub struct Paths {
    /// Sessions, folders of them, or agents' homes; - is one session from standard input
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// What is read, for commands that read one session.
#[derive(Args, Debug)]
pub struct OneFile {
    /// A session; - reads it from standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// In which of its forms a command writes its report.
#[derive(Args, Debug)]
pub struct Form<F: ValueEnum + Default + Clone + Send + Sync + 'static> {
    /// How the report is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub format: F,
}

/// Where the findings of a run go, so that they are known to the next one.
#[derive(Args, Debug)]
pub struct NewBaseline {
    /// Write the findings of this run as a baseline
    #[arg(long, value_name = "FILE", help_heading = "Findings")]
    pub write_baseline: Option<PathBuf>,
}

/// How a report is written that has these two forms alone.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    /// a page for people
    #[default]
    Table,
    /// one document
    Json,
}
