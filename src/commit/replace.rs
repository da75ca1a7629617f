//! Durable replacement of a session file by its repaired bytes, and nothing by which a byte could be lost.
//!
//! The order is the guarantee: compare with the plan, journal (written, synced, the way back walked), new file beside
//! the old one, proof, metadata, sync, compare again, exchange of names, folder sync, read back, journal. Whatever fails
//! before the exchange leaves the original untouched and withdraws the entry; whatever fails behind it puts the original
//! back. The old file stays beside the session under the kept name; `settle` watches it.
//!
//! [`replace`] does all of it for one file. A run over many files calls [`fn@swap`] for each and [`settle`] once, so that
//! it waits for the settle time once.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::content::{At, Content, Fingerprint};
use super::disk::{Folder, Stat};
use super::entry::{Entry, Told};
use super::journal::{KeptFile, Run};
use super::liveness;
use super::manifest::EntryId;
use super::metadata::Dress;
use super::refusal::{Error, Refusal};
use super::settle::settle;
use super::splice::{self, EditsOf, InMemory, Splice, Spliced};
use super::swap::{self, Fallen};
use super::target::{Old, Site};
use crate::repair::plan::Fragment;

/// One file to be replaced.
pub struct Request<'a> {
    /// The session file. Links in its folder are followed; a link as the file itself is refused.
    pub path: &'a Path,
    /// The store that the file must lie in, when there is one.
    pub within: Option<&'a Path>,
    /// What the plan was made from.
    pub expected: &'a Fingerprint,
    /// The plan's edits.
    pub splices: &'a [Splice],
    /// The findings that they answer.
    pub codes: &'a [String],
    /// What is done, in a few words for the list; no text of the session.
    pub text: &'a str,
    /// What leaves the session.
    pub quarantine: &'a [Fragment],
    /// The records around the damage, without message text.
    pub autopsy: Option<&'a serde_json::Value>,
    /// The caller's proof.
    pub verify: &'a Verify<'a>,
}

/// The caller's proof: looks at the bytes that are about to take the name, and lists what is wrong with them.
pub type Verify<'a> = dyn Fn(&Proof<'_>) -> Result<(), Vec<String>> + 'a;

/// What the caller is asked to prove.
#[derive(Clone, Copy, Debug)]
pub struct Proof<'a> {
    /// The file that holds the new bytes, for reading only.
    pub bytes: &'a Path,
    /// The session file whose name they are about to take.
    pub session: &'a Path,
    /// Size and hash of the new bytes.
    pub content: Content,
    /// Why they are what they are.
    pub stage: Stage,
}

/// Where new bytes come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// From the plan.
    Repair,
    /// From the file at the name, with late lines of kept files behind it.
    Late {
        /// Bytes of the late lines.
        late: u64,
        /// Bytes that were appended to the repaired file meanwhile and now stand before the late lines. Not 0: both
        /// grew, and the order of the records may be another than that in which they were written.
        grown: u64,
    },
    /// From the journal: the original, perhaps with what was appended since the repair behind it.
    Undo {
        /// Bytes appended since.
        appended: u64,
        /// Whether the original lies beside the session. If it does not, the journal's word is all there is, and only
        /// what is a session may be written to.
        witnessed: bool,
    },
}

/// How a replacement goes about it.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long the kept file must have been quiet before the run lets go of it.
    pub settle: Duration,
    /// How often late lines are brought over before what still comes is left in the kept file.
    pub rounds: u32,
    /// Whether a file that another process has open is refused. Off only by the user's word that the agent is closed.
    pub guard: bool,
    /// Whether a file that takes its repaired bytes gets the time at which it does, instead of the old one.
    pub touch: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { settle: Duration::from_secs(2), rounds: 3, guard: true, touch: false }
    }
}

/// A file that was replaced.
#[derive(Debug)]
pub struct Outcome {
    /// The session file.
    pub path: PathBuf,
    /// Run and number of its journal entry.
    pub id: EntryId,
    /// What was there.
    pub before: Content,
    /// What took its place.
    pub after: Content,
    /// Where the original is; it goes when a later run finds it unchanged for a day and open nowhere.
    pub kept: PathBuf,
    /// Late lines that were brought over.
    pub merged: Option<Merged>,
    /// What could not be brought over and stays where it is. Not empty: the caller exits with status 3.
    pub unmerged: Vec<Unmerged>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

/// Lines that a writer had appended to the old file after it lost its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// How many lines.
    pub lines: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that the repaired file had grown by when they were put behind it. Not 0: both grew, and the order of the
    /// records is to be looked at.
    pub grown: u64,
}

/// Bytes that are in a kept file and nowhere else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unmerged {
    /// Where they are.
    pub file: KeptFile,
    /// Why they are not in the session.
    pub why: String,
}

/// Replaces one file and waits until its old bytes have settled.
///
/// # Errors
/// [`Error::Refused`] when the file is lawfully left alone, and otherwise where the original stands after the failure.
/// In both cases nothing of this call remains to be done by the caller.
pub fn replace(request: &Request<'_>, run: &mut Run<'_>, options: &Options) -> Result<Outcome, Error> {
    let swapped = swap(request, run, options)?;
    Ok(settle(vec![(swapped, request.verify)], options).remove(0))
}

/// A replaced file whose old bytes have not settled yet. Dropping it loses nothing: the next run names what was late.
#[derive(Debug)]
#[must_use = "late lines are only brought over by `settle`"]
pub struct Swapped {
    pub(super) entry: Entry,
    pub(super) since: Instant,
    pub(super) warnings: Vec<String>,
}

