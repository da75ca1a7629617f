//! JSON as the agents' own parsers read it: JavaScript's `JSON.parse`, and Python's `json.loads` where the Claude SDK judges.
//!
//! serde_json refuses what JavaScript reads (half a surrogate pair, 1e999, nesting beyond 128), so a healthy line would
//! be called broken. This reader is iterative where input can nest, keeps no tree, and notes what strict readers would
//! object to. It works on valid UTF-8 (`line.rs` replaces what is not, as the loaders do).
//!
//! Longer than other files because a grammar is one thing; its laws are tested in it.

/// What the loader's parser allows beyond RFC 8259.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grammar {
    /// `NaN`, `Infinity` and `-Infinity` are numbers, and an integer of more than 4300 digits is refused (Python).
    pub python: bool,
}

/// Why and where a text is no JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bad {
    /// Byte at which the reader gave up.
    pub at: usize,
    /// What was wrong there.
    pub why: Why,
}

/// What was wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// The text ended inside a value.
    Ended,
    /// Another byte was due.
    Unexpected,
    /// A raw control character inside a string.
    Control,
    /// A backslash that starts no escape.
    Escape,
    /// A number of no legal form.
    Number,
}

/// The kind of a value, told by its first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `null`
    Null,
    /// `true`
    True,
    /// `false`
    False,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A string between its quotes: `start..end` excludes them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Str {
    /// First byte behind the opening quote.
    pub start: usize,
    /// The closing quote.
    pub end: usize,
    /// Whether a backslash stands in it.
    pub escaped: bool,
}

/// Half of a surrogate pair, written as an escape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Surrogate {
    /// The backslash of the escape; it is six bytes long.
    pub at: usize,
    /// A high half (`d800` to `dbff`), else a low one.
    pub high: bool,
}

/// What a line holds that JSON.parse reads and others object to. Reused from line to line.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// The first lone surrogates; at most [`KEPT`].
    pub surrogates: Vec<Surrogate>,
    /// How many there are.
    pub surrogate_count: u32,
    /// The second spelling of a repeated key: place and length without the quotes.
    pub duplicate_key: Option<(usize, usize)>,
    /// How many keys were repeated.
    pub duplicate_count: u32,
    /// The first number that JavaScript reads as another value: place and length.
    pub inexact: Option<(usize, usize)>,
    /// How many of those.
    pub inexact_count: u32,
    /// Deepest nesting: 1 for a flat object.
    pub depth: u32,
    /// Whether `NaN` or an infinity was read (Python grammar only).
    pub not_a_number: bool,
    /// Whether a carriage return stood between two tokens.
    pub carriage_return: bool,
    /// How often the text `"type":"tool_result"` stands in it.
    pub tool_results: u32,
    /// Whether a number is beyond what a double holds (strict readers refuse it).
    pub infinite: bool,
}

/// How many lone surrogates of one line are kept with their place.
pub const KEPT: usize = 8;

impl Notes {
    /// Forgets the line before.
    pub fn clear(&mut self) {
        self.surrogates.clear();
        *self = Notes { surrogates: std::mem::take(&mut self.surrogates), ..Notes::default() };
    }
}

/// What is reused from line to line: the notes, the container stack, the keys of open objects.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// What was noted about this text.
    pub notes: Notes,
    /// One bit for each open container that `skip` went into: 1 for an object.
    stack: Vec<u64>,
    /// Keys of the objects that are open, and where each of those objects begins among them.
    keys: Vec<Key>,
    frames: Vec<Frame>,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    start: u32,
    end: u32,
    hash: u32,
}

/// Keys of one object, by their place in the shared list.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    first: usize,
    seen: u128,
    again: bool,
}

/// Objects nested deeper than this are not searched for repeated keys: no fact stands there.
const KEYED_DEPTH: usize = 32;

/// Reads one text from front to back.
#[derive(Debug)]
pub struct Reader<'a, 's> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    grammar: Grammar,
    scratch: &'s mut Scratch,
}

type Read<T> = Result<T, Bad>;

