//! `explain`: one finding explained, or the list of them.

use clap::Args;

use super::failure::{Failure, written};
use super::options::Page;
use super::status::Status;
use crate::agents::registry;
use crate::finding::Rule;
use crate::report::explain;

/// One finding explained; without a code, the list of all findings.
///
/// For each finding: what it is, how it arises, what each agent does with it, what a repair does and what it loses, and
/// the error text that a user sees, where there is one.
#[derive(Args, Debug)]
pub struct Arguments {
    /// A finding's code (L101) or name (torn-tail)
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// How it is written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,
    #[command(flatten)]
    page: Page,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Format {
    /// a page for people
    #[default]
    Table,
    /// a list of one or all
    Json,
}

/// Runs the command.
///
/// # Errors
/// A code that is none.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let one = match &arguments.code {
        None => None,
        Some(code) => Some(registry::find(code).ok_or_else(|| {
            Failure::new(format!("there is no finding '{code}'")).hint("`sid-audit explain` lists them")
        })?),
    };
    let mut out = arguments.page.open(&[])?;
    let done = match (arguments.format, one) {
        (Format::Table, Some(rule)) => explain::page(&mut out, rule),
        (Format::Table, None) => explain::list(&mut out),
        (Format::Json, _) => {
            let rules: Vec<&'static Rule> = one.map_or_else(|| registry::all().collect(), |rule| vec![rule]);
            explain::document(&mut out, &rules)
        }
    };
    written(done.and_then(|()| out.finish()), Status::Clean)
}
