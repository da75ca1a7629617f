//! What agents share that keep messages as the Anthropic API has them.

use crate::provider::Api;
use crate::record::agent::BlockField;
use crate::record::facts::{BlockKind, Record, flag};
use crate::record::keys::{Key, key};
use crate::repair::links::quoted;
use crate::repair::synthesize::UNKNOWN_OUTCOME;
use crate::rules::messages::Wrong;
use crate::session::Session;

/// Keys of a content block.
pub(super) const BLOCK: &[Key<BlockField>] = &[
    key("type", BlockField::Type),
    key("text", BlockField::Text),
    key("thinking", BlockField::Thinking),
    key("signature", BlockField::Signature),
    key("id", BlockField::Id),
    key("name", BlockField::Name),
    key("tool_use_id", BlockField::Answers),
    key("input", BlockField::Input),
    key("is_error", BlockField::Error),
    key("source", BlockField::Source),
    key("content", BlockField::Content),
];

/// Keys of what stands inside a tool result, and of a medium's source.
pub(super) const INNER_BLOCK: &[Key<BlockField>] = &[
    key("type", BlockField::Type),
    key("source", BlockField::Source),
    key("media_type", BlockField::Label),
    key("data", BlockField::Data),
    key("tool_name", BlockField::Name),
];

/// What a block of this type is.
pub(super) fn block_kind(type_name: &[u8]) -> BlockKind {
    match type_name {
        b"text" => BlockKind::Text,
        b"thinking" => BlockKind::Thinking,
        b"redacted_thinking" => BlockKind::Redacted,
        b"tool_use" => BlockKind::Call,
        b"tool_result" => BlockKind::Result,
        b"image" => BlockKind::Image,
        b"document" => BlockKind::Document,
        b"tool_reference" => BlockKind::ToolReference,
        other if other.ends_with(b"_tool_result") => BlockKind::ServerResult,
        other if other.starts_with(b"server_tool") || other.ends_with(b"_tool_use") => BlockKind::Server,
        _ => BlockKind::Other,
    }
}

/// The blocks that answer calls, given by their ids as JSON, with a result that says the outcome is unknown.
pub(super) fn results(calls: &[(String, String)]) -> Vec<String> {
    let content = quoted(UNKNOWN_OUTCOME);
    let result = |(id, _): &(String, String)| {
        format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{content},"is_error":true}}"#)
    };
    calls.iter().map(result).collect()
}

/// What is wrong with the shape of a message that has a role and content inside its `message`.
pub(super) fn misshapen(record: &Record) -> Option<Wrong> {
    if !record.has(flag::MESSAGE) {
        return Some(Wrong::Message);
    }
    if !record.any(flag::CONTENT_ARRAY | flag::CONTENT_STRING) {
        return Some(Wrong::Content);
    }
    (!record.any(flag::ROLE_USER | flag::ROLE_ASSISTANT)).then_some(Wrong::Role)
}

/// Whose rules judge a session's next request: by its provider, and by the last model where it names none. `nameless` is
/// for a session that names neither, `other` for one that names a provider which is not known here.
pub(super) fn api(session: &Session, nameless: Api, other: Api) -> Api {
    let facts = &session.facts;
    let last = session.chain.adopted.iter().rev().map(|&n| session.record(n));
    let model = last.filter(|r| r.model != 0 && !r.has(flag::SYNTHETIC)).find_map(|r| facts.names.get(r.model));
    let Some(provider) = facts.last_provider.as_deref().or(facts.provider.as_deref()) else {
        return model.map_or(nameless, Api::of_model);
    };
    match Api::of_provider(provider, model) {
        Api::Unknown => other,
        known => known,
    }
}
