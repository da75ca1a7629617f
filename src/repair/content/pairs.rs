//! Calls and results: orphan calls get a result that says the outcome is unknown, what no request may hold leaves.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use super::Targets;
use super::array::Content;
use super::lines::{drop_records, point, raw_id, raw_parent};
use crate::chain::survey::{Reason, Survey};
use crate::finding::Fix;
use crate::record::facts::{BlockKind, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::repair::answer::{Job, Way};
use crate::repair::edit::{Action, Edit};
use crate::repair::links::{quoted, session_id, set_member, whole_line};
use crate::repair::synthesize;
use crate::repair::text::Splice;
use crate::request::pairing::{Again, NONE, Pairing, State};
use crate::rules::Examined;
use crate::session::Session;

/// The targets whose other half is nowhere in the file. Behind a filter or on another branch it is still there: no answer
/// is made up beside it, and no output is dropped.
pub(super) fn alone(job: &Job<'_>, targets: &Targets) -> Targets {
    let Examined { session, request, .. } = job.examined;
    let sent: BTreeSet<u32> = request.rows.iter().map(|r| r.record).collect();
    let facts = &session.facts;
    // What lies before a boundary is never sent again: a half that stands there is no partner.
    let survey = Survey::new(session.agent, facts, &session.graph, &session.chain);
    let behind = |n: u32| survey.reason(n) == Some(Reason::BeforeBoundary);
    let aside = (0..).zip(&facts.records).filter(|&(n, _)| !sent.contains(&n) && !behind(n)).map(|(_, r)| r);
    let mut elsewhere: BTreeSet<(bool, u64)> = BTreeSet::new();
    for b in aside.chain(&facts.hidden).flat_map(|r| facts.blocks_of(r)).filter(|b| b.id != 0) {
        match b.kind {
            BlockKind::Call => drop(elsewhere.insert((true, b.id))),
            BlockKind::Result => drop(elsewhere.insert((false, b.id))),
            _ => {}
        }
    }
    let mut by_record = BTreeMap::new();
    for (n, blocks) in targets.iter() {
        let in_company = facts.blocks_of(session.record(n)).iter().filter(|b| match b.kind {
            BlockKind::Call => elsewhere.contains(&(false, b.id)),
            BlockKind::Result => elsewhere.contains(&(true, b.id)),
            _ => false,
        });
        let in_company: BTreeSet<usize> = in_company.map(|b| usize::from(b.index)).collect();
        let alone: Vec<usize> = blocks.iter().copied().filter(|i| !in_company.contains(i)).collect();
        // A record of pi is one result, and its finding may name no block.
        if !alone.is_empty() || (blocks.is_empty() && !in_company.contains(&0)) {
            by_record.insert(n, alone);
        }
    }
    Targets { by_record }
}

/// The record that was read last: the calls of one message come one after the other, and so do the results.
#[derive(Default)]
struct Last(Option<(u32, Option<Content>)>);

impl Last {
    fn read(&mut self, session: &Session, n: u32) -> io::Result<Option<&Content>> {
        if self.0.as_ref().is_none_or(|(last, _)| *last != n) {
            self.0 = Some((n, Content::read(session, session.record(n))?));
        }
        Ok(self.0.as_ref().and_then(|(_, content)| content.as_ref()))
    }
}

/// The shortest id that can be told from another without its punctuation.
const TELLING: usize = 8;

/// Results that lost their call only because their id lost its punctuation, or has something behind it, get its id.
pub(super) fn reunited(job: &Job<'_>) -> io::Result<Way> {
    let Examined { session, request: sent, .. } = job.examined;
    let pairing = Pairing::new(session, sent);
    let plain = |id: &str| id.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let dangling: Vec<_> = pairing.results.iter().filter(|r| r.state == State::Dangling).collect();
    if dangling.is_empty() {
        return Ok(Vec::new());
    }
    let (mut last, mut lengths) = (Last::default(), BTreeSet::new());
    let mut open: HashMap<String, Vec<(u32, String)>> = HashMap::new();
    for call in pairing.calls.iter().filter(|c| c.answer == NONE) {
        let n = sent.rows[call.row as usize].record;
        let Some(content) = last.read(session, n)? else { continue };
        let index = sent.blocks(&session.facts, n).get(call.block as usize).map(|b| usize::from(b.index));
        let Some(id) = index.and_then(|i| content.item(i)?.get("id")?.string()) else { continue };
        let plain = plain(&id);
        if plain.len() >= TELLING {
            lengths.insert(plain.len());
            open.entry(plain).or_default().push((call.row, id));
        }
    }
    let mut found: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    for result in dangling.iter().filter(|_| !open.is_empty()) {
        let n = sent.rows[result.row as usize].record;
        let Some(id) = result_id(job, n, result.block, &mut last)? else { continue };
        let id = plain(&id);
        let mut fitting = lengths.range(..=id.len()).flat_map(|&length| {
            let (begin, behind) = id.split_at(length);
            let digits = |text: &str, end: fn(&str) -> Option<char>| end(text).is_some_and(|c| c.is_ascii_digit());
            let cut = digits(begin, |text| text.chars().last()) && digits(behind, |text| text.chars().next());
            let calls = if cut { None } else { open.get(begin) };
            calls.into_iter().flatten().filter(|(row, _)| *row < result.row)
        });
        if let (Some((_, call)), None) = (fitting.next(), fitting.next()) {
            found.entry(call.clone()).or_default().push((n, result.block));
        }
    }
    let mut edits = Vec::new();
    for (id, results) in found {
        // Of several results nothing says which one is meant.
        if let [(n, place)] = results[..] {
            edits.extend(rename_result(job, n, place, &id)?);
        }
    }
    Ok(edits)
}

/// Open calls of one record.
#[derive(Debug)]
pub struct Open<'a> {
    /// The records in the order in which the loader walks them.
    pub walk: &'a [u32],
    /// The record.
    pub record: u32,
    /// Its content.
    pub content: &'a Content,
    /// The id of each call as JSON, and the name of its tool.
    pub calls: &'a [(String, String)],
}

