//! What a step would make worse, as the person sees it who resumes the session afterwards (law 10).
//!
//! Messages are told apart by where they stand in the file, not by their number: as many others are no amends for one
//! that no longer comes back.

use std::collections::{BTreeMap, HashMap};
use std::io;

use super::edit::Edit;
use super::places;
use super::plan::State;
use super::text::Text;
use crate::chain::recover::Evidence;
use crate::finding::{Fix, Severity};
use crate::record::facts::{Id, Kind, Record};
use crate::rules::counted;
use crate::session::Session;
use crate::verdict::{ApiVerdict, ResumeVerdict};

/// A message that comes back: its id, and where it stands in its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Back {
    id: Id,
    offset: u64,
    length: u64,
}

impl Back {
    pub(super) fn is(&self, id: Option<Id>) -> bool {
        id == Some(self.id)
    }

    pub(super) fn of(record: &Record) -> Self {
        Back { id: record.id, offset: record.offset, length: u64::from(record.length) }
    }
}

/// A state, with the text that it was read from. Two that are compared are texts of one file.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a>(pub(super) &'a State, pub(super) &'a Text);

/// How much a change may take away.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The furthest class of its edits.
    class: Option<Fix>,
    /// Whether a person decided which branch is used: what that takes away is announced.
    decided: bool,
}

impl Bound {
    /// That of some edits.
    pub fn of<'a>(edits: impl Iterator<Item = &'a Edit>) -> Self {
        edits.fold(Bound { class: None, decided: false }, |bound, edit| Bound {
            class: bound.class.max(Some(edit.class)),
            decided: bound.decided || edit.evidence == Some(Evidence::Decided),
        })
    }

    /// The same, where a person may have decided in another way than by a link.
    pub(super) fn or_decided(self, decided: bool) -> Self {
        Bound { decided: self.decided || decided, ..self }
    }

    /// Whether a person decided.
    pub(super) fn is_decided(self) -> bool {
        self.decided
    }

    /// Nothing that comes back may go.
    pub(super) fn gentle() -> Self {
        Bound { class: Some(Fix::Links), decided: false }
    }

    fn is_gentle(self) -> bool {
        self.class.is_none_or(|c| c <= Fix::Links)
    }
}

/// What would be worse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worse {
    /// In words.
    pub why: String,
    /// What it is about.
    pub about: About,
    /// The leaf that would be used instead, where a person can decide for it.
    pub leaf: Option<String>,
}

/// What a step makes worse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum About {
    /// Messages that came back would not any more.
    Messages,
    /// The session would not load any more.
    Loading,
    /// The API would refuse what it takes now.
    Api,
    /// Anything else.
    Other,
}

impl Worse {
    /// Anything else.
    pub fn other(why: String) -> Self {
        Worse::about(About::Other, why)
    }

    fn about(about: About, why: String) -> Self {
        Worse { why, about, leaf: None }
    }

    /// Whether a further step may make up for it.
    pub(super) fn may_be_mended(&self) -> bool {
        self.about != About::Other
    }
}

/// A step that was taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TakenBack {
    /// The code that it would have answered.
    pub code: &'static str,
    /// What it would have made worse.
    pub worse: Worse,
}

/// What is worse afterwards, if anything: a message that no longer comes back, a session that no longer loads, a history
/// that the API refuses, a finding at warning or above that was not there. What a longer chain brings to light of its own
/// messages was there before; it is no loss as long as the API takes it.
pub(super) fn worse(before: Seen<'_>, after: Seen<'_>, bound: Bound) -> io::Result<Option<Worse>> {
    let gentle = bound.is_gentle();
    let (was, is) = (before.0, after.0);
    let loads = |s: &State| !s.refused && s.resume.verdict != ResumeVerdict::None;
    if gentle && (is.refused && !was.refused || loads(was) && !loads(is)) {
        return Ok(Some(Worse::about(About::Loading, "the session would no longer load".to_owned())));
    }
    // A person may decide for another branch; what only takes away is no decision for anything.
    if gentle
        && let Some(gone) = no_longer(before, after)?
        && !(bound.decided && gone.for_others)
    {
        return Ok(Some(Worse::about(About::Messages, gone.why)));
    }
    if is.api == ApiVerdict::Refused && was.api != ApiVerdict::Refused && loads(was) {
        let why = format!("the API would refuse every prompt ({})", is.api_codes.join(", "));
        return Ok(Some(Worse::about(About::Api, why)));
    }
    let longer = is.messages.len() > was.messages.len() || bound.decided;
    let counts = loud(was);
    let new = loud(is).into_iter().find_map(|(code, n)| {
        let uncovered = longer && matches!(code.as_bytes().first(), Some(b'T' | b'M' | b'S'));
        (n > counts.get(code).copied().unwrap_or(0) && !uncovered).then(|| format!("{code} would be new"))
    });
    Ok(new.map(Worse::other))
}

