//! One line as the second method sees it: what kind of record it is and what is counted of it, told from events and the
//! depth at which they come.

use crate::dialect::Dialect;
use crate::metrics::scanner::{Event, NoJson, Scanner, unescaped};

/// What is counted of a record.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Seen {
    /// Whether it is an object; then its type, empty without one.
    pub(super) type_name: Option<String>,
    /// sid-code: the key of a metadata record.
    pub(super) key: Option<String>,
    pub(super) sort: Sort,
    /// Tool results in it.
    pub(super) results: u32,
    /// Calls in it, by id (empty: none).
    pub(super) calls: Vec<String>,
    /// The calls that its results answer.
    pub(super) answers: Vec<String>,
    pub(super) usage: Option<Used>,
    pub(super) is_end: bool,
    pub(super) is_assistant: bool,
    /// The response of an assistant record, where rows of one response share a name.
    pub(super) response: Option<String>,
    pub(super) stats: Option<Stats>,
    pub(super) provider: Option<String>,
    pub(super) is_trace: bool,
    /// sid-code: fields beside the message that say how it was answered.
    pub(super) answered: bool,
}

/// What stands in the user's place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) enum Sort {
    #[default]
    None,
    Prompt,
    Results,
    Mixed,
    NotTyped,
}

/// What a response used.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Used {
    pub(super) key: Option<String>,
    pub(super) model: String,
    /// Input, output, cache read, cache write.
    pub(super) tokens: [Option<u64>; 4],
    pub(super) cost: Option<f64>,
    pub(super) made_up: bool,
}

/// sid-code's running totals.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Stats {
    pub(super) id: Option<String>,
    /// By model: requests, prompt, output, read, write, cost.
    pub(super) models: Vec<(String, [Option<f64>; 6])>,
}

/// Where in a record the scanner is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Top,
    Message,
    Content,
    Block,
    Usage,
    Cost,
    Meta,
    Value,
    Models,
    Model,
    Other,
}

/// Gathers one line.
#[derive(Debug)]
pub(super) struct LineScan {
    dialect: Dialect,
    /// A subagent's own file: nothing in it is typed.
    subagent: bool,
    /// The second method broken on purpose: it takes the `type` of whatever it meets for the record's.
    blind: bool,
    scanner: Scanner,
    places: Vec<Place>,
    keys: Vec<String>,
    draft: Draft,
}

#[derive(Clone, Debug, Default)]
struct Draft {
    object: bool,
    type_name: Option<String>,
    key: Option<String>,
    uuid: Option<String>,
    id: Option<String>,
    time: String,
    role: String,
    message_id: Option<String>,
    model: String,
    stop: String,
    provider: Option<String>,
    not_typed: bool,
    origin: bool,
    api_error: bool,
    call: String,
    blocks: Vec<Block>,
    tokens: Option<[Option<u64>; 4]>,
    cost: Option<f64>,
    models: Vec<(String, [Option<f64>; 6])>,
    value_object: bool,
    answered: bool,
}

#[derive(Clone, Debug, Default)]
struct Block {
    kind: String,
    text: String,
    id: String,
    answers: String,
}

/// So much of a token is kept: any id, type or name; of texts the beginning.
const KEEP: usize = 4096;

impl LineScan {
    pub(super) fn new(dialect: Dialect, subagent: bool, blind: bool) -> Self {
        LineScan {
            dialect,
            subagent,
            blind,
            scanner: Scanner::new(KEEP),
            places: Vec::new(),
            keys: Vec::new(),
            draft: Draft::default(),
        }
    }

    pub(super) fn begin(&mut self) {
        self.scanner.reset();
        self.places.clear();
        self.keys.clear();
        self.draft = Draft::default();
    }

    pub(super) fn feed(&mut self, piece: &[u8]) -> Result<(), NoJson> {
        let mut scanner = std::mem::replace(&mut self.scanner, Scanner::new(0));
        let read = scanner.feed(piece, &mut |depth, event| self.event(depth, event));
        self.scanner = scanner;
        read
    }

    /// Ends the line: what it is, or that it is no JSON.
    pub(super) fn finish(&mut self) -> Result<Seen, NoJson> {
        let mut scanner = std::mem::replace(&mut self.scanner, Scanner::new(0));
        let read = scanner.finish(&mut |depth, event| self.event(depth, event));
        self.scanner = scanner;
        read.map(|()| self.seen())
    }

