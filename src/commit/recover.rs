//! What a crash left: each `planned` entry is finished or rolled back, by looking at which file has the name.
//!
//! The inode decides, and the bytes must agree: nothing is taken away because a manifest says so. The file that was to lose its name is recorded with its inode: if it still has the name, the
//! exchange did not happen (or was taken back) and the new file goes; if it has the kept name, the exchange happened and
//! is made durable and read back. Late lines of the kept file are counted and named here, not brought over: that needs
//! the caller's proof.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

use super::content::prefix;
use super::disk::{self, Folder};
use super::entry::{Entry, holds};
use super::journal::{self, KeptFile};
use super::liveness;
use super::manifest::{EntryId, Kept, KeptState, Manifest, State};
use super::target::{Site, nth_name, set_aside};

/// What became of an entry that a crash had left.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Run and number.
    pub id: EntryId,
    /// The session file.
    pub path: PathBuf,
    /// What was done.
    pub how: How,
    /// The file that lost its name, with what it holds beyond what is accounted for.
    pub kept: Option<KeptFile>,
}

/// How an interrupted repair ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum How {
    /// The repaired file had the name already; it was read back and recorded.
    Finished,
    /// The original had the name; the new file was taken away.
    RolledBack,
    /// It stays as it is, for this reason.
    Left(String),
}

/// Brings every entry in order. What cannot be is in the answer; nothing here stops a new run.
pub(super) fn all(runs: &Folder) -> Vec<Recovered> {
    let mut recovered = Vec::new();
    let mut entries = Vec::new();
    for id in journal::run_ids(runs).unwrap_or_default() {
        let (good, bad) = journal::entries_of(runs, &id);
        for (id, _) in bad {
            // Its manifest is the last file that an entry gets, and the session is only touched afterwards.
            if journal::only_begun(runs, &id) {
                journal::remove_entry(runs, &id);
            }
        }
        journal::drop_empty_run(runs, &id);
        entries.extend(good);
    }
    let named: HashSet<String> = entries.iter().flat_map(|e| &e.manifest.kept).map(|k| k.name.clone()).collect();
    for entry in &mut entries {
        remove_stray(entry, &named);
        if is_open(entry) {
            let how = one(entry).unwrap_or_else(|error| How::Left(error.to_string()));
            recovered.push(describe(entry, how));
        }
    }
    finish_undoing(runs, &entries);
    recovered
}

fn last(entry: &Entry) -> &Kept {
    &entry.manifest.kept[entry.manifest.kept.len() - 1]
}

/// Whether a crash left it: between the exchange and the reading back it is `applied`, without a note.
fn is_open(entry: &Entry) -> bool {
    let Manifest { state, note, .. } = &entry.manifest;
    *state == State::Planned || (*state == State::Applied && note.is_none()) || last(entry).state == KeptState::Planned
}

fn describe(entry: &Entry, how: How) -> Recovered {
    let kept = entry.kept_file(entry.manifest.kept.len() - 1).ok().flatten();
    Recovered { id: entry.id.clone(), path: entry.session(), how, kept }
}

/// Lines are brought over through a file that is recorded only once it is whole: one that is not recorded goes.
fn remove_stray(entry: &Entry, named: &HashSet<String>) {
    let kept = &entry.manifest.kept;
    let name = nth_name(&kept[0].name, kept.len());
    if !named.contains(&name)
        && let Ok(site) = Site::recorded(&entry.session())
        && let Ok(Some(stat)) = site.folder.stat(&name)
        && stat.kind == disk::Kind::Plain
        && liveness::openers(stat.dev, stat.ino).pids.is_empty()
    {
        let _ = site.folder.unlink(&name);
    }
}

