//! Records read a second time, many of them in file order: through a window, so that a million ids cost as many bytes
//! read as the file has and not a million calls.

use super::again::string_end;
use super::facts::{Kind, Record, flag};
use super::json::decode;
use super::value::Value;
use crate::dialect::Dialect;
use crate::store::Source;
use crate::text::Text;

/// How much is read at a time.
const WINDOW: usize = 256 * 1024;
/// How much is read for an id at first: all agents' ids and their closing quotes.
const ID: usize = 64;
/// How far ahead of the last one a stretch may begin to be taken for the next of a row.
const AHEAD: u64 = 64 * 1024;

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
    dialect: Dialect,
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
    pub fn new(source: &'a Source, dialect: Dialect) -> Self {
        Reread { source, dialect, window: Vec::new(), at: 0, single: Vec::new(), last: 0 }
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
            return super::again::id(self.source, record);
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
        match spelled(self.dialect, record.kind) {
            Some(name) => Some(name.to_owned()),
            None => self.field(record, &["type"]).map(|name| name.lossy()),
        }
    }

    /// Who speaks, as its agent spells it; none for what is no message.
    pub fn role(&mut self, record: &Record) -> Option<String> {
        let role = match (self.dialect, record.kind) {
            // The message takes its row's type, whatever the role in it says.
            (Dialect::Claude, Kind::User) => "user",
            (Dialect::Claude, Kind::Assistant) => "assistant",
            (_, Kind::ToolMessage) if self.dialect.is_pi() => "toolResult",
            (_, Kind::Compaction) if self.dialect.is_pi() => "compactionSummary",
            (_, Kind::BranchSummary) => "branchSummary",
            (_, Kind::Custom) => match self.field(record, &["message", "role"]) {
                Some(role) => return Some(role.lossy()),
                None => "custom",
            },
            (_, Kind::User | Kind::Assistant | Kind::ToolMessage) if record.has(flag::ROLE_USER) => "user",
            (_, Kind::User | Kind::Assistant | Kind::ToolMessage) if record.has(flag::ROLE_ASSISTANT) => "assistant",
            (_, Kind::User | Kind::Assistant | Kind::ToolMessage | Kind::SideMessage) => {
                return Some(self.field(record, &["message", "role"]).map_or_else(String::new, |role| role.lossy()));
            }
            _ => return None,
        };
        Some(role.to_owned())
    }

    /// A string field of the record.
    pub fn field(&mut self, record: &Record, path: &[&str]) -> Option<Text> {
        if record.has(flag::LOSSY) {
            return super::again::field(self.source, record, path);
        }
        let text = self.range(record.offset, record.length as usize);
        Value::parse(text)?.at(path)?.text()
    }

    /// The id of the parent that the record names.
    pub fn parent(&mut self, record: &Record) -> Option<Text> {
        let key = if self.dialect.is_pi() { "parentId" } else { "parentUuid" };
        self.field(record, &[key])
    }
}

/// The type of a record where its kind alone tells it (see `kind`, which goes the other way).
fn spelled(dialect: Dialect, kind: Kind) -> Option<&'static str> {
    Some(match (dialect, kind) {
        (Dialect::Sid, Kind::Start) => "session_start",
        (Dialect::Sid, Kind::User) => "user_message",
        (Dialect::Sid, Kind::Assistant) => "assistant_message",
        (Dialect::Sid, Kind::ToolMessage) => "tool_result",
        (Dialect::Sid, Kind::Compaction) => "context_compact",
        (Dialect::Sid, Kind::Metadata) => "metadata",
        (Dialect::Sid, Kind::End) => "session_end",
        (Dialect::Sid, Kind::SideStart) => "sidechain_start",
        (Dialect::Sid, Kind::SideEnd) => "sidechain_end",
        (Dialect::Sid, Kind::SideMessage) => "message",
        (Dialect::Claude, Kind::User) => "user",
        (Dialect::Claude, Kind::Assistant) => "assistant",
        (Dialect::Claude, Kind::System) => "system",
        (Dialect::Claude, Kind::Attachment) => "attachment",
        (Dialect::Claude, Kind::Progress) => "progress",
        (Dialect::Pi | Dialect::Openclaw, Kind::Start) => "session",
        (Dialect::Pi | Dialect::Openclaw, Kind::User | Kind::Assistant | Kind::ToolMessage | Kind::System) => "message",
        (Dialect::Pi | Dialect::Openclaw, Kind::Compaction) => "compaction",
        (Dialect::Pi | Dialect::Openclaw, Kind::BranchSummary) => "branch_summary",
        (Dialect::Pi | Dialect::Openclaw, Kind::ContextEdit) => "context_edit",
        (Dialect::Openclaw, Kind::Leaf) => "leaf",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stretch_is_that_of_the_file_whatever_was_read_before() {
        let bytes: Vec<u8> =
            (0..3 * WINDOW as u32 + 777).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let source = Source::from_bytes(bytes.clone());
        let mut again = Reread::new(&source, Dialect::Claude);
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
