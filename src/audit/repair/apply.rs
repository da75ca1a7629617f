//! Plans become files, through the one door. Each file is looked at once more, handed to `commit` with its proof, and all
//! of them wait for their writers together at the end.
//!
//! A refusal costs that file. When the disk fails, the files that were not begun are left alone: what fails once is not
//! to be written to again before somebody has looked at it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::in_use::{Guard, Refused};
use super::store_context::World;
use super::{FilePlan, IndexPlan, Options, SessionPlan, Subject, journal_note};
use crate::agents;
use crate::commit::replace::{Merged, Unmerged};
use crate::commit::{self, Error, Outcome, Proof, Request, Run, Sha, Stage, Swapped, Verify, settle, swap};
use crate::repair::checkpoints;
use crate::repair::proof::{self, Promise};
use crate::repair::text::Text;
use crate::repair::worse::Bound;
use crate::rules::Examined;
use crate::session::{Session, ids};
use crate::store::meter::Meter;
use crate::store::{Discovery, Source};

/// A file that has its repaired bytes.
#[derive(Debug)]
pub struct Applied {
    /// The file, as it was found.
    pub path: PathBuf,
    /// Run and number of its journal entry.
    pub journal_id: String,
    /// Hashes of its bytes before and after.
    pub sha256: [Sha; 2],
    /// Where the original is.
    pub retained: PathBuf,
    /// Late lines that were brought over.
    pub merged: Option<Merged>,
    /// What could not be brought over and stays where it is.
    pub unmerged: Vec<Unmerged>,
    /// What a person should know about it.
    pub warnings: Vec<String>,
}

impl Applied {
    /// From what `commit` says; `path` as it was found.
    pub fn new(path: PathBuf, outcome: Outcome) -> Self {
        Applied {
            path,
            journal_id: outcome.id.to_string(),
            sha256: [outcome.before.sha256, outcome.after.sha256],
            retained: outcome.kept,
            merged: outcome.merged,
            unmerged: outcome.unmerged,
            warnings: outcome.warnings,
        }
    }
}

/// A file that could not be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failed {
    /// The file.
    pub path: PathBuf,
    /// The whole sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether it is a defect of ours.
    pub defect: bool,
}

/// What became of a run.
#[derive(Debug, Default)]
pub struct Applying {
    /// Files that have their repaired bytes.
    pub applied: Vec<Applied>,
    /// Files that were left alone.
    pub refused: Vec<Refused>,
    /// Files that could not be written.
    pub failed: Vec<Failed>,
    /// Whether it was stopped between two files.
    pub interrupted: bool,
}

impl Applying {
    /// Sorts an error of `commit` into what it means for the file.
    pub fn error(&mut self, path: &Path, error: &Error) {
        let hint = error.hint();
        if error.is_refusal() {
            self.refused.push(Refused::told(path, &error.to_string(), hint));
        } else {
            let defect = matches!(error, Error::Plan { .. } | Error::NoWayBack { .. } | Error::NoChange { .. });
            self.failed.push(Failed { path: path.to_owned(), message: error.to_string(), hint, defect });
        }
    }
}

