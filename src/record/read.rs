//! One JSON text into the facts of one record. Every agent's keys are read here by one reader, because each agent's
//! record is a flat object of known names; what a name means for whom is decided in `kind.rs`.
//!
//! A key that stands twice overwrites what its first copy left, as `JSON.parse` has it.
//!
//! Longer than other files because it is one walk: what each key does to the state of the reader stands together, and cut apart
//! that state would be everyone's.

use std::borrow::Cow;

use super::facts::{
    Block, BlockKind, Defect, DefectKind, Facts, Id, KEPT_PER_KIND, Kind, NO_COST, NO_NAME, NO_TIME, NO_TOKENS, Record,
    Usage, block, flag,
};
use super::fields::Shape;
use super::json::{Bad, Grammar, Kind as Json, Reader, Scratch, Str, decode};
use super::kind;
use super::media::{self, Media};
use super::time;
use crate::dialect::Dialect;

/// Number of the slot in [`super::facts::Names`] that remembers the last name of one kind of field.
mod slot {
    pub(super) const CWD: usize = 1;
    pub(super) const AGENT: usize = 3;
    pub(super) const MODEL: usize = 4;
    pub(super) const TOOL: usize = 5;
}

/// Where a text stands and how it is to be taken.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// Physical line.
    pub line: u32,
    /// Offset of the text's first byte in the file.
    pub offset: u64,
    /// Whether places in the text are places in the file (false when bytes were replaced to make it UTF-8).
    pub exact: bool,
}

/// What one reading of a record gathers before it is known what the record is.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) record: Record,
    /// What becomes the record's link: which of the two it is depends on its kind.
    pub(super) group: u64,
    pub(super) target: u64,
    pub(super) type_name: Option<Str>,
    pub(super) role: Option<Str>,
    /// pi: `stopReason`; Claude: `stop_reason`.
    pub(super) stop: Option<Str>,
    pub(super) subtype: Option<Str>,
    /// The type of an attachment or of a progress row's data.
    pub(super) inner_type: Option<Str>,
    pub(super) operation: Option<Str>,
    pub(super) provider: Option<Str>,
    pub(super) version: Option<Str>,
    pub(super) version_number: Option<(usize, usize)>,
    /// pi: the call a tool result answers.
    pub(super) call: Option<Str>,
    pub(super) call_name: Option<Str>,
    pub(super) key: Option<Str>,
    pub(super) session_id: Option<Str>,
    pub(super) other_session_id: Option<Str>,
    /// sid-code: whether the permission mode beside the message, and the one inside it, are unknown ones.
    pub(super) mode: Option<bool>,
    pub(super) inner_mode: Option<bool>,
    usage: Option<[u32; 4]>,
    /// The usage's total, where it is not the sum of its parts.
    usage_total: Option<u32>,
    /// What the response cost, in billionths of a dollar.
    cost: Option<u64>,
    /// sid-code: the value of a metadata record, when it is an object.
    value: Option<(usize, usize)>,
}

/// Reads the records of one file into its facts.
#[derive(Debug)]
pub struct RecordReader {
    dialect: Dialect,
    grammar: Grammar,
    pub(super) scratch: Scratch,
    /// Media found in one block; judged when its label is known.
    media: Vec<(usize, usize, DefectKind)>,
    /// The keys of the record so far, folded.
    shape: Shape,
    /// Whether carriage returns stood between tokens of the last text: some loaders split there.
    pub(super) carriage_return: bool,
}

type Read<T> = Result<T, Bad>;

impl RecordReader {
    /// A reader for one agent's records.
    pub fn new(dialect: Dialect) -> Self {
        let grammar = Grammar { python: dialect == Dialect::Claude };
        let (scratch, shape) = (Scratch::default(), Shape::default());
        RecordReader { dialect, grammar, scratch, media: Vec::new(), shape, carriage_return: false }
    }

    /// The grammar of the agent's parser.
    pub fn grammar(&self) -> Grammar {
        self.grammar
    }

