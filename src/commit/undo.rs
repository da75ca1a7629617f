//! Takes a repair back: the old bytes, mode and mtime, through the same door by which the repair came.
//!
//! Undo is a run of its own, with its own journal entries, so that it survives a crash like any other and can itself be
//! undone. What the agent has appended since the repair is carried over behind the original bytes, as lines of their
//! own, if the caller agrees and its proof does. The files of a run are looked at before the first is touched: one that
//! cannot be undone stops all of them.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::content::{At, Content, Fingerprint, Noting, prefix, read_through};
use super::disk::{self, Stat};
use super::entry::{Entry, Told};
use super::journal::{self, Journal, Locked, Run};
use super::manifest::{EntryId, KeptState, RecordedPath, State};
use super::metadata::Dress;
use super::output;
use super::recover::mark_undone;
use super::refusal::{Error, Refusal};
use super::replace::{Change, Options, Outcome, Stage, Swapped, Verify, swap_change};
use super::reverse_patch::Followed;
use super::settle::settle;
use super::splice::Spliced;
use super::target::Site;
use crate::store::agent::Homes;

/// What is to be undone.
pub struct Undo<'a> {
    /// A run, or one entry of it (`RUN/0001`).
    pub id: &'a str,
    /// Of the run, only this file. If the run has no such file, it is the new place of one that was moved, or the
    /// folder in which moved ones are.
    pub only: Option<&'a Path>,
    /// Whether lines that were appended since the repair may be carried over.
    pub appended: bool,
    /// The proof for original bytes with appended lines behind them, for late lines, and for a file beside which its
    /// original does not lie any more. Other original bytes are not asked about.
    pub verify: &'a Verify<'a>,
}

/// What an undo did.
#[derive(Debug)]
pub struct Undone {
    /// Its own run, by which it can be undone in turn; none when nothing had to be written.
    pub run: Option<String>,
    /// The files that have their old bytes again.
    pub done: Vec<Outcome>,
    /// Files that held the original already.
    pub already: Vec<PathBuf>,
    /// Files that got lines first which were written late to their old file, or whose old file holds some that could
    /// not be brought over.
    pub late: Vec<Outcome>,
    /// Files that were left as they were.
    pub failed: Vec<(PathBuf, Error)>,
}

/// How the file of an entry stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// As the repair left it.
    AsRepaired,
    /// As the repair left it, with so many bytes behind.
    Appended(u64),
    /// It holds the original bytes.
    Original,
    /// The repaired bytes are not there any more.
    Changed,
    /// There is no such file.
    Missing,
    /// The entry was undone before.
    Undone,
}

/// The file of an entry and how it stands.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Run and number.
    pub id: EntryId,
    /// The session file.
    pub path: PathBuf,
    /// How it stands.
    pub standing: Standing,
}

struct Now {
    standing: Standing,
    file: Option<(File, Stat)>,
    whole: Content,
}

fn examine(entry: &Entry) -> Result<Now, Error> {
    let path = entry.session();
    let site = match Site::recorded(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Now { standing: Standing::Missing, file: None, whole: Content::default() });
        }
        other => other.map_err(|e| Error::io("open the folder of", &path, e))?,
    };
    let trouble = |e| Error::io("read", &path, e);
    if site.stat().map_err(trouble)?.is_none() {
        return Ok(Now { standing: Standing::Missing, file: None, whole: Content::default() });
    }
    let (file, stat) = site.open()?;
    let mut noting = Noting::new(At::new(&file, stat.len));
    io::copy(&mut (&mut noting).take(entry.manifest.after.len), &mut io::sink()).map_err(trouble)?;
    let begin = noting.so_far();
    io::copy(&mut noting, &mut io::sink()).map_err(trouble)?;
    let whole = noting.finish().0;
    let standing = if entry.manifest.state == State::Undone {
        Standing::Undone
    } else if whole == entry.manifest.before {
        Standing::Original
    } else if begin != entry.manifest.after {
        Standing::Changed
    } else if whole.len == begin.len {
        Standing::AsRepaired
    } else {
        Standing::Appended(whole.len - begin.len)
    };
    Ok(Now { standing, file: Some((file, stat)), whole })
}

