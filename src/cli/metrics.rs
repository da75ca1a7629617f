//! `metrics`: figures that say what they count.

use std::io::ErrorKind;

use clap::Args;

use super::failure::{Failure, complain_unread, written};
use super::input::{Input, stores};
use super::interrupt;
use super::options::{Form, Output, Paths, Reading};
use super::status::Status;
use crate::audit::measure::{self, Measured};
use crate::audit::{self, Depth, is_session};
use crate::metrics::cross_check::{CrossCheck, Fault};
use crate::metrics::turns::Turns;
use crate::report::progress::Progress;
use crate::report::{html, metrics_json, metrics_table};
use crate::store::meter::Meter;
use crate::store::{Discovery, Source};

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
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    form: Form<Format>,
    /// Count everything a second time by an independent method, and print
    /// both; where they differ and nothing explains it, exit with status 70
    #[arg(long)]
    cross_check: bool,
    /// Of one session, list its turns too: the dearest, the first that came
    /// from the cache, and the cost before and after each change of the model
    #[arg(long)]
    turns: bool,
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
/// When the input cannot be read or the report cannot be written; findings are no error.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let meter = interrupt::meter()?;
    let mut input = Input::find(&arguments.paths.paths, &arguments.reading)?;
    input.tell_foreign(arguments.output.quiet);
    if input.is_empty() {
        return Err(input.nothing().into());
    }
    let now = arguments.reading.now();
    let (bytes, files) = input.amount();
    let progress = Progress::new(&meter, bytes, files, arguments.output.progress());
    let Input { discovery, stdin } = input;
    if arguments.turns {
        one_session(&discovery, stdin.as_ref())?;
    }
    let again = arguments.cross_check.then(Fault::asked_for);
    let measured = arguments.reading.with_jobs(|| measure::measure(discovery, stdin.as_ref(), again, &meter))?;
    drop(progress);
    let turns = arguments.turns.then(|| turns(&measured, stdin.as_ref(), &meter)).transpose()?;
    let status = status(&measured);
    complain_unread(measured.errors.iter());
    if arguments.output.quiet {
        return Ok(status);
    }
    let mut out = arguments.output.open(&stores(&measured.discovery))?;
    let report = metrics_json::Report { measured: &measured, turns: turns.as_ref(), taken_at: now };
    let extent = metrics_table::Extent { verbose: arguments.output.verbose };
    let done = match arguments.form.format {
        Format::Table => metrics_table::page(&mut out, &report, extent),
        Format::Json => metrics_json::document(&mut out, &report),
        Format::Html => html::metrics::page(&mut out, &measured, now),
    };
    written(done.and_then(|()| out.finish()), status)
}

/// Turns are asked of one session.
fn one_session(discovery: &Discovery, stdin: Option<&Source>) -> Result<(), Failure> {
    let sessions = discovery.files.iter().filter(|file| is_session(file.kind)).count() + usize::from(stdin.is_some());
    match sessions {
        1 => Ok(()),
        n => Err(Failure::new(format!("--turns is asked of one session, and {n} were given"))
            .hint("name the session's file: `sid-audit metrics --turns FILE`")),
    }
}

/// The turns of the one session that was measured. What could not be read stands under the errors already.
fn turns(measured: &Measured, stdin: Option<&Source>, meter: &Meter) -> anyhow::Result<Turns> {
    let discovery = &measured.discovery;
    let Some(file) = discovery.files.iter().find(|file| is_session(file.kind)) else { return Ok(Turns::default()) };
    if file.agent_id.is_none() || !measured.errors.is_empty() {
        return Ok(Turns::default());
    }
    match audit::read_session(discovery, file, audit::open(discovery, stdin, file)?, Depth::Lines, meter) {
        Ok((session, agent)) => Ok(Turns::of(&session, agent)),
        Err(e) if e.kind() == ErrorKind::Interrupted => Ok(Turns::default()),
        Err(e) => Err(e.into()),
    }
}

fn status(measured: &Measured) -> Status {
    let is_defect = measured.cross_check.as_ref().is_some_and(CrossCheck::is_defect);
    let holds = [
        (Status::Interrupted, measured.interrupted),
        (Status::Defect, !measured.defects.is_empty() || is_defect),
        (Status::Trouble, !measured.errors.is_empty()),
    ];
    Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status))
}
