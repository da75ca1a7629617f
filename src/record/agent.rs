//! What this room asks of an agent: which keys its records have, what its records are, and how its loader reads a file.
//!
//! The tables say what a key means; `read.rs` walks each line once and puts each value into the slot that its key names.
//! What only one agent has stays in numbered slots of its own ([`Field::Kept`]) until its `classify` looks at them.

use std::borrow::Cow;
use std::ops::Range;

use super::document::Document;
use super::facts::{BlockKind, Kind, Record};
use super::json::{Grammar, Kind as Json, decode};
use super::keys::Keys;
use super::value::Value;
use crate::store::agent::Home;

/// What reading the files of one agent has to know of it.
pub trait Records: Home {
    /// What its keys mean.
    fn keys(&self) -> &'static FieldTable;

    /// The grammar of its JSON parser, and which values its language takes for true.
    fn grammar(&self) -> Grammar;

    /// How its loader cuts a file of this size into the texts that it parses.
    fn cut(&self, size: u64) -> Cut;

    /// What is left of a text when its loader has stripped white space from it, just before it parses it.
    fn strip(&self, text: &[u8]) -> Range<usize>;

    /// What its loader raises when it meets this; none when it reads on.
    fn raises(&self, trouble: Trouble) -> Option<&'static str>;

    /// Whether only records have this key, never a block or another object inside one: by such a key a whole record is
    /// told from other objects on a damaged line.
    fn marks_record(&self, key: &[u8]) -> bool;

    /// What the record is: sets its kind and the flags that depend on its type, its role and the kept fields.
    fn classify(&self, seen: &Seen<'_>, record: &mut Record);

    /// Whether a record of this kind is a tool result as a whole; then [`Field::Answers`] and [`Field::Tool`] say of which
    /// call, and its content is what the tool said.
    fn is_result(&self, kind: Kind) -> bool;

    /// Whether records of this kind go by their [`Field::Label`] and not by their type alone.
    fn is_labelled(&self, kind: Kind) -> bool;

    /// What a content block of this type is.
    fn block_kind(&self, type_name: &[u8]) -> BlockKind;

    /// What the first words of a text say about its record, as flags: words that the client wrote itself.
    fn opening(&self, text: &[u8]) -> u64;

    /// The type of a record of this kind, where the kind alone tells it.
    fn type_word(&self, kind: Kind) -> Option<&'static str>;

    /// Who speaks in a record, as the agent spells it.
    fn speaker(&self, record: &Record) -> Speaker;

    /// Keys of a metadata value below which the keys are data (a model's name, a label): the census has one path for all.
    fn keyed_by_data(&self) -> &'static [&'static str];

    /// What a whole-file session says of itself, and its messages. None when the agent has no such sessions.
    fn document<'a>(&self, root: Value<'a>) -> Option<(Document, Option<Value<'a>>)>;
}

/// How a loader cuts a file into the texts that it parses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cut {
    /// At line feeds.
    Lines,
    /// At line feeds, after the whole file was trimmed as JavaScript trims a text.
    TrimmedLines,
    /// At line feeds and at carriage returns.
    Returns,
    /// At line feeds, carriage returns, U+2028 and U+2029.
    Separators,
}

/// What some loaders do not survive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// A value nested [`super::parse::DEEPEST`] deep or deeper.
    TooDeep,
}

/// Who speaks in a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speaker {
    /// This word.
    Is(&'static str),
    /// What the message's own role says, or this word where it says nothing.
    Stored(&'static str),
    /// Nobody: it is no message.
    Nobody,
}

/// What the keys of an agent's records mean.
#[derive(Debug)]
pub struct FieldTable {
    /// Keys of a record.
    pub record: Keys<Slot>,
    /// Keys of its `message`.
    pub message: Keys<Slot>,
    /// Keys of a content block.
    pub block: Keys<BlockField>,
    /// Keys of what stands inside a tool result.
    pub inner_block: Keys<BlockField>,
    /// Keys of a usage object.
    pub usage: Keys<UsageField>,
}

/// A field, and the flags that it sets by being there, whatever its value is.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// What it means.
    pub field: Field,
    /// Flags.
    pub marks: u64,
}

