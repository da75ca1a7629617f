//! What a resume would do with one session, as its agent's own rules have it, and where those rules err. Analysis as
//! plain data: nothing here prints, and nothing is judged that a rule in `rules` judges.
//!
//! | file | what it answers |
//! | --- | --- |
//! | [`stop`] | where the conversation stopped by the agent's rule |
//! | [`ended`] | how the last run ended: end mark, process, crash snapshot; another question than where it stopped |
//! | [`states`] | one line of the inventory: which state, what becomes of it, and the evidence |
//!
//! Which states an agent has, what becomes of each, and where its rules err, the agent says ([`agent::Resume`]). What
//! cleaning drops and what the model is shown come from `request`, so that `scan`, `chain` and this command cannot
//! disagree.

pub mod agent;
pub mod ended;
pub mod states;
pub mod stop;

use std::path::Path;

use crate::chain::{Refusal, Stop};
use crate::request::{CleanupPass, Request, tail};
use crate::session::Session;
use crate::store::Registration;
use crate::store::meter::Meter;
use agent::Resume;
pub use ended::{EndMark, Ended};
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

impl Fallen {
    /// What a pass dropped.
    pub(crate) fn by(pass: CleanupPass, request: &Request) -> Fallen {
        let (messages, blocks, records) = request.dropped_by(pass);
        Fallen { name: pass.name(), messages, blocks, records }
    }
}

/// Predicts what a resume of this session would do.
pub fn predict(session: &Session, request: &Request, around: Around<'_>) -> Prediction {
    let agent = around.agent;
    let why_not = agent.comes_to_nothing(session).or_else(|| why_not(session));
    let loadable = why_not.is_none();
    let refused = why_not.or_else(|| gives_up(session, request));
    Prediction {
        loadable,
        interruption: stop::stopped(session, request, agent, refused.is_some()),
        ended: ended::ended(session, around),
        states: agent.states(session, request, around, refused.as_deref()),
        layers: agent.layers(request),
        safe_tail: safe_tail(session, request, around, around.tail),
        shown: safe_tail(session, request, around, None).messages,
        refused,
    }
}

/// Why the session loader brings nothing back; none when it does.
fn why_not(session: &Session) -> Option<String> {
    let line = |n: u32| session.record(n).line;
    let chain = &session.chain;
    Some(match chain.refusal? {
        Refusal::NothingParses => "no line is JSON".to_owned(),
        Refusal::NoStart => {
            let broken = match chain.stop {
                Stop::MissingParent(n) | Stop::Repeat(n) | Stop::ParentBelow(n) => {
                    format!(": the way up from the last line breaks on line {}", line(n))
                }
                Stop::Root => String::new(),
            };
            format!("no start record with a session id among what the loader accepts{broken}")
        }
        Refusal::Throws(n, why) => format!("the loader throws on line {}: it {why}", line(n)),
        Refusal::Raises(at, why) => format!("the loader raises {why} on line {at}"),
        Refusal::NoHeader => "no readable header: the agent refuses the file".to_owned(),
        Refusal::NeverReturns(n) => format!("a loop of parents on line {}: the agent never returns", line(n)),
        Refusal::BadDocument(why) => format!("the file {why}"),
    })
}

/// Why a session that loads is given up all the same.
fn gives_up(session: &Session, request: &Request) -> Option<String> {
    let throws = request.throws?;
    let line = session.record(throws).line;
    Some(format!("the cleaning throws on line {line}, whose content is no list: the agent ends with an error"))
}

fn safe_tail(session: &Session, request: &Request, around: Around<'_>, asked: Option<usize>) -> SafeTail {
    let count = request.cleaned_count();
    let asked = asked.unwrap_or_else(|| around.agent.tail(session, count));
    let start = tail::safe_tail(&session.facts, request, asked);
    SafeTail { asked, start, messages: count - start }
}
