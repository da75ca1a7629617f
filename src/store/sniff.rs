//! Whose records these are, as far as the records themselves tell.
//!
//! It tells agents apart and no more: what a record means is `record`'s business. The first whole record of an agent
//! decides; it may share its line with damage. Where there is none, the bytes are searched for the same signs, which
//! tells the agent of a damaged session in its own place, but makes a session of nothing: rows of other programs are
//! JSON, too. Keys inside strings do not mislead the search: their quotes are escaped there.

use std::fmt;
use std::io;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::source::Source;
use crate::dialect::Dialect;

/// How much of a file is looked at before all of it is.
const SNIFFED: usize = 64 * 1024;

/// Enough for the first record of nearly every session.
const FIRST_LOOK: usize = 4 * 1024;

/// At how many places of a damaged line a whole record is looked for.
const TRIES: usize = 32;

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

    /// Whether a person who insists on that agent means such records.
    fn is_of(self, wanted: Option<Dialect>) -> bool {
        match (self.dialect(), wanted) {
            (Some(own), Some(wanted)) => own == wanted || (own.is_pi() && wanted.is_pi()),
            (None, Some(_)) => false,
            (_, None) => true,
        }
    }
}

/// What was seen in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// Whose it is.
    pub shape: Shape,
    /// Whether a whole record says so, not merely a sign in damaged bytes.
    pub by_record: bool,
    /// Whether most lines of its beginning are no JSON object: a text that quotes a record.
    pub prose: bool,
}

/// Looks at the first records of a file; signs in damaged bytes count as well.
///
/// # Errors
/// Whatever the system says.
pub fn sniff(source: &Source) -> io::Result<Shape> {
    Ok(head(source, None)?.shape)
}

/// Looks for a whole record: in the beginning of a file, and in the rest where the beginning does not show that other
/// programs write it, or where a person insists on an agent.
///
/// # Errors
/// Whatever the system says.
pub fn recognise(source: &Source, wanted: Option<Dialect>) -> io::Result<Seen> {
    let seen = head(source, wanted)?;
    let other_program = seen.shape == Shape::Foreign && wanted.is_none();
    if seen.by_record || other_program || source.size() <= SNIFFED as u64 {
        return Ok(seen);
    }
    let mut lines = source.lines();
    while let Some(line) = lines.next_line()? {
        if let Some(shape) = record_of(line.bytes.trim_ascii()).or_else(|| record_within(line.bytes))
            && shape.is_of(wanted)
        {
            return Ok(Seen { shape, by_record: true, ..seen });
        }
    }
    Ok(seen)
}

fn head(source: &Source, wanted: Option<Dialect>) -> io::Result<Seen> {
    let size = source.size();
    let head = source.read_range(0, FIRST_LOOK as u64)?;
    let whole = head.len() as u64 >= size;
    let first = seen(&head, whole, wanted);
    if whole || first.by_record {
        return Ok(first);
    }
    let head = source.read_range(0, SNIFFED as u64)?;
    let whole = head.len() as u64 >= size;
    Ok(seen(&head, whole, wanted))
}

fn seen(head: &[u8], whole: bool, wanted: Option<Dialect>) -> Seen {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let (mut record, mut sign, mut foreign) = (None, None, false);
    let (mut objects, mut others) = (0, 0);
    let mut rest = head;
    while !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest);
        let line = rest[..end.unwrap_or(rest.len())].trim_ascii();
        rest = end.map_or(&[][..], |at| &rest[at + 1..]);
        if line.is_empty() {
            continue;
        }
        let object = line.first() == Some(&b'{');
        objects += usize::from(object);
        others += usize::from(!object);
        if record.is_some() {
            continue;
        }
        // the last line may go on beyond what was read; then it does not parse and is searched only
        let complete = end.is_some() || whole;
        match Probe::of(line) {
            Some(probe) => {
                record = probe.shape().filter(|shape| shape.is_of(wanted));
                foreign = foreign || (record.is_none() && complete);
            }
            None => {
                record = complete.then(|| record_within(line)).flatten().filter(|shape| shape.is_of(wanted));
                sign = sign.or_else(|| sign_of(line));
            }
        }
    }
    let shape = match (record.or(sign), foreign) {
        (Some(shape), _) => shape,
        (None, true) => Shape::Foreign,
        (None, false) => Shape::Unknown,
    };
    Seen { shape, by_record: record.is_some(), prose: others > objects }
}

