//! The agents: each answers in a folder of its own what the rooms below ask.

use crate::dialect::Dialect;
use crate::finding::Rule;
use crate::record::facts::flag;
use crate::repair::agent::Writer;
use crate::rules::agent::Judged;
use crate::rules::texts::Doc;
use crate::session::{Session, Shape};

pub(crate) mod claude;
pub(crate) mod pi;
pub(crate) mod sid;
mod wire;

/// All that the rooms ask of an agent, joined.
pub trait Agent: Writer {}

impl<T: Writer> Agent for T {}

/// Every agent whose sessions are read here.
pub static ALL: [&dyn Agent; 4] = [&sid::Sid, &claude::Claude, &pi::PI, &pi::OPENCLAW];

/// The text of a rule, with what each agent does.
pub fn doc(rule: &Rule) -> Doc {
    Doc::new(rule, &ALL.map(|agent| agent as &dyn Judged))
}

/// What answers for an agent.
pub fn of(dialect: Dialect) -> &'static dyn Agent {
    match dialect {
        Dialect::Sid => &sid::Sid,
        Dialect::Claude => &claude::Claude,
        Dialect::Pi => &pi::PI,
        Dialect::Openclaw => &pi::OPENCLAW,
    }
}

/// What answers for the agent that reads a session of this shape. Whole-file sessions are one agent's, whatever was insisted
/// on.
pub fn reader(dialect: Dialect, shape: Shape) -> &'static dyn Agent {
    if shape == Shape::Legacy { &sid::Sid } else { of(dialect) }
}

/// What answers for the agent of a session that was read.
pub fn of_session(session: &Session) -> &'static dyn Agent {
    reader(session.dialect, session.shape)
}

/// The flags that the first words of a text give its record: the marker of an interrupt, and the elements in which a
/// client keeps the commands that it ran itself.
fn client_words(text: &[u8]) -> u64 {
    const OWN: [&[u8]; 6] = [
        b"<command-name>",
        b"<command-message>",
        b"<local-command-",
        b"<bash-input>",
        b"<bash-stdout>",
        b"<bash-stderr>",
    ];
    match text.first() {
        Some(b'[') if text.starts_with(b"[Request interrupted by user") => flag::INTERRUPT,
        Some(b'<') if OWN.iter().any(|tag| text.starts_with(tag)) => flag::LOCAL_COMMAND,
        _ => 0,
    }
}

/// The flag of a response that its provider cut at the length limit, in the words of the providers' APIs.
fn cut_by_length(stop: &[u8]) -> u64 {
    if matches!(stop, b"max_tokens" | b"length") { flag::CUT_BY_LENGTH } else { 0 }
}
