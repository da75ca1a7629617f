//! One entry of the journal: the folder of one file of one run. Written and synced before the file changes, with the
//! way back proven; its manifest then follows what happens.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;

use super::content::{At, CHUNK, Content, Fingerprint, Into, Noting, Sha, prefix, read_through};
use super::disk::{self, Folder, Kind, Stat};
use super::journal::KeptFile;
use super::manifest::{Attribute, EntryId, Kept, KeptState, Manifest, Part, Quarantined, RecordedPath, State, VERSION};
use super::metadata::Dress;
use super::refusal::{Error, Refusal};
use super::reverse_patch::{self, Recorded};
use super::splice::{Edits, EditsOf, Spliced, copy_range};
use super::target::Old;
use crate::repair::plan::Fragment;

pub(super) const MANIFEST: &str = "manifest.json";
const REVERSE: &str = "reverse";
const CLONE: &str = "original";
const AUTOPSY: &str = "autopsy.json";

/// What the journal is told about a change, beside its bytes.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Told<'a> {
    pub(super) codes: &'a [String],
    pub(super) text: &'a str,
    pub(super) quarantine: &'a [Fragment],
    pub(super) autopsy: Option<&'a serde_json::Value>,
    pub(super) undoes: Option<&'a EntryId>,
}

/// An entry, by its folder.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: EntryId,
    pub(super) path: PathBuf,
    pub(super) manifest: Manifest,
    /// Where the session was, when the user has named another place for it.
    pub(super) from: Option<PathBuf>,
}

impl Entry {
    /// Writes a new entry, `planned`, into its empty folder. When it returns, all of it is on disk, and the way back has
    /// been walked: the repaired bytes with the reverse splices applied have the hash of the original.
    pub(super) fn write(
        id: EntryId,
        folder: &Folder,
        old: Old<'_>,
        expected: &Fingerprint,
        edits: &EditsOf<'_>,
        kept: String,
        told: Told<'_>,
    ) -> Result<Self, Error> {
        let trouble = |e| Error::io("write the journal in", folder.path().join(MANIFEST), e);
        let Old { site, file, stat } = old;
        let dress = Dress::of(file, stat).map_err(|e| Error::io("read the attributes of", site.path(), e))?;
        let reverse = write_reverse(folder, file, stat.len, &mut *edits().map_err(trouble)?).map_err(trouble)?;
        let (before, after) = prove(folder, old, expected, edits().map_err(trouble)?)?;
        let quarantine = write_quarantine(folder, file, stat.len, told.quarantine).map_err(trouble)?;
        let clone = share(folder, file).map_err(trouble)?;
        let autopsy = match told.autopsy {
            Some(value) => {
                let text = serde_json::to_vec_pretty(value).map_err(|e| trouble(e.into()))?;
                new_file(folder, AUTOPSY, |to| to.write_all(&text)).map_err(trouble)?;
                Some(AUTOPSY.to_owned())
            }
            None => None,
        };
        let original = Kept {
            name: kept,
            ino: stat.ino,
            state: KeptState::Planned,
            bytes: before.len,
            sha256: before.sha256,
            successor: after,
            takes: Vec::new(),
        };
        let manifest = Manifest {
            version: VERSION,
            path: RecordedPath::from(site.path().as_os_str()),
            state: State::Planned,
            note: None,
            codes: told.codes.to_vec(),
            text: told.text.to_owned(),
            before,
            stat,
            attributes: dress.attributes.iter().map(|(name, value)| Attribute::new(name, value)).collect(),
            after,
            reverse,
            clone,
            kept: vec![original],
            quarantine,
            autopsy,
            undoes: told.undoes.cloned(),
        };
        let entry = Entry { id, path: folder.path().to_owned(), manifest, from: None };
        entry.save().map_err(trouble)?;
        Ok(entry)
    }

