//! One file at a time, from its first entry to its last: what the agent rebuilds at each snapshot, and what each
//! snapshot itself proves the file to have been.
//!
//! The agent looks from the asked snapshot upwards for a full copy and applies every later difference again, for each
//! question anew. Walking once from the front and keeping the state gives the same answers in linear time: a full copy
//! starts afresh, a difference changes the text, a fault stays until the next full copy.

use super::diff::{self, Memory, Misfit};
use super::model::{Body, Entry, EntryKind, Index, Span};
use super::text::{Digest, Fault, as_written, base64, gunzip, hidden_gzip, js_string};
use crate::store::Source;

/// What the agent rebuilds of one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing: no full copy at or above. The agent's `null`.
    Nothing,
    /// These bytes.
    Bytes(Digest),
    /// It throws, or this program gives up ([`Fault::is_ours`]).
    Failed(Fault),
    /// Not asked: only the structure was looked at.
    Unknown,
}

/// What a snapshot itself proves a file to have been when it was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Truth {
    /// It was not there.
    Gone,
    /// What the agent rebuilds.
    Rebuilt,
    /// These bytes, and the agent rebuilds others or none: a difference carries all its lines.
    Bytes(Digest),
    /// Not known: the content cannot be decoded, or a difference carries nothing.
    Unproven,
}

/// A file's state from one of its entries on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The snapshot, by position.
    pub position: u32,
    /// The entry, by number.
    pub entry: u32,
    /// What the agent rebuilds from here to the next step.
    pub state: State,
    /// What the file was here.
    pub truth: Truth,
}

/// What may be unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The most that one entry may unpack to, in bytes.
    pub entry: u64,
    /// The most that all rebuilt texts of one index may have together, in bytes.
    pub index: u64,
}

impl Default for Limits {
    /// 256 MiB and 4 GiB: the agent's own quota for a whole index is 200 MiB, packed.
    fn default() -> Self {
        Limits { entry: 256 << 20, index: 4 << 30 }
    }
}

/// What an entry is found guilty of by reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Noted {
    /// A difference whose lines are not those of the base: the place.
    Misfit(Misfit, Span),
    /// A text that cannot be had.
    Fault(Fault),
    /// U+FFFD in the text, for the first time.
    Lossy,
}

/// The text of one file, moved from entry to entry.
pub(super) struct Cursor<'a> {
    index: &'a Index,
    source: &'a Source,
    limits: Limits,
    memory: Memory,
    held: Held,
    text: Vec<u8>,
    /// The first position that was not yet walked over.
    next: u32,
    lossy: bool,
    /// An entry that is said to be plain and looks packed: told when the next difference does not fit it.
    suspect: Option<(u32, u32)>,
    found: Vec<(u32, u32, Noted)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    Nothing,
    Text,
    Failed(Fault),
}

impl<'a> Cursor<'a> {
    pub(super) fn new(index: &'a Index, source: &'a Source, limits: Limits) -> Self {
        Cursor {
            index,
            source,
            limits,
            memory: Memory::default(),
            held: Held::Nothing,
            text: Vec::new(),
            next: 0,
            lossy: false,
            suspect: None,
            found: Vec::new(),
        }
    }

    /// Whether there is a text, and why not.
    pub(super) fn held(&self) -> Held {
        self.held
    }

    /// Nothing more is read: from here on nothing is known.
    pub(super) fn give_up(&mut self, position: u32, number: u32, fault: Fault) {
        self.held = Held::Failed(fault);
        self.found.push((position, number, Noted::Fault(fault)));
    }

    /// What the agent has rebuilt so far: the text in WTF-8.
    pub(super) fn text(&self) -> Result<Option<&[u8]>, Fault> {
        match self.held {
            Held::Nothing => Ok(None),
            Held::Text => Ok(Some(&self.text)),
            Held::Failed(fault) => Err(fault),
        }
    }

    /// Walks to a position behind all entries that were applied: a snapshot of no shape makes the agent throw there.
    pub(super) fn walk_to(&mut self, position: u32) {
        if self.index.throws_within(self.next..position) {
            self.held = Held::Failed(Fault::BrokenSnapshot);
        }
        self.next = self.next.max(position);
    }

