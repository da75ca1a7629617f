//! What may go: kept files that nobody needs any more, and old entries of the journal.
//!
//! A kept file goes when it has been unchanged for a day, holds nothing that is not elsewhere, is open in no process,
//! and the original can be had without it. Of a session that is gone it is the last copy: it stays, until the user asks
//! for room 30 days later (what an agent or a person deleted for good must not stay for ever, and a file that was only
//! moved must not lose its original unasked). Where the system cannot say who has a file open (macOS), it goes only with
//! the user's word that the agents are closed. An entry goes when the old ones together are larger than the cap; never
//! one that is `planned`, the last one of its file, or one whose kept file still exists, since nobody else knows that. On
//! demand the entries of a deleted session go whole after 30 days, and originals that no entry knows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::content::{Sha, parent, prefix};
use super::disk::Stat;
use super::entry::Entry;
use super::journal::{self, KeptFile, Locked, Run};
use super::liveness;
use super::manifest::{EntryId, KeptState, State};
use super::refusal::Error;
use super::target::Site;
use super::undo::origin;

/// How long a kept file must have been left alone.
pub const QUIET: Duration = Duration::from_secs(24 * 60 * 60);

/// How old a run must be before it counts towards the cap.
pub const OLD: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The standing cap in bytes for runs older than [`OLD`].
pub const CAP: u64 = 500 * 1024 * 1024;

/// What a sweep did.
#[derive(Clone, Debug, Default)]
pub struct Swept {
    /// Kept files that went.
    pub removed: Vec<PathBuf>,
    /// Kept files that stay, with the reason.
    pub remaining: Vec<Remaining>,
    /// Originals that no entry knows and that stay, with the reason.
    pub strangers: Vec<(PathBuf, Stays)>,
    /// Bytes of the journal that went with deleted sessions.
    pub freed: u64,
}

/// A kept file that stays.
#[derive(Clone, Debug)]
pub struct Remaining {
    /// The entry that knows of it.
    pub id: EntryId,
    /// The session file that has its name.
    pub session: PathBuf,
    /// Where it is, and how many of its bytes are nowhere else.
    pub file: KeptFile,
    /// Why it stays.
    pub why: Stays,
}

/// Why a kept file stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stays {
    /// It was changed, or lost its name, less than a day ago.
    Young,
    /// It holds bytes that are nowhere else: a writer used it after the repair.
    HoldsMore,
    /// These processes have it open.
    Open(Vec<u32>),
    /// Who has it open cannot be asked on this system.
    Unknown,
    /// The session was rewritten since, or is gone: it is the last whole copy of the original.
    LastCopy,
    /// No entry of the journal knows it, and it is not 30 days old.
    Unclaimed,
    /// It could not be taken away, or looked at.
    Failed(String),
}

impl Locked {
    /// Takes kept files away that nobody needs any more, and names those that stay. `closed` is the user's word that no
    /// agent runs, for systems that cannot say who has a file open.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn sweep(&self, now: SystemTime, closed: bool) -> Result<Swept, Error> {
        self.sweep_and(&self.entries()?, now, closed, false)
    }

    /// As [`Locked::sweep`], and more goes of what is older than 30 days: whatever was kept of sessions that are not
    /// there any more, in the journal too, and originals in `folders`, and beside sessions of the journal, that no entry
    /// knows.
    ///
    /// # Errors
    /// As [`Locked::sweep`].
    pub fn sweep_deleted(&self, now: SystemTime, closed: bool, folders: &[PathBuf]) -> Result<Swept, Error> {
        let entries = self.entries()?;
        let strangers = self.journal().strangers(folders)?;
        let mut swept = self.sweep_and(&entries, now, closed, true)?;
        for entry in self.entries()?.iter().filter(|e| self.is_old(e, now) && is_gone(e)) {
            let kept = (0..entry.manifest.kept.len()).any(|k| !matches!(entry.find_kept(k), Ok(None)));
            if !kept && entry.manifest.state != State::Planned {
                swept.freed += journal::size(entry).unwrap_or(0);
                journal::remove_entry(&self.runs, &entry.id);
            }
        }
        for path in strangers.paths {
            if strangers.unsure {
                let why = "an entry of the journal that cannot be read may know it".to_owned();
                swept.strangers.push((path, Stays::Failed(why)));
                continue;
            }
            match take_away(&path, now, closed) {
                None => swept.removed.push(path),
                Some(why) => swept.strangers.push((path, why)),
            }
        }
        Ok(swept)
    }

    fn sweep_and(&self, all: &[Entry], now: SystemTime, closed: bool, deleted: bool) -> Result<Swept, Error> {
        let mut swept = Swept::default();
        let mut entries = self.entries()?;
        let mut claims: HashMap<PathBuf, u32> = HashMap::new();
        for entry in all {
            for kept in entry.manifest.kept.iter().filter(|k| k.state != KeptState::Gone) {
                *claims.entry(parent(&entry.session()).join(&kept.name)).or_default() += 1;
            }
        }
        for n in 0..entries.len() {
            for k in 0..entries[n].manifest.kept.len() {
                if entries[n].manifest.kept[k].state != KeptState::Kept {
                    continue;
                }
                let entry = &entries[n];
                let Ok(Some((folder, stat))) = entry.find_kept(k) else { continue };
                let path = folder.path().join(&entry.manifest.kept[k].name);
                let forgotten = deleted && older(&stat, OLD, now) && is_gone(entry);
                let stays = reason(entry, &entries, k, &stat, now, closed);
                let stays = stays.filter(|why| !(forgotten && *why == Stays::LastCopy));
                // Two entries that claim the same file: one of them is not what was written.
                let stays = stays.or_else(|| claims.get(&path).is_some_and(|n| *n > 1).then_some(Stays::LastCopy));
                let stays = stays.or_else(|| {
                    let gone = folder.unlink(&entry.manifest.kept[k].name).and_then(|()| folder.sync());
                    gone.err().map(|e| Stays::Failed(e.to_string()))
                });
                match stays {
                    Some(why) => {
                        let late = stat.len.saturating_sub(entry.manifest.kept[k].bytes);
                        let rewritten = matches!(entry.kept_file(k), Ok(Some(KeptFile { rewritten: true, .. })));
                        let file = KeptFile { path, late, rewritten };
                        swept.remaining.push(Remaining { id: entry.id.clone(), session: entry.session(), file, why });
                    }
                    None => {
                        swept.removed.push(path);
                        entries[n].manifest.kept[k].state = KeptState::Gone;
                        // Not recorded is not wrong: it is looked for where it is not, and that is no news.
                        let _ = entries[n].save();
                    }
                }
            }
        }
        Ok(swept)
    }

    /// Makes the journal smaller: of the runs older than 30 days, the oldest entries go until the rest is no larger than
    /// `cap` bytes. The bytes that were freed.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn prune(&self, cap: u64, now: SystemTime, current: Option<&Run<'_>>) -> Result<u64, Error> {
        let entries = self.entries()?;
        let old: Vec<(&Entry, u64)> = entries
            .iter()
            .filter(|e| current.is_none_or(|run| run.id() != e.id.run) && self.is_old(e, now))
            .map(|e| (e, journal::size(e).unwrap_or(0)))
            .collect();
        let mut total: u64 = old.iter().map(|(_, bytes)| bytes).sum();
        let mut freed = 0;
        for (entry, bytes) in old {
            if total <= cap {
                break;
            }
            if !is_needed(entry, &entries) {
                journal::remove_entry(&self.runs, &entry.id);
                total -= bytes;
                freed += bytes;
            }
        }
        Ok(freed)
    }

    fn is_old(&self, entry: &Entry, now: SystemTime) -> bool {
        let started = journal::read_run(&self.runs, &entry.id.run).and_then(|run| run.started.parse().ok());
        let started = started.map(|t: jiff::Timestamp| SystemTime::from(t));
        started.is_some_and(|t| now.duration_since(t).is_ok_and(|age| age > OLD))
    }
}

