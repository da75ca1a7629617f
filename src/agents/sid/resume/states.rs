//! sid-code's inventory. What is stored in the session is metadata: of each key the last value on the accepted chain, and
//! only when JavaScript takes it for true. Each state is taken back by its own code, which fills in or leaves out what it
//! cannot use and never stops the resume; the only thing that does is the cleaning of the messages.
//!
//! What an environment variable, the configuration or the directory of the next start decides is not known here: the
//! notes name it, and the outcome is that of a start in the session's own directory without such a variable.

use super::stored::{Metadata, Stored, beside_messages};
use super::{goal, sidecar_files};
use crate::chain::Mode;
use crate::predict::Around;
use crate::predict::states::{Outcome, State, is_blank, not_reached, quoted};
use crate::record::facts::{Kind, flag};
use crate::record::json::Kind as Json;
use crate::record::reread;
use crate::record::value::Value;
use crate::request::{Request, tail};
use crate::session::{Session, Shape};
use crate::text::counted;

/// The permission mode: each start decides it anew.
const PERMISSION_MODE: &str = "permission mode";
/// The agent names at most so many changed files to the model.
const NAMED_FILES: usize = 20;

/// The inventory of one session.
pub(super) fn states(session: &Session, request: &Request, around: Around<'_>, refused: Option<&str>) -> Vec<State> {
    let metadata = Metadata::of(session);
    let setting = metadata.last("agent_setting");
    let directory = directory(session);
    let mut states = vec![
        messages(session, request, refused),
        model(session, setting.as_ref()),
        usage(metadata.last("usage_stats").as_ref()),
        changed_files(metadata.last("file_changes").as_ref()),
        todo(metadata.last("todo_state").as_ref()),
        working_directory(directory.as_ref()),
        effort(setting.as_ref()),
        goal::goal(metadata.last("goal_state").as_ref()),
        sidecar_files::sidechains(session, around),
        sidecar_files::worktree(directory.as_ref().map(|d| d.0.as_str())),
        sidecar_files::progress(session, around),
        hypotheses(metadata.last("hypothesis_ledger").as_ref()),
        permission_mode(session, setting.as_ref()),
    ];
    if refused.is_some() {
        not_reached(&mut states, &["messages", sidecar_files::WORKTREE, PERMISSION_MODE]);
    }
    states
}

fn messages(session: &Session, request: &Request, refused: Option<&str>) -> State {
    const NAME: &str = "messages";
    if let Some(why) = refused {
        let line = request.throws.map(|n| session.record(n).line);
        return State::new(NAME, Outcome::Failed, why).at(line);
    }
    let (loaded, cleaned) = (session.chain.messages.len(), request.cleaned_count());
    if loaded == 0 {
        return State::new(NAME, Outcome::Missing, "the session holds no message");
    }
    let summary = session.has_summary();
    let shown = tail::shown(&session.facts, request, summary);
    let mut note = format!("{cleaned} of {loaded} stay");
    if shown < cleaned {
        note.push_str(&format!(", the last {shown} are shown to the model"));
        note.push_str(if summary { " behind a summary of the rest" } else { "; nothing stands for the rest" });
    }
    if session.chain.mode == Mode::Linear {
        note.push_str("; taken in the order of the file, branches mixed");
    }
    let as_stored = request.drops.is_empty() && shown == loaded;
    State::new(NAME, if as_stored { Outcome::Restored } else { Outcome::Normalised }, note)
}

/// Only the agent's setting is read back; the model of the start record is what the session began with.
fn model(session: &Session, setting: Option<&Stored>) -> State {
    const NAME: &str = "model and provider";
    let line = setting.and_then(|s| s.line);
    let model = setting.and_then(Stored::truthy).and_then(|v| v.get("model")).filter(Value::truthy);
    match model.map(|m| (m.kind(), m.string())) {
        Some((Json::String, Some(name))) => State::new(
            NAME,
            Outcome::Restored,
            format!("{}, through the provider that the configuration has for it", quoted(&name)),
        )
        .at(line),
        Some(_) => State::new(NAME, Outcome::Unknown, "the stored model is no name").at(line),
        None => began_with(session, NAME),
    }
}

