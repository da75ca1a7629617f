//! The facts of one file: what every later room knows of it without reading it again.
//!
//! A record is a few dozen bytes whatever its line holds; ids are keyed 128-bit hashes (their text is read again from
//! the file when it is shown), texts and inputs are only judged. 160 bytes a record is the bound that the memory law
//! gives; `Record` and `Block` are held to it by a test.
//!
//! Longer than other files because it is the table of everything that is known of a file, most of it doc comments.

use siphasher::sip128::{Hasher128, SipHasher13};
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

use super::damage::BadKind;

/// A keyed 128-bit hash of an id: equal for equal ids within this process, and no session can be written so that two
/// different ids collide. Ids are arbitrary strings; a number or another value as id hashes apart from the string.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Id(pub u64, pub u64);

impl Id {
    /// No id: absent or null.
    pub const NONE: Id = Id(0, 0);

    /// The hash of an id's text (WTF-8).
    pub fn of(text: &[u8]) -> Id {
        Id::tagged(text, 0)
    }

    /// The hash of a value that is no string, by its spelling.
    pub fn of_other(raw: &[u8]) -> Id {
        Id::tagged(raw, 1)
    }

    fn tagged(text: &[u8], tag: u8) -> Id {
        static KEYS: OnceLock<(u64, u64)> = OnceLock::new();
        let (k0, k1) = *KEYS.get_or_init(|| {
            let state = std::collections::hash_map::RandomState::new();
            (state.hash_one(1_u8), state.hash_one(2_u8))
        });
        let mut hasher = SipHasher13::new_with_keys(k0, k1 ^ u64::from(tag));
        hasher.write(text);
        let hash = hasher.finish128();
        // Zero means none; no real id may be taken for it.
        Id(hash.h1 | 1, hash.h2)
    }

    /// Whether there is none.
    pub fn is_none(self) -> bool {
        self == Id::NONE
    }

    /// 64 bits of it, for tables where a false match only costs a second look.
    pub fn short(self) -> u64 {
        self.0
    }
}

/// What a record is, for every agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
pub enum Kind {
    /// An object of a type that this build does not know, or without one.
    #[default]
    Other,
    /// JSON that is no object.
    NonObject,
    /// The header of a session.
    Start,
    /// A user's message, tool results in it included where the agent stores them so.
    User,
    /// A model's message.
    Assistant,
    /// A record that holds tool results and nothing else.
    ToolMessage,
    /// A system message, or a row of the client's own.
    System,
    /// Something attached to a prompt.
    Attachment,
    /// Progress of a tool or a subagent.
    Progress,
    /// A compaction.
    Compaction,
    /// The summary of a branch that was left.
    BranchSummary,
    /// A message of an extension or of a command: part of the context.
    Custom,
    /// Records beside the conversation: metadata, titles, modes, labels.
    Metadata,
    /// The end of a session.
    End,
    /// The start of a sidechain.
    TranscriptStart,
    /// A message of a sidechain.
    TranscriptMessage,
    /// The end of a sidechain.
    TranscriptEnd,
    /// The title of a session.
    Summary,
    /// A snapshot of the file layer.
    FileSnapshot,
    /// A change of the file layer.
    FileDelta,
    /// A prompt that was queued or taken from the queue.
    Queue,
    /// The prompt that was typed last.
    LastPrompt,
    /// An edit of what is sent.
    ContextEdit,
    /// The leaf that is resumed.
    Leaf,
}

