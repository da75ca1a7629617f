//! The command line: one file per subcommand. Its arguments' doc comments are the help and the man page, and its `run`
//! returns the exit status.
//!
//! `options` holds what several commands share, `input` turns paths into what is read, `status` is the table of exit
//! statuses. Errors end here: an `anyhow` error becomes one sentence on standard error, with a hint where there is one.

pub mod chain;
pub mod checkpoints;
pub mod completions;
pub mod explain;
pub mod failure;
pub mod fields;
pub mod generate;
pub mod input;
pub mod interrupt;
pub mod metrics;
pub mod options;
pub mod predict;
pub mod repair;
pub mod scan;
pub mod status;
mod write;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use crate::report::out;
use status::Status;

/// Audits and repairs the session stores of coding agents: sid-code, Claude Code and pi.
///
/// It says for each session what a resume would bring back, what the model's API would refuse, and which bytes are the
/// cause. Reading never changes a store, and no message text is printed unless --show-content asks for it.
///
/// An error is never found in a healthy store; that nothing was found is no proof.
#[derive(Debug, Parser)]
#[command(name = "sid-audit", version, long_version = crate::report::version::long(), max_term_width = 80, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Scan(scan::Arguments),
    Chain(chain::Arguments),
    Checkpoints(checkpoints::Arguments),
    Metrics(metrics::Arguments),
    Repair(repair::Arguments),
    Predict(predict::Arguments),
    Fields(fields::Arguments),
    Explain(explain::Arguments),
    Completions(completions::Arguments),
    #[command(hide = true)]
    Generate(generate::Arguments),
}

/// Columns of help pages.
const WIDTH: usize = 80;

/// All commands with their arguments, the exit statuses at the end of each page: what parses, and what help, man pages
/// and completions are made of.
pub fn command() -> clap::Command {
    let table = status::table(WIDTH);
    Cli::command().after_long_help(table.clone()).mut_subcommands(|command| command.after_long_help(table.clone()))
}

/// The declaration of the command line without what is hidden: what pages and completions are made from.
fn declared() -> clap::Command {
    let all = Cli::command();
    let shown = all.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned();
    clap::Command::new("sid-audit")
        .version(env!("CARGO_PKG_VERSION"))
        .about(all.get_about().cloned().unwrap_or_default())
        .long_about(all.get_long_about().cloned().unwrap_or_default())
        .subcommand_required(true)
        .subcommands(shown)
}

/// Runs the program on these arguments.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Status {
    let parsed = command().try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version are asked for; everything else is a wrong argument. A closed pipe is no trouble.
            let _ = e.print();
            return if e.use_stderr() { Status::Trouble } else { Status::Clean };
        }
    };
    // What a defect says may quote a file: it is neutralised like everything else.
    std::panic::set_hook(Box::new(|defect| {
        out::complain("defect", &defect.to_string(), &[], Some("please report it; reading never changes a store"));
    }));
    interrupt::outlive_size_limits();
    let ran = catch_unwind(AssertUnwindSafe(|| match cli.command {
        Command::Scan(arguments) => scan::run(&arguments),
        Command::Chain(arguments) => chain::run(&arguments),
        Command::Checkpoints(arguments) => checkpoints::run(&arguments),
        Command::Metrics(arguments) => metrics::run(&arguments),
        Command::Repair(arguments) => repair::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Fields(arguments) => fields::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Generate(arguments) => generate::run(&arguments),
    }));
    match ran {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => failure::report(&error),
        Err(_) => {
            let fact = "this is a defect of sid-audit: it stopped at a point that it should never reach";
            out::complain("error", fact, &[], None);
            Status::Defect
        }
    }
}
