//! One JSON text into the facts of one record. One reader walks every agent's records: each is an object of known keys, and
//! the agent's table ([`super::agent::FieldTable`]) says which slot a key fills. What the record then is, its agent says.
//!
//! A key that stands twice overwrites what its first copy left, as `JSON.parse` has it.
//!
//! Longer than other files because it is one walk: what each field does to the state of the reader stands together, and cut
//! apart that state would be everyone's.

use std::borrow::Cow;

use super::agent::{BlockField, Empty, Field, FieldTable, KEPT, Kept, Records, Slot, UsageField};
use super::facts::{
    Block, BlockKind, Defect, DefectKind, Facts, Id, KEPT_PER_KIND, Kind, NO_COST, NO_NAME, NO_TIME, NO_TOKENS, Record,
    Usage, block, flag,
};
use super::fields::Shape;
use super::json::{Bad, Grammar, Kind as Json, Reader, Scratch, Str, decode};
use super::keys::Keys;
use super::kind;
use super::media::{self, Media};
use super::time;
use crate::provider::limits;

/// A record that an earlier repair of ours made or changed carries this key, whatever agent it is of.
const REPAIRED: &[u8] = b"sidAudit";

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
    /// Why the response ended.
    pub(super) stop: Option<Str>,
    pub(super) provider: Option<Str>,
    pub(super) version: Option<Str>,
    pub(super) version_number: Option<(usize, usize)>,
    /// The call that the message answers, and its tool.
    pub(super) call: Option<Str>,
    pub(super) call_name: Option<Str>,
    /// What tells records of one type apart.
    pub(super) label: Option<Str>,
    pub(super) session_id: Option<Str>,
    /// What only its agent knows the meaning of.
    pub(super) kept: [Option<Kept>; KEPT],
    /// Whether a message was read already.
    message: bool,
    usage: Option<[u32; 4]>,
    /// The usage's total, where it is not the sum of its parts.
    usage_total: Option<u32>,
    /// What the response cost, in billionths of a dollar.
    cost: Option<u64>,
    /// The value of a labelled record, when it is an object.
    value: Option<(usize, usize)>,
}

