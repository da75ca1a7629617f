//! Claude Code's messages as the newer open SDK loads them: npm `@anthropic-ai/claude-agent-sdk` 0.3.332;
//! `docs/formats/claude-code.md`, section 3b, whose letters stand beside the rules here. Calls that a host ran (I) are
//! hidden; the rows that a host puts in their place are not shown.

use std::collections::{HashMap, HashSet};
use std::io;

use super::queued::{self, Queued};
use super::{kept, parallel};
use crate::agents::claude::NPM;
use crate::chain::graph::{Graph, MISSING, numbered};
use crate::chain::{Own, Reading, walk};
use crate::record::facts::{BlockKind, Facts, Id, Kind, Record, flag};
use crate::record::json::Kind as Json;
use crate::record::parse;
use crate::record::reread::{self, Reread};
use crate::record::value::Value;
use crate::store::Source;
use crate::store::meter::Meter;
use crate::store::source::Piece;
use crate::text::Text;

/// As reports name it.
pub(super) const LOADER: &str = "@anthropic-ai/claude-agent-sdk 0.3.332";

/// What it raises.
pub(super) type Raises = &'static str;

/// The only thing that it raises.
pub(super) const TYPE_ERROR: Raises = "TypeError";

/// Beyond this many bytes a file is read from its last boundary that keeps nothing.
const READ_WHOLE: u64 = 5 * 1024 * 1024;

/// It reads so many bytes at a time.
const CHUNK: u64 = 1024 * 1024;

/// The answer of a model that had nothing to say: its length, and the beginning of its SHA-256.
const QUIET: (usize, u64) = (22, 0x85ca_ba2f_4e18_9669);

/// Hidden from the messages.
const ASIDE: u64 = flag::SIDECHAIN | flag::TEAM;

/// What it makes of a file.
///
/// # Errors
/// I/O errors, where it takes other records from the file and so reads it again.
pub(super) fn read(source: &Source, facts: &Facts, graph: &Graph) -> io::Result<Reading> {
    let own = own_records(source, facts)?;
    let loaded = match &own {
        Some(own) => load(&own.source, &own.facts, &Graph::new(&NPM, &own.facts)),
        None => load(source, facts, graph),
    };
    let (messages, raises) = loaded.map_or_else(|raises| (Vec::new(), Some(raises)), |messages| (messages, None));
    Ok(Reading { loader: LOADER, messages, raises, own })
}

/// The records that it takes from a file of which it does not read what the other loader reads (B, C).
fn own_records(source: &Source, facts: &Facts) -> io::Result<Option<Box<Own>>> {
    let size = source.size();
    let parse = |source: Source, lines_before: u32| -> io::Result<Box<Own>> {
        let facts = parse::read(&source, &NPM, &Meter::default())?;
        Ok(Box::new(Own { source, facts, lines_before }))
    };
    let from_boundary = |facts: &Facts| match boundary_to_read_from(source, facts) {
        Some(record) if size > READ_WHOLE => {
            let rest = [Piece::Base(record.offset, size - record.offset)];
            parse(Source::spliced(source, &rest), record.line - 1).map(Some)
        }
        _ => Ok(None),
    };
    if !facts.read_otherwise {
        return from_boundary(facts);
    }
    let whole = parse(source.clone(), 0)?;
    Ok(Some(from_boundary(&whole.facts)?.unwrap_or(whole)))
}

/// B. The last boundary that keeps nothing and that it notices.
fn boundary_to_read_from<'a>(source: &Source, facts: &'a Facts) -> Option<&'a Record> {
    const SYSTEM: &[u8] = br#"{"type":"system""#;
    const BOUNDARY: &[u8] = br#""compact_boundary""#;
    /// It looks for the word as far as here.
    const HEAD: usize = 256;
    /// Of a line that goes on in the next chunk it has to have had this many bytes before.
    const BEFORE: u64 = 30;
    let noticed = |record: &&Record| {
        let stop = record.offset + u64::from(record.length);
        let before = (stop / CHUNK * CHUNK).saturating_sub(record.offset);
        let head = source.read_range(record.offset, (HEAD + BOUNDARY.len() - 1) as u64).unwrap_or_default();
        let head = &head[..head.len().min(record.length as usize)];
        stop < source.size()
            && match before >= BEFORE {
                true => head.starts_with(SYSTEM),
                false => memchr::memmem::find(head, BOUNDARY).is_some(),
            }
    };
    let keeps = |record: &Record| {
        let text = reread::text(source, record).unwrap_or_default();
        let meta = Value::parse(&text).and_then(|row| row.get("compactMetadata"));
        let truthy = |key| meta.and_then(|meta| meta.get(key)).is_some_and(|kept| kept.truthy());
        truthy("preservedSegment") || truthy("preservedMessages")
    };
    let boundary = |record: &&Record| record.kind == Kind::System && record.has(flag::BOUNDARY);
    let mut all = facts.records.iter().rev().filter(boundary);
    all.find(|record| noticed(record) && !(record.has(flag::LOOK) && keeps(record)))
}

