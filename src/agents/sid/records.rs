//! What a record of sid-code means, and how sid-code reads its files.

use std::ops::Range;

use super::Sid;
use crate::agents::{client_words, cut_by_length, wire};
use crate::record::agent::{
    BlockField, Cut, Empty, Field, FieldTable, Records, Seen, Slot, Speaker, Trouble, UsageField,
};
use crate::record::document::Document;
use crate::record::facts::{BlockKind, Kind, Record, flag};
use crate::record::json::{Grammar, Kind as Json};
use crate::record::keys::{Keys, key};
use crate::record::read::falsy;
use crate::record::value::Value;

/// Up to this size a session is read whole, beyond it in a stream.
const WHOLE: u64 = 4 * 1024 * 1024;

/// Fields that `classify` looks at.
mod kept {
    /// The permission mode beside the message.
    pub(super) const MODE: usize = 0;
    /// The permission mode in the message.
    pub(super) const INNER_MODE: usize = 1;
    /// What made the message, when that was no person.
    pub(super) const ORIGIN: usize = 2;
}

static KEYS: FieldTable = FieldTable {
    record: Keys::new(&[&[
        key("uuid", Field::Id.slot()),
        key("parentUuid", Field::Parent(Empty::Counts).slot()),
        key("type", Field::Type.slot()),
        key("timestamp", Field::Time.slot()),
        key("message", Field::Message.slot()),
        // A sidechain's messages carry role and content at the top.
        key("role", Field::Role.slot()),
        key("content", Field::Content.slot()),
        key("summary", Field::Summary.slot()),
        key("sessionId", Field::Session.slot()),
        key("agentId", Field::Agent.slot()),
        key("version", Field::Version.slot()),
        key("provider", Field::Provider.slot()),
        key("key", Field::Label.slot()),
        key("value", Field::Value.slot()),
        // What the loader copies into the message.
        key("cwd", Field::Cwd.marking(flag::CONTEXT_FIELDS)),
        key("gitBranch", Field::There.marking(flag::CONTEXT_FIELDS)),
        key("model", Field::Model.marking(flag::CONTEXT_FIELDS)),
        key("msgId", Field::Group(Empty::Counts).marking(flag::CONTEXT_FIELDS)),
        key("permissionMode", Field::Kept(kept::MODE).marking(flag::CONTEXT_FIELDS)),
        key("stopReason", Field::Stop.marking(flag::CONTEXT_FIELDS)),
        key("usage", Field::Usage.marking(flag::CONTEXT_FIELDS)),
    ]]),
    message: Keys::new(&[&[
        key("role", Field::Role.slot()),
        key("content", Field::Content.slot()),
        key("_meta", Field::Inside(&META).slot()),
    ]]),
    block: Keys::new(&[wire::BLOCK, &[key("mediaBlocks", BlockField::Blocks)]]),
    inner_block: Keys::new(&[wire::INNER_BLOCK, &[key("kind", BlockField::Type), key("mediaType", BlockField::Label)]]),
    usage: Keys::new(&[&[
        key("inputTokens", UsageField::Tokens(0)),
        key("outputTokens", UsageField::Tokens(1)),
        key("cacheReadInputTokens", UsageField::Tokens(2)),
        key("cacheCreationInputTokens", UsageField::Tokens(3)),
    ]]),
};

static META: Keys<Slot> = Keys::new(&[&[
    key("permissionMode", Field::Kept(kept::INNER_MODE).slot()),
    key("origin", Field::Kept(kept::ORIGIN).slot()),
]]);

