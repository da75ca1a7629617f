//! What this room asks of an agent: what its resume does, state by state.

use std::path::Path;

use super::ended::{Crash, EndMark};
use super::stop::Open;
use super::{Around, Fallen, State};
use crate::metrics::agent::Metering;
use crate::request::Request;
use crate::session::Session;

/// What this room has to know of an agent.
pub trait Resume: Metering {
    /// Why a session whose lines it can read comes to nothing all the same.
    fn comes_to_nothing(&self, session: &Session) -> Option<String>;

    /// What becomes of each of its states. `refused` is why the session is not brought back.
    fn states(&self, session: &Session, request: &Request, around: Around<'_>, refused: Option<&str>) -> Vec<State>;

    /// What each pass of its cleaning drops, in its order; the unanswered prompt that is taken off is no pass.
    fn layers(&self, request: &Request) -> Vec<Fallen>;

    /// How many of so many cleaned messages it shows the model.
    fn tail(&self, session: &Session, count: usize) -> usize;

    /// What it does next with a history that ends in these open calls.
    fn next(&self, session: &Session, request: &Request, open: &[Open]) -> String;

    /// Where its rule for an interruption errs, one sentence each.
    fn doubts(&self, session: &Session, request: &Request, open: &[Open]) -> Vec<String>;

    /// Whether an end mark closes the last run.
    fn end_mark(&self, session: &Session) -> EndMark;

    /// The id of the process that wrote last, where it notes one in the session.
    fn noted_process(&self, session: &Session) -> Option<String>;

    /// What a crash of this process left in the agent's home.
    fn crash(&self, store: &Path, process: &str) -> Option<Crash>;
}
