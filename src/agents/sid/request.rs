//! sid-code: what is sent after a resume. The cleaning itself is in `clean`.

use std::collections::HashMap;

use super::{Sid, clean};
use crate::agents::wire;
use crate::provider::Api;
use crate::record::facts::{Block, BlockKind, Facts, Kind, Record, flag};
use crate::request::agent::Sender;
use crate::request::{Request, Role};
use crate::session::{Session, Shape};

impl Sender for Sid {
    /// A sidechain's role "tool" is sent as the user's.
    fn role(&self, facts: &Facts, record: &Record) -> Role {
        if record.has(flag::ROLE_ASSISTANT) {
            Role::Model(0)
        } else if facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result) {
            Role::Results
        } else {
            Role::Prompt
        }
    }

    fn speaking<'a>(&self, session: &'a Session) -> Box<dyn Iterator<Item = u32> + 'a> {
        Box::new(session.chain.messages.iter().copied())
    }

    fn edited(&self, _session: &Session) -> HashMap<u32, Vec<Block>> {
        HashMap::new()
    }

    fn api(&self, session: &Session) -> Api {
        wire::api(session, Api::Unknown, Api::OpenAi)
    }

    /// A session has one provider.
    fn answered_by(&self, session: &Session, _: u32) -> Option<Api> {
        Some(self.api(session))
    }

    /// Of a subagent's transcript: that it reached its end mark.
    fn has_ended(&self, session: &Session) -> bool {
        session.shape == Shape::Sidechain && session.facts.records.iter().any(|r| r.kind == Kind::TranscriptEnd)
    }

    fn clean(&self, session: &Session, request: &mut Request) {
        clean::clean(session, request);
    }

    /// Results in messages of another role than "user" count for nothing; a sidechain's "tool" is one.
    fn may_answer(&self, record: &Record) -> bool {
        let user = record.kind == Kind::TranscriptMessage || record.has(flag::ROLE_USER);
        user && !record.has(flag::ROLE_ASSISTANT)
    }
}
