//! What a message says, as types: for programs that read a session's messages. Rules never look at it.

use serde_json::Value as Json;

use super::agent::{BlockField, Field, Records};
use super::blocks::{member, said_by};
use super::facts::BlockKind;
use super::json::Kind;
use super::keys::Keys;
use super::value::Value;

/// One part of a message.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// Text.
    Text(String),
    /// What the model thought, where it can be read.
    Thinking(String),
    /// A tool call.
    Call {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// The arguments; null where there are none.
        arguments: Json,
    },
    /// The result of a call.
    Result {
        /// The call that it answers.
        call: String,
        /// What the tool said: a string, or more parts, as the agent wrote it.
        content: Json,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// Anything else, as the agent wrote it: images, documents, sealed thinking.
    Other(Json),
}

/// The parts of a record's message, in the order in which it has them; none when the record is no message.
pub fn parts(record: &[u8], agent: &dyn Records) -> Vec<Part> {
    let Some(root) = Value::parse(record) else { return Vec::new() };
    let Some(said) = said_by(&root, agent) else { return Vec::new() };
    let keys = agent.keys();
    let of_message = |is: fn(&Field) -> bool| {
        let message = member(&root, &keys.record, |field| matches!(field, Field::Message));
        member(&message.unwrap_or(root), &keys.message, is).or_else(|| member(&root, &keys.record, is))
    };
    if let Some(call) = of_message(|field| matches!(field, Field::Answers)).and_then(|value| value.string()) {
        let is_error = of_message(|field| matches!(field, Field::Failed)).is_some_and(|value| value.truthy());
        return vec![Part::Result { call, content: json(&said), is_error }];
    }
    match said.kind() {
        Kind::String => said.string().map(Part::Text).into_iter().collect(),
        Kind::Array => said.items().iter().map(|item| part(item, &keys.block, agent)).collect(),
        _ => Vec::new(),
    }
}

fn part(item: &Value<'_>, keys: &Keys<BlockField>, agent: &dyn Records) -> Part {
    let members = item.members();
    let get = |field: BlockField| {
        members.iter().rfind(|(key, _)| keys.get(key.as_bytes()) == Some(&field)).map(|(_, value)| *value)
    };
    let text = |field: BlockField| get(field).and_then(|value| value.string());
    let kind = text(BlockField::Type).map_or(BlockKind::Other, |name| agent.block_kind(name.as_bytes()));
    let known = match kind {
        BlockKind::Text => text(BlockField::Text).map(Part::Text),
        BlockKind::Thinking => text(BlockField::Thinking).map(Part::Thinking),
        BlockKind::Call => Some(Part::Call {
            id: text(BlockField::Id).unwrap_or_default(),
            name: text(BlockField::Name).unwrap_or_default(),
            arguments: get(BlockField::Input).map_or(Json::Null, |value| json(&value)),
        }),
        BlockKind::Result => Some(Part::Result {
            call: text(BlockField::Answers).unwrap_or_default(),
            content: get(BlockField::Content).map_or(Json::Null, |value| json(&value)),
            is_error: get(BlockField::Error).is_some_and(|value| value.truthy()),
        }),
        _ => None,
    };
    known.unwrap_or_else(|| Part::Other(json(item)))
}

/// The value as JSON. What strict readers refuse (half of a surrogate pair) comes as the text that stands there.
fn json(value: &Value<'_>) -> Json {
    serde_json::from_slice(value.raw()).unwrap_or_else(|_| Json::String(crate::text::lossy(value.raw())))
}