    /// Applies an entry of the file and tells what its snapshot proves: without a text, the one that the agent rebuilds.
    pub(super) fn apply(&mut self, position: u32, number: u32) -> Proof {
        let Some(entry) = self.index.entry(number).copied() else { return Proof::Unproven };
        self.walk_to(position);
        self.next = position + 1;
        let proof = match entry.kind {
            EntryKind::Full => {
                self.finish();
                match self.load(&entry, position, number) {
                    Ok(text) => {
                        (self.text, self.held) = (text, Held::Text);
                        Proof::Rebuilt
                    }
                    Err(fault) => {
                        self.held = Held::Failed(fault);
                        self.found.push((position, number, Noted::Fault(fault)));
                        Proof::Unproven
                    }
                }
            }
            EntryKind::Diff => self.diff(&entry, position, number),
            EntryKind::Other => Proof::Unproven,
        };
        if proof == Proof::Rebuilt && !self.lossy && memchr::memmem::find(&self.text, b"\xef\xbf\xbd").is_some() {
            self.lossy = true;
            self.found.push((position, number, Noted::Lossy));
        }
        if entry.existed_before { proof } else { Proof::Gone }
    }

    fn diff(&mut self, entry: &Entry, position: u32, number: u32) -> Proof {
        let (span, count) = match entry.body {
            Body::Ops(span, count) => (span, count),
            // The agent passes over a difference that is not there; nothing tells what the file was.
            Body::Absent | Body::Blank => {
                self.found.push((position, number, Noted::Fault(Fault::NoContent)));
                return Proof::Unproven;
            }
            Body::Odd | Body::Text(_) => {
                self.found.push((position, number, Noted::Fault(Fault::NoOperations)));
                self.fail(Fault::NoOperations);
                return Proof::Unproven;
            }
        };
        let Ok(ops) = self.read(span) else {
            self.fail(Fault::Unread);
            return Proof::Unproven;
        };
        let base = (self.held == Held::Text).then_some(&*self.text);
        let Some(applied) = diff::apply(base, &ops, &mut self.memory) else {
            self.found.push((position, number, Noted::Fault(Fault::NoOperations)));
            self.fail(Fault::NoOperations);
            return Proof::Unproven;
        };
        let based = base.is_some();
        // A difference without operations has a finding of its own.
        if let Some((how, at, length)) = applied.misfit.filter(|_| count > 0) {
            let place = Span { offset: span.offset + at as u64, length: length as u64 };
            self.found.push((position, number, Noted::Misfit(how, place)));
            self.finish();
        }
        self.suspect = None;
        let proof = if count == 0 {
            Proof::Unproven
        } else if based && applied.own {
            Proof::Rebuilt
        } else if based {
            diff::apply(None, &ops, &mut self.memory).map_or(Proof::Unproven, |own| Proof::Text(own.text))
        } else {
            return Proof::Text(applied.text);
        };
        if based {
            if applied.text.len() as u64 > self.limits.entry {
                self.fail(Fault::EntryCap);
                return Proof::Unproven;
            }
            self.text = applied.text;
        }
        proof
    }

    /// A fault in a difference only shows where there is something to apply it to.
    fn fail(&mut self, fault: Fault) {
        if self.held == Held::Text {
            self.held = Held::Failed(fault);
        }
    }

    fn read(&self, span: Span) -> Result<Vec<u8>, Fault> {
        match self.source.read_range(span.offset, span.length) {
            Ok(bytes) if bytes.len() as u64 == span.length => Ok(bytes),
            _ => Err(Fault::Unread),
        }
    }

    /// The text of a full copy, and what is to say against its flag.
    fn load(&mut self, entry: &Entry, position: u32, number: u32) -> Result<Vec<u8>, Fault> {
        let span = match entry.body {
            Body::Text(span) => span,
            Body::Absent | Body::Blank => {
                // An empty text is one, whatever its flag says; the agent never packs it.
                if entry.existed_before && entry.body == Body::Absent {
                    self.found.push((position, number, Noted::Fault(Fault::NoContent)));
                }
                return Ok(Vec::new());
            }
            Body::Odd | Body::Ops(..) => return Err(Fault::NoString),
        };
        // Escapes make a text at most six times as long, base64 makes bytes a third longer.
        if span.length > self.limits.entry.saturating_mul(if entry.compressed { 2 } else { 6 }) {
            return Err(Fault::EntryCap);
        }
        let raw = self.read(span)?;
        let text = js_string(&raw);
        if entry.compressed {
            return gunzip(&base64(&text), self.limits.entry);
        }
        if text.len() as u64 > self.limits.entry {
            return Err(Fault::EntryCap);
        }
        if hidden_gzip(&text, self.limits.entry).is_some() {
            self.suspect = Some((position, number));
        }
        Ok(text.into_owned())
    }

