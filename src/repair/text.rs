//! A file with edits on it: pieces of the file and new bytes, so that a file of any size costs only its edits.

use crate::store::Source;
use crate::store::source::Piece;

/// One stretch of a text replaced.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Splice {
    /// First byte.
    pub offset: u64,
    /// How many bytes go.
    pub removed: u64,
    /// What takes their place.
    pub inserted: Vec<u8>,
}

impl Splice {
    /// Puts bytes in.
    pub fn insert(offset: u64, inserted: impl Into<Vec<u8>>) -> Self {
        Splice { offset, removed: 0, inserted: inserted.into() }
    }

    /// Takes bytes out.
    pub fn remove(offset: u64, removed: u64) -> Self {
        Splice { offset, removed, inserted: Vec::new() }
    }

    /// Puts bytes in the place of others.
    pub fn replace(offset: u64, removed: u64, inserted: impl Into<Vec<u8>>) -> Self {
        Splice { offset, removed, inserted: inserted.into() }
    }
}

/// A file as it would be.
#[derive(Clone, Debug)]
pub struct Text {
    base: Source,
    pieces: Vec<Piece>,
}

impl Text {
    /// The file as it is.
    pub fn new(base: &Source) -> Self {
        Text { base: base.clone(), pieces: vec![Piece::Base(0, base.size())] }
    }

    /// The same text with these splices applied: sorted by offset, not overlapping (one that reaches into the one before
    /// it is cut to begin behind it). Offsets are those of this text.
    pub fn spliced(&self, splices: &[Splice]) -> Text {
        let mut sorted: Vec<&Splice> = splices.iter().collect();
        sorted.sort_by_key(|s| (s.offset, s.removed));
        let mut cursor = Cursor { pieces: &self.pieces, at: 0, inside: 0, offset: 0, out: Vec::new() };
        for splice in sorted {
            cursor.copy_until(splice.offset);
            if !splice.inserted.is_empty() {
                cursor.out.push(Piece::New(splice.inserted.clone().into()));
            }
            let end = splice.offset + splice.removed;
            cursor.skip_until(end);
        }
        cursor.copy_until(u64::MAX);
        Text { base: self.base.clone(), pieces: cursor.out }
    }

    /// The text as a source that every room can read.
    pub fn source(&self) -> Source {
        Source::spliced(&self.base, &self.pieces)
    }

    /// The place in the file of a byte of this text; for a new byte that of the next byte of the file.
    pub fn in_file(&self, offset: u64) -> u64 {
        let mut at = 0;
        for (n, piece) in self.pieces.iter().enumerate() {
            if offset < at + piece.size() {
                return match piece {
                    Piece::Base(from, _) => from + (offset - at),
                    Piece::New(_) => self.pieces[n + 1..]
                        .iter()
                        .find_map(|p| if let Piece::Base(from, _) = p { Some(*from) } else { None })
                        .unwrap_or(self.base.size()),
                };
            }
            at += piece.size();
        }
        self.base.size()
    }

    /// The stretches of the file that a stretch of this text is made of, new bytes left out.
    pub fn stretches(&self, offset: u64, length: u64) -> Vec<(u64, u64)> {
        let (mut at, end) = (0, offset + length);
        let mut found: Vec<(u64, u64)> = Vec::new();
        for piece in &self.pieces {
            let (begin, stop) = (at.max(offset), (at + piece.size()).min(end));
            if let Piece::Base(from, _) = piece
                && begin < stop
            {
                let (from, length) = (from + (begin - at), stop - begin);
                match found.last_mut() {
                    Some((last, size)) if *last + *size == from => *size += length,
                    _ => found.push((from, length)),
                }
            }
            at += piece.size();
        }
        found
    }

    /// The file that it is made of.
    pub fn base(&self) -> &Source {
        &self.base
    }

