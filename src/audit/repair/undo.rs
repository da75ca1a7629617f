//! Repairs are taken back, and what a writer still wrote to the old file is brought over. Both put other bytes at the
//! name of a session, so both ask the guard and both are proven.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::in_use::{Guard, Refused};
use super::{Applied, Options};
use crate::agents;
use crate::audit::files::is_session_or_index;
use crate::audit::layers::folder_name;
use crate::audit::{Depth, is_session, read_session, shape_of};
use crate::commit::gc::Remaining;
use crate::commit::journal::KeptFile;
use crate::commit::{self, Error, Locked, Outcome, Proof, Stage, Undo, Undone, Verify, settle};
use crate::identity::AgentId;
use crate::repair::plan::{self, State};
use crate::repair::proof;
use crate::rules::Examined;
use crate::session::{Shape, ids};
use crate::store::meter::Meter;
use crate::store::source::Piece;
use crate::store::{self, Discovery, Environment, FileKind, Source};

/// Sessions by path, as far as a proof needs to know them.
#[derive(Debug)]
pub struct Known<'a> {
    discovery: Discovery,
    kinds: HashMap<PathBuf, (AgentId, Shape)>,
    options: &'a Options,
}

impl<'a> Known<'a> {
    /// Finds out what these files are.
    pub fn new(paths: &[PathBuf], insist: Option<AgentId>, environment: &Environment, options: &'a Options) -> Self {
        Known::of(store::discover(paths, insist, environment, agents::HOMES), options)
    }

    /// What a discovery found.
    pub fn of(discovery: Discovery, options: &'a Options) -> Self {
        let kinds = discovery
            .files
            .iter()
            .filter(|file| is_session(file.kind))
            .filter_map(|file| {
                let path = discovery.path(file);
                Some((path.canonicalize().unwrap_or(path), (file.agent_id?, shape_of(file.kind))))
            })
            .collect();
        Known { discovery, kinds, options }
    }

    /// Why these sessions are left alone, those that are.
    pub fn refusals(&self) -> Vec<Refused> {
        let guard = Guard::new(&self.discovery, self.options);
        let files = self.discovery.files.iter().filter(|file| is_session_or_index(file.kind));
        files
            .filter_map(|file| {
                let path = self.discovery.path(file);
                let Source::File { file: descriptor, .. } = self.discovery.open(file).ok()? else { return None };
                let meta = descriptor.metadata().ok()?;
                let ids = match guard.asks_for_ids() {
                    true if file.kind == FileKind::CheckpointIndex => {
                        folder_name(&self.discovery, file).into_iter().collect()
                    }
                    true => {
                        let source = Source::File { size: meta.len(), file: descriptor };
                        let read = read_session(&self.discovery, file, source, Depth::Linked, &Meter::default());
                        read.map(|(session, _)| ids::all(&session)).unwrap_or_default()
                    }
                    false => Default::default(),
                };
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                let in_home = self.discovery.root(file).is_some_and(|root| root.store.is_some());
                guard.refuses(&path, &ids, &meta, in_home)
            })
            .collect()
    }

    /// Whether the file is among them.
    pub fn has(&self, path: &Path) -> bool {
        self.kinds.contains_key(path)
    }

    fn read(&self, session: &Path, source: Source) -> io::Result<Examined> {
        let (agent_id, shape) =
            *self.kinds.get(session).ok_or_else(|| io::Error::other("is no session that is known"))?;
        let agent = agents::reader(agent_id, shape);
        Examined::read(session.to_owned(), source, agent, shape, &Meter::default())
    }

    fn plan_options(&self) -> plan::Options {
        self.options.plan.clone()
    }

    fn state(&self, session: &Path, source: Source) -> io::Result<State> {
        Ok(plan::state(&self.read(session, source)?, &self.plan_options()))
    }

    fn holds_records(&self, session: &Path) -> bool {
        let read = Source::open(session).and_then(|source| self.read(session, source));
        read.is_ok_and(|examined| !examined.session.facts.records.is_empty())
    }

