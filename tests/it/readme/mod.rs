//! The README, held to what it shows: every transcript is what the program prints, every command in it is one that the
//! program takes, the jobs for CI do what is promised of them, and the worked example gives the answer that stands below it.
//!
//! `SID_AUDIT_RECORD=1 cargo test --test it readme::` writes the transcripts anew; the difference is for a person to read. A
//! line `...` stands for lines that are left out; where what is printed no longer fits around it, all of it is written.

#![allow(clippy::disallowed_macros, reason = "a check that cannot be made here says so")]

mod ci;
mod engine;
mod transcripts;

use crate::support;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::temp::Temp;

fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// A fenced block.
#[derive(Debug)]
struct Block {
    /// What stands behind the fence.
    language: String,
    /// The number of its first line, from 0.
    start: usize,
    lines: Vec<String>,
}

/// The fenced blocks of a text, in their order.
fn blocks(text: &str) -> Vec<Block> {
    let (mut all, mut open): (Vec<Block>, Option<Block>) = (Vec::new(), None);
    for (n, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => all.extend(open.take()),
            (Some(language), None) => {
                open = Some(Block { language: language.to_owned(), start: n + 1, lines: Vec::new() });
            }
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block without an end: {open:?}");
    all
}

/// The text of the only block in this language that holds these words.
fn block(language: &str, words: &str) -> String {
    let text = std::fs::read_to_string(readme()).unwrap();
    let mut fitting = blocks(&text).into_iter().map(|block| (block.language, block.lines.join("\n") + "\n"));
    let (_, found) = fitting.find(|(of, text)| of == language && text.contains(words)).expect("such a block");
    assert!(fitting.all(|(of, text)| of != language || !text.contains(words)), "{words} is in several");
    found
}

/// A folder as a fresh clone has it, as far as the commands look at it, with an empty home beside it.
fn clone() -> Temp {
    let place = Temp::new("readme");
    let copy = Command::new("cp").arg("-R").arg(support::run::fixtures("demo")).arg(place.join("demo")).status();
    assert!(copy.expect("cp").success());
    std::fs::create_dir_all(place.join("fixtures")).unwrap();
    std::fs::rename(place.join("demo"), place.join("fixtures/demo")).unwrap();
    std::fs::create_dir_all(place.join("home")).unwrap();
    place
}

/// What a shell makes of a command in that folder.
fn shell(place: &Temp, command: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_sid-audit")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(place.path()).stdin(Stdio::null()).env("PATH", path);
    shell.env("HOME", place.join("home")).env("NO_COLOR", "1").env("RUNNER_TEMP", place.path());
    for name in
        ["XDG_STATE_HOME", "SID_CONFIG_DIR", "CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "CLICOLOR_FORCE", "COLUMNS"]
    {
        shell.env_remove(name);
    }
    shell
}

#[test]
fn the_table_of_exit_statuses_is_the_one_of_the_program() {
    let text = std::fs::read_to_string(readme()).unwrap();
    for status in sid_audit::cli::status::Status::ALL {
        let row = format!("| {} | {} |", status.number(), status.meaning());
        assert!(text.lines().any(|line| line == row), "the README lacks: {row}");
    }
}
