//! Whose records these are, from the first 64 KiB of a file.
//!
//! It tells agents apart and no more: what a record means is `record`'s business. The first line that parses and bears
//! a sign of one agent decides. A line that does not parse (damaged, or longer than what is read) is searched for the
//! same signs as bytes, and that is used only if no whole line decides. Keys inside strings do not mislead the search:
//! their quotes are escaped there.

use std::io;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::Value;

use super::source::Source;
use crate::dialect::Dialect;

/// How much of a file is looked at.
const SNIFFED: usize = 64 * 1024;

/// Enough for the first record of nearly every session.
const FIRST_LOOK: usize = 4 * 1024;

/// What the first records of a file are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A session of that agent. OpenClaw writes pi's entries; only the layout tells them apart.
    Session(Dialect),
    /// sid-code's transcript of a subagent.
    SidSidechain,
    /// Rows of the prompt history of sid-code or Claude Code.
    History,
    /// Whole JSON records, of no agent that is known here.
    Foreign,
    /// Nothing that could be read: empty, blank, or damaged beyond recognition.
    Unknown,
}

impl Shape {
    /// The agent, where it tells.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Shape::Session(dialect) => Some(dialect),
            Shape::SidSidechain => Some(Dialect::Sid),
            _ => None,
        }
    }
}

/// Looks at the first records of a `.jsonl` file.
///
/// # Errors
/// Whatever the system says.
pub fn sniff(source: &Source) -> io::Result<Shape> {
    let size = source.size();
    let head = source.read_range(0, FIRST_LOOK as u64)?;
    let whole = head.len() as u64 >= size;
    let first = shape(&head, whole);
    if whole || matches!(first, Seen { sure: true, .. }) {
        return Ok(first.shape);
    }
    let head = source.read_range(0, SNIFFED as u64)?;
    let whole = head.len() as u64 >= size;
    Ok(shape(&head, whole).shape)
}

/// What was seen, and whether a whole record said so.
struct Seen {
    shape: Shape,
    sure: bool,
}

fn shape(head: &[u8], whole: bool) -> Seen {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let (mut sign, mut foreign) = (None, false);
    let mut rest = head;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest);
        let line = rest[..end.unwrap_or(rest.len())].trim_ascii();
        rest = end.map_or(&[][..], |at| &rest[at + 1..]);
        if line.is_empty() {
            continue;
        }
        // the last line may go on beyond what was read; then it does not parse and is searched only
        // (and serde would take an array for a record)
        let probe = (line.first() == Some(&b'{')).then(|| serde_json::from_slice::<Probe>(line).ok()).flatten();
        match probe.map(|probe| probe.shape()) {
            Some(Some(shape)) => return Seen { shape, sure: true },
            Some(None) => foreign = foreign || end.is_some() || whole,
            None => sign = sign.or_else(|| sign_of(line)),
        }
    }
    let shape = match (sign, foreign) {
        (Some(shape), _) => shape,
        (None, true) => Shape::Foreign,
        (None, false) => Shape::Unknown,
    };
    Seen { shape, sure: false }
}

/// The keys of a record that tell agents apart.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Probe {
    #[serde(rename = "type")]
    kind: Value,
    #[serde(deserialize_with = "present")]
    uuid: bool,
    #[serde(rename = "parentUuid", deserialize_with = "present")]
    parent_uuid: bool,
    #[serde(rename = "leafUuid", deserialize_with = "present")]
    leaf_uuid: bool,
    #[serde(rename = "sessionId", deserialize_with = "present")]
    session_id: bool,
    #[serde(rename = "parentId", deserialize_with = "present")]
    parent_id: bool,
    #[serde(deserialize_with = "present")]
    id: bool,
    #[serde(deserialize_with = "present")]
    cwd: bool,
    #[serde(deserialize_with = "present")]
    version: bool,
    #[serde(deserialize_with = "present")]
    message: bool,
    #[serde(deserialize_with = "present")]
    key: bool,
    #[serde(deserialize_with = "present")]
    role: bool,
    #[serde(deserialize_with = "present")]
    turn: bool,
    #[serde(deserialize_with = "present")]
    display: bool,
    #[serde(deserialize_with = "present")]
    project: bool,
    #[serde(rename = "pastedContents", deserialize_with = "present")]
    pasted: bool,
}

/// A key that is there, whatever its value (`null` too).
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(value).map(|_| true)
}

