//! Edits of a file's bytes: what is replaced, by what, and how to go back. Pure: nothing here opens or writes a file.
//!
//! Everything streams, because a session may have 600 MB: the new bytes are a reader over the old ones, and so are the
//! old ones over the new, so that both directions are hashed in one pass without either being held. A move is a removal
//! and an insertion.

use std::io::{self, Read, Write};

pub use crate::repair::text::Splice;

/// Why a list of splices makes no sense for a file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpliceError {
    /// One begins before its predecessor ends.
    #[error("splice {at} begins at byte {offset}, before its predecessor ends at byte {end}")]
    Overlap {
        /// Index in the list.
        at: usize,
        /// Where it begins.
        offset: u64,
        /// Where the one before it ends.
        end: u64,
    },
    /// One ends behind the file.
    #[error("splice {at} ends at byte {end} of a file of {size} bytes")]
    Beyond {
        /// Index in the list.
        at: usize,
        /// Where it ends.
        end: u64,
        /// Size of the file.
        size: u64,
    },
}

/// Whether the splices are in order, do not overlap and fit into `size` bytes; the size of the result.
///
/// # Errors
/// The first splice that does not fit.
pub fn check(splices: &[Splice], size: u64) -> Result<u64, SpliceError> {
    let (mut end, mut result) = (0_u64, size);
    for (at, splice) in splices.iter().enumerate() {
        if splice.offset < end {
            return Err(SpliceError::Overlap { at, offset: splice.offset, end });
        }
        end = splice.offset.saturating_add(splice.removed);
        if end > size {
            return Err(SpliceError::Beyond { at, end, size });
        }
        result = result - splice.removed + splice.inserted.len() as u64;
    }
    Ok(result)
}

/// Writes the bytes of `old` with the splices applied; the number of bytes written.
///
/// # Errors
/// Whatever reader or writer say; `InvalidData` for splices out of order, `UnexpectedEof` for one behind the end.
pub fn apply(old: impl Read, splices: &[Splice], new: &mut impl Write) -> io::Result<u64> {
    io::copy(&mut Spliced::new(old, InMemory::new(splices)), new)
}

/// The splices that turn the new bytes into the old ones again. `old` is read by position, and only where bytes go.
///
/// # Errors
/// Whatever `read_at` says; `UnexpectedEof` for a splice behind the end.
pub fn reverse(
    mut read_at: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
    splices: &[Splice],
) -> io::Result<Vec<Splice>> {
    let mut back = Vec::with_capacity(splices.len());
    let mut edits = InMemory::new(splices);
    let mut shift = Shift::default();
    while let Some(edit) = edits.next_edit()? {
        let mut inserted = Vec::new();
        copy_range(&mut read_at, edit.offset, edit.removed, &mut inserted)?;
        back.push(Splice { offset: shift.pass(&edit), removed: edit.inserted, inserted });
    }
    Ok(back)
}

/// One edit without its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edit {
    /// First byte in the old file.
    pub(super) offset: u64,
    /// Bytes of the old file that go.
    pub(super) removed: u64,
    /// Bytes that come.
    pub(super) inserted: u64,
}

/// Edits in the order of their offsets, their bytes read piecewise: from memory, from the journal, from a kept file.
pub(super) trait Edits {
    /// The next edit. What was not read of the one before is passed over.
    fn next_edit(&mut self) -> io::Result<Option<Edit>>;
    /// More of the current edit's inserted bytes; 0 at their end.
    fn read_inserted(&mut self, buf: &mut [u8]) -> io::Result<usize>;
}

/// Edits that can be read from the start as often as they are needed: a change passes over its file several times.
pub(super) type EditsOf<'a> = dyn Fn() -> io::Result<Box<dyn Edits + 'a>> + 'a;

impl<E: Edits + ?Sized> Edits for Box<E> {
    fn next_edit(&mut self) -> io::Result<Option<Edit>> {
        (**self).next_edit()
    }
    fn read_inserted(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (**self).read_inserted(buf)
    }
}

/// Where an edit's place lies in the new file, given those before it.
#[derive(Default)]
pub(super) struct Shift {
    removed: u64,
    inserted: u64,
}

impl Shift {
    /// The offset of this edit in the new file; then counts it.
    pub(super) fn pass(&mut self, edit: &Edit) -> u64 {
        let offset = edit.offset - self.removed + self.inserted;
        self.removed += edit.removed;
        self.inserted += edit.inserted;
        offset
    }
}

/// Splices in memory as [`Edits`].
pub(super) struct InMemory<'a> {
    rest: std::slice::Iter<'a, Splice>,
    bytes: &'a [u8],
}

impl<'a> InMemory<'a> {
    pub(super) fn new(splices: &'a [Splice]) -> Self {
        InMemory { rest: splices.iter(), bytes: &[] }
    }
}

impl Edits for InMemory<'_> {
    fn next_edit(&mut self) -> io::Result<Option<Edit>> {
        Ok(self.rest.next().map(|splice| {
            self.bytes = &splice.inserted;
            Edit { offset: splice.offset, removed: splice.removed, inserted: splice.inserted.len() as u64 }
        }))
    }

    fn read_inserted(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buf)
    }
}

/// The new bytes, as a reader over the old ones.
pub(super) struct Spliced<R, E> {
    old: R,
    edits: E,
    /// How far the old bytes are used up.
    at: u64,
    now: Now,
}

