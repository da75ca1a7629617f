//! What lies beside sessions: transcripts of subagents without their session (S511), and entries of processes that are
//! gone (S512). Declared edits and dumps are one agent's, and looked at there.
//!
//! Only what was found below the paths that a person gave is reported; the registry of a single file's store is read to
//! know whether the file is in use, and not judged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{NAMED, World};
use crate::finding::{Finding, Place, Rule, Severity};
use crate::identity::AgentId;
use crate::record::time;
use crate::store::{FileKind, Registration, State};

pub(super) static ORPHAN_SIDECHAIN: Rule =
    Rule { code: "S511", name: "orphan-sidechain", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static DEAD_REGISTRATION: Rule =
    Rule { code: "S512", name: "dead-registration", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(crate) static STALE_INTENT: Rule =
    Rule { code: "S513", name: "stale-intent", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(crate) static EVIDENCE_OVERFLOW: Rule =
    Rule { code: "S525", name: "evidence-overflow", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(crate) static CONFLICTING_INTENTS: Rule =
    Rule { code: "S526", name: "conflicting-intents", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) fn check(world: &mut World<'_>) {
    orphans(world);
    registrations(world);
}

/// Transcripts of subagents whose session has no file.
fn orphans(world: &mut World<'_>) {
    /// One session's transcripts: the files, and how the session is called.
    type Orphans = BTreeMap<(u32, String), Vec<u32>>;
    let mut lost: Orphans = BTreeMap::new();
    for (n, file) in (0_u32..).zip(&world.discovery.files) {
        if !matches!(file.kind, FileKind::Beside | FileKind::Subagent) || world.is_single(n) {
            continue;
        }
        let Some(store) = world.aliases.store(world.discovery, file) else { continue };
        let named = world.agent(file).and_then(|agent| agent.orphan(world, n, file, store));
        if let Some(named) = named {
            lost.entry((store, named)).or_default().push(n);
        }
    }
    for ((_, session), files) in lost {
        let Some(&first) = files.first() else { continue };
        let file = &world.discovery.files[first as usize];
        let loader = file.agent_id.map_or("", AgentId::loader);
        let paths: Vec<String> = files.iter().take(NAMED).map(|&n| world.path_text(n)).collect();
        let mut finding = ORPHAN_SIDECHAIN
            .at(Place::default())
            .path(&world.discovery.path(file))
            .effect(format!("{loader} reads subagents through their session, which has no file"))
            .fact("files", paths)
            .count(files.len() as u64);
        if file.kind == FileKind::Subagent {
            finding = finding.fact("session", session);
        }
        world.add(Some(first), finding);
    }
}

fn registrations(world: &mut World<'_>) {
    let found: std::collections::HashSet<PathBuf> = [FileKind::Registration, FileKind::Lock]
        .into_iter()
        .flat_map(|kind| world.discovery.of_kind(kind))
        .map(|file| world.discovery.path(file))
        .collect();
    for registration in world.registrations.iter().filter(|r| found.contains(&r.path)) {
        let why = match (&registration.damaged, registration.state) {
            (Some(damage), _) => format!("cannot be read: {damage}"),
            (None, State::Dead) => "its process is gone".to_owned(),
            (None, State::Recycled) => "its process number was given to another process".to_owned(),
            (None, State::Alive | State::Unknown) => continue,
        };
        let finding = registration_finding(world, registration, &why);
        world.add(None, finding);
    }
}

fn registration_finding(world: &World<'_>, registration: &Registration, why: &str) -> Finding {
    let effect = world.agents.of(registration.agent).map(|agent| agent.dead_registration(registration.state));
    let mut finding = DEAD_REGISTRATION
        .at(Place::default())
        .path(&registration.path)
        .effect(effect.unwrap_or_default())
        .fact("why", why)
        .fact("agent", registration.agent.name());
    if let Some(pid) = registration.pid {
        finding = finding.fact("pid", pid);
    }
    if let Some(id) = &registration.session_id {
        finding = finding.fact("session", id.as_str());
    }
    if let Some(at) = registration.started_at {
        finding = finding.fact("started", time::format(at));
    }
    finding
}
