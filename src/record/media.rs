//! Media as the API judges it: type, bytes and size, without decoding pixels. Base64 is checked in the pass, and only
//! the first bytes are decoded for the header.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::facts::DefectKind;

/// Largest image that the Anthropic API takes, in base64 bytes (claude-code-failures, row 61).
pub const LARGEST_IMAGE: usize = 5_242_880;
/// Longest side of an image in pixels (row 62).
pub const LONGEST_SIDE: u32 = 8000;

/// What an image or document block says of itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Media<'a> {
    /// Its label: `media_type`, `mimeType`, `mediaType`.
    pub label: Option<&'a [u8]>,
    /// Its base64 text.
    pub data: Option<&'a [u8]>,
    /// A document, else an image.
    pub document: bool,
}

/// What the API would object to.
pub fn judge(media: Media<'_>) -> Option<DefectKind> {
    let data = media.data?;
    let label = media.label.unwrap_or_default();
    if media.document {
        if label != b"application/pdf" {
            return None;
        }
        return if !alphabet(data) || !pdf(data) { Some(DefectKind::BrokenDocument) } else { None };
    }
    if !matches!(label, b"image/png" | b"image/jpeg" | b"image/gif" | b"image/webp") {
        return Some(DefectKind::UnsupportedMedia);
    }
    if !alphabet(data) {
        return Some(DefectKind::UndecodableMedia);
    }
    let head = decode_head(data, 64 * 1024);
    let Some((kind, sides)) = image(&head) else {
        return Some(DefectKind::UndecodableMedia);
    };
    if kind != label {
        return Some(DefectKind::MislabelledMedia);
    }
    let too_wide = sides.is_some_and(|(w, h)| w > LONGEST_SIDE || h > LONGEST_SIDE);
    (data.len() > LARGEST_IMAGE || too_wide).then_some(DefectKind::OversizedMedia)
}

/// The media type that an image's own first bytes tell.
pub fn detect(data: &[u8]) -> Option<&'static str> {
    let (kind, _) = image(&decode_head(data, 64 * 1024))?;
    std::str::from_utf8(kind).ok()
}

/// Whether the text is base64: its alphabet, padding only at the end, no lone last character.
fn alphabet(data: &[u8]) -> bool {
    let padding = data.iter().rev().take_while(|&&b| b == b'=').count();
    let body = &data[..data.len() - padding];
    let good = |b: &u8| b.is_ascii_alphanumeric() | (*b == b'+') | (*b == b'/');
    padding <= 2
        && body.len() % 4 != 1
        && !body.is_empty()
        && body.chunks(64).all(|c| c.iter().fold(true, |ok, b| ok & good(b)))
}

/// The bytes of the first `most` characters. Padding may be missing: the header tells the kind all the same.
fn decode_head(data: &[u8], most: usize) -> Vec<u8> {
    let head = &data[..data.len().min(most) / 4 * 4];
    lenient().decode(head).unwrap_or_default()
}

fn lenient() -> GeneralPurpose {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&base64::alphabet::STANDARD, config)
}

fn pdf(data: &[u8]) -> bool {
    let tail = &data[data.len().saturating_sub(2048) / 4 * 4..];
    let tail = lenient().decode(tail).unwrap_or_default();
    decode_head(data, 64).starts_with(b"%PDF") && memchr::memmem::find(&tail, b"%%EOF").is_some()
}

/// Width and height in pixels, where the header tells them.
type Sides = Option<(u32, u32)>;

/// Label and sides of an image, from its first bytes.
fn image(head: &[u8]) -> Option<(&'static [u8], Sides)> {
    let be16 = |at: usize| head.get(at..at + 2).map(|b| u32::from(b[0]) << 8 | u32::from(b[1]));
    let be32 = |at: usize| Some(be16(at)? << 16 | be16(at + 2)?);
    let le16 = |at: usize| head.get(at..at + 2).map(|b| u32::from(b[1]) << 8 | u32::from(b[0]));
    if head.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((b"image/png", be32(16).zip(be32(20))));
    }
    if head.starts_with(b"\xff\xd8\xff") {
        return Some((b"image/jpeg", jpeg_sides(head)));
    }
    if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        return Some((b"image/gif", le16(6).zip(le16(8))));
    }
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        let sides = match head.get(12..16) {
            Some(b"VP8 ") => le16(26).zip(le16(28)).map(|(w, h)| (w & 0x3fff, h & 0x3fff)),
            Some(b"VP8X") => {
                let le24 = |at: usize| Some(le16(at)? | u32::from(*head.get(at + 2)?) << 16);
                le24(24).zip(le24(27)).map(|(w, h)| (w + 1, h + 1))
            }
            _ => None,
        };
        return Some((b"image/webp", sides));
    }
    None
}

/// Walks the segments of a JPEG to its frame header.
fn jpeg_sides(head: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xff, marker, high, low] = *head.get(at..at + 4)?.first_chunk::<4>()? else { return None };
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [h1, h0, w1, w0] = *head.get(at + 5..at + 9)?.first_chunk::<4>()?;
            return Some((u32::from(w1) << 8 | u32::from(w0), u32::from(h1) << 8 | u32::from(h0)));
        }
        at += 2 + (usize::from(high) << 8 | usize::from(low));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32) -> String {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend_from_slice(&width.to_be_bytes());
        bytes.extend_from_slice(&9_u32.to_be_bytes());
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    fn judged(label: &str, data: &str) -> Option<DefectKind> {
        judge(Media { label: Some(label.as_bytes()), data: Some(data.as_bytes()), document: false })
    }

    #[test]
    fn images_are_judged_by_header_and_label() {
        assert_eq!(judged("image/png", &png(20)), None);
        assert_eq!(judged("image/jpeg", &png(20)), Some(DefectKind::MislabelledMedia));
        assert_eq!(judged("image/png", &png(8001)), Some(DefectKind::OversizedMedia));
        assert_eq!(judged("image/png", "aGVsbG8="), Some(DefectKind::UndecodableMedia));
        assert_eq!(judged("image/png", "not base64!"), Some(DefectKind::UndecodableMedia));
        assert_eq!(judged("image/svg+xml", &png(20)), Some(DefectKind::UnsupportedMedia));
    }
}
