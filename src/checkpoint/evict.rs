//! Eviction by the agent's own quotas, with the full copies that keep what remains whole, as a pure function.
//!
//! A difference is worth nothing without the full copy that it starts from. So before an old full copy goes, the next
//! entry of that file, when it is a difference, is made a full copy: it is re-anchored. sid-code 3f3215144f68 does this
//! after each stored snapshot: first for files with more than 50 entries, then for whole snapshots while the index is
//! larger than 200 MiB and more than 11 remain. Where a base cannot be rebuilt the agent's whole eviction throws and
//! stops; here the eviction of that file stops and says so, and whole snapshots stop at that one.
//!
//! What holds afterwards: every entry that is kept, and every snapshot from a file's first kept entry on, rebuilds to
//! the same bytes. Above its first kept entry a file is gone, as it is in the agent.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::model::{EntryKind, Index, Layout, Shape, Span};
use super::rebuild::{Cursor, Limits};
use super::text::{Fault, PLAIN_UNITS, as_written, utf16_length};
use crate::store::Source;
use crate::text::Text;

/// The agent's quotas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quota {
    /// The most entries of one file.
    pub per_file: usize,
    /// The largest index, in bytes as it lies on disk.
    pub bytes: u64,
    /// The fewest snapshots that eviction by size leaves.
    pub keep: usize,
}

impl Default for Quota {
    /// 50 entries, 200 MiB, 11 snapshots (ten that are listed, one to undo).
    fn default() -> Self {
        Quota { per_file: 50, bytes: 200 << 20, keep: 11 }
    }
}

/// What eviction did, or could not do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// Entries of a file went: how many.
    Removed {
        /// The file.
        file: u32,
        /// How many of its entries.
        entries: u64,
    },
    /// A difference became a full copy.
    Anchored {
        /// The file.
        file: u32,
        /// The snapshot, by position.
        position: u32,
    },
    /// Whole snapshots went, the oldest first: how many.
    Snapshots(u64),
    /// The next base of a file cannot be rebuilt, so nothing older may go.
    Stopped {
        /// The file.
        file: u32,
        /// The snapshot that cannot become a base, by position.
        position: u32,
        /// Why; none: there is no full copy to rebuild it from.
        fault: Option<Fault>,
    },
    /// The index is still larger than the quota, and no more snapshots may go.
    StillOver {
        /// Its size then, in bytes.
        bytes: u64,
    },
}

/// A snapshot that is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Its position before.
    pub position: u32,
    /// Its entries, by number.
    pub entries: Vec<u32>,
}

/// An index after eviction.
#[derive(Clone, Debug)]
pub struct Evicted {
    /// What is kept, in order.
    pub kept: Vec<Kept>,
    /// Entries that became full copies, with their text in WTF-8.
    pub anchored: BTreeMap<u32, Vec<u8>>,
    /// What was done, and what could not be.
    pub notes: Vec<Note>,
    /// Its size in bytes, laid out as the agent does.
    pub bytes: u64,
}

/// Evicts until the quotas hold. Contents are read again from the source; nothing is written.
pub fn evict(index: &Index, source: &Source, quota: Quota, limits: Limits) -> Evicted {
    let mut work = Work {
        index,
        source,
        limits,
        files: (0..index.files.len() as u32).map(|_| None).collect(),
        anchored: BTreeMap::new(),
        kept: (0_u32..).zip(&index.snapshots).map(|(p, s)| (p, s.entries.clone().collect())).collect(),
        size: index.bytes,
        notes: Vec::new(),
    };
    for file in 0..index.files.len() as u32 {
        work.per_file(file, quota.per_file);
    }
    work.by_size(quota);
    let Work { anchored, kept, size, notes, .. } = work;
    let anchored = anchored.into_iter().map(|(number, (text, _))| (number, text)).collect();
    let kept = kept.into_iter().map(|(position, entries)| Kept { position, entries: entries.into_iter().collect() });
    Evicted { kept: kept.collect(), anchored, notes, bytes: size }
}

/// How far the rebuilding of one file has come.
struct File<'a> {
    cursor: Cursor<'a>,
    /// How many of its entries were applied.
    applied: usize,
}