/// Flags of a record. Truthiness is that of the loader's language.
///
/// The bits below [`flag::OWN`] mean the same for every agent. Those from there on are an agent's own: only its `classify`
/// sets them, and only code that knows the agent may ask for them.
pub mod flag {
    /// on a side branch: a subagent's, or beside the conversation
    pub const SIDECHAIN: u64 = 1;
    /// written by the client for itself: no person typed it
    pub const META: u64 = 1 << 1;
    /// the summary of a compaction, as a message
    pub const COMPACT_SUMMARY: u64 = 1 << 2;
    /// an error of the provider, kept as a message
    pub const API_ERROR: u64 = 1 << 3;
    /// a copy that was made when the session was forked
    pub const FORKED: u64 = 1 << 4;
    /// a full compact boundary
    pub const BOUNDARY: u64 = 1 << 5;
    /// a response that ended in an error or was aborted
    pub const FAILED: u64 = 1 << 6;
    /// a response that was cut at the length limit
    pub const CUT_BY_LENGTH: u64 = 1 << 7;
    /// `message` is an object
    pub const MESSAGE: u64 = 1 << 8;
    /// `message` is there and neither object nor null
    pub const MESSAGE_OTHER: u64 = 1 << 9;
    /// content is an array
    pub const CONTENT_ARRAY: u64 = 1 << 10;
    /// content is a string
    pub const CONTENT_STRING: u64 = 1 << 11;
    /// content is null
    pub const CONTENT_NULL: u64 = 1 << 12;
    /// content is there and of another type
    pub const CONTENT_OTHER: u64 = 1 << 13;
    /// the role is "user"
    pub const ROLE_USER: u64 = 1 << 14;
    /// the role is "assistant"
    pub const ROLE_ASSISTANT: u64 = 1 << 15;
    /// the role is null, absent or no known word
    pub const ROLE_BAD: u64 = 1 << 16;
    /// the id is a string that is not empty
    pub const ID_STRING: u64 = 1 << 17;
    /// the id is there and no string (or an empty one)
    pub const ID_OTHER: u64 = 1 << 18;
    /// the parent key is there
    pub const PARENT_KEY: u64 = 1 << 19;
    /// the parent is a string
    pub const PARENT_STRING: u64 = 1 << 20;
    /// the parent is neither string nor null
    pub const PARENT_OTHER: u64 = 1 << 21;
    /// the parent is an array or object
    pub const PARENT_CONTAINER: u64 = 1 << 22;
    /// `type` is an array or object
    pub const TYPE_CONTAINER: u64 = 1 << 23;
    /// the time is there and cannot be read
    pub const TIME_BAD: u64 = 1 << 24;
    /// text of a command that the client ran itself
    pub const LOCAL_COMMAND: u64 = 1 << 25;
    /// the marker of an interrupt
    pub const INTERRUPT: u64 = 1 << 26;
    /// the record stands inside a damaged line: no loader sees it
    pub const HIDDEN: u64 = 1 << 27;
    /// a JSON null
    pub const IS_NULL: u64 = 1 << 28;
    /// a value that JavaScript takes for false (null, false, 0, "")
    pub const IS_FALSY: u64 = 1 << 29;
    /// an earlier repair made or changed it
    pub const REPAIRED: u64 = 1 << 30;
    /// why the response ended is said
    pub const STOPPED: u64 = 1 << 31;
    /// the session id field is a string that is not empty
    pub const SESSION_ID: u64 = 1 << 32;
    /// the type is missing or no string
    pub const NO_TYPE: u64 = 1 << 33;
    /// bytes of the line were replaced to make it UTF-8: places in it are not places in the file
    pub const LOSSY: u64 = 1 << 34;
    /// the role is a string, known or not
    pub const ROLE_WORD: u64 = 1 << 35;
    /// a usage figure is there and no whole number that a response can have
    pub const BAD_FIGURE: u64 = 1 << 36;
    /// the usage's stored total is not the sum of its parts
    pub const TOTAL_DIFFERS: u64 = 1 << 37;
    /// a user's message that says it was made by no person
    pub const NOT_TYPED: u64 = 1 << 38;

    /// The first bit of an agent's own flags.
    pub const OWN: u32 = 40;
    /// of a team of agents
    pub const TEAM: u64 = 1 << OWN;
    /// a micro compaction's boundary
    pub const MICRO_BOUNDARY: u64 = 1 << (OWN + 1);
    /// the boundary keeps a stretch
    pub const PRESERVES: u64 = 1 << (OWN + 2);
    /// it names a logical parent
    pub const LOGICAL_PARENT: u64 = 1 << (OWN + 3);
    /// the hook of a cleared context
    pub const CLEARED: u64 = 1 << (OWN + 4);
    /// a subagent's progress row
    pub const AGENT_PROGRESS: u64 = 1 << (OWN + 5);
    /// a copy made for the background
    pub const BACKGROUND: u64 = 1 << (OWN + 6);
    /// a second session id is there and differs
    pub const OTHER_SESSION_ID: u64 = 1 << (OWN + 7);
    /// a response that the client made up
    pub const SYNTHETIC: u64 = 1 << (OWN + 8);
    /// a queued prompt's attachment
    pub const QUEUED_COMMAND: u64 = 1 << (OWN + 9);
    /// fields that the loader copies into the message
    pub const CONTEXT_FIELDS: u64 = 1 << (OWN + 10);
    /// the message carries a permission mode that its loader no longer knows
    pub const MODE_UNKNOWN: u64 = 1 << (OWN + 11);
    /// a note of the session that this one was forked from
    pub const FORKED_FROM: u64 = 1 << (OWN + 12);
    /// a message that says it is the summary of a compaction
    pub const COMPACTED: u64 = 1 << (OWN + 13);
    /// the compaction keeps nothing (its own id as first kept entry)
    pub const KEEPS_NOTHING: u64 = 1 << (OWN + 14);
    /// a context edit that leaves its target out
    pub const OMITS: u64 = 1 << (OWN + 15);
    /// its line says more that a loader goes by than is kept of it: that loader has to look at it again
    pub const LOOK: u64 = 1 << (OWN + 16);
}