fn select(journal: &Journal, id: &str, only: Option<&Path>) -> Result<Vec<Entry>, Error> {
    let none = |why: &str| Error::Journal { id: id.to_owned(), why: why.to_owned() };
    let (run, number) = journal::parse_id(id).ok_or_else(|| none("is no id of a run"))?;
    if !journal.root().exists() {
        return Err(none("does not exist"));
    }
    let runs = journal.runs()?;
    if run.is_empty() || !journal::run_ids(&runs).is_ok_and(|ids| ids.iter().any(|i| i == run)) {
        return Err(none("does not exist"));
    }
    let (mut entries, bad) = journal::entries_of(&runs, run);
    let wanted = |id: &EntryId| number.is_none_or(|n| n == id.number);
    if let Some((id, why)) = bad.into_iter().find(|(id, _)| wanted(id) && !journal::only_begun(&runs, id)) {
        return Err(Error::Journal { id: id.to_string(), why });
    }
    entries.retain(|e| wanted(&e.id));
    if let Some(place) = only.map(absolute) {
        match entries.iter().any(|e| e.session() == place) {
            true => entries.retain(|e| e.session() == place),
            false => entries = moved(entries, &place),
        }
        let mut paths: Vec<PathBuf> = entries.iter().filter_map(|e| e.from.clone()).collect();
        paths.dedup();
        if !place.is_dir() && paths.len() > 1 {
            return Err(none("has several files that this one may have been: name one by its number, as RUN/0001"));
        }
    }
    if entries.is_empty() { Err(none("has no such file")) } else { Ok(entries) }
}

/// The entries whose files are at another place now: `place` is such a file, or a folder that they were moved to. What
/// lies there must be what the repair left or what it found, or have the kept original beside it.
fn moved(entries: Vec<Entry>, place: &Path) -> Vec<Entry> {
    let mut found: HashMap<PathBuf, PathBuf> = HashMap::new();
    let mut all: Vec<(Entry, PathBuf)> = entries.into_iter().map(|e| (e.session(), e)).map(|(p, e)| (e, p)).collect();
    for (entry, from) in &mut all {
        let Some(now) = below(place, from) else { continue };
        entry.manifest.path = RecordedPath::from(now.as_os_str());
        if fits(entry) {
            found.insert(from.clone(), now);
        }
    }
    if !place.is_dir() && found.keys().any(|from| from.file_name() == place.file_name()) {
        found.retain(|from, _| from.file_name() == place.file_name());
    }
    let here =
        |(entry, from): (Entry, PathBuf)| found.contains_key(&from).then_some(Entry { from: Some(from), ..entry });
    all.into_iter().filter_map(here).collect()
}

/// Where a file is in a folder that was moved: as much of its path as leads somewhere there.
fn below(place: &Path, from: &Path) -> Option<PathBuf> {
    if !place.is_dir() {
        return Some(place.to_owned());
    }
    let parts: Vec<_> = from.components().filter(|c| matches!(c, Component::Normal(_))).collect();
    let tails = (0..parts.len()).map(|n| place.join(parts[n..].iter().collect::<PathBuf>()));
    tails.into_iter().find(|tail| tail.is_file())
}

fn fits(entry: &Entry) -> bool {
    let standing = examine(entry).map(|now| now.standing);
    let (before, after) = (entry.manifest.before, entry.manifest.after);
    let told = match standing {
        Ok(Standing::AsRepaired | Standing::Original) => true,
        // Bytes behind nothing tell nothing.
        Ok(Standing::Appended(_)) => after.len > 0,
        Ok(Standing::Undone) => Site::recorded(&entry.session())
            .and_then(|site| site.folder.open_file(&site.name))
            .and_then(|file| Ok(prefix(&file, before.len)? == before))
            .unwrap_or(false),
        Ok(Standing::Changed | Standing::Missing) | Err(_) => false,
    };
    told || entry.is_witnessed()
}

/// The path as the journal has it: the folder without links.
fn absolute(path: &Path) -> PathBuf {
    let folder = std::fs::canonicalize(super::content::parent(path));
    folder.map_or_else(|_| path.to_owned(), |f| f.join(path.file_name().unwrap_or_default()))
}

impl Journal {
    /// How the files of a run (or one of them) stand, so that the user can be asked. Nothing is changed, no lock taken.
    ///
    /// # Errors
    /// When there is no such run, or a file cannot be read.
    pub fn examine(&self, id: &str, only: Option<&Path>) -> Result<Vec<Examined>, Error> {
        select(self, id, only)?
            .iter()
            .map(|e| Ok(Examined { id: e.id.clone(), path: e.session(), standing: examine(e)?.standing }))
            .collect()
    }

