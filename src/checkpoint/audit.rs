//! One index judged: every file rebuilt at every snapshot, and what stands against it, place by place.
//!
//! It says no word of what a defect means: that is the rules' part. It writes nothing and looks at no user file.

use super::diff::Misfit;
use super::model::{Body, EntryKind, Fate, Found, Index, IndexRead, Span};
use super::rebuild::{Cursor, Held, Limits, Noted, Proof, State, Step, Truth};
use super::text::{Digest, Fault};
use crate::record::json::{Kind, Why};
use crate::store::Source;
use crate::text::Text;

/// How far an audit goes.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Rebuild everything, up to the limits. Without it, rebuilding stops after [`Options::quick`] bytes.
    pub verify: bool,
    /// What may be unpacked.
    pub limits: Limits,
    /// How many bytes of text an audit rebuilds that was not asked to verify.
    pub quick: u64,
}

impl Default for Options {
    /// 64 MiB of rebuilt text take a tenth of a second, and few indexes have more: a plain scan proves those whole.
    fn default() -> Self {
        Options { verify: false, limits: Limits::default(), quick: 64 << 20 }
    }
}

/// What the file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// An index.
    Readable,
    /// Broken off or broken down: [`Audit::index`] holds the whole snapshots before that place.
    Torn {
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
    /// Not read: a limit of this program.
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// The limit, in bytes or in pieces.
        limit: u64,
    },
}

impl Outcome {
    /// Why an index was not read; none where it was.
    pub fn not_read(&self) -> Option<String> {
        match self {
            Outcome::TooLarge { what, limit } => Some(format!("{what} than the limit of {limit}")),
            _ => None,
        }
    }
}

/// What stands against an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Charge {
    /// A difference without a full copy before it.
    Orphan,
    /// A difference whose lines are not those of its base.
    Misfit(Misfit),
    /// A difference without operations.
    Emptying,
    /// A text that cannot be had, or a flag that is wrong.
    Undecodable(Fault),
    /// Replacement characters.
    Lossy,
}

impl Charge {
    fn family(self) -> usize {
        match self {
            Charge::Orphan => 0,
            Charge::Misfit(_) => 1,
            Charge::Emptying => 2,
            Charge::Undecodable(_) => 3,
            Charge::Lossy => 4,
        }
    }
}

/// Entries of one file with the same sort of defect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect {
    /// What the first of them is charged with.
    pub charge: Charge,
    /// The file.
    pub file: u32,
    /// The place of the first one.
    pub span: Span,
    /// The snapshots of the first few, by position.
    pub positions: Vec<u32>,
    /// How many there are.
    pub count: u64,
}

/// How many files with one sort of defect are kept, and how many snapshots of each.
const KEPT: usize = 100;
const KEPT_POSITIONS: usize = 12;

/// One index, judged.
#[derive(Clone, Debug)]
pub struct Audit {
    /// What the file is.
    pub outcome: Outcome,
    /// What it holds; of a torn one what could be salvaged, of no index nothing.
    pub index: Index,
    /// For each file its steps, in the order of snapshots.
    pub steps: Vec<Vec<Step>>,
    /// What stands against entries, by sort and then by file: at most 100 files a sort.
    pub defects: Vec<Defect>,
    /// For each sort (orphan, misfit, emptying, undecodable, lossy), how many more files have it.
    pub more: [u64; 5],
    /// Whether every file was rebuilt at every snapshot, within the limits.
    pub complete: bool,
    /// Bytes of text that were rebuilt or unpacked.
    pub unpacked: u64,
    /// The limits within which it was judged.
    pub limits: Limits,
}

impl Audit {
    /// Reads and judges the index in a source. `folder` is the session that its folder is named for.
    ///
    /// # Errors
    /// I/O errors while the file is read.
    pub fn of(source: &Source, folder: Option<&str>, options: &Options) -> std::io::Result<Audit> {
        Ok(Audit::judge(Index::read(source, folder)?, source, options))
    }

    /// Judges what the first pass found in a source.
    pub fn judge(read: IndexRead, source: &Source, options: &Options) -> Audit {
        let (outcome, index) = match read {
            IndexRead::Readable(index) => (Outcome::Readable, index),
            IndexRead::Torn { salvaged, cut, why } => (Outcome::Torn { cut, why }, salvaged),
            IndexRead::NotAnIndex { kind, fate } => (Outcome::NotAnIndex { kind, fate }, Index::default()),
            IndexRead::Empty => (Outcome::Empty, Index::default()),
            IndexRead::TooLarge { what, limit } => (Outcome::TooLarge { what, limit }, Index::default()),
        };
        let mut bench = Bench {
            index: &index,
            source,
            options,
            found: std::array::from_fn(|_| Vec::new()),
            more: [0; 5],
            last_more: [None; 5],
            complete: true,
            rebuilt: 0,
            unpacked: 0,
        };
        let steps = (0..index.files.len() as u32).map(|file| bench.file(file)).collect();
        let Bench { found, more, complete, unpacked, .. } = bench;
        let defects = found.into_iter().flatten().collect();
        Audit { outcome, index, steps, defects, more, complete, unpacked, limits: options.limits }
    }