fn one(entry: &mut Entry) -> io::Result<How> {
    let site = Site::recorded(&entry.session())?;
    let k = entry.manifest.kept.len() - 1;
    let (old, name) = (last(entry).ino, last(entry).name.clone());
    let named = site.stat()?;
    let kept = site.folder.stat(&name)?;
    let (mut held, mut original) = (false, false);
    if let Some(stat) = named.filter(|s| s.kind == disk::Kind::Plain) {
        let file = site.folder.open_file(&site.name)?;
        held = prefix(&file, last(entry).successor.len)? == last(entry).successor;
        // In a home that was copied every inode is another.
        let whole = prefix(&file, last(entry).bytes)?.sha256 == last(entry).sha256;
        original = whole && (stat.ino == old || (!held && stat.len == last(entry).bytes));
    }
    if original {
        return roll_back(entry, &site, k, named.map_or(old, |s| s.ino));
    }
    let aside = kept.is_some_and(|s| s.kind == disk::Kind::Plain)
        && (kept.is_some_and(|s| s.ino == old) || holds(&site.folder, &name, last(entry))?);
    if !held && !aside {
        entry.manifest.state = State::Undone;
        entry.manifest.note = Some("interrupted; neither the original nor the repaired file was found".to_owned());
        entry.exchanged(k, None);
        entry.save()?;
        return Ok(How::Left("neither the original nor the repaired file is there".to_owned()));
    }
    site.folder.sync()?;
    entry.exchanged(k, kept);
    if k == 0 {
        entry.manifest.state = if held { State::Verified } else { State::Applied };
        let note = if held { "finished after an interruption" } else { "interrupted, and changed since" };
        entry.manifest.note = Some(note.to_owned());
    }
    entry.save()?;
    Ok(How::Finished)
}

/// `old` is the inode of the original, which has the name.
fn roll_back(entry: &mut Entry, site: &Site, k: usize, old: u64) -> io::Result<How> {
    let name = last(entry).name.clone();
    let mut stays = false;
    for name in [set_aside(&name), name] {
        let Some(stat) = site.folder.stat(&name)? else { continue };
        if stat.ino == old {
            // The second name of an exchange made of links; the session has the first.
            if stat.links > 1 {
                site.folder.unlink(&name)?;
            }
        } else if stat.len > last(entry).successor.len || !liveness::openers(stat.dev, stat.ino).pids.is_empty() {
            // It had the name for a moment before the original was put back, and somebody used it.
            let successor = last(entry).successor;
            let kept = &mut entry.manifest.kept[k];
            (kept.ino, kept.bytes, kept.sha256) = (stat.ino, successor.len, successor.sha256);
            kept.state = KeptState::Kept;
            kept.takes.clear();
            stays = true;
        } else {
            site.folder.unlink(&name)?;
        }
    }
    site.folder.sync()?;
    if k == 0 {
        entry.manifest.state = State::Undone;
        entry.manifest.note = Some("rolled back after an interruption".to_owned());
        if !stays {
            entry.manifest.kept[0].state = KeptState::Gone;
        }
    } else if !stays {
        entry.manifest.kept.pop();
    }
    entry.save()?;
    Ok(How::RolledBack)
}

/// An undo that was interrupted between putting the original back and recording that in the entry which it undid.
fn finish_undoing(runs: &Folder, entries: &[Entry]) {
    let open: HashSet<&EntryId> = entries.iter().filter(|e| e.manifest.state != State::Undone).map(|e| &e.id).collect();
    for entry in entries.iter().filter(|e| matches!(e.manifest.state, State::Applied | State::Verified)) {
        if let Some(target) = entry.manifest.undoes.as_ref().filter(|id| open.contains(id)) {
            let _ = mark_undone(runs, target);
        }
    }
}

/// Records that an entry was taken back. If it was itself an undo, what it had undone holds again; that is recorded
/// first, so that a crash in between is seen by [`finish_undoing`].
pub(super) fn mark_undone(runs: &Folder, id: &EntryId) -> io::Result<()> {
    let Some(mut entry) = journal::entry(runs, id).filter(|e| e.manifest.state != State::Undone) else {
        return Ok(());
    };
    if let Some(mut target) = entry.manifest.undoes.as_ref().and_then(|target| journal::entry(runs, target)) {
        target.manifest.state = State::Verified;
        target.save()?;
    }
    entry.manifest.state = State::Undone;
    entry.save()
}