    /// Reads one text. On success the record is at the end of `facts.records` (or `facts.hidden`).
    ///
    /// # Errors
    /// When the loader's parser refuses the text; then the facts are as before.
    pub fn read(&mut self, text: &[u8], at: At, hidden: bool, facts: &mut Facts) -> Read<()> {
        let mark = facts.blocks.len();
        let mut draft = Draft::default();
        self.media.clear();
        self.shape = Shape::default();
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut reader = Reader::new(text, self.grammar, &mut scratch);
        let read = self.value(&mut reader, &mut draft, facts, mark).and_then(|()| reader.end());
        self.scratch = scratch;
        self.carriage_return = self.scratch.notes.carriage_return;
        if let Err(bad) = read {
            facts.blocks.truncate(mark);
            return Err(bad);
        }
        let record = &mut draft.record;
        (record.line, record.offset) = (at.line, at.offset);
        record.length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        record.first_block = u32::try_from(mark).unwrap_or(u32::MAX);
        record.block_count = u16::try_from(facts.blocks.len() - mark).unwrap_or(u16::MAX);
        record.type_name = NO_NAME;
        if record.kind != Kind::NonObject {
            kind::settle(self.dialect, text, &mut draft, facts, mark, hidden);
            if !hidden {
                self.note_fields(text, &draft, facts);
            }
        }
        let mut record = draft.record;
        record.flags |= if at.exact { 0 } else { flag::LOSSY };
        record.block_count = u16::try_from(facts.blocks.len() - mark).unwrap_or(u16::MAX);
        let number = if hidden { u32::MAX } else { u32::try_from(facts.records.len()).unwrap_or(u32::MAX) };
        if !hidden {
            self.note_defects(at, number, facts);
            if let Some(tokens) = draft.usage {
                facts.usage.push(Usage { record: number, tokens });
                facts.usage_totals.extend(draft.usage_total.map(|total| (number, total)));
                if draft.cost.is_some() || !facts.costs.is_empty() {
                    facts.costs.resize(facts.usage.len() - 1, NO_COST);
                    facts.costs.push(draft.cost.unwrap_or(NO_COST));
                }
            }
        }
        if hidden {
            record.flags |= flag::HIDDEN;
            facts.hidden.push(record);
        } else {
            facts.records.push(record);
        }
        Ok(())
    }

    /// Counts the record's fields, and notes when its own type is what a text search for tool results finds.
    fn note_fields(&self, text: &[u8], draft: &Draft, facts: &mut Facts) {
        let type_name = draft.type_name.map(|s| &text[s.start..s.end]).unwrap_or_default();
        if type_name == b"tool_result"
            && draft.type_name.is_some_and(|s| text.get(s.start.wrapping_sub(8)..s.start) == Some(b"\"type\":\""))
        {
            facts.raw.record_level += 1;
        }
        let word = |s: Str| {
            let raw = &text[s.start..s.end];
            if s.escaped { Cow::Owned(decode(raw)) } else { Cow::Borrowed(raw) }
        };
        facts.fields.count(self.shape, &draft.type_name.map(word).unwrap_or_default(), text);
        if let (Some((start, end)), Some(key)) = (draft.value, draft.key) {
            facts.fields.count_value(&word(key), &text[start..end]);
        }
    }

    fn note_defects(&mut self, at: At, record: u32, facts: &mut Facts) {
        let notes = &self.scratch.notes;
        let place = |start: usize, length: usize| {
            let (start, length) = if at.exact { (start as u64, length) } else { (0, 0) };
            (at.offset + start, u32::try_from(length).unwrap_or(u32::MAX))
        };
        let mut add = |kind, (offset, length), detail, count| {
            note(facts, Defect { kind, record, line: at.line, offset, length, detail }, count);
        };
        for s in &notes.surrogates {
            let kind = if s.high { DefectKind::HighSurrogate } else { DefectKind::LowSurrogate };
            add(kind, place(s.at, 6), notes.surrogate_count, 1);
        }
        if let Some((start, length)) = notes.duplicate_key {
            add(
                DefectKind::DuplicateKey,
                place(start, length),
                notes.duplicate_count,
                u64::from(notes.duplicate_count),
            );
        }
        if let Some((start, length)) = notes.inexact {
            add(DefectKind::InexactNumber, place(start, length), notes.inexact_count, u64::from(notes.inexact_count));
        }
        if notes.depth > 128 {
            add(DefectKind::DeepNesting, place(0, 0), notes.depth, 1);
        }
        for &(start, length, kind) in &self.media {
            add(kind, place(start, length), 0, 1);
        }
    }

    fn value(&mut self, r: &mut Reader<'_, '_>, draft: &mut Draft, facts: &mut Facts, mark: usize) -> Read<()> {
        let kind = r.peek()?;
        if kind != Json::Object {
            draft.record.kind = Kind::NonObject;
            let (start, end) = r.skip()?;
            let zero = kind == Json::Number && is_zero(r.slice(start, end));
            if kind == Json::Null {
                draft.record.flags |= flag::IS_NULL;
            }
            if matches!(kind, Json::Null | Json::False) || zero || (kind == Json::String && end - start == 2) {
                draft.record.flags |= flag::IS_FALSY;
            }
            return Ok(());
        }
        draft.record.time = NO_TIME;
        draft.record.flags |= flag::NO_TYPE;
        r.object(|r, key| self.field(r, key, draft, facts, mark))
    }

