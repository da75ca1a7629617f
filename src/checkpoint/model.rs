//! What an index holds, as far as the first pass keeps it: ids, times and the places of contents, never the contents.
//!
//! An entry costs about 60 bytes here whatever its file weighs, so that an index of hundreds of megabytes fits into a
//! few of memory. What the contents say is asked of `rebuild`, which reads them again, one file at a time.

use std::collections::HashMap;
use std::ops::Range;

use crate::record::json::{Kind, Why};
use crate::text::Text;

/// A stretch of the index file, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
}

/// How the file is laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Layout {
    /// `snapshots`: one list in the order in which they were taken.
    #[default]
    Current,
    /// `files`: one list a file. The agent turns it into the current layout in memory and does not save that.
    Legacy,
}

/// The type of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// The whole text.
    Full,
    /// The difference to the entry of this file before it.
    Diff,
    /// Any other word: the agent passes over it.
    Other,
}

/// Where the text or the difference of an entry stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Body {
    /// Not there, or a value that JavaScript takes for false other than the empty string.
    Absent,
    /// The empty string.
    Blank,
    /// A string: its bytes between the quotes, escapes and all.
    Text(Span),
    /// A list of operations: its bytes with the brackets, and how many there are.
    Ops(Span, u32),
    /// A value of another kind: the agent throws when it uses it.
    Odd,
}

/// One file in one snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its path: the place in [`Index::files`].
    pub file: u32,
    /// Its type.
    pub kind: EntryKind,
    /// Whether the file was there before the tool ran.
    pub existed_before: bool,
    /// Whether its text is said to be gzip in base64.
    pub compressed: bool,
    /// Where its text or difference stands.
    pub body: Body,
    /// The whole entry.
    pub span: Span,
}

/// What is wrong with the shape of a snapshot: the agent throws where it meets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Nothing.
    Whole,
    /// `null` in the list of snapshots: looking for an id throws here too.
    Null,
    /// No object, or no list of files in it.
    NoFiles,
    /// A word instead of its list of files: searching throws, walking through it does not.
    Word,
    /// `null` in its list of files; the entries before that are found.
    Hole,
}

/// One snapshot: the state of some files before one batch of tools ran.
#[derive(Clone, PartialEq, Debug)]
pub struct Snapshot {
    /// Its id, `s<n>`; a value that is no string as it stands in the file.
    pub id: Text,
    /// When it was taken, in milliseconds since 1970.
    pub timestamp: Option<f64>,
    /// The tool that was about to run.
    pub tool: Option<Text>,
    /// The message that it belongs to.
    pub message_id: Option<Text>,
    /// Its entries: a stretch of [`Index::entries`].
    pub entries: Range<u32>,
    /// Whether it has the shape that the agent needs.
    pub shape: Shape,
    /// The whole snapshot (of a legacy index: its one entry).
    pub span: Span,
}

/// A number of the index and where it stands.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stored {
    /// Its value as JavaScript has it.
    pub value: f64,
    /// Its place; empty when the agent's migration makes it.
    pub span: Span,
}

/// The first pass over one index.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Which layout it has.
    pub layout: Layout,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// The session that its folder is named for.
    pub folder: Option<Text>,
    /// The session that it says it belongs to.
    pub session_id: Option<Text>,
    /// Where that is said: the string between its quotes.
    pub session_id_span: Span,
    /// When it was made, in milliseconds since 1970.
    pub created_at: Option<f64>,
    /// The number of the next snapshot.
    pub next_id: Option<Stored>,
    /// Paths in the order in which the agent meets them.
    pub files: Vec<Text>,
    /// Snapshots in the order in which the agent keeps them.
    pub snapshots: Vec<Snapshot>,
    /// Entries in that order.
    pub entries: Vec<Entry>,
    /// The stored lookup of newest full copies; none when there is no such object (newer agents write none).
    pub latest_full: Option<Vec<(Text, Text)>>,
    /// Where that lookup stands.
    pub latest_full_span: Span,
    /// An old `files` map beside `snapshots`: the agent passes over it. Its place, when something is in it.
    pub ignored_legacy: Option<Span>,
    /// Positions of snapshots whose shape makes the agent throw, ascending.
    pub(super) broken: Vec<u32>,
    /// The first position at which `null` stands for a snapshot.
    pub(super) null: Option<u32>,
    /// For each file its entries, as `(position, entry)`: the first one of each snapshot, as the agent's `find` has it.
    pub(super) by_file: Vec<Vec<(u32, u32)>>,
    /// The first position of each id.
    pub(super) first: HashMap<Text, u32>,
}

/// Where the agent's search for an id ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// At the first snapshot with that id.
    At(u32),
    /// Nowhere.
    Nowhere,
    /// It throws: `null` stands before it in the list.
    Throws,
}

/// How many entries of each sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Count {
    /// Full copies, the compressed ones included.
    pub full: u64,
    /// Full copies that are gzip in base64.
    pub compressed: u64,
    /// Differences.
    pub diff: u64,
}

impl Index {
    /// Fills what is derived from snapshots and entries.
    pub(super) fn link(&mut self) {
        self.broken.clear();
        self.first.clear();
        self.null = None;
        self.by_file = vec![Vec::new(); self.files.len()];
        for (position, snapshot) in (0_u32..).zip(&self.snapshots) {
            if snapshot.shape != Shape::Whole {
                self.broken.push(position);
            }
            if snapshot.shape == Shape::Null {
                self.null = self.null.or(Some(position));
            } else {
                self.first.entry(snapshot.id.clone()).or_insert(position);
            }
            for number in snapshot.entries.clone() {
                let Some(entry) = self.entries.get(number as usize) else { continue };
                let Some(list) = self.by_file.get_mut(entry.file as usize) else { continue };
                if list.last().is_none_or(|(last, _)| *last != position) {
                    list.push((position, number));
                }
            }
        }
    }

