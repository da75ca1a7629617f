//! sid-code's loader: `sid-code 3f3215144f68`, as `docs/formats/sid-code.md`, section 4, has it.

use crate::chain::{Chain, Mode, Refusal, Stop};
use crate::record::facts::{Facts, Id, IdTable, Kind, Record, flag};

/// Follows the loader: order, fold, and the reasons for which it returns null.
pub(crate) fn load(facts: &Facts) -> Chain {
    let records = &facts.records;
    let Some((tail, last)) = records.iter().enumerate().next_back() else {
        return Chain::none(Some(Refusal::NothingParses));
    };
    let tail = tail as u32;
    let chained = last.kind != Kind::NonObject && last.has(flag::ID_STRING);
    if chained {
        return load_from(facts, tail);
    }
    let adopted: Vec<u32> = (0..=tail).collect();
    let (messages, refusal) = fold(records, &adopted);
    Chain { mode: Mode::Linear, leaf: Some(tail), adopted, messages, stop: Stop::Root, refusal, kept_range_lost: None }
}

/// The chain of a tail that is given.
pub(crate) fn load_from(facts: &Facts, tail: u32) -> Chain {
    let (adopted, stop) = walk_up(&facts.records, tail);
    let (messages, refusal) = fold(&facts.records, &adopted);
    Chain { mode: Mode::Chain, leaf: Some(tail), adopted, messages, stop, refusal, kept_range_lost: None }
}

/// Whether a file is a sidechain: its first record says so.
pub(crate) fn is_side(facts: &Facts) -> bool {
    let first = facts.records.iter().find(|r| r.kind != Kind::NonObject);
    let side = |r: &Record| matches!(r.kind, Kind::TranscriptStart | Kind::TranscriptMessage | Kind::TranscriptEnd);
    first.is_some_and(side)
}

/// The start record of a fork has its source's session id where others have a parent (`docs/formats/sid-code.md`,
/// section 2).
pub(crate) fn is_fork_start(record: &Record) -> bool {
    record.kind == Kind::Start
}

/// sid-code's sidechains have no ids: what is reconstructed is every message in order (`docs/formats/sid-code.md`,
/// section 3). The session loader, which returns null for them, decides which lines are adopted.
pub(crate) fn load_side(facts: &Facts) -> Chain {
    let messages = (0..facts.records.len() as u32)
        .filter(|&n| facts.records[n as usize].kind == Kind::TranscriptMessage)
        .collect();
    Chain { messages, refusal: None, ..load(facts) }
}

/// Walks physically upwards once: a record is taken when its id is the parent that is due. A parent that stands below
/// its child is never found; of several records with one id the nearest above the child is.
pub(crate) fn walk_up(records: &[Record], tail: u32) -> (Vec<u32>, Stop) {
    let mut adopted = vec![tail];
    let mut seen = IdTable::with_capacity(tail as usize + 1);
    let of = |n: u32| records[n as usize].id;
    seen.put(of(tail), tail, false, of);
    let mut lowest = tail;
    let mut due = parent_due(&records[tail as usize]);
    let mut stop = Stop::Root;
    for n in (0..tail).rev() {
        let Some(parent) = due else { break };
        let record = &records[n as usize];
        if record.kind == Kind::NonObject || record.id != parent {
            continue;
        }
        if seen.put(record.id, n, false, of).is_some() {
            stop = Stop::Repeat(lowest);
            due = None;
            break;
        }
        adopted.push(n);
        lowest = n;
        due = parent_due(record);
    }
    if let Some(parent) = due.filter(|_| !is_fork_start(&records[lowest as usize])) {
        let below = records[lowest as usize..].iter().any(|r| r.kind != Kind::NonObject && r.id == parent);
        stop = match (parent == records[lowest as usize].id, below) {
            (true, _) => Stop::Repeat(lowest),
            (false, true) => Stop::ParentBelow(lowest),
            (false, false) => Stop::MissingParent(lowest),
        };
    }
    adopted.reverse();
    (adopted, stop)
}

fn parent_due(record: &Record) -> Option<Id> {
    (!record.parent.is_none()).then_some(record.parent)
}

/// The loader's fold over the adopted records: messages in order, and whether it returns null.
fn fold(records: &[Record], adopted: &[u32]) -> (Vec<u32>, Option<Refusal>) {
    let mut messages = Vec::new();
    // The last start record decides: without a session id the result is null.
    let mut started = false;
    for &n in adopted {
        let record = &records[n as usize];
        if record.has(flag::IS_NULL) {
            return (Vec::new(), Some(Refusal::Throws(n, "reads the type of null")));
        }
        match record.kind {
            Kind::Start => started = record.has(flag::SESSION_ID),
            Kind::User | Kind::Assistant | Kind::ToolMessage => {
                if record.has(flag::CONTEXT_FIELDS) && !record.has(flag::MESSAGE) && !is_array_message(record) {
                    return (Vec::new(), Some(Refusal::Throws(n, "copies fields into a message that is not there")));
                }
                messages.push(n);
            }
            _ => {}
        }
    }
    if started { (messages, None) } else { (Vec::new(), Some(Refusal::NoStart)) }
}

/// A message that is an array takes fields without a throw; it is not told apart from other values, and no agent writes it.
fn is_array_message(_record: &Record) -> bool {
    false
}