    /// Where stretches of this text lie in the file: from their first byte that is one of the file's to behind their last.
    /// None where all is new. The stretches are sorted and do not overlap.
    pub fn extents(&self, stretches: &[(u64, u64)]) -> Vec<Option<(u64, u64)>> {
        let (mut pieces, mut at) = (self.pieces.iter().peekable(), 0);
        let mut found = Vec::with_capacity(stretches.len());
        for &(offset, length) in stretches {
            let (end, mut extent) = (offset + length, None);
            while let Some(piece) = pieces.peek() {
                let (begin, stop) = (at.max(offset), (at + piece.size()).min(end));
                if let Piece::Base(from, _) = piece
                    && begin < stop
                {
                    let (first, behind) = (from + (begin - at), from + (stop - at));
                    extent = Some(extent.map_or((first, behind), |(start, _)| (start, behind)));
                }
                if at + piece.size() > end {
                    break;
                }
                at += piece.size();
                pieces.next();
            }
            found.push(extent);
        }
        found
    }

    /// What turns the file into this text.
    pub fn splices(&self) -> Vec<Splice> {
        let mut splices: Vec<Splice> = Vec::new();
        let (mut at, mut inserted) = (0, Vec::new());
        let mut close = |at: u64, until: u64, inserted: &mut Vec<u8>| {
            if until > at || !inserted.is_empty() {
                splices.push(Splice { offset: at, removed: until - at, inserted: std::mem::take(inserted) });
            }
        };
        for piece in &self.pieces {
            match piece {
                Piece::New(bytes) => inserted.extend_from_slice(bytes),
                Piece::Base(from, length) => {
                    close(at, *from, &mut inserted);
                    at = from + length;
                }
            }
        }
        close(at, self.base.size(), &mut inserted);
        splices
    }
}

struct Cursor<'a> {
    pieces: &'a [Piece],
    at: usize,
    inside: u64,
    offset: u64,
    out: Vec<Piece>,
}

impl Cursor<'_> {
    fn copy_until(&mut self, end: u64) {
        self.walk(end, true);
    }

    fn skip_until(&mut self, end: u64) {
        self.walk(end, false);
    }

    fn walk(&mut self, end: u64, keep: bool) {
        while self.offset < end
            && let Some(piece) = self.pieces.get(self.at)
        {
            let left = piece.size() - self.inside;
            let take = left.min(end - self.offset);
            if keep && take > 0 {
                self.out.push(match piece {
                    Piece::Base(from, _) => Piece::Base(from + self.inside, take),
                    Piece::New(bytes) => {
                        let start = self.inside as usize;
                        Piece::New(bytes[start..start + take as usize].into())
                    }
                });
            }
            self.offset += take;
            self.inside += take;
            if take == left {
                self.at += 1;
                self.inside = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &Text) -> Vec<u8> {
        let source = text.source();
        source.read_range(0, source.size()).unwrap()
    }

    fn applied(base: &[u8], splices: &[Splice]) -> Vec<u8> {
        let (mut out, mut at) = (Vec::new(), 0);
        for s in splices {
            out.extend_from_slice(&base[at..s.offset as usize]);
            out.extend_from_slice(&s.inserted);
            at = (s.offset + s.removed) as usize;
        }
        out.extend_from_slice(&base[at..]);
        out
    }

    #[test]
    fn steps_add_up_to_splices_of_the_file() {
        let base = b"0123456789";
        let file = Source::from_bytes(&base[..]);
        let first = Text::new(&file).spliced(&[Splice::replace(2, 3, *b"AB"), Splice::insert(8, *b"C")]);
        assert_eq!(bytes(&first), b"01AB567C89");
        let second = first.spliced(&[Splice::remove(3, 2), Splice::insert(10, *b"!")]);
        assert_eq!(bytes(&second), b"01A67C89!");
        assert_eq!(applied(base, &second.splices()), b"01A67C89!");
        assert_eq!((second.in_file(0), second.in_file(2), second.in_file(3)), (0, 6, 6));
        assert_eq!((second.stretches(1, 4), second.stretches(2, 1)), (vec![(1, 1), (6, 2)], vec![]));
        assert_eq!(Text::new(&file).spliced(&[Splice::insert(4, *b"-")]).stretches(2, 5), [(2, 4)]);
        assert_eq!(Text::new(&file).splices(), []);
    }
}
