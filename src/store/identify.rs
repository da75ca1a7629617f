//! One file, identified: from its name alone where that tells, else from its records.
//!
//! In an agent's session folder a file under a name that the agent reads is a session, however damaged. Anywhere else it
//! is one only if a record in it is one that an agent writes: a person may pass every file of a folder. A file that holds
//! nothing at all is an empty session where the sessions beside it are of one agent.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use super::agent::{Document, Homes, Told};
use super::classify::{self, FileKind, Named, Names};
use super::discover::FileEntry;
use super::handle::{EntryKind, Handle};
use super::layout::Layout;
use super::sniff::{Seen, Shape, recognise, sniff, sniff_document};
use super::source::Source;
use crate::identity::AgentId;

/// How many files beside one that holds nothing are asked whose they are.
const NEIGHBOURS: usize = 16;

/// A file that holds nothing is looked at up to here.
const BLANK: u64 = 64 * 1024;

/// Whose files are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookedFor {
    pub(super) agents: Homes,
    /// The agent on which a person insists.
    pub(super) insist: Option<AgentId>,
}

/// What a passed file is.
pub(super) struct Passed {
    pub(super) kind: FileKind,
    /// The agent, if content or place tell.
    pub(super) agent_id: Option<AgentId>,
}

/// What a passed file is: what its place and its content say.
pub(super) fn passed(
    layout: Layout,
    looked_for: LookedFor,
    (folder, handle): (&Path, &Handle),
    name: &OsStr,
    source: &Source,
) -> io::Result<Passed> {
    let LookedFor { agents, insist } = looked_for;
    let bytes = name.as_encoded_bytes();
    let names = Names(&[]);
    let by_place = classify::by_name(layout, bytes, &names, true, agents);
    if bytes.ends_with(b".json") {
        let by_name = || {
            let of_session = agents.is_named_by_id(folder);
            agents.iter().find_map(|home| Some((home.agent_id(), home.document_name(bytes, of_session)?)))
        };
        let told = match (by_place, sniff_document(source, agents)?) {
            (Named::Is(kind), None) => return Ok(Passed { kind, agent_id: layout.agent_id() }),
            (_, told) => told.or_else(by_name),
        };
        let foreign = Passed { kind: FileKind::Foreign, agent_id: None };
        return Ok(told.map_or(foreign, |(agent_id, told)| Passed { kind: document(told), agent_id: Some(agent_id) }));
    }
    let stem = bytes.strip_suffix(b".jsonl").unwrap_or(bytes);
    let kind = match by_place {
        Named::AskRecord => {
            let told = matches!(sniff(source, agents)?, Shape::Of(_, Told::Side));
            let side = told || has_side_name(layout, agents, stem, &names);
            if side { FileKind::Beside } else { FileKind::Main }
        }
        // a person who passes a copy, or what its agent put aside, wants it read
        Named::Is(kind) if !matches!(kind, FileKind::Other | FileKind::SyncCopy) => kind,
        _ => {
            let seen = recognise(source, insist, agents)?;
            let beside = |name: &str| handle.stat(OsStr::new(name)).is_ok();
            let told = seen.shape.agent_id().map(|told| agents.keeper(told, beside));
            let agent_id = agreed(told, layout, agents);
            if is_blank(bytes, source)? {
                let (mut beside, _) = handle.list(usize::MAX);
                beside.retain(|entry| entry.kind == EntryKind::File);
                beside.sort_by(|a, b| a.name.cmp(&b.name));
                let beside = beside.iter().map(|entry| entry.name.as_encoded_bytes());
                return Ok(empty(insist.or(agent_id).or_else(|| neighbours(handle, bytes, beside, agents))));
            }
            let kind = match by_records(seen, bytes, agents) {
                Some(FileKind::Other) => FileKind::Main,
                kind => kind.unwrap_or(FileKind::Foreign),
            };
            return Ok(Passed { kind, agent_id });
        }
    };
    Ok(Passed { kind, agent_id: agreed(sniff(source, agents)?.agent_id(), layout, agents) })
}

/// What a file is of which only the records tell; none when no record does. A text may quote one: then its name does not
/// say that it holds records.
fn by_records(seen: Seen, name: &[u8], agents: Homes) -> Option<FileKind> {
    let quoted = seen.prose && memchr::memmem::find(name, b".jsonl").is_none();
    if !seen.by_record || quoted {
        return None;
    }
    match seen.shape {
        Shape::Of(_, Told::History) => Some(FileKind::History),
        Shape::Of(_, Told::Side) => Some(FileKind::Beside),
        Shape::Of(agent_id, Told::Session) => agents.of(agent_id).map(|home| home.transcript(name)),
        Shape::Foreign | Shape::Unknown => Some(FileKind::Main),
    }
}

