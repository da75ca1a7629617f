//! `explain`: one finding explained, or the list of them.

use clap::Args;

use super::status::Status;

/// One finding explained; without a code, the list.
#[derive(Args, Debug)]
pub struct Arguments {
    /// A finding's code (L101) or name (torn-tail)
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// Whatever keeps it from reporting at all.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let _ = &arguments.code;
    Ok(Status::Clean)
}
