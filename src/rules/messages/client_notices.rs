//! The records that the client made up itself.

use crate::record::facts::{Kind, flag};
use crate::session::Session;

/// The made-up records that the chain ends in, the last one first. Rows between them that the client writes beside its
/// notices (meta rows, attachments, its own system rows) do not end the run; a prompt that a person typed does.
pub fn made_up_tail(session: &Session) -> Vec<u32> {
    let mut tail = Vec::new();
    for &n in session.chain.adopted.iter().rev() {
        let record = session.record(n);
        match record.kind {
            Kind::Assistant if record.any(flag::SYNTHETIC | flag::API_ERROR) => tail.push(n),
            Kind::User if !record.has(flag::META) => break,
            Kind::Assistant => break,
            _ => {}
        }
    }
    tail
}
