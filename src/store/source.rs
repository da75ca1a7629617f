//! The bytes of one file: opened without following links and without blocking, read by position, never mapped (a live
//! writer may truncate under us, and a mapped page that is gone kills the process) and never held whole.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::lines::Lines;

/// Something that holds a session's bytes: a plain file, or bytes in memory (standard input, the result of a plan).
#[derive(Clone, Debug)]
pub enum Source {
    /// A plain file, with its size when it was opened. A file that grows meanwhile is read up to that size.
    File {
        /// The open descriptor.
        file: Arc<File>,
        /// Size in bytes when it was opened.
        size: u64,
    },
    /// Bytes in memory.
    Bytes(Arc<[u8]>),
    /// Another source with stretches replaced: what a plan would make of a file.
    Spliced(Arc<Spliced>),
}

/// A stretch of a spliced source.
#[derive(Clone, Debug)]
pub enum Piece {
    /// Bytes of the base: offset and length.
    Base(u64, u64),
    /// New bytes.
    New(Arc<[u8]>),
}

impl Piece {
    /// Bytes.
    pub fn size(&self) -> u64 {
        match self {
            Piece::Base(_, length) => *length,
            Piece::New(bytes) => bytes.len() as u64,
        }
    }
}

/// A base and the pieces of it and of new bytes that follow one another.
#[derive(Debug)]
pub struct Spliced {
    base: Source,
    /// Each piece with the offset at which it begins.
    pieces: Vec<(u64, Piece)>,
    size: u64,
}

impl Source {
    /// Opens a plain file by path, following no link in the last component and never waiting for a peer.
    ///
    /// # Errors
    /// I/O errors, and `InvalidInput` for anything that is no plain file (folder, FIFO, socket, device).
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_plain(path)?;
        Source::from_file(file)
    }

    /// Takes an open descriptor.
    ///
    /// # Errors
    /// When its metadata cannot be read or it is no plain file.
    pub fn from_file(file: File) -> io::Result<Self> {
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file"));
        }
        Ok(Source::File { size: meta.len(), file: Arc::new(file) })
    }

    /// Takes bytes in memory.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Source::Bytes(bytes.into().into())
    }

    /// Puts pieces of a source and new bytes one behind the other.
    pub fn spliced(base: &Source, pieces: &[Piece]) -> Self {
        let mut at = 0;
        let placed = pieces.iter().filter(|p| p.size() > 0).map(|p| {
            let begin = at;
            at += p.size();
            (begin, p.clone())
        });
        let pieces = placed.collect();
        Source::Spliced(Arc::new(Spliced { base: base.clone(), pieces, size: at }))
    }

    /// Size in bytes (of a file: when it was opened).
    pub fn size(&self) -> u64 {
        match self {
            Source::File { size, .. } => *size,
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::Spliced(spliced) => spliced.size,
        }
    }

    /// Reads up to `buf.len()` bytes at `offset`, never beyond the size that it had when it was opened; 0 at the end.
    ///
    /// # Errors
    /// I/O errors; an interrupted call is tried again.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.size().saturating_sub(offset);
        let want = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let buf = &mut buf[..want];
        match self {
            Source::Bytes(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                buf.copy_from_slice(&bytes[start..start + want]);
                Ok(want)
            }
            Source::Spliced(spliced) => spliced.read_at(offset, buf),
            Source::File { file, .. } => loop {
                match positioned_read(file, buf, offset) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    other => return other,
                }
            },
        }
    }

    /// Reads a stretch whole. Shorter than asked when the file was cut meanwhile.
    ///
    /// # Errors
    /// I/O errors.
    pub fn read_range(&self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let length = length.min(self.size().saturating_sub(offset));
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let mut done = 0;
        while done < bytes.len() {
            match self.read_at(offset + done as u64, &mut bytes[done..])? {
                0 => break,
                n => done += n,
            }
        }
        bytes.truncate(done);
        Ok(bytes)
    }

    /// The SHA-256 of its bytes.
    ///
    /// # Errors
    /// I/O errors.
    pub fn sha256(&self) -> io::Result<[u8; 32]> {
        use sha2::{Digest, Sha256};
        let (mut hash, mut at, mut buffer) = (Sha256::new(), 0, vec![0; 256 * 1024]);
        loop {
            match self.read_at(at, &mut buffer)? {
                0 => return Ok(hash.finalize().into()),
                n => {
                    hash.update(&buffer[..n]);
                    at += n as u64;
                }
            }
        }
    }

    /// Its physical lines, through one reused buffer.
    pub fn lines(&self) -> Lines<'_> {
        Lines::new(self)
    }
}

impl Spliced {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let Some(n) = self.pieces.partition_point(|(begin, _)| *begin <= offset).checked_sub(1) else {
            return Ok(0);
        };
        let (begin, piece) = &self.pieces[n];
        let inside = offset - begin;
        let left = usize::try_from(piece.size().saturating_sub(inside)).unwrap_or(usize::MAX);
        let want = left.min(buf.len());
        match piece {
            Piece::Base(from, _) => self.base.read_at(from + inside, &mut buf[..want]),
            Piece::New(bytes) => {
                let from = usize::try_from(inside).unwrap_or(usize::MAX).min(bytes.len());
                let want = want.min(bytes.len() - from);
                buf[..want].copy_from_slice(&bytes[from..from + want]);
                Ok(want)
            }
        }
    }
}

#[cfg(unix)]
fn positioned_read(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    file.read_at(buf, offset)
}

#[cfg(windows)]
fn positioned_read(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    use std::os::windows::fs::FileExt;
    file.seek_read(buf, offset)
}

#[cfg(unix)]
fn open_plain(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> io::Result<File> {
    if std::fs::symlink_metadata(path)?.file_type().is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "is a link"));
    }
    File::open(path)
}
