//! `scan`: the health of whole stores.

use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::{Failure, written};
use super::input::{Input, stores};
use super::options::{Output, Policy, Reading};
use super::status::Status;
use super::{interrupt, write};
use crate::audit::{self, Options, PLACES, Scan};
use crate::finding::Finding;
use crate::report::progress::Progress;
use crate::report::scan_table::{self, Extent};
use crate::report::{json, out, scan_json};
use crate::rules::baseline::{self, Baseline};
use crate::rules::fingerprint::Fingerprints;

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
    /// Write the findings of this run as a baseline
    #[arg(long, value_name = "FILE", help_heading = "Findings")]
    write_baseline: Option<PathBuf>,
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

/// How many places of one finding the page names.
const NAMED: usize = 3;

/// Runs the command.
///
/// # Errors
/// Whatever keeps it from reporting at all.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let (gate, known) = (arguments.policy.gate()?, arguments.policy.known()?);
    let meter = interrupt::meter()?;
    let input = Input::find(&arguments.paths, &arguments.reading)?;
    if input.is_empty() {
        return Err(Failure::new("there is no session in what was given")
            .hint("`sid-audit scan --verbose` on a folder above it tells what was found")
            .into());
    }
    let now = arguments.reading.now();
    let places = arguments.max_per_code.map_or(PLACES, |n| n as usize);
    let (bytes, files) = input.amount();
    let options = Options { gate, places, now, verify: false, stdin: input.stdin };
    let progress = Progress::new(&meter, bytes, files, arguments.output.progress());
    let scan = arguments.reading.with_jobs(|| audit::scan(input.discovery, &options, &meter))?;
    drop(progress);
    if let Some(path) = &arguments.write_baseline {
        write_baseline(path, &scan)?;
    }
    let status = status(&scan, &known, |finding| arguments.policy.fail_on.fails(finding.severity));
    if arguments.output.quiet || arguments.format != Format::Table {
        // A page has a place of its own for them.
        complain(&scan);
    }
    if arguments.output.quiet {
        return Ok(status);
    }
    let report = scan_json::Report { scan: &scan, known: &known, taken_at: now };
    let mut out = arguments.output.open(&stores(&scan.discovery))?;
    let extent = Extent {
        all: arguments.all,
        places: arguments.max_per_code.map_or(NAMED, |n| n as usize),
        verbose: arguments.output.verbose,
    };
    let done = match arguments.format {
        Format::Table => scan_table::page(&mut out, report, extent),
        Format::Json => scan_json::document(&mut out, report),
        Format::Ndjson => scan_json::lines(&mut out, report),
    };
    written(done.and_then(|()| out.finish()), status)
}

/// How many files that could not be read are named on standard error.
const NAMED_ERRORS: usize = 10;

/// Says on standard error what could not be read: a report that goes to a tool may be seen by nobody.
fn complain(scan: &Scan) {
    let all = || scan.errors.iter().chain(&scan.defects);
    for (path, message) in all().take(NAMED_ERRORS) {
        out::complain("error", &format!("'{}': {message}", path.display()), &[], None);
    }
    let more = all().count().saturating_sub(NAMED_ERRORS);
    if more > 0 {
        out::complain("error", &format!("{more} more files could not be read"), &[], None);
    }
}

fn status(scan: &Scan, known: &Baseline, fails: impl Fn(&Finding) -> bool) -> Status {
    let failing = each(scan).any(|(_, below, findings)| known.unknown(findings, &below).any(&fails));
    let holds = [
        (Status::Interrupted, scan.interrupted),
        (Status::Defect, !scan.defects.is_empty()),
        (Status::Trouble, !scan.errors.is_empty()),
        (Status::Findings, failing),
    ];
    Status::worst(holds.into_iter().filter(|(_, holds)| *holds).map(|(status, _)| status))
}

/// The findings of each file that has some, with its path and that below its store; those of no single file last.
fn each(scan: &Scan) -> impl Iterator<Item = (PathBuf, PathBuf, &[Finding])> {
    let discovery = &scan.discovery;
    let sessions = scan.sessions.iter().filter(|session| !session.findings().is_empty()).filter_map(|session| {
        let file = discovery.files.get(session.file as usize)?;
        let path = discovery.path(file);
        let below = audit::below_store(discovery, file, &path).to_owned();
        Some((path, below, session.findings()))
    });
    let indexes = scan.checkpoints.iter().filter(|index| !index.findings.is_empty()).filter_map(|index| {
        let file = discovery.files.get(index.file as usize)?;
        let path = discovery.path(file);
        let below = audit::below_store(discovery, file, &path).to_owned();
        Some((path, below, index.findings.as_slice()))
    });
    sessions.chain(indexes).chain(std::iter::once((PathBuf::new(), PathBuf::new(), scan.store.as_slice())))
}

fn write_baseline(path: &Path, scan: &Scan) -> Result<(), Failure> {
    let mut entries = Vec::new();
    for (_, below, findings) in each(scan) {
        let mut fingerprints = Fingerprints::new(&below);
        entries.extend(findings.iter().map(|finding| baseline::Entry {
            code: finding.rule.code.to_owned(),
            path: finding.path.as_deref().unwrap_or(&below).to_string_lossy().into_owned(),
            fingerprint: fingerprints.of(finding),
        }));
    }
    let document = baseline::Document::new(entries);
    write::write(path, &stores(&scan.discovery), |file| json::document(file, &document))
}
