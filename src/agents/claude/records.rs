//! What a record of Claude Code means, and how the SDK reads its files.

use std::ops::Range;

use super::{Claude, Sdk};
use crate::agents::{client_words, cut_by_length, wire};
use crate::record::agent::{Cut, Empty, Field, FieldTable, Records, Seen, Slot, Speaker, Trouble, UsageField};
use crate::record::document::Document;
use crate::record::facts::{BlockKind, Kind, Record, flag};
use crate::record::json::{Grammar, Kind as Json};
use crate::record::keys::{Keys, key};
use crate::record::value::Value;

/// Fields that `classify` looks at.
mod kept {
    /// The subtype of a `system` row.
    pub(super) const SUBTYPE: usize = 0;
    /// The type of an attachment or of a progress row's data, and the hook that it is of.
    pub(super) const INNER_TYPE: usize = 1;
    pub(super) const HOOK: usize = 2;
    /// `session_id`, beside `sessionId`.
    pub(super) const SECOND_SESSION: usize = 3;
    pub(super) const SESSION_KIND: usize = 4;
    pub(super) const LOGICAL_PARENT: usize = 5;
    /// What a boundary keeps, in either form.
    pub(super) const SEGMENT: usize = 6;
    pub(super) const MESSAGES: usize = 7;
}

static KEYS: FieldTable = FieldTable {
    record: Keys::new(&[&[
        key("uuid", Field::Id.slot()),
        key("parentUuid", Field::Parent(Empty::IsNone).slot()),
        key("type", Field::Type.slot()),
        key("timestamp", Field::Time.slot()),
        key("message", Field::Message.slot()),
        key("content", Field::Content.slot()),
        key("summary", Field::Summary.slot()),
        key("sessionId", Field::Session.slot()),
        key("session_id", Field::Kept(kept::SECOND_SESSION).slot()),
        key("sessionKind", Field::Kept(kept::SESSION_KIND).slot()),
        key("agentId", Field::Agent.slot()),
        key("cwd", Field::Cwd.slot()),
        key("version", Field::Version.slot()),
        key("subtype", Field::Kept(kept::SUBTYPE).slot()),
        key("attachment", Field::Inside(&INNER).slot()),
        key("data", Field::Inside(&INNER).slot()),
        key("compactMetadata", Field::Inside(&BOUNDARY).slot()),
        key("operation", Field::Label.slot()),
        key("logicalParentUuid", Field::Kept(kept::LOGICAL_PARENT).slot()),
        key("sourceToolAssistantUUID", Field::Target.slot()),
        // up to 1.0
        key("costUSD", Field::Cost.slot()),
        key("isSidechain", Field::Truth(flag::SIDECHAIN).slot()),
        key("isMeta", Field::Truth(flag::META).slot()),
        key("teamName", Field::Truth(flag::TEAM).slot()),
        key("isCompactSummary", Field::Truth(flag::COMPACT_SUMMARY).slot()),
        key("isApiErrorMessage", Field::Truth(flag::API_ERROR).slot()),
        key("forkedFrom", Field::Truth(flag::FORKED).slot()),
        key("origin", Field::There.marking(flag::LOOK)),
        key("reason", Field::There.marking(flag::LOOK)),
        key("closesQuietTurn", Field::There.marking(flag::LOOK)),
        key("hostHiddenToolUseIds", Field::There.marking(flag::LOOK)),
    ]]),
    message: Keys::new(&[&[
        key("role", Field::Role.slot()),
        key("content", Field::Content.slot()),
        key("id", Field::Group(Empty::IsNone).slot()),
        key("model", Field::Model.slot()),
        key("stop_reason", Field::Stop.slot()),
        key("usage", Field::Usage.slot()),
    ]]),
    block: Keys::new(&[wire::BLOCK]),
    inner_block: Keys::new(&[wire::INNER_BLOCK]),
    usage: Keys::new(&[&[
        key("input_tokens", UsageField::Tokens(0)),
        key("output_tokens", UsageField::Tokens(1)),
        key("cache_read_input_tokens", UsageField::Tokens(2)),
        key("cache_creation_input_tokens", UsageField::Tokens(3)),
    ]]),
};

static INNER: Keys<Slot> =
    Keys::new(&[&[key("type", Field::Kept(kept::INNER_TYPE).slot()), key("hookName", Field::Kept(kept::HOOK).slot())]]);

static BOUNDARY: Keys<Slot> = Keys::new(&[&[
    key("preservedSegment", Field::Kept(kept::SEGMENT).slot()),
    key("preservedMessages", Field::Kept(kept::MESSAGES).slot()),
]]);

