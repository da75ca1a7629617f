//! The same files as different readers see them, side by side: how far a figure depends on who counts.
//!
//! * JavaScript's `JSON.parse`, line by line, as the agents' own loaders read: that is [`super::records`].
//! * A strict reader (serde_json as it comes) that refuses an escape of half a surrogate pair, which JavaScript writes, and
//!   stops at the first line that it refuses: once per file, and once over all files put together in the order of their
//!   paths, as `cat` would. One message with half an emoji then hides every session behind it.
//! * A text search for `"type":"tool_result"`, which finds blocks and no records.
//!
//! None of them costs a second look at the bytes: the pass notes where a strict reader would stop. The counts of the files
//! before that place are needed only once it is known which file it is in, so each file's are kept until then, packed into
//! some forty bytes.

use std::collections::HashMap;

use super::records::Tally;
use crate::record::facts::RawCount;
use crate::session::{Session, Shape};

/// A line at which a reader stopped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ReaderStop {
    /// The file's number.
    pub file: u32,
    /// Its physical line.
    pub line: u32,
}

/// What one reader counts.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// Records and what they are.
    pub tally: Tally,
    /// Lines that it refused.
    pub bad: u64,
    /// Where it stopped; at most [`STOPS`].
    pub stops: Vec<ReaderStop>,
    /// How many more there are.
    pub more: u64,
}

/// How many places of a reader are named.
pub const STOPS: usize = 100;

/// The readers that are not ours.
#[derive(Clone, Debug, Default)]
pub struct OtherReaders {
    /// The strict reader, file by file.
    pub strict: Reader,
    /// The text search.
    pub raw: RawCount,
}

impl OtherReaders {
    /// Adds a file; `all`: what the agent's own loader counts in it.
    pub fn add(&mut self, file: u32, session: &Session, all: &Tally) {
        let (facts, strict) = (&session.facts, &mut self.strict);
        match facts.strict_stop {
            None => strict.tally.merge(all),
            Some(stop) => {
                strict.tally.merge(&Tally::of(session, stop.records as usize));
                strict.bad += 1;
                strict.stops.push(ReaderStop { file, line: stop.line });
            }
        }
        self.raw.hits += facts.raw.hits;
        self.raw.record_level += facts.raw.record_level;
    }

    /// Adds others.
    pub fn merge(&mut self, other: &OtherReaders) {
        self.strict.tally.merge(&other.strict.tally);
        self.strict.bad += other.strict.bad;
        self.strict.stops.extend(&other.strict.stops);
        self.strict.more += other.strict.more;
        self.raw.hits += other.raw.hits;
        self.raw.record_level += other.raw.record_level;
    }

    /// Puts the places in order and lets go of those that are not named.
    pub fn finish(&mut self) {
        let strict = &mut self.strict;
        strict.stops.sort_unstable();
        strict.more += strict.stops.len().saturating_sub(STOPS) as u64;
        strict.stops.truncate(STOPS);
    }
}

/// The strict reader over all files put together.
#[derive(Debug)]
pub struct Stream {
    waiting: Vec<Waiting>,
    names: Vec<Box<str>>,
    numbers: HashMap<Box<str>, u32>,
    /// The first file in which it stops, as far as is known: of files behind it nothing is kept.
    first_stop: u32,
}

/// A file that the stream may get to.
#[derive(Debug)]
struct Waiting {
    file: u32,
    packed: Box<[u8]>,
    /// Whether its first line is blank.
    blank_first: bool,
    /// Where the reader stops inside it.
    stop: Option<u32>,
    /// The last line, not terminated: what follows is glued to it, and then it is refused.
    open: Option<(u32, Box<[u8]>)>,
}

impl Default for Stream {
    fn default() -> Self {
        Stream { waiting: Vec::new(), names: Vec::new(), numbers: HashMap::new(), first_stop: u32::MAX }
    }
}

/// How many names the files that wait may have together.
const NAMES: usize = 1 << 16;

impl Stream {
    /// Adds a file; `all`: what the agent's own loader counts in it. A document is no lines and not put in.
    pub fn add(&mut self, file: u32, session: &Session, all: &Tally) {
        let facts = &session.facts;
        if file > self.first_stop || session.shape == Shape::Legacy || facts.size == 0 {
            return;
        }
        let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let last = facts.records.last().filter(|r| !facts.terminated && u64::from(r.line) == facts.lines.physical);
        let packed = match facts.strict_stop {
            Some(stop) => self.pack(&Tally::of(session, stop.records as usize)),
            None => self.pack(all),
        };
        let open = last.map(|_| {
            let before = Tally::of(session, facts.records.len() - 1);
            (small(facts.lines.physical), self.pack(&before))
        });
        let stop = facts.strict_stop.map(|stop| stop.line);
        self.waiting.push(Waiting { file, packed, blank_first: facts.lines.first_blank == 1, stop, open });
        if stop.is_some() {
            self.first_stop = file;
            self.waiting.retain(|w| w.file <= file);
        }
    }

