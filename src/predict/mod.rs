//! What a resume would do with one session, as its agent's own rules have it, and where those rules err. Analysis as
//! plain data: nothing here prints, and nothing is judged that a rule in `rules` judges.
//!
//! | file | what it answers |
//! | --- | --- |
//! | `stop` | where the conversation stopped by the agent's rule, what the agent does next, and where that rule errs |
//! | [`ended`] | how the last run ended: end mark, process, crash snapshot; another question than where it stopped |
//! | `states` | one line of the inventory: which state, what becomes of it, and the evidence |
//! | `sid`, `goal`, `stored` | sid-code's states that stand in the session: metadata, the last of a key on the accepted chain |
//! | `beside` | sid-code's states that stand beside it: sidechains, progress file, worktree binding |
//! | `claude`, `pi` | the same questions to the other two |
//!
//! sid-code's rules are restated from the behaviour of 3f3215144f68. Claude Code's client is closed: what is said of it is
//! what its rows say by the rule that the last one counts, and `unknown` where no open reader shows what becomes of them.
//! What cleaning drops and what the model is shown come from `request`, so that `scan`, `chain` and this command cannot
//! disagree.

pub mod agent;
mod beside;
mod claude;
pub mod ended;
mod goal;
mod pi;
mod sid;
pub mod states;
mod stop;
mod stored;

use std::path::Path;

use crate::chain::{Refusal, Stop};
use crate::dialect::Dialect;
use crate::request::{CleanupPass, Request, tail};
use crate::session::{Session, Shape};
use crate::store::Registration;
use crate::store::meter::Meter;
use agent::Resume;
pub use ended::Ended;
pub use states::{Outcome, State};

/// What lies around a session, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The home of the agent that the session lies in; none for standard input and for a copy elsewhere.
    pub store: Option<&'a Path>,
    /// What the agents registered.
    pub registrations: &'a [Registration],
    /// How many messages of a safe tail were asked for; none: as many as the agent itself would take.
    pub tail: Option<usize>,
    /// What answers for the session's agent.
    pub agent: &'static dyn Resume,
    /// Stops the reading of sidechains.
    pub meter: &'a Meter,
}

/// What a resume would do.
#[derive(Debug)]
pub struct Prediction {
    /// Whether the agent's session loader brings the session back at all.
    pub loadable: bool,
    /// Why it does not, or why the agent gives up after it did.
    pub refused: Option<String>,
    /// Where the conversation stopped.
    pub interruption: Stopped,
    /// How the last run ended.
    pub ended: Ended,
    /// The inventory.
    pub states: Vec<State>,
    /// The cleaning layers in the agent's order.
    pub layers: Vec<Fallen>,
    /// The tail that stands by itself.
    pub safe_tail: SafeTail,
    /// How many messages the model is shown, a summary that stands in front not counted.
    pub shown: usize,
}

/// Where the conversation stopped, as the agent's rule has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stopped {
    /// `none`, `interrupted_prompt`, `interrupted_turn`.
    pub state: &'static str,
    /// The record of the prompt or of the results.
    pub record: Option<u32>,
    /// The tools whose results nobody answered.
    pub tools: Vec<String>,
    /// What the agent does next.
    pub next: String,
    /// Where the rule errs, one sentence each.
    pub doubts: Vec<String>,
}

/// What one cleaning layer drops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fallen {
    /// The layer.
    pub name: &'static str,
    /// Whole messages.
    pub messages: u32,
    /// Blocks, also those of messages that a later layer then drops.
    pub blocks: u32,
    /// The records that it touched, in order.
    pub records: Vec<u32>,
}

/// The last messages that do not begin with a result whose call was cut away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SafeTail {
    /// How many were asked for.
    pub asked: usize,
    /// Where the tail begins, as a place among the messages that are left after cleaning.
    pub start: usize,
    /// How many messages it has.
    pub messages: usize,
}