fn began_with(session: &Session, name: &'static str) -> State {
    let (model, provider, line) = match start(session) {
        Some(record) => {
            let model = reread::field(&session.source, record, &["model"]).map(|t| t.lossy());
            let provider = reread::field(&session.source, record, &["provider"]).map(|t| t.lossy());
            (model, provider, Some(record.line))
        }
        None => (beside_messages(session, "model"), beside_messages(session, "provider"), None),
    };
    let Some(model) = model.filter(|m| !m.is_empty()) else {
        return State::new(name, Outcome::Missing, "the configuration of the next start decides");
    };
    let provider = provider.filter(|p| !p.is_empty()).map(|p| format!(" of {}", quoted(&p))).unwrap_or_default();
    let note = format!(
        "began with {}{provider}; only a change is stored to be read back, so the configuration decides",
        quoted(&model)
    );
    State::new(name, Outcome::Ignored, note).at(line)
}

/// The start record that the loader takes: the last one on the accepted chain.
fn start(session: &Session) -> Option<&crate::record::facts::Record> {
    session.chain.adopted.iter().rev().map(|&n| session.record(n)).find(|r| r.kind == Kind::Start)
}

/// The totals are filled with zeros where they are no numbers.
fn usage(stored: Option<&Stored>) -> State {
    const NAME: &str = "usage";
    const TOTALS: [&str; 4] = ["totalCostUSD", "sideCostUSD", "totalAPIDuration", "totalToolDuration"];
    const OF_MODEL: [&str; 9] = [
        "inputTokens",
        "stockPromptTokens",
        "cumulativePromptTokens",
        "outputTokens",
        "cacheReadInputTokens",
        "cacheCreationInputTokens",
        "requests",
        "costUSD",
        "cacheSavingsUSD",
    ];
    let (value, line) = match container(NAME, stored, "no totals are stored: they begin at zero") {
        Ok(found) => found,
        Err(state) => return state,
    };
    let number = |v: Value<'_>, key: &str| v.get(key).is_some_and(|n| n.kind() == Json::Number);
    let whole = TOTALS.iter().all(|key| number(value, key));
    let models = value.get("modelUsage").map(|m| m.members()).unwrap_or_default();
    let (mut kept, mut sound) = (0, value.get("modelUsage").is_some_and(|m| m.kind() == Json::Object));
    for (_, model) in &models {
        let object = matches!(model.kind(), Json::Object | Json::Array);
        kept += usize::from(object);
        let provider = model.get("provider").is_some_and(|p| p.kind() == Json::String);
        sound &= object && provider && OF_MODEL.iter().all(|key| number(*model, key));
    }
    let note = format!("totals of {}", counted(kept, "model"));
    if whole && sound {
        return State::new(NAME, Outcome::Restored, note).at(line);
    }
    State::new(NAME, Outcome::Normalised, format!("{note}; zero where a figure is missing")).at(line)
}

fn changed_files(stored: Option<&Stored>) -> State {
    const NAME: &str = "changed files";
    let line = stored.and_then(|s| s.line);
    let Some(value) = stored.and_then(Stored::truthy) else {
        return State::new(NAME, Outcome::Missing, "no changed file is stored").at(line);
    };
    let Some(files) = value.get("files").filter(|f| f.kind() == Json::Array) else {
        return State::new(NAME, Outcome::Ignored, "no list of files is stored").at(line);
    };
    let items = files.items();
    let names = items.iter().filter(|f| f.kind() == Json::String).count();
    let mut note = counted(names, "file");
    if names > NAMED_FILES {
        note.push_str(&format!("; the model is told of the first {NAMED_FILES}"));
    }
    match (names, items.len() - names) {
        (0, 0) => State::new(NAME, Outcome::Restored, "an empty list").at(line),
        (_, 0) => State::new(NAME, Outcome::Restored, note).at(line),
        (_, left) => State::new(NAME, Outcome::Normalised, format!("{note}; {left} without a name left out")).at(line),
    }
}

