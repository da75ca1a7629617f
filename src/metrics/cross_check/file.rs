//! One file counted again, line by line, each line laid beside what the first method has of it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;

use super::line::{self, Json, Malformed, Seen, Sort};
use super::usage::FileUsage;
use super::{Difference, Fault, PARALLEL, Recount, SORTS, STRICT, Sums, USAGE};
use crate::metrics::agent::Metering;
use crate::metrics::records::UserSort;
use crate::record::agent::Cut;
use crate::record::facts::{BlockKind, Kind, NO_NAME, NO_TOKENS, Record};
use crate::record::parse;
use crate::session::{Session, Shape};
use crate::store::Source;
use crate::store::lines::LONGEST_LINE;

/// One file counted again.
pub(super) struct FileCount<'a> {
    file: u32,
    session: &'a Session,
    agent: &'a dyn Metering,
    /// The bytes, as the first method was to read them.
    source: &'a Source,
    to: &'a mut Recount,
    usage: FileUsage,
    calls: Calls,
    /// The second method broken on purpose: it takes the last `type` on a line for the record's.
    blind: bool,
    /// The first record that belongs to no line that was compared.
    next: usize,
    /// Whether a strict reader has stopped.
    stopped: bool,
    ended: bool,
    ends: bool,
    cut: Cut,
    last_line: u64,
}

impl<'a> FileCount<'a> {
    pub(super) fn new(
        fault: Fault,
        file: u32,
        (session, agent): (&'a Session, &'a dyn Metering),
        source: &'a Source,
        to: &'a mut Recount,
    ) -> Self {
        FileCount {
            file,
            session,
            agent,
            source,
            usage: FileUsage::default(),
            calls: Calls::default(),
            blind: fault == Fault::Scanner,
            next: 0,
            stopped: false,
            ended: false,
            ends: false,
            cut: session.agent.cut(source.size()),
            last_line: session.facts.lines.physical,
            to,
        }
    }

    /// Cuts the file at line feeds and compares line by line; returns the bytes that it read.
    pub(super) fn lines(&mut self) -> io::Result<u64> {
        const CHUNK: usize = 128 * 1024;
        let source = self.source;
        let (mut held, mut chunk) = (Vec::new(), vec![0; CHUNK]);
        let (mut at, mut number) = (0, 0);
        loop {
            let read = source.read_at(at, &mut chunk)?;
            at += read as u64;
            let mut rest = &chunk[..read];
            while let Some(end) = rest.iter().position(|b| *b == b'\n') {
                held.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                number += 1;
                self.line(number, &held);
                held.clear();
            }
            held.extend_from_slice(rest);
            if read == 0 {
                break;
            }
        }
        if !held.is_empty() {
            self.line(number + 1, &held);
        }
        Ok(at)
    }

