//! pi and OpenClaw: what one response is, and what holds of their session files.

use std::io;

use super::{Pi, recount};
use crate::identity::AgentId;
use crate::metrics::agent::Metering;
use crate::metrics::catalogue::Condition;
use crate::metrics::cross_check::Sums;
use crate::metrics::cross_check::line::{Json, Seen};
use crate::metrics::figure::Cost;
use crate::metrics::records::{Ends, Tally};
use crate::metrics::self_check::Law;
use crate::metrics::usage::{Definition, SessionUsage};
use crate::record::facts::{Kind, NO_TIME, Record};
use crate::session::Session;
use crate::store::Source;

impl Metering for Pi {
    /// OpenClaw writes pi's records.
    fn counted_as(&self) -> AgentId {
        if self.title_row { self.id } else { crate::agents::PI }
    }

    fn catalogue(&self) -> &'static str {
        self.catalogue
    }

    fn conditions(&self, _: &Session) -> Vec<(Condition, u64)> {
        Vec::new()
    }

    fn changes(&self, _: &Tally) -> u64 {
        0
    }

    /// Version 1.
    fn is_older_format(&self, session: &Session) -> bool {
        session.facts.version.as_deref().is_none_or(|v| v == "1")
    }

    fn laws(&self, session: &Session) -> [Law; 3] {
        [
            Law::one_start(session),
            Law::NeedNot("several roots are lawful"),
            Law::ids(session, |r| r.kind != Kind::NonObject),
        ]
    }

    /// An entry's id has eight hex digits, too few for a large store: the time goes in with it.
    fn response(&self, record: &Record) -> Option<u64> {
        let time = if record.time == NO_TIME { 0 } else { record.time };
        (!record.id.is_none()).then(|| record.id.short() ^ (time as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn row_of(&self, _: &Record) -> Option<u64> {
        None
    }

    /// pi gives every provider's figures this one meaning.
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
