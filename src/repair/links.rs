//! Edits of the class `links`: ids and parent pointers, line order, and dropping a record of which an equal copy stays.
//!
//! New parents are those of `chain::recover`, so that what the verdict promised is what a repair does.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

use super::answer::{Job, Way, one};
use super::edit::{Action, Edit};
use super::synthesize;
use super::text::Splice;
use crate::chain::graph::{MISSING, numbered};
use crate::chain::recover::{Broken, Evidence, Link, Origin, Recovered, recover};
use crate::finding::Fix;
use crate::record::facts::{Id, Kind, Record, flag};
use crate::record::json::Kind as Json;
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::chain::{MISSING_ID, rule_of};
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

/// New parents, and ids where a link needs them.
pub(super) fn relinked(job: &Job<'_>) -> io::Result<Vec<Way>> {
    with_and_without_legible(job, |relink| mended(job, relink, |_| Ok(Vec::new()), |_| true))
}

/// The ways with what could be read of lost pointers, then those without it. A pointer that could be read may lead to where
/// it makes something worse. A repair of the result, in which it cannot be read any more, would then take the next best
/// link; so does this one.
///
/// # Errors
/// As the ways.
pub fn with_and_without_legible(job: &Job<'_>, ways: impl Fn(&Relink) -> io::Result<Vec<Way>>) -> io::Result<Vec<Way>> {
    let relink = &job.options.relink;
    let mut all = ways(relink)?;
    if !relink.legible.is_empty() {
        all.extend(ways(&Relink { legible: Vec::new(), ..relink.clone() })?);
    }
    Ok(all)
}

/// The links of the mended session that answer the rule, those of them that are `asked` for, behind the edits that go
/// `before` them.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn mended(
    job: &Job<'_>,
    relink: &Relink,
    before: impl Fn(&Recovered) -> io::Result<Vec<Edit>>,
    asked: impl Fn(&Link) -> bool,
) -> io::Result<Vec<Way>> {
    let session = job.session();
    let Some(recovered) = recover(session.agent, &session.facts, &session.graph, &session.chain, &session.source)
    else {
        return Ok(Vec::new());
    };
    let mut edits = before(&recovered)?;
    // A link to a record without an id is made in one step with the ids: neither is of use alone.
    let is_nameless = |n: u32| match recovered.origins[n as usize] {
        Origin::Record(n) => !session.record(n).has(flag::ID_STRING),
        Origin::Hidden(_) | Origin::MadeUp => false,
    };
    let needs_name = |l: &Link| {
        let sure = l.evidence != Evidence::Nearest || relink.nearest;
        rule_of(l.broken) == job.rule && sure && l.parent.is_some_and(is_nameless)
    };
    let named = job.rule == &MISSING_ID || recovered.links.iter().any(needs_name);
    // Ids that are given in this same step: a link may name one.
    let mut given: HashMap<u32, String> = HashMap::new();
    if named {
        let wanting = wanting(session);
        for &n in &recovered.named {
            if let Origin::Record(m) = recovered.origins[n as usize]
                && let Some((edit, id)) = give_id(job, &recovered, &wanting, n, m)?
            {
                edits.push(edit);
                given.insert(m, id);
            }
        }
    }
    let answers = |l: &&Link| {
        let rule = rule_of(l.broken);
        rule == job.rule || (named && rule == &MISSING_ID)
    };
    for link in recovered.links.iter().filter(answers).filter(|l| asked(l)) {
        edits.extend(new_parent(job, &recovered, link, relink, &given)?);
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
    job: &Job<'_>,
    recovered: &Recovered,
    wanting: &HashMap<Id, u32>,
    n: u32,
    m: u32,
) -> io::Result<Option<(Edit, String)>> {
    let session = job.session();
    let record = session.record(m);
    if record.has(flag::LOSSY) {
        return Ok(None);
    }
    let text = reread::text(&session.source, record)?;
    let names = job.agent.names();
    let wanted = recovered.records[n as usize].id;
    let child = wanting.get(&wanted).copied().filter(|c| *c > m);
    let id = match child {
        Some(child) => reread::field(&session.source, session.record(child), &[names.parent]).map(|t| t.lossy()),
        None => Some(synthesize::id(job.agent, &session_id(session), &text, &MISSING_ID)),
    };
    let Some(id) = id else { return Ok(None) };
    let Some(splice) = set_member(&text, record.offset, names.id, &quoted(&id)) else { return Ok(None) };
    let reason = if child.is_some() { "the id that its child names" } else { "an id made from its bytes" };
    let evidence = if child.is_some() { Evidence::Legible } else { Evidence::Unique };
    let edit = Edit::new(&MISSING_ID, Fix::Links, Action::SetId, record.offset, vec![splice])
        .reason(reason)
        .evidence(evidence);
    Ok(Some((edit, id)))
}

fn new_parent(
    job: &Job<'_>,
    recovered: &Recovered,
    link: &Link,
    relink: &Relink,
    given: &HashMap<u32, String>,
) -> io::Result<Option<Edit>> {
    let session = job.session();
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
    let key = job.agent.names().parent;
    let value = parent.as_deref().map_or_else(|| "null".to_owned(), quoted);
    let Some(splice) = set_member(&text, record.offset, key, &value) else { return Ok(None) };
    let reason = parent.as_ref().map_or_else(|| "as a root".to_owned(), |p| format!("below {p}"));
    Ok(Some(
        Edit::new(rule_of(link.broken), Fix::Links, Action::SetParent, record.offset, vec![splice])
            .reason(reason)
            .evidence(evidence),
    ))
}

/// One of two equal copies goes: the later one, or the earlier where the loader's leaf or order would change.
pub(super) fn copies(job: &Job<'_>) -> io::Result<Vec<Way>> {
    copies_of(job, |_, _| true)
}

/// One of two equal copies goes, of those that are `asked` for by their records.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn copies_of(job: &Job<'_>, asked: impl Fn(u32, u32) -> bool) -> io::Result<Vec<Way>> {
    let session = job.session();
    let (mut later, mut earlier) = (Vec::new(), Vec::new());
    for &(a, b) in &session.graph.repeats {
        let (first, second) = (session.record(a), session.record(b));
        if !asked(a, b)
            || first.length != second.length
            || reread::text(&session.source, first)? != reread::text(&session.source, second)?
        {
            continue;
        }
        for (record, edits) in [(second, &mut later), (first, &mut earlier)] {
            let (start, end) = whole_line(session, record)?;
            edits.push(Edit::quarantine(job.rule, Fix::Links, Action::DropCopy, start, end - start).reason(format!(
                "an equal copy stays on line {}",
                if record.line == second.line { first.line } else { second.line }
            )));
        }
    }
    Ok(if later.is_empty() { Vec::new() } else { vec![later, earlier] })
}

