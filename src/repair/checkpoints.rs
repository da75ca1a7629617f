//! Checkpoint indexes: one that broke off is salvaged to its whole snapshots (K801), a counter that would give an id out
//! again is set (K807), a stale lookup is made anew when it is asked for by its code (K806).
//!
//! An index is one JSON document, and its edits are splices of it like those of a session: everything else stays as it is
//! written. What counts is what can be rebuilt: a step after which one file at one snapshot could not be had any more, or
//! would be another, is taken back.

use std::collections::BTreeMap;
use std::io;

use super::answer::{self, How, Way};
use super::edit::{Action, Edit};
use super::places;
use super::plan::{Fragment, Options, Plan, Planned, stays};
use super::text::{Splice, Text};
use super::worse::{TakenBack, Worse, grown};
use crate::checkpoint::audit::{Audit, Options as AuditOptions, Outcome};
use crate::checkpoint::model::{Index, Layout, Shape};
use crate::checkpoint::rebuild::State as Rebuilt;
use crate::checkpoint::text::Digest;
use crate::finding::{Finding, Fix, Rule, codes, loud};
use crate::rules::checkpoints::index_findings;
use crate::rules::counted;
use crate::store::Source;
use crate::text::Text as Name;

/// An index before or after.
#[derive(Clone, Debug)]
pub struct IndexState {
    /// Whether the agent reads it.
    pub readable: bool,
    /// Whole snapshots in it.
    pub snapshots: usize,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// What can be rebuilt of each file at each snapshot.
    rebuilt: BTreeMap<(Name, Name), Digest>,
}

/// What edits of an index are made from.
#[derive(Clone, Copy, Debug)]
pub struct IndexJob<'a> {
    /// The index, audited.
    pub audit: &'a Audit,
    /// Its text as it stands.
    pub source: &'a Source,
    /// The session that its folder is named for.
    pub folder: Option<&'a str>,
    /// The rule to answer.
    pub rule: &'static Rule,
}

/// Plans the repair of one index. `folder` is the session that its folder is named for. Pure.
///
/// # Errors
/// When the index cannot be read.
pub fn plan(source: &Source, folder: Option<&str>, options: &Options) -> io::Result<Plan<IndexState>> {
    let mut audit = Audit::of(source, folder, &AuditOptions::default())?;
    let before = state(&audit);
    let mut text = Text::new(source);
    let (mut now, mut edits, mut quarantined, mut taken_back) = (before.clone(), Vec::new(), Vec::new(), Vec::new());
    // A salvaged index may have a counter that is behind; there is nothing more beneath that.
    for _ in 0..3 {
        let mut changed = false;
        taken_back.clear();
        for answer in answer::to_make(&now.findings, options, &[]) {
            let How::Index(way) = answer.how else { continue };
            let rule = answer.rule;
            let way = way(&IndexJob { audit: &audit, source: &text.source(), folder, rule })?;
            if way.is_empty() {
                continue;
            }
            let splices: Vec<Splice> = way.iter().flat_map(|e| e.splices.iter().cloned()).collect();
            let next = text.spliced(&splices);
            let read = Audit::of(&next.source(), folder, &AuditOptions::default())?;
            let then = state(&read);
            if let Some(worse) = worse(&now, &then) {
                taken_back.push(TakenBack { rule, worse: Worse::other(worse) });
                continue;
            }
            for edit in way {
                let offset = text.in_file(edit.at);
                for (offset, length) in edit.quarantined.iter().flat_map(|&(at, n)| text.stretches(at, n)) {
                    quarantined.push(Fragment { offset, length, line: 0, rule: edit.rule });
                }
                edits.push(Planned { edit, offset, line: 0 });
            }
            (text, audit, now, changed) = (next, read, then, true);
        }
        if !changed {
            break;
        }
    }
    places::number(source, &mut edits, &mut quarantined)?;
    let left = stays(&now.findings, options);
    Ok(Plan::new((before, now), (edits, quarantined), left, text, taken_back))
}

