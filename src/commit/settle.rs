//! The time after the exchange: writers that still had the old file finish, and what they wrote late is brought over.
//!
//! Late lines go the same way as a repair: a new file made of what has the name and the late lines behind it, the
//! caller's proof, exchange, read back. Appending to the file at the name would be shorter and is not done: a process
//! that ends half way, or a disk that is full, would leave part of a line in a file that an agent appends to, with no
//! way to take it back that could not cut off what the agent wrote meanwhile; and it would stand there before the rules
//! saw it. The file that loses its name to the merged one is kept and watched like the original, so that even a line
//! written in the moment of the second exchange is in a file that is named.
//!
//! Only whole lines are brought over, and only when the bytes that are accounted for end a line: what follows half a
//! line is the end of that line.

use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use super::content::{At, Content, Noting, Sha, prefix};
use super::disk::{self, Stat};
use super::entry::Entry;
use super::journal::KeptFile;
use super::manifest::{Kept, KeptState, State, Take};
use super::metadata::Dress;
use super::refusal::{Error, Refusal};
use super::replace::{Merged, Options, Outcome, Stage, Swapped, Unmerged, Verify, prove};
use super::swap;
use super::target::{Site, nth_name};

const REWRITTEN: &str = "it was rewritten in place";

/// A writer that never rests is not waited for longer than this many settle times.
const PATIENCE: u32 = 5;

/// Watches the old files of a run until they are quiet, brings late lines over, and says what became of each file.
/// What cannot be brought over is in the outcome; nothing here takes back a repair that was verified.
pub fn settle(swapped: Vec<(Swapped, &Verify<'_>)>, options: &Options) -> Vec<Outcome> {
    let mut watched: Vec<Watched<'_>> =
        swapped.into_iter().map(|(s, verify)| Watched::new(s, verify, options)).collect();
    loop {
        let now = Instant::now();
        let mut next: Option<Instant> = None;
        for one in watched.iter_mut().filter(|w| !w.done) {
            if one.quiet(options, now) {
                one.bring_over(options);
            }
            if !one.done {
                let at = one.changed + options.settle;
                next = Some(next.map_or(at, |n| n.min(at)));
            }
        }
        let Some(next) = next else { break };
        let step = (options.settle / 10).clamp(Duration::from_millis(1), Duration::from_millis(100));
        std::thread::sleep(next.saturating_duration_since(Instant::now()).min(step).max(Duration::from_micros(200)));
    }
    watched.into_iter().map(Watched::outcome).collect()
}

struct Watched<'a> {
    entry: Entry,
    verify: &'a Verify<'a>,
    warnings: Vec<String>,
    /// When the present wait began, and when a file was last seen to change.
    since: Instant,
    changed: Instant,
    seen: Vec<Option<(u64, i128)>>,
    rounds: u32,
    merged: Merged,
    why: Option<String>,
    done: bool,
}

/// Late lines of one kept file.
struct Late {
    k: usize,
    file: File,
    stat: Stat,
    /// From here on they are late, and up to here they are whole.
    from: u64,
    to: u64,
    /// Hash of everything up to `to`.
    sha256: Sha,
}

impl<'a> Watched<'a> {
    fn new(swapped: Swapped, verify: &'a Verify<'a>, options: &Options) -> Self {
        Watched {
            seen: Vec::new(),
            since: swapped.since,
            changed: swapped.since,
            rounds: options.rounds,
            entry: swapped.entry,
            verify,
            warnings: swapped.warnings,
            merged: Merged::default(),
            why: None,
            done: false,
        }
    }

    /// Whether the kept files were left alone for the settle time, or have used up our patience.
    fn quiet(&mut self, options: &Options, now: Instant) -> bool {
        let seen: Vec<_> = (0..self.entry.manifest.kept.len())
            .map(|k| self.entry.find_kept(k).ok().flatten().map(|(_, s)| (s.len, s.mtime_ns)))
            .collect();
        if !self.seen.is_empty() && seen != self.seen {
            self.changed = now;
        }
        self.seen = seen;
        now.duration_since(self.changed) >= options.settle
            || now.duration_since(self.since) >= options.settle * PATIENCE
    }