    /// The proof of original bytes with appended lines behind them.
    fn undone(&self, proof: &Proof<'_>) -> io::Result<Vec<String>> {
        if let Stage::Undo { witnessed: false, .. } = proof.stage
            && !self.holds_records(proof.session)
        {
            let why = "its original does not lie beside it any more, and what has its name is no session";
            return Ok(vec![why.to_owned()]);
        }
        // What an earlier version took for a session must find its way back too; no rule says anything of its lines.
        if !self.has(proof.session) {
            return Ok(Vec::new());
        }
        let Stage::Undo { appended, .. } = proof.stage else {
            return self.late(None, proof);
        };
        if appended == 0 {
            return Ok(Vec::new());
        }
        let new = Source::open(proof.bytes)?;
        let alone = Source::spliced(&new, &[Piece::Base(0, new.size().saturating_sub(appended))]);
        let original = self.state(proof.session, alone)?;
        proof::undone(&original, &self.read(proof.session, new)?, &self.plan_options())
    }

    /// The proof of late lines, held against the file that is to get them.
    fn late(&self, base: Option<&State>, proof: &Proof<'_>) -> io::Result<Vec<String>> {
        let Stage::Late { grown, .. } = proof.stage else {
            return Ok(vec!["there is no plan to prove it by".to_owned()]);
        };
        let own;
        let base = match base {
            Some(base) => base,
            None => {
                own = self.state(proof.session, Source::open(proof.session)?)?;
                &own
            }
        };
        let result = self.read(proof.session, Source::open(proof.bytes)?)?;
        proof::late(base, &result, &self.plan_options(), grown > 0)
    }
}

fn answer(wrong: io::Result<Vec<String>>) -> Result<(), Vec<String>> {
    match wrong {
        Ok(wrong) if wrong.is_empty() => Ok(()),
        Ok(wrong) => Err(wrong),
        Err(error) => Err(vec![format!("the new bytes cannot be read: {error}")]),
    }
}

/// Puts the old bytes of a run, or of one file of it, back.
///
/// # Errors
/// As [`Locked::undo`].
pub fn undo(
    locked: &Locked,
    id: &str,
    only: Option<&Path>,
    appended: bool,
    known: &Known<'_>,
    door: &commit::Options,
) -> Result<Undone, Error> {
    let verify = |proof: &Proof<'_>| answer(known.undone(proof));
    locked.undo(&Undo { id, only, appended, verify: &verify }, door)
}

/// What was brought over at the start of a run.
#[derive(Debug, Default)]
pub struct Late {
    /// Sessions that got late lines, or keep them where they are.
    pub outcomes: Vec<Applied>,
    /// Sessions that were left alone, because they are in use.
    pub refused: Vec<Refused>,
    /// Kept files of sessions that this run is not about.
    pub elsewhere: Vec<(PathBuf, KeptFile)>,
}

/// Late lines of files that lost their name in an earlier run.
pub fn bring_over(locked: &Locked, remaining: &[Remaining], known: &Known<'_>, door: &commit::Options) -> Late {
    let mut late = Late::default();
    let refusals = if remaining.iter().any(|r| r.file.holds_more()) { known.refusals() } else { Vec::new() };
    let mut seen = Vec::new();
    for left in remaining.iter().filter(|left| left.file.holds_more()) {
        if !known.has(&left.session) {
            late.elsewhere.push((left.session.clone(), left.file.clone()));
            continue;
        }
        if seen.contains(&left.id) {
            continue;
        }
        seen.push(left.id.clone());
        let in_use = |r: &&Refused| r.path.canonicalize().is_ok_and(|path| path == left.session);
        if let Some(refused) = refusals.iter().find(in_use) {
            let reason =
                format!("{}; {} late bytes stay in '{}'", refused.reason, left.file.late, left.file.path.display());
            late.refused.push(Refused { reason, ..refused.clone() });
            continue;
        }
        let verify = |proof: &Proof<'_>| answer(known.late(None, proof));
        let verify: &Verify<'_> = &verify;
        match locked.reopen(&left.id) {
            Ok(swapped) => {
                let outcomes: Vec<Outcome> = settle(vec![(swapped, verify)], door);
                late.outcomes.extend(outcomes.into_iter().map(|o| Applied::new(left.session.clone(), o)));
            }
            Err(_) => late.elsewhere.push((left.session.clone(), left.file.clone())),
        }
    }
    late
}
