//! pi's loader (`pi 1.6.0`: `docs/formats/pi.md`, section 6) and OpenClaw's deviations (`openclaw 2026.7.35`, section 7).

use std::collections::HashMap;

use super::LoaderRules;
use super::records::own;
use crate::chain::graph::{Graph, MISSING, NO_PARENT, numbered};
use crate::chain::{Chain, Mode, Refusal, Stop, walk};
use crate::record::facts::{Facts, Kind, Record, flag};

/// pi's own rules.
pub(super) const PI: LoaderRules = LoaderRules {
    load,
    load_from,
    needs_id: is_entry,
    needs_parent_key: |_| true,
    by_version: true,
    edited: super::request::edited,
};

/// oh-my-pi's: a title row may stand before the header.
pub(super) const OMP: LoaderRules = LoaderRules { load: load_omp, ..PI };

/// OpenClaw's: an entry without an id is opaque, one without a parent key is attached to the leaf as it then is.
pub(super) const OPENCLAW: LoaderRules = LoaderRules {
    load: load_openclaw,
    load_from: load_openclaw_from,
    needs_id: |_| false,
    needs_parent_key: |_| false,
    by_version: false,
    // It does not know them.
    edited: |_| HashMap::new(),
};

/// A row with neither id nor parent key that says nothing is no entry: programs built on pi write titles so.
fn is_entry(record: &Record) -> bool {
    !matches!(record.kind, Kind::NonObject | Kind::Start)
        && (record.kind != Kind::Other || record.any(flag::PARENT_KEY | flag::ID_OTHER))
}

/// Follows pi: leaf, path, compaction context.
pub(crate) fn load(facts: &Facts, graph: &Graph) -> Chain {
    if header(&facts.records).is_none() {
        return Chain::none(Some(Refusal::NoHeader));
    }
    load_below_header(facts, graph)
}

/// Follows oh-my-pi: as pi, with a title row before the header.
fn load_omp(facts: &Facts, graph: &Graph) -> Chain {
    if header_below_title(&facts.records).is_none() {
        return Chain::none(Some(Refusal::NoHeader));
    }
    load_below_header(facts, graph)
}

fn load_below_header(facts: &Facts, graph: &Graph) -> Chain {
    let records = &facts.records;
    if states_first_version(facts) {
        return linear(facts);
    }
    let Some((leaf, last)) = numbered(records).rev().find(|(_, r)| r.kind != Kind::Start && !r.has(flag::IS_NULL))
    else {
        return Chain { mode: Mode::Tree, ..Chain::none(None) };
    };
    if last.kind == Kind::NonObject {
        // The leaf becomes undefined: no path, an empty context.
        return Chain { mode: Mode::Tree, leaf: Some(leaf), ..Chain::none(None) };
    }
    load_from(facts, graph, if last.has(flag::ID_STRING) { graph.canonical(leaf, facts) } else { leaf })
}

/// The chain of a leaf that is given.
pub(crate) fn load_from(facts: &Facts, graph: &Graph, start: u32) -> Chain {
    let (path, stop) = walk::path(facts.records.len(), start, |n| parent_of(facts, graph, n), |n| n);
    let refusal = match stop {
        Stop::Repeat(n) => Some(Refusal::NeverReturns(n)),
        _ => throws(facts, &path),
    };
    let mut chain = context(facts, path);
    (chain.leaf, chain.stop) = (Some(start), stop);
    let refusal = refusal.or(chain.refusal);
    if refusal.is_some() {
        chain.messages.clear();
        chain.refusal = refusal;
    }
    chain
}

/// Follows OpenClaw: entries without an id are opaque, one without a parent key is attached to the leaf as it then is,
/// leaf controls move the leaf, a repeat ends the walk.
pub(crate) fn load_openclaw(facts: &Facts, graph: &Graph) -> Chain {
    let records = &facts.records;
    if !records.iter().any(is_header) && records.is_empty() {
        return Chain::none(Some(Refusal::NoHeader));
    }
    if old_version(facts) {
        return linear(facts);
    }
    let (attached, leaf) = attach(facts, graph);
    let Some(leaf) = leaf else {
        return Chain { mode: Mode::Tree, ..Chain::none(None) };
    };
    openclaw_path(facts, &attached, graph.canonical(leaf, facts))
}

