//! How sid-code's list and clean-up see one session file (`docs/formats/sid-code.md`, section 4, "List / clean-up
//! view"): one reading serves both, it takes every file whole whatever its size, and an entry is either shown or
//! *corrupt*. What is corrupt is not listed and goes at the next start, whatever its age.
//!
//! Checked against what it made of the same sessions, and against the source of an earlier revision for what that page leaves
//! out (a message that is null, a content element that is no object: the reader throws, which counts as corrupt).

use crate::chain::Chain;
use crate::record::agent::Cut;
use crate::record::facts::{BlockKind, Facts, Kind, NO_TIME, Record, flag};
use crate::record::value::Value;
use crate::record::{parse, reread, time};
use crate::session::{Session, Shape};
use crate::store::meter::Meter;

/// Why an entry counts as corrupt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(super) enum Corrupt {
    /// Transcripts of subagents lie among the sessions and have no start record of a session.
    Sidechain = 1,
    /// The loader returns null or throws.
    NotLoadable,
    /// No user's or model's message among what is loaded.
    NoMessage,
    /// No time of creation or of the last update.
    NoTimes,
    /// Metadata `kind` is `subagent`.
    Subagent,
    /// The reader throws while it makes the entry's name.
    Throws,
}

impl Corrupt {
    /// In a sentence.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Corrupt::Sidechain => "a subagent's transcript, which counts as corrupt",
            Corrupt::NotLoadable => "cannot be loaded",
            Corrupt::NoMessage => "no user or assistant message is loaded",
            Corrupt::NoTimes => "no time of creation or last update",
            Corrupt::Subagent => "its kind is subagent",
            Corrupt::Throws => "a message is null or holds an element that is no object",
        }
    }

    pub(super) fn from_number(n: u8) -> Option<Corrupt> {
        use Corrupt::{NoMessage, NoTimes, NotLoadable, Sidechain, Subagent, Throws};
        [Sidechain, NotLoadable, NoMessage, NoTimes, Subagent, Throws].into_iter().find(|c| *c as u8 == n)
    }
}

/// What list and clean-up know of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct View {
    pub(super) corrupt: Option<Corrupt>,
    /// Milliseconds since 1970; none when corrupt, or when the time cannot be read.
    pub(super) updated: Option<i64>,
}

/// The view of a session of sid-code.
pub(super) fn of(session: &Session) -> View {
    let corrupt = |why| View { corrupt: Some(why), updated: None };
    if session.shape == Shape::Sidechain {
        return corrupt(Corrupt::Sidechain);
    }
    if session.document.is_some() {
        return of_document(session);
    }
    if !reads_differ(session) {
        return of_lines(session, &session.facts, &session.chain);
    }
    // The loader streams this file and splits it where the list does not.
    match parse::read_cut(&session.source, session.agent, Cut::TrimmedLines, &Meter::default()) {
        Ok(facts) => of_lines(session, &facts, &crate::agents::sid::load::load(&facts)),
        Err(_) => corrupt(Corrupt::NotLoadable),
    }
}

/// Whether the streaming reader may have seen other lines than the whole-file reader does.
fn reads_differ(session: &Session) -> bool {
    use crate::record::facts::DefectKind::RawSeparator;
    let facts = &session.facts;
    let lines = &facts.lines;
    session.agent.cut(session.source.size()) == Cut::Separators
        && (facts.bom
            || facts.defect_counts.contains_key(&RawSeparator)
            || lines.bad > 0
            || lines.records + lines.blank != lines.physical)
}

fn of_lines(session: &Session, facts: &Facts, chain: &Chain) -> View {
    let corrupt = |why| View { corrupt: Some(why), updated: None };
    if chain.refusal.is_some() {
        return corrupt(Corrupt::NotLoadable);
    }
    let adopted = || chain.adopted.iter().rev().map(|&n| &facts.records[n as usize]);
    let created = adopted().find(|r| r.kind == Kind::Start).is_some_and(|r| has_time(session, r));
    let updated = adopted().find(|r| is_known(r.kind)).filter(|r| has_time(session, r));
    let (true, Some(updated)) = (created, updated) else { return corrupt(Corrupt::NoTimes) };
    let messages: Vec<&Record> = chain.messages.iter().map(|&n| &facts.records[n as usize]).collect();
    if let Some(why) = judge(facts, &messages) {
        return corrupt(why);
    }
    let kind = facts.names.find(b"kind");
    let kind = adopted().find(|r| kind != 0 && r.kind == Kind::Metadata && r.agent == kind);
    if kind.and_then(|r| reread::field(&session.source, r, &["value"])).is_some_and(|v| v.as_bytes() == b"subagent") {
        return corrupt(Corrupt::Subagent);
    }
    View { corrupt: None, updated: Some(updated.time).filter(|t| *t != NO_TIME) }
}

fn of_document(session: &Session) -> View {
    let corrupt = |why| View { corrupt: Some(why), updated: None };
    let Some(document) = &session.document else { return corrupt(Corrupt::NotLoadable) };
    if document.refusal.is_some() || document.id.is_none() || !document.messages_array {
        return corrupt(Corrupt::NotLoadable);
    }
    let truthy = |text: &Option<String>| text.as_deref().is_some_and(|t| !t.is_empty());
    if !truthy(&document.times.0) || !truthy(&document.times.1) {
        return corrupt(Corrupt::NoTimes);
    }
    let messages: Vec<&Record> = session.facts.records.iter().collect();
    if messages.iter().any(|r| r.has(flag::IS_NULL)) {
        return corrupt(Corrupt::Throws);
    }
    if let Some(why) = judge(&session.facts, &messages) {
        return corrupt(why);
    }
    if document.kind.as_deref() == Some("subagent") {
        return corrupt(Corrupt::Subagent);
    }
    View { corrupt: None, updated: document.times.1.as_deref().and_then(|t| time::parse(t.as_bytes())) }
}

/// What the messages themselves make of the entry.
fn judge(facts: &Facts, messages: &[&Record]) -> Option<Corrupt> {
    if !messages.iter().any(|r| r.any(flag::ROLE_USER | flag::ROLE_ASSISTANT)) {
        return Some(Corrupt::NoMessage);
    }
    let throws = |r: &Record| {
        let no_message = r.kind != Kind::NonObject && !r.any(flag::MESSAGE | flag::MESSAGE_OTHER);
        no_message || facts.blocks_of(r).iter().any(|b| b.kind == BlockKind::NotObject)
    };
    messages.iter().copied().any(throws).then_some(Corrupt::Throws)
}

/// The records that move the time of the last update: those of the types that the loader knows.
fn is_known(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Start | Kind::User | Kind::Assistant | Kind::ToolMessage | Kind::Compaction | Kind::Metadata | Kind::End
    )
}

/// Whether the record's timestamp is something that JavaScript takes for true: not whether it is a time.
fn has_time(session: &Session, record: &Record) -> bool {
    if !record.has(flag::TIME_BAD) {
        return record.time != NO_TIME;
    }
    let Ok(text) = reread::text(&session.source, record) else { return false };
    Value::parse(&text).and_then(|v| v.get("timestamp")).is_some_and(|v| v.truthy())
}
