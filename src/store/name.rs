//! The name of a session file. Nearly all are a UUID and an ending: those are kept as sixteen bytes and no allocation, so
//! that a store with a hundred thousand files costs little.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

use uuid::Uuid;

/// What the names that are kept short end with.
const ENDING: &str = ".jsonl";

/// A file's name in its folder.
#[derive(Clone, PartialEq, Eq)]
pub struct FileName(Shape);

#[derive(Clone, PartialEq, Eq)]
enum Shape {
    /// A UUID as its hyphenated lower-case text, and [`ENDING`].
    Session(Uuid),
    /// Any other name.
    Other(Box<OsStr>),
}

impl FileName {
    /// The name.
    pub fn os(&self) -> Cow<'_, OsStr> {
        match &self.0 {
            Shape::Session(id) => Cow::Owned(OsString::from(text(*id))),
            Shape::Other(name) => Cow::Borrowed(name),
        }
    }

    /// Its bytes.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.0 {
            Shape::Session(id) => Cow::Owned(text(*id).into_bytes()),
            Shape::Other(name) => Cow::Borrowed(name.as_encoded_bytes()),
        }
    }
}

fn text(id: Uuid) -> String {
    let mut text = String::with_capacity(36 + ENDING.len());
    text.push_str(id.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
    text.push_str(ENDING);
    text
}

impl From<&OsStr> for FileName {
    fn from(name: &OsStr) -> Self {
        let stem = name.to_str().and_then(|name| name.strip_suffix(ENDING)).filter(|stem| stem.len() == 36);
        let id = stem.and_then(|stem| Uuid::try_parse(stem).ok()).filter(|id| name.to_str() == Some(&text(*id)));
        FileName(id.map_or_else(|| Shape::Other(name.into()), Shape::Session))
    }
}

impl std::fmt::Debug for FileName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.os().fmt(f)
    }
}

impl PartialOrd for FileName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FileName {
    /// By their bytes.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (&self.0, &other.0) {
            // The text of a UUID sorts as its bytes do: both go from the first to the last, and digits before letters.
            (Shape::Session(a), Shape::Session(b)) => a.cmp(b),
            _ => self.bytes().cmp(&other.bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_were() {
        assert_eq!(size_of::<FileName>(), 24);
        let names = [
            "9d5d6b2e-3c55-4b8c-9a57-4c1a0e4c6f11.jsonl",
            "9D5d6b2e-3c55-4b8c-9a57-4c1a0e4c6f11.jsonl",
            "9d5d6b2e-3c55-4b8c-9a57-4c1a0e4c6f11.json",
            "9d5d6b2e3c554b8c9a574c1a0e4c6f11aaaa.jsonl",
            "{9d5d6b2e-3c55-4b8c-9a57-4c1a0e4c6f}.jsonl",
            "0-a.jsonl",
            "agent-1.jsonl",
            "",
        ];
        for name in names {
            let kept = FileName::from(OsStr::new(name));
            assert_eq!((&*kept.os(), &*kept.bytes()), (OsStr::new(name), name.as_bytes()));
        }
        let mut kept: Vec<FileName> = names.iter().map(|name| OsStr::new(name).into()).collect();
        kept.sort();
        let mut sorted = names;
        sorted.sort_unstable();
        assert!(kept.iter().map(FileName::os).eq(sorted.iter().map(|name| Cow::Borrowed(OsStr::new(*name)))));
    }
}
