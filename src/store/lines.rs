//! Physical lines: split at LF, through one buffer that is reused and grows to the longest line.

use std::io;

use super::source::Source;

/// How much is read at a time. Measured on the benchmark store: smaller costs calls, larger costs cache.
const CHUNK: usize = 256 * 1024;

/// A line longer than this is not held: no JavaScript engine can hold it as one string either (V8 stops at 2^29 - 24
/// units), so no loader reads it.
pub const LONGEST_LINE: usize = 512 * 1024 * 1024;

/// One physical line.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// From 1, blank lines included.
    pub number: u64,
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Its bytes without the line feed. Of a line beyond [`LONGEST_LINE`] only the first bytes.
    pub bytes: &'a [u8],
    /// Its length in the file without the line feed.
    pub length: u64,
    /// Whether a line feed ends it.
    pub terminated: bool,
}

impl Line<'_> {
    /// Whether its bytes are all here.
    pub fn whole(&self) -> bool {
        self.bytes.len() as u64 == self.length
    }
}

/// Reads a source line by line.
#[derive(Debug)]
pub struct Lines<'a> {
    source: &'a Source,
    buffer: Vec<u8>,
    /// The bytes `start..end` of the buffer are read and not yet handed out.
    start: usize,
    end: usize,
    /// Offset in the file of the byte at `start`.
    offset: u64,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Lines { source, buffer: Vec::new(), start: 0, end: 0, offset: 0, number: 0 }
    }

    /// The next line, or none at the end.
    ///
    /// # Errors
    /// I/O errors. What was read before an error was handed out already.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut seen = 0;
        loop {
            let fresh = &self.buffer[self.start + seen..self.end];
            if let Some(at) = memchr::memchr(b'\n', fresh) {
                return Ok(Some(self.hand_out(seen + at, true)));
            }
            seen = self.end - self.start;
            if seen > LONGEST_LINE {
                return self.pass_over(seen).map(Some);
            }
            if !self.fill()? {
                return Ok(if seen == 0 { None } else { Some(self.hand_out(seen, false)) });
            }
        }
    }

    fn hand_out(&mut self, length: usize, terminated: bool) -> Line<'_> {
        let (start, offset) = (self.start, self.offset);
        let used = length + usize::from(terminated);
        self.start += used;
        self.offset += used as u64;
        self.number += 1;
        Line {
            number: self.number,
            offset,
            bytes: &self.buffer[start..start + length],
            length: length as u64,
            terminated,
        }
    }

    /// Reads more bytes behind `end`; false at the end of the source.
    fn fill(&mut self) -> io::Result<bool> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.end < CHUNK / 2 {
            let grown = (self.end + CHUNK).max(self.buffer.len() + self.buffer.len() / 2).min(self.end + 16 * CHUNK);
            self.buffer.resize(grown.max(self.end + CHUNK), 0);
        }
        let n = self.source.read_at(self.offset + self.end as u64, &mut self.buffer[self.end..])?;
        self.end += n;
        Ok(n > 0)
    }

    /// A line beyond the longest: its head stays in the buffer, the rest is read past.
    fn pass_over(&mut self, held: usize) -> io::Result<Line<'_>> {
        let begin = self.offset;
        let mut at = begin + held as u64;
        let mut chunk = vec![0; CHUNK];
        let (mut length, mut terminated) = (held as u64, false);
        loop {
            let n = self.source.read_at(at, &mut chunk)?;
            if n == 0 {
                break;
            }
            if let Some(i) = memchr::memchr(b'\n', &chunk[..n]) {
                (length, terminated) = (length + i as u64, true);
                break;
            }
            (at, length) = (at + n as u64, length + n as u64);
        }
        let head = self.start..self.start + CHUNK.min(held);
        (self.start, self.end) = (self.end, self.end);
        self.offset = begin + length + u64::from(terminated);
        self.number += 1;
        let line = Line { number: self.number, offset: begin, bytes: &self.buffer[head], length, terminated };
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>, bool)> {
        let source = Source::from_bytes(bytes);
        let (mut lines, mut out) = (source.lines(), Vec::new());
        while let Some(l) = lines.next_line().unwrap() {
            out.push((l.number, l.offset, l.bytes.to_vec(), l.terminated));
        }
        out
    }

    #[test]
    fn lines_have_number_offset_and_terminator() {
        assert_eq!(all(b""), []);
        assert_eq!(all(b"\n\na"), [(1, 0, vec![], true), (2, 1, vec![], true), (3, 2, b"a".to_vec(), false)]);
        assert_eq!(all(b"a\r\nb\n"), [(1, 0, b"a\r".to_vec(), true), (2, 3, b"b".to_vec(), true)]);
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_whole() {
        let mut bytes = vec![b'x'; 3 * CHUNK + 7];
        bytes.extend_from_slice(b"\ny\n");
        let lines = all(&bytes);
        assert_eq!((lines.len(), lines[0].2.len(), lines[1].1), (2, 3 * CHUNK + 7, 3 * CHUNK as u64 + 8));
    }
}
