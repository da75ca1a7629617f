//! Which records stand in several files: a sample of all record ids of a store, in a fixed budget of memory.
//!
//! Every chain record enters while there is room. When the budget is full the rate is halved, by bits of a hash of the
//! record's *time*: copies have the same time, it costs nothing to know, and unlike the ids' keyed hashes it is the same
//! in every run, so that two scans of one store agree. The rate at the end does not depend on the order in which files
//! were read: it is the first at which all that pass it fit.
//!
//! The limit: beyond the budget (a quarter of a million records) a single shared record may be missed, a run of them is still
//! seen; [`Sample::rate`] says so to the report. A store that was written to defeat the sampling (all times equal) ends
//! it instead of growing.

use std::collections::BTreeMap;

use crate::record::facts::{NO_TIME, Record};

/// One record in one file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry {
    id: u64,
    file: u32,
    /// Bits of the time's hash, and what the record is.
    check: u32,
}

/// The record is a message that is shown.
const MESSAGE: u32 = 1;
/// The record bears a fork's mark.
const MARKED: u32 = 2;
const KIND: u32 = 3;

/// So many entries are kept: 4 MiB.
pub(super) const BUDGET: usize = 1 << 18;

/// Beyond this rate a store has been made to defeat the sampling.
const LOWEST: u32 = 24;

/// What is known of records across files.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    entries: Vec<Entry>,
    /// One of 2^level records is kept.
    level: u32,
    budget: usize,
    given_up: bool,
    sorted: bool,
}

/// Records that two files share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Shared {
    pub(super) files: (u32, u32),
    /// The sampled messages without a mark that they share.
    pub(super) ids: Vec<u64>,
}

impl Sample {
    pub(super) fn new(budget: usize) -> Self {
        // Room that is not used costs nothing; a list that grows is copied, and both copies count.
        Sample { budget, entries: Vec::with_capacity(budget + 1), ..Sample::default() }
    }

    /// The share of records that is kept: one of so many.
    pub(super) fn rate(&self) -> Option<u64> {
        (!self.given_up).then_some(1 << self.level)
    }

    /// The part of a file's records that passes the rate of now. Made outside the lock; [`Sample::add`] sieves again.
    pub(super) fn part<'a>(
        level: u32,
        file: u32,
        records: impl Iterator<Item = (&'a Record, bool, bool)>,
    ) -> Vec<(u64, u32, u32)> {
        records
            .filter(|(record, ..)| passes(hash(record), level))
            .map(|(record, message, marked)| {
                let kind = if message { MESSAGE } else { 0 } | if marked { MARKED } else { 0 };
                (record.id.short(), file, hash(record) & !KIND | kind)
            })
            .collect()
    }

    /// The rate of now, for [`Sample::part`].
    pub(super) fn level(&self) -> u32 {
        self.level
    }

    /// Adds a file's part.
    pub(super) fn add(&mut self, part: &[(u64, u32, u32)]) {
        if self.given_up {
            return;
        }
        self.sorted = false;
        for &(id, file, check) in part {
            if !passes(check, self.level) {
                continue;
            }
            self.entries.push(Entry { id, file, check });
            while self.entries.len() > self.budget {
                self.level += 1;
                if self.level > LOWEST {
                    (self.entries, self.given_up) = (Vec::new(), true);
                    return;
                }
                let level = self.level;
                self.entries.retain(|e| passes(e.check, level));
            }
        }
    }

    /// Lets a file's records go, before another reading of it is added.
    pub(super) fn forget(&mut self, file: u32) {
        self.entries.retain(|e| e.file != file);
    }

    fn sort(&mut self) {
        if !self.sorted {
            self.entries.sort_unstable();
            self.entries.dedup();
            self.sorted = true;
        }
    }