/// Items without words or with another status than the three are left out. When all are done the list is stored empty,
/// and beside it what it was.
fn todo(stored: Option<&Stored>) -> State {
    const NAME: &str = "todo";
    let (value, line) = match container(NAME, stored, "no list is stored") {
        Ok(found) => found,
        Err(state) => return state,
    };
    let Some(todos) = value.get("todos").filter(|t| t.kind() == Json::Array) else {
        return State::new(NAME, Outcome::Ignored, "no list of items is stored").at(line);
    };
    let items = todos.items();
    let sound: Vec<String> = items.iter().filter_map(|item| status(*item)).collect();
    if items.is_empty() {
        let last = value.get("lastWritten").map(|l| l.items()).unwrap_or_default();
        let done = last.iter().filter(|item| status(**item).is_some()).count();
        return match done {
            0 => State::new(NAME, Outcome::Restored, "an empty list").at(line),
            n => State::new(NAME, Outcome::Final, format!("all done: {}", counted(n, "item"))).at(line),
        };
    }
    let of = |word: &str| sound.iter().filter(|s| *s == word).count();
    let note = format!(
        "{}: {} done, {} under way, {} open",
        counted(sound.len(), "item"),
        of("completed"),
        of("in_progress"),
        of("pending")
    );
    match items.len() - sound.len() {
        0 => State::new(NAME, Outcome::Restored, note).at(line),
        left => State::new(NAME, Outcome::Normalised, format!("{note}; {left} left out")).at(line),
    }
}

/// The status of an item that the agent takes back.
fn status(item: Value<'_>) -> Option<String> {
    let words = |key: &str| item.get(key).and_then(|v| v.string()).is_some_and(|text| !is_blank(&text));
    let status = item.get("status")?.string()?;
    let known = matches!(status.as_str(), "pending" | "in_progress" | "completed");
    (known && words("content") && words("activeForm")).then_some(status)
}

/// The directory that the session began in, and its line.
fn directory(session: &Session) -> Option<(String, Option<u32>)> {
    if session.shape == Shape::Legacy {
        return Some((beside_messages(session, "cwd").filter(|cwd| !cwd.is_empty())?, None));
    }
    let mut starts = session.chain.adopted.iter().rev().map(|&n| session.record(n));
    let record = starts.find(|r| r.kind == Kind::Start && r.cwd != 0)?;
    let cwd = session.facts.names.text(record.cwd);
    (!cwd.is_empty()).then_some((cwd, Some(record.line)))
}

fn working_directory(directory: Option<&(String, Option<u32>)>) -> State {
    const NAME: &str = "working directory";
    match directory {
        None => State::new(NAME, Outcome::Missing, "no directory is stored"),
        Some((cwd, line)) => State::new(
            NAME,
            Outcome::Ignored,
            format!("{} is not entered; a start in another project is only warned of", quoted(cwd)),
        )
        .at(*line),
    }
}

/// null is stored for "as the model has it".
fn effort(setting: Option<&Stored>) -> State {
    const NAME: &str = "effort and thinking";
    let line = setting.and_then(|s| s.line);
    let value = setting.and_then(Stored::truthy);
    let of = |key: &str| value.and_then(|v| v.get(key));
    let word = |v: Value<'_>| match v.kind() {
        Json::Null => Some("auto".to_owned()),
        Json::String => v.string(),
        _ => None,
    };
    let (effort, thinking) = (of("effortLevel"), of("thinking"));
    if effort.is_none() && thinking.is_none() {
        return State::new(NAME, Outcome::Missing, "the model's own values hold").at(line);
    }
    let (effort, thinking) = (effort.map(word), thinking.map(word));
    let known = |value: &Option<Option<String>>, words: &[&str]| match value {
        None => true,
        Some(Some(word)) => words.contains(&word.as_str()),
        Some(None) => false,
    };
    let shown = |value: Option<Option<String>>| match value {
        None => "not stored".to_owned(),
        Some(Some(word)) => quoted(&word),
        Some(None) => "no word".to_owned(),
    };
    let sound =
        known(&effort, &["auto", "low", "medium", "high", "xhigh", "max"]) && known(&thinking, &["auto", "on", "off"]);
    let note = format!(
        "effort {}, thinking {}; a level that the model does not take is replaced, and a variable of the environment wins",
        shown(effort),
        shown(thinking)
    );
    State::new(NAME, if sound { Outcome::Restored } else { Outcome::Unknown }, note).at(line)
}

