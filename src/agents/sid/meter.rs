//! sid-code: what one response is, what its running totals say beside the messages, and what holds of its session files.

use std::io;

use super::{Sid, recount, recount_index, totals};
use crate::identity::AgentId;
use crate::metrics::agent::Metering;
use crate::metrics::catalogue::Condition;
use crate::metrics::cross_check::Sums;
use crate::metrics::cross_check::line::{Json, Seen};
use crate::metrics::figure::Cost;
use crate::metrics::records::{Ends, Tally};
use crate::metrics::self_check::Law;
use crate::metrics::usage::{Definition, SessionUsage};
use crate::record::facts::{Kind, Record, flag};
use crate::session::{Session, Shape};
use crate::store::Source;

impl Metering for Sid {
    fn counted_as(&self) -> AgentId {
        crate::agents::SID
    }

    fn catalogue(&self) -> &'static str {
        include_str!("fields.json")
    }

    fn conditions(&self, session: &Session) -> Vec<(Condition, u64)> {
        let records = &session.facts.records;
        let count = |of: &dyn Fn(&Record) -> bool| records.iter().filter(|r| of(r)).count() as u64;
        // Another process went on behind an end mark, or says that it did.
        let trace = session.facts.names.find(b"trace_session_id");
        let resumed = |pair: &&[Record]| {
            let says_so = trace != 0 && pair[1].kind == Kind::Metadata && pair[1].agent == trace;
            pair[0].kind == Kind::End || says_so
        };
        let is_fork = |r: &Record| r.kind == Kind::Start && r.has(flag::PARENT_STRING) && !r.parent.is_none();
        vec![
            (Condition::Compactions, count(&|r| r.has(flag::COMPACTED))),
            (Condition::Sidechains, u64::from(session.shape == Shape::Sidechain)),
            (Condition::Forks, count(&is_fork)),
            (Condition::Resumes, records.windows(2).filter(resumed).count() as u64),
        ]
    }

    fn changes(&self, tally: &Tally) -> u64 {
        tally.metadata.get("file_changes")
    }

    /// Format 2.
    fn is_older_format(&self, session: &Session) -> bool {
        let first = session.facts.records.iter().find(|r| r.kind != Kind::NonObject);
        first.is_some_and(|r| !r.any(flag::ID_STRING | flag::ID_OTHER) && r.version == 0)
    }

    fn laws(&self, session: &Session) -> [Law; 3] {
        // A fork's start has its source's session where others have a parent.
        let is_root =
            |r: &&Record| r.kind != Kind::NonObject && !r.id.is_none() && (r.parent.is_none() || r.kind == Kind::Start);
        let roots = session.facts.records.iter().filter(is_root).count();
        [Law::one_start(session), Law::Holds(roots == 1), Law::ids(session, |r| r.kind != Kind::NonObject)]
    }

    /// The uuid tells alone. `msgId` may not: providers repeat it.
    fn response(&self, record: &Record) -> Option<u64> {
        (!record.id.is_none()).then(|| record.id.short())
    }

    fn row_of(&self, _: &Record) -> Option<u64> {
        None
    }

    fn input_means(&self, provider: &str, model: &str) -> Definition {
        input_means(provider, model)
    }

    fn follow_totals(&self, session: &Session, usage: &mut SessionUsage) {
        if session.shape == Shape::Main {
            totals::follow(session, usage);
        }
    }

    fn spent(&self, session: &Session) -> Vec<(u32, Cost)> {
        totals::spent(session)
    }

    fn ends(&self, session: &Session) -> Option<Ends> {
        (session.shape == Shape::Main).then(|| Ends::of(session))
    }

    fn count_again(&self, record: Json<'_>, typed: bool) -> Seen {
        recount::record(record, typed)
    }

    fn count_index_again(&self, source: &Source, sums: &mut Sums) -> io::Result<u64> {
        recount_index::count(source, sums)
    }
}

/// sid-code stores what the provider says, and has one rule for what that means: one provider's word, everything else
/// counts as OpenAI does. Where the session does not name its provider, the model's name tells.
pub(super) fn input_means(provider: &str, model: &str) -> Definition {
    let anthropic = match provider {
        "" => model.len() >= 6 && model.as_bytes()[..6].eq_ignore_ascii_case(b"claude"),
        named => named == "anthropic",
    };
    if anthropic { Definition::WithoutCache } else { Definition::WithCache }
}