impl<'a, 's> Reader<'a, 's> {
    /// A reader at the start of a text. The notes of the text before are forgotten.
    pub fn new(bytes: &'a [u8], grammar: Grammar, scratch: &'s mut Scratch) -> Self {
        scratch.notes.clear();
        scratch.keys.clear();
        scratch.frames.clear();
        Reader { bytes, at: 0, depth: 0, grammar, scratch }
    }

    /// A reader in the middle of a text.
    pub fn new_at(bytes: &'a [u8], at: usize, grammar: Grammar, scratch: &'s mut Scratch) -> Self {
        let mut reader = Reader::new(bytes, grammar, scratch);
        reader.at = at;
        reader
    }

    /// The next byte to read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The bytes of a string as they stand, escapes and all.
    pub fn raw(&self, s: Str) -> &'a [u8] {
        &self.bytes[s.start..s.end]
    }

    /// A stretch of the text.
    pub fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        &self.bytes[start..end]
    }

    #[inline]
    fn bad<T>(&self, why: Why) -> Read<T> {
        let why = if self.at >= self.bytes.len() { Why::Ended } else { why };
        Err(Bad { at: self.at.min(self.bytes.len()), why })
    }

    #[inline]
    fn white(&mut self) {
        while let Some(&(b' ' | b'\n' | b'\r' | b'\t')) = self.bytes.get(self.at) {
            self.scratch.notes.carriage_return |= self.bytes[self.at] == b'\r';
            self.at += 1;
        }
    }

    /// Skips white space and tells the kind of the value that begins there.
    ///
    /// # Errors
    /// When no value begins there.
    #[inline]
    pub fn peek(&mut self) -> Read<Kind> {
        self.white();
        match self.bytes.get(self.at) {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b'n') => Ok(Kind::Null),
            Some(b't') => Ok(Kind::True),
            Some(b'f') => Ok(Kind::False),
            Some(b'N' | b'I') if self.grammar.python => Ok(Kind::Number),
            _ => self.bad(Why::Unexpected),
        }
    }

    /// White space, then the end.
    ///
    /// # Errors
    /// When something else follows.
    pub fn end(&mut self) -> Read<()> {
        self.white();
        if self.at == self.bytes.len() { Ok(()) } else { Err(Bad { at: self.at, why: Why::Unexpected }) }
    }

    /// A string.
    ///
    /// # Errors
    /// When none begins here or it does not end.
    #[inline]
    pub fn string(&mut self) -> Read<Str> {
        self.white();
        if self.bytes.get(self.at) != Some(&b'"') {
            return self.bad(Why::Unexpected);
        }
        self.at += 1;
        let start = self.at;
        // Keys, ids, times: most strings end within a few words, and hold nothing special.
        for _ in 0..SHORT {
            let Some(sixteen) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<16>) else { break };
            let [head, tail] = [0, 8].map(|at| sixteen[at..].first_chunk::<8>().map_or(0, |w| special(word(w))));
            if head | tail == 0 {
                self.at += 16;
                continue;
            }
            // Chosen, not jumped to: how long the next string is cannot be guessed.
            let (hits, before) = if head == 0 { (tail, 8) } else { (head, 0) };
            self.at += before + (hits.trailing_zeros() / 8) as usize;
            if self.bytes[self.at] == b'"' {
                self.at += 1;
                return Ok(Str { start, end: self.at - 1, escaped: false });
            }
            break;
        }
        self.long_string(start)
    }

    /// The rest of a string from here on. Of 64 bytes it is first found out which are special, then those are looked at:
    /// in code and tool output an escape comes every fifteen to twenty bytes, and a search that begins anew behind each of
    /// them guesses wrong each time where the next one is. On such text this takes half the time.
    fn long_string(&mut self, start: usize) -> Read<Str> {
        let mut escaped = false;
        // Bytes before this one belong to an escape that was read.
        let mut read = self.at;
        let mut block = self.at;
        // One byte more, which the last of the 64 may escape.
        while let Some(bytes) = self.bytes.get(block..).and_then(<[u8]>::first_chunk::<65>) {
            let mut hits = bytes.first_chunk().map_or(0, specials) & behind(read, block);
            while hits != 0 {
                let bit = hits.trailing_zeros() as usize;
                let at = block + bit;
                match bytes[bit] {
                    b'\\' => {
                        escaped = true;
                        if SIMPLE[usize::from(bytes[bit + 1])] {
                            // The backslash and what it escapes: taken out together, because whether that is special
                            // itself is a guess that goes wrong as often as not.
                            hits &= !(3 << bit);
                            read = at + 2;
                        } else {
                            self.at = at;
                            self.escape()?;
                            read = self.at;
                            hits &= behind(read, block);
                        }
                    }
                    b'"' => {
                        self.at = at + 1;
                        return Ok(Str { start, end: at, escaped });
                    }
                    _ => {
                        self.at = at;
                        return self.bad(Why::Control);
                    }
                }
            }
            block += 64;
        }
        self.at = block.max(read);
        loop {
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Str { start, end: self.at - 1, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0x20..) => self.at += 1,
                Some(_) => return self.bad(Why::Control),
                None => return self.bad(Why::Ended),
            }
        }
    }

    /// An escape: the backslash and what belongs to it.
    fn escape(&mut self) -> Read<()> {
        match self.bytes.get(self.at + 1) {
            Some(b) if SIMPLE[usize::from(*b)] => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => self.unit(),
            Some(_) => Err(Bad { at: self.at, why: Why::Escape }),
            None => Err(Bad { at: self.at, why: Why::Ended }),
        }
    }

    /// An escaped UTF-16 unit, and the second half when it is the first of a pair.
    #[cold]
    fn unit(&mut self) -> Read<()> {
        let at = self.at;
        let unit = self.hex4(at)?;
        self.at = at + 6;
        match unit {
            0xd800..=0xdbff => {
                if self.bytes.get(self.at..self.at + 2) == Some(b"\\u") {
                    let next = self.hex4(self.at)?;
                    if (0xdc00..=0xdfff).contains(&next) {
                        self.at += 6;
                        return Ok(());
                    }
                }
                self.lone(at, true);
            }
            0xdc00..=0xdfff => self.lone(at, false),
            _ => {}
        }
        Ok(())
    }

    fn lone(&mut self, at: usize, high: bool) {
        let notes = &mut self.scratch.notes;
        notes.surrogate_count += 1;
        if notes.surrogates.len() < KEPT {
            notes.surrogates.push(Surrogate { at, high });
        }
    }

    fn hex4(&self, backslash: usize) -> Read<u32> {
        let mut unit = 0;
        for i in backslash + 2..backslash + 6 {
            let digit = match self.bytes.get(i) {
                Some(&b) => (b as char).to_digit(16),
                None => return Err(Bad { at: backslash, why: Why::Ended }),
            };
            match digit {
                Some(d) => unit = unit * 16 + d,
                None => return Err(Bad { at: backslash, why: Why::Escape }),
            }
        }
        Ok(unit)
    }

    /// A number: its first byte and the byte behind its last.
    ///
    /// # Errors
    /// When it has no legal form.
    pub fn number(&mut self) -> Read<(usize, usize)> {
        self.white();
        let start = self.at;
        if self.grammar.python && self.not_a_number() {
            return Ok((start, self.at));
        }
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        let first = self.at;
        let whole = self.digits();
        if whole == 0 || (whole > 1 && self.bytes[first] == b'0') {
            // `01`: the zero is the number, what follows is the surprise.
            self.at = if whole > 1 { first + 1 } else { self.at };
            return self.bad(Why::Number);
        }
        let mut real = false;
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            real = true;
            if self.digits() == 0 {
                return self.bad(Why::Number);
            }
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            real = true;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return self.bad(Why::Number);
            }
        }
        if self.grammar.python && !real && whole > 4300 {
            return Err(Bad { at: start, why: Why::Number });
        }
        if (real || whole > 15) && !exact(&self.bytes[start..self.at], real) {
            let infinite = infinite(&self.bytes[start..self.at]);
            let notes = &mut self.scratch.notes;
            notes.infinite |= infinite;
            notes.inexact_count += 1;
            notes.inexact.get_or_insert((start, self.at - start));
        }
        Ok((start, self.at))
    }

    fn not_a_number(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        for word in [&b"NaN"[..], b"Infinity", b"-Infinity"] {
            if rest.starts_with(word) {
                self.at += word.len();
                self.scratch.notes.not_a_number = true;
                return true;
            }
        }
        false
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.at - start
    }

    fn word(&mut self, word: &[u8]) -> Read<()> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        let same = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.at += same;
        self.bad(Why::Unexpected)
    }

    /// Reads an object: `field` is called behind each colon and must read exactly one value.
    ///
    /// # Errors
    /// When it is no object, or `field` fails.
    #[inline]
    pub fn object(&mut self, mut field: impl FnMut(&mut Self, Str) -> Read<()>) -> Read<()> {
        self.open(b'{')?;
        let mut frame = self.frame();
        self.white();
        if self.bytes.get(self.at) == Some(&b'}') {
            self.at += 1;
        } else {
            loop {
                let key = self.key(Some(&mut frame))?;
                field(self, key)?;
                self.white();
                match self.bytes.get(self.at) {
                    Some(b',') => self.at += 1,
                    Some(b'}') => {
                        self.at += 1;
                        break;
                    }
                    _ => return self.bad(Why::Unexpected),
                }
            }
        }
        self.close_frame(frame);
        self.depth -= 1;
        Ok(())
    }

    /// Reads an array: `item` is called before each element and must read exactly one value.
    ///
    /// # Errors
    /// When it is no array, or `item` fails.
    #[inline]
    pub fn array(&mut self, mut item: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.open(b'[')?;
        self.white();
        if self.bytes.get(self.at) == Some(&b']') {
            self.at += 1;
        } else {
            loop {
                item(self)?;
                self.white();
                match self.bytes.get(self.at) {
                    Some(b',') => self.at += 1,
                    Some(b']') => {
                        self.at += 1;
                        break;
                    }
                    _ => return self.bad(Why::Unexpected),
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn open(&mut self, byte: u8) -> Read<()> {
        self.white();
        if self.bytes.get(self.at) != Some(&byte) {
            return self.bad(Why::Unexpected);
        }
        self.at += 1;
        self.deeper();
        Ok(())
    }

    #[inline]
    fn deeper(&mut self) {
        self.depth += 1;
        let notes = &mut self.scratch.notes;
        notes.depth = notes.depth.max(self.depth);
    }

    #[inline]
    fn key(&mut self, frame: Option<&mut Frame>) -> Read<Str> {
        let key = self.string()?;
        if let Some(frame) = frame {
            let hash = key_hash(&self.bytes[key.start..key.end], key.escaped);
            let bit = 1_u128 << (hash & 127);
            frame.again |= frame.seen & bit != 0;
            frame.seen |= bit;
            if let (Ok(start), Ok(end)) = (u32::try_from(key.start), u32::try_from(key.end)) {
                self.scratch.keys.push(Key { start, end, hash });
            }
        }
        // Whatever stands between quotes that are not escaped is a token, so a text search finds exactly such members,
        // and those whose key ends in an escaped quote and the word.
        if key.end >= 5 && self.bytes[key.end - 5..key.end] == *b"\"type" && self.rest_is(b":\"tool_result\"") {
            self.scratch.notes.tool_results += 1;
        }
        self.white();
        if self.bytes.get(self.at) != Some(&b':') {
            return self.bad(Why::Unexpected);
        }
        self.at += 1;
        Ok(key)
    }

    #[inline]
    fn rest_is(&self, text: &[u8]) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text))
    }

    fn frame(&self) -> Frame {
        Frame { first: self.scratch.keys.len(), seen: 0, again: false }
    }

    #[inline]
    fn close_frame(&mut self, frame: Frame) {
        if frame.again {
            self.repeated(frame.first);
        }
        self.scratch.keys.truncate(frame.first);
    }

    /// Notes keys that stand twice in the object whose keys begin at `first` of the list.
    fn repeated(&mut self, first: usize) {
        let Scratch { notes, keys, .. } = &mut *self.scratch;
        let keys = &mut keys[first..];
        keys.sort_unstable_by_key(|k| (k.hash, k.start));
        for pair in keys.windows(2) {
            let [a, b] = pair else { continue };
            if a.hash == b.hash && same_key(self.bytes, *a, *b) {
                notes.duplicate_count += 1;
                notes.duplicate_key.get_or_insert((b.start as usize, (b.end - b.start) as usize));
            }
        }
    }

    /// Moves over one value of any depth, without recursion, checking every byte of it. Returns where it stands.
    ///
    /// # Errors
    /// When it is no value.
    pub fn skip(&mut self) -> Read<(usize, usize)> {
        self.white();
        let start = self.at;
        // Most values are scalars: no stack is touched for them.
        match self.bytes.get(self.at) {
            Some(b'"') => {
                self.string()?;
            }
            Some(b'{' | b'[') => self.skip_container()?,
            _ => self.scalar()?,
        }
        Ok((start, self.at))
    }

    fn scalar(&mut self) -> Read<()> {
        match self.peek()? {
            Kind::Null => self.word(b"null"),
            Kind::True => self.word(b"true"),
            Kind::False => self.word(b"false"),
            Kind::Number => self.number().map(drop),
            Kind::String => self.string().map(drop),
            Kind::Array | Kind::Object => self.bad(Why::Unexpected),
        }
    }

    fn skip_container(&mut self) -> Read<()> {
        let mut open = 0_usize;
        // Objects of the first levels have a frame on the shared stack, those below have none.
        let mut frame = Frame::default();
        'value: loop {
            // A value is due.
            self.white();
            match self.bytes.get(self.at) {
                Some(&byte @ (b'{' | b'[')) => {
                    let object = byte == b'{';
                    self.at += 1;
                    self.deeper();
                    self.set(open, object);
                    if open < KEYED_DEPTH {
                        self.scratch.frames.push(frame);
                        frame = self.frame();
                    }
                    open += 1;
                    self.white();
                    let closing = if object { b'}' } else { b']' };
                    if self.bytes.get(self.at) != Some(&closing) {
                        if object {
                            self.key((open <= KEYED_DEPTH).then_some(&mut frame))?;
                        }
                        continue 'value;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                _ => self.scalar()?,
            }
            // A value has ended: close what closes, or go on to the next one.
            loop {
                if open == 0 {
                    return Ok(());
                }
                self.white();
                let object = self.is_object(open - 1);
                match self.bytes.get(self.at) {
                    Some(b',') => {
                        self.at += 1;
                        if object {
                            self.key((open <= KEYED_DEPTH).then_some(&mut frame))?;
                        }
                        continue 'value;
                    }
                    Some(b'}') if object => {}
                    Some(b']') if !object => {}
                    _ => return self.bad(Why::Unexpected),
                }
                self.at += 1;
                open -= 1;
                self.depth -= 1;
                if open < KEYED_DEPTH {
                    self.close_frame(frame);
                    frame = self.scratch.frames.pop().unwrap_or_default();
                }
            }
        }
    }

    #[inline]
    fn set(&mut self, level: usize, object: bool) {
        let (word, bit) = (level / 64, 1_u64 << (level % 64));
        if word == self.scratch.stack.len() {
            self.scratch.stack.push(0);
        }
        if object {
            self.scratch.stack[word] |= bit;
        } else {
            self.scratch.stack[word] &= !bit;
        }
    }

    #[inline]
    fn is_object(&self, level: usize) -> bool {
        self.scratch.stack[level / 64] & (1_u64 << (level % 64)) != 0
    }
}

/// So many times sixteen bytes are looked at before a string counts as long.
const SHORT: usize = 3;
const ONES: u64 = u64::MAX / 255;

/// Which bytes behind a backslash make an escape of two bytes.
static SIMPLE: [bool; 256] = {
    let mut table = [false; 256];
    let simple = *b"\"\\/bfnrt";
    let mut n = 0;
    while n < simple.len() {
        table[simple[n] as usize] = true;
        n += 1;
    }
    table
};

#[inline]
fn word(bytes: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*bytes)
}