struct Work<'a> {
    index: &'a Index,
    source: &'a Source,
    limits: Limits,
    files: Vec<Option<File<'a>>>,
    /// Entries that became full copies: the text, and the length in the index.
    anchored: BTreeMap<u32, (Vec<u8>, u64)>,
    kept: BTreeMap<u32, BTreeSet<u32>>,
    size: u64,
    notes: Vec<Note>,
}

/// What the agent's layout puts between two entries, and between two snapshots: comma, line feed, indent.
const BETWEEN_ENTRIES: u64 = 10;
const BETWEEN_SNAPSHOTS: u64 = 6;

impl<'a> Work<'a> {
    fn file(&mut self, file: u32) -> Option<&mut File<'a>> {
        let (index, source, limits) = (self.index, self.source, self.limits);
        let slot = self.files.get_mut(file as usize)?;
        Some(slot.get_or_insert_with(|| File { cursor: Cursor::new(index, source, limits), applied: 0 }))
    }

    /// Rebuilds a file up to one of its entries; none when that yields a text.
    fn rebuild(&mut self, file: u32, upto: usize) -> Result<(), Option<Fault>> {
        let index = self.index;
        let Some(state) = self.file(file) else { return Ok(()) };
        while state.applied <= upto
            && let Some(&(position, number)) = index.entries_of(file).get(state.applied)
        {
            state.cursor.apply(position, number);
            state.applied += 1;
        }
        match state.cursor.text() {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(None),
            Err(fault) => Err(Some(fault)),
        }
    }

    fn anchor(&mut self, file: u32, position: u32, number: u32) {
        let index = self.index;
        let Some(Ok(Some(text))) = self.file(file).map(|state| state.cursor.text()) else { return };
        let text = text.to_vec();
        let (Some(entry), Some(path)) = (index.entry(number), index.path(file)) else { return };
        let length = full_entry(path, entry.existed_before, &text).len() as u64;
        self.size = (self.size + length).saturating_sub(entry.span.length);
        self.anchored.insert(number, (text, length));
        self.notes.push(Note::Anchored { file, position });
    }

    /// Takes an entry out of the index, and its snapshot when nothing else is in it.
    fn remove(&mut self, file: u32, position: u32) {
        let Some(entries) = self.kept.get_mut(&position) else { return };
        let index = self.index;
        let gone: Vec<u32> =
            entries.iter().copied().filter(|n| index.entry(*n).is_some_and(|e| e.file == file)).collect();
        for number in gone {
            entries.remove(&number);
            let stored = index.entry(number).map_or(0, |e| e.span.length);
            let length = self.anchored.remove(&number).map_or(stored, |(_, length)| length);
            self.size = self.size.saturating_sub(length + BETWEEN_ENTRIES);
        }
        if entries.is_empty() {
            // What is left of the snapshot without its entries, which were taken off before.
            let rest = self.snapshot_frame(position);
            self.size = self.size.saturating_sub(rest);
            self.kept.remove(&position);
        }
    }

    /// Bytes of a snapshot around its entries, with what separates it from the next.
    fn snapshot_frame(&self, position: u32) -> u64 {
        let Some(snapshot) = self.index.snapshots.get(position as usize) else { return 0 };
        let inner: u64 = self.index.entries_at(position).map(|(_, e)| e.span.length + BETWEEN_ENTRIES).sum();
        (snapshot.span.length + BETWEEN_SNAPSHOTS).saturating_sub(inner)
    }

    fn per_file(&mut self, file: u32, most: usize) {
        let index = self.index;
        let entries = index.entries_of(file);
        if most == 0 || entries.len() <= most {
            return;
        }
        let last = entries.len() - most;
        let mut removed = 0;
        let mut full = false;
        let mut anchor = false;
        for (i, pair) in entries.windows(2).take(last).enumerate() {
            let [(_, number), (next_position, next)] = *pair else { continue };
            full |= index.entry(number).is_some_and(|e| e.kind == EntryKind::Full);
            let next_full = index.entry(next).is_some_and(|e| e.kind == EntryKind::Full);
            anchor = full && !next_full;
            if let (true, Err(fault)) = (anchor, self.rebuild(file, i + 1)) {
                // The entry at hand stays, as the base that it is or was made.
                self.notes.push(Note::Stopped { file, position: next_position, fault });
                let was_made = index.entry(number).is_some_and(|e| e.kind != EntryKind::Full);
                anchor = was_made && self.back_to(file, i);
                break;
            }
            removed += 1;
        }
        for &(position, _) in entries.iter().take(removed) {
            self.remove(file, position);
        }
        if removed > 0 {
            self.notes.push(Note::Removed { file, entries: removed as u64 });
        }
        if let (true, Some(&(position, number))) = (anchor, entries.get(removed)) {
            self.anchor(file, position, number);
        }
    }

    /// Rebuilds a file afresh up to an entry: the cursor had gone past it.
    fn back_to(&mut self, file: u32, upto: usize) -> bool {
        if let Some(slot) = self.files.get_mut(file as usize) {
            *slot = None;
        }
        self.rebuild(file, upto).is_ok()
    }

    fn by_size(&mut self, quota: Quota) {
        let mut removed = 0;
        while quota.bytes > 0 && self.size > quota.bytes && self.kept.len() > quota.keep {
            let Some((position, entries)) = self.kept.first_key_value().map(|(p, e)| (*p, e.clone())) else { break };
            if let Err((file, at, fault)) = self.free(position, &entries) {
                self.notes.push(Note::Stopped { file, position: at, fault });
                break;
            }
            let files: BTreeSet<u32> = entries.iter().filter_map(|n| self.index.entry(*n)).map(|e| e.file).collect();
            for file in files {
                self.remove(file, position);
            }
            // A snapshot without entries goes as well.
            if self.kept.remove(&position).is_some() {
                self.size = self.size.saturating_sub(self.snapshot_frame(position));
            }
            removed += 1;
        }
        if removed > 0 {
            self.notes.push(Note::Snapshots(removed));
        }
        if quota.bytes > 0 && self.size > quota.bytes {
            self.notes.push(Note::StillOver { bytes: self.size });
        }
    }

    /// Makes sure that nothing depends on the entries of a snapshot.
    fn free(&mut self, position: u32, entries: &BTreeSet<u32>) -> Result<(), (u32, u32, Option<Fault>)> {
        for &number in entries {
            let Some(file) = self.index.entry(number).map(|e| e.file) else { continue };
            if !self.is_full(number) {
                continue;
            }
            let list = self.index.entries_of(file);
            let next = list.partition_point(|(p, _)| *p <= position);
            let Some(&(at, next_number)) = list.get(next) else { continue };
            if self.is_full(next_number) {
                continue;
            }
            self.rebuild(file, next).map_err(|fault| (file, at, fault))?;
            self.anchor(file, at, next_number);
        }
        Ok(())
    }

    fn is_full(&self, number: u32) -> bool {
        self.index.entry(number).is_some_and(|e| e.kind == EntryKind::Full) || self.anchored.contains_key(&number)
    }
}