/// Applies plans that may be applied, in their order.
pub fn apply(
    discovery: &Discovery,
    plans: &[&FilePlan],
    run: &mut Run<'_>,
    options: &Options,
    door: &commit::Options,
    world: Option<&World>,
    meter: &Meter,
) -> Applying {
    let guard = Guard::new(discovery, options);
    let mut done = Applying::default();
    let proofs: Vec<Box<Verify<'_>>> = plans
        .iter()
        .map(|&plan| Box::new(move |proof: &Proof<'_>| prove(discovery, plan, world, proof)) as Box<Verify<'_>>)
        .collect();
    let mut swapped: Vec<(Swapped, &Verify<'_>)> = Vec::new();
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut broken = false;
    for (plan, verify) in plans.iter().zip(&proofs) {
        if meter.stopped() {
            done.interrupted = true;
            break;
        }
        if broken {
            let hint = "look at what failed first, then repair again";
            done.refused.push(Refused::new(&plan.path, "was not begun: an earlier file of this run failed", hint));
            continue;
        }
        match one(discovery, plan, &guard, run, door, verify.as_ref()) {
            Ok(one) => {
                swapped.push((one, verify.as_ref()));
                paths.push(plan.path.clone());
            }
            Err(Stopped::Refused(refused)) => done.refused.push(refused),
            Err(Stopped::Commit(error)) => {
                broken = matches!(&error, Error::Io { source, .. } if source.kind() != io::ErrorKind::NotFound);
                done.error(&plan.path, &error);
            }
        }
    }
    done.applied = paths.into_iter().zip(settle(swapped, door)).map(|(path, o)| Applied::new(path, o)).collect();
    for applied in &mut done.applied {
        let plan = plans.iter().find(|plan| plan.path == applied.path);
        let deletion = plan.and_then(|plan| plan.deletion.as_ref());
        let ahead = deletion.filter(|deletion| !(options.touch && deletion.by_time_of_file));
        applied.warnings.extend(ahead.map(|deletion| deletion.kept_by("`touch` on the file before that keeps it")));
    }
    done
}

enum Stopped {
    Refused(Refused),
    Commit(Error),
}

fn one(
    discovery: &Discovery,
    plan: &FilePlan,
    guard: &Guard,
    run: &mut Run<'_>,
    door: &commit::Options,
    verify: &Verify<'_>,
) -> Result<Swapped, Stopped> {
    let changed = |how: &str| Stopped::Refused(Refused::new(&plan.path, how, "repair again: the plan is made anew"));
    let Some(file) = discovery.files.get(plan.file as usize) else { return Err(changed("is not there any more")) };
    let Ok(source) = discovery.open(file) else { return Err(changed("cannot be opened any more")) };
    let Source::File { file: descriptor, .. } = &source else { return Err(changed("is no plain file any more")) };
    let Ok(meta) = descriptor.metadata() else { return Err(changed("cannot be looked at any more")) };
    let (ids, autopsy) = match &plan.subject {
        Subject::Session(subject) => {
            let session = Session::read(
                plan.path.clone(),
                source,
                agents::reader(plan.agent_id, subject.shape),
                subject.shape,
                &Meter::default(),
            )
            .map_err(|_| changed("cannot be read any more"))?;
            let ids = if guard.asks_for_ids() { ids::all(&session) } else { BTreeSet::new() };
            (ids, Some(journal_note::autopsy(plan, &session)))
        }
        Subject::Index(index) => (index.folder.iter().cloned().collect(), None),
    };
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    if let Some(refused) = guard.refuses(&plan.path, &ids, &meta, plan.within.is_some()) {
        return Err(Stopped::Refused(refused));
    }
    let request = Request {
        path: &plan.path,
        within: plan.within.as_deref(),
        expected: &plan.fingerprint,
        splices: &plan.splices,
        codes: &journal_note::codes(plan),
        text: &journal_note::line(plan),
        quarantine: &plan.quarantined,
        autopsy: autopsy.as_ref(),
        verify,
    };
    swap(&request, run, door).map_err(Stopped::Commit)
}

/// The proof that `commit` asks for: the bytes that are about to take the name are read by the rooms that read a session.
/// An interrupt does not reach into it, so that a file that was begun is finished.
fn prove(discovery: &Discovery, plan: &FilePlan, world: Option<&World>, proof: &Proof<'_>) -> Result<(), Vec<String>> {
    let meter = Meter::default();
    let SessionPlan { shape, options, before, after } = match &plan.subject {
        Subject::Session(subject) => &**subject,
        Subject::Index(index) => return answer(prove_index(index, proof)),
    };
    let agent = agents::reader(plan.agent_id, *shape);
    let read = || {
        let source = Source::open(proof.bytes)?;
        Examined::read(plan.path.clone(), source, agent, *shape, &meter)
    };
    let wrong = read().and_then(|session| match proof.stage {
        Stage::Repair => {
            let bound = Bound::of(plan.edits.iter().map(|e| &e.edit));
            let file = discovery.files.get(plan.file as usize).ok_or(io::ErrorKind::NotFound)?;
            let text = Text::new(&discovery.open(file)?).spliced(&plan.splices);
            let promise = Promise { before, after, answers: &plan.answers, bound, text: &text };
            let wrong = match world {
                Some(world) => world.ask(discovery, plan.file, options.live, |store| {
                    proof::repaired(&promise, session, agent, options, Some(store), &meter)
                }),
                None => proof::repaired(&promise, session, agent, options, None, &meter),
            }?;
            Ok(wrong.told)
        }
        Stage::Late { grown, .. } => proof::late(after, &session, options, grown > 0),
        Stage::Undo { .. } => Ok(vec!["an undo is not proven by a plan".to_owned()]),
    });
    answer(wrong)
}

fn prove_index(index: &IndexPlan, proof: &Proof<'_>) -> io::Result<Vec<String>> {
    if proof.stage != Stage::Repair {
        // An index is written whole: what is behind its end is no part of it.
        return Ok(vec!["nothing is brought over to an index".to_owned()]);
    }
    let source = Source::open(proof.bytes)?;
    checkpoints::prove(&index.before, &index.after, &source, index.folder.as_deref(), &index.options)
}

fn answer(wrong: io::Result<Vec<String>>) -> Result<(), Vec<String>> {
    match wrong {
        Ok(wrong) if wrong.is_empty() => Ok(()),
        Ok(wrong) => Err(wrong),
        Err(error) => Err(vec![format!("the repaired bytes cannot be read: {error}")]),
    }
}
