//! The journal: what was repaired, and everything that is needed to take it back.
//!
//! `$XDG_STATE_HOME/sid-audit` or `~/.local/state/sid-audit`, for this user alone (0700, 0600). `lock` is held by
//! whoever repairs, undoes or tidies, for any store: two repairs that do not know of each other are what it prevents.
//! `runs/<id>/` is a run: `manifest.json` and one folder for each file. Ids sort by time.
//!
//! What a crash left is brought in order whenever the lock is taken, so that nobody can forget it.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::disk::{self, Folder, Kind};
use super::entry::{self, Entry, MANIFEST};
use super::manifest::{self, EntryId, Manifest, RunManifest, State, VERSION};
use super::protect;
use super::recover::{self, Recovered};
use super::refusal::{Error, Refusal};
use super::replace::Swapped;
use super::target::random;
use crate::store::agent::Homes;

const RUNS: &str = "runs";
const LOCK: &str = "lock";

/// Where the journal is. Asking it changes nothing and makes no folder.
#[derive(Clone, Debug)]
pub struct Journal {
    root: PathBuf,
}

impl Journal {
    /// The journal in this state folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Journal { root: root.into() }
    }

    /// The journal of this user; none when neither `XDG_STATE_HOME` (absolute, as its specification wants it) nor a home
    /// folder is known. A `HOME` that is set and is no absolute path names none: it would be a folder of wherever one
    /// stands.
    pub fn of_user() -> Option<Self> {
        let given = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
        let state = given.or_else(usual_state)?;
        Some(Journal { root: state.join("sid-audit") })
    }

    /// The store in which the journal would lie: an agent's home, or one of these folders of sessions. A home directory
    /// with sessions in it still holds the usual place of the journal.
    pub fn inside<'p>(&self, folders: impl IntoIterator<Item = &'p Path>, agents: Homes) -> Option<PathBuf> {
        let real = protect::real(&self.root);
        let usual = usual_state().is_some_and(|state| real.starts_with(protect::real(&state)));
        let holds = |folder: &&Path| real.starts_with(protect::real(folder));
        protect::home_above(&real, agents)
            .or_else(|| folders.into_iter().find(holds).filter(|_| !usual).map(Path::to_owned))
    }

    /// The state folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn runs(&self) -> Result<Folder, Error> {
        let path = self.root.join(RUNS);
        Folder::open(&path).map_err(|e| Error::io("read the journal in", &path, e))
    }

    pub(super) fn has_runs(&self) -> bool {
        cfg!(unix) && self.root.join(RUNS).exists()
    }

    /// Every run, oldest first. An entry that cannot be read costs that entry and is named.
    ///
    /// # Errors
    /// When the folder of the runs cannot be read; that there is none is an empty list.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let path = self.root.join(RUNS);
        if !self.has_runs() {
            return Ok(Vec::new());
        }
        let runs = self.runs()?;
        let ids = run_ids(&runs).map_err(|e| Error::io("read the journal in", &path, e))?;
        Ok(ids.into_iter().map(|id| listed(&runs, id)).collect())
    }

    /// Takes the lock, makes the state folder where there is none, and brings in order what a crash left.
    ///
    /// # Errors
    /// [`Refusal::Busy`] when another process holds the lock, [`Refusal::Platform`] where repair does not apply,
    /// otherwise what the system says about the state folder.
    pub fn lock(&self) -> Result<Locked, Error> {
        if !cfg!(unix) {
            return Err(Refusal::Platform { folder: None }.into());
        }
        let trouble = |e| Error::io("open the journal in", self.root.join(LOCK), e);
        make_folders(&self.root).map_err(trouble)?;
        let root = Folder::open(&self.root).map_err(trouble)?;
        let stat = root.stat_self().map_err(trouble)?;
        if stat.uid != disk::effective_user() {
            return Err(trouble(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user")));
        }
        if stat.mode & 0o077 != 0 {
            root.set_mode(0o700).map_err(trouble)?;
        }
        let lock = root.open_or_create(LOCK).map_err(trouble)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Refusal::Busy { lock: self.root.join(LOCK) }.into()),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", self.root.join(LOCK), error)),
        }
        if root.stat(RUNS).map_err(trouble)?.is_none() {
            root.make_folder(RUNS).and_then(|()| root.sync()).map_err(trouble)?;
        }
        let runs = root.inside(RUNS).map_err(trouble)?;
        let recovered = recover::all(&runs);
        Ok(Locked { journal: self.clone(), runs, recovered, lock })
    }
}

