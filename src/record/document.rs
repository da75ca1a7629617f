//! Whole-file sessions: one JSON document that holds its messages.
//!
//! Each message becomes a record, so that later rooms need not know that there were no lines. What else the document says,
//! its agent reads ([`Records::document`]).

use std::io;

use super::agent::Records;
use super::facts::{Facts, Kind, StrictStop, flag};
use super::json::{self, Grammar, Kind as Json, Scratch};
use super::read::{At, RecordReader};
use super::value::Value;
use crate::store::Source;

/// What the loader makes of the document.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Why it is not a session: not JSON, or no messages.
    pub refusal: Option<&'static str>,
    /// Its id.
    pub id: Option<String>,
    /// The version of its format.
    pub version: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// When it was made and when it changed last.
    pub times: (Option<String>, Option<String>),
    /// What kind of session it says it is.
    pub kind: Option<String>,
    /// The session's name as its list shows it.
    pub summary: Option<String>,
    /// Whether its messages are an array.
    pub messages_array: bool,
    /// The working directory.
    pub cwd: Option<String>,
}

/// Reads a whole-file session. The loader reads it whole too: what it cannot hold nobody can.
///
/// # Errors
/// I/O errors of the file.
pub fn read(source: &Source, agent: &'static dyn Records) -> io::Result<(Facts, Document)> {
    let bytes = source.read_range(0, crate::store::lines::LONGEST_LINE as u64)?;
    let mut facts = Facts { size: source.size(), terminated: true, ..Facts::default() };
    facts.lines.physical =
        memchr::memchr_iter(b'\n', &bytes).count() as u64 + u64::from(!bytes.ends_with(b"\n") && !bytes.is_empty());
    facts.longest = (bytes.len() as u64, 1);
    facts.bom = bytes.starts_with(super::damage::BOM);
    let mut document = Document::default();
    let text = bytes.strip_prefix(super::damage::BOM).unwrap_or(&bytes);
    let shift = (bytes.len() - text.len()) as u64;
    let lossy;
    let exact = simdutf8::basic::from_utf8(text).is_ok();
    let text = if exact {
        text
    } else {
        lossy = String::from_utf8_lossy(text).into_owned().into_bytes();
        &lossy
    };
    let mut scratch = Scratch::default();
    let read = json::check(text, Grammar::default(), &mut scratch).is_ok();
    let notes = &scratch.notes;
    if !read || !exact || facts.bom || notes.surrogate_count > 0 || notes.depth >= 128 || notes.infinite {
        facts.strict_stop = Some(StrictStop { line: 1, records: 0 });
    }
    let Some(root) = Value::parse(text) else {
        document.refusal = Some("is no JSON");
        return Ok((facts, document));
    };
    let Some((read, messages)) = agent.document(root) else {
        document.refusal = Some("is no JSON");
        return Ok((facts, document));
    };
    document = read;
    (facts.version, facts.provider) = (document.version.clone(), document.provider.clone());
    let Some(messages) = messages.filter(|m| m.kind() != Json::Null) else {
        document.refusal = Some("holds no messages");
        return Ok((facts, document));
    };
    document.messages_array = messages.kind() == Json::Array;
    let mut reader = RecordReader::new(agent);
    let (mut line, mut counted) = (1, 0);
    for item in messages.items() {
        line += memchr::memchr_iter(b'\n', &text[counted..item.start]).count();
        counted = item.start;
        let at = At { line: u32::try_from(line).unwrap_or(u32::MAX), offset: item.start as u64 + shift, exact };
        if reader.read(item.raw(), at, false, &mut facts).is_err() {
            continue;
        }
        if let Some(record) = facts.records.last_mut().filter(|r| r.kind != Kind::NonObject) {
            record.kind = if record.has(flag::ROLE_ASSISTANT) { Kind::Assistant } else { Kind::User };
            record.flags |= flag::MESSAGE;
            if !record.any(flag::ROLE_ASSISTANT | flag::ROLE_USER) {
                record.flags |= flag::ROLE_BAD;
            }
        }
    }
    facts.raw.hits = memchr::memmem::find_iter(&bytes, super::parse::TOOL_RESULT).count() as u64;
    // The records are messages of a document: they have no types and no fields of their own.
    facts.type_counts.clear();
    facts.types.clear();
    facts.fields.clear();
    facts.types.insert("message".to_owned(), facts.records.len() as u64);
    facts.lines.records = facts.records.len() as u64;
    Ok((facts, document))
}
