//! What this room asks of an agent: what one response is, which of its figures are stocks, what a fork copies, and how its
//! records are counted a second time.

use std::io;

use super::catalogue::Condition;
use super::cross_check::Sums;
use super::cross_check::line::{Json, Seen};
use super::figure::Cost;
use super::records::{Ends, Tally};
use super::self_check::Law;
use super::usage::{Definition, SessionUsage};
use crate::checkpoint::agent::FileLayer;
use crate::identity::AgentId;
use crate::record::facts::Record;
use crate::session::Session;
use crate::store::Source;

/// What this room has to know of an agent.
pub trait Metering: FileLayer {
    /// The agent whose records it writes: under its name the fields and responses of both are counted.
    fn counted_as(&self) -> AgentId;

    /// What its records are expected to hold, as `catalogue/README.md` tells the form.
    fn catalogue(&self) -> &'static str;

    /// How often a session shows what is no record of its own and yet the cause of a field.
    fn conditions(&self, session: &Session) -> Vec<(Condition, u64)>;

    /// How many records say that files were changed, which a stored snapshot should show.
    fn changes(&self, tally: &Tally) -> u64;

    /// Whether a session is of a format from before its records had ids.
    fn is_older_format(&self, session: &Session) -> bool;

    /// What should hold of a session's own file, in the order of [`super::self_check::CHECKS`].
    fn laws(&self, session: &Session) -> [Law; 3];

    /// The number by which a response is known again, in this file and in others; none for one without any id.
    fn response(&self, record: &Record) -> Option<u64>;

    /// The number of the response that the record is only a row of; none where a response is one record.
    fn row_of(&self, record: &Record) -> Option<u64>;

    /// What the figure for input tokens means, by the provider and, where none is named, by the model.
    fn input_means(&self, provider: &str, model: &str) -> Definition;

    /// Follows the running totals that stand in a session beside its messages.
    fn follow_totals(&self, session: &Session, usage: &mut SessionUsage);

    /// What the running totals grew by, at the record that says so.
    fn spent(&self, session: &Session) -> Vec<(u32, Cost)>;

    /// How the session ends; none where nothing is written at the end of one.
    fn ends(&self, session: &Session) -> Option<Ends>;

    /// What a second count sees in a record, read by another parser and by nothing that the reader uses. `typed`: whether
    /// it stands in a file in which somebody types.
    fn count_again(&self, record: Json<'_>, typed: bool) -> Seen;

    /// Counts an index of copies of files a second time; returns its snapshots.
    ///
    /// # Errors
    /// I/O errors while the file is read.
    fn count_index_again(&self, source: &Source, sums: &mut Sums) -> io::Result<u64>;
}