    fn event(&mut self, depth: usize, event: Event<'_>) {
        // One place and one key slot for each open bracket; the slot of an array stays empty.
        self.places.truncate(depth);
        self.keys.truncate(depth);
        let place = self.places.last().copied();
        let inside = place.is_some_and(|p| p != Place::Other);
        if let Event::Key(key) = event {
            if let Some(slot) = self.keys.last_mut() {
                *slot = if inside || self.blind { unescaped(key) } else { String::new() };
            }
            return;
        }
        let key = self.keys.last_mut().map(std::mem::take).unwrap_or_default();
        match event {
            Event::Object | Event::Array => {
                let child = if inside || place.is_none() {
                    self.open(place, &key, event == Event::Object)
                } else {
                    Place::Other
                };
                self.places.push(child);
                self.keys.push(String::new());
            }
            Event::Close => {}
            _ if inside => self.scalar(place.unwrap_or(Place::Other), &key, event),
            _ => {}
        }
        if let (true, Event::String(text)) = (self.blind && key == "type", event) {
            self.draft.type_name = Some(unescaped(text));
        }
    }

    /// Whether the agent's reader knows a key at its place: what another agent calls so is none of its figures.
    fn knows(&self, place: Option<Place>, key: &str) -> bool {
        let (sid, claude, pi) = (self.dialect == Dialect::Sid, self.dialect == Dialect::Claude, self.dialect.is_pi());
        match (place, key) {
            (Some(Place::Top), "usage" | "role" | "model" | "provider") => !claude,
            (Some(Place::Message), "usage" | "model") => !sid,
            (Some(Place::Message), "provider" | "responseId" | "stopReason" | "toolCallId") => pi,
            (Some(Place::Message), "id" | "stop_reason") => claude,
            (Some(Place::Message), "_meta") => sid,
            (Some(Place::Top), "costUSD" | "isMeta" | "isCompactSummary" | "isSidechain" | "teamName") => claude,
            (Some(Place::Top), "isApiErrorMessage") => claude,
            (Some(Place::Block), "tool_use_id") => !pi,
            (Some(Place::Usage), "cost") => pi,
            _ => true,
        }
    }

    fn open(&mut self, place: Option<Place>, key: &str, object: bool) -> Place {
        if !self.knows(place, key) {
            return Place::Other;
        }
        let draft = &mut self.draft;
        match (place, key, object) {
            (None, _, true) => {
                draft.object = true;
                Place::Top
            }
            (Some(Place::Top), "message", true) => {
                draft.blocks.clear();
                draft.role.clear();
                if self.dialect != Dialect::Sid {
                    draft.stop.clear();
                }
                Place::Message
            }
            (Some(Place::Top), "message", false) => {
                draft.blocks.clear();
                draft.role.clear();
                Place::Other
            }
            (Some(Place::Top | Place::Message), "content", false) => {
                draft.blocks.clear();
                Place::Content
            }
            (Some(Place::Top | Place::Message), "content", true) => {
                draft.blocks.clear();
                Place::Other
            }
            (Some(Place::Top | Place::Message), "usage", true) => {
                draft.answered |= place == Some(Place::Top);
                draft.tokens = Some([None; 4]);
                Place::Usage
            }
            (Some(Place::Message), "_meta", true) => Place::Meta,
            (Some(Place::Top), "value", _) => {
                draft.value_object = object;
                draft.models.clear();
                if object { Place::Value } else { Place::Other }
            }
            (Some(Place::Top), _, _) if CONTEXT.contains(&key) || matches!(key, "model" | "msgId") => {
                draft.answered = true;
                Place::Other
            }
            (Some(Place::Content), _, true) => {
                draft.blocks.push(Block::default());
                Place::Block
            }
            (Some(Place::Content), _, false) => {
                draft.blocks.push(Block::default());
                Place::Other
            }
            (Some(Place::Usage), "cost", true) => Place::Cost,
            (Some(Place::Value), "modelUsage", true) => {
                draft.models.clear();
                Place::Models
            }
            (Some(Place::Models), name, true) => {
                // A name that stands twice: the last one counts.
                draft.models.retain(|(held, _)| held != name);
                draft.models.push((name.to_owned(), [None; 6]));
                Place::Model
            }
            _ => Place::Other,
        }
    }

