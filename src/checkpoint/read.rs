//! The first pass: the index from front to back, once, through a window; what stays is `model`.
//!
//! It decides as the agent does what kind of index the file holds (`files` without `snapshots` is the old layout, any
//! other JSON but `null` is taken as it is) and, where the JSON breaks off, keeps the whole snapshots before that place.

use std::collections::HashMap;
use std::io;

use super::legacy::{self, LegacyFile};
use super::model::{Body, Entry, EntryKind, Fate, Index, IndexRead, Shape, Snapshot, Span, Stored};
use super::text::js_string;
use super::window::{Stop, Window};
use crate::record::json::{Bad, Kind, Reader, Str};
use crate::store::Source;
use crate::text::Text;

/// What the first pass may hold.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// The largest piece (one snapshot, or one file of the old layout) in bytes of JSON.
    pub piece: u64,
    /// The most snapshots and the most entries.
    pub pieces: u64,
    /// How much is read at a time, in bytes.
    pub chunk: usize,
}

impl Default for ReadLimits {
    /// 512 MiB, twice what one entry may unpack by default, since escapes lengthen a text; two million, more than the
    /// agent's 200 MiB can hold; 2 MiB at a time, many times a usual snapshot.
    fn default() -> Self {
        ReadLimits { piece: 512 << 20, pieces: 2_000_000, chunk: 2 << 20 }
    }
}

/// An entry as it stands in the file.
pub(super) struct RawEntry {
    /// None: it names no file, and no search finds it.
    pub(super) path: Option<Text>,
    pub(super) kind: EntryKind,
    pub(super) existed_before: bool,
    pub(super) compressed: bool,
    pub(super) body: Body,
    pub(super) timestamp: Option<f64>,
    pub(super) span: Span,
}

struct RawSnapshot {
    id: Text,
    timestamp: Option<f64>,
    tool: Option<Text>,
    message_id: Option<Text>,
    entries: Vec<RawEntry>,
    shape: Shape,
    span: Span,
}

type Read<T> = Result<T, Bad>;

impl Index {
    /// Reads an index. `folder` is the session that its folder is named for.
    ///
    /// # Errors
    /// I/O errors while the file is read.
    pub fn read(source: &Source, folder: Option<&str>) -> io::Result<IndexRead> {
        Index::read_within(source, folder, ReadLimits::default())
    }

    /// As [`Index::read`], holding no more than `limits`.
    ///
    /// # Errors
    /// I/O errors while the file is read.
    pub fn read_within(source: &Source, folder: Option<&str>, limits: ReadLimits) -> io::Result<IndexRead> {
        let index = Index { bytes: source.size(), folder: folder.map(Text::from), ..Index::default() };
        let mut pass = Pass {
            window: Window::new(source, limits.piece, limits.chunk),
            index,
            names: HashMap::new(),
            limits,
            snapshots: None,
            files: None,
            legacy: Vec::new(),
            legacy_names: HashMap::new(),
            legacy_entries: 0,
        };
        let stop = match pass.run() {
            Ok(None) => return Ok(IndexRead::Empty),
            Ok(Some(kind)) => return Ok(pass.judge(kind)),
            Err(stop) => stop,
        };
        match stop {
            Stop::Io(e) => Err(e),
            Stop::TooLarge if pass.over() => {
                Ok(IndexRead::TooLarge { what: "it has more snapshots and entries", limit: limits.pieces })
            }
            Stop::TooLarge => Ok(IndexRead::TooLarge { what: "one snapshot has more bytes", limit: limits.piece }),
            Stop::Bad { at, why } => Ok(IndexRead::Torn { salvaged: pass.salvage(), cut: at, why }),
        }
    }
}

struct Pass<'s> {
    window: Window<'s>,
    index: Index,
    names: HashMap<Text, u32>,
    limits: ReadLimits,
    /// The kind of `snapshots`, and whether JavaScript takes it for true.
    snapshots: Option<(Kind, bool)>,
    /// The same of `files`, and its place.
    files: Option<(Kind, bool, Span)>,
    legacy: Vec<(Text, LegacyFile)>,
    legacy_names: HashMap<Text, usize>,
    legacy_entries: usize,
}

