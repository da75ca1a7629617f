//! pi and OpenClaw: what is sent after a resume.

use std::collections::HashMap;

use super::Pi;
use super::load;
use super::records::own;
use crate::chain::Mode;
use crate::provider::Api;
use crate::record::facts::{Block, Facts, Kind, Record, flag};
use crate::record::read::{At, RecordReader};
use crate::record::reread;
use crate::record::value::Value;
use crate::request::agent::Sender;
use crate::request::{Request, Role, interruption};
use crate::session::Session;

impl Sender for Pi {
    fn role(&self, _facts: &Facts, record: &Record) -> Role {
        match record.kind {
            Kind::Assistant if record.has(flag::FAILED) => Role::Failed,
            Kind::Assistant => Role::Model(0),
            Kind::ToolMessage => Role::Results,
            _ => Role::Prompt,
        }
    }

    fn speaking<'a>(&self, session: &'a Session) -> Box<dyn Iterator<Item = u32> + 'a> {
        if session.chain.mode == Mode::Linear {
            return Box::new(first_version(session).into_iter());
        }
        Box::new(session.chain.messages.iter().copied())
    }

    fn edited(&self, session: &Session) -> HashMap<u32, Vec<Block>> {
        (self.loader.edited)(session)
    }

    fn api(&self, session: &Session) -> Api {
        next_provider(session)
            .map_or(Api::Unknown, |(provider, model)| Api::of_provider(&provider, Some(model.as_bytes())))
    }

    fn has_ended(&self, _session: &Session) -> bool {
        false
    }

    fn clean(&self, session: &Session, request: &mut Request) {
        request.drop_failed(session);
        request.interruption = interruption(session, request);
    }

    fn may_answer(&self, _record: &Record) -> bool {
        true
    }
}

/// Provider and model of the next request: those of the last model change or answer on the path. OpenClaw's own rows
/// (`provider: "openclaw"`) are never sent and say nothing; what stands on another branch does not count
/// (`docs/formats/pi.md`, section 10).
fn next_provider(session: &Session) -> Option<(String, String)> {
    let names = |n: u32| {
        let record = session.record(n);
        if record.kind != Kind::Assistant && !record.has(own::MODEL_CHANGE) {
            return None;
        }
        let text = reread::text(&session.source, record).ok()?;
        let value = Value::parse(&text)?;
        let named = if record.kind == Kind::Assistant { value.get("message")? } else { value };
        let word = |key: &str| named.get(key).and_then(|v| v.string());
        let model = word("model").or_else(|| word("modelId")).unwrap_or_default();
        match word("provider") {
            Some(provider) => Some((provider, model)),
            // oh-my-pi writes both in one field.
            None => model.split_once('/').map(|(provider, model)| (provider.to_owned(), model.to_owned())),
        }
    };
    let path = session.chain.adopted.iter().rev().copied();
    path.filter_map(names).find(|(provider, _)| provider != "openclaw").or_else(|| {
        // Headers of the first version named them.
        let header = session.record(load::header(&session.facts.records)?);
        let word = |key: &str| reread::field(&session.source, header, &[key]).map(|word| word.lossy());
        Some((word("provider")?, word("modelId").unwrap_or_default()))
    })
}

/// pi v1: a compaction keeps a range by its index among the parsed lines, the header being 0 (`docs/formats/pi.md`,
/// section 4).
fn first_version(session: &Session) -> Vec<u32> {
    let messages = &session.chain.messages;
    if load::has_ids(&session.facts) {
        return messages.clone();
    }
    let Some(at) = messages.iter().rposition(|&n| session.record(n).kind == Kind::Compaction) else {
        return messages.clone();
    };
    let text = reread::text(&session.source, session.record(messages[at])).unwrap_or_default();
    let first = Value::parse(&text).and_then(|v| v.get("firstKeptEntryIndex")?.count()).filter(|&first| first > 0);
    let kept = messages[..at].iter().copied().filter(|&n| first.is_some_and(|first| u64::from(n) >= first));
    std::iter::once(messages[at]).chain(kept).chain(messages[at + 1..].iter().copied()).collect()
}

/// What context edits put in the place of a record's content. The latest edit of a target counts; those that leave their
/// target out were followed by the loader already.
pub(super) fn edited(session: &Session) -> HashMap<u32, Vec<Block>> {
    let mut edited = HashMap::new();
    let edits = session.chain.adopted.iter().map(|&n| session.record(n)).filter(|r| r.kind == Kind::ContextEdit);
    let latest: HashMap<u64, &Record> = edits.map(|r| (r.target(), r)).collect();
    if latest.is_empty() {
        return edited;
    }
    for &n in &session.chain.messages {
        let target = session.record(n);
        let Some(edit) = latest.get(&target.id.short()).filter(|e| !e.has(flag::OMITS)) else { continue };
        // A result stays the answer to its call whatever it says.
        if target.kind == Kind::ToolMessage {
            continue;
        }
        if let Some(blocks) = replacement(session, edit) {
            edited.insert(n, blocks);
        }
    }
    edited
}

fn replacement(session: &Session, edit: &Record) -> Option<Vec<Block>> {
    let text = reread::text(&session.source, edit).ok()?;
    let content = Value::parse(&text)?.at(&["replacement", "content"])?;
    let line = [br#"{"type":"message","message":{"role":"user","content":"#, content.raw(), b"}}"].concat();
    let mut facts = Facts::default();
    let at = At { line: edit.line, offset: edit.offset, exact: false };
    RecordReader::new(session.agent).read(&line, at, false, &mut facts).ok()?;
    for block in &mut facts.blocks {
        block.name = facts.names.get(block.name).map_or(0, |name| session.facts.names.find(name));
    }
    Some(facts.blocks)
}
