//! What a record of pi means, and how pi reads its files (`docs/formats/pi.md`, sections 3, 5 and 14).

use std::ops::Range;

use super::Pi;
use crate::agents::{client_words, cut_by_length};
use crate::record::agent::{BlockField, Cut, Empty, Field, FieldTable, Records, Seen, Speaker, Trouble, UsageField};
use crate::record::document::Document;
use crate::record::facts::{BlockKind, Kind, Record, flag};
use crate::record::json::{Grammar, Kind as Json};
use crate::record::keys::{Keys, key};
use crate::record::value::Value;

/// Fields that `classify` looks at.
mod kept {
    /// What a context edit puts in the place of its target.
    pub(super) const REPLACEMENT: usize = 0;
    /// The session's name in a `session_info` entry.
    pub(super) const NAME: usize = 1;
    /// Why a request failed.
    pub(super) const ERROR: usize = 2;
}

/// What only records of these agents can be.
pub(super) mod own {
    use crate::record::facts::flag::OWN;

    /// an entry that OpenClaw does not know: it is no leaf
    pub(in crate::agents::pi) const OPAQUE: u64 = 1 << (OWN + 16);
    /// a `model_change`
    pub(in crate::agents::pi) const MODEL_CHANGE: u64 = 1 << (OWN + 17);
    /// a `session_info` whose name is neither a string nor null
    pub(in crate::agents::pi) const NAME_OTHER: u64 = 1 << (OWN + 18);
    /// an `errorMessage` that is neither a string nor anything that JavaScript takes for nothing
    pub(in crate::agents::pi) const ERROR_OTHER: u64 = 1 << (OWN + 19);
    /// an edit that says nothing of what replaces its target
    pub(in crate::agents::pi) const NO_REPLACEMENT: u64 = 1 << (OWN + 20);
    /// the context begins anew behind it
    pub(in crate::agents::pi) const CONTEXT_RESET: u64 = 1 << (OWN + 21);
}

static KEYS: FieldTable = FieldTable {
    record: Keys::new(&[&[
        key("id", Field::Id.slot()),
        key("parentId", Field::Parent(Empty::IsNone).slot()),
        key("type", Field::Type.slot()),
        key("timestamp", Field::Time.slot()),
        key("message", Field::Message.slot()),
        // A custom message carries its content at the top.
        key("role", Field::Role.slot()),
        key("content", Field::Content.slot()),
        key("summary", Field::Summary.slot()),
        key("cwd", Field::Cwd.slot()),
        key("version", Field::Version.slot()),
        key("provider", Field::Provider.slot()),
        key("model", Field::Model.slot()),
        key("usage", Field::Usage.slot()),
        key("targetId", Field::Target.slot()),
        key("firstKeptEntryId", Field::Target.slot()),
        key("replacement", Field::Kept(kept::REPLACEMENT).slot()),
        key("name", Field::Kept(kept::NAME).slot()),
    ]]),
    message: Keys::new(&[&[
        key("role", Field::Role.slot()),
        key("content", Field::Content.slot()),
        key("responseId", Field::Group(Empty::IsNone).slot()),
        key("model", Field::Model.slot()),
        key("provider", Field::Provider.slot()),
        key("stopReason", Field::Stop.slot()),
        key("usage", Field::Usage.slot()),
        key("toolCallId", Field::Answers.slot()),
        key("toolName", Field::Tool.slot()),
        key("isError", Field::Failed.slot()),
        key("errorMessage", Field::Kept(kept::ERROR).slot()),
    ]]),
    block: Keys::new(&[&[
        key("type", BlockField::Type),
        key("text", BlockField::Text),
        key("thinking", BlockField::Thinking),
        key("thinkingSignature", BlockField::Signature),
        key("id", BlockField::Id),
        key("name", BlockField::Name),
        key("arguments", BlockField::Input),
        key("data", BlockField::Data),
        key("mimeType", BlockField::Label),
    ]]),
    inner_block: Keys::new(&[]),
    usage: Keys::new(&[&[
        key("input", UsageField::Tokens(0)),
        key("output", UsageField::Tokens(1)),
        key("cacheRead", UsageField::Tokens(2)),
        key("cacheWrite", UsageField::Tokens(3)),
        key("totalTokens", UsageField::Tokens(4)),
        key("cost", UsageField::CostIn("total")),
    ]]),
};