/// A result in the agent's own shape for each open call.
pub(super) fn answer(job: &Job<'_>, targets: &Targets) -> io::Result<Way> {
    let session = job.session();
    let walk = session.agent.walked(&session.facts, &session.graph, &session.chain);
    let mut edits = Vec::new();
    for (n, blocks) in targets.iter() {
        let Some(content) = Content::read(session, session.record(n))? else { continue };
        let calls: Vec<(String, String)> = blocks
            .iter()
            .filter_map(|&i| {
                let call = content.item(i)?;
                Some((raw(&call, "id")?, call.get("name").and_then(|v| v.string()).unwrap_or_default()))
            })
            .collect();
        if calls.is_empty() {
            continue;
        }
        let open = Open { walk: &walk, record: n, content: &content, calls: &calls };
        edits.extend(job.agent.results(job, &open)?);
    }
    Ok(edits)
}

fn raw(value: &Value<'_>, key: &str) -> Option<String> {
    value.get(key).map(|v| String::from_utf8_lossy(v.raw()).into_owned())
}

/// Blocks that no request may hold leave; a record that has nothing else goes whole.
pub(super) fn drop_blocks(job: &Job<'_>, targets: &Targets) -> io::Result<Way> {
    let session = job.session();
    let (mut edits, mut gone) = (Vec::new(), BTreeSet::new());
    for (n, blocks) in targets.iter() {
        let record = session.record(n);
        if job.agent.is_result(record.kind) {
            gone.insert(n);
            continue;
        }
        let Some(content) = Content::read(session, record)? else { continue };
        if blocks.len() >= content.items.len() {
            gone.insert(n);
            continue;
        }
        let (mut splices, quarantined) = content.remove(blocks);
        splices.extend(content.mark(job.rule));
        let mut edit = job.edit(Fix::Content, Action::RemoveBlock, record.offset, splices);
        edit.quarantined = quarantined;
        edits.push(edit.reason("no request may hold it"));
    }
    edits.extend(drop_records(job, &gone)?);
    Ok(edits)
}

/// A call that leaves takes its result along, or the result would dangle.
pub(super) fn with_results(session: &Session, targets: &Targets) -> Targets {
    let mut by_record = targets.by_record.clone();
    let calls: BTreeSet<u64> = targets
        .iter()
        .flat_map(|(n, blocks)| session.facts.blocks_of(session.record(n)).iter().map(move |b| (b, blocks)))
        .filter(|(b, blocks)| {
            b.kind == BlockKind::Call && b.id != 0 && blocks.binary_search(&usize::from(b.index)).is_ok()
        })
        .map(|(b, _)| b.id)
        .collect();
    for (n, record) in (0..).zip(&session.facts.records) {
        for b in session.facts.blocks_of(record).iter().filter(|b| b.kind == BlockKind::Result && calls.contains(&b.id))
        {
            by_record.entry(n).or_default().push(usize::from(b.index));
        }
    }
    for places in by_record.values_mut() {
        places.sort_unstable();
        places.dedup();
    }
    Targets { by_record }
}

