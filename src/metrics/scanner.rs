//! A second way to read JSON: byte by byte, with a stack of brackets and nothing else. It reads what is too large to hold
//! (an index counted twice) and what is too deep to follow (every path of a store). It shares no code with the reader
//! (`record::json`), so that a mistake in one is not in the other; it is slower, and nothing is judged by it.
//!
//! It is handed a text in any number of pieces and says what it meets: brackets, keys, values. A text is one JSON value as
//! RFC 8259 has it, with any escape that JavaScript reads; that its bytes are UTF-8 is not asked.

/// What stands in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// `{`
    Object,
    /// `[`
    Array,
    /// The bracket that closes the last one that is open.
    Close,
    /// A key as it is spelled between its quotes.
    Key(&'a [u8]),
    /// A string as it is spelled between its quotes.
    String(&'a [u8]),
    /// A number as it is spelled.
    Number(&'a [u8]),
    /// `true` or `false`.
    Truth(bool),
    /// `null`
    Null,
}

/// What is due next, outside of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Due {
    Value,
    /// A value, or the end of the array that has just begun.
    FirstElement,
    Key,
    /// A key, or the end of the object that has just begun.
    FirstKey,
    Colon,
    /// A comma, or the end of what is open.
    Next,
    /// Nothing but white space.
    End,
}

/// Where in a token the text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum In {
    Nothing,
    Text,
    Backslash,
    /// So many hex digits of an escape are to come.
    Hex(u8),
    Number(Digits),
    /// So many bytes of the word at this place in [`WORDS`] were met.
    Word(usize, usize),
}

/// Where in a number the text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Digits {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl Digits {
    /// Whether the number may end here.
    fn whole(self) -> bool {
        matches!(self, Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Power)
    }

    fn step(self, byte: u8) -> Option<Digits> {
        Some(match (self, byte) {
            (Digits::Minus, b'0') => Digits::Zero,
            (Digits::Minus, b'1'..=b'9') | (Digits::Whole, b'0'..=b'9') => Digits::Whole,
            (Digits::Zero | Digits::Whole, b'.') => Digits::Point,
            (Digits::Point | Digits::Fraction, b'0'..=b'9') => Digits::Fraction,
            (Digits::Zero | Digits::Whole | Digits::Fraction, b'e' | b'E') => Digits::Exponent,
            (Digits::Exponent, b'+' | b'-') => Digits::Sign,
            (Digits::Exponent | Digits::Sign | Digits::Power, b'0'..=b'9') => Digits::Power,
            _ => return None,
        })
    }
}

const WORDS: [&[u8]; 3] = [b"null", b"true", b"false"];

/// The text is no JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

/// Reads one text after the other.
#[derive(Debug)]
pub struct Scanner {
    due: Due,
    inside: In,
    /// One entry for each open bracket: whether it is an object's.
    open: Vec<bool>,
    /// The token so far: all of it that fits.
    token: Vec<u8>,
    /// How much of a token is kept; of longer ones the beginning.
    keep: usize,
    key: bool,
}

impl Scanner {
    /// A scanner that keeps so many bytes of a token.
    pub fn new(keep: usize) -> Self {
        Scanner { due: Due::Value, inside: In::Nothing, open: Vec::new(), token: Vec::new(), keep, key: false }
    }

    /// How many brackets are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Begins a new text.
    pub fn reset(&mut self) {
        (self.due, self.inside) = (Due::Value, In::Nothing);
        self.open.clear();
        self.token.clear();
    }