    fn line(&mut self, number: u64, bytes: &[u8]) {
        let records = &self.session.facts.records;
        let start = self.next;
        while records.get(self.next).is_some_and(|r| u64::from(r.line) == number) {
            self.next += 1;
        }
        let own = &records[start..self.next];
        if bytes.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')) {
            if !own.is_empty() {
                self.differ(number, format!("{} records", own.len()), "a blank line".to_owned(), None);
            }
            return;
        }
        let hits = bytes.windows(parse::TOOL_RESULT.len()).filter(|w| *w == parse::TOOL_RESULT).count();
        self.to.sums.add("readers.raw.hits", hits as u64);
        let seen = self.seen(bytes);
        // A line that the agent's loader takes apart is refused: there is no record of it that could be counted.
        self.stopped |= self.taken_apart(bytes).is_some();
        self.strict(bytes);
        match (own, seen) {
            ([], Err(Malformed)) => {}
            ([record], Ok(seen)) => {
                let first = self.first(start as u32, record);
                let second = summary(&seen);
                if !agrees(&first, &second) {
                    self.differ_in_sums((number, first, second), None, (start, 1), Some(&seen));
                }
                self.count(&seen);
            }
            (own, seen) => {
                let why = self.why(number, bytes, own.len(), seen.is_ok());
                let first = match own.len() {
                    0 => "no record".to_owned(),
                    1 => self.first(start as u32, &own[0]),
                    n => format!("{n} records"),
                };
                let second = seen.as_ref().map_or_else(|_| "no JSON".to_owned(), summary);
                self.differ_in_sums((number, first, second), why, (start, own.len()), seen.as_ref().ok());
                if let Ok(seen) = seen {
                    self.count(&seen);
                }
            }
        }
    }

    fn seen(&self, bytes: &[u8]) -> Result<Seen, Malformed> {
        let text = String::from_utf8_lossy(bytes);
        let value = line::value(&text)?;
        let Json::Object(_) = value else { return Ok(Seen::default()) };
        let mut seen = self.agent.count_again(value, self.session.shape != Shape::Subagent);
        if self.blind
            && let Some((_, name)) = text.rsplit_once("\"type\":\"")
        {
            seen.type_name = name.split('"').next().map(str::to_owned);
        }
        Ok(seen)
    }

    /// Whether the bytes of a line show why the agent's own loader takes it for another number of records.
    fn why(&self, number: u64, bytes: &[u8], records: usize, is_json: bool) -> Option<&'static str> {
        let python = self.session.agent.grammar().python;
        let strips = self.session.agent.strip(bytes) != (0..bytes.len());
        let has = |needle: &[u8]| bytes.windows(needle.len()).any(|w| w == needle);
        if let Some(why) = self.taken_apart(bytes) {
            return Some(why);
        }
        let is_plain = |b: Option<&u8>| b.is_none_or(|b| (0x21..0x80).contains(b) || matches!(b, b' ' | b'\t' | b'\r'));
        let edges = !is_plain(bytes.first()) || !is_plain(bytes.last());
        if records > 0 && !is_json && edges && (strips || number == 1 || number == self.last_line) {
            return Some("the agent's loader takes white space off that JSON does not know");
        }
        if records > 0 && !is_json && python && (has(b"NaN") || has(b"Infinity")) {
            return Some("the agent's loader reads NaN and Infinity");
        }
        if records == 0 && is_json && python && longest_digits(bytes) > 4300 {
            return Some("the agent's loader refuses integers of more than 4300 digits");
        }
        if records == 0 && is_json && bytes.len() > LONGEST_LINE {
            return Some("longer than any loader can hold");
        }
        None
    }

    /// Whether the agent's loader makes several lines of this one.
    fn taken_apart(&self, bytes: &[u8]) -> Option<&'static str> {
        let has = |needle: &[u8]| memchr::memmem::find(bytes, needle).is_some();
        let inner_cr = memchr::memchr(b'\r', &bytes[..bytes.len().saturating_sub(1)]).is_some();
        if inner_cr && matches!(self.cut, Cut::Returns | Cut::Separators) {
            return Some("the agent's loader splits lines at a carriage return, too");
        }
        (self.cut == Cut::Separators && (has(b"\xe2\x80\xa8") || has(b"\xe2\x80\xa9")))
            .then_some("the agent's loader splits lines at U+2028 and U+2029 in files of this size")
    }

    fn differ(&mut self, line: u64, first: String, second: String, why: Option<&'static str>) {
        self.note(Difference { file: self.file, line, first, second, why, on: Vec::new() });
    }

    fn note(&mut self, difference: Difference) {
        self.to.unexplained += u64::from(difference.why.is_none());
        self.to.differences.push(difference);
        self.to.shorten();
    }

    /// A line that is in one count otherwise than in the other. Where its bytes show why, that is taken into account.
    fn differ_in_sums(
        &mut self,
        (line, first, second): (u64, String, String),
        why: Option<&'static str>,
        (start, records): (usize, usize),
        seen: Option<&Seen>,
    ) {
        let mut sums = [Sums::default(), Sums::default()];
        let own = self.session.facts.records[start..start + records].iter();
        let first_seen: Vec<Seen> = (start as u32..).zip(own).map(|(n, record)| self.as_seen(n, record)).collect();
        for (sums, seen) in sums.iter_mut().zip([first_seen.iter().collect(), Vec::from_iter(seen)]) {
            seen.iter().for_each(|seen| line_sums(seen, sums));
        }
        let [one, other] = sums;
        let names: BTreeSet<&String> = one.0.keys().chain(other.0.keys()).collect();
        let count = |sums: &Sums, what: &String| sums.0.get(what).map_or(0, |n| i64::try_from(*n).unwrap_or(i64::MAX));
        let mut on = Vec::new();
        for what in names {
            let delta = count(&one, what) - count(&other, what);
            if delta != 0 {
                on.push(what.clone());
                if why.is_some() {
                    *self.to.delta.entry(what.clone()).or_default() += delta;
                }
            }
        }
        // A strict reader stops at such a line whatever it is.
        on.push(STRICT.to_owned());
        let pairs = |record: &Record| {
            let blocks = self.session.facts.blocks_of(record);
            blocks.iter().any(|b| matches!(b.kind, BlockKind::Call | BlockKind::Result))
        };
        on.extend(self.session.facts.records[start..start + records].iter().any(pairs).then(|| PARALLEL.to_owned()));
        for seen in first_seen.iter().chain(seen) {
            let uses = seen.usage.is_some() || seen.stats.is_some() || seen.is_trace;
            on.extend(uses.then(|| USAGE.to_owned()));
            on.extend((!seen.calls.is_empty() || !seen.answers.is_empty()).then(|| PARALLEL.to_owned()));
        }
        if why.is_some() {
            self.to.loose.extend(SORTS.into_iter().filter(|sort| on.iter().any(|what| what == sort)));
        }
        self.note(Difference { file: self.file, line, first, second, why, on });
    }

    fn count(&mut self, seen: &Seen) {
        line_sums(seen, &mut self.to.sums);
        self.usage.add(seen);
        self.calls.add(seen);
        self.ends |= seen.is_end;
        self.ended = seen.is_end;
    }

    fn strict(&mut self, bytes: &[u8]) {
        if !self.stopped {
            match serde_json::from_slice::<serde_json::Value>(bytes) {
                Ok(_) => self.to.sums.add("readers.strict_per_file.records", 1),
                Err(_) => self.stopped = true,
            }
        }
    }

    pub(super) fn finish(mut self) {
        if self.next < self.session.facts.records.len() {
            let left = self.session.facts.records.len() - self.next;
            self.differ(0, format!("{left} records on lines that are not there"), "nothing".to_owned(), None);
        }
        let sums = &mut self.to.sums;
        if self.agent.ends(self.session).is_some() {
            sums.add("session_ends.with", u64::from(self.ends));
            sums.add("session_ends.without", u64::from(!self.ends));
            sums.add("session_ends.last_line", u64::from(self.ended));
        }
        self.calls.finish(sums);
        // Only a session's own file has running totals.
        if self.session.shape != Shape::Main {
            self.usage.forget_totals();
        }
        self.to.usage.add(self.agent.counted_as(), self.usage);
    }

    /// A whole-file session: its messages, each as the record that a later version would write.
    pub(super) fn document(&mut self) -> io::Result<u64> {
        let bytes = self.source.read_range(0, LONGEST_LINE as u64)?;
        let hits = bytes.windows(parse::TOOL_RESULT.len()).filter(|w| *w == parse::TOOL_RESULT).count();
        self.to.sums.add("readers.raw.hits", hits as u64);
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let read = serde_json::from_slice::<serde_json::Value>(text);
        let messages = match &read {
            Ok(value) => value.get("messages").and_then(|m| m.as_array()).map_or(&[][..], Vec::as_slice),
            Err(_) => &[],
        };
        let records = self.session.facts.records.len();
        if messages.len() != records {
            let why = read.is_err().then_some("a strict reader refuses the document");
            let told = (1, format!("{records} messages"), format!("{} messages", messages.len()));
            self.differ_in_sums(told, why, (0, records), None);
        }
        self.next = records;
        for message in messages {
            let role = message.get("role").and_then(|r| r.as_str()).unwrap_or_default();
            let kind = match (message.is_object(), role) {
                (false, _) => None,
                (true, "assistant") => self.agent.type_word(Kind::Assistant),
                (true, _) => self.agent.type_word(Kind::User),
            };
            let mut seen = Seen::default();
            if let Some(kind) = kind {
                let line = serde_json::json!({"type": kind, "message": message}).to_string();
                if let Ok(read) = self.seen(line.as_bytes()) {
                    seen = Seen { usage: None, ..read };
                }
            }
            // Counted as messages, whatever each is.
            seen.type_name = Some("message".to_owned());
            self.count(&seen);
            self.to.sums.add("readers.strict_per_file.records", u64::from(read.is_ok() && text.len() == bytes.len()));
        }
        Ok(bytes.len() as u64)
    }

    /// A record of the first count in the words of the second.
    fn as_seen(&self, n: u32, record: &Record) -> Seen {
        let facts = &self.session.facts;
        let sort = match UserSort::of(self.session, record) {
            None => Sort::None,
            Some(UserSort::Prompt) => Sort::Prompt,
            Some(UserSort::Results) => Sort::Results,
            Some(UserSort::Mixed) => Sort::Mixed,
            Some(UserSort::NotTyped) => Sort::NotTyped,
        };
        let results = facts.blocks_of(record).iter().filter(|b| b.kind == BlockKind::Result).count();
        let metadata = record.kind == Kind::Metadata && self.agent.is_labelled(record.kind);
        let used = facts.usage.binary_search_by_key(&n, |u| u.record).ok().map(|at| {
            let there = |t: u32| (t != NO_TOKENS).then_some(u64::from(t));
            let [input, output, read, write] = facts.usage[at].tokens.map(there);
            line::Used { tokens: [input, output, read, write], ..line::Used::default() }
        });
        Seen {
            type_name: (record.kind != Kind::NonObject).then(|| match record.type_name {
                NO_NAME => "\u{fffd}".to_owned(),
                _ => crate::text::lossy(facts.type_of(record)),
            }),
            key: metadata.then(|| facts.names.text(record.agent)),
            sort,
            results: u32::try_from(results).unwrap_or(u32::MAX),
            is_end: record.kind == Kind::End,
            usage: used,
            ..Seen::default()
        }
    }

    fn first(&self, n: u32, record: &Record) -> String {
        summary(&self.as_seen(n, record))
    }
}