impl Records for Pi {
    fn keys(&self) -> &'static FieldTable {
        &KEYS
    }

    fn grammar(&self) -> Grammar {
        Grammar { python: false }
    }

    fn cut(&self, _: u64) -> Cut {
        Cut::Lines
    }

    fn strip(&self, text: &[u8]) -> Range<usize> {
        0..text.len()
    }

    fn raises(&self, _: Trouble) -> Option<&'static str> {
        None
    }

    fn marks_record(&self, key: &[u8]) -> bool {
        matches!(key, b"timestamp" | b"parentId")
    }

    fn classify(&self, seen: &Seen<'_>, record: &mut Record) {
        record.kind = match seen.type_name {
            b"session" => Kind::Start,
            b"message" => match seen.role {
                b"user" => Kind::User,
                b"assistant" => Kind::Assistant,
                b"toolResult" => Kind::ToolMessage,
                role if self.own_roles.contains(&role) => Kind::Custom,
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
            b"thinking_level_change"
            | b"model_change"
            | b"custom"
            | b"label"
            | b"session_info"
            | b"usage"
            | b"reset" => Kind::Metadata,
            _ => {
                record.flags |= own::OPAQUE;
                Kind::Other
            }
        };
        record.flags |= match seen.type_name {
            b"usage" | b"context_edit" => own::OPAQUE,
            b"model_change" => own::MODEL_CHANGE,
            b"reset_boundary" => self.reset_boundary,
            _ => 0,
        };
        let other = |place| !matches!(seen.kind(place), None | Some(Json::String | Json::Null));
        if seen.type_name == b"session_info" && other(kept::NAME) {
            record.flags |= own::NAME_OTHER;
        }
        if other(kept::ERROR) && !matches!(seen.raw(kept::ERROR), Some(b"false" | b"0")) {
            record.flags |= own::ERROR_OTHER;
        }
        record.flags |= cut_by_length(seen.stop);
        if matches!(seen.stop, b"error" | b"aborted") {
            record.flags |= flag::FAILED;
        }
        if record.kind == Kind::Compaction && seen.target != 0 && seen.target == record.id.short() {
            record.flags |= flag::KEEPS_NOTHING;
        }
        match seen.kind(kept::REPLACEMENT) {
            Some(Json::Null) => record.flags |= flag::OMITS,
            None if record.kind == Kind::ContextEdit => record.flags |= own::NO_REPLACEMENT,
            _ => {}
        }
    }

    fn is_result(&self, kind: Kind) -> bool {
        kind == Kind::ToolMessage
    }

    fn is_labelled(&self, _: Kind) -> bool {
        false
    }

    fn block_kind(&self, type_name: &[u8]) -> BlockKind {
        match type_name {
            b"text" => BlockKind::Text,
            b"thinking" => BlockKind::Thinking,
            b"toolCall" => BlockKind::Call,
            b"image" => BlockKind::Image,
            _ => BlockKind::Other,
        }
    }

    fn opening(&self, text: &[u8]) -> u64 {
        client_words(text)
    }

    fn type_word(&self, kind: Kind) -> Option<&'static str> {
        Some(match kind {
            Kind::Start => "session",
            Kind::User | Kind::Assistant | Kind::ToolMessage | Kind::System => "message",
            Kind::Compaction => "compaction",
            Kind::BranchSummary => "branch_summary",
            Kind::ContextEdit => "context_edit",
            Kind::Leaf if self.leaf_records => "leaf",
            _ => return None,
        })
    }

    fn speaker(&self, record: &Record) -> Speaker {
        match record.kind {
            Kind::User => Speaker::Is("user"),
            Kind::Assistant => Speaker::Is("assistant"),
            Kind::ToolMessage => Speaker::Is("toolResult"),
            Kind::Compaction => Speaker::Is("compactionSummary"),
            Kind::BranchSummary => Speaker::Is("branchSummary"),
            Kind::Custom => Speaker::Stored("custom"),
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