    fn scalar(&mut self, place: Place, key: &str, event: Event<'_>) {
        if !self.knows(Some(place), key) {
            return;
        }
        let own = usize::from(self.dialect == Dialect::Sid) + 2 * usize::from(self.dialect.is_pi());
        let draft = &mut self.draft;
        let text = || match event {
            Event::String(text) => Some(unescaped(text)),
            _ => None,
        };
        let number = || match event {
            Event::Number(text) => std::str::from_utf8(text).ok().and_then(|n| n.parse::<f64>().ok()),
            _ => None,
        };
        match (place, key) {
            (Place::Top, "type") => draft.type_name = text(),
            (Place::Top, "key") => draft.key = text(),
            (Place::Top, "uuid") => draft.uuid = id_of(event),
            (Place::Top, "id") => draft.id = id_of(event),
            (Place::Top, "timestamp") => draft.time = text().unwrap_or_default(),
            (Place::Top, "costUSD") => draft.cost = number(),
            (Place::Top, "message") => {
                draft.blocks.clear();
                draft.role.clear();
            }
            (Place::Top, "isMeta" | "isCompactSummary" | "isSidechain" | "teamName") => {
                draft.not_typed |= is_true(event);
            }
            (Place::Top, "isApiErrorMessage") => draft.api_error = is_true(event),
            (Place::Top | Place::Message, "model") => {
                draft.answered |= place == Place::Top;
                draft.model = text().unwrap_or_else(|| std::mem::take(&mut draft.model));
            }
            (Place::Top | Place::Message, "role") => draft.role = text().unwrap_or_default(),
            (Place::Top, "msgId") => draft.answered = true,
            (Place::Message, "id" | "responseId") => draft.message_id = text().filter(|id| !id.is_empty()),
            (Place::Message, "stopReason" | "stop_reason") if self.dialect != Dialect::Sid => {
                draft.stop = text().unwrap_or_default();
            }
            (Place::Message, "toolCallId") => draft.call = text().unwrap_or_default(),
            (Place::Top | Place::Message, "provider") => draft.provider = text().or(draft.provider.take()),
            (Place::Top | Place::Message, "content") => {
                draft.blocks.clear();
                if let Some(text) = text() {
                    draft.blocks.push(Block { kind: "(string)".to_owned(), text, ..Block::default() });
                }
            }
            (Place::Top, key) if CONTEXT.contains(&key) => draft.answered = true,
            (Place::Meta, "origin") => {
                draft.origin = text().is_some_and(|word| !word.is_empty() && word != "command-expansion");
            }
            (Place::Content, _) => draft.blocks.push(Block::default()),
            (Place::Block, _) => {
                if let (Some(block), Some(text)) = (draft.blocks.last_mut(), text()) {
                    match key {
                        "type" => block.kind = text,
                        "text" => block.text = text,
                        "id" => block.id = text,
                        "tool_use_id" => block.answers = text,
                        _ => {}
                    }
                }
            }
            (Place::Usage, _) => {
                const NAMES: [[&str; 3]; 4] = [
                    ["input_tokens", "inputTokens", "input"],
                    ["output_tokens", "outputTokens", "output"],
                    ["cache_read_input_tokens", "cacheReadInputTokens", "cacheRead"],
                    ["cache_creation_input_tokens", "cacheCreationInputTokens", "cacheWrite"],
                ];
                if let (Some(n), Some(tokens)) = (NAMES.iter().position(|names| names[own] == key), &mut draft.tokens) {
                    let whole = number().filter(|n| n.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(n));
                    tokens[n] = whole.map(|n| n as u64);
                }
            }
            (Place::Cost, "total") => draft.cost = number(),
            (Place::Model, _) => {
                const NAMES: [&str; 6] = [
                    "requests",
                    "cumulativePromptTokens",
                    "outputTokens",
                    "cacheReadInputTokens",
                    "cacheCreationInputTokens",
                    "costUSD",
                ];
                if let (Some(n), Some((_, row))) = (NAMES.iter().position(|name| *name == key), draft.models.last_mut())
                {
                    row[n] = number().filter(|n| n.is_finite() && *n >= 0.0);
                }
            }
            _ => {}
        }
    }

