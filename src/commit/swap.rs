//! The moment itself: a new file is made and dressed beside the old one, and then the two change names.
//!
//! Every state in between leaves the name with the old bytes or the new ones, whole. The old file never loses its last
//! name: after the exchange it has the kept name. Where there is no exchange of names, the old file is linked to the
//! kept name first and the new one renamed over; the same function takes that back.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::content::{Content, Into, prefix, read_through};
use super::disk::{self, Stat};
use super::entry::{Entry, MANIFEST};
use super::manifest::{Kept, KeptState, State};
use super::metadata::Dress;
use super::refusal::{Error, Original, Refusal};
use super::target::{Site, set_aside};

/// A file that was written to so recently may have been written to again within the same tick of its clock.
const TICK: Duration = Duration::from_secs(2);

/// The new file: written, dressed, synced, under the kept name.
pub(super) struct Ready {
    pub(super) name: String,
    pub(super) stat: Stat,
    pub(super) content: Content,
}

/// Writes the new file beside the session and lets `prove` look at it. On an error nothing is left of it.
pub(super) fn prepare(
    site: &Site,
    name: &str,
    source: &mut dyn Read,
    dress: &Dress,
    warnings: &mut Vec<String>,
    prove: &mut dyn FnMut(&Path, Content) -> Result<(), Error>,
) -> Result<Ready, Error> {
    let path = site.beside(name);
    let file = site.folder.create(name).map_err(|e| Error::io("create", &path, e))?;
    let filled = fill(site, &file, &path, source, dress, warnings, prove);
    let ready = filled.map(|(stat, content)| Ready { name: name.to_owned(), stat, content });
    if ready.is_err() {
        // Nobody else was told of this name, so nobody has written to it.
        let _ = site.folder.unlink(name);
    }
    ready
}

fn fill(
    site: &Site,
    file: &File,
    path: &Path,
    source: &mut dyn Read,
    dress: &Dress,
    warnings: &mut Vec<String>,
    prove: &mut dyn FnMut(&Path, Content) -> Result<(), Error>,
) -> Result<(Stat, Content), Error> {
    let content = read_through(source, &mut Into(file)).map_err(|e| match e.kind() {
        io::ErrorKind::UnexpectedEof => {
            Refusal::Changed { path: site.path(), how: "it became shorter while it was read" }.into()
        }
        _ => Error::io("write", path, e),
    })?;
    prove(path, content)?;
    dress.put_on(file, path, warnings)?;
    disk::sync(file).map_err(|e| Error::io("sync", path, e))?;
    let stat = disk::stat(file).map_err(|e| Error::io("look at", path, e))?;
    Ok((stat, content))
}

/// Takes a new file away that never had the session's name.
pub(super) fn discard(site: &Site, ready: &Ready) {
    for name in [ready.name.clone(), set_aside(&ready.name)] {
        match site.folder.stat(&name) {
            Ok(Some(stat)) if stat.same_file(&ready.stat) => drop(site.folder.unlink(&name)),
            // A second name that an exchange made of links left on the session: one of two, so none is lost.
            Ok(Some(stat)) if stat.links > 1 && site.stat().is_ok_and(|s| s.is_some_and(|s| s.same_file(&stat))) => {
                drop(site.folder.unlink(&name));
            }
            _ => {}
        }
    }
}

/// Refuses when the file at the name is not in the state in which it was read. A file that was written to within the
/// last tick is hashed again, because a second write in that tick leaves no trace in its times.
pub(super) fn unchanged(site: &Site, file: &File, stat: &Stat, content: &Content) -> Result<(), Error> {
    let changed = |how| Err(Refusal::Changed { path: site.path(), how }.into());
    let trouble = |e| Error::io("look at", site.path(), e);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let age = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX) - stat.mtime_ns;
    if age < i128::try_from(TICK.as_nanos()).unwrap_or(0) && prefix(file, stat.len).map_err(trouble)? != *content {
        return changed("its bytes are others");
    }
    let named = site.stat().map_err(trouble)?;
    if !named.is_some_and(|s| s.same_file(stat)) {
        changed("another file has its name")
    } else if !disk::stat(file).map_err(trouble)?.same_state(stat) {
        changed("it was written to while the repair was prepared")
    } else {
        Ok(())
    }
}

/// A failure, and whether the names had been exchanged before it: then the kept file exists, and so must its entry.
pub(super) struct Fallen {
    pub(super) error: Error,
    pub(super) exchanged: bool,
}

impl From<Error> for Fallen {
    fn from(error: Error) -> Self {
        Fallen { error, exchanged: false }
    }
}