    /// Writes the original of one file elsewhere, with its mode and mtime; whether the entry was undone or not, and
    /// whatever has become of the session, as long as the original is whole anywhere.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is something at `to`; [`Error::Journal`] when the run has several files and none was
    /// chosen, or the original is nowhere.
    pub fn undo_to(&self, id: &str, only: Option<&Path>, to: &Path, agents: Homes) -> Result<Content, Error> {
        let entries = select(self, id, only)?;
        let paths: BTreeSet<PathBuf> = entries.iter().map(Entry::session).collect();
        let Some(entry) = entries.first().filter(|_| paths.len() == 1) else {
            let why = format!("has {} files: name one of them", paths.len());
            return Err(Error::Journal { id: id.to_owned(), why });
        };
        let all = journal::all_entries(&self.runs()?);
        let Some(origin) = origin(entry, &all, true) else {
            let why = "has an original that is nowhere whole any more: the session was rewritten since".to_owned();
            return Err(Error::Journal { id: entry.id.to_string(), why });
        };
        let mut out = output::create_new(to, agents)?;
        let trouble = |e| Error::io("write", to, e);
        let content = read_through(origin.reader().map_err(trouble)?, &mut out).map_err(trouble)?;
        disk::set_times(out.file(), entry.manifest.stat.atime_ns, entry.manifest.stat.mtime_ns).map_err(trouble)?;
        disk::set_mode(out.file(), entry.manifest.stat.mode & 0o777).map_err(trouble)?;
        out.finish()?;
        Ok(content)
    }
}

impl Locked {
    /// Puts the old bytes back.
    ///
    /// # Errors
    /// Before anything is touched: no such run, nothing left to undo, a file that was changed, or appended to
    /// (without `appended`). A file that fails later is in the answer, and the others are done.
    pub fn undo(&self, undo: &Undo<'_>, options: &Options) -> Result<Undone, Error> {
        let mut entries = select(self.journal(), undo.id, undo.only)?;
        for entry in entries.iter().filter(|e| e.from.is_some()) {
            // From now on it is known where it is, to this undo as to all that comes behind it.
            entry.save().map_err(|e| Error::io("write the journal in", self.runs.path(), e))?;
        }
        let late = self.bring_over(undo, &entries, options)?;
        if !late.is_empty() {
            entries = select(self.journal(), undo.id, undo.only)?;
        }
        entries.retain(|e| e.manifest.state != State::Undone);
        if entries.is_empty() {
            return Err(Error::Journal { id: undo.id.to_owned(), why: "is undone already".to_owned() });
        }
        entries.reverse();
        self.look_first(&entries, undo)?;

        let mut run = Run::undoing(self, journal::parse_id(undo.id).map_or(undo.id, |(run, _)| run));
        let mut undone = Undone { run: None, done: Vec::new(), already: Vec::new(), late, failed: Vec::new() };
        let mut pending: Vec<(Swapped, &Verify<'_>)> = Vec::new();
        for entry in &entries {
            // A file that the run repaired twice is undone twice, and must have settled in between.
            if pending.iter().any(|(s, _)| s.path() == entry.session()) {
                undone.done.extend(settle(std::mem::take(&mut pending), options));
            }
            match self.undo_one(entry, undo, &mut run, options) {
                Ok(Some(swapped)) => pending.push((swapped, undo.verify)),
                Ok(None) => undone.already.push(entry.session()),
                Err(error) => undone.failed.push((entry.session(), error)),
            }
        }
        undone.done.extend(settle(pending, options));
        undone.run = (!undone.done.is_empty()).then(|| run.id().to_owned());
        self.stow(&entries, &mut undone.done);
        Ok(undone)
    }

    /// Brings late lines over, as the next repair would do: behind the repaired bytes they are appended lines, which an
    /// undo takes along.
    fn bring_over(&self, undo: &Undo<'_>, entries: &[Entry], options: &Options) -> Result<Vec<Outcome>, Error> {
        let holds_more = |e: &&Entry| {
            let kept = (0..e.manifest.kept.len()).filter(|k| e.manifest.kept[*k].state == KeptState::Kept);
            kept.filter_map(|k| e.kept_file(k).ok().flatten()).any(|kept| kept.late > 0 || kept.rewritten)
        };
        let mut late = Vec::new();
        let in_effect = |e: &&Entry| matches!(e.manifest.state, State::Applied | State::Verified);
        for entry in entries.iter().filter(in_effect).filter(|_| undo.appended).filter(holds_more) {
            late.extend(settle(vec![(self.reopen(&entry.id)?, undo.verify)], options));
        }
        Ok(late)
    }

    /// Refuses the whole undo when one of its files cannot be undone.
    fn look_first(&self, newest_first: &[Entry], undo: &Undo<'_>) -> Result<(), Error> {
        let mut seen: Vec<(PathBuf, Content)> = Vec::new();
        for entry in newest_first {
            let path = entry.session();
            let refused = match seen.iter_mut().find(|(p, _)| *p == path) {
                // What a later entry of this run puts back is what this one has left.
                Some((_, next)) if *next == entry.manifest.after => {
                    *next = entry.manifest.before;
                    continue;
                }
                Some(_) => Some("it was changed between two repairs of this run"),
                None => {
                    seen.push((path.clone(), entry.manifest.before));
                    match examine(entry)?.standing {
                        Standing::Appended(bytes) if !undo.appended => {
                            return Err(Refusal::Appended { path, bytes }.into());
                        }
                        Standing::Changed => Some(self.who_changed(entry)),
                        Standing::Missing => Some("it is not there any more"),
                        _ => None,
                    }
                }
            };
            if let Some(how) = refused {
                return Err(Refusal::NotAsRepaired { path, how }.into());
            }
            entry.way_back().map_err(|e| Error::io("read the journal in", entry.path.join("reverse"), e))?;
        }
        Ok(())
    }

    fn who_changed(&self, entry: &Entry) -> &'static str {
        let later = self.entries().unwrap_or_default();
        let again = |e: &Entry| e.id > entry.id && e.session() == entry.session() && e.manifest.state != State::Undone;
        if later.iter().any(again) {
            "a later run repaired it again; undo that one first"
        } else {
            "the repaired bytes are not there any more"
        }
    }