/// The proof of a repair: what is wrong with an index that was read from the bytes in question.
///
/// # Errors
/// When they cannot be read.
pub fn prove(
    before: &IndexState,
    after: &IndexState,
    source: &Source,
    folder: Option<&str>,
    options: &Options,
) -> io::Result<Vec<String>> {
    let then = state(&Audit::of(source, folder, &AuditOptions::default())?);
    let mut wrong: Vec<String> = worse(before, &then).into_iter().collect();
    if (then.readable, then.snapshots, &then.rebuilt) != (after.readable, after.snapshots, &after.rebuilt) {
        wrong.push("it is not the index that was announced".to_owned());
    }
    if loud(&then.findings) != loud(&after.findings) {
        wrong.push("its findings are not those that were announced".to_owned());
    }
    let again = plan(source, folder, options)?;
    if !again.edits.is_empty() {
        wrong.push(format!("repaired once more it would change again ({})", codes(&again.answers)));
    }
    Ok(wrong)
}

fn state(audit: &Audit) -> IndexState {
    let index = &audit.index;
    let mut rebuilt = BTreeMap::new();
    for (file, steps) in (0..).zip(&audit.steps) {
        let Some(path) = index.path(file) else { continue };
        for step in steps {
            if let (Rebuilt::Bytes(digest), Some(snapshot)) = (step.state, index.snapshots.get(step.position as usize))
            {
                // Of two snapshots with one id the agent takes the first.
                rebuilt.entry((snapshot.id.clone(), path.clone())).or_insert(digest);
            }
        }
    }
    let snapshots = index.snapshots.iter().filter(|s| s.shape == Shape::Whole).count();
    let findings = index_findings(audit, usize::MAX);
    IndexState { readable: audit.agent_sees(), snapshots, findings, rebuilt }
}

/// What a step made worse, if anything. What a salvaged index brings to light of its own was there before.
fn worse(before: &IndexState, after: &IndexState) -> Option<String> {
    if before.readable && !after.readable {
        return Some("the agent would not read it any more".to_owned());
    }
    let lost = before.rebuilt.iter().filter(|(key, digest)| after.rebuilt.get(*key) != Some(digest)).count();
    if lost > 0 {
        return Some(format!("{} could not be had as before", counted(lost as u64, "file at a snapshot")));
    }
    let new = grown(&before.findings, &after.findings).next().filter(|_| before.readable);
    new.map(|rule| format!("{rule} would be new"))
}

/// The first free number, and what stands for it as JSON.
fn first_free(index: &Index) -> String {
    index.highest_number().unwrap_or(0).saturating_add(1).to_string()
}

/// The whole snapshots and nothing behind them, or the list without what is no snapshot.
pub(super) fn salvage(job: &IndexJob<'_>) -> io::Result<Way> {
    match job.audit.outcome {
        Outcome::Torn { cut, .. } => cut_off(job, cut),
        Outcome::Readable => Ok(without_broken(job)),
        // Nothing is whole in it: the agent begins anew, and that is all that can be done.
        Outcome::NotAnIndex { .. } | Outcome::Empty | Outcome::TooLarge { .. } => Ok(Vec::new()),
    }
}

fn cut_off(job: &IndexJob<'_>, cut: u64) -> io::Result<Way> {
    let &IndexJob { source, folder, rule, .. } = job;
    let index = &job.audit.index;
    let Some(last) = index.snapshots.last().filter(|_| index.layout == Layout::Current) else { return Ok(Vec::new()) };
    let end = last.span.offset + last.span.length;
    let rest = source.size().saturating_sub(end);
    // What stood behind the list is put before its end again; the agent writes it in front of it.
    let mut tail = String::from("]");
    let behind = |offset: u64| offset > end;
    let lost_counter = index.next_id.is_none_or(|n| behind(n.span.offset));
    if lost_counter {
        let kept = index.next_id.map(|n| n.value).filter(|n| n.fract() == 0.0 && *n >= 0.0 && *n < 9e15);
        let free = index.highest_number().unwrap_or(0).saturating_add(1);
        let next = kept.map_or(free, |n| free.max(n as u64));
        tail.push_str(&format!(",\"nextId\":{next}"));
    }
    let session = index.session_id.as_ref().map(Name::lossy);
    if let Some(id) =
        session.as_deref().or(folder).filter(|_| index.session_id.is_none() || behind(index.session_id_span.offset))
    {
        tail.push_str(&format!(",\"sessionId\":{}", serde_json::Value::from(id)));
    }
    let made = index.created_at.or(index.snapshots.first().and_then(|s| s.timestamp));
    let text = Text::new(source).spliced(&[Splice::replace(end, rest, format!("{tail}}}"))]);
    if let (Some(made), Some(again)) = (made, readable(&text.source(), folder)?)
        && again.created_at.is_none()
    {
        tail.push_str(&format!(",\"createdAt\":{}", serde_json::Value::from(made)));
    }
    tail.push_str("}\n");
    let mut edit = Edit::new(rule, Fix::Content, Action::Salvage, cut.min(source.size()), Vec::new());
    edit.splices.push(Splice::replace(end, rest, tail));
    edit.quarantined.push((end, rest));
    let kept = counted(index.snapshots.len() as u64, "whole snapshot");
    Ok(vec![edit.reason(format!("{kept} before the break stay"))])
}

