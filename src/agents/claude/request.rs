//! Claude Code: what is sent after a resume.

use std::collections::HashMap;

use super::Claude;
use super::loader::parallel;
use crate::agents::wire;
use crate::provider::Api;
use crate::record::facts::{Block, BlockKind, Facts, Kind, Record, flag};
use crate::request::agent::Sender;
use crate::request::{Request, Role, interruption};
use crate::session::{Session, Shape};

impl Sender for Claude {
    fn role(&self, facts: &Facts, record: &Record) -> Role {
        match record.kind {
            Kind::Assistant if record.any(flag::API_ERROR | flag::SYNTHETIC) => Role::Aside,
            Kind::Assistant => Role::Model(record.group()),
            _ if facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result) => Role::Results,
            _ if record.any(flag::META | flag::LOCAL_COMMAND | flag::INTERRUPT) => Role::Aside,
            _ => Role::Prompt,
        }
    }

    /// Meta rows are sent too, which the loader does not show.
    ///
    /// A subagent's transcript is walked by the SDK without putting parallel results back
    /// (`docs/formats/claude-code.md`, section 3, rule 8). The client that ran it had them: real healthy subagents fork at
    /// every parallel call. So they are put back here.
    fn speaking<'a>(&self, session: &'a Session) -> Box<dyn Iterator<Item = u32> + 'a> {
        let chain = &session.chain;
        let spoken = move |n: &u32| matches!(session.record(*n).kind, Kind::User | Kind::Assistant);
        if session.shape == Shape::Subagent {
            let whole = parallel::with_parallel(&session.facts, &session.graph, chain.adopted.clone());
            return Box::new(whole.into_iter().filter(spoken));
        }
        let aside = |n: &u32| session.record(*n).any(flag::SIDECHAIN | flag::TEAM);
        Box::new(chain.adopted.iter().copied().filter(move |n| spoken(n) && !aside(n)))
    }

    fn edited(&self, _session: &Session) -> HashMap<u32, Vec<Block>> {
        HashMap::new()
    }

    /// Its records never name a provider, and its own is Anthropic.
    fn api(&self, session: &Session) -> Api {
        wire::api(session, Api::Anthropic, Api::Unknown)
    }

    fn answered_by(&self, session: &Session, record: u32) -> Option<Api> {
        let record = session.record(record);
        let answer = record.kind == Kind::Assistant && !record.any(flag::API_ERROR | flag::SYNTHETIC | flag::FAILED);
        answer.then(|| session.facts.names.get(record.model).map_or(Api::Anthropic, Api::of_model))
    }

    fn has_ended(&self, _session: &Session) -> bool {
        false
    }

    fn clean(&self, session: &Session, request: &mut Request) {
        request.interruption = interruption(session, request);
    }

    fn may_answer(&self, _record: &Record) -> bool {
        true
    }
}