/// The name goes to the new file, and that is made durable, read back and recorded in the k-th kept file of the entry.
/// What fails before the exchange leaves nothing of the new file; what fails behind it puts the old file back.
pub(super) fn take_the_name(site: &Site, ready: &Ready, entry: &mut Entry, k: usize) -> Result<(), Fallen> {
    if let Err(error) = trade(site, &ready.name) {
        // A network file system may have done what it reports as failed.
        if site.stat().is_ok_and(|s| s.is_some_and(|s| s.same_file(&ready.stat))) {
            let error = put_back(site, ready, entry, k, ("exchange the names of", site.path(), error));
            return Err(Fallen { error, exchanged: true });
        }
        discard(site, ready);
        return Err(Fallen::from(if disk::not_supported(&error) {
            Refusal::Platform { folder: Some(site.folder.path().to_owned()) }.into()
        } else {
            Error::io("exchange the names of", site.path(), error)
        }));
    }
    settle_the_name(site, ready, entry, k).map_err(|trouble| {
        let error = put_back(site, ready, entry, k, trouble);
        Fallen { error, exchanged: true }
    })
}

/// What was being done, to what, and what the system says.
type Trouble = (&'static str, PathBuf, io::Error);

fn settle_the_name(site: &Site, ready: &Ready, entry: &mut Entry, k: usize) -> Result<(), Trouble> {
    let session = |doing| move |e| (doing, site.path(), e);
    site.folder.sync().map_err(session("sync the folder of"))?;
    let kept = site.folder.stat(&ready.name).map_err(session("look at"))?;
    if k == 0 {
        entry.manifest.state = State::Applied;
        entry.exchanged(k, kept);
        save(entry)?;
    }
    read_back(site, ready).map_err(session("read back"))?;
    if k == 0 {
        entry.manifest.state = State::Verified;
    } else {
        entry.exchanged(k, kept);
    }
    save(entry)
}

fn save(entry: &Entry) -> Result<(), Trouble> {
    entry.save().map_err(|e| ("write the journal in", entry.path.join(MANIFEST), e))
}

/// Reads what has the name now, from the disk where the system can be asked for that.
fn read_back(site: &Site, ready: &Ready) -> io::Result<()> {
    let file = site.folder.open_file(&site.name)?;
    let stat = disk::stat(&file)?;
    if !stat.same_file(&ready.stat) {
        return Err(io::Error::other("another program has put another file there"));
    }
    disk::forget_cached(&file);
    if prefix(&file, ready.content.len)? != ready.content {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it does not hold what was written"));
    }
    Ok(())
}

/// The names of the session and of the kept file change places.
fn trade(site: &Site, kept: &str) -> io::Result<()> {
    let (folder, kept_os) = (&site.folder, OsStr::new(kept));
    match folder.exchange(&site.name, kept_os) {
        Err(error) if disk::not_supported(&error) => {}
        other => return other,
    }
    let aside = set_aside(kept);
    folder.rename(kept, folder, &aside)?;
    // A file system without hard links says EPERM.
    folder
        .link(&site.name, kept_os)
        .map_err(|e| if disk::read_only(&e) { io::ErrorKind::Unsupported.into() } else { e })?;
    folder.rename(&aside, folder, &site.name)
}

/// The old file gets its name back because something failed behind the exchange. The repaired file had the name for a
/// moment: it stays as the kept file, since a writer may have found it there.
fn put_back(site: &Site, ready: &Ready, entry: &mut Entry, k: usize, (doing, path, source): Trouble) -> Error {
    let kept = site.beside(&ready.name);
    let ours = site.stat().is_ok_and(|s| s.is_some_and(|s| s.same_file(&ready.stat)));
    if !ours || trade(site, &ready.name).is_err() {
        return Error::Io { doing, path, source, original: Original::Beside { kept } };
    }
    let _ = site.folder.sync();
    entry.manifest.kept[k] = Kept {
        ino: ready.stat.ino,
        state: KeptState::Kept,
        bytes: ready.content.len,
        sha256: ready.content.sha256,
        takes: Vec::new(),
        ..entry.manifest.kept[k].clone()
    };
    if k == 0 {
        entry.manifest.state = State::Undone;
        entry.manifest.note = Some(format!("could not {doing} {path:?}: the original was put back"));
    }
    // If even this cannot be written, the entry is still `planned` and the next start sees what happened.
    let _ = entry.save();
    let late = site.folder.stat(&ready.name).is_ok_and(|s| s.is_none_or(|s| s.len != ready.content.len));
    if !late && (disk::no_room(&source) || disk::read_only(&source)) {
        return Error::io(doing, path, source);
    }
    Error::Io { doing, path, source, original: Original::Back { repaired: kept } }
}
