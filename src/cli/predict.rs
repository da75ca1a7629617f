//! `predict`: what a resume of one session would do.

use std::collections::BTreeSet;

use clap::Args;

use super::failure::written;
use super::input::Input;
use super::interrupt;
use super::options::{Form, Format, OneFile, Output, Reading};
use super::status::Status;
use crate::agents;
use crate::audit::{self, PLACES, summary};
use crate::predict::{self, Around};
use crate::report::{predict_json, predict_table};
use crate::rules::filter::Gate;
use crate::rules::{Context, Examined};
use crate::store::liveness;

/// What a resume would do: what the agent takes back, what it leaves, and where its rules err.
///
/// As the agent's own rules have it: whether the session loads, where the conversation stopped and what the agent does
/// with that, which states come back, what its cleaning drops, and which messages the model is shown. How the last run
/// ended is told apart: that is another question than where the conversation stopped.
#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    session: OneFile,
    /// Show the safe tail of N messages instead of the one that the agent takes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tail: Option<u32>,
    #[command(flatten)]
    form: Form<Format>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// When the input cannot be read or the report cannot be written; findings are no error.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let meter = interrupt::meter()?;
    let mut input = Input::find(std::slice::from_ref(&arguments.session.file), &arguments.reading)?;
    let session = match input.session(&arguments.session.file, &meter) {
        Err(_) if meter.stopped() => return Ok(Status::Interrupted),
        read => read?,
    };
    let now = arguments.reading.now();
    let (registrations, _) = liveness::registrations(&input.discovery);
    let live = audit::is_live(&session, &registrations)?;
    let agent = agents::of_session(&session);
    let examined = Examined::of(session, agent);
    let Examined { session, request, .. } = &examined;
    let context = Context::new(&examined, live, now, PLACES);
    let audit = summary::judge(0, &context, &Gate::default());
    let around = Around {
        store: input.discovery.roots.first().and_then(|root| root.store.as_deref()),
        registrations: &registrations,
        tail: arguments.tail.map(|n| n as usize),
        agent,
        meter: &meter,
    };
    let prediction = predict::predict(session, request, around);
    if meter.stopped() {
        return Ok(Status::Interrupted);
    }
    if arguments.output.quiet {
        return Ok(Status::Clean);
    }
    let mut versions = BTreeSet::new();
    summary::versions(session, &mut versions);
    let report =
        predict_json::Report { session, audit: &audit, prediction: &prediction, versions: &versions, taken_at: now };
    let mut out = arguments.output.open(&input.stores())?;
    let done = match arguments.form.format {
        Format::Table => predict_table::page(&mut out, &report),
        Format::Json => predict_json::document(&mut out, &report),
    };
    written(done.and_then(|()| out.finish()), Status::Clean)
}