/// Makes an entry of a file that was found, opening it when its name does not tell. None: it is nothing of a store.
pub(super) fn found(
    layout: Layout,
    LookedFor { agents, insist }: LookedFor,
    handle: &Handle,
    name: &OsStr,
    known: Named,
    names: &Names<'_>,
) -> io::Result<Option<FileEntry>> {
    if matches!(known, Named::Nothing | Named::Unread) {
        return Ok(None);
    }
    let meta = handle.stat(name)?;
    let bytes = name.as_encoded_bytes();
    let stem = bytes.strip_suffix(b".jsonl").unwrap_or(bytes);
    let (kind, told) = match known {
        Named::Nothing | Named::Unread => return Ok(None),
        Named::Is(kind) => (kind, None),
        Named::AskRecord => match sniff(&handle.open_file(name)?, agents)? {
            Shape::Of(_, Told::Side) => (FileKind::Beside, None),
            Shape::Of(agent_id, Told::Session) => (FileKind::Main, Some(agent_id)),
            _ if has_side_name(layout, agents, stem, names) => (FileKind::Beside, None),
            _ => (FileKind::Main, None),
        },
        Named::AskAny => 'told: {
            let source = handle.open_file(name)?;
            let seen = recognise(&source, insist.or(layout.agent_id()), agents)?;
            let told = seen.shape.agent_id();
            let kind = match by_records(seen, bytes, agents) {
                Some(FileKind::History) => FileKind::History,
                Some(_) if names.has_original_of(bytes) => FileKind::SyncCopy,
                Some(kind) => kind,
                None if is_blank(bytes, &source)? => {
                    let known = insist.or(layout.agent_id());
                    let passed = empty(known.or_else(|| neighbours(handle, bytes, names.0.iter().copied(), agents)));
                    break 'told (passed.kind, passed.agent_id);
                }
                None => FileKind::Foreign,
            };
            (kind, told)
        }
        Named::AskJson => match sniff_document(&handle.open_file(name)?, agents)? {
            Some((agent_id, told)) => (document(told), Some(agent_id)),
            None => return Ok(None),
        },
    };
    let told = told.map(|told| agents.keeper(told, |name| names.has(name.as_bytes())));
    let own = told.filter(|told| agents.is_told_apart(*told) && agents.agree(*told, layout.agent_id()));
    let agent_id = insist.or(own).or(layout.agent_id()).or(told);
    Ok(Some(FileEntry { name: name.into(), size: meta.size, mtime_ms: meta.mtime_ms, folder: 0, kind, agent_id }))
}

/// Whose a passed file is, by content and by place. Content goes first: a copied file lies anywhere. Agents that write the
/// same records are told apart by the place only.
fn agreed(told: Option<AgentId>, layout: Layout, agents: Homes) -> Option<AgentId> {
    match (told, layout.agent_id()) {
        (Some(told), Some(place)) if agents.agree(told, Some(place)) && !agents.is_told_apart(told) => Some(place),
        (told, place) => told.or(place),
    }
}

/// What a file with this document is.
fn document(told: Document) -> FileKind {
    match told {
        Document::Whole => FileKind::Whole,
        Document::CheckpointIndex => FileKind::CheckpointIndex,
    }
}

/// Whether the folder's agent has such names for subagents' transcripts beside sessions.
fn has_side_name(layout: Layout, agents: Homes, stem: &[u8], names: &Names<'_>) -> bool {
    layout.agent_id().and_then(|agent_id| agents.of(agent_id)).is_some_and(|home| home.has_side_name(stem, names))
}

/// Whether a `.jsonl` holds nothing.
fn is_blank(name: &[u8], source: &Source) -> io::Result<bool> {
    let small = name.ends_with(b".jsonl") && source.size() <= BLANK;
    Ok(small && source.read_range(0, BLANK)?.trim_ascii().is_empty())
}

/// A file that holds nothing, with the agent that it would be of.
fn empty(agent_id: Option<AgentId>) -> Passed {
    Passed { kind: if agent_id.is_some() { FileKind::Main } else { FileKind::Foreign }, agent_id }
}

/// Whose the sessions beside a file are, where they are all of one agent.
fn neighbours<'n>(
    handle: &Handle,
    name: &[u8],
    beside: impl Iterator<Item = &'n [u8]>,
    agents: Homes,
) -> Option<AgentId> {
    let others = beside.filter(|other| *other != name && other.ends_with(b".jsonl")).take(NEIGHBOURS);
    let told = others.filter_map(|other| {
        // A name that is no text is no agent's.
        let source = handle.open_file(OsStr::new(std::str::from_utf8(other).ok()?)).ok()?;
        sniff(&source, agents).ok()?.agent_id()
    });
    let mut told: Vec<AgentId> = told.collect();
    told.sort_unstable();
    told.dedup();
    if let [agent_id] = told[..] { Some(agent_id) } else { None }
}
