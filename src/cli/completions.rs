//! `completions`: what a shell needs to complete commands, options and their values.

use std::io::Write;

use clap::Args;
use clap_complete::Shell;

use super::failure::written;
use super::options::Page;
use super::status::Status;

/// What a shell needs to complete commands, options and their values.
///
/// Write it to where your shell looks for completions, such as
/// ~/.local/share/bash-completion/completions/sid-audit for bash, a folder of $fpath under the name _sid-audit for zsh,
/// and ~/.config/fish/completions/sid-audit.fish for fish.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
    #[command(flatten)]
    page: Page,
}

/// Runs the command.
///
/// # Errors
/// A file that cannot be written.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let mut out = arguments.page.open(&[])?;
    let done = out.write_all(&script(arguments.shell)).and_then(|()| out.finish());
    written(done, Status::Clean)
}

/// The completions for a shell. The program's name is what is completed, whatever path it was started by.
pub(super) fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut super::declared(), "sid-audit", &mut script);
    script
}