impl Pass<'_> {
    /// Walks the whole text and tells its kind; none when there is nothing but white space.
    fn run(&mut self) -> Result<Option<Kind>, Stop> {
        self.window.skip_mark()?;
        let Some(first) = self.window.token()? else { return Ok(None) };
        let kind = if first == b'{' {
            self.members(|pass, key| pass.top_member(&key))?;
            Kind::Object
        } else {
            self.window.piece(|reader, _| {
                let kind = reader.peek()?;
                reader.skip()?;
                Ok(kind)
            })?
        };
        match self.window.token()? {
            None => Ok(Some(kind)),
            Some(_) => self.window.bad(),
        }
    }

    /// Walks the members of the object that begins here; `member` reads the value behind each key.
    fn members(&mut self, mut member: impl FnMut(&mut Self, Text) -> Result<(), Stop>) -> Result<(), Stop> {
        self.window.step();
        if self.window.token()? == Some(b'}') {
            self.window.step();
            return Ok(());
        }
        loop {
            let key = self.window.piece(|reader, _| {
                let key = reader.string()?;
                Ok(Text::new(js_string(reader.raw(key))))
            })?;
            if self.window.token()? != Some(b':') {
                return self.window.bad();
            }
            self.window.step();
            member(self, key)?;
            match self.window.token()? {
                Some(b',') => self.window.step(),
                Some(b'}') => {
                    self.window.step();
                    return Ok(());
                }
                _ => return self.window.bad(),
            }
            if self.window.token()? != Some(b'"') {
                return self.window.bad();
            }
        }
    }

    /// Walks the elements of the array that begins here.
    fn elements(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        self.window.step();
        if self.window.token()? == Some(b']') {
            self.window.step();
            return Ok(());
        }
        loop {
            element(self)?;
            match self.window.token()? {
                Some(b',') => self.window.step(),
                Some(b']') => {
                    self.window.step();
                    return Ok(());
                }
                _ => return self.window.bad(),
            }
        }
    }

    fn top_member(&mut self, key: &Text) -> Result<(), Stop> {
        match key.as_bytes() {
            b"snapshots" => return self.snapshots(),
            b"files" => return self.legacy_files(),
            b"sessionId" => {
                let (id, span) = self.window.piece(|reader, base| {
                    if reader.peek()? != Kind::String {
                        reader.skip()?;
                        return Ok((None, Span::default()));
                    }
                    let s = reader.string()?;
                    Ok((Some(Text::new(js_string(reader.raw(s)))), span_of(base, s)))
                })?;
                (self.index.session_id, self.index.session_id_span) = (id, span);
            }
            b"createdAt" => {
                self.index.created_at = self.window.piece(|r, base| Ok(number(r, base)?.map(|n| n.value)))?;
            }
            b"nextId" => self.index.next_id = self.window.piece(number)?,
            b"latestFullMap" => {
                let (map, span) = self.window.piece(latest_full)?;
                (self.index.latest_full, self.index.latest_full_span) = (map, span);
            }
            _ => {
                self.window.piece(|reader, _| reader.skip())?;
            }
        }
        Ok(())
    }

    /// The list of snapshots. Of a repeated key the last value counts, as for JSON.parse.
    fn snapshots(&mut self) -> Result<(), Stop> {
        self.index.snapshots.clear();
        self.index.entries.clear();
        self.index.files.clear();
        self.names.clear();
        if self.window.token()? != Some(b'[') {
            self.snapshots = Some(self.window.piece(judged_value)?);
            return Ok(());
        }
        self.snapshots = Some((Kind::Array, true));
        self.elements(|pass| {
            let raw = pass.window.piece(snapshot)?;
            pass.keep(raw);
            if pass.over() { Err(Stop::TooLarge) } else { Ok(()) }
        })
    }

    fn over(&self) -> bool {
        let current = self.index.snapshots.len().max(self.index.entries.len());
        current.max(self.legacy.len()).max(self.legacy_entries) as u64 > self.limits.pieces
    }

    fn keep(&mut self, raw: RawSnapshot) {
        let first = self.index.entries.len() as u32;
        for entry in raw.entries {
            let Some(path) = entry.path else { continue };
            let file = match self.names.get(&path) {
                Some(file) => *file,
                None => {
                    let file = self.index.files.len() as u32;
                    self.index.files.push(path.clone());
                    self.names.insert(path, file);
                    file
                }
            };
            let RawEntry { kind, existed_before, compressed, body, span, .. } = entry;
            self.index.entries.push(Entry { file, kind, existed_before, compressed, body, span });
        }
        let RawSnapshot { id, timestamp, tool, message_id, shape, span, .. } = raw;
        let entries = first..self.index.entries.len() as u32;
        self.index.snapshots.push(Snapshot { id, timestamp, tool, message_id, entries, shape, span });
    }

    /// The old layout: one list a file. `Object.entries` takes a list as well, with places for keys.
    fn legacy_files(&mut self) -> Result<(), Stop> {
        self.legacy.clear();
        self.legacy_names.clear();
        self.legacy_entries = 0;
        let first = self.window.token()?;
        let start = self.window.offset();
        // Told before the walk, so that a torn file is known for what it was.
        self.files = Some((Kind::Object, true, Span { offset: start, length: 0 }));
        let (kind, truthy) = match first {
            Some(b'{') => {
                self.members(Pass::legacy_file)?;
                (Kind::Object, true)
            }
            Some(b'[') => {
                let mut place = 0_usize;
                self.elements(|pass| {
                    place += 1;
                    pass.legacy_file(Text::new((place - 1).to_string()))
                })?;
                (Kind::Array, true)
            }
            _ => self.window.piece(judged_value)?,
        };
        self.files = Some((kind, truthy, Span { offset: start, length: self.window.offset() - start }));
        Ok(())
    }

    fn legacy_file(&mut self, key: Text) -> Result<(), Stop> {
        let file = self.window.piece(legacy::file)?;
        self.legacy_entries += file.entries.len();
        match self.legacy_names.get(&key).and_then(|slot| self.legacy.get_mut(*slot)) {
            Some(slot) => slot.1 = file,
            None => {
                self.legacy_names.insert(key.clone(), self.legacy.len());
                self.legacy.push((key, file));
            }
        }
        if self.over() { Err(Stop::TooLarge) } else { Ok(()) }
    }

    fn judge(mut self, kind: Kind) -> IndexRead {
        let truthy = self.snapshots.is_some_and(|(_, truthy)| truthy);
        let files = self.files.filter(|(_, truthy, _)| *truthy);
        match (kind, self.snapshots, files) {
            (Kind::Object, Some((Kind::Array, _)), files) => {
                self.index.ignored_legacy = files.filter(|_| !self.legacy.is_empty()).map(|(_, _, span)| span);
                self.index.link();
                IndexRead::Readable(self.index)
            }
            (Kind::Object, _, Some((files, ..))) if !truthy => {
                // A number has no entries and migrates to nothing; the letters of a string are no files.
                if files == Kind::String {
                    return IndexRead::NotAnIndex { kind, fate: Fate::Overwritten };
                }
                match legacy::migrate(self.index, self.legacy) {
                    Some(index) => IndexRead::Readable(index),
                    None => IndexRead::NotAnIndex { kind, fate: Fate::Overwritten },
                }
            }
            (Kind::Null, ..) => IndexRead::NotAnIndex { kind, fate: Fate::Overwritten },
            _ => IndexRead::NotAnIndex { kind, fate: Fate::Stuck },
        }
    }

    /// What stands whole before the place where the JSON breaks.
    fn salvage(mut self) -> Index {
        if self.snapshots.is_none() && !self.legacy.is_empty() {
            self.legacy.retain(|(_, file)| !file.throws);
            return legacy::migrate(self.index, self.legacy).unwrap_or_default();
        }
        self.index.link();
        self.index
    }
}