impl Records for Claude {
    fn keys(&self) -> &'static FieldTable {
        &KEYS
    }

    fn grammar(&self) -> Grammar {
        Grammar { python: self.0 == Sdk::Python }
    }

    fn cut(&self, _: u64) -> Cut {
        if self.0 == Sdk::Python { Cut::Returns } else { Cut::Lines }
    }

    fn strip(&self, text: &[u8]) -> Range<usize> {
        if self.0 == Sdk::Npm {
            // NULs too, and at the beginning only.
            return text.iter().position(|byte| *byte > b' ').unwrap_or(text.len())..text.len();
        }
        let white = |c: char| c.is_whitespace() || matches!(c, '\x1c'..='\x1f');
        let Ok(text) = std::str::from_utf8(text) else { return 0..text.len() };
        let start = text.len() - text.trim_start_matches(white).len();
        start..start.max(text.trim_end_matches(white).len())
    }

    fn raises(&self, trouble: Trouble) -> Option<&'static str> {
        (self.0 == Sdk::Python).then_some(match trouble {
            // It decodes the file as one text.
            Trouble::NotUtf8 => "UnicodeDecodeError",
            Trouble::TooDeep => "RecursionError",
        })
    }

    fn marks_record(&self, key: &[u8]) -> bool {
        matches!(key, b"timestamp" | b"uuid" | b"parentUuid" | b"sessionId" | b"messageId" | b"leafUuid")
    }

    fn classify(&self, seen: &Seen<'_>, record: &mut Record) {
        record.kind = kind(seen.type_name);
        match record.kind {
            Kind::System => {
                record.flags |= match &*seen.word(kept::SUBTYPE) {
                    b"compact_boundary" => flag::BOUNDARY,
                    b"microcompact_boundary" => flag::MICRO_BOUNDARY,
                    b"voice_call_talk" => flag::LOOK,
                    _ => 0,
                };
                if seen.kind(kept::SEGMENT).is_some() || seen.kind(kept::MESSAGES).is_some() {
                    record.flags |= flag::LOOK;
                }
            }
            Kind::Progress if *seen.word(kept::INNER_TYPE) == *b"agent_progress" => {
                record.flags |= flag::AGENT_PROGRESS;
            }
            Kind::Attachment if *seen.word(kept::INNER_TYPE) == *b"queued_command" => {
                record.flags |= flag::QUEUED_COMMAND;
            }
            Kind::Attachment if *seen.word(kept::INNER_TYPE) == *b"fork_briefing" => record.flags |= flag::LOOK,
            Kind::User | Kind::Assistant => {
                let right = if record.kind == Kind::User { &b"user"[..] } else { b"assistant" };
                if seen.role != right && record.has(flag::MESSAGE) {
                    record.flags |= flag::ROLE_BAD;
                }
            }
            _ => {}
        }
        if record.kind != Kind::User {
            record.flags &= !(flag::LOCAL_COMMAND | flag::INTERRUPT);
        }
        record.flags |= cut_by_length(seen.stop);
        let mut set = |bit: u64, holds: bool| record.flags |= if holds { bit } else { 0 };
        let object = |n: usize| seen.kind(n) == Some(Json::Object);
        set(flag::SYNTHETIC, seen.model == b"<synthetic>");
        set(flag::PRESERVES, object(kept::SEGMENT) || object(kept::MESSAGES));
        set(flag::LOGICAL_PARENT, seen.kind(kept::LOGICAL_PARENT) == Some(Json::String));
        set(flag::CLEARED, *seen.word(kept::HOOK) == *b"SessionStart:clear");
        set(flag::BACKGROUND, *seen.word(kept::SESSION_KIND) == *b"bg");
        let second = seen.kind(kept::SECOND_SESSION) == Some(Json::String) && !seen.session.is_empty();
        set(flag::OTHER_SESSION_ID, second && *seen.word(kept::SECOND_SESSION) != *seen.session);
    }

    fn is_result(&self, _: Kind) -> bool {
        false
    }

    fn is_labelled(&self, kind: Kind) -> bool {
        kind == Kind::Queue
    }

    fn block_kind(&self, type_name: &[u8]) -> BlockKind {
        wire::block_kind(type_name)
    }

    fn opening(&self, text: &[u8]) -> u64 {
        client_words(text)
    }

    fn type_word(&self, kind: Kind) -> Option<&'static str> {
        Some(match kind {
            Kind::User => "user",
            Kind::Assistant => "assistant",
            Kind::System => "system",
            Kind::Attachment => "attachment",
            Kind::Progress => "progress",
            _ => return None,
        })
    }

    fn speaker(&self, record: &Record) -> Speaker {
        match record.kind {
            // The message takes its row's type, whatever the role in it says.
            Kind::User => Speaker::Is("user"),
            Kind::Assistant => Speaker::Is("assistant"),
            _ => Speaker::Nobody,
        }
    }

    fn keyed_by_data(&self) -> &'static [&'static str] {
        &[]
    }

    fn document<'a>(&self, _: Value<'a>) -> Option<(Document, Option<Value<'a>>)> {
        None
    }
}

fn kind(type_name: &[u8]) -> Kind {
    match type_name {
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
    }
}
