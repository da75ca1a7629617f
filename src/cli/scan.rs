//! `scan`: the health of whole stores.

use clap::Args;

use super::failure::{complain_unread, written};
use super::input::{Input, stores};
use super::options::{Form, NewBaseline, Output, Paths, Policy, Reading};
use super::status::Status;
use super::{interrupt, write};
use crate::audit::{self, Options, PLACES, Scan};
use crate::finding::Finding;
use crate::metrics::cross_check::{CrossCheck, Fault};
use crate::report::out::Out;
use crate::report::progress::Progress;
use crate::report::scan_table::{self, Extent};
use crate::report::{by_file, html, junit, sarif, scan_json};
use crate::rules::baseline::Baseline;
use crate::rules::filter::Gate;

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
    #[command(flatten)]
    paths: Paths,
    #[command(flatten)]
    form: Form<Format>,
    /// List every session, not only the worst
    #[arg(long)]
    all: bool,
    /// List at most this many places of one finding
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_per_code: Option<u32>,
    /// Count every total a second time by an independent method, and print both; where they differ and nothing explains
    /// it, exit with status 70
    #[arg(long)]
    cross_check: bool,
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
    /// one line per session, to be put together from many machines
    Ndjson,
    /// SARIF 2.1.0, for sites that track findings over time
    Sarif,
    /// JUnit XML: a test for each session, for CI
    Junit,
    /// one page that needs nothing else, for a browser
    Html,
}

/// How many places of one finding the page names.
const NAMED: usize = 3;

/// Runs the command.
///
/// # Errors
/// When the input cannot be read or the report cannot be written; findings are no error.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let (gate, known) = (arguments.policy.gate()?, arguments.policy.known()?);
    let meter = interrupt::meter()?;
    let mut input = Input::find(&arguments.paths.paths, &arguments.reading)?;
    input.tell_foreign(arguments.output.quiet);
    if input.is_empty() {
        return Err(input.nothing().into());
    }
    let now = arguments.reading.now();
    let places = arguments.max_per_code.map_or(PLACES, |n| n as usize);
    let (bytes, files) = input.amount();
    let again = arguments.cross_check.then(Fault::asked_for);
    let options = Options { gate, places, now, verify: false, stdin: input.stdin, again };
    let progress = Progress::new(&meter, bytes, files, arguments.output.progress());
    let scan = arguments.reading.with_jobs(|| audit::scan(input.discovery, &options, &meter))?;
    drop(progress);
    if let Some(path) = &arguments.new.write_baseline {
        write::baseline(path, &stores(&scan.discovery), by_file::of_scan(&scan))?;
    }
    let status = status(&scan, &known, |finding| arguments.policy.fail_on.fails(finding.severity));
    complain_unread(scan.errors.iter().chain(&scan.defects));
    if scan.interrupted {
        interrupt::tell(scan.totals.unread, files, "sessions were not looked at");
    }
    if arguments.output.quiet {
        return Ok(status);
    }
    let mut out = arguments.output.open(&stores(&scan.discovery))?;
    let print = Print { arguments, scan: &scan, known: &known, gate: &options.gate, now, status };
    let done = print.to(&mut out);
    written(done.and_then(|()| out.finish()), status)
}

/// What the forms of the report are made of.
struct Print<'a> {
    arguments: &'a Arguments,
    scan: &'a Scan,
    known: &'a Baseline,
    gate: &'a Gate,
    now: i64,
    status: Status,
}

impl Print<'_> {
    fn to(&self, out: &mut Out) -> std::io::Result<()> {
        let Print { arguments, scan, known, gate, now, status } = *self;
        let report = scan_json::Report { scan, known, taken_at: now };
        let extent = Extent {
            all: arguments.all,
            places: arguments.max_per_code.map_or(NAMED, |n| n as usize),
            verbose: arguments.output.verbose,
        };
        match arguments.form.format {
            Format::Table => scan_table::page(out, report, extent),
            Format::Json => scan_json::document(out, report),
            Format::Ndjson => scan_json::lines(out, report),
            Format::Html => html::scan::page(out, report, arguments.all),
            Format::Sarif => {
                let report = sarif::Report {
                    command: "scan",
                    discovery: &scan.discovery,
                    gate,
                    known: arguments.policy.baseline.is_some().then_some(known),
                    errors: &scan.errors,
                    defects: &scan.defects,
                    interrupted: scan.interrupted,
                    exit: (status.number(), status.meaning()),
                    taken_at: now,
                };
                sarif::document(out, report, || by_file::of_scan(scan))
            }
            Format::Junit => {
                let report = junit::Report {
                    command: "scan",
                    discovery: &scan.discovery,
                    known,
                    fails: &|finding| arguments.policy.fail_on.fails(finding.severity),
                    errors: [&scan.errors, &scan.defects],
                    taken_at: now,
                };
                junit::document(out, report, || by_file::of_scan(scan))
            }
        }
    }
}

fn status(scan: &Scan, known: &Baseline, fails: impl Fn(&Finding) -> bool) -> Status {
    let failing = by_file::of_scan(scan).any(|file| known.unknown(file.findings, &file.below).any(&fails));
    let holds = [
        (Status::Interrupted, scan.interrupted),
        (Status::Defect, !scan.defects.is_empty() || scan.cross_check.as_ref().is_some_and(CrossCheck::is_defect)),
        (Status::Trouble, !scan.errors.is_empty()),
        (Status::Findings, failing),
    ];
    Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status))
}
