//! pi and OpenClaw: what a resume does, state by state.

pub(super) mod states;
mod stop;

use std::path::Path;

use super::{Pi, ResumeRules};
use crate::predict::agent::Resume;
use crate::predict::ended::{Crash, EndMark};
use crate::predict::stop::Open;
use crate::predict::{Around, Fallen, State};
use crate::request::{CleanupPass, Request};
use crate::session::Session;

/// pi stores no leaf: it is the last entry of the file, so a move without an append is lost.
pub(super) const PI: ResumeRules = ResumeRules {
    leaf: "the last entry of the file; a move to another without an entry is lost",
    edits: states::edits,
    made_up: "an error result \"No result provided\"",
    results_of_failed: "; the results of its calls are not",
};

/// OpenClaw writes moves, and leaves out the results of a failed turn with it.
pub(super) const OPENCLAW: ResumeRules = ResumeRules {
    leaf: "as the last move or entry has it",
    edits: states::edits_passed_over,
    made_up: "a result",
    results_of_failed: "",
};

impl Resume for Pi {
    fn comes_to_nothing(&self, _session: &Session) -> Option<String> {
        None
    }

    fn states(&self, session: &Session, request: &Request, _around: Around<'_>, refused: Option<&str>) -> Vec<State> {
        states::states(session, request, refused, &self.resume)
    }

    fn layers(&self, request: &Request) -> Vec<Fallen> {
        vec![Fallen::by(CleanupPass::FailedTurns, request)]
    }

    fn tail(&self, _session: &Session, count: usize) -> usize {
        count
    }

    fn next(&self, session: &Session, request: &Request, open: &[Open]) -> String {
        stop::next(session, &request.interruption, open, &self.resume)
    }

    fn doubts(&self, session: &Session, request: &Request, open: &[Open]) -> Vec<String> {
        stop::doubts(session, request, open, &self.resume)
    }

    fn end_mark(&self, _session: &Session) -> EndMark {
        EndMark::NeverWritten
    }

    fn noted_process(&self, _session: &Session) -> Option<String> {
        None
    }

    fn crash(&self, _store: &Path, _process: &str) -> Option<Crash> {
        None
    }
}
