//! `checkpoints`: can every file really be brought back?

use std::path::PathBuf;

use clap::Args;

use super::failure::{Failure, complain_unread, written};
use super::input::{Input, stores};
use super::interrupt;
use super::options::{Form, NewBaseline, Output, Policy, Reading};
use super::status::Status;
use super::write;
use crate::audit::{self, PLACES, layers};
use crate::checkpoint::Options as IndexOptions;
use crate::checkpoint::model::{Found, Index, IndexRead};
use crate::checkpoint::rebuild::{Limits, content_at};
use crate::finding::Finding;
use crate::report::checkpoints_json::{self, Judged};
use crate::report::{checkpoints_table, out};
use crate::store::Source;
use crate::text::Text;

/// Health of the file layer: what can be brought back, and what the agent's own undo would really do.
///
/// For each checkpoint index: its snapshots, its entries (full, compressed, difference), its quota, and for every
/// snapshot whether each file can be rebuilt and whether undo, rewind and restore would bring back the right bytes.
/// Nothing is ever written into a file of yours: moves are predicted, not made.
///
/// When an index is torn, do not start the agent first: it begins with an empty history and overwrites what is left.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Checkpoint indexes, folders of them, or agents' homes
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Rebuild every file at every snapshot, however large the index
    #[arg(long)]
    verify: bool,
    /// Print the bytes of FILE at SNAPSHOT (of the one index that PATH names)
    #[arg(long, num_args = 2, value_names = ["SNAPSHOT", "FILE"], conflicts_with = "diff")]
    show: Option<Vec<String>>,
    /// Print what changed in FILE between snapshots A and B, as a unified diff
    #[arg(long, num_args = 3, value_names = ["A", "B", "FILE"])]
    diff: Option<Vec<String>>,
    #[command(flatten)]
    form: Form<Format>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    new: NewBaseline,
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
    /// one line per index
    Ndjson,
}

/// Runs the command.
///
/// # Errors
/// When the input cannot be read or the report cannot be written; findings are no error.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let (gate, known) = (arguments.policy.gate()?, arguments.policy.known()?);
    let meter = interrupt::meter()?;
    let input = Input::find(&arguments.paths, &arguments.reading)?;
    let indexes = layers::indexes(&input.discovery);
    if indexes.is_empty() {
        input.tell_unread();
        return Err(Failure::new("there is no checkpoint index in what was given")
            .hint("name a checkpoint folder, its index.json, or an agent's home")
            .into());
    }
    if let Some(asked) = arguments.show.as_ref().or(arguments.diff.as_ref()) {
        let [only] = indexes[..] else {
            return Err(Failure::new(format!(
                "there are {} checkpoint indexes in what was given, not one",
                indexes.len()
            ))
            .hint("name the index.json of one session")
            .into());
        };
        let source = input.discovery.open(&input.discovery.files[only as usize])?;
        return bring_back(arguments, &source, asked);
    }
    let options = IndexOptions { verify: arguments.verify, ..IndexOptions::default() };
    let judge = || layers::judge_indexes(&input.discovery, &options, PLACES, &meter);
    let layers::Indexes { judged, mut errors, defects } = arguments.reading.with_jobs(judge)?;
    let judged = judged.into_iter().map(|(audit, mut kept)| {
        let file = &input.discovery.files[kept.file as usize];
        let path = input.discovery.path(file);
        let below = audit::below_store(&input.discovery, file, &path).to_owned();
        kept.findings.retain(|f| gate.keeps(f));
        Judged { path, below, audit, kept }
    });
    let judged: Vec<Judged> = judged.collect();
    errors.extend(input.discovery.errors.iter().cloned());
    errors.sort();
    if let Some(path) = &arguments.new.write_baseline {
        write::baseline(path, &stores(&input.discovery), judged.iter().map(Judged::listed))?;
    }
    let fails = |f: &Finding| arguments.policy.fail_on.fails(f.severity);
    let failing = judged.iter().any(|j| known.unknown(&j.kept.findings, &j.below).any(fails));
    let holds = [
        (Status::Interrupted, meter.stopped()),
        (Status::Defect, !defects.is_empty()),
        (Status::Trouble, !errors.is_empty()),
        (Status::Findings, failing),
    ];
    let status = Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status));
    complain_unread(errors.iter().chain(&defects));
    if arguments.output.quiet {
        return Ok(status);
    }
    let report = checkpoints_json::Report {
        discovery: &input.discovery,
        judged: &judged,
        errors: &errors,
        verify: arguments.verify,
        taken_at: arguments.reading.now(),
        known: &known,
    };
    let mut out = arguments.output.open(&stores(&input.discovery))?;
    let done = match arguments.form.format {
        Format::Table => checkpoints_table::page(&mut out, report),
        Format::Json => checkpoints_json::document(&mut out, report),
        Format::Ndjson => checkpoints_json::lines(&mut out, report),
    };
    written(done.and_then(|()| out.finish()), status)
}