    /// The entry of that number.
    pub(super) fn entry(&self, number: u32) -> Option<&Entry> {
        self.entries.get(number as usize)
    }

    /// The entries of a file, as `(position, entry)` in the order of snapshots: the first one of each snapshot.
    pub fn entries_of(&self, file: u32) -> &[(u32, u32)] {
        self.by_file.get(file as usize).map_or(&[], Vec::as_slice)
    }

    /// The entries of the snapshot at a position, in file order, with their numbers.
    pub fn entries_at(&self, position: u32) -> impl Iterator<Item = (u32, &Entry)> {
        let range = self.snapshots.get(position as usize).map_or(0..0, |s| s.entries.clone());
        range.filter_map(|number| Some((number, self.entry(number)?)))
    }

    /// A file's path.
    pub fn path(&self, file: u32) -> Option<&Text> {
        self.files.get(file as usize)
    }

    /// The file of that path.
    pub fn file(&self, path: &[u8]) -> Option<u32> {
        self.files.iter().position(|p| p.as_bytes() == path).and_then(|p| u32::try_from(p).ok())
    }

    /// Where the agent finds the snapshot of that id.
    pub fn find(&self, id: &Text) -> Found {
        match (self.first.get(id), self.null) {
            (Some(at), Some(null)) if null < *at => Found::Throws,
            (Some(at), _) => Found::At(*at),
            (None, Some(_)) => Found::Throws,
            (None, None) => Found::Nowhere,
        }
    }

    /// Whether the agent's walk over these positions meets a snapshot that makes it throw.
    pub(super) fn throws_within(&self, positions: Range<u32>) -> bool {
        let next = self.broken.partition_point(|p| *p < positions.start);
        self.broken.get(next).is_some_and(|p| positions.contains(p))
    }

    /// Entries by sort.
    pub fn count(&self) -> Count {
        let mut count = Count::default();
        for entry in &self.entries {
            match entry.kind {
                EntryKind::Full => {
                    count.full += 1;
                    count.compressed += u64::from(entry.compressed);
                }
                EntryKind::Diff => count.diff += 1,
                EntryKind::Other => {}
            }
        }
        count
    }

    /// The newest full copy of each file, as the agent's own rule makes the lookup: `(file, position)`.
    pub fn true_latest_full(&self) -> Vec<(u32, u32)> {
        let mut newest: Vec<Option<u32>> = vec![None; self.files.len()];
        for position in (0_u32..).take(self.snapshots.len()) {
            for (_, entry) in self.entries_at(position).filter(|(_, e)| e.kind == EntryKind::Full) {
                if let Some(slot) = newest.get_mut(entry.file as usize) {
                    *slot = Some(position);
                }
            }
        }
        (0_u32..).zip(newest).filter_map(|(file, position)| Some((file, position?))).collect()
    }

    /// Whether an entry is a full copy.
    pub fn is_full(&self, number: u32) -> bool {
        self.entry(number).is_some_and(|entry| entry.kind == EntryKind::Full)
    }

    /// Whether two snapshots share an id.
    pub fn repeats_ids(&self) -> bool {
        let ids = self.snapshots.iter().filter(|s| s.shape != Shape::Null).count();
        self.first.len() < ids
    }

    /// The highest `n` of an id `s<n>` in use.
    pub fn highest_number(&self) -> Option<u64> {
        self.snapshots.iter().filter_map(|s| snapshot_number(&s.id)).max()
    }

    /// Whether every id below the next one is there: nothing was evicted, undone or skipped as unchanged, so that a
    /// file without an entry was never snapshotted.
    pub fn complete(&self) -> bool {
        let Some(next) = self.next_id else { return false };
        let mut numbers: Vec<u64> = self.snapshots.iter().filter_map(|s| snapshot_number(&s.id)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.first().is_none_or(|n| *n == 1) && numbers.len() as f64 + 1.0 == next.value
    }
}

/// The number in an id of the agent's own form, `s<n>`.
pub fn snapshot_number(id: &Text) -> Option<u64> {
    let digits = id.as_bytes().strip_prefix(b"s")?;
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// What the agent makes of a file that holds no index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It begins with an empty history, and its next snapshot overwrites the file.
    Overwritten,
    /// It takes the value as it is: listing throws, undo throws, and no snapshot is ever stored again.
    Stuck,
}

/// What the first pass found.
#[derive(Clone, Debug)]
pub enum IndexRead {
    /// An index, whole as JSON.
    Readable(Index),
    /// The JSON breaks off or breaks down. The agent begins with an empty history and overwrites it.
    Torn {
        /// Whole snapshots before that place.
        salvaged: Index,
        /// Where the agent's parser gives up, in bytes.
        cut: u64,
        /// What is wrong there.
        why: Why,
    },
    /// Whole JSON, and no index.
    NotAnIndex {
        /// What it is.
        kind: Kind,
        /// What the agent makes of it.
        fate: Fate,
    },
    /// No byte, or nothing but white space.
    Empty,
    /// It is not read: a limit of this program, not of the agent.
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit, in bytes or in pieces.
        limit: u64,
    },
}
