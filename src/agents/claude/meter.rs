//! Claude Code: what one response is, and what holds of its session files.

use std::io;

use super::{Claude, recount};
use crate::identity::AgentId;
use crate::metrics::agent::Metering;
use crate::metrics::catalogue::Condition;
use crate::metrics::cross_check::Sums;
use crate::metrics::cross_check::line::{Json, Seen};
use crate::metrics::figure::Cost;
use crate::metrics::records::{Ends, Tally};
use crate::metrics::self_check::Law;
use crate::metrics::usage::{Definition, SessionUsage};
use crate::record::facts::{Kind, Record};
use crate::session::Session;
use crate::store::Source;

impl Metering for Claude {
    fn counted_as(&self) -> AgentId {
        crate::agents::CLAUDE
    }

    fn catalogue(&self) -> &'static str {
        include_str!("fields.json")
    }

    fn conditions(&self, _: &Session) -> Vec<(Condition, u64)> {
        Vec::new()
    }

    fn changes(&self, _: &Tally) -> u64 {
        0
    }

    fn is_older_format(&self, _: &Session) -> bool {
        false
    }

    fn laws(&self, session: &Session) -> [Law; 3] {
        let chained = |r: &Record| {
            matches!(r.kind, Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress)
        };
        [Law::NeedNot("writes no start record"), Law::NeedNot("several roots are lawful"), Law::ids(session, chained)]
    }

    /// A message's id is the API's own and tells alone (`requestId` is missing behind gateways).
    fn response(&self, record: &Record) -> Option<u64> {
        self.row_of(record).or_else(|| (!record.id.is_none()).then(|| record.id.short()))
    }

    /// Each block of a response is a row of its own, with the message's id.
    fn row_of(&self, record: &Record) -> Option<u64> {
        (record.group() != 0).then(|| record.group())
    }

    fn input_means(&self, _: &str, _: &str) -> Definition {
        Definition::WithoutCache
    }

    fn follow_totals(&self, _: &Session, _: &mut SessionUsage) {}

    fn spent(&self, _: &Session) -> Vec<(u32, Cost)> {
        Vec::new()
    }

    fn ends(&self, _: &Session) -> Option<Ends> {
        None
    }

    fn count_again(&self, record: Json<'_>, typed: bool) -> Seen {
        recount::record(record, typed)
    }

    fn count_index_again(&self, _: &Source, _: &mut Sums) -> io::Result<u64> {
        Ok(0)
    }
}
