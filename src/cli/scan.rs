//! `scan`: the health of whole stores.

use std::path::PathBuf;

use clap::Args;

use super::failure::{Failure, written};
use super::input::Input;
use super::interrupt;
use super::options::{Output, Policy, Reading};
use super::status::Status;
use crate::audit::{self, Options, PLACES, Scan};
use crate::finding::Finding;
use crate::report::scan_json;

/// Health of whole stores: every layer, every session, two verdicts each.
///
/// RESUME says what the agent's own loader would bring back: full, partial (so many messages of so many) or none. API
/// says whether the next prompt would be answered: ok, healed (the agent drops or makes up something before it sends),
/// refused, in flight, or unknown.
///
/// Without PATH, every agent's home on this machine is read: $SID_CONFIG_DIR or ~/.sid-code, $CLAUDE_CONFIG_DIR or
/// ~/.claude, $PI_CODING_AGENT_DIR or ~/.pi/agent.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Sessions, folders of them, or agents' homes; - is one session from standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How the report is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,
    /// List every session, not only the worst
    #[arg(long)]
    all: bool,
    /// List at most this many places of one finding
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_per_code: Option<u32>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    policy: Policy,
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
    /// one line per session, to be put together from many machines
    Ndjson,
}

/// Runs the command.
///
/// # Errors
/// Whatever keeps it from reporting at all.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let (gate, known) = (arguments.policy.gate()?, arguments.policy.known()?);
    let input = Input::find(&arguments.paths, &arguments.reading)?;
    if input.is_empty() {
        return Err(Failure::new("there is no session in what was given").into());
    }
    let now = arguments.reading.now();
    let places = arguments.max_per_code.map_or(PLACES, |n| n as usize);
    let options = Options { gate, places, now, stdin: input.stdin };
    let meter = interrupt::meter()?;
    let scan = arguments.reading.with_jobs(|| audit::scan(input.discovery, &options, &meter))?;
    let report = scan_json::Report { scan: &scan, known: &known, taken_at: now };
    let status = status(&scan, |finding| arguments.policy.fail_on.fails(finding.severity));
    if arguments.output.quiet {
        return Ok(status);
    }
    let mut out = arguments.output.open(&[])?;
    let done = match arguments.format {
        Format::Table | Format::Json => scan_json::document(&mut out, report),
        Format::Ndjson => scan_json::lines(&mut out, report),
    };
    written(done.and_then(|()| out.finish()), status)
}

fn status(scan: &Scan, fails: impl Fn(&Finding) -> bool) -> Status {
    let all = scan.sessions.iter().flat_map(|session| session.findings()).chain(&scan.store);
    let holds = [
        (Status::Interrupted, scan.interrupted),
        (Status::Defect, !scan.defects.is_empty()),
        (Status::Trouble, !scan.errors.is_empty()),
        (Status::Findings, all.into_iter().any(fails)),
    ];
    Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status))
}
