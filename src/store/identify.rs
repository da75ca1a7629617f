//! One file, identified: from its name alone where that tells, else from its records.
//!
//! In an agent's session folder a file under a name that the agent reads is a session, however damaged. Anywhere else it
//! is one only if a record in it is one that an agent writes: a person may pass every file of a folder. A file that holds
//! nothing at all is an empty session where the sessions beside it are of one agent.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::classify::{self, FileKind, Named, Names};
use super::discover::FileEntry;
use super::handle::{EntryKind, Handle};
use super::home::is_named_by_id;
use super::layout::Layout;
use super::sniff::{Document, Seen, Shape, recognise, sniff, sniff_document};
use super::source::Source;
use crate::dialect::Dialect;

/// How many files beside one that holds nothing are asked whose they are.
const NEIGHBOURS: usize = 16;

/// A file that holds nothing is looked at up to here.
const BLANK: u64 = 64 * 1024;

/// What a passed file is.
pub(super) struct Passed {
    pub(super) kind: FileKind,
    /// The agent, if content or place tell.
    pub(super) dialect: Option<Dialect>,
}

/// What a passed file is: what its place and its content say.
pub(super) fn passed(
    layout: Layout,
    insist: Option<Dialect>,
    (folder, handle): (&Path, &Handle),
    name: &OsStr,
    source: &Source,
) -> io::Result<Passed> {
    let bytes = name.as_encoded_bytes();
    let names = Names(&[]);
    let by_place = classify::by_name(layout, bytes, &names, true);
    if let Some(stem) = bytes.strip_suffix(b".json") {
        let kind = match (by_place, sniff_document(source)?) {
            (_, Some(Document::Whole)) => FileKind::Whole,
            (_, Some(Document::CheckpointIndex)) => FileKind::CheckpointIndex,
            (Named::Is(kind), None) => return Ok(Passed { kind, dialect: layout.dialect() }),
            _ if bytes == b"index.json" && is_named_by_id(folder) => FileKind::CheckpointIndex,
            _ if classify::is_session_id(stem) || is_named_by_id(folder) => FileKind::Whole,
            _ => return Ok(Passed { kind: FileKind::Foreign, dialect: None }),
        };
        return Ok(Passed { kind, dialect: Some(Dialect::Sid) });
    }
    let stem = bytes.strip_suffix(b".jsonl").unwrap_or(bytes);
    let kind = match by_place {
        Named::AskSid => {
            let side = sniff(source)? == Shape::SidSidechain || classify::is_sidechain_name(stem, &names);
            if side { FileKind::Sidechain } else { FileKind::Main }
        }
        // a person who passes a copy, or what its agent put aside, wants it read
        Named::Is(kind) if !matches!(kind, FileKind::Other | FileKind::SyncCopy) => kind,
        _ => {
            let seen = recognise(source, insist)?;
            let dialect = agreed(seen.shape.dialect(), layout);
            if is_blank(bytes, source)? {
                let (mut beside, _) = handle.list(usize::MAX);
                beside.retain(|entry| entry.kind == EntryKind::File);
                beside.sort_by(|a, b| a.name.cmp(&b.name));
                let beside = beside.iter().map(|entry| entry.name.as_encoded_bytes());
                return Ok(empty(insist.or(dialect).or_else(|| neighbours(handle, bytes, beside))));
            }
            return Ok(Passed { kind: by_records(seen, bytes).unwrap_or(FileKind::Foreign), dialect });
        }
    };
    Ok(Passed { kind, dialect: agreed(sniff(source)?.dialect(), layout) })
}

/// What a file is of which only the records tell; none when no record does. A text may quote one: then its name does not
/// say that it holds records.
fn by_records(seen: Seen, name: &[u8]) -> Option<FileKind> {
    let quoted = seen.prose && memchr::memmem::find(name, b".jsonl").is_none();
    if !seen.by_record || quoted {
        return None;
    }
    Some(match seen.shape {
        Shape::History => FileKind::History,
        Shape::SidSidechain => FileKind::Sidechain,
        Shape::Session(Dialect::Claude) if name.starts_with(b"agent-") => FileKind::Subagent,
        _ => FileKind::Main,
    })
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
        Named::AskAny => 'told: {
            let source = handle.open_file(name)?;
            let seen = recognise(&source, insist.or(layout.dialect()))?;
            let told = seen.shape.dialect();
            let kind = match by_records(seen, bytes) {
                Some(FileKind::History) => FileKind::History,
                Some(_) if classify::is_sync_copy(bytes, names) => FileKind::SyncCopy,
                Some(_) if seen.shape == Shape::Session(Dialect::Pi) && classify::is_openclaw_sidecar(bytes) => {
                    FileKind::Other
                }
                Some(kind) => kind,
                None if is_blank(bytes, &source)? => {
                    let known = insist.or(layout.dialect());
                    let passed = empty(known.or_else(|| neighbours(handle, bytes, names.0.iter().copied())));
                    break 'told (passed.kind, passed.dialect);
                }
                None => FileKind::Foreign,
            };
            (kind, told)
        }
        Named::AskJson => match sniff_document(&handle.open_file(name)?)? {
            Some(Document::Whole) => (FileKind::Whole, Some(Dialect::Sid)),
            Some(Document::CheckpointIndex) => (FileKind::CheckpointIndex, Some(Dialect::Sid)),
            None => return Ok(None),
        },
    };
    let dialect = insist.or(layout.dialect()).or(told);
    Ok(Some(FileEntry { name: name.into(), size: meta.size, mtime_ms: meta.mtime_ms, folder: 0, kind, dialect }))
}

/// Whose a passed file is, by content and by place. Content goes first: a copied file lies anywhere. What pi and
/// OpenClaw write is told apart by the place only.
fn agreed(told: Option<Dialect>, layout: Layout) -> Option<Dialect> {
    match (told, layout.dialect()) {
        (Some(Dialect::Pi), Some(Dialect::Openclaw)) => Some(Dialect::Openclaw),
        (told, place) => told.or(place),
    }
}

/// Whether a `.jsonl` holds nothing.
fn is_blank(name: &[u8], source: &Source) -> io::Result<bool> {
    let small = name.ends_with(b".jsonl") && source.size() <= BLANK;
    Ok(small && source.read_range(0, BLANK)?.trim_ascii().is_empty())
}

/// A file that holds nothing, with the agent that it would be of.
fn empty(dialect: Option<Dialect>) -> Passed {
    Passed { kind: if dialect.is_some() { FileKind::Main } else { FileKind::Foreign }, dialect }
}

/// Whose the sessions beside a file are, where they are all of one agent.
fn neighbours<'n>(handle: &Handle, name: &[u8], beside: impl Iterator<Item = &'n [u8]>) -> Option<Dialect> {
    let others = beside.filter(|other| *other != name && other.ends_with(b".jsonl")).take(NEIGHBOURS);
    let told = others.filter_map(|other| {
        // A name that is no text is no agent's.
        let source = handle.open_file(OsStr::new(std::str::from_utf8(other).ok()?)).ok()?;
        sniff(&source).ok()?.dialect()
    });
    let mut told: Vec<Dialect> = told.collect();
    told.sort_unstable();
    told.dedup();
    if let [dialect] = told[..] { Some(dialect) } else { None }
}