    /// The files other than `but` that bear a record of this id, in order.
    pub(super) fn files_with(&mut self, id: u64, but: u32) -> Vec<u32> {
        self.sort();
        let from = self.entries.partition_point(|e| e.id < id);
        let mut files: Vec<u32> =
            self.entries[from..].iter().take_while(|e| e.id == id).map(|e| e.file).filter(|f| *f != but).collect();
        files.dedup();
        files
    }

    /// Pairs of files that share messages without a fork's mark on either side: same id, same time. In order. Of more
    /// than two files each is paired with the first: the number of pairs would be the square of theirs.
    pub(super) fn shared(&mut self) -> Vec<Shared> {
        self.sort();
        let mut pairs: BTreeMap<(u32, u32), Vec<u64>> = BTreeMap::new();
        for group in self.entries.chunk_by(|a, b| a.id == b.id) {
            let mut copies: Vec<&Entry> = group.iter().filter(|e| e.check & KIND == MESSAGE).collect();
            copies.sort_unstable_by_key(|e| (e.check, e.file));
            for same in copies.chunk_by(|a, b| a.check == b.check) {
                let mut last = same[0].file;
                for other in &same[1..] {
                    if other.file != last {
                        last = other.file;
                        pairs.entry((same[0].file, last)).or_default().push(other.id);
                    }
                }
            }
        }
        pairs.into_iter().map(|(files, ids)| Shared { files, ids }).collect()
    }
}

/// A hash of the record's time that is the same in every run; of a record without one, of its length.
fn hash(record: &Record) -> u32 {
    let seed = if record.time == NO_TIME { u64::from(record.length) ^ (1 << 63) } else { record.time as u64 };
    // the finaliser of splitmix64
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) as u32
}

fn passes(hash: u32, level: u32) -> bool {
    level == 0 || hash >> (32 - level) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::facts::Id;

    fn record(n: u64) -> Record {
        Record { id: Id::of(n.to_string().as_bytes()), time: 1_700_000_000_000 + n as i64 * 1000, ..Record::default() }
    }

    fn part(file: u32, ids: std::ops::Range<u64>) -> Vec<(u64, u32, u32)> {
        let records: Vec<Record> = ids.map(record).collect();
        Sample::part(0, file, records.iter().map(|r| (r, true, false)))
    }

    #[test]
    fn what_is_kept_does_not_depend_on_the_order() {
        let parts = [part(1, 0..900), part(2, 500..1500), part(3, 5000..9000)];
        let all = |order: [usize; 3]| {
            let mut sample = Sample::new(1000);
            order.iter().for_each(|&n| sample.add(&parts[n]));
            let mut shared = sample.shared();
            shared.iter_mut().for_each(|pair| pair.ids.sort_unstable());
            (sample.rate(), shared)
        };
        let first = all([0, 1, 2]);
        assert_eq!(first, all([2, 1, 0]));
        assert_eq!(first, all([1, 2, 0]));
        assert_eq!(first.1.len(), 1);
        assert_eq!(first.1[0].files, (1, 2));
        assert!(first.0 > Some(1) && first.1[0].ids.len() < 400);
    }

    #[test]
    fn marks_and_other_times_make_no_pair() {
        let mut sample = Sample::new(100);
        let (a, mut b, c) = (record(1), record(1), record(2));
        b.time += 1;
        sample.add(&Sample::part(0, 1, [(&a, true, false), (&c, true, true)].into_iter()));
        sample.add(&Sample::part(0, 2, [(&b, true, false), (&c, true, false)].into_iter()));
        assert_eq!(sample.shared(), []);
        assert_eq!(sample.files_with(c.id.short(), 1), [2]);
        assert_eq!(sample.files_with(c.id.short(), 2), [1]);
    }

    #[test]
    fn equal_times_end_the_sampling_instead_of_growing() {
        let mut sample = Sample::new(100);
        let records: Vec<Record> = (0..500).map(|n| Record { time: 7, ..record(n) }).collect();
        sample.add(&Sample::part(0, 1, records.iter().map(|r| (r, true, false))));
        assert!(sample.entries.len() <= 100);
    }
}
