//! Claude Code: a record counted a second time.

use crate::agents::recount::{Blocks, cost, model, tokens};
use crate::metrics::cross_check::line::{Json, Seen, Sort, Used};

const TOKENS: [&str; 4] = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];

#[derive(Default)]
struct Line {
    type_name: String,
    uuid: Option<String>,
    message_id: Option<String>,
    model: String,
    blocks: Blocks,
    usage: Option<[Option<u64>; 4]>,
    cost: Option<f64>,
    not_typed: bool,
    api_error: bool,
}

/// A record; `typed`: whether it stands in a file in which somebody types.
pub(super) fn record(record: Json<'_>, typed: bool) -> Seen {
    let mut line = Line::default();
    for (key, value) in record.members() {
        match (key.as_str(), value) {
            ("message", message) => line.message(message),
            ("content", content) => line.blocks.take(content),
            (_, Json::Object(_) | Json::Array(_)) => {}
            ("type", scalar) => line.type_name = scalar.text().unwrap_or_default(),
            ("uuid", scalar) => line.uuid = scalar.id(),
            ("costUSD", scalar) => line.cost = scalar.number(),
            ("isMeta" | "isCompactSummary" | "isSidechain" | "teamName", scalar) => line.not_typed |= scalar.is_true(),
            ("isApiErrorMessage", scalar) => line.api_error = scalar.is_true(),
            _ => {}
        }
    }
    line.seen(typed)
}

impl Line {
    fn message(&mut self, message: Json<'_>) {
        self.blocks = Blocks::default();
        for (key, value) in message.members() {
            match (key.as_str(), value) {
                ("content", content) => self.blocks.take(content),
                ("usage", Json::Object(_)) => self.usage = Some(tokens(value, TOKENS)),
                (_, Json::Object(_) | Json::Array(_)) => {}
                ("id", scalar) => self.message_id = scalar.text().filter(|id| !id.is_empty()),
                ("model", Json::String(_)) => self.model = value.text().unwrap_or_default(),
                _ => {}
            }
        }
    }

    fn seen(self, typed: bool) -> Seen {
        let results = self.blocks.count("tool_result");
        let is_user = self.type_name == "user";
        let response = self.message_id.filter(|_| self.type_name == "assistant");
        let used = |tokens: [Option<u64>; 4]| Used {
            // Only a model's record is a row of a response.
            key: response.clone().or(self.uuid),
            model: model(&self.model).to_owned(),
            tokens,
            cost: cost(self.cost),
            made_up: self.model == "<synthetic>" || self.api_error && tokens.iter().all(|n| n.unwrap_or(0) == 0),
        };
        Seen {
            sort: if is_user { self.blocks.sort(results, typed && !self.not_typed) } else { Sort::None },
            results: u32::try_from(results).unwrap_or(u32::MAX),
            calls: self.blocks.ids("tool_use"),
            answers: self.blocks.answers("tool_result"),
            usage: self.usage.map(used),
            is_assistant: self.type_name == "assistant",
            response,
            type_name: Some(self.type_name),
            ..Seen::default()
        }
    }
}
