//! S508: a run of messages that belong to another session.
//!
//! Only Claude Code writes the session's id on every record. The file's own id is that of its name; of a copy under
//! another name, that of the first message. A run is foreign when its messages bear another id *and* it hangs in the
//! air: one that is linked to the session's own messages is a conversation that went on under a new id, as older
//! clients and background copies have it. Hook rows may keep an earlier id, and so does the marker of the
//! interrupt after which a plan was approved with a cleared context: only other messages count.

use crate::chain::graph::{MISSING, NO_PARENT};
use crate::record::facts::{Kind, Record, flag};
use crate::rules::store::FOREIGN_RECORDS;
use crate::rules::{Collector, Context, counted};
use crate::session::Shape;
use crate::store::is_uuid;

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    if session.shape != Shape::Main {
        return;
    }
    let facts = &session.facts;
    let message = |r: &Record| {
        matches!(r.kind, Kind::User | Kind::Assistant)
            && r.session != 0
            && r.has(flag::ID_STRING)
            && !r.any(flag::SIDECHAIN | flag::TEAM | flag::FORKED | flag::BACKGROUND | flag::INTERRUPT)
    };
    let mut messages = (0_u32..).zip(&facts.records).filter(|(_, r)| message(r)).map(|(n, _)| n).peekable();
    let Some(&first) = messages.peek() else { return };
    let stem = session.path.file_stem().map(|s| s.as_encoded_bytes()).filter(|s| is_uuid(s));
    let named = |n: u32| {
        let id = facts.names.get(session.record(n).session);
        stem.zip(id).is_some_and(|(stem, id)| id.eq_ignore_ascii_case(stem))
    };
    // Without one record of the name's id the whole file is another's: S506.
    let own = messages.clone().find(|&n| named(n)).unwrap_or(first);
    let own = session.record(own).session;
    let is_own = |n: u32| session.record(n).session == own;
    // Most files have one id throughout.
    if messages.clone().all(is_own) {
        return;
    }
    let linked = linked_to_own(context, own);
    let mut run: Option<(u32, u32, u64)> = None;
    let mut runs = Vec::new();
    for n in messages.by_ref() {
        match &mut run {
            _ if is_own(n) || linked[n as usize] => runs.extend(run.take()),
            Some((start, last, count)) if session.record(*start).session == session.record(n).session => {
                (*last, *count) = (n, *count + 1);
            }
            _ => {
                runs.extend(run.take());
                run = Some((n, n, 1));
            }
        }
    }
    runs.extend(run);
    for (start, last, count) in runs {
        if !found.wants(&FOREIGN_RECORDS) {
            continue;
        }
        let other = facts.names.text(session.record(start).session);
        found.add(
            FOREIGN_RECORDS
                .at(context.place(start))
                .effect(format!(
                    "{} of session \"{other}\": a resume of either session does not bring both histories back",
                    counted(count, "message")
                ))
                .fact("session", other)
                .fact("own_session", facts.names.text(own))
                .fact("messages", count)
                .fact("last_line", session.record(last).line),
        );
    }
}

/// Of each record whether parent pointers connect it with a message of the file's own id, in either direction: with one
/// above it, or with one below. Linear: components are joined along parent pointers.
fn linked_to_own(context: &Context<'_>, own: u16) -> Vec<bool> {
    let session = context.session;
    let count = session.facts.records.len();
    let mut root: Vec<u32> = (0..count as u32).collect();
    for n in 0..count as u32 {
        let parent = session.graph.parent[n as usize];
        if parent != NO_PARENT && parent != MISSING {
            let (a, b) = (find(&mut root, n), find(&mut root, parent));
            root[a as usize] = b;
        }
    }
    let mut has_own = vec![false; count];
    for n in 0..count as u32 {
        let record = session.record(n);
        if record.session == own && matches!(record.kind, Kind::User | Kind::Assistant) {
            let at = find(&mut root, n);
            has_own[at as usize] = true;
        }
    }
    (0..count as u32).map(|n| has_own[find(&mut root, n) as usize]).collect()
}

/// The representative of a component, halving the path on the way.
fn find(root: &mut [u32], mut n: u32) -> u32 {
    while root[n as usize] != n {
        root[n as usize] = root[root[n as usize] as usize];
        n = root[n as usize];
    }
    n
}
