//! What a file holds, said in a way that can be compared: hash, size, and the state in which it was read.
//!
//! SHA-256, because a person can recompute it with the tools of any system. Everything is read by position and in
//! pieces; a file is never held.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::disk::{self, Folder, Stat};
use super::refusal::{Error, Refusal};

/// How much is read or written at a time.
pub(super) const CHUNK: usize = 256 * 1024;

/// A SHA-256 of bytes; shown and recorded in lower-case hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Sha(pub [u8; 32]);

impl Sha {
    /// The hash of bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Sha(Sha256::digest(bytes).into())
    }

    /// Reads the 64 hex digits; none for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut sha = [0; 32];
        for (byte, pair) in sha.iter_mut().zip(digits.chunks_exact(2)) {
            let nibble = |d: u8| (d as char).to_digit(16).and_then(|d| u8::try_from(d).ok());
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Sha(sha))
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::text::hex(&self.0))
    }
}

impl fmt::Debug for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Sha {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Sha::parse(&text).ok_or_else(|| serde::de::Error::custom("not a sha256"))
    }
}

/// Bytes without the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Content {
    /// Their hash.
    pub sha256: Sha,
    /// Their number.
    pub len: u64,
    /// Whether the last one is a line feed, so that a line appended behind it is a line of its own.
    pub ends_in_lf: bool,
}

/// The file that a plan was made from, as it was when it was read: size, times, device and inode, and the hash of its
/// bytes. Times are nanoseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fingerprint {
    /// Bytes.
    pub len: u64,
    /// Last change of the bytes.
    pub mtime_ns: i128,
    /// Last change of bytes, mode, owner or name.
    pub ctime_ns: i128,
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
    /// Hash of the bytes.
    pub sha256: Sha,
}

impl Fingerprint {
    /// Reads the file at `path` whole, in pieces, following no link in the last component.
    ///
    /// # Errors
    /// I/O errors; `InvalidData` when it changed while it was read.
    pub fn take(path: &Path) -> io::Result<Self> {
        let folder = Folder::open(parent(path))?;
        let file = folder.open_file(path.file_name().unwrap_or_default())?;
        let stat = disk::stat(&file)?;
        let content = read_through(At::new(&file, stat.len), &mut io::sink())?;
        if content.len != stat.len || !disk::stat(&file)?.same_state(&stat) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "changed while it was read"));
        }
        Ok(Fingerprint::new(&stat, content.sha256))
    }

    /// From what the caller has: the state of the descriptor that it read from, taken before it read, and the hash of
    /// what it read.
    #[cfg(unix)]
    pub fn from_metadata(meta: &std::fs::Metadata, sha256: Sha) -> Self {
        use std::os::unix::fs::MetadataExt;
        let ns = |s: i64, n: i64| i128::from(s) * 1_000_000_000 + i128::from(n);
        Fingerprint {
            len: meta.len(),
            mtime_ns: ns(meta.mtime(), meta.mtime_nsec()),
            ctime_ns: ns(meta.ctime(), meta.ctime_nsec()),
            dev: meta.dev(),
            ino: meta.ino(),
            sha256,
        }
    }

    pub(super) fn new(stat: &Stat, sha256: Sha) -> Self {
        Fingerprint {
            len: stat.len,
            mtime_ns: stat.mtime_ns,
            ctime_ns: stat.ctime_ns,
            dev: stat.dev,
            ino: stat.ino,
            sha256,
        }
    }

    /// Refuses a file that is not in the state in which it was planned from. The hash is compared by whoever reads it.
    pub(super) fn same_state(&self, stat: &Stat, path: &Path) -> Result<(), Error> {
        let differs = [
            (self.dev != stat.dev || self.ino != stat.ino, "it is another file now"),
            (self.len != stat.len, "its size is another"),
            (self.mtime_ns != stat.mtime_ns, "it was written to"),
            (self.ctime_ns != stat.ctime_ns, "its mode, owner or links were changed"),
        ];
        match differs.into_iter().find(|(differs, _)| *differs) {
            Some((_, how)) => Err(Refusal::Changed { path: path.to_owned(), how }.into()),
            None => Ok(()),
        }
    }
}

/// The folder part of a path, `.` for a bare name.
pub(super) fn parent(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// The first bytes of a file as a reader that leaves the descriptor's own position alone.
pub(super) struct At<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl<'a> At<'a> {
    pub(super) fn new(file: &'a File, end: u64) -> Self {
        At { file, at: 0, end }
    }

    pub(super) fn range(file: &'a File, at: u64, end: u64) -> Self {
        At { file, at, end }
    }
}

impl Read for At<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let want = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(buf.len());
        let n = disk::read_at(self.file, self.at, &mut buf[..want])?;
        self.at += n as u64;
        Ok(n)
    }
}

/// A reader that remembers the content of what passed through.
pub(super) struct Noting<R> {
    inner: R,
    hash: Sha256,
    len: u64,
    last: Option<u8>,
}

impl<R: Read> Noting<R> {
    pub(super) fn new(inner: R) -> Self {
        Noting { inner, hash: Sha256::new(), len: 0, last: None }
    }

    /// What passed through until now.
    pub(super) fn so_far(&self) -> Content {
        let sha256 = Sha(self.hash.clone().finalize().into());
        Content { sha256, len: self.len, ends_in_lf: self.last == Some(b'\n') }
    }

    /// What passed through, and the reader.
    pub(super) fn finish(self) -> (Content, R) {
        (self.so_far(), self.inner)
    }
}

impl<R: Read> Read for Noting<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.hash.update(&buf[..n]);
        self.len += n as u64;
        self.last = buf[..n].last().copied().or(self.last);
        Ok(n)
    }
}

/// Passes everything on in large pieces; the content of it.
pub(super) fn read_through(source: impl Read, out: &mut impl io::Write) -> io::Result<Content> {
    let mut source = Noting::new(source);
    let mut buf = vec![0; CHUNK];
    loop {
        // Filled up first, so that the pieces, and with them the numbered steps, do not depend on how a reader cuts.
        let mut filled = 0;
        while filled < buf.len() {
            match source.read(&mut buf[filled..])? {
                0 => break,
                n => filled += n,
            }
        }
        if filled == 0 {
            return Ok(source.finish().0);
        }
        out.write_all(&buf[..filled])?;
    }
}

/// The content of the first `len` bytes of a file; of fewer when it is shorter.
pub(super) fn prefix(file: &File, len: u64) -> io::Result<Content> {
    read_through(At::new(file, len), &mut io::sink())
}

/// Writes to a file through the counted, retried call.
pub(super) struct Into<'a>(pub(super) &'a File);

impl io::Write for Into<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        disk::write(self.0, bytes)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_back_as_it_was_shown() {
        let sha = Sha::of(b"");
        assert_eq!(sha.to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(Sha::parse(&sha.to_string()), Some(sha));
        assert_eq!(Sha::parse("e3"), None);
        assert_eq!(Sha::parse(&"g".repeat(64)), None);
    }

    #[test]
    fn content_knows_its_last_byte_however_it_is_cut() {
        let whole = read_through(&b"a\nb\n"[..], &mut io::sink()).unwrap();
        assert_eq!(whole, Content { sha256: Sha::of(b"a\nb\n"), len: 4, ends_in_lf: true });
        assert!(!read_through(io::empty(), &mut io::sink()).unwrap().ends_in_lf);
    }
}
