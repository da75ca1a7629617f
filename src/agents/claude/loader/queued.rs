//! Prompts that were typed while the model worked: which of them the newer loader shows as messages (rules G and H in
//! `docs/formats/claude-code.md`).

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use super::sdk_npm::{View, is_shown_origin};
use crate::chain::graph::{MISSING, NO_PARENT, numbered};
use crate::record::facts::{BlockKind, Id, Kind, Record, flag};
use crate::record::json::Kind as Json;
use crate::record::value::Value;

/// Texts that the client writes when it stops a turn: how many characters, and the beginning of their SHA-256.
const STOPPED: [(usize, u64); 11] = [
    (29, 0x537b_0a1d_cbd6_cd3a),
    (93, 0x5960_154a_b947_14fb),
    (37, 0x215c_7abe_27df_1e80),
    (150, 0xa9b8_0983_dffd_1be6),
    (42, 0x7c43_783e_9e0e_ce33),
    (132, 0x6661_a1c9_b10e_c474),
    (180, 0xde08_a1a2_b42f_d587),
    (286, 0x1027_7a04_283a_7ff7),
    (126, 0xe7b2_f2e4_8cee_e0f6),
    (199, 0xa500_173e_d91f_280f),
    (140, 0x7083_13b8_12e9_3780),
];

/// A queued command, as far as it decides whether it is shown.
struct Held {
    source: Option<Id>,
    delivery: Option<Id>,
    /// All of it, to tell whether two are the same.
    whole: Id,
    /// Whether it is a message once it was delivered.
    speaks: bool,
}

/// What names a delivery: an id of its own, or the command's.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    Delivery(Id),
    Command(Id),
}

impl Held {
    fn name(&self) -> Option<Name> {
        self.delivery.map(Name::Delivery).or(self.source.map(Name::Command))
    }
}

/// The queued commands of a file.
pub(super) struct Queued<'a> {
    view: &'a View<'a>,
    held: HashMap<u32, Held>,
}

impl<'a> Queued<'a> {
    /// None when the file holds none.
    pub(super) fn new(view: &'a View<'a>) -> Option<Self> {
        let records = &view.facts.records;
        let places = numbered(records).filter(|(n, _)| view.holds_queued(*n));
        let held: HashMap<u32, Held> = places.map(|(n, record)| (n, held(view, record))).collect();
        (!held.is_empty()).then_some(Queued { view, held })
    }

    /// The chain with what the loader shows of them: each number of an attachment in it is a message.
    pub(super) fn line(&self, chain: Vec<u32>, leaf: u32) -> Vec<u32> {
        let tail = self.below(&chain, leaf);
        let mut line = chain;
        let from = line.len();
        line.extend(tail);
        let said = self.by_delivery(&line);
        let later = self.answered_later(&line);
        let mut known: HashSet<Id> = line.iter().map(|n| self.view.record(*n).id).collect();
        let mut shown = Vec::with_capacity(line.len());
        for (i, n) in line.into_iter().enumerate() {
            if !self.view.is_attachment(n) {
                shown.push(n);
                continue;
            }
            let Some(held) = self.held.get(&n).filter(|held| held.speaks) else { continue };
            let replied = || i >= from || later.get(&i).copied().unwrap_or(false);
            let delivered = said.get(&i).copied().unwrap_or_else(replied);
            let own = self.view.record(n).id;
            let id = held.source.unwrap_or(own);
            if delivered && (id == own || !known.contains(&id)) {
                known.insert(id);
                shown.push(n);
            }
        }
        shown
    }

    /// Those that hang below the leaf and lead to no message that is not on the chain.
    fn below(&self, chain: &[u32], leaf: u32) -> Vec<u32> {
        let (view, graph) = (self.view, self.view.graph);
        let count = view.facts.records.len();
        let mut below: Vec<(u32, u32)> = Vec::new();
        let own_parent = |r: &Record| graph.find(r.parent, view.facts).unwrap_or(MISSING);
        let mut on = vec![false; count];
        chain.iter().for_each(|&n| on[n as usize] = true);
        let mut leads_on = vec![false; count];
        for (n, record) in numbered(&view.facts.records).filter(|(n, _)| graph.has(*n, view.facts)) {
            let last = graph.canonical(n, view.facts);
            if !view.is_spoken(n) {
                let (first, second) = (own_parent(record), graph.parent[last as usize]);
                below.extend((first < MISSING).then_some((first, n)));
                below.extend((second < MISSING && second != first).then_some((second, n)));
            } else if !record.any(flag::SIDECHAIN | flag::TEAM) && !on[last as usize] {
                let mut up = own_parent(record);
                while up < MISSING && !on[up as usize] && !leads_on[up as usize] {
                    leads_on[up as usize] = true;
                    up = own_parent(view.record(up));
                }
            }
        }
        below.sort_by_key(|&(parent, n)| (parent, view.record(n).time, n));
        let (mut found, mut stack, mut first) = (Vec::new(), vec![leaf], true);
        while let Some(n) = stack.pop() {
            let last = graph.canonical(n, view.facts);
            if !std::mem::take(&mut first) {
                if std::mem::replace(&mut on[last as usize], true) {
                    continue;
                }
                if view.holds_queued(n) && !leads_on[last as usize] {
                    found.push(n);
                }
            }
            let from = below.partition_point(|entry| entry.0 < last);
            let until = below.partition_point(|entry| entry.0 <= last);
            stack.extend(below[from..until].iter().rev().map(|entry| entry.1));
        }
        found
    }