/// The chain of a leaf that is given.
pub(crate) fn load_openclaw_from(facts: &Facts, graph: &Graph, start: u32) -> Chain {
    openclaw_path(facts, &attach(facts, graph).0, start)
}

/// Each record's parent as OpenClaw has it, and the leaf.
fn attach(facts: &Facts, graph: &Graph) -> (Vec<u32>, Option<u32>) {
    let records = &facts.records;
    let mut attached = graph.parent.clone();
    let mut leaf = None;
    for (n, record) in numbered(records) {
        if !graph.has(n, facts) {
            continue;
        }
        if record.has(own::OPAQUE) {
            continue;
        }
        if record.kind == Kind::Leaf {
            // A control whose target is unknown is ignored.
            if let Some(target) = target_of(facts, graph, record, n) {
                leaf = Some(target);
            }
            continue;
        }
        if !record.has(flag::PARENT_KEY) {
            attached[n as usize] = leaf.unwrap_or(NO_PARENT);
        }
        leaf = Some(n);
    }
    (attached, leaf)
}

fn openclaw_path(facts: &Facts, attached: &[u32], start: u32) -> Chain {
    let (path, stop) = walk::path(facts.records.len(), start, |n| attached[n as usize], |n| n);
    // It does not know context edits: it walks past them.
    let known = path.into_iter().filter(|&n| facts.records[n as usize].kind != Kind::ContextEdit).collect();
    let mut chain = context(facts, known);
    (chain.leaf, chain.stop) = (Some(start), stop);
    chain
}

/// The file's header: the first record. Lines that JavaScript takes for nothing (`null`, `0`) are skipped; anything else
/// before it, a title row too, makes pi refuse the file.
pub(crate) fn header(records: &[Record]) -> Option<u32> {
    let (n, first) = numbered(records).find(|(_, r)| !r.any(flag::IS_FALSY | flag::IS_NULL))?;
    is_header(first).then_some(n)
}

/// The header of a file of oh-my-pi: a row without id may stand before it.
pub(super) fn header_below_title(records: &[Record]) -> Option<u32> {
    let entry = |r: &Record| {
        r.kind == Kind::Start || r.any(flag::ID_STRING | flag::ID_OTHER | flag::PARENT_KEY) || r.is_message()
    };
    let row = |r: &Record| r.kind == Kind::NonObject && !r.has(flag::IS_NULL);
    let (n, first) = numbered(records).find(|(_, r)| entry(r) || row(r))?;
    is_header(first).then_some(n)
}

/// Whether the record is a header that pi accepts.
pub(crate) fn is_header(record: &Record) -> bool {
    record.kind == Kind::Start && record.has(flag::ID_STRING)
}

/// pi goes by the header alone: in a file of version 1, or of none, each entry gets a new id, and they are chained in file
/// order (`docs/formats/pi.md`, sections 4 and 13).
pub(super) fn states_first_version(facts: &Facts) -> bool {
    facts.version.as_deref().is_none_or(|v| v.parse::<f64>().is_ok_and(|v| v < 2.0))
}

/// v1 files have no ids.
pub(crate) fn old_version(facts: &Facts) -> bool {
    states_first_version(facts) && !has_ids(facts)
}

/// Whether an entry has an id.
pub(super) fn has_ids(facts: &Facts) -> bool {
    facts.records.iter().any(|r| r.kind != Kind::Start && r.has(flag::ID_STRING))
}

/// An entry of type message whose message is missing or null. pi reads its role, on the path for the model and in the
/// whole file for the footer.
pub(super) fn has_no_message(record: &Record) -> bool {
    record.has(flag::ROLE_BAD) && !record.any(flag::MESSAGE | flag::MESSAGE_OTHER)
}

/// What pi's reader of the path throws on.
fn throws(facts: &Facts, path: &[u32]) -> Option<Refusal> {
    let without = |n: &&u32| has_no_message(&facts.records[**n as usize]);
    path.iter().find(without).map(|&n| Refusal::Throws(n, "reads the role of a message that is not there"))
}

fn target_of(facts: &Facts, graph: &Graph, control: &Record, n: u32) -> Option<u32> {
    let (_, earlier) = (control.target() != 0)
        .then_some(())
        .and_then(|()| numbered(&facts.records[..n as usize]).rev().find(|(_, r)| r.id.short() == control.target()))
        .map(|(m, r)| (m, r.id))?;
    graph.find(earlier, facts)
}

