//! The same session, or the same record, in several files: copies of sync tools (S518), one id in two places (S519),
//! records in two sessions (S524); and where the parents that a file lacks are (C212 is made of it).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::sample::Sample;
use super::scan::{Hit, scan_ids};
use super::{Elsewhere, NAMED, World, alias};
use crate::finding::{Place, Rule, Severity};
use crate::identity::AgentId;
use crate::record::facts::{Id, flag};
use crate::record::parse;
use crate::rules::agent::Judged;
use crate::rules::counted;
use crate::store::meter::Meter;
use crate::store::{FileKind, Layout, copied_from};

pub(super) static SYNC_COPY: Rule =
    Rule { code: "S518", name: "sync-copy", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static SAME_ID_TWICE: Rule =
    Rule { code: "S519", name: "same-id-twice", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static SHARED_RECORD: Rule =
    Rule { code: "S524", name: "shared-record", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) fn check(world: &mut World<'_>, sample: &mut Sample) {
    sync_copies(world);
    let twins = same_id(world);
    shared(world, sample, &twins);
}

fn sync_copies(world: &mut World<'_>) {
    let copies: Vec<(u32, Option<Vec<u8>>)> = (0_u32..)
        .zip(&world.discovery.files)
        .filter(|(_, file)| file.kind == FileKind::SyncCopy)
        .map(|(n, file)| (n, original(&file.name.bytes())))
        .collect();
    if copies.is_empty() {
        return;
    }
    // One pass for all: a store may hold thousands of copies.
    let mut originals: HashMap<(u32, Cow<'_, [u8]>), Option<u32>> = copies
        .iter()
        .filter_map(|(n, name)| {
            Some(((world.discovery.files[*n as usize].folder, Cow::Borrowed(name.as_deref()?)), None))
        })
        .collect();
    for (n, file) in (0_u32..).zip(&world.discovery.files) {
        if let Some(slot) = originals.get_mut(&(file.folder, file.name.bytes())) {
            *slot = Some(n);
        }
    }
    for (n, name) in &copies {
        let (n, file) = (*n, &world.discovery.files[*n as usize]);
        let path = world.discovery.path(file);
        let original =
            name.as_deref().and_then(|name| originals.get(&(file.folder, Cow::Borrowed(name))).copied().flatten());
        let Some(agent) = world.agent(file) else { continue };
        let mut finding = SYNC_COPY.at(Place::default()).path(&path);
        let effect = match original {
            None => "the original is not there".to_owned(),
            Some(other) => {
                finding = finding.fact("original", world.path_text(other));
                match (ids(world, n, agent), ids(world, other, agent)) {
                    (Ok(copy), Ok(original)) => {
                        let mut lines: Vec<i64> =
                            copy.iter().filter(|(id, _)| !original.contains_key(*id)).map(|(_, line)| *line).collect();
                        let only_here = lines.len();
                        let only_there = original.keys().filter(|id| !copy.contains_key(*id)).count();
                        lines.sort_unstable();
                        lines.truncate(NAMED);
                        finding = finding
                            .fact("records", copy.len())
                            .fact("only_in_copy", only_here)
                            .fact("only_in_copy_lines", lines)
                            .fact("only_in_original", only_there);
                        match (only_here, only_there) {
                            (0, _) => "the original has every record of it".to_owned(),
                            (n, 0) => {
                                format!("it goes on with {} that the original lacks", counted(n as u64, "record"))
                            }
                            (n, m) => format!(
                                "{} stand only in it, and {} only in the original",
                                counted(n as u64, "record"),
                                counted(m as u64, "record")
                            ),
                        }
                    }
                    (Err(e), _) => {
                        world.unreadable(path.clone(), &e);
                        "its records cannot be read".to_owned()
                    }
                    (_, Err(_)) => "the original's records cannot be read".to_owned(),
                }
            }
        };
        let sees = agent.store_words().sync_copy;
        let finding = finding.effect(format!("{} {sees}; {effect}", agent.agent_id().loader()));
        world.add(None, finding);
    }
}

/// The name of the file that a copy was made of. A host's name may follow the id.
fn original(name: &[u8]) -> Option<Vec<u8>> {
    copied_from(name).or_else(|| {
        let id = name.get(..36).filter(|id| crate::store::is_uuid(id))?;
        Some([id, b".jsonl"].concat())
    })
}

/// The ids of a file's records, each with its first line. Read like a session, and let go at once.
fn ids(world: &World<'_>, n: u32, agent: &'static dyn Judged) -> std::io::Result<HashMap<Id, i64>> {
    let source = world.discovery.open(&world.discovery.files[n as usize])?;
    let facts = parse::read(&source, agent, &Meter::default())?;
    // from behind, so that the first line of an id stays
    let records = facts.records.iter().rev().filter(|r| r.has(flag::ID_STRING));
    Ok(records.map(|r| (r.id, i64::from(r.line))).collect())
}

/// S519. Returns the pairs of files that bear one id: what they share is no shared record.
fn same_id(world: &mut World<'_>) -> HashSet<(u32, u32)> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (id, group) in world.aliases.groups() {
        let files: Vec<u32> = group.iter().map(|k| k.2).filter(|&n| is_called(world, n, id)).collect();
        if files.len() > 1 {
            groups.push(files);
        }
    }
    // by path, and not by the hash of an id
    groups.sort_unstable();
    let mut twins = HashSet::new();
    for files in &groups {
        for (at, &a) in files.iter().enumerate().take(NAMED) {
            twins.extend(files[at + 1..].iter().map(|&b| (a, b)));
        }
        twin(world, files);
    }
    twins
}

/// Whether a resume by this id may take this file: by its name, or by the id inside. Not an id that it is only known by,
/// as those of the processes that resumed it; and not a file that lies in no store, or was passed alone.
fn is_called(world: &World<'_>, n: u32, id: u64) -> bool {
    let file = &world.discovery.files[n as usize];
    let inside_counts = world.agent(file).is_some_and(|agent| agent.goes_by_id_inside());
    let in_store = match world.layout(file) {
        None | Some(Layout::Stdin | Layout::File) => false,
        Some(Layout::Plain) => inside_counts,
        Some(_) => true,
    };
    let named = alias::named_id(world.agents, file);
    let inside = world.note(n).and_then(|note| note.ids().next());
    let called = if inside_counts { inside.or(named) } else { named };
    in_store && called == Some(id) && !world.is_single(n)
}

/// One finding for one id, at the first file that a resume does not take.
fn twin(world: &mut World<'_>, files: &[u32]) {
    let entry = |n: u32| &world.discovery.files[n as usize];
    let Some(agent) = world.agent(entry(files[0])) else { return };
    let folder = |n: u32| world.discovery.folder(entry(n)).map(|f| f.path.as_path()).unwrap_or(Path::new(""));
    let same_folder = files.iter().all(|&n| folder(n) == folder(files[0]));
    let shadow = agent.store_words().shadows && same_folder;
    let (taken, left) = if shadow {
        // `.jsonl` before `.json`
        let lines = files.iter().copied().find(|&n| entry(n).kind == FileKind::Main).unwrap_or(files[0]);
        (Some(lines), files.iter().copied().find(|&n| n != lines))
    } else {
        (None, files.last().copied())
    };
    let Some(left) = left else { return };
    let loader = agent.agent_id().loader();
    let effect = match taken {
        Some(taken) => {
            let name = crate::text::lossy(&entry(taken).name.bytes());
            format!("{loader} takes '{name}' and does not fall through when it does not load")
        }
        None => format!("{loader} {}", agent.store_words().same_id),
    };
    let paths: Vec<String> = files.iter().take(NAMED).map(|&n| world.path_text(n)).collect();
    let mut finding = SAME_ID_TWICE
        .at(Place::default())
        .path(&world.discovery.path(entry(left)))
        .effect(effect)
        .fact("files", paths)
        .count(files.len() as u64);
    if let Some(taken) = taken {
        finding = finding.fact("taken", world.path_text(taken));
    }
    world.add(Some(left), finding);
}

fn shared(world: &mut World<'_>, sample: &mut Sample, twins: &HashSet<(u32, u32)>) {
    /// So many pairs are given a place, for which a file is read again.
    const PLACED: usize = 100;
    let (rate, mut placed) = (sample.rate(), 0);
    for pair in sample.shared() {
        let (a, b) = pair.files;
        let store = |n: u32| world.aliases.store(world.discovery, &world.discovery.files[n as usize]);
        if twins.contains(&(a.min(b), a.max(b))) || store(a) != store(b) {
            continue;
        }
        let Some(loader) = world.discovery.files[b as usize].agent_id.map(AgentId::loader) else { continue };
        let messages = pair.ids.len() as u64;
        let mut finding = SHARED_RECORD
            .at(Place::default())
            .path(&world.discovery.path(&world.discovery.files[b as usize]))
            .effect(format!("{} brings {} back in both sessions", loader, counted(messages, "message")))
            .fact("other", world.path_text(a))
            .count(messages);
        if let Some(rate) = rate.filter(|rate| *rate > 1) {
            finding = finding.fact("sampled_one_of", rate);
        }
        placed += 1;
        if placed <= PLACED
            && let Some(hit) = world.find_first(b, pair.ids)
        {
            finding.place = Place::span(hit.line, hit.offset, hit.length).with_id(Some(hit.id));
        }
        world.add(Some(b), finding);
    }
}

/// So many bytes of neighbours are searched for parents that the sample does not hold.
const SEARCHED: u64 = 256 << 20;

/// Where the parents that files lack are: in the sample, and where that is not complete, in the files beside them.
pub(super) fn elsewhere(world: &World<'_>, sample: &mut Sample) -> Vec<Elsewhere> {
    let complete = sample.rate() == Some(1);
    let mut found: Vec<Elsewhere> = Vec::new();
    let mut open: BTreeMap<u32, Vec<(u32, u32, Id)>> = BTreeMap::new();
    for note in world.notes {
        let Some(file) = world.discovery.files.get(note.file as usize) else { continue };
        let store = world.aliases.store(world.discovery, file);
        for missing in note.missing() {
            let others = sample.files_with(missing.parent.short(), note.file);
            let other = others.into_iter().find(|&n| {
                let other = &world.discovery.files[n as usize];
                world.aliases.store(world.discovery, other) == store && other.agent_id == file.agent_id
            });
            match other {
                Some(other) => found.push(Elsewhere { file: note.file, line: missing.line, other }),
                None if !complete => {
                    open.entry(file.folder).or_default().push((note.file, missing.line, missing.parent));
                }
                None => {}
            }
        }
    }
    let mut budget = SEARCHED;
    for (folder, wanted) in open {
        let ids: HashSet<u64> = wanted.iter().map(|w| w.2.short()).collect();
        for (n, file) in (0_u32..).zip(&world.discovery.files) {
            if file.folder != folder || file.kind != FileKind::Main || file.size > budget {
                continue;
            }
            budget -= file.size;
            let Some(agent) = world.agent(file) else { continue };
            let hits: Vec<Hit> = match world.discovery.open(file) {
                Ok(source) => scan_ids(&source, agent.id_key(), ids.clone(), false).unwrap_or_default(),
                Err(_) => continue,
            };
            for hit in hits {
                let id = Id::of(hit.id.as_bytes());
                let here = wanted.iter().filter(|w| w.2 == id && w.0 != n);
                found.extend(here.map(|w| Elsewhere { file: w.0, line: w.1, other: n }));
            }
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|e| (e.file, e.line));
    found
}