    fn undo_one(
        &self,
        entry: &Entry,
        undo: &Undo<'_>,
        run: &mut Run<'_>,
        options: &Options,
    ) -> Result<Option<Swapped>, Error> {
        let Now { standing, file, whole } = examine(entry)?;
        let path = entry.session();
        let Some((_, stat)) = file else {
            return Err(Refusal::NotAsRepaired { path, how: "it is not there any more" }.into());
        };
        if stat.uid != disk::effective_user() {
            return Err(Refusal::NotAsRepaired { path, how: "it belongs to another user" }.into());
        }
        let mut dress = Dress::recorded(&entry.manifest);
        let mut appended = 0;
        match standing {
            Standing::Original | Standing::Undone => {
                self.record(&entry.id)?;
                return Ok(None);
            }
            Standing::AsRepaired => {}
            Standing::Appended(bytes) if undo.appended => {
                appended = bytes;
                (dress.stat.atime_ns, dress.stat.mtime_ns) = (stat.atime_ns, stat.mtime_ns);
            }
            Standing::Appended(bytes) => return Err(Refusal::Appended { path, bytes }.into()),
            Standing::Changed | Standing::Missing => {
                return Err(Refusal::NotAsRepaired { path, how: self.who_changed(entry) }.into());
            }
        }
        let before = entry.manifest.before;
        // An original that ends within a line must not swallow the first line behind it.
        let separate = appended > 0 && before.len > 0 && !before.ends_in_lf;
        let then = separate.then_some((entry.manifest.after.len, &b"\n"[..]));
        let expected = Fingerprint::new(&stat, whole.sha256);
        let witnessed = entry.is_witnessed();
        let change = Change {
            path: &path,
            within: None,
            expected: &expected,
            edits: &|| Ok(Box::new(Followed::by(entry.way_back()?, then))),
            told: Told { text: "the original bytes again", undoes: Some(&entry.id), ..Told::default() },
            dress: Some(dress),
            proof: (appended > 0 || !witnessed).then_some((undo.verify, Stage::Undo { appended, witnessed })),
        };
        let mut swapped = match swap_change(&change, run, options) {
            // A line feed that the repair added and that now stands before the appended lines, for example.
            Err(Error::NoChange { .. }) => {
                self.record(&entry.id)?;
                return Ok(None);
            }
            other => other?,
        };
        if separate {
            swapped.warnings.push("a line feed was put between the original and the appended lines".to_owned());
        }
        self.record(&entry.id)?;
        Ok(Some(swapped))
    }

