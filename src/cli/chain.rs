//! `chain`: how one session hangs together.

use std::path::PathBuf;

use clap::Args;

use super::failure::{Failure, written};
use super::input::Input;
use super::interrupt;
use super::options::{Output, Reading};
use super::status::Status;
use crate::audit::{self, PLACES};
use crate::report::chain_json;
use crate::rules::{self, Context};
use crate::session::Session;

/// How one session hangs together: what a resume brings back, and what it leaves.
#[derive(Args, Debug)]
pub struct Arguments {
    /// A session; - reads it from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
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
}

/// Runs the command.
///
/// # Errors
/// Whatever keeps it from reporting at all.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let input = Input::find(std::slice::from_ref(&arguments.file), &arguments.reading)?;
    let name = arguments.file.display();
    if let Some((path, message)) = input.discovery.errors.first() {
        return Err(Failure::new(format!("'{}' {message}", path.display())).into());
    }
    let mut sessions = input.discovery.files.iter().filter(|file| audit::is_session(file.kind));
    let (Some(file), None) = (sessions.next(), sessions.next()) else {
        return Err(Failure::new(format!("'{name}' is no session file"))
            .hint("`sid-audit scan` lists the sessions of a store")
            .into());
    };
    let Some(dialect) = file.dialect else {
        return Err(Failure::new(format!("nothing in '{name}' tells whose session it is"))
            .hint("name the agent with --dialect")
            .into());
    };
    let meter = interrupt::meter()?;
    let path = input.discovery.path(file);
    let source = input.discovery.open(file)?;
    let session = Session::read(path, source, dialect, audit::shape_of(file.kind), &meter)?;
    let now = arguments.reading.now();
    let (findings, _) = rules::session_findings(&Context { session: &session, live: false, now, places: PLACES });
    let below = audit::below_store(&input.discovery, file, &session.path);
    let report = chain_json::Report { session: &session, findings: &findings, below, taken_at: now };
    let mut out = arguments.output.open(&[])?;
    let done = match arguments.format {
        Format::Table | Format::Json => chain_json::document(&mut out, report),
    };
    written(done.and_then(|()| out.finish()), Status::Clean)
}