fn parent_of(facts: &Facts, graph: &Graph, n: u32) -> u32 {
    let record = &facts.records[n as usize];
    if record.has(flag::ID_STRING) {
        return graph.parent[n as usize];
    }
    // An entry without an id is in no index, but the walk begins at it.
    if record.parent.is_none() { NO_PARENT } else { graph.find(record.parent, facts).unwrap_or(MISSING) }
}

/// The context of a path: the last compaction's summary, the kept range before it, what follows (rule 5).
fn context(facts: &Facts, whole: Vec<u32>) -> Chain {
    let record = |n: u32| &facts.records[n as usize];
    // oh-my-pi: what stands above a reset is not in the context.
    let anew = whole.iter().rposition(|&n| record(n).has(own::CONTEXT_RESET)).map_or(0, |at| at + 1);
    let path = &whole[anew..];
    let mut lost = None;
    let mut selected: Vec<u32> = Vec::new();
    match path.iter().rposition(|&n| record(n).kind == Kind::Compaction) {
        None => selected.extend(path),
        Some(at) => {
            let compaction = record(path[at]);
            selected.push(path[at]);
            if !compaction.has(flag::KEEPS_NOTHING) {
                match path[..at]
                    .iter()
                    .position(|&n| record(n).id.short() == compaction.target() && compaction.target() != 0)
                {
                    Some(first) => selected.extend(&path[first..at]),
                    None => lost = Some(path[at]),
                }
            }
            selected.extend(&path[at + 1..]);
        }
    }
    // The latest edit of a target counts: a later one may put something back.
    let edits = selected.iter().map(|&n| record(n)).filter(|r| r.kind == Kind::ContextEdit);
    let edits: HashMap<u64, &Record> = edits.map(|r| (r.target(), r)).collect();
    let edit = |r: &Record| if edits.is_empty() { None } else { edits.get(&r.id.short()) };
    let messages: Vec<u32> = selected
        .iter()
        .copied()
        .filter(|&n| {
            let r = record(n);
            let speaks = r.is_message() || matches!(r.kind, Kind::Custom | Kind::Compaction | Kind::BranchSummary);
            speaks && edit(r).is_none_or(|edit| !edit.has(flag::OMITS))
        })
        .collect();
    // pi reads the content of a replacement that is not there.
    let unedited = |n: &&u32| {
        let r = record(**n);
        (r.is_message() || r.kind == Kind::Custom) && edit(r).is_some_and(|edit| edit.has(own::NO_REPLACEMENT))
    };
    let throws = messages.iter().find(unedited);
    let throws = throws.map(|&n| Refusal::Throws(n, "reads the replacement that an edit of it does not have"));
    Chain {
        mode: Mode::Tree,
        leaf: whole.last().copied(),
        adopted: whole,
        messages,
        stop: Stop::Root,
        refusal: throws,
        kept_range_lost: lost,
    }
}

/// v1: every entry in file order; the compaction keeps a range by index, which `rules` does not judge. One that names its
/// first kept entry by id keeps nothing: the ids are new.
fn linear(facts: &Facts) -> Chain {
    let adopted: Vec<u32> = numbered(&facts.records)
        .filter(|(_, r)| !matches!(r.kind, Kind::Start | Kind::NonObject))
        .map(|(n, _)| n)
        .collect();
    let compacted = |n: &u32| {
        let r = &facts.records[*n as usize];
        r.kind == Kind::Compaction && r.target() != 0
    };
    let first = adopted.iter().rposition(compacted).unwrap_or(0);
    let messages = adopted[first.min(adopted.len())..]
        .iter()
        .copied()
        .filter(|&n| {
            let r = &facts.records[n as usize];
            r.is_message() || matches!(r.kind, Kind::Custom | Kind::Compaction | Kind::BranchSummary)
        })
        .collect();
    let refusal = throws(facts, &adopted);
    let messages = if refusal.is_some() { Vec::new() } else { messages };
    Chain { mode: Mode::Linear, refusal, leaf: adopted.last().copied(), adopted, messages, ..Chain::none(None) }
}