    fn field(
        &mut self,
        r: &mut Reader<'_, '_>,
        key: Str,
        draft: &mut Draft,
        facts: &mut Facts,
        mark: usize,
    ) -> Read<()> {
        let name = if key.escaped { &*decode(r.raw(key)) } else { r.raw(key) };
        self.shape.add(name);
        let record = &mut draft.record;
        match name {
            b"uuid" if !self.dialect.is_pi() => id_field(r, record),
            b"id" if self.dialect.is_pi() => id_field(r, record),
            b"parentUuid" if !self.dialect.is_pi() => self.parent_field(r, record),
            b"parentId" if self.dialect.is_pi() => self.parent_field(r, record),
            b"type" => {
                record.flags = record.flags & !flag::TYPE_CONTAINER | flag::NO_TYPE;
                draft.type_name = None;
                match r.peek()? {
                    Json::String => {
                        draft.type_name = Some(r.string()?);
                        record.flags &= !flag::NO_TYPE;
                        Ok(())
                    }
                    Json::Array | Json::Object => {
                        record.flags |= flag::TYPE_CONTAINER;
                        r.skip().map(drop)
                    }
                    _ => r.skip().map(drop),
                }
            }
            b"timestamp" => {
                record.flags &= !flag::TIME_BAD;
                record.time = NO_TIME;
                if let Some(s) = optional_string(r)? {
                    match time::parse(r.raw(s)) {
                        Some(ms) => record.time = ms,
                        None => record.flags |= flag::TIME_BAD,
                    }
                } else {
                    record.flags |= flag::TIME_BAD;
                }
                Ok(())
            }
            b"message" => self.message(r, draft, facts, mark),
            b"isSidechain" => self.truth(r, record, flag::SIDECHAIN),
            b"isMeta" => self.truth(r, record, flag::META),
            b"teamName" => self.truth(r, record, flag::TEAM),
            b"isCompactSummary" => self.truth(r, record, flag::COMPACT_SUMMARY),
            b"isApiErrorMessage" => self.truth(r, record, flag::API_ERROR),
            b"forkedFrom" => self.truth(r, record, flag::FORKED),
            b"sidAudit" => self.truth(r, record, flag::REPAIRED),
            b"sessionId" => {
                draft.session_id = optional_string(r)?;
                Ok(())
            }
            b"session_id" => {
                draft.other_session_id = optional_string(r)?;
                Ok(())
            }
            b"sessionKind" => {
                let bg = optional_string(r)?.is_some_and(|s| r.raw(s) == b"bg");
                record.flags = record.flags & !flag::BACKGROUND | if bg { flag::BACKGROUND } else { 0 };
                Ok(())
            }
            b"cwd" => {
                if let Some(s) = optional_string(r)? {
                    record.cwd = facts.names.intern(slot::CWD, &decoded(r, s));
                }
                record.flags |= flag::CONTEXT_FIELDS;
                Ok(())
            }
            b"version" => {
                (draft.version, draft.version_number) = (None, None);
                match r.peek()? {
                    Json::String => draft.version = Some(r.string()?),
                    Json::Number => draft.version_number = Some(r.number()?),
                    _ => drop(r.skip()?),
                }
                Ok(())
            }
            b"agentId" => {
                if let Some(s) = optional_string(r)? {
                    record.agent = facts.names.intern(slot::AGENT, &decoded(r, s));
                }
                Ok(())
            }
            b"key" => {
                draft.key = optional_string(r)?;
                Ok(())
            }
            b"subtype" => {
                draft.subtype = optional_string(r)?;
                Ok(())
            }
            b"operation" => {
                draft.operation = optional_string(r)?;
                Ok(())
            }
            b"provider" => {
                draft.provider = optional_string(r)?;
                Ok(())
            }
            b"logicalParentUuid" => {
                let named = optional_string(r)?.is_some();
                record.flags = record.flags & !flag::LOGICAL_PARENT | if named { flag::LOGICAL_PARENT } else { 0 };
                Ok(())
            }
            b"sourceToolAssistantUUID" => {
                draft.target = optional_string(r)?.map_or(0, |s| id_of(r, s).short());
                Ok(())
            }
            b"targetId" | b"firstKeptEntryId" => {
                draft.target = optional_string(r)?.map_or(0, |s| id_of(r, s).short());
                Ok(())
            }
            b"replacement" => {
                if r.peek()? == Json::Null {
                    record.flags |= flag::OMITS;
                }
                r.skip().map(drop)
            }
            b"appendMode" => {
                if optional_string(r)?.is_some_and(|s| r.raw(s) == b"side") {
                    record.flags |= flag::SIDE_APPEND;
                }
                Ok(())
            }
            b"attachment" | b"data" if r.peek()? == Json::Object => self.inner(r, draft),
            b"compactMetadata" if r.peek()? == Json::Object => {
                let mut preserves = false;
                r.object(|r, key| {
                    preserves |= matches!(&*decoded(r, key), b"preservedSegment" | b"preservedMessages")
                        && r.peek()? == Json::Object;
                    r.skip().map(drop)
                })?;
                draft.record.flags |= if preserves { flag::PRESERVES } else { 0 };
                Ok(())
            }
            b"usage" => {
                record.flags |= flag::CONTEXT_FIELDS;
                self.usage(r, draft)
            }
            // Claude Code up to 1.0.
            b"costUSD" => {
                draft.cost = cost(r)?;
                Ok(())
            }
            b"value" if self.dialect == Dialect::Sid => {
                let object = r.peek()? == Json::Object;
                let place = r.skip()?;
                draft.value = object.then_some(place);
                Ok(())
            }
            b"model" => {
                record.flags |= flag::CONTEXT_FIELDS;
                if let Some(s) = optional_string(r)? {
                    record.model = facts.names.intern(slot::MODEL, &decoded(r, s));
                }
                Ok(())
            }
            b"msgId" => {
                record.flags |= flag::CONTEXT_FIELDS;
                draft.group = optional_string(r)?.map_or(0, |s| id_of(r, s).short());
                Ok(())
            }
            b"stopReason" => {
                record.flags |= flag::CONTEXT_FIELDS;
                let stop = optional_string(r)?;
                if self.dialect == Dialect::Sid {
                    draft.stop = stop;
                }
                Ok(())
            }
            b"permissionMode" => {
                record.flags |= flag::CONTEXT_FIELDS;
                draft.mode = Some(unknown_mode(r)?);
                Ok(())
            }
            b"gitBranch" => {
                record.flags |= flag::CONTEXT_FIELDS;
                r.skip().map(drop)
            }
            // sid-code's sidechain messages and pi's custom messages carry role and content at the top.
            b"role" => {
                draft.role = optional_string(r)?;
                Ok(())
            }
            b"content" => self.content(r, &mut draft.record, facts, mark),
            _ => r.skip().map(drop),
        }
    }