fn record_of(line: &[u8]) -> Option<Shape> {
    Probe::of(line)?.shape()
}

/// A whole record on a line that is none as a whole: behind NULs, behind a record that was cut, before another one.
fn record_within(line: &[u8]) -> Option<Shape> {
    memchr::memmem::find_iter(line, b"{\"").take(TRIES).find_map(|at| {
        let mut values = serde_json::Deserializer::from_slice(&line[at..]).into_iter::<Probe>();
        values.next()?.ok()?.shape()
    })
}

/// The members of a record, as far as they tell agents apart.
struct Probe(Vec<(String, Value)>);

enum Value {
    Text(String),
    /// An object, and whether it has a `role`.
    Object(bool),
    Other,
}

/// Claude Code's record types that need no other sign.
const CLAUDE_TYPES: [&str; 11] = [
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

/// Its record types with common names, which name their session.
const CLAUDE_SESSION_TYPES: [&str; 8] = [
    "agent-name",
    "agent-color",
    "agent-setting",
    "tag",
    "mode",
    "bridge-session",
    "content-replacement",
    "cost-state",
];

/// The types of pi's entries but for messages, those of OpenClaw among them.
const PI_TYPES: [&str; 12] = [
    "thinking_level_change",
    "model_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
    "usage",
    "context_edit",
    "leaf",
    "reset",
];

impl Probe {
    /// The members of a line that is one JSON object (serde would take an array for one).
    fn of(line: &[u8]) -> Option<Probe> {
        (line.first() == Some(&b'{')).then(|| serde_json::from_slice(line).ok())?
    }

    /// The value of a member. Of two with one name JavaScript takes the last.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn shape(&self) -> Option<Shape> {
        let kind = self.text("type").unwrap_or_default();
        let message = matches!(self.get("message"), Some(Value::Object(_)));
        if self.is_sidechain(kind) {
            Some(Shape::SidSidechain)
        } else if self.is_sid(kind, message) {
            Some(Shape::Session(Dialect::Sid))
        } else if self.is_claude(kind) {
            Some(Shape::Session(Dialect::Claude))
        } else if self.is_pi(kind) {
            Some(Shape::Session(Dialect::Pi))
        } else {
            let history = self.has("display") && (self.has("project") || self.has("pastedContents"));
            history.then_some(Shape::History)
        }
    }

    fn is_sidechain(&self, kind: &str) -> bool {
        match kind {
            "sidechain_start" | "sidechain_end" => true,
            "message" => self.has("role") && self.has("turn"),
            _ => false,
        }
    }

    fn is_sid(&self, kind: &str, message: bool) -> bool {
        match kind {
            "session_start" => self.has("parentUuid") || self.has("schemaCompat") || self.has("version"),
            "user_message" | "assistant_message" | "tool_result" => message,
            "metadata" => self.has("key") && self.has("uuid"),
            "context_compact" | "session_end" => self.has("parentUuid"),
            _ => false,
        }
    }

    fn is_claude(&self, kind: &str) -> bool {
        let speaks = matches!(self.get("message"), Some(Value::Object(true)));
        match kind {
            "" => false,
            "user" | "assistant" | "system" | "attachment" | "progress" => {
                self.has("parentUuid") || (self.text("uuid").is_some() && (speaks || self.has("sessionId")))
            }
            "summary" => self.has("leafUuid"),
            _ if CLAUDE_TYPES.contains(&kind) => true,
            _ if CLAUDE_SESSION_TYPES.contains(&kind) => self.has("sessionId"),
            _ => self.has("parentUuid") && self.has("uuid"),
        }
    }

    fn is_pi(&self, kind: &str) -> bool {
        let placed = self.has("timestamp") || self.has("parentId");
        match kind {
            "session" => self.text("id").is_some() && (self.has("cwd") || self.has("version")),
            // version 1 has neither `id` nor `parentId`
            "message" => matches!(self.get("message"), Some(Value::Object(true))) && placed,
            _ if PI_TYPES.contains(&kind) => self.text("id").is_some() && self.has("parentId"),
            _ => false,
        }
    }
}

