//! `metrics`: figures that say what they count.

use std::path::PathBuf;

use clap::Args;

use super::failure::{Failure, written};
use super::input::{Input, stores};
use super::interrupt;
use super::options::{Output, Reading};
use super::status::Status;
use crate::audit::measure::{self, Measured};
use crate::report::progress::Progress;
use crate::report::{html, metrics_json};

/// Stock and flow, usage, distributions: every figure with what it counts.
///
/// A stock is what is there at one moment, a flow what went through over time; the two are never divided by each other.
/// Every response is counted once: in its session however many rows carry its usage, and in the store however many files
/// hold a copy of it.
///
/// Beside the agents' own readers stands what a strict reader and a text search make of the same files.
///
/// Without PATH, every agent's home on this machine is read.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Sessions, folders of them, or agents' homes; - is one session from
    /// standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Format {
    /// a page for people
    #[default]
    Table,
    /// one document
    Json,
    /// one page for a browser
    Html,
}

/// Runs the command.
///
/// # Errors
/// Whatever keeps it from reporting at all.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let meter = interrupt::meter()?;
    let input = Input::find(&arguments.paths, &arguments.reading)?;
    if input.is_empty() {
        return Err(Failure::new("there is no session in what was given")
            .hint("`sid-audit scan --verbose` on a folder above it tells what was found")
            .into());
    }
    let now = arguments.reading.now();
    let (bytes, files) = input.amount();
    let progress = Progress::new(&meter, bytes, files, arguments.output.progress());
    let Input { discovery, stdin } = input;
    let measured = arguments.reading.with_jobs(|| measure::measure(discovery, stdin.as_ref(), &meter))?;
    drop(progress);
    let status = status(&measured);
    if arguments.output.quiet {
        return Ok(status);
    }
    let mut out = arguments.output.open(&stores(&measured.discovery))?;
    let report = metrics_json::Report { measured: &measured, taken_at: now };
    let done = match arguments.format {
        Format::Table | Format::Json => metrics_json::document(&mut out, &report),
        Format::Html => html::metrics::page(&mut out, &measured, now),
    };
    written(done.and_then(|()| out.finish()), status)
}

fn status(measured: &Measured) -> Status {
    let holds = [
        (Status::Interrupted, measured.interrupted),
        (Status::Defect, !measured.defects.is_empty()),
        (Status::Trouble, !measured.errors.is_empty()),
    ];
    Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status))
}