/// A full entry as the agent lays it out at its place, without the indent of its first line.
fn full_entry(path: &Text, existed_before: bool, text: &[u8]) -> Vec<u8> {
    let packed = utf16_length(text) > PLAIN_UNITS;
    let mut out = b"{\n          \"filePath\": ".to_vec();
    json_string(path.as_bytes(), &mut out);
    out.extend_from_slice(format!(",\n          \"existedBefore\": {existed_before},\n").as_bytes());
    out.extend_from_slice(b"          \"type\": \"full\",\n          \"content\": ");
    if packed {
        out.push(b'"');
        out.extend_from_slice(&to_base64(&gzip(&as_written(text))));
        out.push(b'"');
    } else {
        json_string(text, &mut out);
    }
    out.extend_from_slice(format!(",\n          \"compressed\": {packed}\n        }}").as_bytes());
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    // Writing into memory cannot fail.
    let _ = gz.write_all(bytes);
    gz.finish().unwrap_or_default()
}

fn to_base64(bytes: &[u8]) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0, |word, b| word << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let six = ALPHABET[(word >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() { six } else { b'=' });
        }
    }
    out
}

/// A string as `JSON.stringify` writes it: half a surrogate pair is escaped.
fn json_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(&byte) = rest.first() {
        let mut step = 1;
        match (byte, rest.get(1), rest.get(2)) {
            (b'"' | b'\\', ..) => out.extend_from_slice(&[b'\\', byte]),
            (b'\n', ..) => out.extend_from_slice(b"\\n"),
            (b'\r', ..) => out.extend_from_slice(b"\\r"),
            (b'\t', ..) => out.extend_from_slice(b"\\t"),
            (8, ..) => out.extend_from_slice(b"\\b"),
            (12, ..) => out.extend_from_slice(b"\\f"),
            (0..0x20, ..) => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            (0xed, Some(&second @ 0xa0..=0xbf), Some(&third)) => {
                let unit = 0xd000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f);
                out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                step = 3;
            }
            _ => out.push(byte),
        }
        rest = rest.get(step..).unwrap_or_default();
    }
    out.push(b'"');
}