/// `--show` and `--diff`: the bytes of a file at a snapshot, or of two.
fn bring_back(arguments: &Arguments, source: &Source, asked: &[String]) -> anyhow::Result<Status> {
    let index = match Index::read(source, None)? {
        IndexRead::Readable(index) => index,
        IndexRead::Torn { salvaged, .. } => {
            out::complain("warning", "the index is torn: only whole snapshots before the cut are there", &[], None);
            salvaged
        }
        IndexRead::TooLarge { what, limit } => {
            return Err(Failure::new(format!("the index cannot be read: {what} than the limit of {limit}")).into());
        }
        IndexRead::NotAnIndex { .. } | IndexRead::Empty => {
            return Err(Failure::new("the file is no checkpoint index").into());
        }
    };
    let mut out = arguments.output.open(&[])?;
    let done = match asked {
        [snapshot, file] => {
            let bytes = at(&index, source, snapshot, file)?;
            out.bytes(&bytes)
        }
        [a, b, file] => {
            let (old, new) = (at(&index, source, a, file)?, at(&index, source, b, file)?);
            let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
            let diff = similar::TextDiff::from_lines(&*old, &*new);
            let names = (format!("{file} at {a}"), format!("{file} at {b}"));
            out.bytes(diff.unified_diff().header(&names.0, &names.1).to_string().as_bytes())
        }
        _ => return Err(Failure::new("a snapshot and a file are needed").into()),
    };
    written(done.and_then(|()| out.finish()), Status::Clean)
}

fn at(index: &Index, source: &Source, snapshot: &str, file: &str) -> anyhow::Result<Vec<u8>> {
    let position = match index.find(&Text::from(snapshot)) {
        Found::At(position) => position,
        Found::Nowhere | Found::Throws => {
            let ids: Vec<String> = index.snapshots.iter().rev().take(10).map(|s| s.id.lossy()).collect();
            return Err(Failure::new(format!("there is no snapshot \"{snapshot}\""))
                .hint(format!("the last ones are {}", ids.join(", ")))
                .into());
        }
    };
    let Some(number) = index.file(file.as_bytes()) else {
        return Err(Failure::new(format!("no snapshot holds the file \"{file}\"")).into());
    };
    let content = content_at(index, source, number, position, Limits::default());
    match (content.carried, content.rebuilt) {
        // What the snapshot itself proves goes before what the agent makes of it.
        (Some(bytes), _) => {
            out::complain(
                "warning",
                "the agent itself rebuilds something else here; these are the bytes that the snapshot carries",
                &[],
                None,
            );
            Ok(bytes)
        }
        (None, Ok(Some(bytes))) => Ok(bytes),
        (None, Ok(None)) => {
            Err(Failure::new(format!("\"{file}\" cannot be rebuilt at {snapshot}: no full copy stands before it"))
                .into())
        }
        (None, Err(fault)) => {
            Err(Failure::new(format!("\"{file}\" cannot be rebuilt at {snapshot}: {}", fault.words())).into())
        }
    }
}
