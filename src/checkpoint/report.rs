//! The element of `indexes` in the JSON of `checkpoints`, without its `path` and `findings`: those are the caller's.
//!
//! Maps are written while they are computed, so that none of them is held. Every file at every snapshot is a product:
//! beyond two million pairs only places where something changes are written, and the document says so (`thinned`).

use std::collections::HashMap;

use serde::ser::{Serialize, SerializeMap, SerializeStruct, Serializer};

use super::audit::Audit;
use super::model::Found;
use super::moves::{LISTED, Move, Moves};
use super::rebuild::State;
use crate::text::Text;

/// Files times snapshots, up to which every pair is written.
const PAIRS: u64 = 2_000_000;

/// One audited index, to be serialized.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    audit: &'a Audit,
    verify: bool,
}

impl Audit {
    /// What the JSON says of this index; with `verify` also what every file is at every snapshot.
    pub fn report(&self, verify: bool) -> Report<'_> {
        Report { audit: self, verify }
    }

    /// Ids in order, each with its first position.
    fn ids(&self) -> Vec<(u32, &Text)> {
        let first = |at: u32, id: &Text| match self.index.find(id) {
            Found::At(found) => found == at,
            // Behind a `null` the agent's search throws; the id is still there.
            Found::Throws => self.index.first.get(id) == Some(&at),
            Found::Nowhere => false,
        };
        (0_u32..).zip(&self.index.snapshots).map(|(at, s)| (at, &s.id)).filter(|(at, id)| first(*at, id)).collect()
    }

    fn thinned(&self) -> bool {
        self.index.files.len() as u64 * self.index.snapshots.len() as u64 > PAIRS
    }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Report { audit, verify } = *self;
        let index = &audit.index;
        let mut out = serializer.serialize_struct("Index", 16)?;
        let session = index.folder.as_ref().or(index.session_id.as_ref());
        out.serialize_field("session_id", &session.map(Text::lossy))?;
        let ids: Vec<String> = index.snapshots.iter().map(|s| s.id.lossy()).collect();
        out.serialize_field("snapshots", &ids)?;
        out.serialize_field("next_id", &index.next_id.map(|n| whole(n.value)))?;
        out.serialize_field("latest_full", &Latest(audit))?;
        out.serialize_field("entries", &index.count())?;
        out.serialize_field("bytes", &index.bytes)?;
        out.serialize_field("layout", if index.layout == super::model::Layout::Legacy { "legacy" } else { "current" })?;
        out.serialize_field("quota", &Quota(audit))?;
        if !audit.agent_sees() {
            out.serialize_field("salvaged", &true)?;
        }
        out.serialize_field("complete", &audit.complete)?;
        if audit.thinned() {
            out.serialize_field("thinned", &true)?;
        }
        let ids = audit.ids();
        if verify {
            out.serialize_field("rebuilt", &Rebuilt { audit, ids: &ids })?;
        }
        let moves = Moves::new(audit);
        out.serialize_field("undo", &moves.as_ref().and_then(|moves| UndoMap::of(moves, audit)))?;
        out.serialize_field("undo_file", &UndoFile { audit, moves: moves.as_ref() })?;
        out.serialize_field("restore", &Restore { audit, moves: moves.as_ref(), ids: &ids })?;
        out.end()
    }
}

/// A number as JSON writes a whole one.
fn whole(value: f64) -> serde_json::Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { (value as i64).into() } else { value.into() }
}

struct Latest<'a>(&'a Audit);

impl Serialize for Latest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let index = &self.0.index;
        let mut out = serializer.serialize_struct("Latest", 2)?;
        let stored = index.latest_full.as_ref();
        out.serialize_field("stored", &stored.map(|map| Pairs(map.iter().map(|(p, id)| (p, id)).collect())))?;
        let pair = |(file, at): (u32, u32)| Some((index.path(file)?, &index.snapshots.get(at as usize)?.id));
        out.serialize_field("true", &Pairs(index.true_latest_full().into_iter().filter_map(pair).collect()))?;
        out.end()
    }
}

struct Pairs<'a>(Vec<(&'a Text, &'a Text)>);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(a, b)| (a.lossy(), b.lossy())))
    }
}

struct Quota<'a>(&'a Audit);

