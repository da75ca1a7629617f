//! The agent's own moves, predicted as sid-code 3f3215144f68 executes them, its errors included. None is executed.
//!
//! A snapshot holds the state *before* its tool. `undo` of the last snapshot nevertheless writes what is rebuilt at the
//! snapshot before it, and so goes one edit too far; of the first snapshot it writes nothing. `restore` writes what is
//! rebuilt at the asked snapshot into every file of a later one, newest first, and leaves alone what only the asked
//! snapshot holds. A rewind restores to the newest snapshot at the time of its prompt, which is before the next change.
//!
//! A deletion is predicted as if the file were there: the disk is not looked at, since the files are the user's.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::{Serialize, Serializer};

use super::audit::Audit;
use super::model::{Found, Index, Shape};
use super::rebuild::{State, Step, Truth, truth_from};
use super::text::Digest;
use crate::text::Text;

/// What the agent does with one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Would {
    /// It writes these bytes.
    Write,
    /// It deletes the file.
    Delete,
    /// It leaves the file as it is.
    Nothing,
    /// It throws here, or did before it came to this file.
    Fail,
}

/// One move of the agent on one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Move {
    /// What it does.
    pub would: Would,
    /// The hash of what it writes.
    #[serde(serialize_with = "hex", skip_serializing_if = "Option::is_none")]
    pub sha256: Option<[u8; 32]>,
    /// Whether the file then is what it was before the change, as the snapshots prove it.
    pub faithful: bool,
}

fn hex<S: Serializer>(hash: &Option<[u8; 32]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hash.map(|h| crate::text::hex(&h)).unwrap_or_default())
}

/// An undo of the last snapshot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undo {
    /// The snapshot that is undone; it leaves the index in every case but a throw.
    pub snapshot: u32,
    /// Its files, in its order. What could not be predicted within the limits is not among them.
    pub files: Vec<(u32, Move)>,
    /// Whether the agent throws.
    pub throws: bool,
}

/// What a rewind does to the files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rewind {
    /// No snapshot was there when the prompt was typed: the conversation goes back, the files do not.
    NoSnapshot,
    /// The snapshot is not in the index any more, or never was: the same.
    UnknownSnapshot,
    /// The agent throws while it looks for it.
    Throws,
    /// A restore to this snapshot, judged by what the files were at the prompt.
    Restore(u32, Vec<(u32, Move)>),
}

/// The last ten snapshots: what the agent's own list shows.
pub const LISTED: usize = 10;

/// Predicts moves over one audited index.
#[derive(Debug)]
pub struct Moves<'a> {
    audit: &'a Audit,
    index: &'a Index,
    /// For each file the newest entry that says "was not there": position and number.
    gone: Vec<Option<(u32, u32)>>,
    /// The last position at which walking through a snapshot's files throws.
    last_throw: Option<u32>,
}

/// The order in which a restore comes to an entry: newest snapshot first, then as they stand.
type Turn = (Reverse<u32>, u32);

impl<'a> Moves<'a> {
    /// The moves on what the agent sees; on what it does not see there are none.
    pub fn new(audit: &'a Audit) -> Option<Self> {
        let index = &audit.index;
        let gone = |(_, number): &&(u32, u32)| index.entry(*number).is_some_and(|entry| !entry.existed_before);
        let newest = |file| index.entries_of(file).iter().rev().find(gone).copied();
        let walks = |p: &&u32| index.snapshots.get(**p as usize).is_some_and(|s| s.shape != Shape::Word);
        audit.agent_sees().then(|| Moves {
            audit,
            index,
            gone: (0..index.files.len() as u32).map(newest).collect(),
            last_throw: index.broken.iter().rev().find(walks).copied(),
        })
    }