/// What is compared of a line, in words.
fn summary(seen: &Seen) -> String {
    let Some(type_name) = &seen.type_name else { return "JSON that is no object".to_owned() };
    let mut text = format!("type {type_name:?}");
    if let Some(key) = &seen.key {
        text.push_str(&format!(", key {key:?}"));
    }
    if seen.sort != Sort::None {
        text.push_str(&format!(", {:?}", seen.sort));
    }
    if seen.results > 0 {
        text.push_str(&format!(", {} results", seen.results));
    }
    if let Some(used) = &seen.usage {
        text.push_str(&format!(", tokens {:?}", used.tokens));
    }
    text
}

/// Whether two summaries say the same. Types beyond those counted by name are not told apart by the first method.
fn agrees(first: &str, second: &str) -> bool {
    match first.strip_prefix("type \"\u{fffd}\"") {
        Some(rest) => second.ends_with(rest),
        None => first == second,
    }
}

/// The sums that are sums of lines.
fn line_sums(seen: &Seen, sums: &mut Sums) {
    sums.add("records", 1);
    let Some(type_name) = &seen.type_name else { return };
    let named = if type_name.is_empty() { "(no type)" } else { type_name };
    sums.add(format!("records.{named}"), 1);
    if let Some(key) = &seen.key {
        sums.add(format!("metadata.{key}"), 1);
    }
    match seen.sort {
        Sort::None => {}
        Sort::Prompt => sums.add("user_records.prompts", 1),
        Sort::Results => sums.add("user_records.tool_results", 1),
        Sort::Mixed => sums.add("user_records.mixed", 1),
        Sort::NotTyped => sums.add("user_records.not_typed", 1),
    }
    if seen.results > 0 {
        sums.add(format!("tool_results_per_record.{}", seen.results), 1);
    }
}