pub(super) fn span_of(base: u64, s: Str) -> Span {
    Span { offset: base + s.start as u64, length: (s.end - s.start) as u64 }
}

/// Any value: its kind and whether JavaScript takes it for true.
fn judged_value(reader: &mut Reader<'_, '_>, _base: u64) -> Read<(Kind, bool)> {
    let kind = reader.peek()?;
    let truthy = truthy(reader)?;
    Ok((kind, truthy))
}

/// Reads one value and tells whether JavaScript takes it for true.
pub(super) fn truthy(reader: &mut Reader<'_, '_>) -> Read<bool> {
    match reader.peek()? {
        Kind::Null | Kind::False => reader.skip().map(|_| false),
        Kind::String => reader.string().map(|s| s.end > s.start),
        Kind::Number => Ok(number(reader, 0)?.is_some_and(|n| n.value != 0.0)),
        Kind::True | Kind::Array | Kind::Object => reader.skip().map(|_| true),
    }
}

/// A number; none for another kind of value, which is stepped over.
pub(super) fn number(reader: &mut Reader<'_, '_>, base: u64) -> Read<Option<Stored>> {
    if reader.peek()? != Kind::Number {
        reader.skip()?;
        return Ok(None);
    }
    let (start, end) = reader.number()?;
    let raw = reader.raw(Str { start, end, escaped: false });
    let span = Span { offset: base + start as u64, length: (end - start) as u64 };
    Ok(std::str::from_utf8(raw).ok().and_then(|n| n.parse().ok()).map(|value| Stored { value, span }))
}