/// Claude Code's record types that carry neither `parentUuid` nor, always, `sessionId`.
const CLAUDE_TYPES: [&str; 12] = [
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "custom-title",
    "ai-title",
    "last-prompt",
    "permission-mode",
    "pr-link",
    "worktree-state",
    "fork-context-ref",
    "attribution-snapshot",
];

impl Probe {
    fn shape(&self) -> Option<Shape> {
        let kind = self.kind.as_str().unwrap_or_default();
        match kind {
            "sidechain_start" | "sidechain_end" => return Some(Shape::SidSidechain),
            "session_start" | "user_message" | "assistant_message" | "context_compact" | "session_end" => {
                return Some(Shape::Session(Dialect::Sid));
            }
            "metadata" if self.key => return Some(Shape::Session(Dialect::Sid)),
            "tool_result" if self.message => return Some(Shape::Session(Dialect::Sid)),
            "message" if self.role && self.turn => return Some(Shape::SidSidechain),
            "session" if self.id || self.cwd || self.version => return Some(Shape::Session(Dialect::Pi)),
            _ => {}
        }
        let conversation = matches!(kind, "user" | "assistant" | "system" | "attachment" | "progress");
        if self.parent_uuid
            || self.leaf_uuid
            || CLAUDE_TYPES.contains(&kind)
            || (self.session_id && !kind.is_empty())
            || (conversation && (self.uuid || self.message))
        {
            return Some(Shape::Session(Dialect::Claude));
        }
        // version 1 of pi has no parentId
        if self.parent_id || (kind == "message" && self.message) {
            return Some(Shape::Session(Dialect::Pi));
        }
        (self.display && (self.project || self.pasted)).then_some(Shape::History)
    }
}

/// The same signs in bytes that are no whole record. sid-code first: its records have `parentUuid` too.
fn sign_of(line: &[u8]) -> Option<Shape> {
    const SIGNS: [(&[u8], Shape); 15] = [
        (b"\"type\":\"sidechain_", Shape::SidSidechain),
        (b"\"type\":\"session_start\"", Shape::Session(Dialect::Sid)),
        (b"\"schemaCompat\":\"claude-code-like", Shape::Session(Dialect::Sid)),
        (b"\"type\":\"user_message\"", Shape::Session(Dialect::Sid)),
        (b"\"type\":\"assistant_message\"", Shape::Session(Dialect::Sid)),
        (b"\"type\":\"session_end\"", Shape::Session(Dialect::Sid)),
        (b"\"type\":\"session\",", Shape::Session(Dialect::Pi)),
        (b"\"parentId\":", Shape::Session(Dialect::Pi)),
        (b"\"isSidechain\":", Shape::Session(Dialect::Claude)),
        (b"\"leafUuid\":", Shape::Session(Dialect::Claude)),
        (b"\"type\":\"file-history-", Shape::Session(Dialect::Claude)),
        (b"\"type\":\"queue-operation\"", Shape::Session(Dialect::Claude)),
        (b"\"userType\":", Shape::Session(Dialect::Claude)),
        (b"\"logicalParentUuid\":", Shape::Session(Dialect::Claude)),
        (b"\"parentUuid\":", Shape::Session(Dialect::Claude)),
    ];
    SIGNS.iter().find(|(sign, _)| memchr::memmem::find(line, sign).is_some()).map(|(_, shape)| *shape)
}

/// A JSON document of sid-code, told by its head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Document {
    /// A session in one document.
    Whole,
    /// The index of a checkpoint folder.
    CheckpointIndex,
}

