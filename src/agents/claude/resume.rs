//! Claude Code: what a resume does, state by state. Its client is closed: what is said of it is what its rows say by the
//! rule that the last one counts, and `unknown` where no open reader shows what becomes of them.

mod states;
mod stop;

use std::path::Path;

use super::Claude;
use crate::predict::agent::Resume;
use crate::predict::ended::{Crash, EndMark};
use crate::predict::stop::Open;
use crate::predict::{Around, Fallen, State};
use crate::request::Request;
use crate::session::Session;

impl Resume for Claude {
    fn comes_to_nothing(&self, session: &Session) -> Option<String> {
        let chain = &session.chain;
        (chain.refusal.is_none() && chain.messages.is_empty())
            .then(|| "no message on the chain that the loader takes".to_owned())
    }

    fn states(&self, session: &Session, _request: &Request, around: Around<'_>, refused: Option<&str>) -> Vec<State> {
        states::states(session, around, refused)
    }

    fn layers(&self, _request: &Request) -> Vec<Fallen> {
        Vec::new()
    }

    fn tail(&self, _session: &Session, count: usize) -> usize {
        count
    }

    fn next(&self, session: &Session, request: &Request, _open: &[Open]) -> String {
        stop::next(session, &request.interruption)
    }

    fn doubts(&self, session: &Session, _request: &Request, open: &[Open]) -> Vec<String> {
        stop::doubts(session, open)
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
