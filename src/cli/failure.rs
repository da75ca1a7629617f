//! What a command could not do, as a sentence: the fact first, the subject quoted, no full stop; a hint names the next
//! command.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::status::Status;
use crate::report::out;

/// Something that could not be done.
#[derive(Debug)]
pub struct Failure {
    fact: String,
    below: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    /// A fact without a hint.
    pub fn new(fact: impl Into<String>) -> Self {
        Failure { fact: fact.into(), below: Vec::new(), hint: None }
    }

    /// The same with lines below the fact.
    #[must_use]
    pub fn below(mut self, lines: Vec<String>) -> Self {
        self.below = lines;
        self
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fact)
    }
}

impl std::error::Error for Failure {}

/// Prints an error that ended a command.
pub(super) fn report(error: &anyhow::Error) -> Status {
    let failure = error.chain().find_map(|cause| cause.downcast_ref::<Failure>());
    let below = failure.map(|failure| failure.below.as_slice()).unwrap_or_default();
    out::complain("error", &format!("{error:#}"), below, failure.and_then(|failure| failure.hint.as_deref()));
    Status::Trouble
}

/// The status when a report was written: as computed, also when its reader had enough of it and closed the pipe.
///
/// # Errors
/// Any other reason why it could not be written.
pub(super) fn written(result: io::Result<()>, status: Status) -> anyhow::Result<Status> {
    match result {
        Ok(()) => Ok(status),
        Err(e) if is_closed_pipe(&e) => Ok(status),
        Err(e) => Err(anyhow::Error::new(e).context("the report could not be written")),
    }
}

/// How many files that could not be read are named on standard error.
const NAMED: usize = 10;

/// Says on standard error what could not be read: a report that goes to a tool may be seen by nobody.
pub(super) fn complain_unread<'a>(all: impl Iterator<Item = &'a (PathBuf, String)> + Clone) {
    for (path, message) in all.clone().take(NAMED) {
        out::complain("error", &format!("'{}': {message}", path.display()), &[], None);
    }
    let more = all.count().saturating_sub(NAMED);
    if more > 0 {
        out::complain("error", &format!("{more} more files could not be read"), &[], None);
    }
}

/// Whether the reader of a report has gone. serde_json wraps the error of the writer below it.
fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
        || error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<serde_json::Error>())
            .is_some_and(|inner| inner.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
}