/// The messages that it returns, in its order.
fn load(source: &Source, facts: &Facts, graph: &Graph) -> Result<Vec<u32>, Raises> {
    let relinked = kept::parents(source, facts, graph)?.map(|parents| Graph::new(&NPM, facts).with_parents(parents));
    let view = View::new(source, facts, relinked.as_ref().unwrap_or(graph));
    let Some(leaf) = view.leaf() else { return Ok(Vec::new()) };
    let parent = |n: u32| view.graph.parent[n as usize];
    let (mut chain, _) = walk::path(facts.records.len(), leaf, parent, |n| n);
    if chain.iter().any(|&n| view.kind(n) == Kind::Assistant) {
        chain = parallel::with_parallel_by_text(facts, view.graph, chain, source).ok_or(TYPE_ERROR)?;
    }
    if let Some(queued) = Queued::new(&view) {
        chain = queued.line(chain, leaf);
    } else {
        chain.retain(|&n| !view.is_attachment(n));
    }
    view.hide_host_calls(&mut chain);
    chain.retain(|&n| view.is_shown(n));
    chain.shrink_to_fit();
    Ok(chain)
}

/// The records as it sees them.
pub(super) struct View<'a> {
    source: &'a Source,
    pub(super) facts: &'a Facts,
    pub(super) graph: &'a Graph,
    /// Turns by voice lie in `system` rows: what each is.
    voice: HashMap<u32, Kind>,
}

impl<'a> View<'a> {
    fn new(source: &'a Source, facts: &'a Facts, graph: &'a Graph) -> Self {
        let mut view = View { source, facts, graph, voice: HashMap::new() };
        let odd = |r: &Record| r.kind == Kind::System && r.has(flag::LOOK) && !r.has(flag::BOUNDARY);
        let rows = numbered(&facts.records).filter(|(_, r)| odd(r));
        view.voice = rows.filter_map(|(n, r)| Some((n, view.look(r, |row| voice(&row))?))).collect();
        view
    }

    pub(super) fn record(&self, n: u32) -> &'a Record {
        &self.facts.records[n as usize]
    }

    /// Reads a record again.
    pub(super) fn look<T>(&self, record: &Record, read: impl FnOnce(Value<'_>) -> Option<T>) -> Option<T> {
        let text = reread::text(self.source, record).ok()?;
        read(Value::parse(&text)?)
    }

    pub(super) fn kind(&self, n: u32) -> Kind {
        let kind = self.record(n).kind;
        if kind == Kind::System { self.voice.get(&n).copied().unwrap_or(kind) } else { kind }
    }

    pub(super) fn is_spoken(&self, n: u32) -> bool {
        matches!(self.kind(n), Kind::User | Kind::Assistant)
    }

    pub(super) fn is_attachment(&self, n: u32) -> bool {
        self.kind(n) == Kind::Attachment
    }

    pub(super) fn holds_queued(&self, n: u32) -> bool {
        let record = self.record(n);
        let holds = if record.kind == Kind::System { self.is_attachment(n) } else { record.has(flag::QUEUED_COMMAND) };
        holds && self.graph.has(n, self.facts)
    }

    /// E. Of all main-line records that no main-line record names as parent, the one that stands last in the file with a
    /// message at or above it gives the leaf.
    fn leaf(&self) -> Option<u32> {
        let count = self.facts.records.len();
        let mut stands = vec![false; count];
        for (n, _) in numbered(&self.facts.records) {
            stands[n as usize] = self.graph.has(n, self.facts);
        }
        self.graph.repeats.iter().for_each(|&(earlier, _)| stands[earlier as usize] = false);
        let mut taken = vec![false; count];
        let mut take = |of: &dyn Fn(u32) -> bool| {
            for n in (0..count as u32).filter(|&n| stands[n as usize] && of(n)) {
                if let Some(taken) = taken.get_mut(self.graph.parent[n as usize] as usize) {
                    *taken = true;
                }
            }
            std::mem::replace(&mut taken, vec![false; count])
        };
        let main = take(&|n| self.is_main_line(n));
        let ends = (0..count as u32).rev().filter(|&n| stands[n as usize] && !main[n as usize] && self.is_main_line(n));
        let mut barren = vec![false; count];
        for end in ends {
            let mut at = end;
            while at < MISSING && !barren[at as usize] {
                if self.is_spoken(at) {
                    return Some(at);
                }
                barren[at as usize] = true;
                at = self.graph.parent[at as usize];
            }
        }
        let all = take(&|_| true);
        self.older_leaf((0..count as u32).filter(|&n| stands[n as usize] && !all[n as usize]))
    }

    /// The rule of the older loader, for a file without a main line: the nearest message above each end is a candidate.
    fn older_leaf(&self, ends: impl Iterator<Item = u32>) -> Option<u32> {
        let mut passed = vec![false; self.facts.records.len()];
        let (mut best, mut aside) = (None, None);
        for end in ends {
            let mut at = end;
            while at < MISSING && !passed[at as usize] {
                passed[at as usize] = true;
                if self.is_spoken(at) {
                    let slot = if self.record(at).any(ASIDE | flag::META) { &mut aside } else { &mut best };
                    *slot = (*slot).max(Some(at));
                    break;
                }
                at = self.graph.parent[at as usize];
            }
        }
        best.or(aside)
    }

    fn is_main_line(&self, n: u32) -> bool {
        let record = self.record(n);
        let briefing = |row: Value<'_>| row.at(&["attachment", "type"])?.string();
        !record.any(ASIDE)
            && record.kind != Kind::Progress
            && !(record.kind == Kind::Attachment
                && record.has(flag::LOOK)
                && self.look(record, briefing).as_deref() == Some("fork_briefing"))
    }

    /// J.
    fn is_shown(&self, n: u32) -> bool {
        let record = self.record(n);
        if record.any(ASIDE) {
            return false;
        }
        match self.kind(n) {
            Kind::Attachment => true,
            Kind::User | Kind::Assistant => {
                let looks = record.has(flag::LOOK);
                let hidden = record.has(flag::META)
                    && !(looks && self.look(record, |row| Some(is_shown_origin(row))) == Some(true));
                let quiet = looks
                    && record.kind == Kind::Assistant
                    && self.look(record, |row| Some(is_quiet(&row))) == Some(true);
                !hidden && !quiet
            }
            _ => false,
        }
    }

    /// I. Calls that a host ran and hides go, and so do their results; a row that holds nothing else goes with them.
    fn hide_host_calls(&self, line: &mut Vec<u32>) {
        let lists = |n: &u32| self.kind(*n) == Kind::Assistant && self.record(*n).has(flag::LOOK);
        let listed: HashSet<u64> = line.iter().filter(|n| lists(n)).flat_map(|&n| self.hidden_calls(n)).collect();
        if listed.is_empty() {
            return;
        }
        let mut hidden = HashSet::new();
        line.retain(|&n| {
            let blocks = self.facts.blocks_of(self.record(n));
            let of = |kind| blocks.iter().filter(move |b| b.kind == kind);
            if self.kind(n) == Kind::Assistant {
                let own: HashSet<u64> =
                    if lists(&n) { self.hidden_calls(n).into_iter().collect() } else { HashSet::new() };
                let gone = of(BlockKind::Call).filter(|call| own.contains(&call.id));
                let before = hidden.len();
                let count = gone.map(|call| hidden.insert(call.id)).count();
                return count < blocks.len() || hidden.len() == before;
            }
            let gone = of(BlockKind::Result).filter(|result| hidden.contains(&result.id)).count();
            gone == 0 || gone < of(BlockKind::Result).count()
        });
    }

    fn hidden_calls(&self, n: u32) -> Vec<u64> {
        let list = |row: Value<'_>| {
            let list = row.get("hostHiddenToolUseIds").filter(|list| list.kind() == Json::Array)?;
            let ids = list.items().into_iter().filter_map(|id| id.text());
            Some(ids.map(|id| Id::of(id.as_bytes()).short()).collect())
        };
        self.look(self.record(n), list).unwrap_or_default()
    }
}