/// A string's text; none for another kind of value, which is stepped over.
pub(super) fn string(reader: &mut Reader<'_, '_>) -> Read<Option<Text>> {
    if reader.peek()? != Kind::String {
        reader.skip()?;
        return Ok(None);
    }
    let s = reader.string()?;
    Ok(Some(Text::new(js_string(reader.raw(s)))))
}

type Lookup = (Option<Vec<(Text, Text)>>, Span);

fn latest_full(reader: &mut Reader<'_, '_>, base: u64) -> Read<Lookup> {
    if reader.peek()? != Kind::Object {
        reader.skip()?;
        return Ok((None, Span::default()));
    }
    let start = reader.position();
    let mut map: Vec<(Text, Text)> = Vec::new();
    let mut at: HashMap<Text, usize> = HashMap::new();
    reader.object(|reader, key| {
        let path = Text::new(js_string(reader.raw(key)));
        // What is no string names no snapshot: kept, so that the rule can say so.
        let id = string(reader)?.unwrap_or_default();
        match at.get(&path) {
            Some(slot) => map[*slot].1 = id,
            None => {
                at.insert(path.clone(), map.len());
                map.push((path, id));
            }
        }
        Ok(())
    })?;
    Ok((Some(map), Span { offset: base + start as u64, length: (reader.position() - start) as u64 }))
}

fn snapshot(reader: &mut Reader<'_, '_>, base: u64) -> Read<RawSnapshot> {
    let kind = reader.peek()?;
    let start = reader.position();
    let mut raw = RawSnapshot {
        id: Text::from("undefined"),
        timestamp: None,
        tool: None,
        message_id: None,
        entries: Vec::new(),
        shape: if kind == Kind::Null { Shape::Null } else { Shape::NoFiles },
        span: Span::default(),
    };
    if kind == Kind::Object {
        reader.object(|reader, key| {
            match &*js_string(reader.raw(key)) {
                b"id" => raw.id = id(reader)?,
                b"timestamp" => raw.timestamp = number(reader, base)?.map(|n| n.value),
                b"toolName" => raw.tool = string(reader)?,
                b"messageId" => raw.message_id = string(reader)?,
                b"files" => (raw.entries, raw.shape) = files(reader, base)?,
                _ => {
                    reader.skip()?;
                }
            }
            Ok(())
        })?;
    } else {
        reader.skip()?;
    }
    raw.span = Span { offset: base + start as u64, length: (reader.position() - start) as u64 };
    Ok(raw)
}