    /// For places on the line of which the file itself says whether they were delivered: whether they were.
    fn by_delivery(&self, line: &[u32]) -> HashMap<usize, bool> {
        let (mut counts, entries) = self.delivered();
        let mut said = HashMap::new();
        // From the end: the last ones are those that were delivered.
        for (i, n) in line.iter().enumerate().rev() {
            let Some(name) = self.held.get(n).and_then(Held::name) else { continue };
            let Some(left) = counts.get_mut(&name) else { continue };
            let delivered = match name {
                Name::Delivery(_) => entries.contains(&self.view.record(*n).id),
                Name::Command(_) => *left > 0,
            };
            *left = left.saturating_sub(1);
            said.insert(i, delivered);
        }
        said
    }

    /// How often each was handed over in the middle of a turn, and the rows that this is said of.
    fn delivered(&self) -> (HashMap<Name, u32>, HashSet<Id>) {
        let view = self.view;
        let (mut counts, mut copies) = (HashMap::new(), HashMap::<Id, Vec<Id>>::new());
        let (mut seen, mut texts, mut mixed) = (HashSet::new(), HashMap::new(), HashSet::new());
        for (n, record) in numbered(&view.facts.records) {
            if record.kind == Kind::Queue && record.has(flag::LOOK) {
                if let Some(name) = view.look(record, |row| handed_over(&row)) {
                    *counts.entry(name).or_insert(0) += 1;
                }
                continue;
            }
            match self.held.get(&n).map(|held| (held, held.name())) {
                Some((_, Some(Name::Delivery(id)))) if seen.insert(record.id) => {
                    copies.entry(id).or_default().push(record.id);
                }
                Some((held, Some(Name::Command(id)))) if *texts.entry(id).or_insert(held.whole) != held.whole => {
                    mixed.insert(id);
                }
                _ => {}
            }
        }
        counts.retain(|name, _| !matches!(name, Name::Command(id) if mixed.contains(id)));
        let mut entries = HashSet::new();
        for (id, rows) in copies {
            let count = counts.get(&Name::Delivery(id)).map_or(0, |n| *n as usize);
            entries.extend(rows[rows.len().saturating_sub(count)..].iter().copied());
        }
        (counts, entries)
    }

    /// For each queued command on the line: whether the next thing that counts is a reply and no other prompt.
    fn answered_later(&self, line: &[u32]) -> HashMap<usize, bool> {
        let finished = self.finished_commands(line);
        let mut answers = HashMap::new();
        let (mut next, mut until) = (false, line.len());
        for (i, _) in line.iter().enumerate().rev().filter(|(_, n)| self.held.contains_key(n)) {
            let decides = (i + 1..until).find_map(|j| self.decides(line[j], finished.contains(&j)));
            next = decides.unwrap_or(next);
            until = i;
            answers.insert(i, next);
        }
        answers
    }

    /// Whether a record is a reply, or another prompt; none for what is neither.
    fn decides(&self, n: u32, finished: bool) -> Option<bool> {
        let (view, record) = (self.view, self.view.record(n));
        match view.kind(n) {
            Kind::Assistant => return Some(true),
            Kind::User => {}
            _ => return None,
        }
        let is_result = view.facts.blocks_of(record).iter().any(|b| b.kind == BlockKind::Result);
        if is_result && view.graph.parent[n as usize] != NO_PARENT
            || view.look(record, |row| Some(stopped_turn(&row))) == Some(true)
        {
            return Some(true);
        }
        (!record.any(flag::META | flag::COMPACT_SUMMARY) && !finished).then_some(false)
    }

