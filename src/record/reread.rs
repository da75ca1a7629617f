//! Records read a second time, from the same descriptor, so that it is the same file: one by itself ([`text`], [`id`],
//! [`field`]), or many in file order ([`Reread`]): through a window, so that a million ids cost as many bytes read as the
//! file has and not a million calls.

use std::io;

use super::agent::{Field, Records, Speaker};
use super::facts::{Record, flag};
use super::json::decode;
use super::value::Value;
use crate::store::Source;
use crate::text::Text;

/// How much is read at a time.
const WINDOW: usize = 256 * 1024;
/// How much is read for an id at first: all agents' ids and their closing quotes.
const ID: usize = 64;
/// How far ahead of the last one a stretch may begin to be taken for the next of a row.
const AHEAD: u64 = 64 * 1024;

/// The record's text as the loader has it: its bytes, or with U+FFFD where they are not UTF-8.
///
/// # Errors
/// I/O errors of the file.
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
fn string_end(bytes: &[u8]) -> Option<usize> {
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
    Value::parse(&text)?.at(path)?.text()
}

/// Fills a buffer from the source; what a long record made of it is given back when a short one follows.
fn read(source: &Source, mut buffer: Vec<u8>, offset: u64, length: usize) -> Vec<u8> {
    buffer.resize(length, 0);
    buffer.shrink_to(WINDOW);
    let mut done = 0;
    while done < buffer.len() {
        match source.read_at(offset + done as u64, &mut buffer[done..]) {
            Ok(n) if n > 0 => done += n,
            _ => break,
        }
    }
    buffer.truncate(done);
    buffer
}

/// Reads records of one source again.
#[derive(Debug)]
pub struct Reread<'a> {
    source: &'a Source,
    agent: &'static dyn Records,
    /// Bytes that were read ahead, and where they begin.
    window: Vec<u8>,
    at: u64,
    /// What was read by itself.
    single: Vec<u8>,
    /// Where the last stretch that was not in the window ended.
    last: u64,
}

impl<'a> Reread<'a> {
    /// For the records of this source.
    pub fn new(source: &'a Source, agent: &'static dyn Records) -> Self {
        Reread { source, agent, window: Vec::new(), at: 0, single: Vec::new(), last: 0 }
    }

    /// A stretch of the file; shorter when the file was cut meanwhile.
    pub fn range(&mut self, offset: u64, length: usize) -> &[u8] {
        let end = offset + length as u64;
        if offset >= self.at && end <= self.at + self.window.len() as u64 {
            let start = (offset - self.at) as usize;
            return &self.window[start..start + length];
        }
        // Only a reader that goes on forward, behind the window or behind what was read last, gains by reading ahead. A
        // jump (a branch's fork, far above its leaf) is read by itself and leaves the window where it was.
        let behind = [self.last, self.at + self.window.len() as u64];
        let onward = behind.iter().any(|end| offset.checked_sub(*end).is_some_and(|gap| gap < AHEAD));
        self.last = end;
        if onward {
            self.window = read(self.source, std::mem::take(&mut self.window), offset, length.max(WINDOW));
            self.at = offset;
            let stop = length.min(self.window.len());
            return &self.window[..stop];
        }
        self.single = read(self.source, std::mem::take(&mut self.single), offset, length);
        &self.single
    }

    /// The record's id, none when it has no string as id.
    pub fn id(&mut self, record: &Record) -> Option<Text> {
        if record.has(flag::LOSSY) {
            return id(self.source, record);
        }
        if !record.has(flag::ID_STRING) {
            return None;
        }
        let (at, rest) = (record.offset + u64::from(record.id_at), record.length.saturating_sub(record.id_at) as usize);
        let mut length = ID.min(rest);
        loop {
            let raw = self.range(at, length);
            match string_end(raw) {
                Some(end) => return Some(Text::new(decode(&raw[..end]))),
                // The file was cut meanwhile.
                None if length == rest => return Some(Text::new(decode(raw))),
                None => length = (length * 8).min(rest),
            }
        }
    }

    /// The record's type as its agent spells it. Read again only where its kind does not tell.
    pub fn type_name(&mut self, record: &Record) -> Option<String> {
        match self.agent.type_word(record.kind) {
            Some(name) => Some(name.to_owned()),
            None => self.field(record, &["type"]).map(|name| name.lossy()),
        }
    }

    /// Who speaks, as its agent spells it; none for what is no message.
    pub fn role(&mut self, record: &Record) -> Option<String> {
        let silent = match self.agent.speaker(record) {
            Speaker::Is(role) => return Some(role.to_owned()),
            Speaker::Stored(silent) => silent,
            Speaker::Nobody => return None,
        };
        Some(self.field(record, &["message", "role"]).map_or_else(|| silent.to_owned(), |role| role.lossy()))
    }

    /// A string field of the record.
    pub fn field(&mut self, record: &Record, path: &[&str]) -> Option<Text> {
        if record.has(flag::LOSSY) {
            return field(self.source, record, path);
        }
        let text = self.range(record.offset, record.length as usize);
        Value::parse(text)?.at(path)?.text()
    }

    /// The id of the parent that the record names.
    pub fn parent(&mut self, record: &Record) -> Option<Text> {
        let key = self.agent.keys().record.name_of(|slot| matches!(slot.field, Field::Parent(_)))?;
        self.field(record, &[key])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;

    #[test]
    fn every_stretch_is_that_of_the_file_whatever_was_read_before() {
        let bytes: Vec<u8> =
            (0..3 * WINDOW as u32 + 777).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let source = Source::from_bytes(bytes.clone());
        let mut again = Reread::new(&source, agents::of(crate::agents::CLAUDE));
        let mut at = 1_u64;
        for n in 0..20_000_u64 {
            // Forward in small steps, with jumps in between.
            let offset = if n % 7 == 3 { n * 7919 % bytes.len() as u64 } else { at };
            let length = (n * 31 % 900) as usize;
            at = (at + 40) % bytes.len() as u64;
            let start = (offset as usize).min(bytes.len());
            let want = &bytes[start..(start + length).min(bytes.len())];
            assert_eq!(again.range(offset, length), want, "{offset} {length}");
        }
    }
}