impl<'de> Deserialize<'de> for Probe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Probe;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Probe, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    // of most members it is enough that they are there, and nothing that they hold is wrong
                    let value = match name.as_str() {
                        "type" | "uuid" | "id" | "message" => map.next_value()?,
                        _ => map.next_value::<IgnoredAny>().map(|_| Value::Other)?,
                    };
                    members.push((name, value));
                }
                Ok(Probe(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Shallow;
        impl<'de> Visitor<'de> for Shallow {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any value")
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut role = false;
                while let Some((name, _)) = map.next_entry::<String, IgnoredAny>()? {
                    role = role || name == "role";
                }
                Ok(Value::Object(role))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::Other)
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Other)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
                Ok(Value::Other)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
                Ok(Value::Other)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
                Ok(Value::Other)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
                Ok(Value::Other)
            }
        }
        deserializer.deserialize_any(Shallow)
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
        assert_eq!(of("\u{feff}{\"type\":\"session\",\"id\":\"a\",\"cwd\":\"/\"}\n"), PI);
        assert_eq!(of("{\"type\":\"use\n{\"type\":\"session\",\"id\":\"a\",\"cwd\":\"/\"}\n"), PI);
        assert_eq!(of("{\"parentUuid\":null,\"type\":\"us"), CLAUDE);
        assert_eq!(of("{\"parentUuid\":null,\"type\":\"user_message\",\"mess"), SID);
        assert_eq!(of("{\"text\":\"\\\"parentUuid\\\":null"), Shape::Unknown);
        assert_eq!(of("{\"x\":1}\n{\"type\":\"session\",\"versi"), PI);
    }

    #[test]
    fn rows_of_other_programs_are_no_records() {
        for row in [
            r#"{"messages":[{"role":"user","content":"a"}]}"#,
            r#"{"role":"user","content":"a"}"#,
            r#"{"prompt":"a","completion":"b"}"#,
            r#"{"type":"click","id":3,"at":"2026-03-01"}"#,
            r#"{"type":"click","sessionId":"a"}"#,
            r#"{"type":"user","message":"a"}"#,
            r#"{"type":"user_message","message":"a"}"#,
            r#"{"type":"session","id":3,"user":"a"}"#,
            r#"{"type":"folder","id":"a","parentId":null}"#,
            r#"{"type":"message","user":"U1","text":"a"}"#,
        ] {
            assert_eq!(of(row), Shape::Foreign, "{row}");
        }
    }

    #[test]
    fn a_record_is_found_behind_damage_and_signs_make_none() {
        let seen = |text: &str| recognise(&Source::from_bytes(text), None).unwrap();
        let record = r#"{"parentUuid":null,"type":"user","uuid":"a","message":{"role":"user"}}"#;
        assert!(seen(&format!("\0\0{record}\n")).by_record);
        assert!(seen(&format!("{}{record}\n", &record[..30])).by_record);
        assert!(seen(&format!("{}\n{record}\n", "x".repeat(100_000))).by_record);
        assert!(!seen(&record[..40]).by_record);
        assert!(!seen("\n").by_record);
        assert!(seen(&format!("# notes\n\ntext\n{record}\n")).prose);
        let sid = recognise(&Source::from_bytes(record), Some(Dialect::Sid)).unwrap();
        assert!(!sid.by_record, "the person insists on another agent");
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
