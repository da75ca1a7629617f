//! The agents: each answers in a folder of its own what the rooms below ask.

use crate::finding::Rule;
use crate::identity::AgentId;
use crate::record::facts::flag;
use crate::repair::agent::Writer;
use crate::rules::agent::Judged;
use crate::rules::store::agent::Judges;
use crate::rules::texts::Doc;
use crate::session::{Session, Shape};
use crate::store::Probe;
use crate::store::agent::{Home, Homes, RegistrationKeys};

pub(crate) mod claude;
pub(crate) mod pi;
mod recount;
pub mod registry;
pub(crate) mod sid;
mod wire;

/// All that the rooms ask of an agent, joined.
pub trait Agent: Writer {}

impl<T: Writer> Agent for T {}

/// Every agent whose sessions are read here, in the order in which they are listed.
pub static ALL: [&dyn Agent; 5] = [&sid::Sid, &claude::CLAUDE, &pi::PI, &pi::OPENCLAW, &pi::OMP];

/// sid-code.
pub const SID: AgentId = sid::home::ID;
/// Claude Code.
pub const CLAUDE: AgentId = claude::home::ID;
/// pi.
pub const PI: AgentId = pi::PI.id;
/// OpenClaw.
pub const OPENCLAW: AgentId = pi::OPENCLAW.id;
/// oh-my-pi.
pub const OMP: AgentId = pi::OMP.id;

static IN_STORES: [&dyn Home; ALL.len()] = {
    let mut homes: [&dyn Home; ALL.len()] = [ALL[0]; ALL.len()];
    let mut n = 0;
    while n < ALL.len() {
        homes[n] = ALL[n];
        n += 1;
    }
    homes
};

/// The same, for the room that finds stores.
pub const HOMES: Homes = Homes(&IN_STORES);

static JUDGED: [&dyn Judged; ALL.len()] = {
    let mut judged: [&dyn Judged; ALL.len()] = [ALL[0]; ALL.len()];
    let mut n = 0;
    while n < ALL.len() {
        judged[n] = ALL[n];
        n += 1;
    }
    judged
};

/// The same, for the rules.
pub const JUDGES: Judges = Judges(&JUDGED);

/// The text of a rule, with what each agent does.
pub fn doc(rule: &Rule) -> Doc {
    Doc::new(rule, &JUDGED)
}

/// The agent of this name.
pub fn named(name: &str) -> Option<&'static dyn Agent> {
    ALL.into_iter().find(|agent| agent.agent_id().name() == name)
}

/// What answers for an agent.
pub fn of(agent_id: AgentId) -> &'static dyn Agent {
    ALL.into_iter().find(|agent| agent.agent_id() == agent_id).unwrap_or(ALL[0])
}

/// What answers for the agent that reads a session of this shape. Whole-file sessions are one agent's, whatever was insisted
/// on.
pub fn reader(agent_id: AgentId, shape: Shape) -> &'static dyn Agent {
    if shape == Shape::Legacy { &sid::Sid } else { of(agent_id) }
}

/// What answers for the agent of a session that was read.
pub fn of_session(session: &Session) -> &'static dyn Agent {
    reader(session.agent_id, session.shape)
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

/// What the keys of a registration mean to the agents that keep a registry.
static REGISTRATION: RegistrationKeys = RegistrationKeys {
    pid: "pid",
    session: "sessionId",
    cwd: "cwd",
    kind: "kind",
    started: &["startedAt", "createdAt"],
    began: None,
};

/// Whether a record is a row of the history of prompts.
fn is_prompt_row(record: &Probe) -> bool {
    record.has("display") && (record.has("project") || record.has("pastedContents"))
}

/// Whether one of these signs stands in the bytes.
fn sign_in(bytes: &[u8], signs: &[&[u8]]) -> bool {
    signs.iter().any(|sign| memchr::memmem::find(bytes, sign).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::answer::{ANSWERS, When};
    use std::collections::BTreeSet;

    #[test]
    fn what_has_a_fix_class_has_an_answer_and_the_reverse() {
        let own = ALL.map(|agent| agent.answers());
        for list in own.iter().chain([&ANSWERS]) {
            let codes: BTreeSet<&str> = list.iter().map(|answer| answer.rule.code).collect();
            assert_eq!(codes.len(), list.len(), "a rule has two answers in one list");
            assert!(list.iter().all(|answer| answer.when != When::Decided));
        }
        let answered = own.iter().copied().flatten().chain(ANSWERS).map(|answer| answer.rule.code);
        let fixed = registry::all().filter(|rule| rule.fix.is_some()).map(|rule| rule.code);
        assert_eq!(answered.collect::<BTreeSet<_>>(), fixed.collect::<BTreeSet<_>>());
    }
}
