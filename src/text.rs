//! Text that came out of a session: bytes that may hold what no strict reader accepts.
//!
//! JavaScript strings are UTF-16 and may hold half of a surrogate pair; paths may hold any byte. Both are kept as bytes
//! (a lone surrogate as the three bytes that WTF-8 gives it) and become U+FFFD only when they are shown.

use std::fmt;

/// Bytes of a string as JavaScript has it (WTF-8: UTF-8 in which a lone surrogate may stand), or of a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(Box<[u8]>);

impl Text {
    /// Takes the bytes as they are.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Text(bytes.into().into_boxed_slice())
    }

    /// The bytes as they are.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text with U+FFFD for whatever is not UTF-8: one for each lone surrogate, one for each other bad sequence.
    pub fn lossy(&self) -> String {
        lossy(&self.0)
    }

    /// The bytes in hex when they are not UTF-8, so that a report can carry them beside the lossy text.
    pub fn raw_hex(&self) -> Option<String> {
        std::str::from_utf8(&self.0).err().map(|_| hex(&self.0))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.lossy(), f)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::new(text.as_bytes())
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Text::new(bytes)
    }
}

/// The bytes as text, a lone surrogate (three bytes in WTF-8) counted as one bad character.
pub fn lossy(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(good) => {
                out.push_str(good);
                return out;
            }
            Err(bad) => {
                let (good, tail) = rest.split_at(bad.valid_up_to());
                out.push_str(&String::from_utf8_lossy(good));
                out.push('\u{fffd}');
                let skip = match tail {
                    [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..] => 3,
                    _ => bad.error_len().unwrap_or(tail.len()),
                };
                rest = tail.get(skip..).unwrap_or_default();
            }
        }
    }
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [DIGITS[usize::from(b >> 4)] as char, DIGITS[usize::from(b & 15)] as char]).collect()
}

/// `1 record`, `3 records`.
pub fn counted(count: impl TryInto<u64>, what: &str) -> String {
    match count.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogate_is_one_replacement_character() {
        let text = Text::new(b"a\xed\xa0\xbdb\xffc".to_vec());
        assert_eq!(text.lossy(), "a\u{fffd}b\u{fffd}c");
        assert_eq!(text.raw_hex().as_deref(), Some("61eda0bd62ff63"));
        assert_eq!(Text::from("plain").raw_hex(), None);
    }
}
