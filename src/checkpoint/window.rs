//! A window that slides over the index, so that an index of any size is read once and never held whole.
//!
//! The agent reads the file into one string. We cannot: 200 MiB is its own quota and nothing stops a file at 800 MB. A
//! piece (one snapshot, one key) is read by the record room's reader as if the text began there; when the reader runs
//! into the end of the window, the window grows and the piece is read again from its start. With pieces much smaller
//! than the window that costs a few percent; a piece of any size costs at most twice its length.

use std::io;

use crate::record::json::{Bad, Grammar, Reader, Scratch, Why};
use crate::store::Source;

/// Why the walk ends before the end of the file.
#[derive(Debug)]
pub(super) enum Stop {
    /// No JSON from here on.
    Bad {
        /// Place in the file.
        at: u64,
        /// What is wrong there.
        why: Why,
    },
    /// The system refused to read.
    Io(io::Error),
    /// One piece is larger than what may be held.
    TooLarge,
}

/// The bytes of the file around the place that is being read.
pub(super) struct Window<'s> {
    source: &'s Source,
    bytes: Vec<u8>,
    /// Offset in the file of the first byte held.
    start: u64,
    /// The next byte to read, among those held.
    at: usize,
    /// Whether the file has no byte behind those held.
    ended: bool,
    /// The largest piece that may be held, in bytes.
    held: usize,
    /// How much is read at a time, in bytes.
    chunk: usize,
    scratch: Scratch,
}

impl<'s> Window<'s> {
    pub(super) fn new(source: &'s Source, held: u64, chunk: usize) -> Self {
        let (held, chunk) = (usize::try_from(held).unwrap_or(usize::MAX), chunk.max(1));
        Window { source, bytes: Vec::new(), start: 0, at: 0, ended: false, held, chunk, scratch: Scratch::default() }
    }

    /// Offset in the file of the next byte.
    pub(super) fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// Forgets what was read and reads more behind what was not; false at the end of the file.
    fn fill(&mut self) -> Result<bool, Stop> {
        if self.ended {
            return Ok(false);
        }
        self.start += self.at as u64;
        self.bytes.drain(..self.at);
        self.at = 0;
        let unread = self.bytes.len();
        if unread >= self.held {
            return Err(Stop::TooLarge);
        }
        let left = self.source.size().saturating_sub(self.start + unread as u64);
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(unread.max(self.chunk));
        self.bytes.reserve_exact(want);
        self.bytes.resize(unread + want, 0);
        let mut done = unread;
        while done < self.bytes.len() {
            match self.source.read_at(self.start + done as u64, &mut self.bytes[done..]) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) => return Err(Stop::Io(e)),
            }
        }
        // Shorter than asked: the file was cut meanwhile, or it is at its end.
        self.ended = done < unread + want || want as u64 == left;
        self.bytes.truncate(done);
        Ok(done > unread)
    }

    /// Steps over a byte order mark, as the agent's file reader does.
    pub(super) fn skip_mark(&mut self) -> Result<(), Stop> {
        while self.bytes.len() < 3 && self.fill()? {}
        if self.bytes.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        Ok(())
    }

    /// The next byte that is no white space, not stepped over; none at the end.
    pub(super) fn token(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            match self.bytes.get(self.at).copied() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                Some(byte) => return Ok(Some(byte)),
                None if self.fill()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Steps over the byte that [`Window::token`] told of.
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Fails here.
    pub(super) fn bad<T>(&self) -> Result<T, Stop> {
        let why = if self.at >= self.bytes.len() { Why::Ended } else { Why::Unexpected };
        Err(Stop::Bad { at: self.offset(), why })
    }

    /// Reads one piece. `read` may be called more than once for it and is told where the text that it sees begins.
    pub(super) fn piece<T>(
        &mut self,
        mut read: impl FnMut(&mut Reader<'_, '_>, u64) -> Result<T, Bad>,
    ) -> Result<T, Stop> {
        loop {
            let mut reader = Reader::new_at(&self.bytes, self.at, Grammar::default(), &mut self.scratch);
            let result = read(&mut reader, self.start);
            let end = reader.position();
            match result {
                // A number that ends with the window may go on behind it.
                Ok(value) if end < self.bytes.len() || self.ended => {
                    self.at = end;
                    return Ok(value);
                }
                Err(bad) if bad.why != Why::Ended || self.ended => {
                    return Err(Stop::Bad { at: self.start + bad.at as u64, why: bad.why });
                }
                _ => {
                    self.fill()?;
                }
            }
        }
    }
}