/// The high bit of each byte that is a quote, a backslash or a control character. Exact for every byte: nothing is
/// carried from one to the next.
#[inline]
fn special(word: u64) -> u64 {
    // A quote becomes the byte behind the control characters, so that one comparison finds both.
    let low = word ^ (ONES * 2);
    let slash = word ^ (ONES * u64::from(b'\\'));
    let not_low = (low & (ONES * 0x7f)) + ONES * (0x80 - 0x21);
    let not_slash = (slash & (ONES * 0x7f)) + ONES * 0x7f;
    !((not_low | low) & (not_slash | slash)) & (ONES << 7)
}

/// Which of 64 bytes are special, one bit each. The words are laid over one another, each shifted by its number, and the
/// square of eight by eight bits is turned once: that costs less than to gather the bits of each word.
#[inline]
fn specials(bytes: &[u8; 64]) -> u64 {
    let mut bits = 0;
    for (n, bytes) in bytes.as_chunks::<8>().0.iter().enumerate() {
        bits |= special(word(bytes)) >> (7 - n);
    }
    let turned = |x: u64, by: u32, mask: u64| {
        let swapped = (x ^ (x >> by)) & mask;
        x ^ swapped ^ (swapped << by)
    };
    let bits = turned(bits, 7, 0x00aa_00aa_00aa_00aa);
    let bits = turned(bits, 14, 0x0000_cccc_0000_cccc);
    turned(bits, 28, 0x0000_0000_f0f0_f0f0)
}

