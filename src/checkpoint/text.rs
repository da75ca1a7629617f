//! Contents decoded as the agent decodes them: strings, base64, gzip, and what becomes of bytes that are no UTF-8.
//!
//! Evidence: each rule was tried on Bun 1.4.5, the engine under sid-code 3f3215144f68. `Buffer.from(text, "base64")`
//! looks at the low byte of each UTF-16 unit, takes both alphabets, skips what is in neither and stops at `=`;
//! `Bun.gunzipSync` checks header, checksum and length, reads the first member only and passes over what follows it;
//! `toString("utf-8")` and writing a file put U+FFFD for what is no UTF-8 and for half a surrogate pair.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256};

use crate::record::json::decode;
use crate::text::lossy;

/// Why a text cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// A full copy of a file that was there, without a text. The agent takes it for the empty text.
    NoContent,
    /// The content is a value of another kind than a string.
    NoString,
    /// A text that is said to be compressed and does not begin as gzip.
    NotGzip,
    /// The compressed bytes break off.
    CutShort,
    /// The compressed bytes do not decode, or the checksum or the length behind them is another.
    Damaged,
    /// A text that is said to be plain and is gzip in base64. The agent writes the base64 into the file.
    Mislabelled,
    /// A difference whose operations have another shape than the agent can apply.
    NoOperations,
    /// The agent throws on its way: a snapshot on the path has no list of files.
    BrokenSnapshot,
    /// More than one entry may unpack: a limit of this program, not of the agent.
    EntryCap,
    /// More than one index may unpack: a limit of this program, not of the agent.
    IndexCap,
    /// The bytes could not be read again: the file changed meanwhile.
    Unread,
}

impl Fault {
    /// A few words, for a report.
    pub fn words(self) -> &'static str {
        match self {
            Fault::NoContent => "no content",
            Fault::NoString => "content is no string",
            Fault::NotGzip => "flagged as compressed, and no gzip",
            Fault::CutShort => "gzip cut short",
            Fault::Damaged => "gzip damaged",
            Fault::Mislabelled => "flagged as plain, and gzip in base64",
            Fault::NoOperations => "difference of no shape that applies",
            Fault::BrokenSnapshot => "a snapshot on the way has no list of files",
            Fault::EntryCap => "larger than one entry may unpack",
            Fault::IndexCap => "larger than one index may unpack",
            Fault::Unread => "could not be read again",
        }
    }

    /// Whether the agent throws when it comes to such a text.
    pub fn throws(self) -> bool {
        !self.is_ours() && !matches!(self, Fault::NoContent | Fault::Mislabelled)
    }

    /// Whether this program gives up where the agent would not.
    pub fn is_ours(self) -> bool {
        matches!(self, Fault::EntryCap | Fault::IndexCap | Fault::Unread)
    }
}

/// Size and hash of a rebuilt file, as the agent would write it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest {
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of those bytes.
    pub sha256: [u8; 32],
}

impl Digest {
    /// Of a text in WTF-8.
    pub(super) fn of(text: &[u8]) -> Digest {
        let bytes = as_written(text);
        Digest { bytes: bytes.len() as u64, sha256: Sha256::digest(&bytes).into() }
    }

    /// The hash in hex.
    pub fn hex(&self) -> String {
        crate::text::hex(&self.sha256)
    }
}

/// The bytes that the agent writes for a text in WTF-8: U+FFFD for half a surrogate pair.
pub(super) fn as_written(text: &[u8]) -> Cow<'_, [u8]> {
    match simdutf8::basic::from_utf8(text) {
        Ok(_) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(lossy(text).into_bytes()),
    }
}

/// The text of a JSON string in WTF-8, from its bytes between the quotes. Bytes that are no UTF-8 are replaced first,
/// as the agent's file reader does.
pub(super) fn js_string(raw: &[u8]) -> Cow<'_, [u8]> {
    let escaped = memchr::memchr(b'\\', raw).is_some();
    match simdutf8::basic::from_utf8(raw) {
        Ok(_) if !escaped => Cow::Borrowed(raw),
        Ok(_) => Cow::Owned(decode(raw)),
        Err(_) => Cow::Owned(decode(String::from_utf8_lossy(raw).as_bytes())),
    }
}

/// How many UTF-16 units a text in WTF-8 has.
pub(super) fn utf16_length(text: &[u8]) -> usize {
    // One for each byte that begins a character, one more for those of four bytes.
    text.iter().map(|b| usize::from(!(0x80..0xc0).contains(b)) + usize::from(*b >= 0xf0)).sum()
}

/// `Buffer.from(text, "base64")`.
pub(super) fn base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let mut held = 0_u32;
    let mut bits = 0;
    let mut take = |unit: u8| -> bool {
        let value = BASE64[usize::from(unit)];
        if value < 64 {
            held = held << 6 | u32::from(value);
            bits += 6;
            if bits >= 8 {
                bits -= 8;
                out.push((held >> bits) as u8);
            }
        }
        unit != b'='
    };
    if text.is_ascii() {
        let _ = text.iter().all(|b| take(*b));
    } else {
        let _ = lossy(text).encode_utf16().all(|unit| take(unit as u8));
    }
    out
}

const BASE64: [u8; 256] = {
    let mut table = [255; 256];
    let mut value = 0;
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    while value < 64 {
        table[alphabet[value] as usize] = value as u8;
        value += 1;
    }
    table[b'-' as usize] = 62;
    table[b'_' as usize] = 63;
    table
};