/// One record: a JSON value on a line of its own, or whole inside a damaged line ([`flag::HIDDEN`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Record {
    /// Its id.
    pub id: Id,
    /// Its parent's id.
    pub parent: Id,
    /// Milliseconds since 1970; [`NO_TIME`] when there is none.
    pub time: i64,
    /// First byte in the file.
    pub offset: u64,
    /// See [`Record::group`] and [`Record::target`]: no record has both.
    pub link: u64,
    /// See [`flag`].
    pub flags: u64,
    /// Bytes.
    pub length: u32,
    /// Physical line.
    pub line: u32,
    /// Where the id's text stands in the line, behind its quote.
    pub id_at: u32,
    /// Its first block in [`Facts::blocks`].
    pub first_block: u32,
    /// How many blocks it has.
    pub block_count: u16,
    /// Its session id in [`Facts::names`], 0 when it has none.
    pub session: u16,
    /// Its working directory.
    pub cwd: u16,
    /// The client's version.
    pub version: u16,
    /// Its agent id; of a labelled record its label.
    pub agent: u16,
    /// Its model.
    pub model: u16,
    /// Its type as the agent spells it, in [`Facts::type_counts`]; [`NO_NAME`] for types beyond those.
    pub type_name: u16,
    /// What it is.
    pub kind: Kind,
}

/// The type of a record whose type is not counted by name.
pub const NO_NAME: u16 = u16::MAX;

/// The time of a record that has none.
pub const NO_TIME: i64 = i64::MIN;

impl Record {
    /// Whether all these flags are set.
    pub fn has(&self, flags: u64) -> bool {
        self.flags & flags == flags
    }

    /// Whether any of these flags is set.
    pub fn any(&self, flags: u64) -> bool {
        self.flags & flags != 0
    }

    /// The response it belongs to, 0 when there is none. Only a model's record has one.
    pub fn group(&self) -> u64 {
        if self.kind == Kind::Assistant { self.link } else { 0 }
    }

    /// The record that made the call a result answers; of a context edit or leaf its target,
    /// of a compaction the first kept entry. 0 when there is none.
    pub fn target(&self) -> u64 {
        if self.kind == Kind::Assistant { 0 } else { self.link }
    }

    /// Whether it is a user's or a model's record (tool results with a record of their own included).
    pub fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant | Kind::ToolMessage)
    }
}

/// What a content block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum BlockKind {
    /// Another kind of block.
    #[default]
    Other,
    /// An element that is no object.
    NotObject,
    /// Text, or a content that is one string.
    Text,
    /// A model's thinking.
    Thinking,
    /// Thinking that the provider sealed.
    Redacted,
    /// A call.
    Call,
    /// A result.
    Result,
    /// An image.
    Image,
    /// A document.
    Document,
    /// A reference to a tool.
    ToolReference,
    /// A call of a provider's own tool.
    Server,
    /// The result of one.
    ServerResult,
}

/// Flags of a block.
pub mod block {
    /// nothing in it; of a call: the input is missing or null; of an element that is no object: it is null
    pub const EMPTY: u8 = 1;
    /// only white space in it
    pub const BLANK: u8 = 1 << 1;
    /// the id is missing, empty or no string; of thinking: there is no signature, or an empty one
    pub const NO_ID: u8 = 1 << 2;
    /// the name is missing, empty or no string (then a name that stands in the names is what JavaScript takes for true)
    pub const NO_NAME: u8 = 1 << 3;
    /// the input is no object, or missing
    pub const INPUT_OTHER: u8 = 1 << 4;
    /// thinking without a signature, with an empty one, or with one that is no base64 of a plausible length
    pub const UNSIGNED: u8 = 1 << 5;
    /// the result is an error
    pub const ERROR: u8 = 1 << 6;
    /// a result that an earlier repair made
    pub const REPAIRED: u8 = 1 << 7;
}

