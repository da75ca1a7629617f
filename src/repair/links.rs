//! Edits of the class `links`: ids and parent pointers, line order, and dropping a record of which an equal copy stays.
//!
//! New parents are those of `chain::recover`, so that what the verdict promised is what a repair does.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;

use super::asked;
use super::edit::{Action, Edit};
use super::made;
use super::text::Splice;
use crate::chain::graph::{MISSING, numbered};
use crate::chain::recover::{Broken, Evidence, Link, Origin, Recovered, kept_branch, recover, start_below};
use crate::chain::walk;
use crate::dialect::Dialect;
use crate::finding::Fix;
use crate::record::facts::{Id, Kind, Record, flag};
use crate::record::json::Kind as Json;
use crate::record::reread;
use crate::record::value::Value;
use crate::session::Session;

/// How far new links may be guessed.
#[derive(Clone, Debug, Default)]
pub struct Relink {
    /// Whether `nearest` is taken too.
    pub nearest: bool,
    /// Decisions of a person: child and parent by id.
    pub decided: Vec<(String, String)>,
    /// The leaf that a person wants back on the used path, by id.
    pub leaf: Option<String>,
    /// Pointers that could be read in damaged bytes before those went to quarantine: child and parent by id.
    pub legible: Vec<(String, String)>,
    /// Parents that this file lacks and another file of its store has, with that file. They are left as they are (C212).
    pub elsewhere: Vec<(Id, PathBuf)>,
}

impl Relink {
    /// Whether a person decided anything about links.
    pub fn decides(&self) -> bool {
        self.leaf.is_some() || !self.decided.is_empty()
    }
}

/// The links whose lost pointer can be read in the damaged bytes of a session as it stands.
pub(super) fn legible(session: &Session) -> Vec<(String, String)> {
    let Some(recovered) = recover(session.agent, &session.facts, &session.graph, &session.chain, &session.source)
    else {
        return Vec::new();
    };
    let id = |n: u32| match recovered.origins[n as usize] {
        Origin::MadeUp => None,
        _ => reread::id(&session.source, &recovered.records[n as usize]).map(|t| t.lossy()),
    };
    let read = recovered.links.iter().filter(|l| l.evidence == Evidence::Legible);
    read.filter_map(|l| Some((id(l.child)?, id(l.parent?)?))).collect()
}

/// The ways in which one code of this class can be answered; the first that makes nothing worse is taken.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn ways(session: &Session, code: &'static str, relink: &Relink) -> io::Result<Vec<Vec<Edit>>> {
    match code {
        "C201" | "C202" | "C203" | "C204" | "C205" | "C209" | "C213" => {
            let mut ways = mended(session, code, relink)?;
            if !relink.legible.is_empty() {
                // A pointer that could be read may lead to where it makes something worse. A repair of the result, in which
                // it cannot be read any more, would then take the next best link; so does this one.
                ways.extend(mended(session, code, &Relink { legible: Vec::new(), ..relink.clone() })?);
            }
            Ok(ways)
        }
        "C206" => copies(session, code),
        "C214" => Ok(one(asked::past_progress(session)?)),
        "C215" => Ok(one(asked::logical_parents(session)?)),
        "C216" => Ok(copies(session, code)?.into_iter().take(1).collect()),
        "C221" => headers(session),
        "C223" => kept_range(session),
        _ => Ok(Vec::new()),
    }
}

fn one(edits: Vec<Edit>) -> Vec<Vec<Edit>> {
    if edits.is_empty() { Vec::new() } else { vec![edits] }
}

