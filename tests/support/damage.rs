//! Damage as it happens to session files: bits that flip, ends that are cut off, blocks of NUL, lines that are lost, written
//! twice or in another order, two writers at once, resumes on an unfinished line. Each kind is a function from bytes to
//! bytes and random numbers of a fixed seed.

use super::random::Rng;

/// A kind of damage, and its name for the message of a failed test.
pub type Damage = (&'static str, fn(&[u8], &mut Rng) -> Vec<u8>);

/// Every kind there is.
pub const KINDS: &[Damage] = &[
    ("bit flips", bit_flips),
    ("cut off", cut_off),
    ("NUL block over bytes", nul_over),
    ("NUL block between bytes", nul_between),
    ("dropped lines", dropped),
    ("doubled lines", doubled),
    ("doubled at the end", doubled_at_the_end),
    ("swapped lines", swapped),
    ("two writers", two_writers),
    ("glued resume", glued_resume),
    ("spliced prefix", spliced_prefix),
    ("raw newline", raw_newline),
    ("joined lines", joined),
];

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
}

/// A place inside, never the end.
fn place(bytes: &[u8], rng: &mut Rng) -> usize {
    rng.below(bytes.len() as u64) as usize
}

fn bit_flips(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..rng.range(1, 4) {
        let at = place(&out, rng);
        out[at] ^= 1 << rng.below(8);
    }
    out
}

fn cut_off(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    bytes[..place(bytes, rng)].to_vec()
}

fn nul_over(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let at = place(&out, rng);
    let end = (at + rng.range(1, 600) as usize).min(out.len());
    out[at..end].fill(0);
    out
}

fn nul_between(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let at = place(&out, rng);
    let nuls = vec![0; rng.range(1, 600) as usize];
    out.splice(at..at, nuls);
    out
}

fn dropped(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut all = lines(bytes);
    for _ in 0..rng.range(1, 3) {
        if all.len() > 1 {
            all.remove(rng.below(all.len() as u64) as usize);
        }
    }
    all.concat()
}

fn doubled(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut all = lines(bytes);
    let at = rng.below(all.len() as u64) as usize;
    let copy = all[at].clone();
    let to = rng.range(at as u64, all.len() as u64) as usize;
    all.insert(to, copy);
    all.concat()
}

fn doubled_at_the_end(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let all = lines(bytes);
    let from = rng.below(all.len() as u64) as usize;
    [bytes, &all[from..].concat()].concat()
}

fn swapped(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut all = lines(bytes);
    let (a, b) = (rng.below(all.len() as u64) as usize, rng.below(all.len() as u64) as usize);
    all.swap(a, b);
    all.concat()
}

/// Two processes that resumed the same session: what both wrote, in turns.
fn two_writers(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let all = lines(bytes);
    let from = rng.range(1, all.len() as u64) as usize;
    let own: Vec<String> = all[from..].iter().filter_map(|line| id(&String::from_utf8_lossy(line))).collect();
    let mut out = all[..from].concat();
    for line in &all[from..] {
        out.extend_from_slice(line);
        // The other one's record: the same with ids of its own.
        if rng.chance(0.7) {
            let text = String::from_utf8_lossy(line).into_owned();
            out.extend_from_slice(own.iter().fold(text, |text, id| text.replace(id, &turned(id))).as_bytes());
        }
    }
    out
}

fn id(line: &str) -> Option<String> {
    let start = ["\"uuid\":\"", "\"id\":\""].into_iter().find_map(|key| Some(line.find(key)? + key.len()))?;
    Some(line[start..].split('"').next()?.to_owned()).filter(|id| id.len() >= 8)
}

/// Another id for each id.
fn turned(id: &str) -> String {
    id.chars().rev().collect()
}

/// The process was killed in the middle of a line, and the next one went on behind it.
fn glued_resume(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let all = lines(bytes);
    let at = rng.range(1, all.len() as u64 - 1) as usize;
    let line = &all[at];
    let cut = rng.below(line.len() as u64) as usize;
    [all[..at].concat(), line[..cut].to_vec(), all[at + 1..].concat()].concat()
}

/// The same line twice: begun, and then written whole behind the beginning.
fn spliced_prefix(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let all = lines(bytes);
    let at = rng.below(all.len() as u64) as usize;
    let cut = rng.below(all[at].len() as u64) as usize;
    [all[..at].concat(), all[at][..cut].to_vec(), all[at..].concat()].concat()
}

fn raw_newline(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let at = place(&out, rng);
    out.insert(at, b'\n');
    out
}

/// Line feeds that are not there.
fn joined(bytes: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..rng.range(1, 2) {
        let feeds: Vec<usize> = memchr::memchr_iter(b'\n', &out).collect();
        if feeds.len() > 1 {
            out.remove(*rng.pick(&feeds));
        }
    }
    out
}