/// One content block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Call id of a call or result (64 bits of its keyed hash), else 0. With [`block::NO_ID`] what stands in its place:
    /// agents compare that too. 0 is no id at all.
    pub id: u64,
    /// Its place in the content, from 0.
    pub index: u16,
    /// The tool's name in [`Facts::names`], 0 when it has none.
    pub name: u16,
    /// What it is.
    pub kind: BlockKind,
    /// See [`block`].
    pub flags: u8,
}

/// Usage of one response, as it stands on one record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// The record.
    pub record: u32,
    /// Input, output, cache read, cache write; [`NO_TOKENS`] where absent.
    pub tokens: [u32; 4],
}

/// A usage figure that is not there.
pub const NO_TOKENS: u32 = u32::MAX;

/// Records of one type.
#[derive(Clone, Debug)]
pub struct TypeCount {
    /// The type (WTF-8); empty for records without one.
    pub name: Box<[u8]>,
    /// Records.
    pub records: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// The text `"type":"tool_result"` as a text search finds it: what `grep -c` takes for records are nearly always blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RawCount {
    /// All of them.
    pub hits: u64,
    /// Those that are a record's own type.
    pub record_level: u64,
}

/// Where a strict reader stops: at the first line that holds an escape of half a surrogate pair, or anything else that
/// serde_json refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StrictStop {
    /// The physical line that it refuses.
    pub line: u32,
    /// Records before it.
    pub records: u32,
}

/// A defect inside a record or its content, with its place.
#[derive(Clone, Copy, Debug)]
pub struct Defect {
    /// What it is.
    pub kind: DefectKind,
    /// The record it stands in (its place in [`Facts::records`]), `u32::MAX` for a line that gave none.
    pub record: u32,
    /// Physical line.
    pub line: u32,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// By kind: the block's index, the depth, how many of them stand on the line.
    pub detail: u32,
}

/// Kinds of [`Defect`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum DefectKind {
    /// Escaped high half without its low half.
    HighSurrogate,
    /// Escaped low half without its high half.
    LowSurrogate,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A key twice in one object.
    DuplicateKey,
    /// Nesting beyond 128.
    DeepNesting,
    /// A number that JavaScript reads as another one.
    InexactNumber,
    /// U+2028, U+2029 or U+0085 raw in the line.
    RawSeparator,
    /// A line over 16 MiB.
    OversizedLine,
    /// Bytes are no image that the API knows, or no base64.
    UndecodableMedia,
    /// The bytes are another supported type than the label says.
    MislabelledMedia,
    /// Too many bytes or pixels.
    OversizedMedia,
    /// A media type that the API does not take.
    UnsupportedMedia,
    /// A PDF without its trailer.
    BrokenDocument,
    /// A reference to a tool.
    ToolReference,
    /// A reference to a tool by a name that is longer than the API takes.
    LongReference,
}

/// A line that the loader's parser refuses.
#[derive(Clone, Copy, Debug)]
pub struct BadLine {
    /// What explains it.
    pub kind: BadKind,
    /// Whether a line feed ends it.
    pub terminated: bool,
    /// Physical line.
    pub line: u32,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes without the line feed.
    pub length: u64,
    /// Whole records found in it: the first in [`Facts::hidden`] and how many.
    pub hidden: (u32, u32),
    /// How many records stand before it.
    pub before: u32,
}

/// How many lines there were, by what they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineCounts {
    /// Physical lines.
    pub physical: u64,
    /// Lines that gave a record.
    pub records: u64,
    /// Blank lines.
    pub blank: u64,
    /// Lines that no loader reads.
    pub bad: u64,
    /// The torn tail, when there is one.
    pub torn: u64,
    /// Lines that end in CR LF.
    pub crlf: u64,
    /// The first of those.
    pub first_crlf: u64,
    /// The first blank line.
    pub first_blank: u64,
}