    fn parent_field(&self, r: &mut Reader<'_, '_>, record: &mut Record) -> Read<()> {
        const PARENT: u64 = flag::PARENT_STRING | flag::PARENT_OTHER | flag::PARENT_CONTAINER;
        record.flags = record.flags & !PARENT | flag::PARENT_KEY;
        record.parent = Id::NONE;
        match r.peek()? {
            Json::String => {
                let s = r.string()?;
                record.flags |= flag::PARENT_STRING;
                // An empty parent is none for the loaders that ask for truth; sid-code compares it as it is.
                if s.start < s.end || self.dialect == Dialect::Sid {
                    record.parent = id_of(r, s);
                }
            }
            Json::Null => drop(r.skip()?),
            other => {
                record.flags |= flag::PARENT_OTHER;
                let (start, end) = r.skip()?;
                // Python takes an empty one for none, and cannot hash another.
                if matches!(other, Json::Array | Json::Object) && !blank(r.slice(start + 1, end - 1)) {
                    record.flags |= flag::PARENT_CONTAINER;
                }
                record.parent = Id::of_other(r.slice(start, end));
            }
        }
        Ok(())
    }

    fn truth(&self, r: &mut Reader<'_, '_>, record: &mut Record, bit: u64) -> Read<()> {
        let truth = truthy(r, self.grammar.python)?;
        record.flags = record.flags & !bit | if truth { bit } else { 0 };
        Ok(())
    }

    fn inner(&mut self, r: &mut Reader<'_, '_>, draft: &mut Draft) -> Read<()> {
        draft.inner_type = None;
        let mut cleared = false;
        r.object(|r, key| {
            match &*decoded(r, key) {
                b"type" => draft.inner_type = optional_string(r)?,
                b"hookName" => cleared = optional_string(r)?.is_some_and(|s| r.raw(s) == b"SessionStart:clear"),
                _ => drop(r.skip()?),
            }
            Ok(())
        })?;
        draft.record.flags |= if cleared { flag::CLEARED } else { 0 };
        Ok(())
    }

