//! A checkpoint index counted again: snapshots and entries by where they stand between brackets.
//!
//! Not with serde_json: an index is read in pieces, for it may be larger than memory, and a reader of pieces that asks
//! what kind of value comes next refuses half of a surrogate pair and a number beyond all others, which the agent reads.

use std::io;

use crate::metrics::cross_check::Sums;
use crate::metrics::scanner::{Event, Scanner, unescaped};
use crate::store::Source;

/// Where in an index the scanner is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Top,
    Snapshots,
    Snapshot,
    Files,
    Entry,
    OldFiles,
    OldFile,
    OldEntries,
    Other,
}

/// An entry as it is met.
#[derive(Clone, Copy, Default)]
struct Entry {
    full: bool,
    diff: bool,
    compressed: bool,
}

/// Sums of one layout.
#[derive(Clone, Copy, Default)]
struct Layout {
    met: bool,
    is_list: bool,
    truthy: bool,
    snapshots: u64,
    full: u64,
    compressed: u64,
    diff: u64,
}

impl Layout {
    fn entry(&mut self, entry: Entry) {
        self.full += u64::from(entry.full);
        self.compressed += u64::from(entry.full && entry.compressed);
        self.diff += u64::from(entry.diff);
    }
}

struct Count {
    places: Vec<Place>,
    keys: Vec<String>,
    entry: Entry,
    /// A list of files in which `null` stands: what follows it is never found.
    broken: bool,
    object: bool,
    current: Layout,
    old: Layout,
}

/// Counts an index; returns its snapshots.
pub(super) fn count(source: &Source, sums: &mut Sums) -> io::Result<u64> {
    sums.add("checkpoints.indexes", 1);
    sums.add("checkpoints.bytes", source.size());
    let mut count = Count {
        places: Vec::new(),
        keys: Vec::new(),
        entry: Entry::default(),
        broken: false,
        object: false,
        current: Layout::default(),
        old: Layout::default(),
    };
    let mut scanner = Scanner::new(256);
    let (mut chunk, mut at) = (vec![0; 128 * 1024], 0);
    loop {
        let read = source.read_at(at, &mut chunk)?;
        at += read as u64;
        let mut on = |depth: usize, event: Event<'_>| count.event(depth, event);
        let done = if read == 0 { scanner.finish(&mut on) } else { scanner.feed(&chunk[..read], &mut on) };
        if done.is_err() {
            return Ok(0);
        }
        if read == 0 {
            break;
        }
    }
    let layout = match (count.object, count.current, count.old) {
        (true, current, _) if current.is_list => current,
        (true, current, old) if !current.truthy && old.met && old.truthy => old,
        _ => return Ok(0),
    };
    sums.add("checkpoints.snapshots", layout.snapshots);
    sums.add("checkpoints.entries.full", layout.full);
    sums.add("checkpoints.entries.compressed", layout.compressed);
    sums.add("checkpoints.entries.diff", layout.diff);
    Ok(layout.snapshots)
}

impl Count {
    fn event(&mut self, depth: usize, event: Event<'_>) {
        let closed = (event == Event::Close).then(|| self.places.get(depth).copied()).flatten();
        self.places.truncate(depth);
        self.keys.truncate(depth);
        let place = self.places.last().copied();
        if let Event::Key(key) = event {
            if let Some(slot) = self.keys.last_mut() {
                *slot = unescaped(key);
            }
            return;
        }
        if closed == Some(Place::Entry) {
            let legacy = place == Some(Place::OldEntries);
            let layout = if legacy { &mut self.old } else { &mut self.current };
            layout.entry(self.entry);
            layout.snapshots += u64::from(legacy);
        }
        if event == Event::Close {
            return;
        }
        let key = self.keys.last_mut().map(std::mem::take).unwrap_or_default();
        let (object, array) = (event == Event::Object, event == Event::Array);
        let child = match (place, key.as_str()) {
            (None, _) => {
                self.object = object;
                if object { Place::Top } else { Place::Other }
            }
            (Some(Place::Top), "snapshots") => {
                self.current = Layout { met: true, is_list: array, truthy: truthy(event), ..Layout::default() };
                if array { Place::Snapshots } else { Place::Other }
            }
            (Some(Place::Top), "files") => {
                self.old = Layout { met: true, truthy: truthy(event), ..Layout::default() };
                if object { Place::OldFiles } else { Place::Other }
            }
            (Some(Place::Snapshots), _) => {
                self.current.snapshots += 1;
                if object { Place::Snapshot } else { Place::Other }
            }
            (Some(Place::Snapshot), "files") if array => {
                self.broken = false;
                Place::Files
            }
            (Some(Place::Files), _) if object && !self.broken => {
                self.entry = Entry::default();
                Place::Entry
            }
            (Some(Place::Files), _) => {
                self.broken |= event == Event::Null;
                Place::Other
            }
            (Some(Place::OldFiles), _) if object => Place::OldFile,
            (Some(Place::OldFile), "entries") if array => Place::OldEntries,
            (Some(Place::OldEntries), _) if object => {
                self.entry = Entry::default();
                Place::Entry
            }
            (Some(Place::Entry), "type") => {
                (self.entry.full, self.entry.diff) = (event == Event::String(b"full"), event == Event::String(b"diff"));
                Place::Other
            }
            (Some(Place::Entry), "compressed") => {
                self.entry.compressed = truthy(event);
                Place::Other
            }
            _ => Place::Other,
        };
        if object || array {
            self.places.push(child);
            self.keys.push(String::new());
        }
    }
}

fn truthy(event: Event<'_>) -> bool {
    match event {
        Event::Null | Event::Truth(false) => false,
        Event::String(text) => !text.is_empty(),
        Event::Number(text) => text.iter().take_while(|b| !matches!(b, b'e' | b'E')).any(|b| matches!(b, b'1'..=b'9')),
        _ => true,
    }
}