/// The bits of a block of 64 bytes that do not lie before this place.
#[inline]
fn behind(place: usize, block: usize) -> u64 {
    u32::try_from(place.saturating_sub(block)).ok().and_then(|n| u64::MAX.checked_shl(n)).unwrap_or(0)
}

/// Cheap and only a first sieve: equal keys have equal hashes, the bytes decide.
#[inline]
fn key_hash(raw: &[u8], escaped: bool) -> u32 {
    if escaped {
        return key_hash(&decode(raw), false);
    }
    let head =
        raw.first_chunk::<4>().map_or_else(|| u32::from(raw.first().copied().unwrap_or(0)), |c| u32::from_le_bytes(*c));
    let tail = raw.last_chunk::<4>().map_or(0, |c| u32::from_le_bytes(*c));
    let mixed = (head ^ tail.rotate_left(13) ^ (raw.len() as u32).wrapping_mul(0x85eb_ca6b)).wrapping_mul(0x9e37_79b1);
    mixed ^ (mixed >> 15)
}

fn same_key(bytes: &[u8], a: Key, b: Key) -> bool {
    let (a, b) = (&bytes[a.start as usize..a.end as usize], &bytes[b.start as usize..b.end as usize]);
    a == b || (a.contains(&b'\\') || b.contains(&b'\\')) && decode(a) == decode(b)
}