    /// Nothing speaks for a plain text that looks packed: it is one.
    pub(super) fn finish(&mut self) {
        if let Some((position, number)) = self.suspect.take() {
            self.found.push((position, number, Noted::Fault(Fault::Mislabelled)));
        }
    }

    /// What was found since the last call: position, entry, what.
    pub(super) fn take_found(&mut self) -> Vec<(u32, u32, Noted)> {
        std::mem::take(&mut self.found)
    }

    /// Only whether the text of an entry can be had, without keeping it. Returns how many bytes were unpacked.
    pub(super) fn check(&mut self, position: u32, number: u32) -> u64 {
        let Some(entry) = self.index.entry(number).copied() else { return 0 };
        let fault = match (entry.kind, entry.body) {
            (EntryKind::Full, _) => {
                self.finish();
                match self.load(&entry, position, number) {
                    Ok(text) => return text.len() as u64,
                    Err(fault) => fault,
                }
            }
            (EntryKind::Diff, Body::Absent | Body::Blank) => Fault::NoContent,
            (EntryKind::Diff, Body::Odd | Body::Text(_)) => Fault::NoOperations,
            _ => return 0,
        };
        self.found.push((position, number, Noted::Fault(fault)));
        if fault == Fault::EntryCap { self.limits.entry } else { 0 }
    }
}

/// What an entry proves, before it is hashed.
#[derive(PartialEq, Eq)]
pub(super) enum Proof {
    Gone,
    Rebuilt,
    Text(Vec<u8>),
    Unproven,
}

/// A file at a snapshot, as bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Content {
    /// What the agent would write: none where it rebuilds nothing.
    pub rebuilt: Result<Option<Vec<u8>>, Fault>,
    /// What the difference of this snapshot carries by itself, where the agent rebuilds something else or nothing.
    pub carried: Option<Vec<u8>>,
}

/// Rebuilds one file at the snapshot at a position.
pub fn content_at(index: &Index, source: &Source, file: u32, position: u32, limits: Limits) -> Content {
    let mut cursor = Cursor::new(index, source, limits);
    let mut carried = None;
    for &(at, number) in index.entries_of(file).iter().take_while(|(at, _)| *at <= position) {
        carried = match cursor.apply(at, number) {
            Proof::Text(text) => Some(text),
            Proof::Gone | Proof::Rebuilt | Proof::Unproven => None,
        };
    }
    cursor.walk_to(position.saturating_add(1));
    let bytes = |text: &[u8]| as_written(text).into_owned();
    let rebuilt = cursor.text().map(|text| text.map(bytes));
    let carried = carried.as_deref().map(bytes).filter(|own| !matches!(&rebuilt, Ok(Some(text)) if text == own));
    Content { rebuilt, carried }
}

/// The state of a file at any position, from its steps: none before its first entry, and a throw behind a snapshot of
/// no shape.
pub(super) fn state_at(index: &Index, steps: &[Step], position: u32) -> State {
    let behind = steps.partition_point(|step| step.position <= position);
    let (state, from) = match behind.checked_sub(1).and_then(|i| steps.get(i)) {
        Some(step) => (step.state, step.position + 1),
        None => (State::Nothing, 0),
    };
    if state != State::Unknown && index.throws_within(from..position.saturating_add(1)) {
        return State::Failed(Fault::BrokenSnapshot);
    }
    state
}

/// What the file was at a position: the first entry at or behind it tells, since a file is snapshotted before each
/// change. Only an entry, or nothing.
pub(super) fn truth_from(steps: &[Step], position: u32) -> Option<&Step> {
    steps.get(steps.partition_point(|step| step.position < position))
}
