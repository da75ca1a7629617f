//! What this room asks of an agent: what it sends after a resume, after its own trimming and cleaning.

use std::collections::HashMap;

use super::{Request, Role};
use crate::chain::agent::Loader;
use crate::provider::Api;
use crate::record::facts::{Block, Facts, Record};
use crate::session::Session;

/// What this room has to know of an agent.
pub trait Sender: Loader {
    /// Who speaks in a record, for the request.
    fn role(&self, facts: &Facts, record: &Record) -> Role;

    /// The records that speak in the request, in order.
    fn speaking<'a>(&self, session: &'a Session) -> Box<dyn Iterator<Item = u32> + 'a>;

    /// What was put in the place of a record's own content, by record.
    fn edited(&self, session: &Session) -> HashMap<u32, Vec<Block>>;

    /// Whose rules judge the next request of a session.
    fn api(&self, session: &Session) -> Api;

    /// Whose model answered in a record; none where it is no answer of a model (a notice of the client, a failed turn).
    fn answered_by(&self, session: &Session, record: u32) -> Option<Api>;

    /// Whether the session is at its end: nothing of it is ever sent again.
    fn has_ended(&self, session: &Session) -> bool;

    /// Leaves out what it leaves out before it sends, and says where the conversation stopped.
    fn clean(&self, session: &Session, request: &mut Request);

    /// Whether results in this record count as answers to calls.
    fn may_answer(&self, record: &Record) -> bool;
}