    /// Places of the rows of a command that the client ran itself to its end: they wait for no answer.
    fn finished_commands(&self, line: &[u32]) -> HashSet<usize> {
        let mut found = HashSet::new();
        // Whether a caveat waits for its command, and whether a command may have more output.
        let (mut waits, mut runs) = (false, false);
        for (i, &n) in line.iter().enumerate() {
            let record = self.view.record(n);
            let meta = record.has(flag::META);
            match self.view.kind(n) {
                Kind::Assistant => (waits, runs) = (false, false),
                Kind::User if meta || waits || runs => {
                    let tag = self.view.look(record, |row| tag(&row));
                    match (tag, meta) {
                        (Some(Tag::Caveat), true) => waits = true,
                        (_, true) => {}
                        (Some(Tag::Command), false) if waits => {
                            (waits, runs) = (false, true);
                            found.insert(i);
                        }
                        (Some(Tag::Output), false) if runs => {
                            waits = false;
                            found.insert(i);
                        }
                        _ => (waits, runs) = (false, false),
                    }
                }
                _ => {}
            }
        }
        found
    }
}

fn held(view: &View<'_>, record: &Record) -> Held {
    let none = Held { source: None, delivery: None, whole: Id::NONE, speaks: false };
    view.look(record, |row| {
        // A turn by voice holds its command, and beside it what was said and from where.
        let voice = record.kind == Kind::System;
        let held = if voice { row.at(&["fold", "command"])? } else { row.get("attachment")? };
        let prompt = voice || held.get("prompt").is_some_and(|p| matches!(p.kind(), Json::String | Json::Array));
        let hidden =
            held.get("isMeta").is_some_and(|meta| meta.truthy()) && !is_shown_origin(if voice { row } else { held });
        let lineage = named(held.at(&["forwardedIntent", "lineage"])).is_some();
        Some(Held {
            source: named(held.get("source_uuid")),
            delivery: named(held.get("delivery_id")),
            whole: Id::of(held.raw()),
            speaks: prompt && !hidden && !lineage,
        })
    })
    .unwrap_or(none)
}

/// A string that is not empty, as an id.
fn named(value: Option<Value<'_>>) -> Option<Id> {
    value?.text().filter(|text| !text.as_bytes().is_empty()).map(|text| Id::of(text.as_bytes()))
}

/// What a row of the queue says was handed over in the middle of a turn.
fn handed_over(row: &Value<'_>) -> Option<Name> {
    let is = |key, word: &str| row.get(key).and_then(|v| v.string()).as_deref() == Some(word);
    if !is("operation", "remove") || !is("reason", "absorbed_mid_turn") {
        return None;
    }
    named(row.get("deliveryId")).map(Name::Delivery).or_else(|| named(row.get("commandUuid")).map(Name::Command))
}

/// Whether a text begins with one of these.
pub(super) fn begins(text: &str, list: &[(usize, u64)]) -> bool {
    list.iter().any(|&(size, digest)| {
        let end = text.char_indices().nth(size).map_or(text.len(), |(at, _)| at);
        (end < text.len() || text.chars().count() == size) && {
            let sha = Sha256::digest(&text.as_bytes()[..end]);
            sha.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)) == digest
        }
    })
}

/// Whether a user's row holds nothing but what the client writes when it stops a turn.
fn stopped_turn(row: &Value<'_>) -> bool {
    let Some(content) = row.at(&["message", "content"]) else { return false };
    let stops = |text: Option<String>| text.is_some_and(|text| begins(&text, &STOPPED));
    if content.kind() == Json::String {
        return stops(content.string());
    }
    let blocks = content.items();
    !blocks.is_empty()
        && blocks.iter().all(|block| match block.get("type").and_then(|t| t.string()).as_deref() {
            Some("text") => stops(block.get("text").and_then(|t| t.string())),
            Some("tool_result") if block.get("is_error").is_some_and(|e| e.kind() == Json::True) => {
                stops(block.get("content").and_then(|t| t.string()))
            }
            _ => false,
        })
}

/// What a row of a command that the client ran itself is.
enum Tag {
    Caveat,
    Command,
    Output,
}

fn tag(row: &Value<'_>) -> Option<Tag> {
    if row.get("promptSource").is_some() {
        return None;
    }
    let content = row.at(&["message", "content"])?;
    let text = match content.kind() {
        Json::Array => {
            let is_text = |b: &&Value<'_>| b.get("type").and_then(|t| t.string()).as_deref() == Some("text");
            content.items().iter().rev().find(is_text)?.get("text")?.string()?
        }
        _ => content.string()?,
    };
    Some(match text {
        text if text.starts_with("<local-command-caveat>") => Tag::Caveat,
        text if text.starts_with("<command-name>") => Tag::Command,
        text if text.starts_with("<local-command-stdout>") => Tag::Output,
        text if text.starts_with("<local-command-stderr>") => Tag::Output,
        _ => return None,
    })
}