/// An id: a string's text, any other value as it is written. The agent compares with `===`.
fn id(reader: &mut Reader<'_, '_>) -> Read<Text> {
    if reader.peek()? == Kind::String {
        let s = reader.string()?;
        return Ok(Text::new(js_string(reader.raw(s))));
    }
    let (start, end) = reader.skip()?;
    Ok(Text::from(reader.raw(Str { start, end, escaped: false })))
}

fn files(reader: &mut Reader<'_, '_>, base: u64) -> Read<(Vec<RawEntry>, Shape)> {
    let kind = reader.peek()?;
    if kind != Kind::Array {
        reader.skip()?;
        return Ok((Vec::new(), if kind == Kind::String { Shape::Word } else { Shape::NoFiles }));
    }
    let mut entries = Vec::new();
    let mut shape = Shape::Whole;
    reader.array(|reader| {
        match reader.peek()? {
            Kind::Object => {
                let found = entry(reader, base)?;
                if shape == Shape::Whole {
                    entries.push(found);
                }
            }
            Kind::Null => {
                shape = Shape::Hole;
                reader.skip()?;
            }
            _ => {
                reader.skip()?;
            }
        }
        Ok(())
    })?;
    Ok((entries, shape))
}

/// One entry.
pub(super) fn entry(reader: &mut Reader<'_, '_>, base: u64) -> Read<RawEntry> {
    let start = reader.position();
    let mut path = None;
    let mut kind = EntryKind::Other;
    let mut existed_before = false;
    let mut compressed = false;
    let mut content = Body::Absent;
    let mut diff = Body::Absent;
    let mut timestamp = None;
    reader.object(|reader, key| {
        match &*js_string(reader.raw(key)) {
            b"filePath" => path = string(reader)?,
            b"existedBefore" => existed_before = truthy(reader)?,
            b"timestamp" => timestamp = number(reader, base)?.map(|n| n.value),
            b"type" => {
                kind = match string(reader)?.as_ref().map(Text::as_bytes) {
                    Some(b"full") => EntryKind::Full,
                    Some(b"diff") => EntryKind::Diff,
                    _ => EntryKind::Other,
                }
            }
            b"content" => content = self::content(reader, base)?,
            b"compressed" => compressed = truthy(reader)?,
            b"diff" => diff = self::diff(reader, base)?,
            _ => {
                reader.skip()?;
            }
        }
        Ok(())
    })?;
    let body = if kind == EntryKind::Diff { diff } else { content };
    let span = Span { offset: base + start as u64, length: (reader.position() - start) as u64 };
    Ok(RawEntry { path, kind, existed_before, compressed, body, timestamp, span })
}

fn content(reader: &mut Reader<'_, '_>, base: u64) -> Read<Body> {
    if reader.peek()? == Kind::String {
        let s = reader.string()?;
        return Ok(if s.end == s.start { Body::Blank } else { Body::Text(span_of(base, s)) });
    }
    Ok(if truthy(reader)? { Body::Odd } else { Body::Absent })
}

fn diff(reader: &mut Reader<'_, '_>, base: u64) -> Read<Body> {
    if reader.peek()? != Kind::Object {
        return Ok(if truthy(reader)? { Body::Odd } else { Body::Absent });
    }
    let mut body = Body::Odd;
    reader.object(|reader, key| {
        if &*js_string(reader.raw(key)) != b"ops" || reader.peek()? != Kind::Array {
            reader.skip()?;
            return Ok(());
        }
        let start = reader.position();
        let mut count = 0_u32;
        reader.array(|reader| {
            count = count.saturating_add(1);
            reader.skip().map(drop)
        })?;
        let span = Span { offset: base + start as u64, length: (reader.position() - start) as u64 };
        body = Body::Ops(span, count);
        Ok(())
    })?;
    Ok(body)
}