    /// The agent's answer for a file at the first snapshot of an id.
    pub fn state_at(&self, file: u32, id: &Text) -> State {
        match self.index.find(id) {
            Found::At(position) => self.state(file, position),
            Found::Nowhere => State::Nothing,
            Found::Throws => State::Failed(Fault::BrokenSnapshot),
        }
    }

    /// What is rebuilt of a file at a position.
    pub fn state(&self, file: u32, position: u32) -> State {
        let steps = self.steps.get(file as usize).map_or(&[][..], Vec::as_slice);
        super::rebuild::state_at(&self.index, steps, position)
    }

    /// Whether the agent sees these snapshots: it begins with an empty history where the file is no whole index.
    pub fn agent_sees(&self) -> bool {
        self.outcome == Outcome::Readable
    }
}

struct Bench<'a> {
    index: &'a Index,
    source: &'a Source,
    options: &'a Options,
    found: [Vec<Defect>; 5],
    more: [u64; 5],
    /// For each sort the file that was counted last.
    last_more: [Option<u32>; 5],
    complete: bool,
    /// Bytes of text that were rebuilt.
    rebuilt: u64,
    /// The same and those that were unpacked only to be checked.
    unpacked: u64,
}

impl Bench<'_> {
    fn file(&mut self, file: u32) -> Vec<Step> {
        let entries = self.index.entries_of(file);
        let mut steps = Vec::with_capacity(entries.len());
        let mut cursor = Cursor::new(self.index, self.source, self.options.limits);
        let mut based = false;
        for &(position, number) in entries {
            let Some(entry) = self.index.entry(number) else { continue };
            if entry.kind == EntryKind::Diff {
                if !based {
                    self.charge(file, position, entry.span, Charge::Orphan);
                }
                if matches!(entry.body, Body::Ops(_, 0)) {
                    self.charge(file, position, entry.span, Charge::Emptying);
                }
            }
            based |= entry.kind == EntryKind::Full;
            let (state, truth) = self.entry(&mut cursor, position, number);
            for (position, number, finding) in cursor.take_found() {
                self.note(file, position, number, finding);
            }
            steps.push(Step { position, entry: number, state, truth });
        }
        cursor.finish();
        for (position, number, finding) in cursor.take_found() {
            self.note(file, position, number, finding);
        }
        steps
    }

    fn entry(&mut self, cursor: &mut Cursor<'_>, position: u32, number: u32) -> (State, Truth) {
        if self.unpacked > self.options.limits.index {
            // Nothing is unpacked any more, so nothing more is known; a plain scan asked only for full copies.
            self.complete = false;
            if self.options.verify || self.index.is_full(number) {
                cursor.give_up(position, number, Fault::IndexCap);
            }
            let state = if self.options.verify { State::Failed(Fault::IndexCap) } else { State::Unknown };
            return (state, Truth::Unproven);
        }
        if !self.options.verify && self.rebuilt > self.options.quick {
            self.complete = false;
            self.unpacked += cursor.check(position, number);
            return (State::Unknown, Truth::Unproven);
        }
        let proof = cursor.apply(position, number);
        let (state, bytes) = match cursor.held() {
            Held::Nothing => (State::Nothing, 0),
            Held::Text => {
                let text = cursor.text().ok().flatten().unwrap_or_default();
                (State::Bytes(Digest::of(text)), text.len() as u64)
            }
            // A text beyond the cap was unpacked up to it.
            Held::Failed(fault @ Fault::EntryCap) if self.index.is_full(number) => {
                (State::Failed(fault), self.options.limits.entry)
            }
            Held::Failed(fault) => (State::Failed(fault), 0),
        };
        self.rebuilt += bytes;
        self.unpacked += bytes;
        let truth = match proof {
            Proof::Gone => Truth::Gone,
            Proof::Rebuilt if matches!(state, State::Bytes(_)) => Truth::Rebuilt,
            Proof::Text(text) => match (Digest::of(&text), state) {
                (own, State::Bytes(agents)) if own == agents => Truth::Rebuilt,
                (own, _) => Truth::Bytes(own),
            },
            Proof::Rebuilt | Proof::Unproven => Truth::Unproven,
        };
        (state, truth)
    }

    fn note(&mut self, file: u32, position: u32, number: u32, finding: Noted) {
        let whole = self.index.entry(number).map_or(Span::default(), |entry| entry.span);
        match finding {
            Noted::Misfit(how, span) => self.charge(file, position, span, Charge::Misfit(how)),
            Noted::Fault(fault) => self.charge(file, position, whole, Charge::Undecodable(fault)),
            Noted::Lossy => self.charge(file, position, whole, Charge::Lossy),
        }
    }

    fn charge(&mut self, file: u32, position: u32, span: Span, charge: Charge) {
        let family = charge.family();
        let (Some(list), Some(more)) = (self.found.get_mut(family), self.more.get_mut(family)) else { return };
        if let Some(last) = list.last_mut().filter(|d| d.file == file) {
            last.count += 1;
            if last.positions.len() < KEPT_POSITIONS {
                last.positions.push(position);
            }
        } else if list.len() < KEPT {
            list.push(Defect { charge, file, span, positions: vec![position], count: 1 });
        } else if self.last_more[family] != Some(file) {
            self.last_more[family] = Some(file);
            *more += 1;
        }
    }
}