/// What a turn by voice is: the prompt that was said, or a queued command.
fn voice(row: &Value<'_>) -> Option<Kind> {
    let word = |path: &[&str]| row.at(path)?.string();
    if word(&["subtype"])? != "voice_call_talk" || word(&["origin", "kind"])? != "voice-call" {
        return None;
    }
    row.get("content").filter(|content| content.kind() == Json::String)?;
    match row.get("fold") {
        None => Some(Kind::User),
        Some(fold) => fold.get("command").filter(|c| c.kind() == Json::Object).map(|_| Kind::Attachment),
    }
}

/// Whether a row comes from where meta rows are shown.
pub(super) fn is_shown_origin(row: Value<'_>) -> bool {
    const SHOWN: [&str; 6] = ["channel", "observer", "observer-activity", "slack-ping", "voice-call", "peer"];
    row.at(&["origin", "kind"]).and_then(|kind| kind.string()).is_some_and(|kind| SHOWN.contains(&&*kind))
}

/// Whether a row closes a turn in which nothing was to be said.
fn is_quiet(row: &Value<'_>) -> bool {
    let text = || {
        row.get("closesQuietTurn").filter(|closes| closes.kind() == Json::True)?;
        let content = row.at(&["message", "content"]).filter(|content| content.kind() == Json::Array)?;
        let [block] = &*content.items() else { return None };
        block.get("type").and_then(|t| t.string()).filter(|t| t == "text")?;
        block.get("text")?.string()
    };
    text().is_some_and(|text| text.is_empty() || text.chars().count() == QUIET.0 && queued::begins(&text, &[QUIET]))
}

/// The id and the role under which it shows a record.
pub(super) fn shown_as(again: &mut Reread<'_>, record: &Record) -> (Option<Text>, &'static str) {
    let path: &[&str] = match record.kind {
        Kind::Assistant => return (again.id(record), "assistant"),
        Kind::User => return (again.id(record), "user"),
        Kind::System => &["fold", "command", "source_uuid"],
        _ => &["attachment", "source_uuid"],
    };
    let named = again.field(record, path).filter(|id| !id.as_bytes().is_empty());
    (named.or_else(|| again.id(record)), "user")
}