    fn message(&mut self, r: &mut Reader<'_, '_>, draft: &mut Draft, facts: &mut Facts, mark: usize) -> Read<()> {
        draft.record.flags &= !(flag::MESSAGE | flag::MESSAGE_OTHER);
        facts.blocks.truncate(mark);
        (draft.role, draft.inner_mode) = (None, None);
        // sid-code writes the reason beside the message, the others in it.
        if self.dialect != Dialect::Sid {
            draft.stop = None;
        }
        self.shape.add(b"{");
        match r.peek()? {
            Json::Object => draft.record.flags |= flag::MESSAGE,
            Json::Null => return r.skip().map(drop),
            _ => {
                draft.record.flags |= flag::MESSAGE_OTHER;
                return r.skip().map(drop);
            }
        }
        r.object(|r, key| {
            self.shape.add(r.raw(key));
            match &*decoded(r, key) {
                b"role" => draft.role = optional_string(r)?,
                b"content" => self.content(r, &mut draft.record, facts, mark)?,
                b"id" | b"responseId" => {
                    draft.group = optional_string(r)?.filter(|s| s.start < s.end).map_or(0, |s| id_of(r, s).short());
                }
                b"model" => {
                    if let Some(s) = optional_string(r)? {
                        draft.record.model = facts.names.intern(slot::MODEL, &decoded(r, s));
                    }
                }
                b"stop_reason" | b"stopReason" if self.dialect != Dialect::Sid => draft.stop = optional_string(r)?,
                b"_meta" if self.dialect == Dialect::Sid && r.peek()? == Json::Object => {
                    draft.record.flags &= !(flag::NOT_TYPED | flag::COMPACTED);
                    r.object(|r, key| match &*decoded(r, key) {
                        b"permissionMode" => {
                            draft.inner_mode = Some(unknown_mode(r)?);
                            Ok(())
                        }
                        b"origin" => {
                            draft.record.flags |= origin(r)?;
                            Ok(())
                        }
                        _ => r.skip().map(drop),
                    })?;
                }
                b"usage" => self.usage(r, draft)?,
                b"provider" => draft.provider = optional_string(r)?,
                b"toolCallId" => draft.call = optional_string(r)?,
                b"toolName" => draft.call_name = optional_string(r)?,
                _ => drop(r.skip()?),
            }
            Ok(())
        })?;
        self.shape.add(b"}");
        Ok(())
    }

    /// What a response used, and what it cost where that is stored.
    fn usage(&mut self, r: &mut Reader<'_, '_>, draft: &mut Draft) -> Read<()> {
        const PARTS: u64 = flag::BAD_FIGURE | flag::TOTAL_DIFFERS;
        draft.record.flags &= !PARTS;
        if r.peek()? != Json::Object {
            r.skip()?;
            return Ok(());
        }
        let mut tokens = [NO_TOKENS; 5];
        self.shape.add(b"{");
        r.object(|r, key| {
            self.shape.add(r.raw(key));
            let place = match &*decoded(r, key) {
                b"input_tokens" | b"inputTokens" | b"input" => 0,
                b"output_tokens" | b"outputTokens" | b"output" => 1,
                b"cache_read_input_tokens" | b"cacheReadInputTokens" | b"cacheRead" => 2,
                b"cache_creation_input_tokens" | b"cacheCreationInputTokens" | b"cacheWrite" => 3,
                b"totalTokens" => 4,
                b"cost" if r.peek()? == Json::Object => {
                    return r.object(|r, key| {
                        match &*decoded(r, key) {
                            b"total" => draft.cost = cost(r)?,
                            _ => drop(r.skip()?),
                        }
                        Ok(())
                    });
                }
                _ => return r.skip().map(drop),
            };
            let kind = r.peek()?;
            tokens[place] = NO_TOKENS;
            if kind == Json::Number {
                let (start, end) = r.number()?;
                let text = std::str::from_utf8(r.slice(start, end)).unwrap_or_default();
                tokens[place] = text.parse().or_else(|_| whole(text).ok_or(())).unwrap_or(NO_TOKENS);
            } else {
                r.skip()?;
            }
            if tokens[place] == NO_TOKENS && kind != Json::Null {
                draft.record.flags |= flag::BAD_FIGURE;
            }
            Ok(())
        })?;
        self.shape.add(b"}");
        let sum: u64 = tokens[..4].iter().filter(|n| **n != NO_TOKENS).map(|n| u64::from(*n)).sum();
        if tokens[4] != NO_TOKENS && sum != u64::from(tokens[4]) {
            draft.record.flags |= flag::TOTAL_DIFFERS;
        }
        draft.usage_total = (draft.record.flags & flag::TOTAL_DIFFERS != 0).then_some(tokens[4]);
        let [input, output, read, write, _] = tokens;
        draft.usage = Some([input, output, read, write]);
        Ok(())
    }

    fn content(&mut self, r: &mut Reader<'_, '_>, record: &mut Record, facts: &mut Facts, mark: usize) -> Read<()> {
        const CONTENT: u64 = flag::CONTENT_ARRAY | flag::CONTENT_STRING | flag::CONTENT_NULL | flag::CONTENT_OTHER;
        record.flags &= !(CONTENT | flag::LOCAL_COMMAND | flag::INTERRUPT);
        facts.blocks.truncate(mark);
        match r.peek()? {
            Json::String => {
                record.flags |= flag::CONTENT_STRING;
                let s = r.string()?;
                let text = r.raw(s);
                record.flags |= opening(text);
                facts.blocks.push(Block { kind: BlockKind::Text, flags: blankness(text), ..Block::default() });
                Ok(())
            }
            Json::Array => {
                record.flags |= flag::CONTENT_ARRAY;
                let mut index = 0_u16;
                r.array(|r| {
                    let opened = self.content_block(r, index, facts)?;
                    if index == 0 {
                        record.flags |= opened;
                    }
                    index = index.saturating_add(1);
                    Ok(())
                })
            }
            Json::Null => {
                record.flags |= flag::CONTENT_NULL;
                r.skip().map(drop)
            }
            _ => {
                record.flags |= flag::CONTENT_OTHER;
                r.skip().map(drop)
            }
        }
    }