    /// Reads an entry.
    ///
    /// # Errors
    /// In words: what is wrong with it.
    pub(super) fn read(id: EntryId, folder: &Folder) -> Result<Self, String> {
        let file = folder.open_file(MANIFEST).map_err(|e| format!("has no manifest: {e}"))?;
        let owner = |stat: io::Result<Stat>| stat.map(|s| s.uid).map_err(|e| format!("cannot be looked at: {e}"));
        let me = disk::effective_user();
        if owner(folder.stat_self())? != me || owner(disk::stat(&file))? != me {
            return Err("belongs to another user".to_owned());
        }
        let mut text = Vec::new();
        let read = file.take(64 * 1024 * 1024).read_to_end(&mut text);
        read.map_err(|e| format!("cannot be read: {e}"))?;
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| format!("cannot be understood: {e}"))?;
        if manifest.version > VERSION {
            return Err("was written by a newer sid-audit".to_owned());
        }
        if !manifest.names_are_ours() {
            return Err("has a manifest that was tampered with".to_owned());
        }
        Ok(Entry { id, path: folder.path().to_owned(), manifest, from: None })
    }

    /// Puts the manifest on disk in one step, over the one that was there.
    pub(super) fn save(&self) -> io::Result<()> {
        let text = serde_json::to_vec_pretty(&self.manifest)?;
        replace_file(&self.folder()?, MANIFEST, &text)
    }

    pub(super) fn folder(&self) -> io::Result<Folder> {
        Folder::open(&self.path)
    }

    /// The session file.
    pub(super) fn session(&self) -> PathBuf {
        self.manifest.path.to_path()
    }

    /// The way back.
    ///
    /// # Errors
    /// I/O errors; `InvalidData` when the file is not what was written.
    pub(super) fn way_back(&self) -> io::Result<Recorded> {
        let file = self.folder()?.open_file(&self.manifest.reverse.file)?;
        let content = prefix(&file, disk::stat(&file)?.len)?;
        if content.sha256 != self.manifest.reverse.sha256 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the reverse splices are damaged"));
        }
        Recorded::new(file)
    }

    /// Where the k-th kept file is: beside the session, or in this entry's folder once it was moved there. None when it
    /// is in neither place, or another file has its name. In a home that was copied it has another inode: then its bytes
    /// tell.
    pub(super) fn find_kept(&self, k: usize) -> io::Result<Option<(Folder, Stat)>> {
        let kept = &self.manifest.kept[k];
        let beside = super::content::parent(&self.session()).to_owned();
        for place in [beside, self.path.clone()] {
            let folder = match Folder::open(&place) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other?,
            };
            // The inode alone: device numbers may be others after a restart.
            if let Some(stat) = folder.stat(&kept.name)?
                && stat.kind == Kind::Plain
                && (stat.ino == kept.ino || holds(&folder, &kept.name, kept)?)
            {
                return Ok(Some((folder, stat)));
            }
        }
        Ok(None)
    }

    /// The k-th kept file as it is now, if it is there.
    pub(super) fn kept_file(&self, k: usize) -> io::Result<Option<KeptFile>> {
        let Some((folder, stat)) = self.find_kept(k)? else { return Ok(None) };
        let kept = &self.manifest.kept[k];
        let untouched = stat.len == kept.bytes && k == 0 && stat.mtime_ns == self.manifest.stat.mtime_ns;
        let rewritten = !untouched && !holds(&folder, &kept.name, kept)?;
        let late = stat.len.saturating_sub(kept.bytes);
        Ok(Some(KeptFile { path: folder.path().join(&kept.name), late, rewritten }))
    }

    /// Whether the original lies beside the session under a name of ours: what the journal says of it is then not the
    /// journal's word alone.
    pub(super) fn is_witnessed(&self) -> bool {
        let beside = super::content::parent(&self.session()).to_owned();
        let kept = &self.manifest.kept[0];
        kept.bytes >= self.manifest.before.len
            && Folder::open(&beside).is_ok_and(|folder| {
                let file = folder.open_file(&kept.name);
                let before = self.manifest.before;
                let same = |file: &File| prefix(file, before.len).is_ok_and(|c| c == before);
                file.is_ok_and(|f| disk::stat(&f).is_ok_and(|s| s.uid == disk::effective_user()) && same(&f))
            })
    }

    /// Records that the exchange of the k-th kept file is durable: late lines that came with it are accounted for. Its
    /// inode is taken from what has the kept name now, because a layered file system may have copied it up.
    pub(super) fn exchanged(&mut self, k: usize, now: Option<Stat>) {
        self.manifest.kept[k].state = KeptState::Kept;
        self.manifest.kept[k].ino = now.map_or(self.manifest.kept[k].ino, |s| s.ino);
        for take in std::mem::take(&mut self.manifest.kept[k].takes) {
            if let Some(from) = self.manifest.kept.get_mut(take.from) {
                (from.bytes, from.sha256) = (take.bytes, take.sha256);
            }
        }
    }
}

/// Whether the file of this name begins with the bytes of the kept file that are accounted for.
pub(super) fn holds(folder: &Folder, name: &str, kept: &Kept) -> io::Result<bool> {
    let file = folder.open_file(name)?;
    Ok(disk::stat(&file)?.len >= kept.bytes && prefix(&file, kept.bytes)?.sha256 == kept.sha256)
}

