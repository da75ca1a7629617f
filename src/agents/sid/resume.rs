//! sid-code: what a resume does, state by state, restated from the behaviour of 3f3215144f68.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `states`, `goal`, `stored` | states that stand in the session: metadata, the last of a key on the accepted chain |
//! | `beside` | states that stand beside it: sidechains, progress file, worktree binding |
//! | `stop` | what it does next, and where its rule errs |
//! | `ended` | how the last run ended |

mod ended;
mod goal;
mod sidecar_files;
mod states;
mod stop;
mod stored;

use std::path::Path;

use super::Sid;
use crate::predict::agent::Resume;
use crate::predict::ended::{Crash, EndMark};
use crate::predict::stop::Open;
use crate::predict::{Around, Fallen, State};
use crate::request::{CleanupPass, Request, tail};
use crate::session::{Session, Shape};

impl Resume for Sid {
    /// `docs/formats/sid-code.md`, sections 3 and 4: no start record of a session in a subagent's transcript, so the
    /// session loader returns null.
    fn comes_to_nothing(&self, session: &Session) -> Option<String> {
        (session.shape == Shape::Sidechain)
            .then(|| "a subagent's transcript: the session loader returns null for it".to_owned())
    }

    fn states(&self, session: &Session, request: &Request, around: Around<'_>, refused: Option<&str>) -> Vec<State> {
        states::states(session, request, around, refused)
    }

    fn layers(&self, request: &Request) -> Vec<Fallen> {
        // The first is there for later formats and does nothing yet.
        let first = Fallen { name: "legacy-format", messages: 0, blocks: 0, records: Vec::new() };
        let others = [
            CleanupPass::PermissionMode,
            CleanupPass::OpenCalls,
            CleanupPass::ThinkingOnly,
            CleanupPass::Empty,
            CleanupPass::Nameless,
        ];
        std::iter::once(first).chain(others.map(|pass| Fallen::by(pass, request))).collect()
    }

    /// All of a short history, else a tail, which is shorter beside a summary.
    fn tail(&self, session: &Session, count: usize) -> usize {
        match count {
            0..=tail::SHOWN_WHOLE => count,
            _ if session.has_summary() => tail::TAIL_WITH_SUMMARY,
            _ => tail::TAIL_ALONE,
        }
    }

    fn next(&self, session: &Session, request: &Request, _open: &[Open]) -> String {
        stop::next(session, request)
    }

    fn doubts(&self, session: &Session, request: &Request, open: &[Open]) -> Vec<String> {
        stop::doubts(session, request, open)
    }

    fn end_mark(&self, session: &Session) -> EndMark {
        ended::end_mark(session)
    }

    fn noted_process(&self, session: &Session) -> Option<String> {
        ended::noted_process(session)
    }

    fn crash(&self, store: &Path, process: &str) -> Option<Crash> {
        ended::crash(store, process)
    }
}
