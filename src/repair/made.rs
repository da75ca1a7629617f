//! Everything that a repair makes up: ids, marks, words. A pure function of the session's own bytes (law 9), so that a
//! plan made after a crash equals the one before, and every later scan finds what was made (S528).

use uuid::Uuid;

use crate::dialect::Dialect;

/// The name space of ids that this tool makes: version 5 of the URL name space and the tool's name, fixed for ever.
const SPACE: Uuid = Uuid::from_u128(0x7a0b_52a6_36a4_5c6d_9d4e_6f1d_2c1b_5a90);

/// An id for a record that answers `code` for the record with these bytes, in the form of the agent's own.
pub fn id(dialect: Dialect, session: &[u8], record: &[u8], code: &str) -> String {
    let mut name = Vec::with_capacity(session.len() + record.len() + code.len() + 2);
    for part in [session, record, code.as_bytes()] {
        name.extend_from_slice(&(part.len() as u64).to_le_bytes());
        name.extend_from_slice(part);
    }
    let made = Uuid::new_v5(&SPACE, &name);
    if dialect.is_pi() { made.simple().to_string()[..8].to_owned() } else { made.to_string() }
}

/// The member that marks a record which a repair made or changed the content of.
pub fn mark(code: &str) -> String {
    format!(r#""sidAudit":{{"code":"{code}","version":"{}"}}"#, env!("CARGO_PKG_VERSION"))
}

/// What the model is told in the place of a result that was lost: never that the tool did not run.
pub const UNKNOWN_OUTCOME: &str = "The result of this call was lost and its outcome is unknown. The tool may have run, \
    in full or in part. Check the state of things before repeating it.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_a_function_of_the_bytes() {
        let a = id(Dialect::Claude, b"s", b"record", "T301");
        assert_eq!(a, id(Dialect::Claude, b"s", b"record", "T301"));
        assert_ne!(a, id(Dialect::Claude, b"s", b"record", "T302"));
        assert_ne!(a, id(Dialect::Claude, b"sr", b"ecord", "T301"));
        assert_eq!(id(Dialect::Pi, b"s", b"r", "C209").len(), 8);
    }
}