enum Now {
    /// Ask for the next edit.
    Next,
    /// Old bytes pass through until this edit begins.
    Before(Edit),
    /// The inserted bytes of the current edit.
    Inside,
    /// No edit is left.
    Rest,
}

impl<R: Read, E: Edits> Spliced<R, E> {
    pub(super) fn new(old: R, edits: E) -> Self {
        Spliced { old, edits, at: 0, now: Now::Next }
    }

    /// The old bytes, to ask what a reader around them has seen.
    pub(super) fn into_old(self) -> R {
        self.old
    }
}

impl<R: Read, E: Edits> Read for Spliced<R, E> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        loop {
            match self.now {
                Now::Next => {
                    self.now = match self.edits.next_edit()? {
                        None => Now::Rest,
                        Some(edit) if edit.offset < self.at => {
                            return Err(io::Error::new(io::ErrorKind::InvalidData, "splices overlap"));
                        }
                        Some(edit) => Now::Before(edit),
                    }
                }
                Now::Before(edit) if edit.offset == self.at => {
                    pass_over(&mut self.old, edit.removed)?;
                    self.at += edit.removed;
                    self.now = Now::Inside;
                }
                Now::Before(edit) => {
                    let want = usize::try_from(edit.offset - self.at).unwrap_or(usize::MAX).min(buf.len());
                    let n = self.old.read(&mut buf[..want])?;
                    if n == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    self.at += n as u64;
                    return Ok(n);
                }
                Now::Inside => match self.edits.read_inserted(buf)? {
                    0 => self.now = Now::Next,
                    n => return Ok(n),
                },
                Now::Rest => return self.old.read(buf),
            }
        }
    }
}

fn pass_over(old: &mut impl Read, length: u64) -> io::Result<()> {
    if io::copy(&mut old.take(length), &mut io::sink())? == length {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Copies `length` bytes from `offset` on, read by position.
pub(super) fn copy_range(
    read_at: &mut impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
    offset: u64,
    length: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut buf = vec![0; usize::try_from(length).unwrap_or(usize::MAX).min(256 * 1024)];
    let mut done = 0;
    while done < length {
        let want = usize::try_from(length - done).unwrap_or(usize::MAX).min(buf.len());
        match read_at(offset + done, &mut buf[..want])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                out.write_all(&buf[..n])?;
                done += n as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn splice(offset: u64, removed: u64, inserted: &[u8]) -> Splice {
        Splice { offset, removed, inserted: inserted.to_vec() }
    }

    fn applied(old: &[u8], splices: &[Splice]) -> Vec<u8> {
        let mut new = Vec::new();
        apply(old, splices, &mut new).unwrap();
        new
    }

    fn reversed(old: &[u8], splices: &[Splice]) -> Vec<Splice> {
        reverse(|at, buf| (&old[at as usize..]).read(buf), splices).unwrap()
    }

    #[test]
    fn a_move_is_a_removal_and_an_insertion() {
        let old = b"one\ntwo\nthree\n";
        let splices = [splice(0, 4, b""), splice(8, 0, b"one\n")];
        assert_eq!(applied(old, &splices), b"two\none\nthree\n");
        assert_eq!(reversed(old, &splices), [splice(0, 0, b"one\n"), splice(4, 4, b"")]);
    }

    #[test]
    fn several_insertions_at_one_place_keep_their_order() {
        let splices = [splice(1, 0, b"x"), splice(1, 0, b"y"), splice(1, 1, b"z")];
        assert_eq!(applied(b"ab", &splices), b"axyz");
        assert_eq!(applied(b"axyz", &reversed(b"ab", &splices)), b"ab");
    }

    #[test]
    fn splices_that_make_no_sense_are_named() {
        assert_eq!(check(&[splice(2, 2, b"")], 3), Err(SpliceError::Beyond { at: 0, end: 4, size: 3 }));
        let overlap = [splice(0, 2, b""), splice(1, 1, b"")];
        assert_eq!(check(&overlap, 3), Err(SpliceError::Overlap { at: 1, offset: 1, end: 2 }));
        assert_eq!(check(&[splice(0, 3, b"ab"), splice(3, 0, b"c")], 3), Ok(3));
        assert!(apply(&b"abc"[..], &overlap, &mut Vec::new()).is_err());
        assert!(apply(&b"abc"[..], &[splice(2, 2, b"")], &mut Vec::new()).is_err());
        assert!(apply(&b"abc"[..], &[splice(4, 0, b"")], &mut Vec::new()).is_err());
    }

    proptest! {
        #[test]
        fn there_and_back_is_the_same(
            old in proptest::collection::vec(any::<u8>(), 0..200),
            cuts in proptest::collection::vec((0_usize..30, 0_usize..20, proptest::collection::vec(any::<u8>(), 0..20)), 0..12),
        ) {
            let (mut splices, mut at) = (Vec::new(), 0);
            for (gap, removed, inserted) in cuts {
                let offset = at + gap;
                if offset > old.len() {
                    break;
                }
                at = (offset + removed).min(old.len());
                splices.push(Splice { offset: offset as u64, removed: (at - offset) as u64, inserted });
            }
            let new = applied(&old, &splices);
            prop_assert_eq!(check(&splices, old.len() as u64), Ok(new.len() as u64));
            let back = reversed(&old, &splices);
            prop_assert_eq!(check(&back, new.len() as u64), Ok(old.len() as u64));
            prop_assert_eq!(applied(&new, &back), old);
        }
    }
}
