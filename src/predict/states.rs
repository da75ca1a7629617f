//! One line of the inventory: a state of the agent, what becomes of it on a resume, and the evidence.

use std::path::PathBuf;

/// What becomes of a state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// Taken back as it was stored.
    Restored,
    /// Taken back after something was left out, filled in or replaced.
    Normalised,
    /// Stored, and not taken back.
    Ignored,
    /// At its end: there is nothing to go on with.
    Final,
    /// Not stored.
    Missing,
    /// Stored, and cannot be taken back.
    Failed,
    /// What decides it could not be read, or no open reader shows what becomes of it.
    Unknown,
}

impl Outcome {
    /// The word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Restored => "restored",
            Outcome::Normalised => "normalised",
            Outcome::Ignored => "ignored",
            Outcome::Final => "final",
            Outcome::Missing => "missing",
            Outcome::Failed => "failed",
            Outcome::Unknown => "unknown",
        }
    }
}

/// A state of the agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Which one.
    pub name: &'static str,
    /// What becomes of it.
    pub outcome: Outcome,
    /// The file beside the session that decides it.
    pub path: Option<PathBuf>,
    /// The line of the session that decides it.
    pub line: Option<u32>,
    /// What is worth knowing: counts and names, never message text.
    pub note: Option<String>,
}

impl State {
    /// A state without evidence.
    pub(crate) fn new(name: &'static str, outcome: Outcome, note: impl Into<String>) -> Self {
        State { name, outcome, path: None, line: None, note: Some(note.into()) }
    }

    /// The same, decided on this line.
    pub(crate) fn at(mut self, line: impl Into<Option<u32>>) -> Self {
        self.line = line.into();
        self
    }

    /// The same, decided by this file.
    pub(crate) fn by(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// States of a session that is not brought back: what was stored in it or for it stays where it is. `free` are those
/// that do not hang on the session.
pub(crate) fn not_reached(states: &mut [State], free: &[&str]) {
    for state in states.iter_mut().filter(|state| !free.contains(&state.name)) {
        if matches!(state.outcome, Outcome::Restored | Outcome::Normalised | Outcome::Ignored | Outcome::Final) {
            state.outcome = Outcome::Failed;
            state.note = Some("stored, and not reached: the session is not brought back".to_owned());
        }
    }
}

/// How much of a name out of a session a note quotes.
const QUOTED: usize = 80;

/// A name out of a session in quotes; a long one is cut.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("'{}…'", &text[..at]),
        None => format!("'{text}'"),
    }
}

/// Whether JavaScript's `trim` leaves nothing.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(quoted("ab"), "'ab'");
        assert_eq!(quoted(&"漢".repeat(81)), format!("'{}…'", "漢".repeat(80)));
        assert!(is_blank(" \u{feff}\u{3000}\n") && !is_blank("\u{85}"));
    }
}