/// Whether the number overflows a double.
#[cold]
fn infinite(number: &[u8]) -> bool {
    std::str::from_utf8(number).ok().and_then(|n| n.parse::<f64>().ok()).is_some_and(f64::is_infinite)
}

/// Whether a double holds the number that is written: no overflow, no digit of an integer lost.
fn exact(number: &[u8], real: bool) -> bool {
    let Ok(text) = std::str::from_utf8(number) else { return true };
    let Ok(value) = text.parse::<f64>() else { return true };
    if real {
        return value.is_finite();
    }
    match text.trim_start_matches('-').parse::<u128>() {
        // 2^53 is where doubles stop telling neighbours apart.
        Ok(written) => written <= 1 << 53 || (value.abs() < 2f64.powi(127) && value.abs() as u128 == written),
        Err(_) => false,
    }
}

/// A string's text as JavaScript has it, in WTF-8: escapes resolved, a lone surrogate as three bytes.
pub fn decode(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut at = 0;
    while let Some(step) = memchr::memchr(b'\\', &raw[at..]) {
        out.extend_from_slice(&raw[at..at + step]);
        at += step;
        let simple = match raw.get(at + 1) {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'u') => {
                at = decode_unit(raw, at, &mut out);
                continue;
            }
            Some(&other) => other,
            None => {
                at = raw.len();
                break;
            }
        };
        out.push(simple);
        at += 2;
    }
    out.extend_from_slice(&raw[at.min(raw.len())..]);
    out
}