/// The register of hypotheses is off unless a variable turns it on; then its whole items come back.
fn hypotheses(stored: Option<&Stored>) -> State {
    const NAME: &str = "hypothesis ledger";
    let (value, line) = match container(NAME, stored, "no ledger is stored") {
        Ok(found) => found,
        Err(state) => return state,
    };
    let Some(list) = value.get("items").filter(|i| i.kind() == Json::Array) else {
        return State::new(NAME, Outcome::Ignored, "no list of hypotheses is stored").at(line);
    };
    let items = list.items();
    let word = |item: &Value<'_>, key: &str| item.get(key).and_then(|v| v.string()).filter(|text| !text.is_empty());
    let kept = |item: &&Value<'_>| {
        ["id", "statement", "falsifier"].iter().all(|key| word(item, key).is_some())
            && word(item, "status").is_some_and(|s| matches!(s.as_str(), "open" | "confirmed" | "refuted"))
    };
    let sound = items.iter().filter(kept).count();
    if items.is_empty() {
        return State::new(NAME, Outcome::Restored, "an empty ledger").at(line);
    }
    let count = if sound == 1 { "1 hypothesis".to_owned() } else { format!("{sound} hypotheses") };
    let note = format!("{count}, where SID_ENABLE_HYPOTHESIS=1 turns the ledger on");
    match items.len() - sound {
        0 => State::new(NAME, Outcome::Restored, note).at(line),
        left => State::new(NAME, Outcome::Normalised, format!("{note}; {left} left out")).at(line),
    }
}

/// By design: what was allowed once is not allowed again unasked.
fn permission_mode(session: &Session, setting: Option<&Stored>) -> State {
    const BY_DESIGN: &str = "deliberately not restored: each start decides it anew";
    let found = setting.and_then(|s| Some((s.value()?.get("permissionMode")?.string()?, s.line)));
    let found = found.or_else(|| {
        let chain = session.chain.adopted.iter().rev().map(|&n| session.record(n));
        chain.filter(|r| r.kind == Kind::User && r.has(flag::CONTEXT_FIELDS)).find_map(|r| {
            let mode = reread::field(&session.source, r, &["permissionMode"])?;
            Some((mode.lossy(), Some(r.line)))
        })
    });
    match found {
        Some((mode, line)) => {
            State::new(PERMISSION_MODE, Outcome::Ignored, format!("{} is stored; {BY_DESIGN}", quoted(&mode))).at(line)
        }
        None => State::new(PERMISSION_MODE, Outcome::Ignored, BY_DESIGN),
    }
}

/// The stored object (or list, which JavaScript takes for one), or what to say where there is none.
fn container<'s>(
    name: &'static str,
    stored: Option<&'s Stored>,
    missing: &str,
) -> Result<(Value<'s>, Option<u32>), State> {
    let line = stored.and_then(|s| s.line);
    match stored.and_then(Stored::truthy) {
        None => Err(State::new(name, Outcome::Missing, missing).at(line)),
        Some(value) if matches!(value.kind(), Json::Object | Json::Array) => Ok((value, line)),
        Some(_) => Err(State::new(name, Outcome::Ignored, "no object is stored").at(line)),
    }
}