fn mended(session: &Session, code: &'static str, relink: &Relink) -> io::Result<Vec<Vec<Edit>>> {
    if code == "C204"
        && session.dialect == Dialect::Sid
        && let Some(n) = start_below(&session.facts, &session.graph)
    {
        let record = session.record(n);
        let text = reread::text(&session.source, record)?;
        let splice = set_member(&text, record.offset, "parentUuid", "null");
        let edit = splice
            .map(|s| Edit::new("C204", Fix::Links, Action::SetParent, record.offset, vec![s]).reason("as a root"));
        return Ok(edit.into_iter().map(|e| vec![e]).collect());
    }
    let Some(recovered) = recover(session.agent, &session.facts, &session.graph, &session.chain, &session.source)
    else {
        return Ok(Vec::new());
    };
    let mut edits = match (code, session.dialect) {
        ("C205", Dialect::Sid) => in_order(session, &recovered)?,
        _ => Vec::new(),
    };
    // A link to a record without an id is made in one step with the ids: neither is of use alone.
    let is_nameless = |n: u32| match recovered.origins[n as usize] {
        Origin::Record(n) => !session.record(n).has(flag::ID_STRING),
        Origin::Hidden(_) | Origin::MadeUp => false,
    };
    let needs_name = |l: &Link| {
        let sure = l.evidence != Evidence::Nearest || relink.nearest;
        l.broken.code() == code && sure && l.parent.is_some_and(is_nameless)
    };
    let named = code == "C209" || recovered.links.iter().any(needs_name);
    // Ids that are given in this same step: a link may name one.
    let mut given: HashMap<u32, String> = HashMap::new();
    if named {
        let wanting = wanting(session);
        for &n in &recovered.named {
            if let Origin::Record(m) = recovered.origins[n as usize]
                && let Some((edit, id)) = give_id(session, &recovered, &wanting, n, m)?
            {
                edits.push(edit);
                given.insert(m, id);
            }
        }
    }
    for link in recovered.links.iter().filter(|l| l.broken.code() == code || (named && l.broken.code() == "C209")) {
        if link.broken == Broken::ParentBelow && session.dialect == Dialect::Sid {
            continue;
        }
        edits.extend(new_parent(session, &recovered, link, relink, &given)?);
    }
    Ok(one(edits))
}

/// The last record that names each parent which no record of the file bears.
fn wanting(session: &Session) -> HashMap<Id, u32> {
    let lacks = |n: u32| session.graph.parent[n as usize] == MISSING;
    numbered(&session.facts.records).filter(|(n, _)| lacks(*n)).map(|(n, r)| (r.parent, n)).collect()
}

/// Gives a record without an id the one that its child names, or one made from its bytes.
fn give_id(
    session: &Session,
    recovered: &Recovered,
    wanting: &HashMap<Id, u32>,
    n: u32,
    m: u32,
) -> io::Result<Option<(Edit, String)>> {
    let record = session.record(m);
    if record.has(flag::LOSSY) {
        return Ok(None);
    }
    let text = reread::text(&session.source, record)?;
    let (id_key, parent_key) = keys(session.dialect);
    let wanted = recovered.records[n as usize].id;
    let child = wanting.get(&wanted).copied().filter(|c| *c > m);
    let id = match child {
        Some(child) => reread::field(&session.source, session.record(child), &[parent_key]).map(|t| t.lossy()),
        None => Some(made::id(session.dialect, &session_id(session), &text, "C209")),
    };
    let Some(id) = id else { return Ok(None) };
    let Some(splice) = set_member(&text, record.offset, id_key, &quoted(&id)) else { return Ok(None) };
    let reason = if child.is_some() { "the id that its child names" } else { "an id made from its bytes" };
    let evidence = if child.is_some() { Evidence::Legible } else { Evidence::Unique };
    let edit =
        Edit::new("C209", Fix::Links, Action::SetId, record.offset, vec![splice]).reason(reason).evidence(evidence);
    Ok(Some((edit, id)))
}

fn new_parent(
    session: &Session,
    recovered: &Recovered,
    link: &Link,
    relink: &Relink,
    given: &HashMap<u32, String>,
) -> io::Result<Option<Edit>> {
    let Origin::Record(child) = recovered.origins[link.child as usize] else { return Ok(None) };
    let record = session.record(child);
    let own = session.id(child).map(|id| id.lossy());
    if relink.elsewhere.iter().any(|(id, _)| *id == record.parent) && link.broken == Broken::MissingParent {
        return Ok(None);
    }
    let named = |list: &[(String, String)]| list.iter().find(|(c, _)| Some(c) == own.as_ref()).map(|(_, p)| p.clone());
    let legible = named(&relink.legible);
    let parent = match (legible.as_ref(), link.parent) {
        (Some(id), _) => Some(id.clone()),
        (None, Some(p)) => match recovered.origins[p as usize] {
            Origin::Record(p) => match session.id(p).map(|t| t.lossy()).or_else(|| given.get(&p).cloned()) {
                Some(id) => Some(id),
                // It gets its id in another step.
                None => return Ok(None),
            },
            // A start record or header that is not there is not made up by a link.
            Origin::Hidden(_) | Origin::MadeUp => return Ok(None),
        },
        // A loop's earliest record with nothing before it becomes a root.
        (None, None) if matches!(link.broken, Broken::Cycle | Broken::SelfParent) => None,
        (None, None) => return Ok(None),
    };
    let evidence = if legible.is_some() { Evidence::Legible } else { link.evidence };
    if evidence == Evidence::Nearest && !relink.nearest && parent.is_some() {
        return Ok(None);
    }
    let evidence = if parent.is_none() { Evidence::Unique } else { evidence };
    if record.has(flag::LOSSY) {
        return Ok(None);
    }
    let text = reread::text(&session.source, record)?;
    let (_, key) = keys(session.dialect);
    let value = parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
    let Some(splice) = set_member(&text, record.offset, key, &value) else { return Ok(None) };
    let reason = parent.as_ref().map_or_else(|| "as a root".to_owned(), |p| format!("below {p}"));
    Ok(Some(
        Edit::new(link.broken.code(), Fix::Links, Action::SetParent, record.offset, vec![splice])
            .reason(reason)
            .evidence(evidence),
    ))
}