/// A new file of the journal, written and synced.
pub(super) fn new_file(
    folder: &Folder,
    name: &str,
    fill: impl FnOnce(&mut BufWriter<Into<'_>>) -> io::Result<()>,
) -> io::Result<File> {
    let file = folder.create(name)?;
    let mut to = BufWriter::with_capacity(CHUNK, Into(&file));
    fill(&mut to)?;
    to.flush()?;
    drop(to);
    disk::sync(&file)?;
    Ok(file)
}

/// A small file of the journal, new or over the one that was there, and the folder synced.
pub(super) fn replace_file(folder: &Folder, name: &str, bytes: &[u8]) -> io::Result<()> {
    let new = format!("{name}.new");
    if folder.stat(&new)?.is_some() {
        folder.unlink(&new)?;
    }
    let written = new_file(folder, &new, |to| to.write_all(bytes)).and_then(|_| folder.rename(&new, folder, name));
    if written.is_err() {
        let _ = folder.unlink(&new);
    }
    written?;
    folder.sync()
}

fn write_reverse(folder: &Folder, old: &File, size: u64, edits: &mut dyn Edits) -> io::Result<Part> {
    let file = new_file(folder, REVERSE, |to| reverse_patch::write(old, size, edits, to).map(drop))?;
    let bytes = disk::stat(&file)?.len;
    Ok(Part { file: REVERSE.to_owned(), sha256: prefix(&file, bytes)?.sha256, bytes })
}

/// One pass over the original: its content, that of the repaired bytes, and whether the way back leads home.
fn prove(
    folder: &Folder,
    old: Old<'_>,
    expected: &Fingerprint,
    edits: Box<dyn Edits + '_>,
) -> Result<(Content, Content), Error> {
    let Old { site, file, stat } = old;
    let trouble = |e: io::Error| Error::io("read", site.path(), e);
    let back = folder.open_file(REVERSE).and_then(Recorded::new).map_err(trouble)?;
    let original = Noting::new(At::new(file, stat.len));
    let repaired = Noting::new(Spliced::new(original, edits));
    let mut returned = Noting::new(Spliced::new(repaired, back));
    io::copy(&mut returned, &mut io::sink()).map_err(trouble)?;
    let (returned, spliced) = returned.finish();
    let (after, spliced) = spliced.into_old().finish();
    let (before, _) = spliced.into_old().finish();
    if before.sha256 != expected.sha256 || before.len != stat.len {
        Err(Refusal::Changed { path: site.path(), how: "its bytes are others" }.into())
    } else if before.sha256 == after.sha256 {
        Err(Error::NoChange { path: site.path() })
    } else if returned != before {
        Err(Error::NoWayBack { path: site.path() })
    } else {
        Ok((before, after))
    }
}

fn write_quarantine(folder: &Folder, old: &File, size: u64, fragments: &[Fragment]) -> io::Result<Vec<Quarantined>> {
    let mut out: Vec<Quarantined> = Vec::with_capacity(fragments.len());
    for fragment in fragments {
        let end = fragment.offset.checked_add(fragment.length).filter(|end| *end <= size);
        let end = end.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a fragment ends behind the file"))?;
        let sha256: Sha = read_through(At::range(old, fragment.offset, end), &mut io::sink())?.sha256;
        let file = format!("{}-{}.fragment", fragment.line, &sha256.to_string()[..8]);
        // The same bytes of the same line may be named by two findings.
        if !out.iter().any(|q| q.file == file) {
            new_file(folder, &file, |to| {
                copy_range(&mut |at, buf| disk::read_at(old, at, buf), fragment.offset, fragment.length, to)
            })?;
        }
        let Fragment { line, offset, length, rule } = *fragment;
        out.push(Quarantined { line, offset, length, sha256, code: rule.code.to_owned(), file });
    }
    Ok(out)
}

/// A copy of the original that costs nothing, where the file system can share blocks.
fn share(folder: &Folder, old: &File) -> io::Result<Option<String>> {
    if disk::stat(old)?.dev != folder.stat_self()?.dev {
        return Ok(None);
    }
    let copy = folder.create(CLONE)?;
    if disk::share_blocks(&copy, old)? {
        disk::sync(&copy)?;
        return Ok(Some(CLONE.to_owned()));
    }
    folder.unlink(CLONE)?;
    Ok(None)
}

/// Takes an entry's folder away, whatever is in it; nothing outside of it.
pub(super) fn remove(run: &Folder, name: &str) -> io::Result<()> {
    let folder = run.inside(name)?;
    // The manifest first: without it, the rest is what an interrupted start leaves and is taken away by the next one.
    let mut names = folder.names()?;
    names.sort_by_key(|n| n != MANIFEST);
    for name in names {
        folder.unlink(&name)?;
    }
    run.remove_folder(name)
}