/// What a key of a record or of its message means.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// The record's id.
    Id,
    /// The parent's id.
    Parent(Empty),
    /// The record's type.
    Type,
    /// Its time.
    Time,
    /// The message in it.
    Message,
    /// The message's role.
    Role,
    /// The message's content.
    Content,
    /// A text that stands for messages which are not sent any more.
    Summary,
    /// The id of its session.
    Session,
    /// The working directory.
    Cwd,
    /// The version of the client, or of the format in a header.
    Version,
    /// The id of a subagent.
    Agent,
    /// What tells records of one type apart ([`Records::is_labelled`]).
    Label,
    /// The value that a labelled record carries: the census counts its fields.
    Value,
    /// The provider.
    Provider,
    /// The model.
    Model,
    /// The response that the record belongs to.
    Group(Empty),
    /// Another record that it names: see [`Record::target`].
    Target,
    /// What the response used.
    Usage,
    /// What the response cost, in dollars.
    Cost,
    /// Why the response ended.
    Stop,
    /// The call that the message answers.
    Answers,
    /// The tool that the message answers for.
    Tool,
    /// Whether the result that the message is says that the tool failed.
    Failed,
    /// Sets these flags when the loader's language takes the value for true.
    Truth(u64),
    /// Kept as it stands, for `classify`.
    Kept(usize),
    /// An object with more fields.
    Inside(&'static Keys<Slot>),
    /// Counts by being there.
    There,
}

impl Field {
    /// The field as a slot.
    pub const fn slot(self) -> Slot {
        Slot { field: self, marks: 0 }
    }

    /// The field as a slot that also sets flags by being there.
    pub const fn marking(self, marks: u64) -> Slot {
        Slot { field: self, marks }
    }
}

/// What an empty string as an id is to the loader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Empty {
    /// An id like any other.
    Counts,
    /// No id.
    IsNone,
}

/// What a key of a content block means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockField {
    /// The block's type.
    Type,
    /// What it says.
    Text,
    /// What the model thought.
    Thinking,
    /// The provider's signature of that.
    Signature,
    /// The call's id.
    Id,
    /// The tool's name.
    Name,
    /// The call that a result answers.
    Answers,
    /// The call's arguments.
    Input,
    /// Whether the result is an error.
    Error,
    /// An object with the media's label and bytes.
    Source,
    /// The media's type.
    Label,
    /// The media's bytes in base64.
    Data,
    /// What a result says: a string, or an array of more blocks.
    Content,
    /// An array of more blocks beside that.
    Blocks,
}

/// What a key of a usage object means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UsageField {
    /// One of [`super::facts::Usage::tokens`], or behind them the total.
    Tokens(usize),
    /// An object in which this key is the cost in dollars.
    CostIn(&'static str),
}

/// How many fields of its own an agent may keep for its `classify`.
pub const KEPT: usize = 8;

/// A value that is kept as it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    pub(super) kind: Json,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What was read of a record, for its agent to say what it is.
#[derive(Debug)]
pub struct Seen<'a> {
    /// Its type; empty when there is none.
    pub type_name: &'a [u8],
    /// The role; empty when there is none.
    pub role: &'a [u8],
    /// Why the response ended; empty when nothing is said.
    pub stop: &'a [u8],
    /// The model; empty when there is none.
    pub model: &'a [u8],
    /// The session's id as it is written; empty when there is none.
    pub session: &'a [u8],
    /// What tells it apart; empty when there is nothing.
    pub label: &'a [u8],
    /// The record that it names.
    pub target: u64,
    pub(super) text: &'a [u8],
    pub(super) kept: &'a [Option<Kept>; KEPT],
}

impl<'a> Seen<'a> {
    /// The kind of a kept value; none when it is not there.
    pub fn kind(&self, n: usize) -> Option<Json> {
        self.kept[n].map(|kept| kept.kind)
    }

    /// A kept value as it is written.
    pub fn raw(&self, n: usize) -> Option<&'a [u8]> {
        self.kept[n].map(|kept| &self.text[kept.start..kept.end])
    }

    /// A kept string; empty when there is none.
    pub fn word(&self, n: usize) -> Cow<'a, [u8]> {
        match (self.kind(n), self.raw(n)) {
            (Some(Json::String), Some(raw)) => match &raw[1..raw.len() - 1] {
                inner if inner.contains(&b'\\') => Cow::Owned(decode(inner)),
                inner => Cow::Borrowed(inner),
            },
            _ => Cow::Borrowed(&[]),
        }
    }
}