/// sid-code looks upwards only: records move so that each stands behind its parent, and as few of them as can be.
fn in_order(session: &Session, recovered: &Recovered) -> io::Result<Vec<Edit>> {
    let below = recovered.links.iter().filter(|l| l.broken == Broken::ParentBelow);
    let below = below.filter_map(|l| match recovered.origins[l.child as usize] {
        Origin::Record(n) => Some(n),
        Origin::Hidden(_) | Origin::MadeUp => None,
    });
    // None stands before its parent: those of `below`, and what hangs on them, wait for it.
    let below: HashSet<u32> = below.collect();
    let order = walk::parents_first(&session.graph, |n, p| p < n || below.contains(&n));
    if order.len() < session.facts.records.len() {
        // Some would wait for ever.
        return Ok(Vec::new());
    }
    let stays = longest_rising(&order);
    let mut edits = Vec::new();
    // What moves is put behind the last record that stays, or before the first of them.
    let first = order.iter().copied().find(|n| stays.contains(n));
    let (mut at, mut anchor) = match first {
        Some(n) => (whole_line(session, session.record(n))?.0, None),
        None => return Ok(Vec::new()),
    };
    for &n in &order {
        let record = session.record(n);
        let (start, end) = whole_line(session, record)?;
        if stays.contains(&n) {
            (at, anchor) = (end, Some(n));
            continue;
        }
        let mut line = session.source.read_range(start, end - start)?;
        if !line.ends_with(b"\n") {
            line.push(b'\n');
        }
        if at == session.source.size() && !session.facts.terminated {
            line.pop();
            line.insert(0, b'\n');
        }
        let parent = session.graph.parent[n as usize];
        let reason = match anchor {
            Some(anchor) if anchor > n && parent < MISSING => {
                format!("behind its parent on line {}", session.record(parent).line)
            }
            _ => "before the records that name it".to_owned(),
        };
        let splices = vec![Splice::remove(start, end - start), Splice::insert(at, line)];
        edits.push(
            Edit::new("C205", Fix::Links, Action::Move, start, splices).reason(reason).evidence(Evidence::Unique),
        );
    }
    Ok(edits)
}