/// Reads the records of one file into its facts.
#[derive(Debug)]
pub struct RecordReader {
    agent: &'static dyn Records,
    keys: &'static FieldTable,
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
    pub fn new(agent: &'static dyn Records) -> Self {
        RecordReader {
            agent,
            keys: agent.keys(),
            grammar: agent.grammar(),
            scratch: Scratch::default(),
            media: Vec::new(),
            shape: Shape::default(),
            carriage_return: false,
        }
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
            kind::classify(self.agent, text, &mut draft, facts, mark, hidden);
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
        facts.fields.count(self.shape, &draft.type_name.map(word).unwrap_or_default(), text, self.keys);
        if let (Some((start, end)), Some(key)) = (draft.value, draft.label) {
            facts.fields.count_value(&word(key), &text[start..end], self.agent.keyed_by_data());
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
        match self.keys.record.get(name) {
            Some(slot) => self.slot(r, slot, draft, facts, mark),
            None if name == REPAIRED => self.truth(r, &mut draft.record, flag::REPAIRED, facts),
            None => r.skip().map(drop),
        }
    }

    /// Puts a value where its key says.
    fn slot(
        &mut self,
        r: &mut Reader<'_, '_>,
        slot: &Slot,
        draft: &mut Draft,
        facts: &mut Facts,
        mark: usize,
    ) -> Read<()> {
        let record = &mut draft.record;
        record.flags |= slot.marks;
        match slot.field {
            Field::Id => id_field(r, record)?,
            Field::Parent(empty) => parent_field(r, record, empty)?,
            Field::Type => type_field(r, draft)?,
            Field::Time => time_field(r, record)?,
            Field::Message => self.message(r, draft, facts, mark)?,
            Field::Role => draft.role = optional_string(r)?,
            Field::Content => self.content(r, record, facts, mark)?,
            Field::Session => draft.session_id = optional_string(r)?,
            Field::Cwd => {
                if let Some(s) = optional_string(r)? {
                    record.cwd = facts.names.intern(slot::CWD, &decoded(r, s));
                }
            }
            Field::Version => {
                (draft.version, draft.version_number) = (None, None);
                match r.peek()? {
                    Json::String => draft.version = Some(r.string()?),
                    Json::Number => draft.version_number = Some(r.number()?),
                    _ => drop(r.skip()?),
                }
            }
            Field::Agent => {
                if let Some(s) = optional_string(r)? {
                    record.agent = facts.names.intern(slot::AGENT, &decoded(r, s));
                }
            }
            Field::Label => draft.label = optional_string(r)?,
            Field::Value => {
                let object = r.peek()? == Json::Object;
                let place = r.skip()?;
                draft.value = object.then_some(place);
            }
            Field::Provider => draft.provider = optional_string(r)?,
            Field::Model => {
                if let Some(s) = optional_string(r)? {
                    record.model = facts.names.intern(slot::MODEL, &decoded(r, s));
                }
            }
            Field::Group(empty) => {
                let named = optional_string(r)?.filter(|s| s.start < s.end || empty == Empty::Counts);
                draft.group = named.map_or(0, |s| id_of(r, s).short());
            }
            Field::Target => draft.target = optional_string(r)?.map_or(0, |s| id_of(r, s).short()),
            Field::Usage => self.usage(r, draft)?,
            Field::Cost => draft.cost = cost(r)?,
            Field::Stop => draft.stop = optional_string(r)?,
            Field::Answers => draft.call = optional_string(r)?,
            Field::Tool => draft.call_name = optional_string(r)?,
            Field::Truth(bit) => self.truth(r, record, bit, facts)?,
            Field::Kept(n) => {
                let kind = r.peek()?;
                let (start, end) = r.skip()?;
                draft.kept[n] = Some(Kept { kind, start, end });
            }
            Field::Inside(keys) => self.inside(r, keys, draft, facts, mark)?,
            Field::Summary | Field::Failed | Field::There => drop(r.skip()?),
        }
        Ok(())
    }

    /// An object whose fields count as the record's own.
    fn inside(
        &mut self,
        r: &mut Reader<'_, '_>,
        keys: &'static Keys<Slot>,
        draft: &mut Draft,
        facts: &mut Facts,
        mark: usize,
    ) -> Read<()> {
        if r.peek()? != Json::Object {
            return r.skip().map(drop);
        }
        forget(keys, draft);
        r.object(|r, key| match keys.get(&decoded(r, key)) {
            Some(slot) => self.slot(r, slot, draft, facts, mark),
            None => r.skip().map(drop),
        })
    }

    fn truth(&self, r: &mut Reader<'_, '_>, record: &mut Record, bit: u64, facts: &mut Facts) -> Read<()> {
        facts.read_otherwise |= self.grammar.python && matches!(r.peek()?, Json::Array | Json::Object);
        let truth = truthy(r, self.grammar.python)?;
        record.flags = record.flags & !bit | if truth { bit } else { 0 };
        Ok(())
    }

    fn message(&mut self, r: &mut Reader<'_, '_>, draft: &mut Draft, facts: &mut Facts, mark: usize) -> Read<()> {
        draft.record.flags &= !(flag::MESSAGE | flag::MESSAGE_OTHER);
        facts.blocks.truncate(mark);
        if std::mem::replace(&mut draft.message, true) {
            forget(&self.keys.message, draft);
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
            match self.keys.message.get(&decoded(r, key)) {
                Some(slot) => self.slot(r, slot, draft, facts, mark),
                None => r.skip().map(drop),
            }
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
            let place = match self.keys.usage.get(&decoded(r, key)) {
                Some(UsageField::Tokens(place)) => *place,
                Some(UsageField::CostIn(name)) if r.peek()? == Json::Object => {
                    return r.object(|r, key| {
                        match &*decoded(r, key) == name.as_bytes() {
                            true => draft.cost = cost(r)?,
                            false => drop(r.skip()?),
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
                record.flags |= self.agent.opening(text);
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
        let mut media = Seen::default();
        r.object(|r, key| {
            self.shape.add(r.raw(key));
            match self.keys.block.get(&decoded(r, key)) {
                Some(BlockField::Type) => type_name = optional_string(r)?,
                Some(BlockField::Text) => text = optional_string(r)?,
                Some(BlockField::Thinking) => thinking = optional_string(r)?,
                Some(BlockField::Signature) => signature = optional_string(r)?,
                Some(BlockField::Id) => id = word(r)?,
                Some(BlockField::Name) => name = word(r)?,
                Some(BlockField::Answers) => result_id = word(r)?,
                Some(BlockField::Input) => {
                    input = r.peek()?;
                    r.skip()?;
                }
                Some(BlockField::Error) => error = truthy(r, false)?,
                Some(BlockField::Source) if r.peek()? == Json::Object => self.source(r, &mut media)?,
                Some(BlockField::Label) => media.label(r)?,
                Some(BlockField::Data) => media.data(r)?,
                Some(BlockField::Content | BlockField::Blocks) if r.peek()? == Json::Array => self.nested(r)?,
                _ => drop(r.skip()?),
            }
            Ok(())
        })?;
        let mut new = Block { index, ..Block::default() };
        let mut opened = 0;
        let type_name = type_name.map(|s| decoded(r, s)).unwrap_or_default();
        self.shape.add(b"[");
        self.shape.add(&type_name);
        new.kind = self.agent.block_kind(&type_name);
        match new.kind {
            BlockKind::Text => {
                let text = text.map(|s| r.raw(s)).unwrap_or_default();
                new.flags = blankness(text);
                opened = self.agent.opening(text);
            }
            BlockKind::Thinking => {
                let text = thinking.map(|s| r.raw(s)).unwrap_or_default();
                let signature = signature.map(|s| r.raw(s)).unwrap_or_default();
                new.flags = blankness(text)
                    | if signature.is_empty() { block::NO_ID } else { 0 }
                    | if signed(signature) { 0 } else { block::UNSIGNED };
            }
            BlockKind::Call => {
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
            BlockKind::Result => {
                new.id = result_id.hash(r);
                new.flags = if result_id.is_name() { 0 } else { block::NO_ID } | if error { block::ERROR } else { 0 };
            }
            BlockKind::Server if id.is_name() => new.id = id.hash(r),
            BlockKind::ServerResult if result_id.is_name() => new.id = result_id.hash(r),
            BlockKind::Image | BlockKind::Document => self.judge(new.kind, media),
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
            let (mut type_name, mut media) = (None, Seen::default());
            r.object(|r, key| match self.keys.inner_block.get(&decoded(r, key)) {
                Some(BlockField::Type) => {
                    type_name = optional_string(r)?;
                    Ok(())
                }
                Some(BlockField::Source) if r.peek()? == Json::Object => self.source(r, &mut media),
                Some(BlockField::Label) => media.label(r),
                Some(BlockField::Data) => media.data(r),
                Some(BlockField::Name) => {
                    media.name = optional_string(r)?.map_or(0, |s| decoded(r, s).len());
                    Ok(())
                }
                _ => r.skip().map(drop),
            })?;
            if let Some(s) = type_name {
                self.judge(self.agent.block_kind(r.raw(s)), media);
            }
            Ok(())
        })
    }

    /// The object that holds a medium's label and bytes.
    fn source<'a>(&self, r: &mut Reader<'a, '_>, media: &mut Seen<'a>) -> Read<()> {
        r.object(|r, key| match self.keys.inner_block.get(&decoded(r, key)) {
            Some(BlockField::Label) => media.label(r),
            Some(BlockField::Data) => media.data(r),
            _ => r.skip().map(drop),
        })
    }

    fn judge(&mut self, kind: BlockKind, seen: Seen<'_>) {
        let found = match kind {
            BlockKind::Image => media::judge(seen.media),
            BlockKind::Document => media::judge(Media { document: true, ..seen.media }),
            BlockKind::ToolReference if seen.name > limits::REFERENCE_NAME => Some(DefectKind::LongReference),
            BlockKind::ToolReference => Some(DefectKind::ToolReference),
            _ => None,
        };
        if let Some(kind) = found {
            self.media.push((seen.at.0, seen.at.1, kind));
        }
    }
}

/// What one block says of a medium, and where its bytes stand.
#[derive(Clone, Copy, Default)]
struct Seen<'a> {
    media: Media<'a>,
    /// How long the name of a referenced tool is, in bytes.
    name: usize,
    at: (usize, usize),
}

impl<'a> Seen<'a> {
    fn label(&mut self, r: &mut Reader<'a, '_>) -> Read<()> {
        self.media.label = optional_string(r)?.map(|s| r.raw(s));
        Ok(())
    }

    fn data(&mut self, r: &mut Reader<'a, '_>) -> Read<()> {
        if let Some(s) = optional_string(r)? {
            self.media.data = Some(r.raw(s));
            self.at = (s.start, s.end - s.start);
        }
        Ok(())
    }
}

/// Forgets what the first copy of an object left.
fn forget(keys: &'static Keys<Slot>, draft: &mut Draft) {
    for slot in keys.iter() {
        draft.record.flags &= !slot.marks;
        match slot.field {
            Field::Role => draft.role = None,
            Field::Stop => draft.stop = None,
            Field::Truth(bit) => draft.record.flags &= !bit,
            Field::Kept(n) => draft.kept[n] = None,
            Field::Inside(keys) => forget(keys, draft),
            _ => {}
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

fn type_field(r: &mut Reader<'_, '_>, draft: &mut Draft) -> Read<()> {
    let record = &mut draft.record;
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

fn time_field(r: &mut Reader<'_, '_>, record: &mut Record) -> Read<()> {
    record.flags &= !flag::TIME_BAD;
    record.time = NO_TIME;
    match optional_string(r)?.and_then(|s| time::parse(r.raw(s))) {
        Some(ms) => record.time = ms,
        None => record.flags |= flag::TIME_BAD,
    }
    Ok(())
}

fn parent_field(r: &mut Reader<'_, '_>, record: &mut Record, empty: Empty) -> Read<()> {
    const PARENT: u64 = flag::PARENT_STRING | flag::PARENT_OTHER | flag::PARENT_CONTAINER;
    record.flags = record.flags & !PARENT | flag::PARENT_KEY;
    record.parent = Id::NONE;
    match r.peek()? {
        Json::String => {
            let s = r.string()?;
            record.flags |= flag::PARENT_STRING;
            if s.start < s.end || empty == Empty::Counts {
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
pub fn falsy(raw: &[u8]) -> bool {
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

/// Whether a signature can be one: base64 of more than a marker's length. Foreign providers leave short marks or words
/// (`reasoning_content`). Real ones have hundreds of characters; skeletons of real sessions keep 24 of them.
fn signed(signature: &[u8]) -> bool {
    signature.len() >= 24
        && signature.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'-' | b'_'))
}