/// Predicts what a resume of this session would do.
pub fn predict(session: &Session, request: &Request, around: Around<'_>) -> Prediction {
    let why_not = why_not(session);
    let loadable = why_not.is_none();
    let refused = why_not.or_else(|| gives_up(session, request));
    let states = match session.dialect {
        Dialect::Sid => sid::states(session, request, around, refused.as_deref()),
        Dialect::Claude => claude::states(session, around, refused.as_deref()),
        Dialect::Pi | Dialect::Openclaw => pi::states(session, request, refused.as_deref()),
    };
    Prediction {
        loadable,
        interruption: stop::stopped(session, request, refused.is_some()),
        ended: ended::ended(session, around),
        states,
        layers: layers(session, request),
        safe_tail: safe_tail(session, request, around.tail),
        shown: safe_tail(session, request, None).messages,
        refused,
    }
}

/// Why the session loader brings nothing back; none when it does.
fn why_not(session: &Session) -> Option<String> {
    let line = |n: u32| session.record(n).line;
    let chain = &session.chain;
    Some(match (chain.refusal, session.shape) {
        // `docs/formats/sid-code.md`, sections 3 and 4: no start record of a session in it, so the session loader
        // returns null.
        (_, Shape::Sidechain) => "a subagent's transcript: the session loader returns null for it".to_owned(),
        (Some(Refusal::NothingParses), _) => "no line is JSON".to_owned(),
        (Some(Refusal::NoStart), _) => {
            let broken = match chain.stop {
                Stop::MissingParent(n) | Stop::Repeat(n) | Stop::ParentBelow(n) => {
                    format!(": the way up from the last line breaks on line {}", line(n))
                }
                Stop::Root => String::new(),
            };
            format!("no start record with a session id among what the loader accepts{broken}")
        }
        (Some(Refusal::Throws(n, why)), _) => format!("the loader throws on line {}: it {why}", line(n)),
        (Some(Refusal::Raises(at, why)), _) => format!("the loader raises {why} on line {at}"),
        (Some(Refusal::NoHeader), _) => "no readable header: the agent refuses the file".to_owned(),
        (Some(Refusal::NeverReturns(n)), _) => {
            format!("a loop of parents on line {}: the agent never returns", line(n))
        }
        (Some(Refusal::BadDocument(why)), _) => format!("the file {why}"),
        (None, _) if session.dialect == Dialect::Claude && chain.messages.is_empty() => {
            "no message on the chain that the loader takes".to_owned()
        }
        (None, _) => return None,
    })
}

/// Why a session that loads is given up all the same: sid-code's cleaning walks every content without looking first.
fn gives_up(session: &Session, request: &Request) -> Option<String> {
    let throws = request.throws?;
    let line = session.record(throws).line;
    Some(format!("the cleaning throws on line {line}, whose content is no list: the agent ends with an error"))
}

/// The layers of the agent; the unanswered prompt that is taken off is no layer of its own.
fn layers(session: &Session, request: &Request) -> Vec<Fallen> {
    let fallen = |layer: CleanupPass| {
        let (messages, blocks, records) = request.dropped_by(layer);
        Fallen { name: layer.name(), messages, blocks, records }
    };
    match session.dialect {
        Dialect::Sid => {
            // The first is there for later formats and does nothing yet.
            let first = Fallen { name: "legacy-format", messages: 0, blocks: 0, records: Vec::new() };
            let others = [
                CleanupPass::PermissionMode,
                CleanupPass::OpenCalls,
                CleanupPass::ThinkingOnly,
                CleanupPass::Empty,
                CleanupPass::Nameless,
            ];
            std::iter::once(first).chain(others.map(fallen)).collect()
        }
        Dialect::Claude => Vec::new(),
        Dialect::Pi | Dialect::Openclaw => vec![fallen(CleanupPass::FailedTurns)],
    }
}

fn safe_tail(session: &Session, request: &Request, asked: Option<usize>) -> SafeTail {
    let count = request.cleaned_count();
    let asked = asked.unwrap_or_else(|| own_tail(session, count));
    let start = tail::safe_tail(&session.facts, request, asked);
    SafeTail { asked, start, messages: count - start }
}

/// The tail that the agent itself takes: sid-code shows all of a short history, the others trim nothing on a resume.
fn own_tail(session: &Session, count: usize) -> usize {
    match session.dialect {
        Dialect::Sid if count > tail::SHOWN_WHOLE && session.has_summary() => tail::TAIL_WITH_SUMMARY,
        Dialect::Sid if count > tail::SHOWN_WHOLE => tail::TAIL_ALONE,
        _ => count,
    }
}
