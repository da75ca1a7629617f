//! One line as the second method sees it: what kind of record it is and what is counted of it. serde_json cuts it into
//! members and elements, and each agent takes from them what its own loader reads.
//!
//! Every value is kept as it is spelled: serde_json's own numbers and texts know less than JavaScript's (no half of a
//! surrogate pair, no number beyond all others), and of a key that stands twice both are wanted.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What is counted of a record.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Seen {
    /// Whether it is an object; then its type, empty without one.
    pub type_name: Option<String>,
    /// The key of a metadata record.
    pub key: Option<String>,
    /// What stands in the user's place.
    pub sort: Sort,
    /// Tool results in it.
    pub results: u32,
    /// Calls in it, by id (empty: none).
    pub calls: Vec<String>,
    /// The calls that its results answer.
    pub answers: Vec<String>,
    /// What the response in it used.
    pub usage: Option<Used>,
    /// Whether it is an end mark.
    pub is_end: bool,
    /// Whether it is the model's.
    pub is_assistant: bool,
    /// The response of an assistant record, where rows of one response share a name.
    pub response: Option<String>,
    /// Running totals.
    pub stats: Option<Stats>,
    /// Whether it says that another process took the session up.
    pub is_trace: bool,
    /// Fields beside the message say how it was answered.
    pub answered: bool,
}

/// What stands in the user's place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Sort {
    /// Nothing: it is another record.
    #[default]
    None,
    /// What somebody typed.
    Prompt,
    /// Tool results.
    Results,
    /// Both.
    Mixed,
    /// Neither.
    NotTyped,
}

/// What a response used.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Used {
    /// The response's name in full.
    pub key: Option<String>,
    /// The model.
    pub model: String,
    /// Input, output, cache read, cache write.
    pub tokens: [Option<u64>; 4],
    /// In dollars.
    pub cost: Option<f64>,
    /// Whether the client made it up: no request.
    pub made_up: bool,
}

/// Running totals.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stats {
    /// The record's id.
    pub id: Option<String>,
    /// By model: requests, prompt, output, read, write, cost.
    pub models: Vec<(String, [Option<f64>; 6])>,
}

/// The text is no JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Malformed;

/// The value that a line is. Bytes that are not UTF-8 are U+FFFD in it.
pub(super) fn value(line: &str) -> Result<Json<'_>, Malformed> {
    serde_json::from_str(line).map_err(|_| Malformed)
}

/// A value as it is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Json<'a> {
    /// An object.
    Object(&'a str),
    /// An array.
    Array(&'a str),
    /// A string with its quotes.
    String(&'a str),
    /// A number.
    Number(&'a str),
    /// `true` or `false`.
    Truth(bool),
    /// `null`
    Null,
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(from)?.get();
        Ok(match text.as_bytes().first() {
            Some(b'{') => Json::Object(text),
            Some(b'[') => Json::Array(text),
            Some(b'"') => Json::String(text),
            Some(b'n') => Json::Null,
            Some(b't' | b'f') => Json::Truth(text == "true"),
            _ => Json::Number(text),
        })
    }
}

impl<'a> Json<'a> {
    /// The members of an object in their order, of a key that stands twice both; of anything else none.
    pub fn members(self) -> Vec<(String, Json<'a>)> {
        match self {
            Json::Object(text) => serde_json::from_str(text).map_or_else(|_| Vec::new(), |Members(members)| members),
            _ => Vec::new(),
        }
    }

    /// The elements of an array; of anything else none.
    pub fn elements(self) -> Vec<Json<'a>> {
        match self {
            Json::Array(text) => serde_json::from_str(text).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// Whether it is an object or an array.
    pub fn holds_more(self) -> bool {
        matches!(self, Json::Object(_) | Json::Array(_))
    }

    /// A string's text.
    pub fn text(self) -> Option<String> {
        match self {
            Json::String(text) => serde_json::from_str(text).ok().map(|Plain(text)| text),
            _ => None,
        }
    }

    /// A number.
    pub fn number(self) -> Option<f64> {
        match self {
            Json::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// As an id: a string, or a number or another scalar as it is spelled; none for null.
    pub fn id(self) -> Option<String> {
        match self {
            Json::String(_) => self.text().map(|text| format!("\"{text}")),
            Json::Number(text) => Some(text.to_owned()),
            Json::Truth(truth) => Some(truth.to_string()),
            _ => None,
        }
    }

    /// Whether a scalar is true to JavaScript and to Python.
    pub fn is_true(self) -> bool {
        match self {
            Json::Truth(truth) => truth,
            Json::String(text) => text.len() > 2,
            Json::Number(text) => text.bytes().take_while(|b| !b"eE".contains(b)).any(|b| (b'1'..=b'9').contains(&b)),
            _ => false,
        }
    }
}

struct Members<'a>(Vec<(String, Json<'a>)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Plain(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}

/// The text of a string; half of a surrogate pair, which serde_json hands over as three bytes, is U+FFFD.
struct Plain(String);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Plain;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Plain, E> {
                let mut text = String::with_capacity(bytes.len());
                for chunk in bytes.utf8_chunks() {
                    text.push_str(chunk.valid());
                    if chunk.invalid().starts_with(b"\xed") {
                        text.push('\u{fffd}');
                    }
                }
                Ok(Plain(text))
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serde_json_would_not_read_is_read_all_the_same() {
        let line = r#"{"a":1e999,"a":"\ud83dx\ud83d\ude00","\udc00":[1,{"b":null}],"c":-0.0}"#;
        let members = value(line).unwrap().members();
        let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["a", "a", "\u{fffd}", "c"]);
        assert_eq!(members[0].1.number(), Some(f64::INFINITY));
        assert_eq!(members[1].1.text().as_deref(), Some("\u{fffd}x\u{1f600}"));
        assert_eq!(members[2].1.elements(), [Json::Number("1"), Json::Object("{\"b\":null}")]);
        assert!(!members[3].1.is_true());
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(value(&deep).unwrap().members().len(), 1);
        for no_json in ["{\"a\tb\":1}", "{\"a\":01}", "{\"a\":\"\\x\"}", "{} {}", "\u{feff}{}", "{\"a\":NaN}", ""] {
            assert_eq!(value(no_json), Err(Malformed), "{no_json}");
        }
    }
}