    /// One block of a content array. Returns the flags that its opening words give the record.
    fn content_block(&mut self, r: &mut Reader<'_, '_>, index: u16, facts: &mut Facts) -> Read<u64> {
        let kind = r.peek()?;
        if kind != Json::Object {
            r.skip()?;
            let flags = if kind == Json::Null { block::EMPTY } else { 0 };
            facts.blocks.push(Block { kind: BlockKind::NotObject, index, flags, ..Block::default() });
            return Ok(0);
        }
        let (mut type_name, mut text, mut signature) = (None, None, None);
        let (mut id, mut name, mut result_id) = (Word::Absent, Word::Absent, Word::Absent);
        let (mut input, mut error, mut thinking) = (Json::Null, false, None);
        let mut media = Media::default();
        let mut media_at = (0, 0);
        r.object(|r, key| {
            self.shape.add(r.raw(key));
            match &*decoded(r, key) {
                b"type" => type_name = optional_string(r)?,
                b"text" => text = optional_string(r)?,
                b"thinking" => thinking = optional_string(r)?,
                b"signature" | b"thinkingSignature" => signature = optional_string(r)?,
                b"id" => id = word(r)?,
                b"name" => name = word(r)?,
                b"tool_use_id" => result_id = word(r)?,
                b"input" | b"arguments" => {
                    input = r.peek()?;
                    r.skip()?;
                }
                b"is_error" => error = truthy(r, false)?,
                b"source" if r.peek()? == Json::Object => {
                    r.object(|r, key| media_field(r, key, &mut media, &mut media_at))?;
                }
                b"data" | b"mimeType" => media_field(r, key, &mut media, &mut media_at)?,
                b"content" | b"mediaBlocks" if r.peek()? == Json::Array => self.nested(r)?,
                _ => drop(r.skip()?),
            }
            Ok(())
        })?;
        let mut new = Block { index, ..Block::default() };
        let mut opened = 0;
        let type_name = type_name.map(|s| decoded(r, s)).unwrap_or_default();
        self.shape.add(b"[");
        self.shape.add(&type_name);
        match &*type_name {
            b"text" => {
                new.kind = BlockKind::Text;
                let text = text.map(|s| r.raw(s)).unwrap_or_default();
                new.flags = blankness(text);
                opened = opening(text);
            }
            b"thinking" => {
                new.kind = BlockKind::Thinking;
                let text = thinking.map(|s| r.raw(s)).unwrap_or_default();
                let signature = signature.map(|s| r.raw(s)).unwrap_or_default();
                new.flags = blankness(text)
                    | if signature.is_empty() { block::NO_ID } else { 0 }
                    | if signed(signature) { 0 } else { block::UNSIGNED };
            }
            b"redacted_thinking" => new.kind = BlockKind::Redacted,
            b"tool_use" | b"toolCall" => {
                new.kind = BlockKind::Call;
                new.id = id.hash(r);
                new.name = match name {
                    Word::Text(s) => facts.names.intern(slot::TOOL, &decoded(r, s)),
                    Word::Other(start, end) if !falsy(r.slice(start, end)) => {
                        facts.names.intern(slot::TOOL, r.slice(start, end))
                    }
                    _ => 0,
                };
                new.flags = if id.is_name() { 0 } else { block::NO_ID }
                    | if name.is_name() { 0 } else { block::NO_NAME }
                    | if input == Json::Object { 0 } else { block::INPUT_OTHER }
                    | if input == Json::Null { block::EMPTY } else { 0 };
            }
            b"tool_result" => {
                new.kind = BlockKind::Result;
                new.id = result_id.hash(r);
                new.flags = if result_id.is_name() { 0 } else { block::NO_ID } | if error { block::ERROR } else { 0 };
            }
            b"image" => {
                new.kind = BlockKind::Image;
                self.judge(media, media_at);
            }
            b"document" => {
                new.kind = BlockKind::Document;
                self.judge(Media { document: true, ..media }, media_at);
            }
            b"tool_reference" => new.kind = BlockKind::ToolReference,
            other if other.starts_with(b"server_tool") || other.ends_with(b"_tool_result") => {
                new.kind = BlockKind::Server;
            }
            _ => {}
        }
        facts.blocks.push(new);
        Ok(opened)
    }

