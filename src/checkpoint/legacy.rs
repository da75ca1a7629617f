//! The old layout, turned into the current one in memory by the agent's own rule (sid-code 3f3215144f68 does this at
//! each start and never saves it): every entry becomes a snapshot of its own, ids are given in file order, and only
//! then the snapshots are sorted by time, so that ids of several files come out of order.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::model::{Body, Entry, EntryKind, Index, Layout, Shape, Snapshot, Span, Stored};
use super::read::{RawEntry, entry};
use crate::record::json::{Bad, Kind, Reader};
use crate::text::Text;

/// One file of the old layout.
#[derive(Default)]
pub(super) struct LegacyFile {
    pub(super) entries: Vec<RawEntry>,
    /// Its shape makes the agent's migration throw: it begins with an empty history then.
    pub(super) throws: bool,
}

/// Reads the value of one member of `files`.
pub(super) fn file(reader: &mut Reader<'_, '_>, base: u64) -> Result<LegacyFile, Bad> {
    let mut file = LegacyFile { entries: Vec::new(), throws: true };
    if reader.peek()? != Kind::Object {
        reader.skip()?;
        return Ok(file);
    }
    reader.object(|reader, key| {
        if reader.raw(key) != b"entries" {
            reader.skip()?;
            return Ok(());
        }
        file = LegacyFile { entries: Vec::new(), throws: true };
        if reader.peek()? != Kind::Array {
            reader.skip()?;
            return Ok(());
        }
        file.throws = false;
        reader.array(|reader| {
            match reader.peek()? {
                Kind::Object => file.entries.push(entry(reader, base)?),
                Kind::Null => {
                    file.throws = true;
                    reader.skip()?;
                }
                _ => {
                    // Every property of it is undefined; the snapshot that it becomes takes an id all the same.
                    let (start, end) = reader.skip()?;
                    let span = Span { offset: base + start as u64, length: (end - start) as u64 };
                    file.entries.push(RawEntry {
                        path: None,
                        kind: EntryKind::Other,
                        existed_before: true,
                        compressed: false,
                        body: Body::Absent,
                        timestamp: None,
                        span,
                    });
                }
            }
            Ok(())
        })
    })?;
    Ok(file)
}

/// The index that the agent makes of it; none where its migration throws.
pub(super) fn migrate(mut index: Index, mut files: Vec<(Text, LegacyFile)>) -> Option<Index> {
    if files.iter().any(|(_, file)| file.throws) {
        return None;
    }
    in_javascript_order(&mut files);
    index.layout = Layout::Legacy;
    let mut names: HashMap<Text, u32> = HashMap::new();
    let mut snapshots = Vec::new();
    let mut latest: Vec<(Text, Text)> = Vec::new();
    for (key, file) in files {
        let mut newest = None;
        for raw in file.entries {
            let id = Text::new(format!("s{}", snapshots.len() + 1));
            if raw.kind == EntryKind::Full {
                newest = Some(id.clone());
            }
            snapshots.push((id, raw));
        }
        latest.extend(newest.map(|id| (key, id)));
    }
    index.next_id = Some(Stored { value: snapshots.len() as f64 + 1.0, span: Span::default() });
    index.latest_full = Some(latest);
    sort_as_javascript(&mut snapshots);
    for (id, raw) in snapshots {
        let RawEntry { path, kind, compressed, body, timestamp, span, .. } = raw;
        let number = index.entries.len() as u32;
        if let Some(path) = path {
            let file = *names.entry(path).or_insert_with_key(|path| {
                index.files.push(path.clone());
                index.files.len() as u32 - 1
            });
            // An empty full copy counts as "was not there", although an empty file may well have been: undo deletes it.
            let existed_before = kind == EntryKind::Diff || body != Body::Blank;
            index.entries.push(Entry { file, kind, existed_before, compressed, body, span });
        }
        index.snapshots.push(Snapshot {
            id,
            timestamp,
            tool: Some(Text::from("write")),
            message_id: None,
            entries: number..index.entries.len() as u32,
            shape: Shape::Whole,
            span,
        });
    }
    index.link();
    Some(index)
}

/// `Object.entries`: keys that are array indices first, by value; the others as they stand.
fn in_javascript_order(files: &mut [(Text, LegacyFile)]) {
    let number = |key: &Text| -> Option<u32> {
        let text = std::str::from_utf8(key.as_bytes()).ok()?;
        let n: u32 = text.parse().ok()?;
        (n != u32::MAX && n.to_string() == text).then_some(n)
    };
    files.sort_by_key(|(key, _)| number(key).map_or((1, 0), |n| (0, n)));
}

/// `sort((a, b) => a.timestamp - b.timestamp)`, which is stable. Where a time is missing the difference is no number
/// and counts as equal, which is no order: what comes out then depends on how the engine sorts. It mostly inserts short
/// lists by halving (nine in ten random ones come out as here); of long ones only the stretches between missing times
/// are sorted. The agent has always written a time.
fn sort_as_javascript(snapshots: &mut Vec<(Text, RawEntry)>) {
    // Adding zero makes one of the two zeros.
    let by_time = |a: &(Text, RawEntry), b: &(Text, RawEntry)| {
        let time = |raw: &RawEntry| raw.timestamp.unwrap_or_default() + 0.0;
        time(&a.1).total_cmp(&time(&b.1))
    };
    let timed = |item: &(Text, RawEntry)| item.1.timestamp.is_some();
    if snapshots.len() > SHORT || snapshots.iter().all(timed) {
        for stretch in snapshots.split_mut(|item| !timed(item)) {
            stretch.sort_by(by_time);
        }
        return;
    }
    let mut sorted: Vec<(Text, RawEntry)> = Vec::with_capacity(snapshots.len());
    for item in snapshots.drain(..) {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let before = sorted
                .get(middle)
                .is_some_and(|other| timed(&item) && timed(other) && by_time(&item, other) == Ordering::Less);
            if before {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        sorted.insert(low, item);
    }
    *snapshots = sorted;
}

/// Lists up to this length are inserted by halving.
const SHORT: usize = 64;