/// Looks at the head of a `.json` file for the keys that sid-code writes. Both documents name them before any content,
/// but the list that they hold may begin beyond the first bytes.
///
/// # Errors
/// Whatever the system says.
pub fn sniff_document(source: &Source) -> io::Result<Option<Document>> {
    for length in [FIRST_LOOK, SNIFFED] {
        let head = source.read_range(0, length as u64)?;
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
        if head.first() != Some(&b'{') {
            return Ok(None);
        }
        let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
        if has(b"\"snapshots\"") && (has(b"\"sessionId\"") || has(b"\"nextId\"")) {
            return Ok(Some(Document::CheckpointIndex));
        }
        if has(b"\"sessionId\"") && has(b"\"files\"") && has(b"\"entries\"") && has(b"\"filePath\"") {
            return Ok(Some(Document::CheckpointIndex));
        }
        if has(b"\"messages\"") && has(b"\"id\"") && (has(b"\"createdAt\"") || has(b"\"provider\"")) {
            return Ok(Some(Document::Whole));
        }
        if source.size() <= length as u64 {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: impl Into<Vec<u8>>) -> Shape {
        sniff(&Source::from_bytes(text)).unwrap()
    }

    const SID: Shape = Shape::Session(Dialect::Sid);
    const CLAUDE: Shape = Shape::Session(Dialect::Claude);
    const PI: Shape = Shape::Session(Dialect::Pi);

    #[test]
    fn first_record_that_tells_decides() {
        assert_eq!(of(r#"{"type":"session_start","version":"3.0","sessionId":"a","parentUuid":null}"#), SID);
        assert_eq!(of("{\"type\":\"user_message\",\"message\":{}}\n"), SID);
        assert_eq!(of(r#"{"type":"sidechain_start","sessionId":"a"}"#), Shape::SidSidechain);
        assert_eq!(of(r#"{"type":"message","role":"user","content":[],"turn":1}"#), Shape::SidSidechain);
        assert_eq!(of(r#"{"type":"user","uuid":"a","parentUuid":null,"message":{}}"#), CLAUDE);
        assert_eq!(of("{\"x\":1}\n{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"a\"}\n"), CLAUDE);
        assert_eq!(of(r#"{"type":"summary","summary":"s","leafUuid":"a"}"#), CLAUDE);
        assert_eq!(of(r#"{"type":"session","id":"a","timestamp":"t","cwd":"/"}"#), PI);
        assert_eq!(of(r#"{"type":"label","id":"a","parentId":null}"#), PI);
        assert_eq!(of(r#"{"type":"message","timestamp":"t","message":{"role":"user"}}"#), PI);
        assert_eq!(of(r#"{"display":"d","pastedContents":[],"timestamp":1,"project":"/"}"#), Shape::History);
        assert_eq!(of(r#"{"timestamp":"t","type":"session_meta","payload":{}}"#), Shape::Foreign);
    }

    #[test]
    fn broken_lines_are_searched_and_passed_over() {
        assert_eq!(of(""), Shape::Unknown);
        assert_eq!(of("\n  \r\n"), Shape::Unknown);
        assert_eq!(of("\0\0\0\n"), Shape::Unknown);
        assert_eq!(of("null\n12\n[]\n"), Shape::Unknown);
        assert_eq!(of("\u{feff}{\"type\":\"session\",\"id\":\"a\"}\n"), PI);
        assert_eq!(of("{\"type\":\"use\n{\"type\":\"session\",\"id\":\"a\"}\n"), PI);
        assert_eq!(of("{\"parentUuid\":null,\"type\":\"us"), CLAUDE);
        assert_eq!(of("{\"parentUuid\":null,\"type\":\"user_message\",\"mess"), SID);
        assert_eq!(of("{\"text\":\"\\\"parentUuid\\\":null"), Shape::Unknown);
        assert_eq!(of("{\"x\":1}\n{\"type\":\"session\",\"versi"), PI);
    }

    #[test]
    fn a_first_record_longer_than_what_is_read_is_searched() {
        let long = format!(
            "{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}},\"parentUuid\":null}}\n",
            "x".repeat(80_000)
        );
        assert_eq!(of(long), Shape::Unknown);
        let long = format!("{{\"parentUuid\":null,\"message\":{{\"content\":\"{}\"}}}}\n", "x".repeat(80_000));
        assert_eq!(of(long), CLAUDE);
        let deep = format!(
            "{{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":null,\"m\":{}{}}}",
            "[".repeat(9000),
            "]".repeat(9000)
        );
        assert_eq!(of(deep), CLAUDE);
    }

    #[test]
    fn documents_are_told_by_their_keys() {
        let of = |text: &str| sniff_document(&Source::from_bytes(text)).unwrap();
        assert_eq!(of(r#"{"id":"a","model":"m","provider":"p","messages":[]}"#), Some(Document::Whole));
        assert_eq!(of(r#"{"sessionId":"a","nextId":1,"snapshots":[]}"#), Some(Document::CheckpointIndex));
        assert_eq!(of(r#"{"name":"package","version":"1"}"#), None);
        assert_eq!(of("[]"), None);
        assert_eq!(of(""), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_have_a_shape(bytes: Vec<u8>, text in "([{}\\[\\]\":,\n]|null|type|session|parentId|parentUuid|1e999|\\\\ud800){0,60}") {
            of(bytes.clone());
            of(text.clone());
            sniff_document(&Source::from_bytes(bytes)).unwrap();
            sniff_document(&Source::from_bytes(text)).unwrap();
        }
    }
}