fn readable(source: &Source, folder: Option<&str>) -> io::Result<Option<Index>> {
    use crate::checkpoint::model::IndexRead;
    Ok(match Index::read(source, folder)? {
        IndexRead::Readable(index) => Some(index),
        _ => None,
    })
}

/// Elements of the list that have no list of files: nothing can be rebuilt from them, and the agent throws on them.
fn without_broken(job: &IndexJob<'_>) -> Way {
    let index = &job.audit.index;
    let broken = |shape: Shape| matches!(shape, Shape::Null | Shape::NoFiles | Shape::Word);
    let all = &index.snapshots;
    if index.layout != Layout::Current || !all.iter().any(|s| broken(s.shape)) {
        return Vec::new();
    }
    let first_kept = all.iter().position(|s| !broken(s.shape));
    let mut edits = Vec::new();
    for (n, snapshot) in all.iter().enumerate().filter(|(_, s)| broken(s.shape)) {
        let (start, end) = (snapshot.span.offset, snapshot.span.offset + snapshot.span.length);
        // With the comma before it, or, before the first that stays, with the one behind it.
        let (from, to) = match first_kept {
            Some(kept) if n < kept => (start, all[n + 1].span.offset),
            _ if n > 0 => (all[n - 1].span.offset + all[n - 1].span.length, end),
            _ => (start, end),
        };
        let mut edit =
            Edit::new(job.rule, Fix::Content, Action::RemoveElement, start, vec![Splice::remove(from, to - from)]);
        edit.quarantined.push((start, end - start));
        edits.push(edit.reason("a snapshot without a list of files"));
    }
    edits
}

/// The number of the next snapshot above every one in use.
pub(super) fn counter(job: &IndexJob<'_>) -> io::Result<Way> {
    let index = &job.audit.index;
    if index.layout != Layout::Current {
        return Ok(Vec::new());
    }
    let next = first_free(index);
    let reason = format!("the first number that no snapshot has: {next}");
    let edit = match index.next_id {
        Some(stored) if stored.span.length > 0 => {
            let (at, length) = (stored.span.offset, stored.span.length);
            Edit::new(job.rule, Fix::Links, Action::SetCounter, at, vec![Splice::replace(at, length, next)])
        }
        Some(_) => return Ok(Vec::new()),
        None => {
            let head = job.source.read_range(0, 4096)?;
            let Some(open) = memchr::memchr(b'{', &head) else { return Ok(Vec::new()) };
            let at = open as u64 + 1;
            Edit::new(
                job.rule,
                Fix::Links,
                Action::SetCounter,
                at,
                vec![Splice::insert(at, format!("\"nextId\":{next},"))],
            )
        }
    };
    Ok(vec![edit.reason(reason)])
}

