//! What each known loader of an agent makes of a session, message by message.

use std::cell::RefCell;

use serde::{Serialize, Serializer};

use super::json_head::IdField;
use crate::chain::Reading;
use crate::record::facts::Facts;
use crate::record::reread::Reread;
use crate::session::Session;
use crate::store::Source;

/// One loader, and what it returns.
#[derive(Serialize)]
pub(super) struct Reader<'a> {
    loader: &'static str,
    messages: Messages<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raises: Option<&'static str>,
}

/// Messages, each read again while it is written: there may be a million.
struct Messages<'a> {
    session: &'a Session,
    source: &'a Source,
    facts: &'a Facts,
    lines_before: u32,
    numbers: &'a [u32],
}

#[derive(Serialize)]
struct Message {
    line: u32,
    #[serde(flatten)]
    id: IdField,
    role: Option<String>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let again = RefCell::new(Reread::new(self.source, self.session.agent));
        serializer.collect_seq(self.numbers.iter().map(|&n| {
            let record = &self.facts.records[n as usize];
            let (id, role) = self.session.agent.shown_as(&mut again.borrow_mut(), record);
            Message { line: self.lines_before + record.line, id: IdField::from(id.as_ref()), role }
        }))
    }
}

/// Every known loader, the one that judges first.
pub(super) fn readers<'a>(session: &'a Session, others: &'a [Reading]) -> Vec<Reader<'a>> {
    let judge = Messages {
        session,
        source: &session.source,
        facts: &session.facts,
        lines_before: 0,
        numbers: if session.chain.refusal.is_none() { &session.chain.messages } else { &[] },
    };
    let raises = session.chain.refusal.and_then(crate::chain::Refusal::raises);
    let mut all = vec![Reader { loader: session.agent_id.loader(), messages: judge, raises }];
    all.extend(others.iter().map(|other| {
        let own = other.own.as_deref();
        let messages = Messages {
            session,
            source: own.map_or(&session.source, |own| &own.source),
            facts: own.map_or(&session.facts, |own| &own.facts),
            lines_before: own.map_or(0, |own| own.lines_before),
            numbers: &other.messages,
        };
        Reader { loader: other.loader, messages, raises: other.raises }
    }));
    all
}