impl Serialize for Quota<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let index = &self.0.index;
        let most = (0..index.files.len() as u32).map(|file| (index.entries_of(file).len(), file)).max();
        let mut out = serializer.serialize_struct("Quota", 4)?;
        out.serialize_field("most_entries", &most.map_or(0, |(n, _)| n))?;
        out.serialize_field("most_entries_file", &most.and_then(|(_, f)| index.path(f)).map(Text::lossy))?;
        out.serialize_field("bytes", &index.bytes)?;
        out.serialize_field("snapshots", &index.snapshots.len())?;
        out.end()
    }
}

struct Rebuilt<'a> {
    audit: &'a Audit,
    ids: &'a [(u32, &'a Text)],
}

impl Serialize for Rebuilt<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let files = (0_u32..).zip(&self.audit.index.files);
        serializer.collect_map(files.map(|(file, path)| (path.lossy(), RebuiltFile { all: self, file })))
    }
}

struct RebuiltFile<'a> {
    all: &'a Rebuilt<'a>,
    file: u32,
}

impl Serialize for RebuiltFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Rebuilt { audit, ids } = *self.all;
        let mut out = serializer.serialize_map(None)?;
        if audit.thinned() {
            // Only where the file has an entry; between those it stays as it is.
            let of: HashMap<u32, &Text> = ids.iter().copied().collect();
            for (position, _) in audit.index.entries_of(self.file) {
                if let Some(id) = of.get(position) {
                    rebuilt(&mut out, id, audit.state_at(self.file, id))?;
                }
            }
        } else {
            for (_, id) in ids {
                rebuilt(&mut out, id, audit.state_at(self.file, id))?;
            }
        }
        out.end()
    }
}

fn rebuilt<M: SerializeMap>(out: &mut M, id: &Text, state: State) -> Result<(), M::Error> {
    #[derive(serde::Serialize)]
    struct Bytes {
        bytes: u64,
        sha256: String,
    }
    #[derive(serde::Serialize)]
    struct Failed {
        error: &'static str,
    }
    match state {
        State::Unknown => Ok(()),
        State::Nothing => out.serialize_entry(&id.lossy(), &None::<()>),
        State::Failed(fault) => out.serialize_entry(&id.lossy(), &Failed { error: fault.words() }),
        State::Bytes(d) => out.serialize_entry(&id.lossy(), &Bytes { bytes: d.bytes, sha256: d.hex() }),
    }
}

/// Moves by path.
struct MoveMap<'a>(&'a Audit, Vec<(u32, Move)>);

impl Serialize for MoveMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let moves = self.1.iter().filter_map(|(file, made)| Some((self.0.index.path(*file)?.lossy(), made)));
        serializer.collect_map(moves)
    }
}

#[derive(serde::Serialize)]
struct UndoMap<'a> {
    snapshot: String,
    files: MoveMap<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    throws: bool,
}

impl<'a> UndoMap<'a> {
    fn of(moves: &Moves<'a>, audit: &'a Audit) -> Option<Self> {
        let undo = moves.undo()?;
        let snapshot = audit.index.snapshots.get(undo.snapshot as usize)?.id.lossy();
        Some(UndoMap { snapshot, files: MoveMap(audit, undo.files), throws: undo.throws })
    }
}

struct UndoFile<'a> {
    audit: &'a Audit,
    moves: Option<&'a Moves<'a>>,
}

impl Serialize for UndoFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let files = (0_u32..).zip(&self.audit.index.files);
        let made = |(file, path): (u32, &Text)| Some((path.lossy(), self.moves?.undo_file(file)?));
        serializer.collect_map(files.filter_map(made))
    }
}

struct Restore<'a> {
    audit: &'a Audit,
    moves: Option<&'a Moves<'a>>,
    ids: &'a [(u32, &'a Text)],
}

impl Serialize for Restore<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Target<'a> {
            listed: bool,
            files: MoveMap<'a>,
        }
        let mut out = serializer.serialize_map(None)?;
        let Some(moves) = self.moves else { return out.end() };
        let shown = self.audit.index.snapshots.len().saturating_sub(LISTED);
        let listed: std::collections::HashSet<&Text> =
            self.audit.index.snapshots.iter().skip(shown).map(|s| &s.id).collect();
        for (position, id) in self.ids {
            let listed = listed.contains(id);
            // Beyond the limit only what the agent's own list offers.
            if listed || !self.audit.thinned() {
                let files = MoveMap(self.audit, moves.restore(*position));
                out.serialize_entry(&id.lossy(), &Target { listed, files })?;
            }
        }
        out.end()
    }
}
