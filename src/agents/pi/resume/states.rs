//! pi's inventory, and OpenClaw's where it differs. Everything is an entry of the one file: what hangs on the path from
//! the leaf counts for the model, the thinking level and the edits of the context; labels and the name count wherever
//! they stand.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::agents::pi::{ResumeRules, load};
use crate::chain::Stop;
use crate::predict::states::{Outcome, State, not_reached, quoted};
use crate::record::facts::{Id, Kind, Record, flag};
use crate::record::reread;
use crate::record::reread::Reread;
use crate::record::value::Value;
use crate::request::Request;
use crate::session::Session;
use crate::text::counted;

const EDITS: &str = "context edits";

/// The inventory of one session.
pub(super) fn states(session: &Session, request: &Request, refused: Option<&str>, rules: &ResumeRules) -> Vec<State> {
    let entries = Entries::read(session);
    let mut states = vec![
        messages(session, request, refused),
        leaf(session, rules),
        model(session, &entries),
        thinking(session, &entries),
        (rules.edits)(session),
        labels(session, &entries),
        name(&entries),
    ];
    if refused.is_some() {
        not_reached(&mut states, &["messages"]);
    }
    states
}

/// Entries beside the conversation, read once from front to back. Lines tell which came last.
#[derive(Debug, Default)]
struct Entries {
    /// On the path: provider and model of the last change.
    model: Option<(u32, String)>,
    /// On the path: the last level.
    thinking: Option<(u32, String)>,
    /// By target: the last label, none when it was cleared.
    labels: BTreeMap<Id, (u32, bool)>,
    /// The last name, none when it was cleared.
    name: Option<(u32, bool)>,
}

impl Entries {
    fn read(session: &Session) -> Entries {
        let mut entries = Entries::default();
        let mut on_path = vec![false; session.facts.records.len()];
        session.chain.adopted.iter().for_each(|&n| on_path[n as usize] = true);
        let mut reread = Reread::new(&session.source, session.agent);
        for (record, on_path) in session.facts.records.iter().zip(on_path) {
            if record.kind != Kind::Metadata {
                continue;
            }
            if record.has(flag::LOSSY) {
                let text = reread::text(&session.source, record).unwrap_or_default();
                entries.take(record, &text, on_path);
            } else {
                entries.take(record, reread.range(record.offset, record.length as usize), on_path);
            }
        }
        entries
    }

    fn take(&mut self, record: &Record, text: &[u8], on_path: bool) {
        let Some(value) = Value::parse(text) else { return };
        let word = |key: &str| value.get(key).and_then(|v| v.string());
        match word("type").as_deref() {
            Some("model_change") if on_path => {
                self.model = Some((record.line, of_provider(word("provider"), word("modelId"))));
            }
            Some("thinking_level_change") if on_path => {
                self.thinking = Some((record.line, word("thinkingLevel").unwrap_or_default()));
            }
            Some("label") => {
                if let Some(target) = value.get("targetId").and_then(|t| t.text()) {
                    let set = word("label").is_some_and(|label| !label.is_empty());
                    self.labels.insert(Id::of(target.as_bytes()), (record.line, set));
                }
            }
            Some("session_info") => {
                let set = word("name").is_some_and(|name| !name.trim().is_empty());
                self.name = Some((record.line, set));
            }
            _ => {}
        }
    }
}

fn of_provider(provider: Option<String>, model: Option<String>) -> String {
    let model = quoted(&model.unwrap_or_default());
    provider.filter(|p| !p.is_empty()).map_or(model.clone(), |p| format!("{model} of {}", quoted(&p)))
}

fn messages(session: &Session, request: &Request, refused: Option<&str>) -> State {
    const NAME: &str = "messages";
    if let Some(why) = refused {
        return State::new(NAME, Outcome::Failed, why);
    }
    let count = request.rows.len();
    if count == 0 {
        return State::new(NAME, Outcome::Missing, "the path holds no message");
    }
    let lost = session.chain.kept_range_lost.map(|n| session.record(n).line);
    if let Some(line) = lost {
        let note = format!("{}; what the compaction keeps is not on the path", counted(count, "message"));
        return State::new(NAME, Outcome::Normalised, note).at(line);
    }
    let left = request.drops.len();
    if left > 0 {
        let note = format!("{}, {} left out of the request", counted(count, "message"), counted(left, "failed turn"));
        return State::new(NAME, Outcome::Normalised, note);
    }
    State::new(NAME, Outcome::Restored, format!("{} on the path from the leaf", counted(count, "message")))
}

fn leaf(session: &Session, rules: &ResumeRules) -> State {
    const NAME: &str = "leaf";
    let Some(leaf) = session.chain.leaf else {
        return State::new(NAME, Outcome::Missing, "the file holds no entry");
    };
    let line = session.record(leaf).line;
    let (outcome, note) = match session.chain.stop {
        Stop::MissingParent(n) => {
            let note = format!("its path breaks on line {}: what is above is gone", session.record(n).line);
            (Outcome::Normalised, note)
        }
        // pi never returns from it, so there is no path to tell of.
        Stop::Repeat(n) if session.chain.refusal.is_none() => {
            let note = format!("its path comes back to itself on line {} and ends there", session.record(n).line);
            (Outcome::Normalised, note)
        }
        _ => (Outcome::Restored, rules.leaf.to_owned()),
    };
    State::new(NAME, outcome, note).at(line)
}