/// Findings at warning or above by code, those not listed included.
pub(super) fn loud(state: &State) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for f in state.findings.iter().filter(|f| f.severity >= Severity::Warning) {
        *counts.entry(f.rule.code).or_default() += 1 + f.more.unwrap_or(0);
    }
    counts
}

/// The id that a running agent would append to has to survive every repair up to `links`: its next record names it.
pub(super) fn tail_gone(before: &State, after: &Session, bound: Bound) -> Option<String> {
    let there = before.tail.is_none() || after.graph.find(before.tail, &after.facts).is_some();
    (bound.is_gentle() && !there).then(|| "the record that a running agent would append to would be gone".to_owned())
}

/// Messages that no longer come back.
pub(super) struct Gone {
    /// Which, in words.
    pub(super) why: String,
    /// Whether others come back instead.
    for_others: bool,
}

/// Whether a step leaves no record that a loader knows: that file is no session, or one of which nothing can be won, and
/// in both cases its bytes are worth more than what the step would make of them.
pub(super) fn emptied(after: &Session) -> Option<String> {
    let known = |kind: Kind| !matches!(kind, Kind::NonObject | Kind::Other);
    let left = after.facts.records.iter().any(|record| known(record.kind));
    (!left).then(|| "no record would be left in the file".to_owned())
}

/// Which messages no longer come back, and which do instead; none when all still do.
pub(super) fn no_longer(before: Seen<'_>, after: Seen<'_>) -> io::Result<Option<Gone>> {
    let gone = missing(before, after)?;
    if gone.is_empty() {
        return Ok(None);
    }
    let new = missing(after, before)?;
    let told = |offsets: &[u64]| places::lines_of(before.1.base(), offsets);
    let (gone_at, new_at) = (told(&gone)?, told(&new)?);
    let why = match new.len() {
        0 => format!("{} would no longer come back ({gone_at})", counted(gone.len() as u64, "message")),
        _ => format!(
            "another branch would be taken: {} would come back ({new_at}), {} no longer would ({gone_at})",
            counted(new.len() as u64, "message"),
            gone.len()
        ),
    };
    Ok(Some(Gone { why, for_others: !new.is_empty() }))
}

/// The messages of one state that are not among those of another, by their first bytes in the file. An equal copy is as
/// good, and what no longer stands where it stood in the file is known by its id.
fn missing(these: Seen<'_>, others: Seen<'_>) -> io::Result<Vec<u64>> {
    let places = |seen: Seen<'_>| {
        let mut messages = seen.0.messages.clone();
        messages.sort_unstable_by_key(|m| m.offset);
        let spans: Vec<(u64, u64)> = messages.iter().map(|m| (m.offset, m.length)).collect();
        let in_file = seen.1.extents(&spans);
        messages.into_iter().zip(in_file).collect::<Vec<(Back, Option<(u64, u64)>)>>()
    };
    let there = places(others);
    let mut starts: Vec<(u64, u64)> = there.iter().filter_map(|(_, at)| *at).collect();
    starts.sort_unstable();
    let stands = |(start, end): (u64, u64)| {
        let next = starts.partition_point(|other| other.0 < end);
        next > 0 && starts[next - 1].1 > start
    };
    let mut by_id: HashMap<Id, Vec<Option<(u64, u64)>>> = HashMap::new();
    for (message, at) in there.iter().filter(|(m, _)| !m.id.is_none()) {
        by_id.entry(message.id).or_default().push(*at);
    }
    let base = these.1.base();
    let equal = |one: (u64, u64), other: (u64, u64)| -> io::Result<bool> {
        Ok(one.1 - one.0 == other.1 - other.0
            && base.read_range(one.0, one.1 - one.0)? == base.read_range(other.0, other.1 - other.0)?)
    };
    let mut missing = Vec::new();
    for (message, at) in places(these) {
        let Some(at) = at else {
            if !by_id.contains_key(&message.id) {
                missing.push(these.1.in_file(message.offset));
            }
            continue;
        };
        if stands(at) {
            continue;
        }
        let mut found = false;
        for other in by_id.get(&message.id).into_iter().flatten() {
            found |= match other {
                None => true,
                Some(other) => equal(at, *other)?,
            };
        }
        if !found {
            missing.push(at.0);
        }
    }
    missing.sort_unstable();
    Ok(missing)
}
