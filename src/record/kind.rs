//! What a record is, once all its fields are read: what every agent's records share is set here, kind and own flags by the
//! agent's `classify`.
//!
//! Unknown types are never damage: they stay [`Kind::Other`].

use std::borrow::Cow;

use super::agent::{Records, Seen};
use super::facts::{Block, BlockKind, Facts, Id, Kind, NO_NAME, TypeCount, block, flag};
use super::json::{Str, decode};
use super::read::Draft;

/// How many types of records are counted by name; more are counted together.
const NAMED_TYPES: usize = 100;

/// Settles what the record is, once all its fields are read.
pub(super) fn classify(
    agent: &dyn Records,
    text: &[u8],
    draft: &mut Draft,
    facts: &mut Facts,
    mark: usize,
    hidden: bool,
) {
    let raw = |s: Option<Str>| s.map(|s| &text[s.start..s.end]).unwrap_or_default();
    let owned = |s: Str| if s.escaped { decode(&text[s.start..s.end]) } else { text[s.start..s.end].to_vec() };
    // Words are compared as JavaScript has them: an escape in one makes no other word.
    let word = |s: Option<Str>| match s {
        Some(s) if s.escaped => Cow::Owned(decode(raw(Some(s)))),
        other => Cow::Borrowed(raw(other)),
    };
    let (type_name, role) = (word(draft.type_name), word(draft.role));
    let (type_name, role) = (&*type_name, &*role);
    let record = &mut draft.record;
    if !hidden {
        record.type_name = count_type(facts, type_name, text.len());
    }
    if let Some(s) = draft.session_id.filter(|s| s.start < s.end) {
        record.flags |= flag::SESSION_ID;
        record.session = facts.names.intern(0, &owned(s));
    }
    if let Some(s) = draft.version {
        record.version = facts.names.intern(2, &owned(s));
    }
    record.flags |= match role {
        b"user" => flag::ROLE_USER,
        b"assistant" => flag::ROLE_ASSISTANT,
        _ => 0,
    };
    if draft.role.is_some() {
        record.flags |= flag::ROLE_WORD;
    }
    let (stop, label) = (word(draft.stop), word(draft.label));
    let seen = Seen {
        type_name,
        role,
        stop: &stop,
        model: facts.names.get(record.model).unwrap_or_default(),
        session: raw(draft.session_id),
        label: &label,
        target: draft.target,
        text,
        kept: &draft.kept,
    };
    agent.classify(&seen, record);
    record.link = if record.kind == Kind::Assistant { draft.group } else { draft.target };
    if !stop.is_empty() {
        record.flags |= flag::STOPPED;
    }
    if agent.is_result(record.kind) {
        let call = draft.call.filter(|s| s.start < s.end);
        let id = call.map_or(0, |s| Id::of(&owned(s)).short());
        let name = draft.call_name.map_or(0, |s| facts.names.intern(5, &owned(s)));
        // The message is the result; its content is what the tool said.
        facts.blocks.truncate(mark);
        facts.blocks.push(Block {
            id,
            name,
            kind: BlockKind::Result,
            flags: if call.is_none() { block::NO_ID } else { 0 },
            index: 0,
        });
    }
    if agent.is_labelled(record.kind) {
        record.agent = facts.names.intern(6, &label);
    }
    if hidden {
        return;
    }
    if record.kind == Kind::Start && facts.version.is_none() {
        facts.version = match (draft.version, draft.version_number) {
            (Some(s), _) => Some(crate::text::lossy(&owned(s))),
            (None, Some((start, end))) => Some(String::from_utf8_lossy(&text[start..end]).into_owned()),
            (None, None) => None,
        };
    }
    if let Some(s) = draft.provider {
        let name = owned(s);
        if facts.last_provider.as_deref().is_none_or(|last| last.as_bytes() != name) {
            facts.last_provider = Some(crate::text::lossy(&name));
        }
        if facts.provider.is_none() {
            facts.provider.clone_from(&facts.last_provider);
        }
    }
}

/// Counts the record under its type. The types of a file are few, and nearly always one of the first.
fn count_type(facts: &mut Facts, name: &[u8], length: usize) -> u16 {
    let counts = &mut facts.type_counts;
    let at = counts.iter().position(|t| *t.name == *name).unwrap_or(counts.len());
    if at == counts.len() {
        if at >= NAMED_TYPES {
            facts.other_types += 1;
            return NO_NAME;
        }
        counts.push(TypeCount { name: name.into(), records: 0, bytes: 0 });
    }
    let count = &mut counts[at];
    count.records += 1;
    count.bytes += length as u64;
    u16::try_from(at).unwrap_or(NO_NAME)
}

/// The types by name, when all records are counted.
pub(super) fn settle_types(facts: &mut Facts) {
    for count in &facts.type_counts {
        let name = if count.name.is_empty() { "(no type)".to_owned() } else { crate::text::lossy(&count.name) };
        *facts.bytes_by_type.entry(name.clone()).or_default() += count.bytes;
        *facts.types.entry(name).or_default() += count.records;
    }
    // Taken back again when a line turned out to be several.
    facts.types.retain(|_, records| *records > 0);
}
