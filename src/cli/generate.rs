//! `generate`: the files that are made from the declarations and committed. Hidden: it is for those who work on sid-audit.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use clap_complete::Shell;

use super::completions;
use super::status::Status;
use crate::agents;
use crate::commit::output::write_generated;
use crate::report::man;

/// Writes the man pages, the completions or the schemas into a folder.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Which of them
    #[arg(value_enum)]
    what: What,
    /// The folder; it is made where there is none
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// one page for each command, the findings and the JSON contract
    Man,
    /// for bash, zsh and fish, under the names that they look for
    Completions,
    /// one JSON Schema for each document
    #[cfg(feature = "schema")]
    Schemas,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be written.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let files = match arguments.what {
        What::Man => pages()?,
        What::Completions => {
            [(Shell::Bash, "sid-audit.bash"), (Shell::Zsh, "_sid-audit"), (Shell::Fish, "sid-audit.fish")]
                .into_iter()
                .map(|(shell, name)| (name.to_owned(), completions::script(shell)))
                .collect()
        }
        #[cfg(feature = "schema")]
        What::Schemas => crate::report::schema::documents(),
    };
    for (name, bytes) in files {
        write_generated(&arguments.folder, &name, agents::HOMES, &bytes)?;
    }
    Ok(Status::Clean)
}

fn pages() -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut statuses = Status::ALL.map(|status| (status.number(), status.meaning()));
    statuses.sort_unstable();
    let pages = man::pages(&super::declared(), &statuses).context("the pages cannot be made")?;
    Ok(pages.into_iter().map(|page| (page.name, page.text)).collect())
}