/// Whether a text is base64 and nothing else, so that it can only be that: no skipped character, padded to four.
fn is_strict_base64(text: &[u8]) -> bool {
    let padding = text.iter().rev().take_while(|b| **b == b'=').count();
    let body = text.len() - padding.min(text.len());
    padding <= 2
        && text.len().is_multiple_of(4)
        && text
            .get(..body)
            .is_some_and(|body| body.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/')))
}

/// Unpacks gzip into a text, up to `cap` bytes.
pub(super) fn gunzip(packed: &[u8], cap: u64) -> Result<Vec<u8>, Fault> {
    if packed.first_chunk::<2>().is_some_and(|magic| magic != b"\x1f\x8b") {
        return Err(Fault::NotGzip);
    }
    let mut out = Vec::new();
    match GzDecoder::new(packed).take(cap.saturating_add(1)).read_to_end(&mut out) {
        Ok(_) if packed.len() < 18 => Err(Fault::CutShort),
        Ok(_) if out.len() as u64 > cap => Err(Fault::EntryCap),
        Ok(_) => Ok(match String::from_utf8_lossy(&out) {
            Cow::Borrowed(_) => out,
            Cow::Owned(text) => text.into_bytes(),
        }),
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => Err(Fault::CutShort),
        Err(_) => Err(Fault::Damaged),
    }
}

/// The text inside, when a text that is said to be plain can only be what the agent makes of a large one: strict base64
/// of one whole gzip member with nothing behind it, of more than 1024 UTF-16 units (the agent packs no smaller one).
pub(super) fn hidden_gzip(text: &[u8], cap: u64) -> Option<Vec<u8>> {
    if !text.starts_with(b"H4sI") || !is_strict_base64(text) {
        return None;
    }
    let inner = gunzip(&base64(text), cap).ok()?;
    (utf16_length(&inner) > PLAIN_UNITS).then_some(inner)
}

/// Texts up to this length, in UTF-16 units, are stored as they are.
pub(super) const PLAIN_UNITS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(text).unwrap();
        gz.finish().unwrap()
    }

    #[test]
    fn base64_is_read_as_the_agent_reads_it() {
        let cases: [(&str, &[u8]); 14] = [
            ("YWJjZA==", b"abcd"),
            ("YWJjZA", b"abcd"),
            ("YWJjZ", b"abc"),
            ("YW*J j!\n", b"abc"),
            ("YWJj=ZGVm", b"abc"),
            ("YWJjZA==ZGVm", b"abcd"),
            ("=YWJj", b""),
            ("-_-_", b"\xfb\xff\xbf"),
            ("+/-_", b"\xfb\xff\xbf"),
            ("YWJj\u{e9}", b"abc"),
            ("YWJj\u{65e5}\u{672c}ZGVm", b"abcdef"),
            // The low byte of U+013D is the padding, that of U+0159 is a letter.
            ("YWJj\u{13d}ZGVm", b"abc"),
            ("\u{159}WJj", b"abc"),
            ("Y", b""),
        ];
        for (text, bytes) in cases {
            assert_eq!(base64(text.as_bytes()), bytes, "{text}");
        }
    }

    #[test]
    fn gzip_is_read_as_the_agent_reads_it() {
        let text: Vec<u8> = (0..3000).flat_map(|i| format!("line {}\n", i * i).into_bytes()).collect();
        let good = packed(&text);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] ^= byte;
            bytes
        };
        assert_eq!(gunzip(&good, 1 << 20).as_deref(), Ok(&text[..]));
        // What follows the first member is passed over, another member too.
        assert_eq!(gunzip(&[&good[..], b"xx"].concat(), 1 << 20).as_deref(), Ok(&text[..]));
        assert_eq!(gunzip(&[&good[..], &good[..]].concat(), 1 << 20).as_deref(), Ok(&text[..]));
        assert_eq!(gunzip(&packed(b""), 10), Ok(Vec::new()));
        assert_eq!(gunzip(&packed(b"a\xff"), 10), Ok("a\u{fffd}".into()));
        for cut in [0, 1, 2, 9, 10, 12, good.len() - 8, good.len() - 1] {
            assert_eq!(gunzip(&good[..cut], 1 << 20), Err(Fault::CutShort), "{cut}");
        }
        assert_eq!(gunzip(b"plain text", 10), Err(Fault::NotGzip));
        let end = good.len();
        for bad in [with(end - 1, 1), with(end - 5, 1), with(2, 1), with(3, 0x80), with(end / 2, 0x55)] {
            assert_eq!(gunzip(&bad, 1 << 20), Err(Fault::Damaged));
        }
        assert_eq!(gunzip(&good, 100), Err(Fault::EntryCap));
        assert_eq!(gunzip(&good, text.len() as u64).map(|t| t.len()), Ok(text.len()));
    }

    #[test]
    fn a_text_is_measured_as_javascript_does() {
        assert_eq!(utf16_length("a\u{e9}\u{65e5}\u{1f600}".as_bytes()), 5);
        assert_eq!(utf16_length(b"a\xed\xa0\xbd"), 2);
        assert_eq!(Digest::of(b"a\xed\xa0\xbd").bytes, 4);
        assert_eq!(&*js_string(b"a\\u00e9\xff"), "a\u{e9}\u{fffd}".as_bytes());
    }
}
