//! What a record is for its agent: type and role into [`Kind`], and the flags that depend on both.
//!
//! Unknown types are never damage (`docs/formats/claude-code.md`, head; `docs/formats/pi.md`, section 6, step 3): they
//! stay [`Kind::Other`].

use std::borrow::Cow;

use super::facts::{Block, BlockKind, Facts, Id, Kind, NO_NAME, TypeCount, block, flag};
use super::json::{Str, decode};
use super::read::Draft;
use crate::dialect::Dialect;

/// How many types of records are counted by name; more are counted together.
const NAMED_TYPES: usize = 100;

/// Settles what the record is, once all its fields are read.
pub(super) fn settle(dialect: Dialect, text: &[u8], draft: &mut Draft, facts: &mut Facts, mark: usize, hidden: bool) {
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
        if draft.other_session_id.is_some_and(|o| raw(Some(o)) != raw(Some(s))) {
            record.flags |= flag::OTHER_SESSION_ID;
        }
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
    match dialect {
        Dialect::Sid => sid(type_name, role, record),
        Dialect::Claude => claude(type_name, role, &word(draft.subtype), &word(draft.inner_type), record),
        Dialect::Pi | Dialect::Openclaw => pi(type_name, role, record),
    }
    record.link = if record.kind == Kind::Assistant { draft.group } else { draft.target };
    record.flags |= match &*word(draft.stop) {
        b"" => 0,
        b"max_tokens" | b"length" => flag::CUT_BY_LENGTH | flag::STOPPED,
        b"error" | b"aborted" if dialect.is_pi() => flag::FAILED | flag::STOPPED,
        _ => flag::STOPPED,
    };
    if record.model != 0 && facts.names.get(record.model) == Some(b"<synthetic>") {
        record.flags |= flag::SYNTHETIC;
    }
    if dialect.is_pi() {
        if record.kind == Kind::ToolMessage {
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
        if record.kind == Kind::Compaction && draft.target != 0 && draft.target == record.id.short() {
            record.flags |= flag::KEEPS_NOTHING;
        }
    }
    if dialect == Dialect::Sid && record.is_message() && draft.mode.or(draft.inner_mode) == Some(true) {
        record.flags |= flag::MODE_UNKNOWN;
    }
    if dialect == Dialect::Sid && record.kind == Kind::Metadata {
        let key = draft.key.map(owned).unwrap_or_default();
        if key == b"forked_from" {
            record.flags |= flag::FORKED_FROM;
        }
        record.agent = facts.names.intern(6, &key);
    }
    if record.kind == Kind::Queue {
        record.agent = facts.names.intern(6, raw(draft.operation));
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

use super::facts::Record;

fn sid(type_name: &[u8], role: &[u8], record: &mut Record) {
    record.kind = match type_name {
        b"session_start" => Kind::Start,
        b"user_message" => Kind::User,
        b"assistant_message" => Kind::Assistant,
        b"tool_result" => Kind::ToolMessage,
        b"context_compact" => Kind::Compaction,
        b"metadata" => Kind::Metadata,
        b"session_end" => Kind::End,
        b"sidechain_start" => Kind::SideStart,
        b"sidechain_end" => Kind::SideEnd,
        b"message" => Kind::SideMessage,
        _ => Kind::Other,
    };
    if matches!(record.kind, Kind::User | Kind::Assistant | Kind::ToolMessage) {
        if !matches!(role, b"user" | b"assistant") {
            record.flags |= flag::ROLE_BAD;
        }
    } else if record.kind != Kind::Start {
        // The loader copies these fields into messages only.
        record.flags &= !flag::CONTEXT_FIELDS;
    }
}

fn claude(type_name: &[u8], role: &[u8], subtype: &[u8], inner: &[u8], record: &mut Record) {
    record.kind = match type_name {
        b"user" => Kind::User,
        b"assistant" => Kind::Assistant,
        b"system" => Kind::System,
        b"attachment" => Kind::Attachment,
        b"progress" => Kind::Progress,
        b"summary" => Kind::Summary,
        b"file-history-snapshot" => Kind::FileSnapshot,
        b"file-history-delta" => Kind::FileDelta,
        b"queue-operation" => Kind::Queue,
        b"last-prompt" => Kind::LastPrompt,
        b"custom-title"
        | b"ai-title"
        | b"agent-name"
        | b"agent-color"
        | b"agent-setting"
        | b"tag"
        | b"mode"
        | b"permission-mode"
        | b"pr-link"
        | b"worktree-state"
        | b"bridge-session"
        | b"content-replacement" => Kind::Metadata,
        _ => Kind::Other,
    };
    match record.kind {
        Kind::System => {
            record.flags |= match subtype {
                b"compact_boundary" => flag::BOUNDARY,
                b"microcompact_boundary" => flag::MICRO_BOUNDARY,
                b"local_command" => flag::LOCAL_ROW,
                b"stop_hook_summary" => flag::STOP_HOOK,
                _ => 0,
            };
        }
        Kind::Progress => {
            record.flags |= match inner {
                b"agent_progress" => flag::AGENT_PROGRESS,
                b"hook_progress" => flag::HOOK,
                _ => 0,
            };
        }
        Kind::Attachment => {
            if inner == b"queued_command" {
                record.flags |= flag::QUEUED_COMMAND;
            } else if inner.starts_with(b"hook_") {
                record.flags |= flag::HOOK;
            }
        }
        Kind::User | Kind::Assistant => {
            let right = if record.kind == Kind::User { &b"user"[..] } else { b"assistant" };
            if role != right && record.has(flag::MESSAGE) {
                record.flags |= flag::ROLE_BAD;
            }
        }
        _ => {}
    }
    if record.kind != Kind::User {
        record.flags &= !(flag::LOCAL_COMMAND | flag::INTERRUPT);
    }
}

fn pi(type_name: &[u8], role: &[u8], record: &mut Record) {
    record.kind = match type_name {
        b"session" => Kind::Start,
        b"message" => match role {
            b"user" => Kind::User,
            b"assistant" => Kind::Assistant,
            b"toolResult" => Kind::ToolMessage,
            // "developer" is what forks of pi call it.
            b"system" | b"developer" => Kind::System,
            b"custom" | b"hookMessage" | b"bashExecution" | b"branchSummary" | b"compactionSummary" => Kind::Custom,
            _ => {
                record.flags |= flag::ROLE_BAD;
                Kind::Other
            }
        },
        b"custom_message" => Kind::Custom,
        b"compaction" => Kind::Compaction,
        b"branch_summary" => Kind::BranchSummary,
        b"context_edit" => Kind::ContextEdit,
        b"leaf" => Kind::Leaf,
        b"thinking_level_change" | b"model_change" | b"custom" | b"label" | b"session_info" | b"usage" | b"reset" => {
            Kind::Metadata
        }
        _ => Kind::Other,
    };
}