/// The lookup of newest full copies as the agent's own rule makes it.
pub(super) fn lookup(job: &IndexJob<'_>) -> io::Result<Way> {
    let index = &job.audit.index;
    let (at, length) = (index.latest_full_span.offset, index.latest_full_span.length);
    if index.latest_full.is_none() || length == 0 {
        return Ok(Vec::new());
    }
    let mut made = serde_json::Map::new();
    for (file, position) in index.true_latest_full() {
        if let (Some(path), Some(snapshot)) = (index.path(file), index.snapshots.get(position as usize)) {
            // A name that no strict reader could read cannot be written back as it was.
            let (Ok(path), Ok(id)) =
                (std::str::from_utf8(path.as_bytes()), std::str::from_utf8(snapshot.id.as_bytes()))
            else {
                return Ok(Vec::new());
            };
            made.insert(path.to_owned(), id.into());
        }
    }
    let text = serde_json::Value::Object(made).to_string();
    let edit = Edit::new(job.rule, Fix::Links, Action::SetPointer, at, vec![Splice::replace(at, length, text)]);
    Ok(vec![edit.reason("the newest full copy of each file")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repair::links::Relink;
    use crate::rules::checkpoints::{ID_COUNTER_BEHIND, UNREADABLE_INDEX};
    use crate::rules::filter::Gate;

    fn options(select: &[&str]) -> Options {
        let select: Vec<String> = select.iter().map(|s| (*s).to_owned()).collect();
        Options {
            up_to: Fix::Content,
            relink: Relink::default(),
            answer_orphans: true,
            gate: Gate::new(&select, &[], &crate::agents::registry::all()).unwrap(),
            live: false,
            now: 0,
            without: Vec::new(),
        }
    }

    fn repaired(text: &str, select: &[&str]) -> (Plan<IndexState>, String) {
        let (source, options) = (Source::from_bytes(text), options(select));
        let plan = plan(&source, Some("s"), &options).unwrap();
        let new = plan.text.source();
        let wrong = prove(&plan.before, &plan.after, &new, Some("s"), &options).unwrap();
        assert!(wrong.is_empty(), "{wrong:?}");
        let bytes = new.read_range(0, new.size()).unwrap();
        (plan, String::from_utf8(bytes).unwrap())
    }

    const HEAD: &str = r#"{"sessionId":"s","createdAt":5,"nextId":3,"snapshots":["#;
    const FIRST: &str = r#"{"id":"s1","timestamp":1,"toolName":"edit","files":[{"filePath":"/a","existedBefore":true,"type":"full","content":"x\n","compressed":false}]}"#;

    #[test]
    fn a_torn_index_keeps_its_whole_snapshots_at_every_cut() {
        let whole = format!("{HEAD}{FIRST},{}]}}", FIRST.replace("s1", "s2"));
        for cut in HEAD.len() + FIRST.len()..whole.len() {
            let (plan, text) = repaired(&whole[..cut], &[]);
            assert_eq!(plan.answers, [&UNREADABLE_INDEX], "{cut}");
            assert!(plan.after.readable && plan.after.snapshots >= 1 && plan.left.is_empty(), "{cut}: {text}");
            let start = format!("{HEAD}{FIRST}");
            assert!(text.starts_with(&start), "{text}");
        }
        // Before the first whole snapshot there is nothing to salvage.
        let (plan, text) = repaired(&whole[..HEAD.len() + 20], &[]);
        assert!(plan.edits.is_empty() && text.len() == HEAD.len() + 20);
    }

    #[test]
    fn what_stood_behind_the_list_comes_back() {
        let torn = format!(r#"{{"snapshots":[{FIRST}],"sessionId":"s","nextId":9,"crea"#);
        let (plan, text) = repaired(&torn, &[]);
        assert!(
            text.contains("\"nextId\":9") && text.contains("\"sessionId\":\"s\"") && text.contains("\"createdAt\":1.0")
        );
        assert_eq!(plan.answers, [&UNREADABLE_INDEX]);
    }

    #[test]
    fn counters_and_lookups_are_set() {
        let low = HEAD.replace("\"nextId\":3", "\"nextId\":1");
        let (plan, text) = repaired(&format!("{low}{FIRST}]}}"), &[]);
        assert_eq!((plan.answers.as_slice(), text.contains("\"nextId\":2,")), (&[&ID_COUNTER_BEHIND][..], true));
        let none = HEAD.replace("\"nextId\":3,", "");
        let (_, text) = repaired(&format!("{none}{FIRST}]}}"), &[]);
        assert!(text.starts_with("{\"nextId\":2,\"sessionId\""), "{text}");
        let stale = format!(r#"{HEAD}{FIRST}],"latestFullMap":{{"/b":"s9"}}}}"#);
        let (plan, _) = repaired(&stale, &[]);
        assert!(plan.edits.is_empty(), "only when it is asked for");
        let (_, text) = repaired(&stale, &["K806"]);
        assert!(text.ends_with(r#""latestFullMap":{"/a":"s1"}}"#), "{text}");
    }

    #[test]
    fn what_is_no_snapshot_leaves_the_list() {
        let third = FIRST.replace("s1", "s2");
        for list in [
            format!("null,{FIRST},{third}"),
            format!("{FIRST},null,{{}},{third}"),
            format!("{FIRST},{third},\"x\""),
            format!("null, {{}} ,{FIRST}, null"),
        ] {
            let (plan, text) = repaired(&format!("{HEAD}{list}]}}"), &[]);
            assert!(plan.left.iter().all(|f| !f.is(&UNREADABLE_INDEX)), "{text}");
            assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
        }
    }
}