/// Everything that is known of one file after one pass.
#[derive(Debug, Default)]
pub struct Facts {
    /// Bytes.
    pub size: u64,
    /// JSON values in file order.
    pub records: Vec<Record>,
    /// Whole records inside damaged lines: no loader sees them.
    pub hidden: Vec<Record>,
    /// Content blocks of all records, in order.
    pub blocks: Vec<Block>,
    /// Usage rows, in order.
    pub usage: Vec<Usage>,
    /// Defects, in file order; per kind the first [`KEPT_PER_KIND`].
    pub defects: Vec<Defect>,
    /// How many of each kind there were.
    pub defect_counts: BTreeMap<DefectKind, u64>,
    /// Lines that could not be read, in file order; the first [`KEPT_BAD_LINES`].
    pub bad_lines: Vec<BadLine>,
    /// How many of each kind there were.
    pub bad_counts: BTreeMap<BadKind, u64>,
    /// Line counts.
    pub lines: LineCounts,
    /// Whether the file begins with a byte order mark.
    pub bom: bool,
    /// Whether a line feed ends the file (true when empty).
    pub terminated: bool,
    /// Session ids, directories, versions, models, tool names.
    pub names: Names,
    /// What the format calls total, where it is not the sum of the parts: the record, and the total.
    pub usage_totals: Vec<(u32, u32)>,
    /// What each response cost, in billionths of a dollar, beside [`Facts::usage`]; empty where no cost is stored.
    pub costs: Vec<u64>,
    /// Records of each type, in the order in which the types were met; at most a hundred of them.
    pub type_counts: Vec<TypeCount>,
    /// Records of each type.
    pub types: BTreeMap<String, u64>,
    /// Records of types beyond the first hundred.
    pub other_types: u64,
    /// The format version that the header states.
    pub version: Option<String>,
    /// The provider that the header or the first assistant record names.
    pub provider: Option<String>,
    /// The provider that is named last: a session may change it.
    pub last_provider: Option<String>,
    /// The first line that makes the loader raise instead of skipping it, and why.
    pub raises: Option<(u32, &'static str)>,
    /// Whether a reader by JSON's own grammar, which splits at line feeds only, would take other records from the file.
    /// Noted for agents whose loader reads by Python's.
    pub read_otherwise: bool,
    /// Longest line in bytes, with its number.
    pub longest: (u64, u32),
    /// Bytes of lines by record type, for files that are too large.
    pub bytes_by_type: BTreeMap<String, u64>,
    /// Whether more was there when the file was read to its end than when it was opened.
    pub grew: bool,
    /// Which fields its records have.
    pub fields: super::fields::Fields,
    /// What a text search for tool results finds.
    pub raw: RawCount,
    /// Where a strict reader stops; none when it reads the file to its end.
    pub strict_stop: Option<StrictStop>,
}

/// A response whose cost is not stored.
pub const NO_COST: u64 = u64::MAX;

/// How many defects of one kind are kept with their place.
pub const KEPT_PER_KIND: usize = 1000;
/// How many bad lines are kept with their place.
pub const KEPT_BAD_LINES: usize = 50_000;

impl Facts {
    /// No facts yet, of a file of so many bytes. A large one is given room for records of a kilobyte: room that is not used
    /// costs nothing, and a list that grows is copied (a gigabyte's lists left 5 MB of holes behind).
    pub fn with_room_for(size: u64) -> Self {
        const LARGE: u64 = 16 << 20;
        const MOST: u64 = 1 << 22;
        let records = if size < LARGE { 0 } else { (size / 1024).min(MOST) as usize };
        Facts {
            size,
            records: Vec::with_capacity(records),
            blocks: Vec::with_capacity(records),
            usage: Vec::with_capacity(records / 2),
            ..Facts::default()
        }
    }

    /// A record's type as its agent spells it; empty for one without, and for types beyond those counted by name.
    pub fn type_of(&self, record: &Record) -> &[u8] {
        self.type_counts.get(usize::from(record.type_name)).map(|t| &*t.name).unwrap_or_default()
    }

    /// The cost of a usage row in billionths of a dollar, none where none is stored.
    pub fn cost_of(&self, usage: usize) -> Option<u64> {
        self.costs.get(usage).copied().filter(|nano| *nano != NO_COST)
    }

