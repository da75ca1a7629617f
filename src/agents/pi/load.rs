//! pi's loader (`pi 1.6.0`: `docs/formats/pi.md`, section 6) and OpenClaw's deviations (`openclaw 2026.7.35`, section 7).

use std::collections::HashMap;

use super::LoaderRules;
use crate::chain::graph::{Graph, MISSING, NO_PARENT, numbered};
use crate::chain::{Chain, Mode, Refusal, Stop, walk};
use crate::record::facts::{Facts, Kind, Record, flag};

/// pi's own rules.
pub(super) const PI: LoaderRules =
    LoaderRules { load, load_from, needs_id: is_entry, needs_parent_key: |_| true, edited: super::request::edited };

/// OpenClaw's: an entry without an id is opaque, one without a parent key is attached to the leaf as it then is.
pub(super) const OPENCLAW: LoaderRules = LoaderRules {
    load: load_openclaw,
    load_from: load_openclaw_from,
    needs_id: |_| false,
    needs_parent_key: |_| false,
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
    let records = &facts.records;
    if header(records).is_none() {
        return Chain::none(Some(Refusal::NoHeader));
    }
    if old_version(facts) {
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
        _ => None,
    };
    let mut chain = context(facts, path);
    (chain.leaf, chain.stop) = (Some(start), stop);
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

/// The file's header. null lines are skipped, and rows that are no entries (a title row that programs built on pi write
/// first in real files); any entry before it makes pi refuse the file.
pub(crate) fn header(records: &[Record]) -> Option<u32> {
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

/// v1 files have no ids: pi gives each entry a new one and chains them in file order.
pub(crate) fn old_version(facts: &Facts) -> bool {
    facts.version.as_deref().is_none_or(|v| v.parse::<f64>().is_ok_and(|v| v < 2.0))
        && !facts.records.iter().any(|r| r.kind != Kind::Start && r.has(flag::ID_STRING))
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
fn context(facts: &Facts, path: Vec<u32>) -> Chain {
    let record = |n: u32| &facts.records[n as usize];
    let mut lost = None;
    let mut selected: Vec<u32> = Vec::new();
    match path.iter().rposition(|&n| record(n).kind == Kind::Compaction) {
        None => selected.extend(&path),
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
    let edits: HashMap<u64, bool> = edits.map(|r| (r.target(), r.has(flag::OMITS))).collect();
    let messages = selected
        .iter()
        .copied()
        .filter(|&n| {
            let r = record(n);
            let speaks = r.is_message() || matches!(r.kind, Kind::Custom | Kind::Compaction | Kind::BranchSummary);
            speaks && (edits.is_empty() || edits.get(&r.id.short()) != Some(&true))
        })
        .collect();
    Chain {
        mode: Mode::Tree,
        leaf: path.last().copied(),
        adopted: path,
        messages,
        stop: Stop::Root,
        refusal: None,
        kept_range_lost: lost,
    }
}

/// v1: every entry in file order; the compaction keeps a range by index, which `rules` does not judge.
fn linear(facts: &Facts) -> Chain {
    let adopted: Vec<u32> = numbered(&facts.records)
        .filter(|(_, r)| !matches!(r.kind, Kind::Start | Kind::NonObject))
        .map(|(n, _)| n)
        .collect();
    let messages = adopted
        .iter()
        .copied()
        .filter(|&n| {
            let r = &facts.records[n as usize];
            r.is_message() || matches!(r.kind, Kind::Custom | Kind::Compaction | Kind::BranchSummary)
        })
        .collect();
    Chain { mode: Mode::Linear, leaf: adopted.last().copied(), adopted, messages, ..Chain::none(None) }
}