/// The later call of an id, and its own result, get another id.
pub(super) fn rename(job: &Job<'_>, targets: &Targets) -> io::Result<Way> {
    let Examined { session, request: sent, .. } = job.examined;
    let pairing = Pairing::new(session, sent);
    let mut edits = Vec::new();
    let (mut taken, mut last): (BTreeSet<u32>, _) = (BTreeSet::new(), Last::default());
    for call in pairing.calls.iter().filter(|c| c.again != Again::New) {
        let n = sent.rows[call.row as usize].record;
        if !targets.by_record.contains_key(&n) {
            continue;
        }
        let blocks = sent.blocks(&session.facts, n);
        let Some(index) = blocks.get(call.block as usize).map(|b| usize::from(b.index)) else { continue };
        let Some(content) = last.read(session, n)? else { continue };
        let Some(id) = content.item(index).and_then(|b| b.get("id")) else { continue };
        let mut seed = content.text.clone();
        seed.extend_from_slice(&index.to_le_bytes());
        let new = format!("toolu_{}", synthesize::uuid(&session_id(session), &seed, job.rule).simple());
        let splice = Splice::replace(content.offset + id.start as u64, (id.end - id.start) as u64, quoted(&new));
        edits.push(
            job.edit(Fix::Content, Action::ReplaceBlock, content.offset, vec![splice]).reason("a call id of its own"),
        );
        // Its own answer, or, when one turn called the id twice, the second answer.
        let answer = match call.again {
            Again::SameTurn(_) => (0..)
                .zip(&pairing.results)
                .find(|(i, r)| r.id == call.id && r.state == State::Repeated && !taken.contains(i))
                .map(|(i, _)| i),
            _ => (call.answer != NONE).then_some(call.answer),
        };
        let Some(answer) = answer else { continue };
        taken.insert(answer);
        let result = pairing.results[answer as usize];
        let m = sent.rows[result.row as usize].record;
        edits.extend(rename_result(job, m, result.block, &new)?);
    }
    Ok(edits)
}

fn rename_result(job: &Job<'_>, n: u32, place: u32, new: &str) -> io::Result<Option<Edit>> {
    let session = job.session();
    let record = session.record(n);
    let text = reread::text(&session.source, record)?;
    let Some(root) = Value::parse(&text).filter(|_| !record.has(flag::LOSSY)) else { return Ok(None) };
    Ok(id_of_result(job, n, place, root).map(|id| {
        let splice = Splice::replace(record.offset + id.start as u64, (id.end - id.start) as u64, quoted(new));
        job.edit(Fix::Content, Action::ReplaceBlock, record.offset, vec![splice]).reason("the id of its own call")
    }))
}

/// The id of the call that a result names, as text.
fn result_id(job: &Job<'_>, n: u32, place: u32, last: &mut Last) -> io::Result<Option<String>> {
    let Examined { session, request: sent, .. } = job.examined;
    let key = job.agent.names().call;
    if job.agent.is_result(session.record(n).kind) {
        let text = reread::text(&session.source, session.record(n))?;
        return Ok(Value::parse(&text).and_then(|root| root.at(&["message", key])?.string()));
    }
    let Some(content) = last.read(session, n)? else { return Ok(None) };
    let index = sent.blocks(&session.facts, n).get(place as usize).map(|b| usize::from(b.index));
    Ok(index.and_then(|i| content.item(i)?.get(key)?.string()))
}

fn id_of_result<'a>(job: &Job<'_>, n: u32, place: u32, root: Value<'a>) -> Option<Value<'a>> {
    let Examined { session, request: sent, .. } = job.examined;
    let key = job.agent.names().call;
    if job.agent.is_result(session.record(n).kind) {
        return root.at(&["message", key]);
    }
    let index = sent.blocks(&session.facts, n).get(place as usize).map(|b| usize::from(b.index))?;
    let content = root.at(&["message", "content"]).or_else(|| root.get("content"))?;
    content.items().get(index).copied()?.get(key)
}