/// Where programs keep their state when `XDG_STATE_HOME` does not say.
fn usual_state() -> Option<PathBuf> {
    let home = match std::env::var_os("HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir()?,
    };
    home.is_absolute().then(|| home.join(".local/state"))
}

/// `mkdir -p` for the state folder; what is new is for this user alone.
fn make_folders(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let parent = super::content::parent(path);
    make_folders(parent)?;
    let folder = Folder::open(parent)?;
    match folder.make_folder(&path.file_name().unwrap_or_default().to_string_lossy()) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.and_then(|()| folder.sync()),
    }
}

/// The journal with its lock held: until this is dropped, no other repair begins.
#[derive(Debug)]
pub struct Locked {
    journal: Journal,
    pub(super) runs: Folder,
    recovered: Vec<Recovered>,
    lock: File,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Said, not left to the closing of the descriptor: a child that was just forked has a copy of it.
        let _ = self.lock.unlock();
    }
}

impl Locked {
    /// What an earlier run left half done, and what became of it now. To be told to the user.
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
    }

    /// A repaired file whose kept file was written to after its run: for [`settle`](super::settle()), which brings the
    /// late lines over now, if the caller's proof agrees. Of one that was undone they go behind the original.
    ///
    /// # Errors
    /// When there is no such entry, or a crash left it.
    pub fn reopen(&self, id: &EntryId) -> Result<Swapped, Error> {
        let none = |why: &str| Error::Journal { id: id.to_string(), why: why.to_owned() };
        let entry = entry(&self.runs, id).ok_or_else(|| none("does not exist"))?;
        match entry.manifest.state {
            State::Applied | State::Verified | State::Undone => Ok(Swapped::of(entry)),
            State::Planned => Err(none("is not finished")),
        }
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Every entry that can be read, in the order in which they were made.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, Error> {
        run_ids(&self.runs).map_err(|e| Error::io("read the journal in", self.runs.path(), e))?;
        Ok(all_entries(&self.runs))
    }
}

/// A run: the entries of one call of `repair` or `--undo`. Nothing is written before its first entry.
#[derive(Debug)]
pub struct Run<'a> {
    pub(super) journal: &'a Locked,
    id: String,
    text: String,
    undoes: Option<String>,
    next: u32,
}

impl<'a> Run<'a> {
    /// Begins a run. `text` is for the list: what is being done, in a few words, no text of a session.
    pub fn begin(journal: &'a Locked, text: &str) -> Self {
        let now = jiff::Timestamp::now();
        let id = format!("{}-{:08x}", now.strftime("%Y%m%dT%H%M%S%3fZ"), random() & 0xffff_ffff);
        Run { journal, id, text: text.to_owned(), undoes: None, next: 1 }
    }

    /// The run that takes back another one.
    pub(super) fn undoing(journal: &'a Locked, run: &str) -> Self {
        Run { undoes: Some(run.to_owned()), ..Run::begin(journal, &format!("undo of {run}")) }
    }

    /// Its id, for `--undo`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// An empty folder for the next entry; the run's own folder and manifest are made with the first.
    pub(super) fn new_entry(&mut self) -> io::Result<(EntryId, Folder)> {
        let made = self.make_entry();
        if made.is_err() {
            drop_empty_run(&self.journal.runs, &self.id);
        }
        made
    }