impl Evicted {
    /// The index after eviction, laid out as the agent does, with the bytes of what is kept as they are. Only of the
    /// current layout.
    ///
    /// # Errors
    /// I/O errors while contents are read again.
    pub fn render(&self, index: &Index, source: &Source) -> io::Result<Option<Vec<u8>>> {
        if index.layout != Layout::Current {
            return Ok(None);
        }
        let mut out = b"{\n  \"sessionId\": ".to_vec();
        json_string(index.session_id.as_ref().map_or(&[], Text::as_bytes), &mut out);
        for (name, number) in [("createdAt", index.created_at), ("nextId", index.next_id.map(|n| n.value))] {
            if let Some(number) = number {
                out.extend_from_slice(format!(",\n  \"{name}\": {number}").as_bytes());
            }
        }
        out.extend_from_slice(b",\n  \"snapshots\": [");
        let mut newest: BTreeMap<u32, u32> = BTreeMap::new();
        for (i, kept) in self.kept.iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"\n    " } else { b",\n    " });
            self.snapshot(index, source, kept, &mut out)?;
            for number in &kept.entries {
                let Some(entry) = index.entry(*number) else { continue };
                if entry.kind == EntryKind::Full || self.anchored.contains_key(number) {
                    newest.insert(entry.file, kept.position);
                }
            }
        }
        out.extend_from_slice(if self.kept.is_empty() { b"]" } else { b"\n  ]" });
        out.extend_from_slice(b",\n  \"latestFullMap\": {");
        for (i, (file, position)) in newest.iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"\n    " } else { b",\n    " });
            json_string(index.path(*file).map_or(&[], Text::as_bytes), &mut out);
            out.extend_from_slice(b": ");
            json_string(index.snapshots.get(*position as usize).map_or(&[], |s| s.id.as_bytes()), &mut out);
        }
        out.extend_from_slice(if newest.is_empty() { b"}\n}" } else { b"\n  }\n}" });
        Ok(Some(out))
    }

    fn snapshot(&self, index: &Index, source: &Source, kept: &Kept, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(snapshot) = index.snapshots.get(kept.position as usize) else { return Ok(()) };
        let whole = snapshot.entries.len() == kept.entries.len();
        let anchored = kept.entries.iter().any(|n| self.anchored.contains_key(n));
        let (Some(first), Some(last)) =
            (index.entry(snapshot.entries.start), index.entry(snapshot.entries.end.saturating_sub(1)))
        else {
            return copy(source, snapshot.span, out);
        };
        if (whole && !anchored) || snapshot.shape != Shape::Whole {
            return copy(source, snapshot.span, out);
        }
        let head = first.span.offset - snapshot.span.offset;
        copy(source, Span { offset: snapshot.span.offset, length: head }, out)?;
        for (i, number) in kept.entries.iter().enumerate() {
            let Some(entry) = index.entry(*number) else { continue };
            if i > 0 {
                out.extend_from_slice(b",\n        ");
            }
            match self.anchored.get(number) {
                Some(text) => {
                    let path = index.path(entry.file).cloned().unwrap_or_default();
                    out.extend_from_slice(&full_entry(&path, entry.existed_before, text));
                }
                None => copy(source, entry.span, out)?,
            }
        }
        let end = last.span.offset + last.span.length;
        let tail = (snapshot.span.offset + snapshot.span.length).saturating_sub(end);
        copy(source, Span { offset: end, length: tail }, out)
    }
}

fn copy(source: &Source, span: Span, out: &mut Vec<u8>) -> io::Result<()> {
    out.extend_from_slice(&source.read_range(span.offset, span.length)?);
    Ok(())
}
