//! What is read a second time: the text of an id, a line's bytes. From the same descriptor, so that it is the same file.

use std::io;

use super::facts::{Record, flag};
use super::json::decode;
use crate::store::Source;
use crate::text::Text;

/// The record's text as the loader has it: its bytes, or with U+FFFD where they are not UTF-8.
///
/// # Errors
/// Whatever the system says.
pub fn text(source: &Source, record: &Record) -> io::Result<Vec<u8>> {
    let bytes = source.read_range(record.offset, u64::from(record.length))?;
    if !record.has(flag::LOSSY) {
        return Ok(bytes);
    }
    // The length is that of the replaced text, which is never shorter than the bytes: read on, replace, cut.
    let lossy = String::from_utf8_lossy(&bytes).into_owned().into_bytes();
    Ok(lossy[..lossy.len().min(record.length as usize)].to_vec())
}

/// The record's id, none when it has no string as id or the file has changed under us.
pub fn id(source: &Source, record: &Record) -> Option<Text> {
    if !record.has(flag::ID_STRING) {
        return None;
    }
    let text = text(source, record).ok()?;
    let raw = text.get(record.id_at as usize..)?;
    Some(Text::new(decode(&raw[..string_end(raw)?])))
}

/// Where the string ends whose text these bytes begin with; none when its closing quote is not among them.
pub(super) fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// A string field of the record, none when it is not there.
pub fn field(source: &Source, record: &Record, path: &[&str]) -> Option<Text> {
    let text = text(source, record).ok()?;
    super::value::Value::parse(&text)?.at(path)?.text()
}