/// An assistant message tells its own provider and model, and overrides an earlier change.
fn model(session: &Session, entries: &Entries) -> State {
    const NAME: &str = "model";
    let mut path = session.chain.adopted.iter().rev().map(|&n| session.record(n));
    let spoke = path.find(|r| r.kind == Kind::Assistant && r.model != 0);
    let changed = entries.model.as_ref();
    match (spoke, changed) {
        (Some(record), changed) if changed.is_none_or(|(line, _)| *line < record.line) => {
            let provider = reread::field(&session.source, record, &["message", "provider"]).map(|p| p.lossy());
            let model = session.facts.names.text(record.model);
            let note = format!("{}, which answered last", of_provider(provider, Some(model)));
            State::new(NAME, Outcome::Restored, note).at(record.line)
        }
        (_, Some((line, model))) => State::new(NAME, Outcome::Restored, model.clone()).at(*line),
        (_, None) => header_word(session, NAME, "modelId"),
    }
}

fn thinking(session: &Session, entries: &Entries) -> State {
    const NAME: &str = "thinking level";
    match &entries.thinking {
        Some((line, level)) => State::new(NAME, Outcome::Restored, quoted(level)).at(*line),
        None => header_word(session, NAME, "thinkingLevel"),
    }
}

/// Headers of the first version told model and level.
fn header_word(session: &Session, name: &'static str, key: &str) -> State {
    let header = load::header(&session.facts.records).map(|n| session.record(n));
    let word = header.and_then(|r| Some((reread::field(&session.source, r, &[key])?.lossy(), r.line)));
    match word {
        Some((word, line)) => {
            State::new(name, Outcome::Restored, format!("{}, as the header has it", quoted(&word))).at(line)
        }
        None => State::new(name, Outcome::Missing, "the settings decide"),
    }
}

/// The latest edit of a target counts.
pub(in crate::agents::pi) fn edits(session: &Session) -> State {
    let path = session.chain.adopted.iter().map(|&n| session.record(n));
    let all: Vec<&Record> = path.filter(|r| r.kind == Kind::ContextEdit).collect();
    let Some(last) = all.last().map(|r| r.line) else {
        return State::new(EDITS, Outcome::Missing, "nothing was edited");
    };
    let latest: HashMap<u64, &Record> = all.iter().map(|r| (r.target(), *r)).collect();
    let on_path: HashSet<u64> = session.chain.adopted.iter().map(|&n| session.record(n).id.short()).collect();
    let (mut omits, mut replaces, mut lost) = (0, 0, 0);
    for (target, edit) in &latest {
        match edit.has(flag::OMITS) {
            _ if !on_path.contains(target) => lost += 1,
            true => omits += 1,
            false => replaces += 1,
        }
    }
    let note = format!("{} left out, {replaces} replaced", counted(omits, "target"));
    if lost == 0 {
        return State::new(EDITS, Outcome::Restored, note).at(last);
    }
    let note = format!("{note}, {lost} not on the path");
    let outcome = if omits + replaces == 0 { Outcome::Ignored } else { Outcome::Normalised };
    State::new(EDITS, outcome, note).at(last)
}

/// OpenClaw does not know them.
pub(in crate::agents::pi) fn edits_passed_over(session: &Session) -> State {
    let path = session.chain.adopted.iter().map(|&n| session.record(n));
    let all = path.chain(&session.facts.records).filter(|r| r.kind == Kind::ContextEdit);
    let lines: Vec<u32> = all.map(|r| r.line).collect();
    let Some(&last) = lines.last() else {
        return State::new(EDITS, Outcome::Missing, "nothing was edited");
    };
    let note = format!("{}; this agent walks past them", counted(lines.len(), "edit"));
    State::new(EDITS, Outcome::Ignored, note).at(last)
}

fn labels(session: &Session, entries: &Entries) -> State {
    const NAME: &str = "labels";
    let Some(last) = entries.labels.values().map(|(line, _)| *line).max() else {
        return State::new(NAME, Outcome::Missing, "none was set");
    };
    let set: Vec<&Id> = entries.labels.iter().filter(|(_, (_, set))| *set).map(|(id, _)| id).collect();
    let lost = set.iter().filter(|id| session.graph.find(***id, &session.facts).is_none()).count();
    match (set.len(), lost) {
        (0, _) => State::new(NAME, Outcome::Missing, "all were cleared").at(last),
        (n, 0) => State::new(NAME, Outcome::Restored, counted(n, "label")).at(last),
        (n, lost) => {
            let note = format!("{}; {lost} on an entry that is not in the file", counted(n, "label"));
            State::new(NAME, Outcome::Normalised, note).at(last)
        }
    }
}

fn name(entries: &Entries) -> State {
    const NAME: &str = "session name";
    match entries.name {
        Some((line, true)) => State::new(NAME, Outcome::Restored, "the last one that was given").at(line),
        Some((line, false)) => State::new(NAME, Outcome::Missing, "cleared").at(line),
        None => State::new(NAME, Outcome::Missing, "none was given"),
    }
}