    fn record(&self, id: &EntryId) -> Result<(), Error> {
        mark_undone(&self.runs, id).map_err(|e| Error::io("write the journal in", self.runs.path(), e))
    }

    /// Moves the kept files of an undone repair, and of its undo, out of the store into the journal, where both are on
    /// one disk: the store is as it was. Nothing is unlinked, and what somebody still writes arrives in the same file.
    /// A kept file that holds more than is accounted for stays where the user was told that it is.
    fn stow(&self, undone: &[Entry], done: &mut [Outcome]) {
        let again = |id: &EntryId| journal::entry(&self.runs, id);
        let were = undone.iter().filter_map(|e| again(&e.id)).filter(|e| e.manifest.state == State::Undone);
        let quiet = done.iter().filter(|o| o.unmerged.is_empty()).filter_map(|o| again(&o.id));
        let involved: Vec<Entry> = were.chain(quiet).collect();
        for entry in &involved {
            let Ok(folder) = entry.folder() else { continue };
            for (k, kept) in entry.manifest.kept.iter().enumerate().filter(|(_, k)| k.state == KeptState::Kept) {
                if let Ok(Some((beside, _))) = entry.find_kept(k)
                    && beside.path() != folder.path()
                    && entry.kept_file(k).is_ok_and(|f| f.is_some_and(|f| f.late == 0 && !f.rewritten))
                    && beside.rename(&kept.name, &folder, &kept.name).is_ok()
                {
                    let _ = folder.sync().and_then(|()| beside.sync());
                    if let Some(outcome) = done.iter_mut().find(|o| k == 0 && o.id == entry.id) {
                        outcome.kept = folder.path().join(&kept.name);
                    }
                }
            }
        }
    }
}

/// Where an original can be read whole: a file, and the ways back from what it holds to the original.
pub(super) struct Origin<'a> {
    file: File,
    len: u64,
    back: Vec<&'a Entry>,
}

impl Origin<'_> {
    pub(super) fn reader(&self) -> io::Result<Box<dyn Read + '_>> {
        let mut reader: Box<dyn Read> = Box::new(At::new(&self.file, self.len));
        for entry in &self.back {
            reader = Box::new(Spliced::new(reader.take(entry.manifest.after.len), entry.way_back()?));
        }
        Ok(reader)
    }
}

/// Looks for the original of an entry: its clone, the kept file (unless that is what may go), the session itself with
/// the way back, or the original of the next repair of the same file. What is found has the recorded hash.
pub(super) fn origin<'a>(entry: &'a Entry, all: &'a [Entry], kept: bool) -> Option<Origin<'a>> {
    let manifest = &entry.manifest;
    let folder = entry.folder().ok();
    let clone = || folder.as_ref()?.open_file(manifest.clone.as_ref()?).ok();
    let kept_file = || {
        let (folder, _) = entry.find_kept(0).ok()?.filter(|_| kept)?;
        folder.open_file(&manifest.kept[0].name).ok()
    };
    for file in [clone(), kept_file()].into_iter().flatten() {
        if prefix(&file, manifest.before.len).is_ok_and(|c| c == manifest.before) {
            return Some(Origin { file, len: manifest.before.len, back: Vec::new() });
        }
    }
    let session = Site::recorded(&entry.session()).and_then(|s| s.folder.open_file(&s.name));
    if let Ok(file) = session {
        let found = Origin { file, len: manifest.after.len, back: vec![entry] };
        if leads_to(&found, &manifest.before) {
            return Some(found);
        }
    }
    let next = all.iter().find(|e| e.id > entry.id && e.session() == entry.session())?;
    let mut found = origin(next, all, true)?;
    found.back.push(entry);
    leads_to(&found, &manifest.before).then_some(found)
}

fn leads_to(origin: &Origin<'_>, content: &Content) -> bool {
    origin.reader().and_then(|r| read_through(r, &mut io::sink())).is_ok_and(|c| c == *content)
}
