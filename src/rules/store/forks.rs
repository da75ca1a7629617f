//! Forks: is the session still there that one was forked from (S520), and was all of it copied (S527)?
//!
//! An agent may name the source's id, its last record and the number of messages, or only the path of the source's file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::World;
use super::collect::Fork;
use super::sample::Sample;
use super::scan::scan_ids;
use crate::finding::{Finding, Place, Rule, Severity};
use crate::rules::counted;

pub(super) static MISSING_FORK_SOURCE: Rule =
    Rule { code: "S520", name: "missing-fork-source", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(crate) static INCOMPLETE_FORK: Rule =
    Rule { code: "S527", name: "incomplete-fork", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// So many bytes of sources are read again; forks beyond them are judged by their number of messages only.
const SEARCHED: u64 = 256 << 20;

pub(super) fn check(world: &mut World<'_>, sample: &mut Sample) {
    let mut gone: BTreeMap<u32, Vec<(u32, String)>> = BTreeMap::new();
    let (mut found, mut budget) = (Vec::new(), SEARCHED);
    let by_path =
        |note: &super::SessionNote| note.extra().and_then(|e| e.fork.as_ref()).is_some_and(|f| f.source.is_none());
    let names = if world.notes.iter().any(by_path) { world.sessions_by_name() } else { HashMap::new() };
    for note in world.notes {
        let Some(fork) = note.extra().and_then(|e| e.fork.as_ref()) else { continue };
        let Some(file) = world.discovery.files.get(note.file as usize) else { continue };
        let Some(store) = world.aliases.store(world.discovery, file) else { continue };
        let source = source(world, &names, store, note.file, fork);
        if source.is_none() && world.is_whole(store) {
            gone.entry(store).or_default().push((note.file, fork.named.clone()));
        }
        found.extend(incomplete(world, sample, note.file, fork, source, &mut budget).map(|f| (note.file, f)));
    }
    drop(names);
    for (file, finding) in found {
        world.add(Some(file), finding);
    }
    for (store, forks) in gone {
        let files: Vec<String> = forks.iter().take(super::NAMED).map(|(n, _)| world.path_text(*n)).collect();
        let sources: Vec<String> = forks.iter().take(super::NAMED).map(|(_, named)| named.clone()).collect();
        let single = if let [(only, _)] = forks[..] { Some(only) } else { None };
        let path = single.map_or_else(|| world.store_path(store), |n| world.path(n));
        let finding = MISSING_FORK_SOURCE
            .at(Place::default())
            .path(&path)
            .effect(format!("no loader needs the source of {}", counted(forks.len() as u64, "fork")))
            .fact("files", files)
            .fact("sources", sources)
            .count(forks.len() as u64);
        world.add(single, finding);
    }
}

/// The file of a fork's source.
fn source(world: &World<'_>, names: &HashMap<(u32, Vec<u8>), u32>, store: u32, own: u32, fork: &Fork) -> Option<u32> {
    if let Some(id) = fork.source {
        return world.aliases.files_by_hash(store, id).find(|n| *n != own);
    }
    // A path, perhaps of another machine; names of files are unique where paths are named.
    let name = Path::new(&fork.named).file_name().or_else(|| fork.named.rsplit('\\').next().map(AsRef::as_ref))?;
    names.get(&(store, name.as_encoded_bytes().to_vec())).copied()
}

fn incomplete(
    world: &World<'_>,
    sample: &mut Sample,
    file: u32,
    fork: &Fork,
    source: Option<u32>,
    budget: &mut u64,
) -> Option<Finding> {
    let loader = world.agent(world.discovery.files.get(file as usize)?)?.agent_id().loader();
    let finding = || INCOMPLETE_FORK.at(Place::line(u64::from(fork.line))).path(&world.path(file));
    if let Some((announced, here)) = fork.messages.filter(|(announced, here)| here < announced) {
        return Some(
            finding()
                .effect(format!("{loader} resumes it with {here} of {}", counted(announced, "message")))
                .fact("announced", announced)
                .fact("messages", here)
                .fact("source", fork.named.as_str()),
        );
    }
    let (tail, source) = (fork.tail?, source?);
    if sample.files_with(tail.short(), file).contains(&source) {
        return None;
    }
    // The sample need not hold it: the source itself is asked.
    let entry = &world.discovery.files[source as usize];
    *budget = budget.checked_sub(entry.size)?;
    let opened = world.discovery.open(entry).ok()?;
    let hits = scan_ids(&opened, world.agent(entry)?.id_key(), HashSet::from([tail.short()]), true).ok()?;
    hits.is_empty().then(|| {
        finding()
            .effect(format!("{loader} does not check it: the source has lost its end, or is another"))
            .fact("source", world.path_text(source))
            .fact("missing", "the record that was the source's last when the fork was made")
    })
}
