//! Random numbers of our own: the same seed gives the same store on every machine and with every toolchain, which no
//! crate promises across its versions.

/// Words that look like a coding session without being anyone's.
const WORDS: &[&str] = &[
    "the", "quick", "agent", "reads", "files", "and", "edits", "code", "then", "runs", "tests", "for", "module",
    "parser", "with", "error", "handling", "in", "rust", "async", "callback", "buffer", "chain", "session", "record",
    "parent", "tail", "head", "index", "snapshot", "diff", "apply", "restore",
];

/// SplitMix64: 64 bits of state, every seed is good, four lines.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator of its own for this seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed ^ 0x5d1d_a0d1_7000_0001)
    }

    /// 64 random bits.
    pub fn u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n` (the bias of one in 2^64 / n does not matter here).
    pub fn below(&mut self, n: u64) -> u64 {
        self.u64() % n.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// From 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Log-normal with median 1 and sigma 1, as sizes of sessions are.
    pub fn log_normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        ((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()).exp()
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// Lower-case hex digits.
    pub fn hex(&mut self, digits: usize) -> String {
        (0..digits).map(|_| char::from_digit(self.below(16) as u32, 16).unwrap_or('0')).collect()
    }

    /// Letters and digits, as ids of messages and signatures have them.
    pub fn base62(&mut self, length: usize) -> String {
        const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        (0..length).map(|_| ALPHABET[self.below(62) as usize] as char).collect()
    }

    /// A UUID of version 4.
    pub fn uuid(&mut self) -> String {
        let (a, b) = (self.u64(), self.u64());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:x}{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            8 + ((b >> 60) & 3),
            (b >> 48) & 0xfff,
            b & 0xffff_ffff_ffff
        )
    }

    /// A word.
    pub fn word(&mut self) -> &'static str {
        let word: &&'static str = self.pick(WORDS);
        word
    }

    /// Some words.
    pub fn prose(&mut self, words: u64) -> String {
        let mut text = String::new();
        for n in 0..words {
            if n > 0 {
                text.push(' ');
            }
            text.push_str(self.word());
        }
        text
    }

    /// Some lines of code: quotes, tabs and line feeds, so that a third of the bytes of tool output needs escaping.
    pub fn code(&mut self, lines: u64) -> String {
        let line = |rng: &mut Rng| {
            let (name, call, text, number) = (rng.word(), rng.word(), rng.prose(3), rng.below(1000));
            format!("    let {name} = {call}(\"{text}\", {number});\t// {}", rng.prose(4))
        };
        (0..lines).map(|_| line(self)).collect::<Vec<_>>().join("\n")
    }
}
