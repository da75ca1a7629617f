//! The way back, as a file of the journal: splices that turn the repaired bytes into the original ones.
//!
//! A file of its own and not JSON, because it is read and written as a stream: a moved line may have 100 MB, and undo
//! must not hold it. Layout: a first line, then for each splice offset, removed and inserted length (64 bits, little
//! endian) and the inserted bytes, then one more such triple that no splice can have, with the number of splices.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use super::content::At;
use super::splice::{Edit, Edits, Shift};

const FIRST_LINE: &[u8] = b"sid-audit reverse splices 1\n";
const END: u64 = u64::MAX;

/// Writes the way back from the result of `edits` to `old`; the number of splices.
pub(super) fn write(old: &File, size: u64, edits: &mut dyn Edits, out: &mut impl Write) -> io::Result<u64> {
    out.write_all(FIRST_LINE)?;
    let (mut shift, mut count) = (Shift::default(), 0);
    while let Some(edit) = edits.next_edit()? {
        let end =
            edit.offset.checked_add(edit.removed).filter(|end| *end <= size).ok_or(io::ErrorKind::UnexpectedEof)?;
        triple(out, shift.pass(&edit), edit.inserted, edit.removed)?;
        if io::copy(&mut At::range(old, edit.offset, end), out)? != edit.removed {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        count += 1;
    }
    triple(out, END, count, 0)?;
    out.flush()?;
    Ok(count)
}

fn triple(out: &mut impl Write, one: u64, two: u64, three: u64) -> io::Result<()> {
    for n in [one, two, three] {
        out.write_all(&n.to_le_bytes())?;
    }
    Ok(())
}

/// Reads such a file as [`Edits`].
pub(super) struct Recorded {
    file: BufReader<File>,
    /// Inserted bytes of the current splice that were not read yet.
    left: u64,
    seen: u64,
    ended: bool,
}

impl Recorded {
    /// Begins to read.
    pub(super) fn new(file: File) -> io::Result<Self> {
        let mut file = BufReader::new(file);
        let mut line = [0; FIRST_LINE.len()];
        file.read_exact(&mut line)?;
        if line != FIRST_LINE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a file of reverse splices"));
        }
        Ok(Recorded { file, left: 0, seen: 0, ended: false })
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl Edits for Recorded {
    fn next_edit(&mut self) -> io::Result<Option<Edit>> {
        if self.ended {
            return Ok(None);
        }
        io::copy(&mut (&mut self.file).take(self.left), &mut io::sink())?;
        let edit = Edit { offset: self.number()?, removed: self.number()?, inserted: self.number()? };
        if edit.offset == END {
            self.ended = true;
            self.left = 0;
            if edit.removed != self.seen {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "reverse splices are missing"));
            }
            return Ok(None);
        }
        self.seen += 1;
        self.left = edit.inserted;
        Ok(Some(edit))
    }

    fn read_inserted(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = (&mut self.file).take(self.left).read(buf)?;
        if n == 0 && self.left > 0 && !buf.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= n as u64;
        Ok(n)
    }
}

/// Edits, and an insertion behind them all.
pub(super) struct Followed<E> {
    pub(super) edits: E,
    /// Where, and what.
    pub(super) then: Option<(u64, &'static [u8])>,
    now: &'static [u8],
}

impl<E> Followed<E> {
    pub(super) fn by(edits: E, then: Option<(u64, &'static [u8])>) -> Self {
        Followed { edits, then, now: &[] }
    }
}

impl<E: Edits> Edits for Followed<E> {
    fn next_edit(&mut self) -> io::Result<Option<Edit>> {
        if let Some(edit) = self.edits.next_edit()? {
            return Ok(Some(edit));
        }
        Ok(self.then.take().map(|(offset, bytes)| {
            self.now = bytes;
            Edit { offset, removed: 0, inserted: bytes.len() as u64 }
        }))
    }

    fn read_inserted(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.now.is_empty() { self.edits.read_inserted(buf) } else { self.now.read(buf) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::splice::{InMemory, Splice, Spliced};

    fn gathered(old: &[u8], edits: impl Edits) -> Vec<u8> {
        let mut new = Vec::new();
        Spliced::new(old, edits).read_to_end(&mut new).unwrap();
        new
    }

    #[test]
    fn what_stands_behind_everything_comes_last() {
        let splices = [Splice { offset: 0, removed: 1, inserted: b"x".to_vec() }];
        let edits = Followed::by(InMemory::new(&splices), Some((3, b"\n")));
        assert_eq!(gathered(b"abcde", edits), b"xbc\nde");
    }
}
