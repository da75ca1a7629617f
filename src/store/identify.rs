//! One file, identified: from its name alone where that tells, else from its first records.
//!
//! Two kinds of asking: a file found in a folder may turn out to be nothing of a session store; a file that a person
//! passed is a session unless something says what else it is.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::classify::{self, FileKind, Named, Names};
use super::discover::FileEntry;
use super::handle::{EntryKind, Handle};
use super::home::is_named_by_id;
use super::layout::Layout;
use super::sniff::{Document, Shape, sniff, sniff_document};
use super::source::Source;
use crate::dialect::Dialect;

/// How many files beside one that does not tell are asked whose they are.
const NEIGHBOURS: usize = 16;

/// What a passed file is.
pub(super) struct Passed {
    pub(super) kind: FileKind,
    /// The agent, if content or place tell.
    pub(super) dialect: Option<Dialect>,
    /// Nothing in it could be read, so the files beside it may tell.
    pub(super) mute: bool,
}

/// What a passed file is: what its place and its content say; a session if they do not say.
pub(super) fn passed(layout: Layout, folder: &Path, name: &OsStr, source: &Source) -> io::Result<Passed> {
    let bytes = name.as_encoded_bytes();
    let names = Names(&[]);
    let by_place = classify::by_name(layout, bytes, &names, true);
    if let Some(stem) = bytes.strip_suffix(b".json") {
        let kind = match (by_place, sniff_document(source)?) {
            (_, Some(Document::Whole)) => FileKind::Whole,
            (_, Some(Document::CheckpointIndex)) => FileKind::CheckpointIndex,
            (Named::Is(kind), None) => {
                return Ok(Passed { kind, dialect: layout.dialect(), mute: false });
            }
            _ if bytes == b"index.json" => FileKind::CheckpointIndex,
            _ if classify::is_session_id(stem) || is_named_by_id(folder) => FileKind::Whole,
            _ => return Ok(Passed { kind: FileKind::Other, dialect: None, mute: false }),
        };
        return Ok(Passed { kind, dialect: Some(Dialect::Sid), mute: false });
    }
    let shape = sniff(source)?;
    let stem = bytes.strip_suffix(b".jsonl").unwrap_or(bytes);
    let sid_name = by_place == Named::AskSid && classify::is_sidechain_name(stem, &names);
    let kind = match (by_place, shape) {
        (Named::Is(FileKind::Other), Shape::Foreign) => FileKind::Other,
        // a person who passes a copy, or what its agent put aside, wants it read
        (Named::Is(kind), _) if !matches!(kind, FileKind::Other | FileKind::SyncCopy) => kind,
        (_, Shape::SidSidechain) => FileKind::Sidechain,
        (_, Shape::History) => FileKind::History,
        (_, Shape::Unknown) if sid_name => FileKind::Sidechain,
        (_, Shape::Session(Dialect::Claude)) if stem.starts_with(b"agent-") => FileKind::Subagent,
        _ => FileKind::Main,
    };
    Ok(Passed { kind, dialect: agreed(shape.dialect(), layout), mute: shape == Shape::Unknown })
}

/// Makes an entry of a file that was found, opening it when its name does not tell. None: it is nothing of a store.
pub(super) fn found(
    layout: Layout,
    insist: Option<Dialect>,
    handle: &Handle,
    name: &OsStr,
    known: Named,
    names: &Names<'_>,
) -> io::Result<Option<FileEntry>> {
    if known == Named::Nothing {
        return Ok(None);
    }
    let meta = handle.stat(name)?;
    let bytes = name.as_encoded_bytes();
    let stem = bytes.strip_suffix(b".jsonl").unwrap_or(bytes);
    let (kind, told) = match known {
        Named::Nothing => return Ok(None),
        Named::Is(kind) => (kind, None),
        Named::AskSid => match sniff(&handle.open_file(name)?)? {
            Shape::SidSidechain => (FileKind::Sidechain, None),
            Shape::Session(_) => (FileKind::Main, None),
            _ if classify::is_sidechain_name(stem, names) => (FileKind::Sidechain, None),
            _ => (FileKind::Main, None),
        },
        Named::AskAny => {
            let shape = sniff(&handle.open_file(name)?)?;
            (plain_kind(shape, insist, bytes, names), shape.dialect())
        }
        Named::AskJson => match sniff_document(&handle.open_file(name)?)? {
            Some(Document::Whole) => (FileKind::Whole, Some(Dialect::Sid)),
            Some(Document::CheckpointIndex) => (FileKind::CheckpointIndex, Some(Dialect::Sid)),
            None => return Ok(None),
        },
    };
    let dialect = insist.or(told).or(layout.dialect());
    Ok(Some(FileEntry { name: name.into(), size: meta.size, mtime_ms: meta.mtime_ms, folder: 0, kind, dialect }))
}

/// A `.jsonl` in a folder of no layout.
fn plain_kind(shape: Shape, insist: Option<Dialect>, name: &[u8], names: &Names<'_>) -> FileKind {
    match shape {
        Shape::History => FileKind::History,
        Shape::Foreign if insist.is_none() => FileKind::Other,
        _ if classify::is_sync_copy(name, names) => FileKind::SyncCopy,
        Shape::SidSidechain => FileKind::Sidechain,
        Shape::Session(Dialect::Claude) if name.starts_with(b"agent-") => FileKind::Subagent,
        Shape::Session(Dialect::Pi) if classify::is_openclaw_sidecar(name) => FileKind::Other,
        _ => FileKind::Main,
    }
}

/// Whose a passed file is, by content and by place. Content goes first: a copied file lies anywhere. What pi and
/// OpenClaw write is told apart by the place only.
fn agreed(told: Option<Dialect>, layout: Layout) -> Option<Dialect> {
    match (told, layout.dialect()) {
        (Some(Dialect::Pi), Some(Dialect::Openclaw)) => Some(Dialect::Openclaw),
        (told, place) => told.or(place),
    }
}

/// Whose most of the sessions beside a file are.
pub(super) fn neighbours(handle: &Handle, name: &OsStr) -> Option<Dialect> {
    let (mut entries, _) = handle.list(usize::MAX);
    entries.retain(|e| e.kind == EntryKind::File && e.name != *name && e.name.as_encoded_bytes().ends_with(b".jsonl"));
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let mut votes = HashMap::new();
    for entry in entries.iter().take(NEIGHBOURS) {
        let told = handle.open_file(&entry.name).and_then(|source| sniff(&source)).ok().and_then(Shape::dialect);
        if let Some(dialect) = told {
            *votes.entry(dialect).or_default() += 1;
        }
    }
    most(&votes)
}

/// The agent with most votes; of equals the first in the order of [`Dialect`], so that the answer is always the same.
pub(super) fn most(votes: &HashMap<Dialect, usize>) -> Option<Dialect> {
    votes.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(dialect, _)| *dialect)
}
