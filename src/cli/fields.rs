//! `fields`: the field census.

use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::{Failure, complain_unread, written};
use super::input::{Input, stores};
use super::interrupt;
use super::options::{Form, Format, Output, Paths, Reading};
use super::status::Status;
use crate::audit::fields::{self, Answers, Question};
use crate::metrics::catalogue::Catalogue;
use crate::report::progress::Progress;
use crate::report::{fields_json, fields_table};
use crate::store::Source;

/// Field census: what is never written although its cause occurred.
///
/// A zero is a question, and each gets one of four answers: cannot occur (the format makes it unreachable), did not occur
/// (nor did its cause), lost on the way (its cause occurred, and must write it), unproven (something that could hold it
/// was not read, or its cause does not always write it).
///
/// Without PATH, every agent's home on this machine is read.
#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    form: Form<Format>,
    /// List every JSON path there is, with its count and types
    #[arg(long)]
    all_paths: bool,
    /// Ask for the fields of this catalogue too; its form is that of the
    /// built-in ones (src/metrics/catalogue)
    #[arg(long, value_name = "FILE")]
    catalogue: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    output: Output,
}

/// A catalogue is a few hundred lines; a longer file is none.
const LONGEST_CATALOGUE: u64 = 16 * 1024 * 1024;

/// Runs the command.
///
/// # Errors
/// When the input cannot be read or the report cannot be written; findings are no error.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let more = arguments.catalogue.iter().map(|path| catalogue(path)).collect::<Result<_, _>>()?;
    let meter = interrupt::meter()?;
    let mut input = Input::find(&arguments.paths.paths, &arguments.reading)?;
    input.tell_foreign(arguments.output.quiet);
    if input.is_empty() {
        return Err(input.nothing().into());
    }
    let now = arguments.reading.now();
    let (bytes, files) = input.amount();
    let question = Question { more, all_paths: arguments.all_paths, as_written: arguments.output.show_content };
    let progress = Progress::new(&meter, bytes, files, arguments.output.progress());
    let Input { discovery, stdin } = input;
    let answers = arguments.reading.with_jobs(|| fields::fields(discovery, stdin.as_ref(), &question, &meter))?;
    drop(progress);
    let status = status(&answers);
    complain_unread(answers.errors.iter());
    if arguments.output.quiet {
        return Ok(status);
    }
    let mut out = arguments.output.open(&stores(&answers.discovery))?;
    let report = fields_json::Report { answers: &answers, taken_at: now };
    let extent = fields_table::Extent { verbose: arguments.output.verbose };
    let done = match arguments.form.format {
        Format::Table => fields_table::page(&mut out, &report, extent),
        Format::Json => fields_json::document(&mut out, &report),
    };
    written(done.and_then(|()| out.finish()), status)
}

fn catalogue(path: &Path) -> Result<Catalogue, Failure> {
    let bytes = Source::open(path)
        .and_then(|source| source.read_range(0, LONGEST_CATALOGUE))
        .map_err(|e| Failure::new(format!("the catalogue '{}' cannot be read: {e}", path.display())))?;
    Catalogue::parse(&bytes).map_err(|what| Failure::new(format!("'{}' {what}", path.display())))
}

fn status(answers: &Answers) -> Status {
    let holds = [
        (Status::Interrupted, answers.interrupted),
        (Status::Defect, !answers.defects.is_empty()),
        (Status::Trouble, !answers.errors.is_empty()),
    ];
    Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status))
}