/// A record of results moves behind the response that it answers.
pub(super) fn displaced(job: &Job<'_>, targets: &Targets) -> io::Result<Way> {
    let Examined { session, request: sent, .. } = job.examined;
    let pairing = Pairing::new(session, sent);
    let walk = session.agent.walked(&session.facts, &session.graph, &session.chain);
    let place: BTreeMap<u32, usize> = walk.iter().enumerate().map(|(i, &n)| (n, i)).collect();
    // One record a step: the links of the next one depend on where this one went.
    for result in pairing.results.iter().filter(|r| matches!(r.state, State::After | State::Before) && r.call != NONE) {
        let n = sent.rows[result.row as usize].record;
        let record = session.record(n);
        let alone = session.facts.blocks_of(record).iter().all(|b| b.kind == BlockKind::Result);
        let of_one_turn = pairing.results.iter().filter(|r| r.row == result.row).all(|r| {
            r.call != NONE && {
                let turn = |call: u32| sent.rows[pairing.calls[call as usize].row as usize].turn;
                turn(r.call) == turn(result.call)
            }
        });
        let (Some(&at), true, true) = (place.get(&n), alone && of_one_turn, targets.by_record.contains_key(&n)) else {
            continue;
        };
        let turn = sent.rows[pairing.calls[result.call as usize].row as usize].turn;
        let response = sent
            .rows
            .iter()
            .filter(|r| r.turn == turn || (r.turn == turn + 1 && r.record != n))
            .filter_map(|r| place.get(&r.record))
            .max();
        let Some(&to) = response else { continue };
        return move_behind(job, &walk, at, to);
    }
    Ok(Vec::new())
}

/// Takes the record at one place of the walk out and puts it behind another, line and links.
fn move_behind(job: &Job<'_>, walk: &[u32], at: usize, to: usize) -> io::Result<Way> {
    let session = job.session();
    let (n, anchor) = (walk[at], walk[to]);
    if at == to + 1 || session.record(n).has(flag::LOSSY) {
        return Ok(Vec::new());
    }
    let mut edits = Vec::new();
    let pointed = |m: u32, parent: &str| point(job, Fix::Links, m, parent);
    if let Some(&below) = walk.get(at + 1) {
        edits.extend(pointed(below, &raw_parent(job, n)?)?);
    }
    if let Some(&next) = walk.get(to + 1).filter(|&&m| m != n) {
        edits.extend(pointed(next, &raw_id(job, n)?)?);
    }
    // The line moves with its new pointer inside: one splice takes it out, one puts it in.
    let (start, end) = whole_line(session, session.record(n))?;
    let (_, behind) = whole_line(session, session.record(anchor))?;
    let text = reread::text(&session.source, session.record(n))?;
    let Some(pointer) = set_member(&text, 0, job.agent.names().parent, &raw_id(job, anchor)?) else {
        return Ok(Vec::new());
    };
    let (from, until) = (pointer.offset as usize, (pointer.offset + pointer.removed) as usize);
    let mut line = [&text[..from], &pointer.inserted, &text[until..]].concat();
    line.push(b'\n');
    let splices = vec![Splice::remove(start, end - start), Splice::insert(behind, line)];
    edits.push(job.edit(Fix::Links, Action::Move, start, splices).reason("behind the call that it answers"));
    Ok(edits)
}

/// An input that is no object becomes one.
pub(super) fn wrap_inputs(job: &Job<'_>, targets: &Targets) -> io::Result<Way> {
    let session = job.session();
    let mut edits = Vec::new();
    let key = job.agent.names().input;
    for (n, blocks) in targets.iter() {
        let Some(content) = Content::read(session, session.record(n))? else { continue };
        let mut splices = Vec::new();
        for &index in blocks {
            let Some(block) = content.item(index) else { continue };
            splices.push(match block.get(key) {
                Some(value) => {
                    let raw = String::from_utf8_lossy(value.raw()).into_owned();
                    let wrapped = if raw == "null" { "{}".to_owned() } else { format!(r#"{{"{key}":{raw}}}"#) };
                    Splice::replace(content.offset + value.start as u64, (value.end - value.start) as u64, wrapped)
                }
                None => Splice::insert(content.offset + block.end as u64 - 1, format!(r#","{key}":{{}}"#)),
            });
        }
        splices.extend(content.mark(job.rule));
        edits.push(
            job.edit(Fix::Content, Action::ReplaceBlock, content.offset, splices).reason("the input as an object"),
        );
    }
    Ok(edits)
}