    fn make_entry(&mut self) -> io::Result<(EntryId, Folder)> {
        let number = self.next;
        let runs = &self.journal.runs;
        if runs.stat(&self.id)?.is_none() {
            runs.make_folder(&self.id)?;
            let manifest = RunManifest {
                version: VERSION,
                tool: format!("sid-audit {}", env!("CARGO_PKG_VERSION")),
                started: jiff::Timestamp::now().to_string(),
                text: self.text.clone(),
                undoes: self.undoes.clone(),
            };
            let text = serde_json::to_vec_pretty(&manifest)?;
            entry::replace_file(&runs.inside(&self.id)?, MANIFEST, &text)?;
        }
        let run = runs.inside(&self.id)?;
        let id = EntryId { run: self.id.clone(), number };
        run.make_folder(&entry_name(number))?;
        self.next = number + 1;
        Ok((id, run.inside(&entry_name(number))?))
    }

    /// Makes the names of a new entry durable, up to the folder of the runs. What is in its own folder is already.
    pub(super) fn sync_entry(&self) -> io::Result<()> {
        self.journal.runs.inside(&self.id)?.sync()?;
        self.journal.runs.sync()
    }

    /// Takes an entry back that came to nothing: the file was never touched. Best effort, since the next start does the
    /// same with whatever is left.
    pub(super) fn withdraw(&self, id: &EntryId) {
        remove_entry(&self.journal.runs, id);
    }
}

/// Takes an entry away, and its run when it was the last one.
pub(super) fn remove_entry(runs: &Folder, id: &EntryId) {
    let Ok(run) = runs.inside(&id.run) else { return };
    let _ = entry::remove(&run, &entry_name(id.number));
    drop_empty_run(runs, &id.run);
}

/// Takes a run away that has no entry.
pub(super) fn drop_empty_run(runs: &Folder, id: &str) {
    let Ok(run) = runs.inside(id) else { return };
    let entries = run.names().map(|names| names.iter().filter_map(|n| entry_number(&n.to_string_lossy())).count());
    if entries.is_ok_and(|n| n == 0) {
        let _ = run.names().map(|names| names.iter().try_for_each(|n| run.unlink(n)));
        let _ = runs.remove_folder(id);
    }
}

pub(super) fn entry_name(number: u32) -> String {
    format!("{number:04}")
}

fn entry_number(name: &str) -> Option<u32> {
    (name.len() >= 4 && name.bytes().all(|b| b.is_ascii_digit())).then(|| name.parse().ok()).flatten()
}

/// The ids of all runs, oldest first.
pub(super) fn run_ids(runs: &Folder) -> io::Result<Vec<String>> {
    let mut ids = Vec::new();
    for name in runs.names()? {
        if runs.stat(&name)?.is_some_and(|s| s.kind == Kind::Folder) {
            ids.extend(name.into_string());
        }
    }
    ids.sort();
    Ok(ids)
}

/// Every entry of every run that can be read, in the order in which they were made.
pub(super) fn all_entries(runs: &Folder) -> Vec<Entry> {
    run_ids(runs).unwrap_or_default().iter().flat_map(|id| entries_of(runs, id).0).collect()
}

/// One entry.
pub(super) fn entry(runs: &Folder, id: &EntryId) -> Option<Entry> {
    let run = manifest::is_plain(&id.run).then(|| runs.inside(&id.run).ok()).flatten()?;
    Entry::read(id.clone(), &run.inside(&entry_name(id.number)).ok()?).ok()
}

/// Whether an entry was only begun: it has no manifest, so its session was never touched.
pub(super) fn only_begun(runs: &Folder, id: &EntryId) -> bool {
    let folder = runs.inside(&id.run).and_then(|run| run.inside(&entry_name(id.number)));
    folder.is_ok_and(|folder| matches!(folder.stat(MANIFEST), Ok(None)))
}