    /// The blocks of a record.
    pub fn blocks_of(&self, record: &Record) -> &[Block] {
        let start = record.first_block as usize;
        self.blocks.get(start..start + usize::from(record.block_count)).unwrap_or_default()
    }
}

/// Short strings that recur, numbered from 1; 0 is none. Beyond 65 534 of them new ones are not told apart.
#[derive(Debug, Default)]
pub struct Names {
    list: Vec<Box<[u8]>>,
    index: HashMap<Box<[u8]>, u16>,
    last: [u16; 8],
}

impl Names {
    /// The length of the longest, in bytes.
    pub fn longest(&self) -> usize {
        self.list.iter().map(|name| name.len()).max().unwrap_or(0)
    }

    /// The number of a string. `slot` remembers the last answer for one kind of field, which is nearly always the next.
    pub fn intern(&mut self, slot: usize, text: &[u8]) -> u16 {
        let last = self.last[slot & 7];
        if last != 0 && *self.list[usize::from(last) - 1] == *text {
            return last;
        }
        let number = match self.index.get(text) {
            Some(&n) => n,
            None if self.list.len() >= usize::from(u16::MAX) - 1 => return u16::MAX,
            None => {
                self.list.push(text.into());
                let n = self.list.len() as u16;
                self.index.insert(text.into(), n);
                n
            }
        };
        self.last[slot & 7] = number;
        number
    }

    /// The string of a number.
    pub fn get(&self, number: u16) -> Option<&[u8]> {
        self.list.get(usize::from(number).checked_sub(1)?).map(|b| &**b)
    }

    /// The string of a number as text, empty for none.
    pub fn text(&self, number: u16) -> String {
        self.get(number).map(crate::text::lossy).unwrap_or_default()
    }

    /// The number of a string that was met, 0 when it was not.
    pub fn find(&self, text: &[u8]) -> u16 {
        self.index.get(text).copied().unwrap_or(0)
    }
}

/// A table from ids to the records that bear them: open addressing over record numbers, so that a million records cost
/// six bytes each. The ids are keyed hashes, so no input can make it degenerate.
#[derive(Debug, Default)]
pub struct IdTable {
    slots: Vec<u32>,
}

const FREE: u32 = u32::MAX;

impl IdTable {
    /// A table for this many ids.
    pub fn with_capacity(ids: usize) -> Self {
        IdTable { slots: vec![FREE; ids + ids / 2 + 8] }
    }

    /// Where the search for an id begins: its hash, scaled to the table.
    fn first(&self, id: Id) -> usize {
        ((u128::from(id.1) * self.slots.len() as u128) >> 64) as usize
    }

    fn after(&self, at: usize) -> usize {
        if at + 1 == self.slots.len() { 0 } else { at + 1 }
    }

    /// Enters a record number for an id; returns the number that stood there before. `of` tells the id of a number.
    pub fn put(&mut self, id: Id, number: u32, replace: bool, of: impl Fn(u32) -> Id) -> Option<u32> {
        let mut at = self.first(id);
        loop {
            match self.slots[at] {
                FREE => {
                    self.slots[at] = number;
                    return None;
                }
                held if of(held) == id => {
                    if replace {
                        self.slots[at] = number;
                    }
                    return Some(held);
                }
                _ => at = self.after(at),
            }
        }
    }

    /// The record number of an id.
    pub fn get(&self, id: Id, of: impl Fn(u32) -> Id) -> Option<u32> {
        if id.is_none() || self.slots.is_empty() {
            return None;
        }
        let mut at = self.first(id);
        loop {
            match self.slots[at] {
                FREE => return None,
                held if of(held) == id => return Some(held),
                _ => at = self.after(at),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_stays_within_the_memory_law() {
        // 160 bytes a record: the record, one block, a usage row on every second record, table and graph (6 + 12), what is
        // adopted and shown (8), the rows of the request (8).
        assert!(size_of::<Record>() <= 96, "{}", size_of::<Record>());
        assert_eq!(size_of::<Block>(), 16);
        assert_eq!(size_of::<Usage>(), 20);
        assert!(size_of::<Record>() + 16 + 10 + 18 + 16 <= 160);
    }

    #[test]
    fn ids_of_strings_and_other_values_differ() {
        assert_eq!(Id::of(b"a"), Id::of(b"a"));
        assert_ne!(Id::of(b"1"), Id::of_other(b"1"));
        assert!(!Id::of(b"").is_none());
    }
}