/// The members of a longest rising run of a sequence without repetition.
fn longest_rising(order: &[u32]) -> HashSet<u32> {
    // Of each length the place of the run's smallest last member, and for each place the one before it.
    let (mut ends, mut before): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::with_capacity(order.len()));
    for (at, n) in order.iter().enumerate() {
        let length = ends.partition_point(|&e| order[e] < *n);
        before.push(length.checked_sub(1).map_or(usize::MAX, |l| ends[l]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut run = HashSet::new();
    let mut at = ends.last().copied().unwrap_or(usize::MAX);
    while at != usize::MAX {
        run.insert(order[at]);
        at = before[at];
    }
    run
}

/// One of two equal copies goes: the later one, or the earlier where the loader's leaf or order would change.
fn copies(session: &Session, code: &'static str) -> io::Result<Vec<Vec<Edit>>> {
    let (mut later, mut earlier) = (Vec::new(), Vec::new());
    let boundaries: Vec<u32> =
        numbered(&session.facts.records).filter(|(_, r)| r.has(flag::BOUNDARY)).map(|(n, _)| n).collect();
    for &(a, b) in &session.graph.repeats {
        let (first, second) = (session.record(a), session.record(b));
        let replay = boundaries.get(boundaries.partition_point(|n| *n < a)).is_some_and(|n| *n < b);
        if (code == "C216") != (replay && session.dialect == Dialect::Claude) {
            continue;
        }
        if first.length != second.length
            || reread::text(&session.source, first)? != reread::text(&session.source, second)?
        {
            continue;
        }
        for (record, edits) in [(second, &mut later), (first, &mut earlier)] {
            let (start, end) = whole_line(session, record)?;
            edits.push(Edit::quarantine(code, Fix::Links, Action::DropCopy, start, end - start).reason(format!(
                "an equal copy stays on line {}",
                if record.line == second.line { first.line } else { second.line }
            )));
        }
    }
    Ok(if later.is_empty() { Vec::new() } else { vec![later, earlier] })
}

/// A second header that equals the first goes.
fn headers(session: &Session) -> io::Result<Vec<Vec<Edit>>> {
    let mut headers = session.facts.records.iter().filter(|r| r.kind == Kind::Start);
    let Some(first) = headers.next() else { return Ok(Vec::new()) };
    let text = reread::text(&session.source, first)?;
    let mut edits = Vec::new();
    for again in headers {
        if reread::text(&session.source, again)? == text {
            let (start, end) = whole_line(session, again)?;
            edits.push(
                Edit::quarantine("C221", Fix::Links, Action::DropCopy, start, end - start)
                    .reason(format!("an equal header stays on line {}", first.line)),
            );
        }
    }
    Ok(one(edits))
}

/// pi: the compaction goes below the last entry of the branch that holds the first kept one; when that names nothing,
/// to keep nothing is written down as it is.
fn kept_range(session: &Session) -> io::Result<Vec<Vec<Edit>>> {
    let Some(n) = session.chain.kept_range_lost else { return Ok(Vec::new()) };
    let record = session.record(n);
    if record.has(flag::LOSSY) {
        return Ok(Vec::new());
    }
    let text = reread::text(&session.source, record)?;
    let edit = match kept_branch(&session.facts, &session.graph, n) {
        Some(tip) => {
            let Some(id) = session.id(tip) else { return Ok(Vec::new()) };
            let Some(splice) = set_member(&text, record.offset, "parentId", &quoted(&id.lossy())) else {
                return Ok(Vec::new());
            };
            Edit::new("C223", Fix::Links, Action::SetParent, record.offset, vec![splice])
                .reason(format!("below {}, the last entry of the kept branch", id.lossy()))
                .evidence(Evidence::Unique)
        }
        _ => {
            let Some(id) = session.id(n) else { return Ok(Vec::new()) };
            let Some(splice) = set_member(&text, record.offset, "firstKeptEntryId", &quoted(&id.lossy())) else {
                return Ok(Vec::new());
            };
            Edit::new("C223", Fix::Links, Action::SetPointer, record.offset, vec![splice])
                .reason("its own id: it keeps nothing, as before")
                .evidence(Evidence::Unique)
        }
    };
    Ok(vec![vec![edit]])
}

/// The keys of id and parent.
pub(super) fn keys(dialect: Dialect) -> (&'static str, &'static str) {
    if dialect.is_pi() { ("id", "parentId") } else { ("uuid", "parentUuid") }
}

/// A string as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The session's id as its records state it, else its file's name.
pub(super) fn session_id(session: &Session) -> Vec<u8> {
    let stated = session.facts.records.iter().find(|r| r.session != 0).and_then(|r| session.facts.names.get(r.session));
    match stated {
        Some(id) => id.to_vec(),
        None => session.path.file_stem().map(|s| s.as_encoded_bytes().to_vec()).unwrap_or_default(),
    }
}

/// Replaces the value of a member of the object that is a whole text, or adds the member at its end. `offset` is the
/// text's place. The last of equal keys is the one that counts.
pub(super) fn set_member(text: &[u8], offset: u64, key: &str, value: &str) -> Option<Splice> {
    let root = Value::parse(text)?;
    if root.kind() != Json::Object {
        return None;
    }
    if let Some(old) = root.get(key) {
        return Some(Splice::replace(offset + old.start as u64, (old.end - old.start) as u64, value));
    }
    let mut empty = true;
    root.each_member(|_, _| empty = false);
    let comma = if empty { "" } else { "," };
    Some(Splice::insert(offset + root.end as u64 - 1, format!("{comma}\"{key}\":{value}")))
}

/// A record's line with its line feed: first byte and the byte behind.
///
/// # Errors
/// Whatever the system says.
pub(super) fn whole_line(session: &Session, record: &Record) -> io::Result<(u64, u64)> {
    let end = record.offset + u64::from(record.length);
    let feed = match session.source.read_range(end, 2)?.as_slice() {
        [b'\n', ..] => 1,
        [b'\r', b'\n'] => 2,
        _ => 0,
    };
    Ok((record.offset, end + feed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_few_as_can_be_move() {
        let stays = |order: &[u32]| {
            let mut all: Vec<u32> = longest_rising(order).into_iter().collect();
            all.sort_unstable();
            all
        };
        assert_eq!(stays(&[0, 1, 2, 3]), [0, 1, 2, 3]);
        assert_eq!(stays(&[0, 8, 2, 3, 4, 7, 1]), [0, 2, 3, 4, 7]);
        assert!(stays(&[]).is_empty());
    }
}
