//! What a message is made of, for a person: its blocks with kinds, names and sizes; their text only when asked for.
//! Read again from the record's bytes, because the facts keep no more than rules need.

use super::agent::{BlockField, Field, Records, Slot};
use super::json::Kind;
use super::keys::Keys;
use super::value::Value;

/// One block of a message.
#[derive(Clone, Debug, Default)]
pub struct BlockView {
    /// Its type as the agent spells it; `text` for a content that is one string.
    pub kind: String,
    /// Bytes of it in the file.
    pub bytes: u64,
    /// The tool's name.
    pub name: Option<String>,
    /// The call's id.
    pub call: Option<String>,
    /// What it says, when that was asked for.
    pub text: Option<String>,
}

/// The blocks of a record.
pub fn blocks(record: &[u8], agent: &dyn Records, content: bool) -> Vec<BlockView> {
    let Some(root) = Value::parse(record) else { return Vec::new() };
    let Some(value) = said_by(&root, agent) else { return Vec::new() };
    let keys = agent.keys();
    let size = |value: &Value<'_>| (value.end - value.start) as u64;
    match value.kind() {
        Kind::String => vec![BlockView {
            kind: "text".to_owned(),
            bytes: size(&value),
            text: value.string().filter(|_| content),
            ..BlockView::default()
        }],
        Kind::Array => value.items().iter().map(|item| block(item, &keys.block, content)).collect(),
        _ => Vec::new(),
    }
}

/// What a record says: the content of its message, its own content, or its summary.
pub(super) fn said_by<'a>(root: &Value<'a>, agent: &dyn Records) -> Option<Value<'a>> {
    let keys = agent.keys();
    let message = member(root, &keys.record, |field| matches!(field, Field::Message));
    let inner = message.and_then(|message| member(&message, &keys.message, |field| matches!(field, Field::Content)));
    // Some messages are the record itself, and what a summary says is one string.
    inner
        .or_else(|| member(root, &keys.record, |field| matches!(field, Field::Content)))
        .or_else(|| member(root, &keys.record, |field| matches!(field, Field::Summary)))
}

/// The member of an object whose key has this meaning.
pub(super) fn member<'a>(object: &Value<'a>, keys: &Keys<Slot>, is: impl Fn(&Field) -> bool) -> Option<Value<'a>> {
    let members = object.members();
    members.into_iter().rfind(|(key, _)| keys.get(key.as_bytes()).is_some_and(|slot| is(&slot.field))).map(|m| m.1)
}

fn block(item: &Value<'_>, keys: &Keys<BlockField>, content: bool) -> BlockView {
    let members = item.members();
    let get = |field: BlockField| {
        members.iter().rfind(|(key, _)| keys.get(key.as_bytes()) == Some(&field)).map(|(_, value)| *value)
    };
    let text = |field: BlockField| get(field).and_then(|v| v.string());
    // The words of a block: text, thinking, a result's content, else the input as it stands.
    let said = || {
        text(BlockField::Text).or_else(|| text(BlockField::Thinking)).or_else(|| {
            let inner = get(BlockField::Content).or_else(|| get(BlockField::Input))?;
            inner.string().or_else(|| Some(crate::text::lossy(inner.raw())))
        })
    };
    BlockView {
        kind: text(BlockField::Type).unwrap_or_else(|| "(no type)".to_owned()),
        bytes: (item.end - item.start) as u64,
        name: text(BlockField::Name),
        call: text(BlockField::Answers).or_else(|| text(BlockField::Id)),
        text: if content { said() } else { None },
    }
}

#[cfg(test)]
mod tests {
    use crate::agents;

    #[test]
    fn kinds_and_sizes_but_no_text_unless_asked() {
        let record = br#"{"message":{"content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t1","name":"Bash","input":{"a":1}}]}}"#;
        let blocks = |record: &[u8], content| super::blocks(record, agents::of(crate::agents::CLAUDE), content);
        let seen = blocks(record, false);
        assert_eq!(seen.iter().map(|b| b.kind.as_str()).collect::<Vec<_>>(), ["text", "tool_use"]);
        assert_eq!(
            (seen[1].name.as_deref(), seen[1].call.as_deref(), &seen[0].text),
            (Some("Bash"), Some("t1"), &None)
        );
        assert_eq!(blocks(record, true)[1].text.as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(blocks(br#"{"content":"one"}"#, true)[0].text.as_deref(), Some("one"));
        assert!(blocks(b"[1]", true).is_empty());
    }
}
