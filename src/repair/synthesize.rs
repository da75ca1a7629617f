//! Everything that a repair makes up: ids, marks, words. A pure function of the session's own bytes (law 9), so that a
//! plan made after a crash equals the one before, and every later scan finds what was made (S528).

use uuid::Uuid;

use super::agent::Writer;
use crate::finding::Rule;

/// The name space of ids that this tool makes: version 5 of the URL name space and the tool's name, fixed for ever.
const SPACE: Uuid = Uuid::from_u128(0x7a0b_52a6_36a4_5c6d_9d4e_6f1d_2c1b_5a90);

/// An id for a record that answers a rule for the record with these bytes.
pub fn uuid(session: &[u8], record: &[u8], rule: &Rule) -> Uuid {
    let mut name = Vec::with_capacity(session.len() + record.len() + rule.code.len() + 2);
    for part in [session, record, rule.code.as_bytes()] {
        name.extend_from_slice(&(part.len() as u64).to_le_bytes());
        name.extend_from_slice(part);
    }
    Uuid::new_v5(&SPACE, &name)
}

/// The same in the form of the agent's own.
pub fn id(agent: &dyn Writer, session: &[u8], record: &[u8], rule: &Rule) -> String {
    agent.id(uuid(session, record, rule))
}

/// The member that marks a record which a repair made or changed the content of.
pub fn mark(rule: &Rule) -> String {
    format!(r#""sidAudit":{{"code":"{rule}","version":"{}"}}"#, env!("CARGO_PKG_VERSION"))
}

/// What the model is told in the place of a result that was lost: never that the tool did not run.
pub const UNKNOWN_OUTCOME: &str = "The result of this call was lost and its outcome is unknown. The tool may have run, \
    in full or in part. Check the state of things before repeating it.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tools::{DANGLING_TOOL_RESULT, ORPHAN_TOOL_USE};

    #[test]
    fn ids_are_a_function_of_the_bytes() {
        let (rule, other) = (&ORPHAN_TOOL_USE, &DANGLING_TOOL_RESULT);
        let a = uuid(b"s", b"record", rule);
        assert_eq!(a, uuid(b"s", b"record", rule));
        assert_ne!(a, uuid(b"s", b"record", other));
        assert_ne!(a, uuid(b"sr", b"ecord", rule));
    }
}