    fn seen(&mut self) -> Seen {
        let draft = std::mem::take(&mut self.draft);
        if !draft.object {
            return Seen::default();
        }
        let type_name = draft.type_name.clone().unwrap_or_default();
        let user = match self.dialect {
            Dialect::Sid => type_name == "user_message" || type_name == "tool_result",
            Dialect::Claude => type_name == "user",
            _ => type_name == "message" && matches!(draft.role.as_str(), "user" | "toolResult"),
        };
        let result_message = match self.dialect {
            Dialect::Sid => type_name == "tool_result",
            Dialect::Claude => false,
            _ => draft.role == "toolResult" && type_name == "message",
        };
        let is_pi_result = result_message && self.dialect.is_pi();
        let (call, result) = if self.dialect.is_pi() { ("toolCall", None) } else { ("tool_use", Some("tool_result")) };
        let results = draft.blocks.iter().filter(|b| Some(b.kind.as_str()) == result).count();
        let results = if is_pi_result { 1 } else { results };
        let blocks = if is_pi_result { 1 } else { draft.blocks.len() };
        let opening = draft.blocks.first().filter(|b| matches!(b.kind.as_str(), "text" | "(string)"));
        let not_typed =
            draft.not_typed || draft.origin || self.subagent || opening.is_some_and(|b| is_clients(&b.text));
        let sort = match results {
            _ if !user => Sort::None,
            0 if result_message => Sort::Results,
            0 if not_typed => Sort::NotTyped,
            0 => Sort::Prompt,
            n if n == blocks => Sort::Results,
            _ => Sort::Mixed,
        };
        let is_assistant = match self.dialect {
            Dialect::Sid => type_name == "assistant_message",
            Dialect::Claude => type_name == "assistant",
            _ => type_name == "message" && draft.role == "assistant",
        };
        let calls = draft.blocks.iter().filter(|b| b.kind == call);
        let answers = draft.blocks.iter().filter(|b| Some(b.kind.as_str()) == result).map(|b| b.answers.clone());
        let id = if self.dialect.is_pi() { &draft.id } else { &draft.uuid };
        let metadata = self.dialect == Dialect::Sid && type_name == "metadata";
        let key = metadata.then(|| draft.key.clone().unwrap_or_default());
        let stats = key.as_deref() == Some("usage_stats") && draft.value_object;
        Seen {
            key: key.clone(),
            sort,
            results: u32::try_from(results).unwrap_or(u32::MAX),
            calls: if is_pi_result { Vec::new() } else { calls.map(|b| b.id.clone()).collect() },
            answers: if is_pi_result { vec![draft.call.clone()] } else { answers.collect() },
            is_end: self.dialect == Dialect::Sid && type_name == "session_end",
            is_assistant,
            response: draft.message_id.clone().filter(|_| self.dialect == Dialect::Claude && is_assistant),
            stats: stats.then(|| Stats { id: id.clone(), models: draft.models.clone() }),
            provider: draft.provider.clone(),
            is_trace: key.as_deref() == Some("trace_session_id"),
            answered: draft.answered,
            usage: draft.tokens.map(|tokens| self.used(&draft, &type_name, tokens)),
            type_name: Some(type_name),
        }
    }

    fn used(&self, draft: &Draft, type_name: &str, tokens: [Option<u64>; 4]) -> Used {
        let key = match self.dialect {
            // Only a model's record is a row of a response.
            Dialect::Claude if draft.message_id.is_some() && type_name == "assistant" => draft.message_id.clone(),
            Dialect::Pi | Dialect::Openclaw => draft.id.as_ref().map(|id| format!("{id}@{}", draft.time)),
            _ => draft.uuid.clone(),
        };
        let failed = draft.api_error || self.dialect.is_pi() && matches!(draft.stop.as_str(), "error" | "aborted");
        let nothing = tokens.iter().all(|n| n.unwrap_or(0) == 0);
        let model = match (self.dialect, type_name) {
            (Dialect::Pi | Dialect::Openclaw, "message") if draft.role == "toolResult" => "(calls inside tools)",
            (Dialect::Sid, "tool_result") => "(calls inside tools)",
            (Dialect::Pi | Dialect::Openclaw, "compaction" | "branch_summary") | (Dialect::Sid, "context_compact") => {
                "(summaries)"
            }
            _ if draft.model.is_empty() => "(not named)",
            _ => &draft.model,
        };
        Used {
            key,
            model: model.to_owned(),
            tokens,
            cost: draft.cost.filter(|cost| (0.0..1e9).contains(cost)),
            made_up: (self.dialect == Dialect::Claude && draft.model == "<synthetic>") || (nothing && failed),
        }
    }
}

/// Fields of sid-code's messages that its loader copies into them.
const CONTEXT: [&str; 5] = ["usage", "stopReason", "cwd", "gitBranch", "permissionMode"];

/// An id that is a string, or a number or another scalar as it is spelled; none for null.
fn id_of(event: Event<'_>) -> Option<String> {
    match event {
        Event::String(text) => Some(format!("\"{}", unescaped(text))),
        Event::Number(text) => Some(String::from_utf8_lossy(text).into_owned()),
        Event::Truth(truth) => Some(truth.to_string()),
        _ => None,
    }
}

fn is_true(event: Event<'_>) -> bool {
    match event {
        Event::Truth(truth) => truth,
        Event::String(text) => !text.is_empty(),
        Event::Number(text) => text.iter().take_while(|b| !matches!(b, b'e' | b'E')).any(|b| matches!(b, b'1'..=b'9')),
        _ => false,
    }
}

/// Whether a text is one that the client wrote in the user's place.
fn is_clients(text: &str) -> bool {
    const OPENINGS: [&str; 7] = [
        "[Request interrupted by user",
        "<command-name>",
        "<command-message>",
        "<local-command-",
        "<bash-input>",
        "<bash-stdout>",
        "<bash-stderr>",
    ];
    OPENINGS.iter().any(|opening| text.starts_with(opening))
}
