//! The file layer in figures: indexes, snapshots, entries. What they hold and whether it can be rebuilt is
//! `checkpoint`'s.

use std::io;

use super::figure::{Ratio, Stock};
use crate::checkpoint::model::{Count, Index, IndexRead};
use crate::store::Source;

/// Sums over the indexes of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Checkpoints {
    /// Index files.
    pub indexes: u64,
    /// Those of them that are no whole index: the agent begins anew there, and nothing of them is counted but their bytes.
    pub unreadable: u64,
    /// Bytes.
    pub bytes: u64,
    /// Snapshots.
    pub snapshots: u64,
    /// Most snapshots in one index.
    pub largest: u64,
    /// Entries.
    pub entries: Count,
}

/// Whether an index holds a snapshot. The agent writes the list behind three short members, so its first bytes tell;
/// anything else is read whole.
///
/// # Errors
/// I/O errors while the file is read.
pub fn holds_snapshot(source: &Source) -> io::Result<bool> {
    const HEAD: u64 = 4096;
    let head = source.read_range(0, HEAD)?;
    if let Some(at) = memchr::memmem::find(&head, b"\"snapshots\"") {
        let rest = head[at + 11..].iter().copied().filter(|b| !b.is_ascii_whitespace()).take(3);
        match rest.collect::<Vec<u8>>().as_slice() {
            b":[{" => return Ok(true),
            b":[]" => return Ok(false),
            _ => {}
        }
    }
    Ok(matches!(Index::read(source, None)?, IndexRead::Readable(index) if !index.snapshots.is_empty()))
}

impl Checkpoints {
    /// Adds the index in a source; returns how many snapshots it holds.
    ///
    /// # Errors
    /// I/O errors while the file is read.
    pub fn add(&mut self, source: &Source) -> io::Result<u64> {
        self.indexes += 1;
        self.bytes += source.size();
        let IndexRead::Readable(index) = Index::read(source, None)? else {
            self.unreadable += 1;
            return Ok(0);
        };
        let (snapshots, count) = (index.snapshots.len() as u64, index.count());
        self.snapshots += snapshots;
        self.largest = self.largest.max(snapshots);
        self.entries.full += count.full;
        self.entries.compressed += count.compressed;
        self.entries.diff += count.diff;
        Ok(snapshots)
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Checkpoints) {
        self.indexes += other.indexes;
        self.unreadable += other.unreadable;
        self.bytes += other.bytes;
        self.snapshots += other.snapshots;
        self.largest = self.largest.max(other.largest);
        self.entries.full += other.entries.full;
        self.entries.compressed += other.entries.compressed;
        self.entries.diff += other.entries.diff;
    }

    /// The share of entries that are differences.
    pub fn diff_share(&self) -> Option<Ratio> {
        Stock::new(self.entries.diff).of(Stock::new(self.entries.full + self.entries.diff))
    }
}
