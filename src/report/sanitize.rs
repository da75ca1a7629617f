//! What came out of a session is untrusted when it is shown: control characters, escape sequences, bidirectional
//! overrides and characters without a width are made visible. Decided here once, for pages, JSON and messages alike.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a terminal or an editor might act on the character instead of showing it.
pub fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// The text with active characters written out: `\n`, `\t`, `\x1b`, `\u{202e}`. A backslash stays as it is: this is
/// for eyes, not for reading back.
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_active) else { return Cow::Borrowed(text) };
    let (plain, rest) = text.split_at(first);
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(plain);
    for c in rest.chars() {
        // Writing into a String cannot fail.
        let _ = match c {
            '\n' => shown.write_str("\\n"),
            '\r' => shown.write_str("\\r"),
            '\t' => shown.write_str("\\t"),
            c if c < '\u{80}' && c.is_control() => write!(shown, "\\x{:02x}", u32::from(c)),
            c if is_active(c) => write!(shown, "\\u{{{:x}}}", u32::from(c)),
            c => shown.write_char(c),
        };
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_written_out() {
        assert_eq!(visible("plain ü 漢 🦀"), "plain ü 漢 🦀");
        assert_eq!(visible("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
        assert_eq!(visible("a\u{202e}b\u{2028}c\u{9b}d\u{7f}"), "a\\u{202e}b\\u{2028}c\\u{9b}d\\x7f");
        assert_eq!(visible("one\ntwo\r\tx"), "one\\ntwo\\r\\tx");
    }
}
