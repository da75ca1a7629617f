//! Held against its plan: the repaired bytes are read again by the same rooms, and everything that was announced of them
//! has to be there, and nothing else (law 10). What the plan itself went through on its way proves nothing here.
//!
//! Each function takes a session that was read from the bytes in question and returns what is wrong with it, in words
//! without message text. An empty list is the proof.

use std::io;

use super::agent::Writer;
use super::leaf;
use super::plan::{self, Options, State, state, state_after};
use super::text::Text;
use super::worse::{About, Bound, Seen, emptied, grown, tail_gone, worse};
use crate::finding::{Finding, Rule, codes};
use crate::rules::store::INCOMPLETE_FORK;
use crate::rules::{Examined, counted};
use crate::session::Session;
use crate::store::meter::Meter;

/// What a plan announced.
#[derive(Clone, Copy, Debug)]
pub struct Promise<'a> {
    /// How the file was.
    pub before: &'a State,
    /// How it will be.
    pub after: &'a State,
    /// The rules that the plan answers.
    pub answers: &'a [&'static Rule],
    /// How much its edits may take away.
    pub bound: Bound,
    /// The file with its edits.
    pub text: &'a Text,
}

/// What is wrong with a result.
#[derive(Debug, Default)]
pub struct Wrong {
    /// In words.
    pub told: Vec<String>,
    /// The rules by which it would change again if it were repaired once more.
    pub again: Vec<&'static Rule>,
}

/// The rules about a whole store, on the store as it was read with one file substituted.
#[derive(Clone, Copy)]
pub struct StoreRules<'a> {
    /// What they say of the store as it is.
    pub now: &'a [Finding],
    /// What they say with this session in the place of the file of its path.
    pub with: &'a (dyn Fn(&Session) -> Vec<Finding> + Sync),
}

/// The proof of a repair.
///
/// # Errors
/// When the bytes cannot be read again.
pub fn repaired(
    promise: &Promise<'_>,
    mut result: Examined,
    agent: &'static dyn Writer,
    options: &Options,
    store: Option<StoreRules<'_>>,
    meter: &Meter,
) -> io::Result<Wrong> {
    let then = state_after(&mut result, promise.before, options);
    let mut wrong = differences(promise.after, &then);
    let base = Text::new(promise.text.base());
    let bound = promise.bound.or_decided(leaf::uses(&result.session, &options.relink));
    wrong.extend(worse(Seen(promise.before, &base), Seen(&then, promise.text), bound)?.map(|w| w.why));
    wrong.extend(tail_gone(promise.before, &result.session, promise.bound));
    wrong.extend(emptied(&result.session));
    let more: Vec<&Rule> = grown(&promise.after.findings, &then.findings).collect();
    let still = promise.answers.iter().filter(|rule| more.contains(rule));
    wrong.extend(still.map(|rule| format!("{rule} is still there")));
    if let Some(store) = store {
        // What a fork lacks it lacked before: a record that can be read again says so.
        let fewer = then.messages.len() < promise.before.messages.len();
        let with = (store.with)(&result.session);
        let new = grown(store.now, &with).filter(|rule| fewer || *rule != &INCOMPLETE_FORK);
        wrong.extend(new.map(|rule| format!("{rule} would be new in the store")));
    }
    let again = plan::plan(result, agent, options, meter)?;
    if !again.is_empty() {
        wrong.push(format!("repaired once more it would change again ({})", codes(&again.answers)));
    }
    Ok(Wrong { told: wrong, again: again.answers })
}

/// The proof of late lines: `base` is the file without them. Where both files grew, the order of the records may be
/// another than that in which they were written; that is reported and repaired next, and only what would be lost counts.
///
/// # Errors
/// When the bytes cannot be read again.
pub fn late(base: &State, result: &Examined, options: &Options, both_grew: bool) -> io::Result<Vec<String>> {
    let then = state(result, options);
    if !both_grew {
        let wrong =
            appended(base, &then, &result.session)?.or_else(|| tail_gone(base, &result.session, Bound::gentle()));
        return Ok(wrong.into_iter().collect());
    }
    let fewer = then.messages.len() < base.messages.len();
    Ok(fewer.then(|| fewer_messages(&then, base)).into_iter().collect())
}

/// The proof of an undo whose original has lines behind it: with them it brings back no less than alone.
///
/// # Errors
/// When the bytes cannot be read again.
pub fn undone(original: &State, result: &Examined, options: &Options) -> io::Result<Vec<String>> {
    Ok(appended(original, &state(result, options), &result.session)?.into_iter().collect())
}

/// What is worse in a file that has more lines behind those that it had. Another branch is no matter of the repair then:
/// the agent wrote it.
fn appended(base: &State, then: &State, result: &Session) -> io::Result<Option<String>> {
    if then.messages.len() < base.messages.len() {
        return Ok(Some(fewer_messages(then, base)));
    }
    let text = Text::new(&result.source);
    let wrong = worse(Seen(base, &text), Seen(then, &text), Bound::gentle())?;
    Ok(wrong.filter(|w| !matches!(w.about, About::Messages | About::Api)).map(|w| w.why))
}

fn fewer_messages(is: &State, was: &State) -> String {
    format!("{} of {} messages would come back", is.messages.len(), was.messages.len())
}

/// In what a state is not the announced one.
fn differences(announced: &State, then: &State) -> Vec<String> {
    let mut wrong = Vec::new();
    if then.messages != announced.messages {
        wrong.push(match then.messages.len() == announced.messages.len() {
            true => "other messages would come back than announced".to_owned(),
            false => format!(
                "{} would come back, {} were announced",
                counted(then.messages.len() as u64, "message"),
                announced.messages.len()
            ),
        });
    }
    if then.resume.verdict != announced.resume.verdict {
        let (is, said) = (then.resume.verdict.name(), announced.resume.verdict.name());
        wrong.push(format!("a resume would be {is}, {said} was announced"));
    }
    if (then.api, &then.api_rules) != (announced.api, &announced.api_rules) {
        wrong.push(format!("the API would say {}, {} was announced", then.api.name(), announced.api.name()));
    }
    wrong.extend(grown(&announced.findings, &then.findings).map(|rule| format!("{rule} would be new")));
    wrong
}