/// A second header that equals the first goes.
///
/// # Errors
/// When the session's bytes cannot be read again.
pub fn headers(job: &Job<'_>) -> io::Result<Vec<Way>> {
    let session = job.session();
    let mut headers = session.facts.records.iter().filter(|r| r.kind == Kind::Start);
    let Some(first) = headers.next() else { return Ok(Vec::new()) };
    let text = reread::text(&session.source, first)?;
    let mut edits = Vec::new();
    for again in headers {
        if reread::text(&session.source, again)? == text {
            let (start, end) = whole_line(session, again)?;
            edits.push(
                Edit::quarantine(job.rule, Fix::Links, Action::DropCopy, start, end - start)
                    .reason(format!("an equal header stays on line {}", first.line)),
            );
        }
    }
    Ok(one(edits))
}

/// A string as JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The session's id as its records state it, else its file's name.
pub fn session_id(session: &Session) -> Vec<u8> {
    let stated = session.facts.records.iter().find(|r| r.session != 0).and_then(|r| session.facts.names.get(r.session));
    match stated {
        Some(id) => id.to_vec(),
        None => session.path.file_stem().map(|s| s.as_encoded_bytes().to_vec()).unwrap_or_default(),
    }
}

/// Replaces the value of a member of the object that is a whole text, or adds the member at its end. `offset` is the
/// text's place. The last of equal keys is the one that counts.
pub fn set_member(text: &[u8], offset: u64, key: &str, value: &str) -> Option<Splice> {
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
/// I/O errors.
pub fn whole_line(session: &Session, record: &Record) -> io::Result<(u64, u64)> {
    let end = record.offset + u64::from(record.length);
    let feed = match session.source.read_range(end, 2)?.as_slice() {
        [b'\n', ..] => 1,
        [b'\r', b'\n'] => 2,
        _ => 0,
    };
    Ok((record.offset, end + feed))
}
