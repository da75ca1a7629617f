//! Metadata of sid-code as its loader folds it: of each key the value that the last record of the accepted chain gives.
//! In a whole-file session it stands in one object, which newer versions write.

use crate::record::damage::BOM;
use crate::record::facts::Kind;
use crate::record::reread;
use crate::record::value::Value;
use crate::session::{Session, Shape};

/// A stored value.
#[derive(Debug)]
pub(super) struct Stored {
    /// The line of its record; none in a whole-file session.
    pub(super) line: Option<u32>,
    /// The value's JSON; empty when the record has none, which is JavaScript's undefined.
    raw: Vec<u8>,
}

impl Stored {
    /// The value; none for undefined.
    pub(super) fn value(&self) -> Option<Value<'_>> {
        Value::parse(&self.raw)
    }

    /// The value when JavaScript takes it for true: what the agent asks before it restores anything.
    pub(super) fn truthy(&self) -> Option<Value<'_>> {
        self.value().filter(Value::truthy)
    }
}

/// The metadata of one session.
#[derive(Debug)]
pub(super) struct Metadata<'a> {
    session: &'a Session,
    /// The object of a whole-file session.
    whole: Option<Vec<u8>>,
}

impl<'a> Metadata<'a> {
    pub(super) fn of(session: &'a Session) -> Self {
        Metadata { session, whole: whole(session) }
    }

    /// The last value of a key; none when no accepted record gives one.
    pub(super) fn last(&self, key: &str) -> Option<Stored> {
        let session = self.session;
        if session.shape == Shape::Legacy {
            let raw = Value::parse(self.whole.as_deref()?)?.get(key)?.raw().to_vec();
            return Some(Stored { line: None, raw });
        }
        let name = session.facts.names.find(key.as_bytes());
        if name == 0 {
            return None;
        }
        let mut accepted = session.chain.adopted.iter().rev().map(|&n| session.record(n));
        let record = accepted.find(|r| r.kind == Kind::Metadata && r.agent == name)?;
        let text = reread::text(&session.source, record).ok()?;
        let raw = Value::parse(&text)?.get("value").map(|v| v.raw().to_vec()).unwrap_or_default();
        Some(Stored { line: Some(record.line), raw })
    }
}

/// The text of a whole-file session, as its loader has it: it is read whole, whatever its size.
fn document(session: &Session) -> Option<Vec<u8>> {
    if session.shape != Shape::Legacy {
        return None;
    }
    let bytes = session.source.read_range(0, session.source.size()).ok()?;
    let text = bytes.strip_prefix(BOM).unwrap_or(&bytes);
    Some(String::from_utf8_lossy(text).into_owned().into_bytes())
}

fn whole(session: &Session) -> Option<Vec<u8>> {
    Some(Value::parse(&document(session)?)?.get("metadata")?.raw().to_vec())
}

/// A string beside the messages of a whole-file session.
pub(super) fn beside_messages(session: &Session, key: &str) -> Option<String> {
    Value::parse(&document(session)?)?.get(key)?.string()
}
