//! What a message is made of, for a person: its blocks with kinds, names and sizes; their text only when asked for.
//! Read again from the record's bytes, because the facts keep no more than rules need.

use super::json::Kind;
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
pub fn blocks(record: &[u8], content: bool) -> Vec<BlockView> {
    let Some(root) = Value::parse(record) else { return Vec::new() };
    // sid-code, Claude Code and pi have `message`; whole-file sessions and pi's custom messages are the message; pi's
    // summaries have one string.
    let found = [&["message", "content"][..], &["content"], &["summary"]].iter().find_map(|path| root.at(path));
    let Some(value) = found else { return Vec::new() };
    let size = |value: &Value<'_>| (value.end - value.start) as u64;
    match value.kind() {
        Kind::String => vec![BlockView {
            kind: "text".to_owned(),
            bytes: size(&value),
            text: value.string().filter(|_| content),
            ..BlockView::default()
        }],
        Kind::Array => value.items().iter().map(|item| block(item, content)).collect(),
        _ => Vec::new(),
    }
}

fn block(item: &Value<'_>, content: bool) -> BlockView {
    let text = |key: &str| item.get(key).and_then(|v| v.string());
    BlockView {
        kind: text("type").unwrap_or_else(|| "(no type)".to_owned()),
        bytes: (item.end - item.start) as u64,
        name: text("name").or_else(|| text("toolName")),
        call: text("tool_use_id").or_else(|| text("toolCallId")).or_else(|| text("id")),
        text: if content { said(item) } else { None },
    }
}

/// The words of a block: text, thinking, a result's content, else the input as it stands.
fn said(item: &Value<'_>) -> Option<String> {
    if let Some(text) = ["text", "thinking"].iter().find_map(|key| item.get(key)?.string()) {
        return Some(text);
    }
    let inner = ["content", "input", "arguments"].iter().find_map(|key| item.get(key))?;
    inner.string().or_else(|| Some(crate::text::lossy(inner.raw())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_sizes_but_no_text_unless_asked() {
        let record = br#"{"message":{"content":[{"type":"text","text":"hi"},{"type":"tool_use","id":"t1","name":"Bash","input":{"a":1}}]}}"#;
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
