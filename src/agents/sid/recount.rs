//! sid-code: a record counted a second time.

use crate::agents::recount::{Blocks, model, tokens};
use crate::metrics::cross_check::line::{Json, Seen, Sort, Stats, Used};

/// Fields of a message that the loader copies into it.
const CONTEXT: [&str; 5] = ["usage", "stopReason", "cwd", "gitBranch", "permissionMode"];
const TOKENS: [&str; 4] = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
/// Figures of a model in the running totals.
const TOTALS: [&str; 6] = [
    "requests",
    "cumulativePromptTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
    "costUSD",
];

#[derive(Default)]
struct Line {
    type_name: String,
    key: String,
    uuid: Option<String>,
    model: String,
    blocks: Blocks,
    usage: Option<[Option<u64>; 4]>,
    origin: bool,
    answered: bool,
    totals: Option<Vec<(String, [Option<f64>; 6])>>,
}

/// A record; `typed`: whether it stands in a file in which somebody types.
pub(super) fn record(record: Json<'_>, typed: bool) -> Seen {
    let mut line = Line::default();
    for (key, value) in record.members() {
        line.answered |= CONTEXT.contains(&key.as_str()) || matches!(key.as_str(), "model" | "msgId");
        match (key.as_str(), value) {
            ("message", message) => line.message(message),
            ("content", content) => line.blocks.take(content),
            ("usage", Json::Object(_)) => line.usage = Some(tokens(value, TOKENS)),
            ("value", Json::Object(_)) => line.totals = Some(totals(value)),
            ("value", Json::Array(_)) => line.totals = None,
            (_, Json::Object(_) | Json::Array(_)) => {}
            ("type", scalar) => line.type_name = scalar.text().unwrap_or_default(),
            ("key", scalar) => line.key = scalar.text().unwrap_or_default(),
            ("uuid", scalar) => line.uuid = scalar.id(),
            ("model", Json::String(_)) => line.model = value.text().unwrap_or_default(),
            _ => {}
        }
    }
    line.seen(typed)
}

fn totals(value: Json<'_>) -> Vec<(String, [Option<f64>; 6])> {
    let mut models: Vec<(String, [Option<f64>; 6])> = Vec::new();
    for (_, usage) in value.members().into_iter().filter(|(key, v)| key == "modelUsage" && matches!(v, Json::Object(_)))
    {
        models.clear();
        for (name, figures) in usage.members().into_iter().filter(|(_, v)| matches!(v, Json::Object(_))) {
            let mut row = [None; 6];
            for (key, figure) in figures.members() {
                if let Some(n) = TOTALS.iter().position(|name| *name == key)
                    && !figure.holds_more()
                {
                    row[n] = figure.number().filter(|n| n.is_finite() && *n >= 0.0);
                }
            }
            // A name that stands twice: the last one counts.
            models.retain(|(held, _)| *held != name);
            models.push((name, row));
        }
    }
    models
}

impl Line {
    fn message(&mut self, message: Json<'_>) {
        self.blocks = Blocks::default();
        for (key, value) in message.members() {
            match (key.as_str(), value) {
                ("content", content) => self.blocks.take(content),
                ("_meta", Json::Object(_)) => self.meta(value),
                _ => {}
            }
        }
    }

    fn meta(&mut self, meta: Json<'_>) {
        for (_, value) in meta.members().into_iter().filter(|(key, value)| key == "origin" && !value.holds_more()) {
            self.origin = value.text().is_some_and(|word| !word.is_empty() && word != "command-expansion");
        }
    }

    fn seen(self, typed: bool) -> Seen {
        let results = self.blocks.count("tool_result");
        let key = (self.type_name == "metadata").then_some(self.key);
        let sort = match self.type_name.as_str() {
            "tool_result" if results == 0 => Sort::Results,
            "tool_result" | "user_message" => self.blocks.sort(results, typed && !self.origin),
            _ => Sort::None,
        };
        let model = match self.type_name.as_str() {
            "tool_result" => "(calls inside tools)",
            "context_compact" => "(summaries)",
            _ => model(&self.model),
        };
        let used = |tokens| Used { key: self.uuid.clone(), model: model.to_owned(), tokens, ..Used::default() };
        let totals = self.totals.filter(|_| key.as_deref() == Some("usage_stats"));
        Seen {
            sort,
            results: u32::try_from(results).unwrap_or(u32::MAX),
            calls: self.blocks.ids("tool_use"),
            answers: self.blocks.answers("tool_result"),
            usage: self.usage.map(used),
            is_end: self.type_name == "session_end",
            is_assistant: self.type_name == "assistant_message",
            response: None,
            stats: totals.map(|models| Stats { id: self.uuid.clone(), models }),
            is_trace: key.as_deref() == Some("trace_session_id"),
            answered: self.answered,
            key,
            type_name: Some(self.type_name),
        }
    }
}