    /// What it counts.
    pub fn finish(mut self) -> Reader {
        self.waiting.sort_unstable_by_key(|w| w.file);
        let mut reader = Reader::default();
        let mut stop = |file, line| {
            reader.bad = 1;
            reader.stops.push(ReaderStop { file, line });
        };
        for (n, file) in self.waiting.iter().enumerate() {
            let glued = self.waiting.get(n + 1).is_some_and(|next| !next.blank_first);
            match (&file.open, file.stop) {
                (_, Some(line)) => {
                    self.unpack(&file.packed, &mut reader.tally);
                    stop(file.file, line);
                    break;
                }
                (Some((line, before)), None) if glued => {
                    self.unpack(before, &mut reader.tally);
                    stop(file.file, *line);
                    break;
                }
                _ => self.unpack(&file.packed, &mut reader.tally),
            }
        }
        reader
    }

    fn pack(&mut self, tally: &Tally) -> Box<[u8]> {
        let mut bytes = Vec::with_capacity(64);
        let users = &tally.users;
        for n in [tally.records, users.prompts, users.tool_results, users.mixed, users.not_typed] {
            write(&mut bytes, n);
        }
        for counts in [&tally.types, &tally.metadata] {
            let mut others = counts.others;
            let mut named = Vec::with_capacity(counts.named.len());
            for (name, n) in &counts.named {
                match self.number(name) {
                    Some(number) => named.push((number, *n)),
                    None => others += n,
                }
            }
            write(&mut bytes, others);
            write(&mut bytes, named.len() as u64);
            for (number, n) in named {
                write(&mut bytes, u64::from(number));
                write(&mut bytes, n);
            }
        }
        bytes.into_boxed_slice()
    }

    fn unpack(&self, mut bytes: &[u8], sum: &mut Tally) {
        let bytes = &mut bytes;
        sum.records += read(bytes);
        let users = &mut sum.users;
        for n in [&mut users.prompts, &mut users.tool_results, &mut users.mixed, &mut users.not_typed] {
            *n += read(bytes);
        }
        for counts in [&mut sum.types, &mut sum.metadata] {
            counts.others += read(bytes);
            for _ in 0..read(bytes) {
                let name = self.names.get(read(bytes) as usize);
                let n = read(bytes);
                if let Some(name) = name {
                    counts.add(name, n);
                }
            }
        }
    }

    fn number(&mut self, name: &str) -> Option<u32> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = u32::try_from(self.names.len()).ok().filter(|n| (*n as usize) < NAMES)?;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        Some(number)
    }
}

/// Seven bits a byte, lowest first.
fn write(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

fn read(bytes: &mut &[u8]) -> u64 {
    let (mut n, mut shift) = (0_u64, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        n |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Source;
    use crate::store::meter::Meter;

    fn session(text: &str) -> Session {
        let source = Source::from_bytes(text.as_bytes());
        Session::read("x".into(), source, crate::agents::of(crate::agents::SID), Shape::Main, &Meter::default())
            .unwrap()
    }

    const USER: &str = r#"{"type":"user_message","message":{"role":"user","content":[{"type":"text","text":"a"}]}}"#;
    const END: &str = r#"{"type":"session_end"}"#;
    const HALF: &str =
        r#"{"type":"user_message","message":{"role":"user","content":[{"type":"text","text":"\ud83d"}]}}"#;

    fn stream(files: &[&str], order: &[usize]) -> Reader {
        let mut stream = Stream::default();
        for &n in order {
            let session = session(files[n]);
            stream.add(n as u32, &session, &Tally::of(&session, usize::MAX));
        }
        stream.finish()
    }

    #[test]
    fn the_stream_ends_at_the_first_line_that_is_refused_whatever_was_read_first() {
        let files = [format!("{USER}\n{END}\n"), format!("{USER}\n{HALF}\n{END}\n"), format!("{END}\n{HALF}\n")];
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            let reader = stream(&files, &order);
            assert_eq!((reader.tally.records, reader.tally.users.prompts, reader.bad), (3, 2, 1));
            assert_eq!(reader.tally.types.get("user_message"), 2);
            assert_eq!(reader.stops, [ReaderStop { file: 1, line: 2 }]);
        }
        let whole = stream(&files[..1], &[0]);
        assert_eq!((whole.tally.records, whole.bad), (2, 0));
    }

    #[test]
    fn a_file_without_a_last_line_feed_is_glued_to_the_next() {
        let files = [format!("{USER}\n{END}"), format!("{USER}\n"), String::new()];
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let reader = stream(&files, &[0, 1, 2]);
        assert_eq!((reader.tally.records, &*reader.stops), (1, &[ReaderStop { file: 0, line: 2 }][..]));
        // Nothing behind it, or a blank line: it stays whole.
        assert_eq!(stream(&files, &[0, 2]).tally.records, 2);
        let blank = format!("\n{USER}\n");
        assert_eq!(stream(&[files[0], &blank], &[0, 1]).tally.records, 3);
    }

    #[test]
    fn numbers_survive_packing() {
        for n in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            write(&mut bytes, n);
            let mut rest = &bytes[..];
            assert_eq!((read(&mut rest), rest.len()), (n, 0));
        }
    }
}