    /// What stands inside a tool result: media, and references to tools (noted as media of their own kind are not).
    fn nested(&mut self, r: &mut Reader<'_, '_>) -> Read<()> {
        r.array(|r| {
            if r.peek()? != Json::Object {
                return r.skip().map(drop);
            }
            let (mut type_name, mut media, mut at) = (None, Media::default(), (0, 0));
            r.object(|r, key| match &*decoded(r, key) {
                b"type" | b"kind" => {
                    type_name = optional_string(r)?;
                    Ok(())
                }
                b"source" if r.peek()? == Json::Object => r.object(|r, key| media_field(r, key, &mut media, &mut at)),
                b"data" | b"mimeType" | b"mediaType" => media_field(r, key, &mut media, &mut at),
                _ => r.skip().map(drop),
            })?;
            match type_name.map(|s| r.raw(s)) {
                Some(b"image") => self.judge(media, at),
                Some(b"document") => self.judge(Media { document: true, ..media }, at),
                Some(b"tool_reference") => self.media.push((at.0, at.1, DefectKind::ToolReference)),
                _ => {}
            }
            Ok(())
        })
    }

    fn judge(&mut self, media: Media<'_>, at: (usize, usize)) {
        if let Some(kind) = media::judge(media) {
            self.media.push((at.0, at.1, kind));
        }
    }
}

/// Keeps a defect, or only counts it when many of its kind are kept.
pub(super) fn note(facts: &mut Facts, defect: Defect, count: u64) {
    let seen = facts.defect_counts.entry(defect.kind).or_default();
    if *seen < KEPT_PER_KIND as u64 {
        facts.defects.push(defect);
    }
    *seen += count;
}

fn media_field<'a>(r: &mut Reader<'a, '_>, key: Str, media: &mut Media<'a>, at: &mut (usize, usize)) -> Read<()> {
    match &*decoded(r, key) {
        b"media_type" | b"mimeType" | b"mediaType" => media.label = optional_string(r)?.map(|s| r.raw(s)),
        b"data" => {
            if let Some(s) = optional_string(r)? {
                media.data = Some(r.raw(s));
                *at = (s.start, s.end - s.start);
            }
        }
        _ => drop(r.skip()?),
    }
    Ok(())
}

fn id_field(r: &mut Reader<'_, '_>, record: &mut Record) -> Read<()> {
    record.flags &= !(flag::ID_STRING | flag::ID_OTHER);
    record.id = Id::NONE;
    match r.peek()? {
        Json::String => {
            let s = r.string()?;
            record.flags |= flag::ID_STRING;
            record.id = id_of(r, s);
            record.id_at = u32::try_from(s.start).unwrap_or(u32::MAX);
        }
        Json::Null => drop(r.skip()?),
        _ => {
            record.flags |= flag::ID_OTHER;
            let (start, end) = r.skip()?;
            record.id = Id::of_other(r.slice(start, end));
        }
    }
    Ok(())
}

fn id_of(r: &Reader<'_, '_>, s: Str) -> Id {
    Id::of(&decoded(r, s))
}

/// The text of a string, resolved only where a backslash asks for it.
pub(super) fn decoded<'a>(r: &Reader<'a, '_>, s: Str) -> Cow<'a, [u8]> {
    if s.escaped { decode(r.raw(s)).into() } else { r.raw(s).into() }
}

/// A string; another value is moved over and is none.
fn optional_string(r: &mut Reader<'_, '_>) -> Read<Option<Str>> {
    if r.peek()? == Json::String {
        return r.string().map(Some);
    }
    r.skip()?;
    Ok(None)
}

/// A member that should be a name, as it stands.
#[derive(Clone, Copy)]
enum Word {
    Absent,
    /// A string that is not empty.
    Text(Str),
    /// Anything else.
    Other(usize, usize),
}

impl Word {
    fn is_name(self) -> bool {
        matches!(self, Word::Text(_))
    }

    /// What tells it from others. Agents that ask for no type compare numbers and null as well; two arrays or objects
    /// are never the same to JavaScript, so each hashes by its place.
    fn hash(self, r: &Reader<'_, '_>) -> u64 {
        match self {
            Word::Absent => 0,
            Word::Text(s) => id_of(r, s).short(),
            Word::Other(start, end) => match r.slice(start, end) {
                [b'[' | b'{', ..] => Id::of_other(&start.to_le_bytes()).short(),
                raw => Id::of_other(raw).short(),
            },
        }
    }
}

fn word(r: &mut Reader<'_, '_>) -> Read<Word> {
    if r.peek()? == Json::String {
        let s = r.string()?;
        return Ok(if s.start < s.end { Word::Text(s) } else { Word::Other(s.start - 1, s.end + 1) });
    }
    let (start, end) = r.skip()?;
    Ok(Word::Other(start, end))
}

/// Whether JavaScript takes a value that is no filled string for false.
fn falsy(raw: &[u8]) -> bool {
    matches!(raw, b"null" | b"false" | b"\"\"")
        || (raw.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-') && is_zero(raw))
}

/// The hashes of ids that JavaScript takes for false: none at all, null, false, the empty string, zero.
pub fn falsy_ids() -> &'static [u64] {
    static IDS: std::sync::OnceLock<[u64; 5]> = std::sync::OnceLock::new();
    IDS.get_or_init(|| {
        let of = |raw: &[u8]| Id::of_other(raw).short();
        [0, of(b"null"), of(b"false"), of(b"\"\""), of(b"0")]
    })
}

