//! What agents share when a record is counted a second time (`metrics::cross_check`). None of it is used by the reader, so
//! that a mistake in one count is not in the other.

use crate::metrics::cross_check::line::{Json, Sort};

/// The blocks of a record's content.
#[derive(Debug, Default)]
pub(super) struct Blocks(pub(super) Vec<Block>);

/// One block.
#[derive(Debug, Default)]
pub(super) struct Block {
    kind: String,
    text: String,
    id: String,
    answers: String,
}

impl Blocks {
    /// Takes these in the place of all before them.
    pub(super) fn take(&mut self, content: Json<'_>) {
        self.0 = match content.text() {
            Some(text) => vec![Block { kind: "(string)".to_owned(), text, ..Block::default() }],
            None => content.elements().into_iter().map(Block::of).collect(),
        };
    }

    fn of_kind(&self, kind: &str) -> impl Iterator<Item = &Block> {
        self.0.iter().filter(move |block| block.kind == kind)
    }

    /// How many are of this type.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.of_kind(kind).count()
    }

    /// The ids of those of this type.
    pub(super) fn ids(&self, kind: &str) -> Vec<String> {
        self.of_kind(kind).map(|block| block.id.clone()).collect()
    }

    /// The calls that those of this type answer.
    pub(super) fn answers(&self, kind: &str) -> Vec<String> {
        self.of_kind(kind).map(|block| block.answers.clone()).collect()
    }

    /// Whether the first is a text that the client wrote in the user's place.
    pub(super) fn open_as_clients(&self) -> bool {
        const OPENINGS: [&str; 7] = [
            "[Request interrupted by user",
            "<command-name>",
            "<command-message>",
            "<local-command-",
            "<bash-input>",
            "<bash-stdout>",
            "<bash-stderr>",
        ];
        let text = self.0.first().filter(|block| matches!(block.kind.as_str(), "text" | "(string)"));
        text.is_some_and(|block| OPENINGS.iter().any(|opening| block.text.starts_with(opening)))
    }

    /// What a record in the user's place is that has so many results.
    pub(super) fn sort(&self, results: usize, typed: bool) -> Sort {
        match results {
            0 if !typed || self.open_as_clients() => Sort::NotTyped,
            0 => Sort::Prompt,
            n if n == self.0.len() => Sort::Results,
            _ => Sort::Mixed,
        }
    }
}

impl Block {
    fn of(element: Json<'_>) -> Block {
        let mut block = Block::default();
        for (key, value) in element.members() {
            let field = match key.as_str() {
                "type" => &mut block.kind,
                "text" => &mut block.text,
                "id" => &mut block.id,
                "tool_use_id" => &mut block.answers,
                _ => continue,
            };
            if let Some(text) = value.text() {
                *field = text;
            }
        }
        block
    }
}

/// What a response used, by the keys for input, output, cache read and cache write.
pub(super) fn tokens(usage: Json<'_>, names: [&str; 4]) -> [Option<u64>; 4] {
    let mut tokens = [None; 4];
    for (key, value) in usage.members() {
        if let Some(n) = names.iter().position(|name| *name == key)
            && !value.holds_more()
        {
            let whole = value.number().filter(|n| n.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(n));
            tokens[n] = whole.map(|n| n as u64);
        }
    }
    tokens
}

/// A model's name in the figures.
pub(super) fn model(name: &str) -> &str {
    if name.is_empty() { "(not named)" } else { name }
}

/// A cost that can be one.
pub(super) fn cost(dollars: Option<f64>) -> Option<f64> {
    dollars.filter(|dollars| (0.0..1e9).contains(dollars))
}
