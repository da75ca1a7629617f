//! pi and OpenClaw: an entry counted a second time.

use crate::agents::recount::{Blocks, cost, model, tokens};
use crate::metrics::cross_check::line::{Json, Seen, Sort, Used};

const TOKENS: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];

#[derive(Default)]
struct Line {
    type_name: String,
    id: Option<String>,
    time: String,
    role: String,
    model: String,
    stop: String,
    call: String,
    blocks: Blocks,
    usage: Option<[Option<u64>; 4]>,
    cost: Option<f64>,
}

/// An entry; `typed`: whether it stands in a file in which somebody types.
pub(super) fn record(record: Json<'_>, typed: bool) -> Seen {
    let mut line = Line::default();
    for (key, value) in record.members() {
        match (key.as_str(), value) {
            ("message", message) => line.message(message),
            (_, Json::Object(_) | Json::Array(_)) => line.shared(&key, value),
            ("type", scalar) => line.type_name = scalar.text().unwrap_or_default(),
            ("id", scalar) => line.id = scalar.id(),
            ("timestamp", scalar) => line.time = scalar.text().unwrap_or_default(),
            _ => line.shared(&key, value),
        }
    }
    line.seen(typed)
}

impl Line {
    /// What may stand in an entry and in its message.
    fn shared(&mut self, key: &str, value: Json<'_>) {
        match (key, value) {
            ("content", content) => self.blocks.take(content),
            ("usage", Json::Object(_)) => {
                self.usage = Some(tokens(value, TOKENS));
                self.costs(value);
            }
            (_, Json::Object(_) | Json::Array(_)) => {}
            ("role", scalar) => self.role = scalar.text().unwrap_or_default(),
            ("model", Json::String(_)) => self.model = value.text().unwrap_or_default(),
            _ => {}
        }
    }

    fn costs(&mut self, usage: Json<'_>) {
        let costs = usage.members().into_iter().filter(|(key, _)| key == "cost");
        for (key, total) in costs.flat_map(|(_, cost)| cost.members()) {
            if key == "total" && !total.holds_more() {
                self.cost = total.number();
            }
        }
    }

    fn message(&mut self, message: Json<'_>) {
        self.blocks = Blocks::default();
        self.role.clear();
        if matches!(message, Json::Object(_)) {
            self.stop.clear();
        }
        for (key, value) in message.members() {
            match (key.as_str(), value) {
                (_, Json::Object(_) | Json::Array(_)) => self.shared(&key, value),
                ("stopReason", scalar) => self.stop = scalar.text().unwrap_or_default(),
                ("toolCallId", scalar) => self.call = scalar.text().unwrap_or_default(),
                _ => self.shared(&key, value),
            }
        }
    }

    fn seen(self, typed: bool) -> Seen {
        let is_message = self.type_name == "message";
        let is_result = is_message && self.role == "toolResult";
        let model = match self.type_name.as_str() {
            "message" if is_result => "(calls inside tools)",
            "compaction" | "branch_summary" => "(summaries)",
            _ => model(&self.model),
        };
        let failed = matches!(self.stop.as_str(), "error" | "aborted");
        let used = |tokens: [Option<u64>; 4]| Used {
            key: self.id.as_ref().map(|id| format!("{id}@{}", self.time)),
            model: model.to_owned(),
            tokens,
            cost: cost(self.cost),
            made_up: failed && tokens.iter().all(|n| n.unwrap_or(0) == 0),
        };
        Seen {
            sort: match self.role.as_str() {
                _ if is_result => Sort::Results,
                "user" if is_message => self.blocks.sort(0, typed),
                _ => Sort::None,
            },
            results: u32::from(is_result),
            calls: if is_result { Vec::new() } else { self.blocks.ids("toolCall") },
            answers: if is_result { vec![self.call.clone()] } else { Vec::new() },
            usage: self.usage.map(used),
            is_assistant: is_message && self.role == "assistant",
            type_name: Some(self.type_name),
            ..Seen::default()
        }
    }
}