impl Swapped {
    pub(super) fn of(entry: Entry) -> Self {
        Swapped { entry, since: Instant::now(), warnings: Vec::new() }
    }

    /// Run and number of the journal entry.
    pub fn id(&self) -> &EntryId {
        &self.entry.id
    }

    /// The session file.
    pub fn path(&self) -> PathBuf {
        self.entry.session()
    }
}

/// Replaces one file without waiting. One that is to be replaced again is settled first: its late lines are looked for
/// behind the bytes that this call writes.
///
/// # Errors
/// As [`replace`].
pub fn swap(request: &Request<'_>, run: &mut Run<'_>, options: &Options) -> Result<Swapped, Error> {
    if !cfg!(unix) {
        return Err(Refusal::Platform { folder: None }.into());
    }
    if let Err(source) = splice::check(request.splices, request.expected.len) {
        return Err(Error::Plan { path: request.path.to_owned(), source });
    }
    let change = Change {
        path: request.path,
        within: request.within,
        expected: request.expected,
        edits: &|| Ok(Box::new(InMemory::new(request.splices))),
        told: Told {
            codes: request.codes,
            text: request.text,
            quarantine: request.quarantine,
            autopsy: request.autopsy,
            undoes: None,
        },
        dress: None,
        proof: Some((request.verify, Stage::Repair)),
    };
    swap_change(&change, run, options)
}

/// A change of one file, by repair or by undo.
pub(super) struct Change<'a> {
    pub(super) path: &'a Path,
    pub(super) within: Option<&'a Path>,
    pub(super) expected: &'a Fingerprint,
    pub(super) edits: &'a EditsOf<'a>,
    pub(super) told: Told<'a>,
    /// What the new file wears; none: what the old one does.
    pub(super) dress: Option<Dress>,
    pub(super) proof: Option<(&'a Verify<'a>, Stage)>,
}

pub(super) fn swap_change(change: &Change<'_>, run: &mut Run<'_>, options: &Options) -> Result<Swapped, Error> {
    let site = Site::resolve(change.path, change.within)?;
    let (file, stat) = site.open()?;
    let old = Old { site: &site, file: &file, stat };
    guard(&site, &stat, options)?;
    change.expected.same_state(&stat, &site.path())?;
    site.folder.writable().map_err(|e| Error::io("write to", site.path(), e))?;
    let kept = site.free_name()?;

    let runs = run.journal.runs.path().to_owned();
    let (id, folder) = run.new_entry().map_err(|e| Error::io("write the journal in", runs.join("manifest.json"), e))?;
    let done = plan(change, run, old, &folder, id.clone(), kept)
        .map_err(Fallen::from)
        .and_then(|entry| carry_out(change, old, entry, options));
    done.map_err(|fallen| {
        if !fallen.exchanged {
            run.withdraw(&id);
        }
        fallen.error
    })
}

fn plan(
    change: &Change<'_>,
    run: &Run<'_>,
    old: Old<'_>,
    folder: &Folder,
    id: EntryId,
    kept: String,
) -> Result<Entry, Error> {
    let entry = Entry::write(id, folder, old, change.expected, change.edits, kept, change.told)?;
    run.sync_entry().map_err(|e| Error::io("sync the journal in", folder.path().join("manifest.json"), e))?;
    Ok(entry)
}

fn carry_out(
    change: &Change<'_>,
    Old { site, file: old, stat }: Old<'_>,
    mut entry: Entry,
    options: &Options,
) -> Result<Swapped, Fallen> {
    let mut warnings = Vec::new();
    let dress = match &change.dress {
        Some(dress) => dress.clone(),
        None => {
            let dress = Dress::of(old, stat).map_err(|e| Error::io("read the attributes of", site.path(), e))?;
            if options.touch { dress.touched() } else { dress }
        }
    };
    let edits = (change.edits)().map_err(|e| Error::io("read the journal in", entry.path.join("reverse"), e))?;
    let mut source = Spliced::new(At::new(old, stat.len), edits);
    let (name, after) = (entry.manifest.kept[0].name.clone(), entry.manifest.after);
    let ready = swap::prepare(site, &name, &mut source, &dress, &mut warnings, &mut |bytes, content| {
        if content != after {
            return Err(Refusal::Changed { path: site.path(), how: "its bytes changed while they were read" }.into());
        }
        prove(change.proof, site, bytes, content)
    })?;
    let same = guard(site, &stat, options).and_then(|()| swap::unchanged(site, old, &stat, &entry.manifest.before));
    if let Err(error) = same {
        swap::discard(site, &ready);
        return Err(error.into());
    }
    swap::take_the_name(site, &ready, &mut entry, 0)?;
    if stat.links > 1 {
        warnings.push(format!("{} other names of it still lead to the original", stat.links - 1));
    }
    Ok(Swapped { warnings, ..Swapped::of(entry) })
}

fn guard(site: &Site, stat: &Stat, options: &Options) -> Result<(), Error> {
    if !options.guard {
        return Ok(());
    }
    let pids = liveness::openers(stat.dev, stat.ino).pids;
    if pids.is_empty() { Ok(()) } else { Err(Refusal::InUse { path: site.path(), pids }.into()) }
}

/// Asks the caller about new bytes.
pub(super) fn prove(
    proof: Option<(&Verify<'_>, Stage)>,
    site: &Site,
    bytes: &Path,
    content: Content,
) -> Result<(), Error> {
    let Some((verify, stage)) = proof else { return Ok(()) };
    let session = site.path();
    verify(&Proof { bytes, session: &session, content, stage })
        .map_err(|found| Refusal::ProofFailed { path: session.clone(), found }.into())
}