    /// Reads a piece. `on` is called with each event and the number of brackets that are open around it.
    ///
    /// # Errors
    /// When the text can no longer be JSON; the scanner must then be reset.
    pub fn feed(&mut self, piece: &[u8], on: &mut impl FnMut(usize, Event<'_>)) -> Result<(), Malformed> {
        let mut at = 0;
        while let Some(&byte) = piece.get(at) {
            match self.inside {
                In::Nothing => self.between(byte, on)?,
                In::Text => {
                    let rest = &piece[at..];
                    let plain = rest.iter().position(|b| matches!(b, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
                    self.keep(&rest[..plain]);
                    at += plain;
                    match piece.get(at) {
                        None => return Ok(()),
                        Some(b'"') => {
                            self.inside = In::Nothing;
                            self.end_text(on);
                        }
                        Some(b'\\') => {
                            self.keep(b"\\");
                            self.inside = In::Backslash;
                        }
                        Some(_) => return Err(Malformed),
                    }
                }
                In::Backslash => {
                    self.keep(&[byte]);
                    self.inside = match byte {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => In::Text,
                        b'u' => In::Hex(4),
                        _ => return Err(Malformed),
                    };
                }
                In::Hex(left) => {
                    if !byte.is_ascii_hexdigit() {
                        return Err(Malformed);
                    }
                    self.keep(&[byte]);
                    self.inside = if left == 1 { In::Text } else { In::Hex(left - 1) };
                }
                In::Number(digits) => match digits.step(byte) {
                    Some(next) => {
                        self.keep(&[byte]);
                        self.inside = In::Number(next);
                    }
                    None => {
                        self.end_number(digits, on)?;
                        continue;
                    }
                },
                In::Word(word, met) => {
                    if WORDS[word].get(met) != Some(&byte) {
                        return Err(Malformed);
                    }
                    self.inside = In::Word(word, met + 1);
                    if met + 1 == WORDS[word].len() {
                        self.inside = In::Nothing;
                        on(self.open.len(), if word == 0 { Event::Null } else { Event::Truth(word == 1) });
                        self.after_value();
                    }
                }
            }
            at += 1;
        }
        Ok(())
    }

    /// Ends the text.
    ///
    /// # Errors
    /// When it ends inside a value, or held none.
    pub fn finish(&mut self, on: &mut impl FnMut(usize, Event<'_>)) -> Result<(), Malformed> {
        if let In::Number(digits) = self.inside {
            self.end_number(digits, on)?;
        }
        if self.inside == In::Nothing && self.due == Due::End { Ok(()) } else { Err(Malformed) }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.keep.saturating_sub(self.token.len());
        self.token.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn between(&mut self, byte: u8, on: &mut impl FnMut(usize, Event<'_>)) -> Result<(), Malformed> {
        match (byte, self.due) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => {}
            (b'"', Due::Key | Due::FirstKey | Due::Value | Due::FirstElement) => {
                self.key = matches!(self.due, Due::Key | Due::FirstKey);
                self.token.clear();
                self.inside = In::Text;
            }
            (b':', Due::Colon) => self.due = Due::Value,
            (b',', Due::Next) => self.due = if self.open.last() == Some(&true) { Due::Key } else { Due::Value },
            (b'{', Due::Value | Due::FirstElement) => {
                on(self.open.len(), Event::Object);
                self.open.push(true);
                self.due = Due::FirstKey;
            }
            (b'[', Due::Value | Due::FirstElement) => {
                on(self.open.len(), Event::Array);
                self.open.push(false);
                self.due = Due::FirstElement;
            }
            (b'}', Due::FirstKey | Due::Next) | (b']', Due::FirstElement | Due::Next)
                if self.open.last() == Some(&(byte == b'}')) =>
            {
                self.open.pop();
                on(self.open.len(), Event::Close);
                self.after_value();
            }
            (b'-' | b'0'..=b'9', Due::Value | Due::FirstElement) => {
                self.token.clear();
                self.keep(&[byte]);
                self.inside = In::Number(match byte {
                    b'-' => Digits::Minus,
                    b'0' => Digits::Zero,
                    _ => Digits::Whole,
                });
            }
            (b'n' | b't' | b'f', Due::Value | Due::FirstElement) => {
                let word = WORDS.iter().position(|word| word[0] == byte).unwrap_or_default();
                self.inside = In::Word(word, 1);
            }
            _ => return Err(Malformed),
        }
        Ok(())
    }

    fn end_text(&mut self, on: &mut impl FnMut(usize, Event<'_>)) {
        if self.key {
            on(self.open.len(), Event::Key(&self.token));
            self.due = Due::Colon;
        } else {
            on(self.open.len(), Event::String(&self.token));
            self.after_value();
        }
    }

    fn end_number(&mut self, digits: Digits, on: &mut impl FnMut(usize, Event<'_>)) -> Result<(), Malformed> {
        self.inside = In::Nothing;
        if !digits.whole() {
            return Err(Malformed);
        }
        on(self.open.len(), Event::Number(&self.token));
        self.after_value();
        Ok(())
    }

    fn after_value(&mut self) {
        self.due = if self.open.is_empty() { Due::End } else { Due::Next };
    }
}

/// The text of a string as it is spelled, its escapes resolved; half of a surrogate pair becomes U+FFFD.
pub fn unescaped(spelled: &[u8]) -> String {
    let text = String::from_utf8_lossy(spelled);
    if !text.contains('\\') {
        return text.into_owned();
    }
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            continue;
        }
        units.push(match chars.next() {
            Some('n') => 10,
            Some('t') => 9,
            Some('r') => 13,
            Some('b') => 8,
            Some('f') => 12,
            Some('u') => {
                let hex: String = chars.by_ref().take(4).collect();
                u16::from_str_radix(&hex, 16).unwrap_or(0xfffd)
            }
            Some(other) => other as u16,
            None => 0xfffd,
        });
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scan(text: &[u8], cut: usize) -> Result<Vec<String>, Malformed> {
        let (mut scanner, mut events) = (Scanner::new(usize::MAX), Vec::new());
        let mut on = |depth: usize, event: Event<'_>| events.push(format!("{depth} {event:?}"));
        let (head, tail) = text.split_at(cut.min(text.len()));
        scanner.feed(head, &mut on)?;
        scanner.feed(tail, &mut on)?;
        scanner.finish(&mut on)?;
        Ok(events)
    }

    fn json() -> impl Strategy<Value = Vec<u8>> {
        let part = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"\\n\"",
            "\"\\ud83d\"",
            "\"\\u12\"",
            "1",
            "-0.5e+3",
            "01",
            "1.",
            "true",
            "nul",
            "null",
            " ",
            "false",
            "\"\\x\"",
            "-",
            "1e",
            "\u{1}",
            "\"\t\"",
            "é",
            "\"é\"",
        ]);
        let soup = prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat().into_bytes());
        let leaf = prop_oneof![Just("null".to_owned()), Just("1".to_owned()), Just("\"x\\\\\\\"\"".to_owned())];
        let tree = leaf.prop_recursive(5, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|v| format!("[{}]", v.join(" , "))),
                prop::collection::vec(inner, 0..4).prop_map(|v| format!(
                    "{{{}}}",
                    v.iter().map(|x| format!("\"k\":{x}")).collect::<Vec<_>>().join(",")
                )),
            ]
        });
        prop_oneof![soup, tree.prop_map(String::into_bytes)]
    }

    proptest! {
        #[test]
        fn it_takes_what_javascript_takes_whatever_the_pieces(text in json(), cut in any::<prop::sample::Index>()) {
            let mut scratch = crate::record::json::Scratch::default();
            let want = crate::record::json::check(&text, crate::record::json::Grammar::default(), &mut scratch).is_ok();
            let whole = scan(&text, 0);
            prop_assert_eq!(whole.is_ok(), want, "{}", String::from_utf8_lossy(&text));
            prop_assert_eq!(whole, scan(&text, cut.index(text.len() + 1)));
        }
    }

    #[test]
    fn events_know_their_depth() {
        let events = scan(br#"{"a":[1,{"b":null}],"c":"\u00e9"}"#, 5).unwrap();
        let want = [
            "0 Object",
            "1 Key([97])",
            "1 Array",
            "2 Number([49])",
            "2 Object",
            "3 Key([98])",
            "3 Null",
            "2 Close",
            "1 Close",
            "1 Key([99])",
        ];
        assert_eq!(events[..10], want);
        assert_eq!(unescaped(br"a\u00e9\n\ud83d\ude00\ud83d"), "aé\n😀\u{fffd}");
    }
}