fn longest_digits(bytes: &[u8]) -> usize {
    bytes.split(|b| !b.is_ascii_digit()).map(<[u8]>::len).max().unwrap_or(0)
}

/// Calls and their results by their names.
#[derive(Default)]
struct Calls {
    open: HashMap<String, String>,
    units: HashMap<String, (u64, u64, HashSet<u64>)>,
    records: u64,
}

impl Calls {
    fn add(&mut self, seen: &Seen) {
        self.records += 1;
        let unit = match &seen.response {
            Some(response) => format!("r{response}"),
            None => format!("n{}", self.records),
        };
        for call in &seen.calls {
            self.units.entry(unit.clone()).or_default().0 += 1;
            if !call.is_empty() {
                self.open.insert(call.clone(), unit.clone());
            }
        }
        for answer in seen.answers.iter().filter(|a| !a.is_empty()) {
            if let Some(unit) = self.open.remove(answer)
                && let Some(unit) = self.units.get_mut(&unit)
            {
                unit.1 += 1;
                unit.2.insert(self.records);
            }
        }
    }

    fn finish(self, sums: &mut Sums) {
        for (calls, answers, records) in self.units.into_values().filter(|(calls, ..)| *calls > 1) {
            sums.add("parallel.assistant_records_with_several_calls", 1);
            match records.len() {
                0 | 1 if answers < calls => sums.add("parallel.incomplete", 1),
                0 | 1 => sums.add("parallel.answered_in_one_record", 1),
                _ => sums.add("parallel.spread", 1),
            }
        }
    }
}
