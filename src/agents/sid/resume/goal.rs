//! sid-code's goal: a JSON string inside JSON, read a second time by the agent. A goal that was reached, given up or
//! cleared is at its end; one that cannot be read is left, with a line in the log and nothing for the user.

use super::stored::Stored;
use crate::predict::states::{Outcome, State, quoted};
use crate::record::json::{Grammar, Kind, Scratch, check};
use crate::record::value::Value;

const NAME: &str = "goal";
/// What `/clear` writes over a goal.
const CLEARED: &str = "__CLEARED__";
/// At these the agent does not take a goal up again.
const ENDS: [&str; 2] = ["complete", "impossible"];
/// What the agent fills in where it is missing or null.
const FILLED: [&str; 7] = ["id", "objective", "tokensUsed", "turnsUsed", "maxTurns", "createdAt", "updatedAt"];

/// What becomes of the stored goal.
pub(super) fn goal(stored: Option<&Stored>) -> State {
    let line = stored.and_then(|s| s.line);
    let state = |outcome, note: &str| State::new(NAME, outcome, note).at(line);
    let Some(value) = stored.and_then(Stored::truthy) else {
        return match stored {
            None => state(Outcome::Missing, "no goal was set"),
            Some(_) => state(Outcome::Missing, "an empty value is stored"),
        };
    };
    let text = match value.kind() {
        Kind::String => value.string().unwrap_or_default(),
        // JSON.parse takes the text of what it is given: "5" of a number, "[object Object]" of an object.
        Kind::Object => return state(Outcome::Failed, "an object is stored where a JSON string is due"),
        Kind::Array => return state(Outcome::Unknown, "a list is stored where a JSON string is due"),
        _ => String::from_utf8_lossy(value.raw()).into_owned(),
    };
    if text == CLEARED {
        return state(Outcome::Final, "cleared by the user");
    }
    if check(text.as_bytes(), Grammar::default(), &mut Scratch::default()).is_err() {
        return state(Outcome::Failed, "the stored string is no JSON");
    }
    match Value::parse(text.as_bytes()) {
        Some(goal) if goal.kind() == Kind::Object => of_object(goal, line),
        Some(goal) if goal.kind() != Kind::Null => {
            state(Outcome::Normalised, "no object is stored: an active goal without words is made of it")
        }
        _ => state(Outcome::Failed, "the stored string is null"),
    }
}

fn of_object(goal: Value<'_>, line: Option<u32>) -> State {
    let there = |key: &str| goal.get(key).filter(|v| v.kind() != Kind::Null);
    let status = there("status").map(|v| v.string().unwrap_or_default());
    let named = status.as_deref().unwrap_or("active");
    if ENDS.contains(&named) {
        return State::new(NAME, Outcome::Final, format!("its status is {}: not taken up again", quoted(named)))
            .at(line);
    }
    let missing: Vec<&str> = FILLED.into_iter().filter(|key| there(key).is_none()).collect();
    let log = there("evidenceLog").is_some_and(|v| v.kind() == Kind::Array);
    let note = format!("its status is {}", quoted(named));
    if missing.is_empty() && status.is_some() && log {
        return State::new(NAME, Outcome::Restored, note).at(line);
    }
    State::new(NAME, Outcome::Normalised, format!("{note}; what is missing in it is filled in")).at(line)
}