fn decode_unit(raw: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let unit = |at: usize| {
        let digits = raw.get(at + 2..at + 6)?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let Some(first) = unit(at) else {
        return raw.len();
    };
    if (0xd800..0xdc00).contains(&first)
        && raw.get(at + 6..at + 8) == Some(b"\\u")
        && let Some(second @ 0xdc00..0xe000) = unit(at + 6)
        && let Some(c) = char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
    {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        return at + 12;
    }
    match char::from_u32(first) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend_from_slice(&[
            0xe0 | (first >> 12) as u8,
            0x80 | (first >> 6 & 63) as u8,
            0x80 | (first & 63) as u8,
        ]),
    }
    at + 6
}

/// Checks one whole text and tells its kind.
///
/// # Errors
/// When the loader's parser would refuse it.
pub fn check(bytes: &[u8], grammar: Grammar, scratch: &mut Scratch) -> Result<Kind, Bad> {
    let mut reader = Reader::new(bytes, grammar, scratch);
    let kind = reader.peek()?;
    reader.skip()?;
    reader.end()?;
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same, byte by byte.
    fn slowly(text: &[u8]) -> Option<(usize, bool)> {
        let (mut at, mut escaped) = (1, false);
        loop {
            match text.get(at)? {
                b'"' => return Some((at, escaped)),
                b'\\' => {
                    escaped = true;
                    let hex =
                        |from: usize| text.get(from..from + 4).is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit));
                    match text.get(at + 1)? {
                        b'u' if hex(at + 2) => at += 6,
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                        _ => return None,
                    }
                }
                0..0x20 => return None,
                _ => at += 1,
            }
        }
    }

    fn read(text: &[u8]) -> Option<(usize, bool)> {
        let mut scratch = Scratch::default();
        Reader::new(text, Grammar::default(), &mut scratch).string().ok().map(|s| (s.end, s.escaped))
    }

    proptest! {
        #[test]
        fn strings_end_where_they_end(
            pieces in prop::collection::vec(prop_oneof![
                6 => "[a-z ]{0,40}",
                3 => prop::sample::select(vec!["\\n", "\\\"", "\\\\", "\\t", "\\u00e9", "\\ud83d\\ude00", "é", "漢", "\u{7f}", "\u{80}"])
                    .prop_map(str::to_owned),
                1 => prop::sample::select(vec!["\"", "\\", "\\x", "\\u12", "\t", "\u{1f}", "\n"]).prop_map(str::to_owned),
            ], 0..40),
        ) {
            let text = format!("\"{}\"", pieces.concat());
            prop_assert_eq!(read(text.as_bytes()), slowly(text.as_bytes()), "{}", text);
            prop_assert_eq!(read(&text.as_bytes()[..text.len() - 1]), slowly(&text.as_bytes()[..text.len() - 1]));
        }

        #[test]
        fn every_byte_is_told(bytes in prop::array::uniform32(any::<u8>()), more in prop::array::uniform32(any::<u8>())) {
            let all: [u8; 64] = [bytes, more].concat().try_into().unwrap();
            let want = (0..64).filter(|n| matches!(all[*n], b'"' | b'\\' | 0..0x20)).fold(0, |bits, n| bits | 1_u64 << n);
            prop_assert_eq!(specials(&all), want);
        }
    }
}