/// Takes an original away that no entry knows, or says why it stays.
fn take_away(path: &Path, now: SystemTime, closed: bool) -> Option<Stays> {
    let failed = |error: std::io::Error| Some(Stays::Failed(error.to_string()));
    let site = match Site::recorded(path) {
        Ok(site) => site,
        Err(error) => return failed(error),
    };
    let stat = match site.stat() {
        Ok(Some(stat)) => stat,
        Ok(None) => return None,
        Err(error) => return failed(error),
    };
    let openers = liveness::openers(stat.dev, stat.ino);
    if !openers.pids.is_empty() {
        Some(Stays::Open(openers.pids))
    } else if !older(&stat, OLD, now) {
        Some(Stays::Unclaimed)
    } else if !openers.known && !closed {
        Some(Stays::Unknown)
    } else {
        site.folder.unlink(&site.name).and_then(|()| site.folder.sync()).err().and_then(failed)
    }
}

fn is_needed(entry: &Entry, all: &[Entry]) -> bool {
    let manifest = &entry.manifest;
    manifest.state == State::Planned
        || manifest.kept.iter().any(|k| k.state == KeptState::Planned)
        || !all.iter().any(|e| e.id > entry.id && e.session() == entry.session())
        || (0..manifest.kept.len()).any(|k| !matches!(entry.find_kept(k), Ok(None)))
}

fn reason(entry: &Entry, all: &[Entry], k: usize, stat: &Stat, now: SystemTime, closed: bool) -> Option<Stays> {
    let kept = &entry.manifest.kept[k];
    if stat.len != kept.bytes {
        return Some(Stays::HoldsMore);
    }
    if !older(stat, QUIET, now) {
        return Some(Stays::Young);
    }
    let openers = liveness::openers(stat.dev, stat.ino);
    if !openers.pids.is_empty() {
        return Some(Stays::Open(openers.pids));
    }
    if !openers.known && !closed {
        return Some(Stays::Unknown);
    }
    match content(entry, k) {
        Ok(sha) if sha == kept.sha256 => {}
        Ok(_) => return Some(Stays::HoldsMore),
        Err(error) => return Some(Stays::Failed(error.to_string())),
    }
    // What was repaired must stay recoverable; what was undone is at its name.
    let needed = k == 0 && entry.manifest.state != State::Undone && origin(entry, all, false).is_none();
    needed.then_some(Stays::LastCopy)
}

/// Whether it was neither changed nor renamed for so long.
fn older(stat: &Stat, age: Duration, now: SystemTime) -> bool {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().saturating_sub(age);
    stat.mtime_ns.max(stat.ctime_ns) <= i128::try_from(since.as_nanos()).unwrap_or(0)
}

/// Whether nothing has the session's name any more.
fn is_gone(entry: &Entry) -> bool {
    match Site::recorded(&entry.session()) {
        Ok(site) => matches!(site.stat(), Ok(None)),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn content(entry: &Entry, k: usize) -> std::io::Result<Sha> {
    let kept = &entry.manifest.kept[k];
    let (folder, _) = entry.find_kept(k)?.ok_or(std::io::ErrorKind::NotFound)?;
    Ok(prefix(&folder.open_file(&kept.name)?, kept.bytes)?.sha256)
}