/// The entries of a run in order, and those that cannot be read with the reason.
pub(super) fn entries_of(runs: &Folder, id: &str) -> (Vec<Entry>, Vec<(EntryId, String)>) {
    let (mut entries, mut bad) = (Vec::new(), Vec::new());
    let Ok(run) = runs.inside(id) else { return (entries, bad) };
    let mut numbers: Vec<u32> =
        run.names().unwrap_or_default().iter().filter_map(|n| entry_number(&n.to_string_lossy())).collect();
    numbers.sort_unstable();
    for number in numbers {
        let id = EntryId { run: id.to_owned(), number };
        let folder = run.inside(&entry_name(number)).map_err(|e| format!("cannot be opened: {e}"));
        match folder.and_then(|folder| Entry::read(id.clone(), &folder)) {
            Ok(entry) => entries.push(entry),
            Err(why) => bad.push((id, why)),
        }
    }
    (entries, bad)
}

/// A run as the list shows it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its id, for `--undo`.
    pub id: String,
    /// What the run says of itself; none when that cannot be read.
    pub run: Option<RunManifest>,
    /// Its entries.
    pub entries: Vec<ListedEntry>,
    /// Entries that cannot be read, and why.
    pub unreadable: Vec<(EntryId, String)>,
}

/// An entry as the list shows it.
#[derive(Clone, Debug)]
pub struct ListedEntry {
    /// Run and number.
    pub id: EntryId,
    /// All that is recorded.
    pub manifest: Manifest,
    /// Its folder, in which the files that the manifest names are.
    pub folder: PathBuf,
    /// Its size in the journal, in bytes.
    pub bytes: u64,
    /// The files that lost their name and still exist.
    pub kept: Vec<KeptFile>,
}

/// A file that lost its name to a repaired one, where it is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptFile {
    /// Where it is.
    pub path: PathBuf,
    /// Bytes that were written to it and are nowhere else.
    pub late: u64,
    /// Whether what it held was written over: what it holds now may be nowhere else.
    pub rewritten: bool,
}

impl KeptFile {
    /// Whether it holds something that may be nowhere else.
    pub fn holds_more(&self) -> bool {
        self.late > 0 || self.rewritten
    }
}

impl ListedEntry {
    /// The autopsy that the repair left, if it left one.
    ///
    /// # Errors
    /// I/O errors; `InvalidData` when it is no JSON.
    pub fn autopsy(&self) -> io::Result<Option<serde_json::Value>> {
        let Some(name) = &self.manifest.autopsy else { return Ok(None) };
        let mut text = Vec::new();
        Folder::open(&self.folder)?.open_file(name)?.read_to_end(&mut text)?;
        Ok(Some(serde_json::from_slice(&text)?))
    }
}

fn listed(runs: &Folder, id: String) -> Listed {
    let (entries, unreadable) = entries_of(runs, &id);
    let run = read_run(runs, &id);
    Listed { id, run, entries: entries.into_iter().map(listed_entry).collect(), unreadable }
}

fn listed_entry(entry: Entry) -> ListedEntry {
    let kept = (0..entry.manifest.kept.len()).filter_map(|k| entry.kept_file(k).ok().flatten()).collect();
    let bytes = size(&entry).unwrap_or(0);
    ListedEntry { id: entry.id, manifest: entry.manifest, folder: entry.path, bytes, kept }
}

pub(super) fn read_run(runs: &Folder, id: &str) -> Option<RunManifest> {
    let mut text = Vec::new();
    let file = runs.inside(id).and_then(|run| run.open_file(MANIFEST)).ok()?;
    file.take(1024 * 1024).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Bytes of an entry's files.
pub(super) fn size(entry: &Entry) -> io::Result<u64> {
    let folder = entry.folder()?;
    let mut bytes = 0;
    for name in folder.names()? {
        bytes += folder.stat(&name)?.map_or(0, |s| s.len);
    }
    Ok(bytes)
}

/// Splits `RUN` or `RUN/NUMBER` as it stands on a command line; none for anything else.
pub(super) fn parse_id(id: &str) -> Option<(&str, Option<u32>)> {
    match id.split_once('/') {
        Some((run, number)) => Some((run, Some(number.parse().ok()?))),
        None => Some((id, None)),
    }
}