    fn steps(&self, file: u32) -> &'a [Step] {
        self.audit.steps.get(file as usize).map_or(&[], Vec::as_slice)
    }

    /// What the agent would do, measured against what the file was at the first entry from a position on. Nothing when
    /// the limits were too narrow to tell.
    fn measured(&self, file: u32, state: State, from: u32) -> Option<Move> {
        let (would, digest) = match state {
            State::Unknown => return None,
            State::Failed(fault) if fault.is_ours() => return None,
            State::Failed(_) => (Would::Fail, None),
            State::Nothing => (Would::Nothing, None),
            State::Bytes(digest) => (Would::Write, Some(digest)),
        };
        Some(self.faithful(file, would, digest, from))
    }

    fn faithful(&self, file: u32, would: Would, digest: Option<Digest>, from: u32) -> Move {
        let was = truth_from(self.steps(file), from).map(|step| (step.truth, step.state));
        let faithful = match (would, was) {
            (Would::Delete, Some((Truth::Gone, _))) => true,
            (Would::Write, Some((Truth::Bytes(own), _))) => digest == Some(own),
            (Would::Write, Some((Truth::Rebuilt, State::Bytes(own)))) => digest == Some(own),
            _ => false,
        };
        Move { would, sha256: digest.map(|d| d.sha256), faithful }
    }

    /// What the agent rebuilds of a file just before the snapshot at a position.
    fn before(&self, file: u32, position: u32) -> State {
        let throws = State::Failed(super::text::Fault::BrokenSnapshot);
        let Some(id) = self.index.snapshots.get(position as usize).map(|s| &s.id) else { return State::Nothing };
        let at = match self.index.find(id) {
            Found::At(0) | Found::Nowhere => return State::Nothing,
            Found::At(at) => at,
            Found::Throws => return throws,
        };
        // The snapshot before it in the list, and then the first one with that id.
        match self.index.snapshots.get(at as usize - 1) {
            Some(before) if before.shape != Shape::Null => match self.index.find(&before.id) {
                Found::At(at) => self.audit.state(file, at),
                Found::Nowhere => State::Nothing,
                Found::Throws => throws,
            },
            _ => throws,
        }
    }

    /// Undo of the last snapshot; none where the agent finds nothing to undo.
    pub fn undo(&self) -> Option<Undo> {
        let position = u32::try_from(self.index.snapshots.len().checked_sub(1)?).ok()?;
        let shape = self.index.snapshots.get(position as usize)?.shape;
        if shape == Shape::Null {
            return None;
        }
        let mut files: Vec<(u32, Move)> = Vec::new();
        let mut at: HashMap<u32, usize> = HashMap::new();
        let mut throws = false;
        for (_, entry) in self.index.entries_at(position) {
            let made = if throws {
                Some(self.faithful(entry.file, Would::Fail, None, position))
            } else if entry.existed_before {
                self.measured(entry.file, self.before(entry.file, position), position)
            } else {
                Some(self.faithful(entry.file, Would::Delete, None, position))
            };
            throws |= made.is_some_and(|m| m.would == Would::Fail);
            // Of two entries of one file the later one has the last word, if it does anything.
            match (made, at.get(&entry.file).and_then(|slot| files.get_mut(*slot))) {
                (Some(Move { would: Would::Nothing | Would::Fail, .. }), Some(_)) => {}
                (Some(made), Some(slot)) => slot.1 = made,
                (Some(made), None) => {
                    at.insert(entry.file, files.len());
                    files.push((entry.file, made));
                }
                (None, _) => {}
            }
        }
        Some(Undo { snapshot: position, files, throws: throws || !matches!(shape, Shape::Whole | Shape::Word) })
    }

    /// Undo of one file: its newest entry is undone, and no other one is tried.
    pub fn undo_file(&self, file: u32) -> Option<Move> {
        let &(position, number) = self.index.entries_of(file).last()?;
        let end = self.index.snapshots.len() as u32;
        if self.index.throws_within(position + 1..end) {
            return Some(self.faithful(file, Would::Fail, None, position));
        }
        if self.index.entry(number).is_some_and(|entry| entry.existed_before) {
            self.measured(file, self.before(file, position), position)
        } else {
            Some(self.faithful(file, Would::Delete, None, position))
        }
    }

    /// Restore to the snapshot at a position, which must be the first one of its id: the files of that snapshot and of
    /// later ones, in the order in which paths are first met.
    pub fn restore(&self, position: u32) -> Vec<(u32, Move)> {
        self.roll_back(position, position, 0..self.index.files.len() as u32)
    }

    /// As [`Moves::restore`], of these files only (a throw at another file is then not seen).
    pub(super) fn roll_back(
        &self,
        position: u32,
        expected_from: u32,
        files: impl IntoIterator<Item = u32>,
    ) -> Vec<(u32, Move)> {
        let mut moves: Vec<(Turn, u32, Option<Move>)> = Vec::new();
        // A snapshot without a list of files throws when its turn comes; one with a hole, behind its entries.
        let mut throws: Option<Turn> = self.last_throw.filter(|p| *p > position).map(|p| (Reverse(p), u32::MAX));
        if self.index.null.is_some_and(|null| null < position) {
            // Already the search for the snapshot throws.
            throws = Some((Reverse(u32::MAX), 0));
        }
        for file in files {
            let entries = self.index.entries_of(file);
            let Some(&(newest, number)) = entries.last().filter(|(p, _)| *p >= expected_from) else { continue };
            let mut turn = (Reverse(newest), number);
            let made = if newest <= position {
                Some(self.faithful(file, Would::Nothing, None, expected_from))
            } else if self.index.entry(number).is_some_and(|entry| !entry.existed_before) {
                Some(self.faithful(file, Would::Delete, None, expected_from))
            } else {
                let made = self.measured(file, self.audit.state(file, position), expected_from);
                let nothing = made.is_some_and(|m| m.would == Would::Nothing);
                // Where nothing is rebuilt the agent goes on to older entries, and deletes if one says "was not there".
                match self.gone.get(file as usize).copied().flatten().filter(|(p, _)| nothing && *p > position) {
                    Some((older, number)) => {
                        turn = (Reverse(older), number);
                        Some(self.faithful(file, Would::Delete, None, expected_from))
                    }
                    None => made,
                }
            };
            if made.is_some_and(|m| m.would == Would::Fail) {
                throws = Some(throws.map_or(turn, |t| t.min(turn)));
            }
            moves.push((turn, file, made));
        }
        moves
            .into_iter()
            .filter_map(|(turn, file, made)| {
                let made = made?;
                let reached = throws.is_none_or(|t| turn < t) || made.would == Would::Nothing;
                let fails = || self.faithful(file, Would::Fail, None, expected_from);
                Some((file, if reached { made } else { fails() }))
            })
            .collect()
    }

    /// A rewind to a prompt whose newest snapshot was this one; none: there was none.
    pub fn rewind(&self, snapshot: Option<&Text>) -> Rewind {
        let Some(id) = snapshot.filter(|id| !id.is_empty()) else { return Rewind::NoSnapshot };
        match self.index.find(id) {
            Found::Nowhere => Rewind::UnknownSnapshot,
            Found::Throws => Rewind::Throws,
            Found::At(at) => {
                let files = 0..self.index.files.len() as u32;
                Rewind::Restore(at, self.roll_back(at, at + 1, files))
            }
        }
    }

    /// Whether the agent's own list shows the snapshots of this id.
    pub fn listed(&self, id: &Text) -> bool {
        self.index.snapshots.iter().rev().take(LISTED).any(|s| s.id == *id)
    }
}