/// Whether a permission mode is one that sid-code's loader clears (`docs/formats/sid-code.md`, section 4: recovery
/// pipeline, step 2).
fn unknown_mode(r: &mut Reader<'_, '_>) -> Read<bool> {
    const KNOWN: [&[u8]; 5] = [b"default", b"acceptEdits", b"bypassPermissions", b"plan", b"always-allow"];
    if r.peek()? == Json::String {
        let s = r.string()?;
        let raw = r.raw(s);
        return Ok(!raw.is_empty() && !KNOWN.contains(&raw));
    }
    let (start, end) = r.skip()?;
    Ok(!falsy(r.slice(start, end)))
}

/// Reads any value and tells whether the loader's language takes it for true: an empty array or object is true in
/// JavaScript and false in Python.
fn truthy(r: &mut Reader<'_, '_>, python: bool) -> Read<bool> {
    let kind = r.peek()?;
    let (start, end) = r.skip()?;
    Ok(match kind {
        Json::Null | Json::False => false,
        Json::True => true,
        Json::String => end - start > 2,
        Json::Number => !is_zero(r.slice(start, end)),
        Json::Array | Json::Object => !python || !blank(r.slice(start + 1, end - 1)),
    })
}

fn blank(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}

fn is_zero(number: &[u8]) -> bool {
    let mantissa = number.split(|b| matches!(b, b'e' | b'E')).next().unwrap_or_default();
    mantissa.iter().all(|b| matches!(b, b'0' | b'-' | b'.'))
}

/// A whole number in another spelling (`12.0`, `1e3`).
#[cold]
fn whole(text: &str) -> Option<u32> {
    let n: f64 = text.parse().ok()?;
    (n.fract() == 0.0 && (0.0..f64::from(NO_TOKENS)).contains(&n)).then_some(n as u32)
}

/// A cost in billionths of a dollar, none when it is no amount that a response can have.
fn cost(r: &mut Reader<'_, '_>) -> Read<Option<u64>> {
    if r.peek()? != Json::Number {
        r.skip()?;
        return Ok(None);
    }
    let (start, end) = r.number()?;
    let dollars = std::str::from_utf8(r.slice(start, end)).ok().and_then(|text| text.parse().ok());
    Ok(dollars.and_then(nano_dollars))
}

/// Dollars in billionths: whole numbers, so that sums depend on no order. None for what is no amount.
pub fn nano_dollars(dollars: f64) -> Option<u64> {
    (dollars.is_finite() && (0.0..1e9).contains(&dollars)).then(|| (dollars * 1e9).round() as u64)
}

/// sid-code notes in a message what made it, when that was no person. An expanded command was typed as a command.
fn origin(r: &mut Reader<'_, '_>) -> Read<u64> {
    let word = optional_string(r)?.map(|s| r.raw(s)).unwrap_or_default();
    Ok(match word {
        b"" | b"command-expansion" => 0,
        b"compact-summary" => flag::NOT_TYPED | flag::COMPACTED,
        _ => flag::NOT_TYPED,
    })
}

fn blankness(text: &[u8]) -> u8 {
    if text.is_empty() {
        return block::EMPTY;
    }
    // Most texts begin with a letter: one look is enough.
    if !matches!(text[0], b' ' | b'\\' | 0x80..) {
        return 0;
    }
    let blank = if text.len() < 4096 {
        String::from_utf8_lossy(&decode(text)).chars().all(|c| c.is_whitespace() || c == '\u{feff}')
    } else {
        text.iter().all(|b| matches!(b, b' ' | b'\\' | b'n' | b't' | b'r'))
    };
    if blank { block::BLANK } else { 0 }
}

/// What the first words of a user's text say about the record.
fn opening(text: &[u8]) -> u64 {
    match text.first() {
        Some(b'[') if text.starts_with(b"[Request interrupted by user") => flag::INTERRUPT,
        Some(b'<') => {
            const OWN: [&[u8]; 6] = [
                b"<command-name>",
                b"<command-message>",
                b"<local-command-",
                b"<bash-input>",
                b"<bash-stdout>",
                b"<bash-stderr>",
            ];
            if OWN.iter().any(|tag| text.starts_with(tag)) { flag::LOCAL_COMMAND } else { 0 }
        }
        _ => 0,
    }
}

/// Whether a signature can be one: base64 of more than a marker's length. Foreign providers leave short marks or words
/// (`reasoning_content`). Real ones have hundreds of characters; skeletons of real sessions keep 24 of them.
fn signed(signature: &[u8]) -> bool {
    signature.len() >= 24
        && signature.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'))
}