    fn bring_over(&mut self, options: &Options) {
        match self.try_bring_over() {
            Ok(false) => self.done = true,
            // Whoever wrote to the old file may have done so again while the lines were brought over.
            Ok(true) => {
                (self.since, self.changed) = (Instant::now(), Instant::now());
                self.seen.clear();
            }
            Err(why) if self.rounds > 1 && why.passes => {
                self.rounds -= 1;
                self.why = Some(why.text);
                (self.since, self.changed) = (Instant::now(), Instant::now() - options.settle / 2);
            }
            Err(why) => {
                self.why = Some(why.text);
                self.done = true;
            }
        }
    }

    /// One round: true when lines were brought over, false when there is nothing to bring or no round left.
    fn try_bring_over(&mut self) -> Result<bool, Why> {
        let site = Site::recorded(&self.entry.session())?;
        let mut late = Vec::new();
        for k in 0..self.entry.manifest.kept.len() {
            late.extend(late_lines(&self.entry, k)?);
        }
        late.retain(|l| l.to > l.from);
        if late.is_empty() {
            return Ok(false);
        }
        if self.rounds == 0 {
            return Err(Why::stays("its writer still writes to it"));
        }
        self.rounds -= 1;
        self.merge(&site, &late)?;
        self.why = None;
        Ok(true)
    }

    fn merge(&mut self, site: &Site, late: &[Late]) -> Result<(), Why> {
        let (file, stat) = site.open()?;
        let manifest = &self.entry.manifest;
        let last = match manifest.state {
            State::Undone => manifest.before,
            _ => manifest.kept.last().map(|k| k.successor).unwrap_or_default(),
        };
        if prefix(&file, last.len)? != last {
            return Err(Why::stays("the agent has rewritten the file at the name since"));
        }
        let whole = prefix(&file, stat.len)?;
        if whole.len > 0 && !whole.ends_in_lf {
            return Err(Why::passes("the last line of the file at the name is not finished"));
        }
        let grown = whole.len - last.len;
        let bytes = late.iter().map(|l| l.to - l.from).sum();
        let mut dress = Dress::of(&file, stat)?;
        dress.stat.mtime_ns = late.iter().map(|l| l.stat.mtime_ns).fold(stat.mtime_ns, i128::max);

        let k = self.entry.manifest.kept.len();
        let name = nth_name(&self.entry.manifest.kept[0].name, k);
        let mut lines = Lines::default();
        let parts = late.iter().map(|l| At::range(&l.file, l.from, l.to)).collect();
        let mut source = At::new(&file, stat.len).chain(Counted { parts, at: 0, lines: &mut lines });
        let stage = Stage::Late { late: bytes, grown };
        let verify = self.verify;
        let mut check = |path: &std::path::Path, content: Content| {
            if content.len != whole.len + bytes {
                return Err(Refusal::Changed { path: site.path(), how: "it became shorter" }.into());
            }
            prove(Some((verify, stage)), site, path, content)
        };
        let ready = swap::prepare(site, &name, &mut source, &dress, &mut self.warnings, &mut check)?;
        drop(source);

        let takes = late.iter().map(|l| Take { from: l.k, bytes: l.to, sha256: l.sha256 }).collect();
        self.entry.manifest.kept.push(Kept {
            name,
            ino: stat.ino,
            state: KeptState::Planned,
            bytes: whole.len,
            sha256: whole.sha256,
            successor: ready.content,
            takes,
        });
        let recorded = self.entry.save().map_err(Why::from);
        let same = recorded.and_then(|()| Ok(swap::unchanged(site, &file, &stat, &whole)?));
        if let Err(why) = same {
            swap::discard(site, &ready);
            self.entry.manifest.kept.pop();
            let _ = self.entry.save();
            return Err(why);
        }
        if let Err(fallen) = swap::take_the_name(site, &ready, &mut self.entry, k) {
            if !fallen.exchanged {
                self.entry.manifest.kept.pop();
                let _ = self.entry.save();
            }
            return Err(fallen.error.into());
        }
        self.merged.lines += lines.0;
        self.merged.bytes += bytes;
        self.merged.grown = self.merged.grown.max(grown);
        Ok(())
    }