impl Records for Sid {
    fn keys(&self) -> &'static FieldTable {
        &KEYS
    }

    fn grammar(&self) -> Grammar {
        Grammar { python: false }
    }

    fn cut(&self, size: u64) -> Cut {
        if size > WHOLE { Cut::Separators } else { Cut::TrimmedLines }
    }

    fn strip(&self, text: &[u8]) -> Range<usize> {
        0..text.len()
    }

    fn raises(&self, _: Trouble) -> Option<&'static str> {
        None
    }

    fn marks_record(&self, key: &[u8]) -> bool {
        matches!(key, b"timestamp" | b"uuid" | b"parentUuid" | b"sessionId")
    }

    fn classify(&self, seen: &Seen<'_>, record: &mut Record) {
        record.kind = match seen.type_name {
            b"session_start" => Kind::Start,
            b"user_message" => Kind::User,
            b"assistant_message" => Kind::Assistant,
            b"tool_result" => Kind::ToolMessage,
            b"context_compact" => Kind::Compaction,
            b"metadata" => Kind::Metadata,
            b"session_end" => Kind::End,
            b"sidechain_start" => Kind::TranscriptStart,
            b"sidechain_end" => Kind::TranscriptEnd,
            b"message" => Kind::TranscriptMessage,
            _ => Kind::Other,
        };
        record.flags |= cut_by_length(seen.stop) | origin(&seen.word(kept::ORIGIN));
        if record.is_message() {
            if !matches!(seen.role, b"user" | b"assistant") {
                record.flags |= flag::ROLE_BAD;
            }
            let mode = if seen.kind(kept::MODE).is_some() { kept::MODE } else { kept::INNER_MODE };
            if unknown_mode(seen, mode) {
                record.flags |= flag::MODE_UNKNOWN;
            }
        } else if record.kind != Kind::Start {
            // The loader copies these fields into messages only.
            record.flags &= !flag::CONTEXT_FIELDS;
        }
        if record.kind == Kind::Metadata && seen.label == b"forked_from" {
            record.flags |= flag::FORKED_FROM;
        }
    }

    fn is_result(&self, _: Kind) -> bool {
        false
    }

    fn is_labelled(&self, kind: Kind) -> bool {
        kind == Kind::Metadata
    }

    fn block_kind(&self, type_name: &[u8]) -> BlockKind {
        wire::block_kind(type_name)
    }

    fn opening(&self, text: &[u8]) -> u64 {
        client_words(text)
    }

    fn type_word(&self, kind: Kind) -> Option<&'static str> {
        Some(match kind {
            Kind::Start => "session_start",
            Kind::User => "user_message",
            Kind::Assistant => "assistant_message",
            Kind::ToolMessage => "tool_result",
            Kind::Compaction => "context_compact",
            Kind::Metadata => "metadata",
            Kind::End => "session_end",
            Kind::TranscriptStart => "sidechain_start",
            Kind::TranscriptEnd => "sidechain_end",
            Kind::TranscriptMessage => "message",
            _ => return None,
        })
    }

    fn speaker(&self, record: &Record) -> Speaker {
        match record.kind {
            Kind::User | Kind::Assistant | Kind::ToolMessage if record.has(flag::ROLE_USER) => Speaker::Is("user"),
            Kind::User | Kind::Assistant | Kind::ToolMessage if record.has(flag::ROLE_ASSISTANT) => {
                Speaker::Is("assistant")
            }
            Kind::User | Kind::Assistant | Kind::ToolMessage | Kind::TranscriptMessage => Speaker::Stored(""),
            _ => Speaker::Nobody,
        }
    }

    fn keyed_by_data(&self) -> &'static [&'static str] {
        &["modelUsage", "byLabel"]
    }

    fn document<'a>(&self, root: Value<'a>) -> Option<(Document, Option<Value<'a>>)> {
        let string = |key: &str| root.get(key).and_then(|v| v.string());
        let first = || root.get("directories").and_then(|d| d.items().first().and_then(Value::string));
        let document = Document {
            refusal: None,
            id: string("id").filter(|s| !s.is_empty()),
            version: Some(string("version").unwrap_or_else(|| "0.0".to_owned())),
            provider: string("provider"),
            times: (string("createdAt"), string("updatedAt")),
            kind: string("kind"),
            summary: string("summary"),
            messages_array: false,
            cwd: string("cwd").or_else(first),
        };
        Some((document, root.get("messages")))
    }
}

/// Whether a permission mode is one that the loader clears.
fn unknown_mode(seen: &Seen<'_>, n: usize) -> bool {
    const KNOWN: [&[u8]; 5] = [b"default", b"acceptEdits", b"bypassPermissions", b"plan", b"always-allow"];
    match seen.kind(n) {
        None => false,
        Some(Json::String) => {
            let word = seen.word(n);
            !word.is_empty() && !KNOWN.contains(&&*word)
        }
        Some(_) => seen.raw(n).is_some_and(|raw| !falsy(raw)),
    }
}

/// A message notes what made it, when that was no person. An expanded command was typed as a command.
fn origin(word: &[u8]) -> u64 {
    match word {
        b"" | b"command-expansion" => 0,
        b"compact-summary" => flag::NOT_TYPED | flag::COMPACTED,
        _ => flag::NOT_TYPED,
    }
}