    fn outcome(self) -> Outcome {
        let manifest = &self.entry.manifest;
        let mut unmerged = Vec::new();
        for k in 0..manifest.kept.len() {
            let path = || super::content::parent(&self.entry.session()).join(&manifest.kept[k].name);
            if manifest.kept[k].state != KeptState::Kept {
                continue;
            }
            match self.entry.kept_file(k) {
                Ok(None) => {}
                Ok(Some(file)) if file.rewritten => unmerged.push(Unmerged { file, why: REWRITTEN.to_owned() }),
                Ok(Some(file)) if file.late == 0 => {}
                Ok(Some(file)) => {
                    let why = self.why.clone().unwrap_or_else(|| "its last line is not finished".to_owned());
                    unmerged.push(Unmerged { file, why });
                }
                Err(error) => {
                    let file = KeptFile { path: path(), late: 0, rewritten: false };
                    unmerged.push(Unmerged { file, why: error.to_string() });
                }
            }
        }
        Outcome {
            path: self.entry.session(),
            kept: super::content::parent(&self.entry.session()).join(&manifest.kept[0].name),
            before: manifest.before,
            after: manifest.after,
            merged: (self.merged.bytes > 0).then_some(self.merged),
            unmerged,
            warnings: self.warnings,
            id: self.entry.id,
        }
    }
}

/// The whole lines that were written to a kept file since they were last accounted for. None when there is nothing new.
fn late_lines(entry: &Entry, k: usize) -> Result<Option<Late>, Why> {
    let kept = &entry.manifest.kept[k];
    if kept.state != KeptState::Kept {
        return Ok(None);
    }
    let Some((folder, _)) = entry.find_kept(k)? else { return Ok(None) };
    let file = folder.open_file(&kept.name)?;
    let stat = disk::stat(&file)?;
    if stat.len == kept.bytes && (k > 0 || stat.mtime_ns == entry.manifest.stat.mtime_ns) {
        return Ok(None);
    }
    let accounted = prefix(&file, kept.bytes)?;
    if accounted.sha256 != kept.sha256 {
        return Err(Why::stays(REWRITTEN));
    }
    if stat.len == kept.bytes {
        return Ok(None);
    }
    if accounted.len > 0 && !accounted.ends_in_lf {
        return Err(Why::stays("its late bytes continue a line that the repair found unfinished"));
    }
    let to = end_of_last_line(&file, kept.bytes, stat.len)?;
    let mut noting = Noting::new(At::new(&file, to));
    io::copy(&mut noting, &mut io::sink())?;
    let sha256 = noting.finish().0.sha256;
    Ok(Some(Late { k, from: kept.bytes, to, sha256, file, stat }))
}

/// One past the last line feed in `from..to`; `from` when there is none.
fn end_of_last_line(file: &File, from: u64, to: u64) -> io::Result<u64> {
    let mut buf = vec![0; 64 * 1024];
    let mut end = to;
    while end > from {
        let start = end.saturating_sub(buf.len() as u64).max(from);
        let want = usize::try_from(end - start).unwrap_or(0);
        let mut piece = Vec::with_capacity(want);
        super::splice::copy_range(&mut |at, b| disk::read_at(file, at, b), start, end - start, &mut piece)?;
        if let Some(at) = memchr::memrchr(b'\n', &piece) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    buf.clear();
    Ok(from)
}

#[derive(Default)]
struct Lines(u64);

/// Late stretches one behind the other, their lines counted.
struct Counted<'a> {
    parts: Vec<At<'a>>,
    at: usize,
    lines: &'a mut Lines,
}

impl Read for Counted<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(part) = self.parts.get_mut(self.at) {
            match part.read(buf)? {
                0 if !buf.is_empty() => self.at += 1,
                n => {
                    self.lines.0 += memchr::memchr_iter(b'\n', &buf[..n]).count() as u64;
                    return Ok(n);
                }
            }
        }
        Ok(0)
    }
}

/// Why late lines are not brought over, and whether waiting may help.
struct Why {
    text: String,
    passes: bool,
}

impl Why {
    fn stays(text: &str) -> Self {
        Why { text: text.to_owned(), passes: false }
    }
    fn passes(text: &str) -> Self {
        Why { text: text.to_owned(), passes: true }
    }
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Self {
        Why { text: error.to_string(), passes: false }
    }
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        let passes = matches!(error, Error::Refused(Refusal::Changed { .. }));
        Why { text: error.to_string(), passes }
    }
}
