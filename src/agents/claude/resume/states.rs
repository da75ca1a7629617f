//! Claude Code's inventory. Its client is closed, so each state is told by what the session's rows say: rows beside the
//! conversation are rewritten many times and the last one counts; an empty tag is a cleared one; a worktree that is null
//! was left; a backup that a file-history row names must lie in its folder. Where no open reader shows what becomes of a
//! state the outcome is `unknown`, with the evidence.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use crate::predict::Around;
use crate::predict::states::{Outcome, State, not_reached, quoted};
use crate::record::facts::{BlockKind, Id, Kind, Record, flag};
use crate::record::json::Kind as Json;
use crate::record::reread;
use crate::record::reread::Reread;
use crate::record::value::Value;
use crate::session::{Session, ids};
use crate::store::Handle;
use crate::text::counted;

const PERMISSION_MODE: &str = "permission mode";

/// The inventory of one session.
pub(super) fn states(session: &Session, around: Around<'_>, refused: Option<&str>) -> Vec<State> {
    let rows = Rows::read(session);
    let mut states = vec![
        messages(session, refused),
        file_history(session, &rows, around),
        todos(session),
        agent(session, &rows),
        mode(&rows),
        worktree(&rows),
        titles(&rows),
        collapse(session, &rows),
        permission_mode(session, &rows),
    ];
    if refused.is_some() {
        not_reached(&mut states, &["messages", PERMISSION_MODE]);
    }
    states
}

/// What a row says that the last of its kind decides.
#[derive(Clone, Debug)]
struct Said {
    line: u32,
    /// The word, none for null and for what is no string.
    word: Option<String>,
    /// How many such rows there are.
    rows: u32,
}

/// A summary of a stretch that the client folded away.
#[derive(Debug)]
struct Fold {
    line: u32,
    first: Option<Id>,
    last: Option<Id>,
}

/// The rows beside the conversation, read once from front to back.
#[derive(Debug, Default)]
struct Rows {
    /// By type.
    said: BTreeMap<&'static str, Said>,
    /// Names of backups, with the first line that names each.
    backups: BTreeMap<String, u32>,
    /// How many file-history rows there are, and the last.
    history: (u32, u32),
    folds: Vec<Fold>,
}

/// The type of a row and the field that holds its word.
const WORDS: [(&str, &[&str]); 9] = [
    ("custom-title", &["customTitle"]),
    ("ai-title", &["aiTitle"]),
    ("agent-name", &["agentName"]),
    ("agent-color", &["agentColor"]),
    ("agent-setting", &["agentSetting"]),
    ("tag", &["tag"]),
    ("mode", &["mode"]),
    ("permission-mode", &["permissionMode"]),
    ("worktree-state", &["worktreeSession", "worktreePath"]),
];

impl Rows {
    fn read(session: &Session) -> Rows {
        let mut rows = Rows::default();
        let mut reread = Reread::new(&session.source, session.agent);
        for record in &session.facts.records {
            if !matches!(record.kind, Kind::Metadata | Kind::FileSnapshot | Kind::FileDelta | Kind::Other) {
                continue;
            }
            if record.has(flag::LOSSY) {
                let text = reread::text(&session.source, record).unwrap_or_default();
                rows.take(record, &text);
            } else {
                rows.take(record, reread.range(record.offset, record.length as usize));
            }
        }
        rows
    }

    fn take(&mut self, record: &Record, text: &[u8]) {
        let Some(value) = Value::parse(text) else { return };
        match record.kind {
            Kind::FileSnapshot => {
                self.history = (self.history.0 + 1, record.line);
                if let Some(files) = value.at(&["snapshot", "trackedFileBackups"]) {
                    files.each_member(|_, backup| self.backup(backup, record.line));
                }
            }
            Kind::FileDelta => {
                self.history = (self.history.0 + 1, record.line);
                if let Some(backup) = value.get("backup") {
                    self.backup(backup, record.line);
                }
            }
            _ => self.word(record, value),
        }
    }

    fn backup(&mut self, backup: Value<'_>, line: u32) {
        if let Some(name) = backup.get("backupFileName").and_then(|n| n.string()) {
            self.backups.entry(name).or_insert(line);
        }
    }

    fn word(&mut self, record: &Record, value: Value<'_>) {
        let Some(name) = value.get("type").and_then(|t| t.string()) else { return };
        if name == "marble-origami-commit" {
            let id = |key: &str| value.get(key).and_then(|v| v.text()).map(|t| Id::of(t.as_bytes()));
            let fold = Fold { line: record.line, first: id("firstArchivedUuid"), last: id("lastArchivedUuid") };
            self.folds.push(fold);
            return;
        }
        if let Some((name, path)) = WORDS.iter().find(|(known, _)| *known == name) {
            let rows = self.said.get(name).map_or(0, |s| s.rows) + 1;
            let word = value.at(path).and_then(|v| v.string());
            self.said.insert(name, Said { line: record.line, word, rows });
        }
    }

    /// The last word of a type, when there is one that is not empty.
    fn word_of(&self, name: &str) -> Option<(&Said, &str)> {
        let said = self.said.get(name)?;
        Some((said, said.word.as_deref().filter(|word| !word.is_empty())?))
    }
}

fn messages(session: &Session, refused: Option<&str>) -> State {
    const NAME: &str = "messages";
    if let Some(why) = refused {
        return State::new(NAME, Outcome::Failed, why);
    }
    let count = session.chain.messages.len();
    let note = format!("{} from the leaf upwards, as the open loader takes them", counted(count, "message"));
    State::new(NAME, Outcome::Restored, note).at(session.chain.leaf.map(|n| session.record(n).line))
}

/// A rewind needs the backups; the rows alone bring no file back.
fn file_history(session: &Session, rows: &Rows, around: Around<'_>) -> State {
    const NAME: &str = "file history";
    let (count, last) = rows.history;
    if count == 0 {
        return State::new(NAME, Outcome::Missing, "no snapshot row");
    }
    let named = rows.backups.len();
    let told = format!("{} naming {}", counted(count as usize, "row"), counted(named, "backup"));
    if named == 0 {
        return State::new(NAME, Outcome::Restored, told).at(last);
    }
    let Some(store) = around.store else {
        return State::new(NAME, Outcome::Unknown, format!("{told}; where they would lie is not known")).at(last);
    };
    let id = ids::implied_id(&session.path, session.agent, session.shape).lossy();
    let folder = store.join("file-history").join(&id);
    let there = names_in(store, &id);
    let gone: Vec<(&String, &u32)> = rows.backups.iter().filter(|(name, _)| !there.contains(*name)).collect();
    match gone.first() {
        None => State::new(NAME, Outcome::Restored, format!("{told}, all there")).at(last),
        Some((_, line)) if gone.len() == named => {
            State::new(NAME, Outcome::Failed, format!("{told}; none of them is there")).at(**line)
        }
        Some((name, line)) => State::new(
            NAME,
            Outcome::Normalised,
            format!("{told}; {} not there, the first is {}", gone.len(), quoted(name)),
        )
        .at(**line),
    }
    .by(folder)
}

fn names_in(store: &Path, id: &str) -> HashSet<String> {
    let folder = Handle::open_root(store)
        .and_then(|home| home.child(OsStr::new("file-history")))
        .and_then(|history| history.child(OsStr::new(id)));
    let entries = folder.map(|folder| folder.list(usize::MAX).0).unwrap_or_default();
    entries.into_iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect()
}

/// The list is what the last call of the tool gave; whether a resume takes it up is the client's own matter.
fn todos(session: &Session) -> State {
    const NAME: &str = "todos";
    let facts = &session.facts;
    let tool = facts.names.find(b"TodoWrite");
    let calls =
        |n: &&u32| facts.blocks_of(session.record(**n)).iter().any(|b| b.kind == BlockKind::Call && b.name == tool);
    let last = if tool == 0 { None } else { session.chain.adopted.iter().rev().find(calls) };
    match last {
        None => State::new(NAME, Outcome::Missing, "no list was written on the chain"),
        Some(&n) => {
            let record = session.record(n);
            let items = written(session, record).map(|n| format!(" with {}", counted(n, "item"))).unwrap_or_default();
            let note = format!("the last list{items}; no open reader shows whether it comes back");
            State::new(NAME, Outcome::Unknown, note).at(record.line)
        }
    }
}

fn written(session: &Session, record: &Record) -> Option<usize> {
    let text = reread::text(&session.source, record).ok()?;
    let content = Value::parse(&text)?.at(&["message", "content"])?.items();
    let call = content.iter().rev().find(|b| b.get("name").and_then(|n| n.string()).as_deref() == Some("TodoWrite"))?;
    let todos = call.at(&["input", "todos"])?;
    (todos.kind() == Json::Array).then(|| todos.items().len())
}

fn agent(session: &Session, rows: &Rows) -> State {
    const NAME: &str = "agent type and model";
    let facts = &session.facts;
    let mut spoken = session.chain.adopted.iter().rev().map(|&n| session.record(n));
    let model = spoken.find(|r| r.kind == Kind::Assistant && r.model != 0 && !r.has(flag::SYNTHETIC));
    let answered = model.map(|r| format!("{} answered last", quoted(&facts.names.text(r.model))));
    match (rows.word_of("agent-setting"), answered) {
        (Some((said, agent)), answered) => {
            let by = answered.map(|a| format!("; {a}")).unwrap_or_default();
            State::new(NAME, Outcome::Restored, format!("agent {}{by}", quoted(agent))).at(said.line)
        }
        (None, Some(answered)) => {
            let note = format!("no agent is set; {answered}, and the settings decide which does next");
            State::new(NAME, Outcome::Missing, note).at(model.map(|r| r.line))
        }
        (None, None) => State::new(NAME, Outcome::Missing, "no agent is set, and no model answered"),
    }
}

fn mode(rows: &Rows) -> State {
    const NAME: &str = "mode";
    match rows.word_of("mode") {
        Some((said, mode)) => {
            let known = matches!(mode, "normal" | "coordinator");
            let outcome = if known { Outcome::Restored } else { Outcome::Unknown };
            State::new(NAME, outcome, quoted(mode)).at(said.line)
        }
        None => State::new(NAME, Outcome::Missing, "no mode row: the normal one"),
    }
}

fn worktree(rows: &Rows) -> State {
    const NAME: &str = "worktree";
    let Some(said) = rows.said.get("worktree-state") else {
        return State::new(NAME, Outcome::Missing, "no worktree was entered");
    };
    let Some(path) = &said.word else {
        return State::new(NAME, Outcome::Final, "left before the end").at(said.line);
    };
    let share = path.starts_with("\\\\") || path.starts_with("//");
    let state = match Path::new(path) {
        // A path out of a session is looked at on this machine only.
        there if share || !there.is_absolute() => {
            State::new(NAME, Outcome::Unknown, format!("{} is no path of this machine", quoted(path)))
        }
        there if there.is_dir() => State::new(NAME, Outcome::Restored, format!("{} is there", quoted(path))),
        _ => State::new(NAME, Outcome::Failed, format!("{} is not on this machine", quoted(path))),
    };
    state.at(said.line)
}

fn titles(rows: &Rows) -> State {
    const NAME: &str = "titles";
    let kinds = ["custom-title", "ai-title", "agent-name", "agent-color", "tag"];
    let found: Vec<(&str, &Said)> = kinds.into_iter().filter_map(|kind| Some((kind, rows.said.get(kind)?))).collect();
    let Some(line) = found.iter().map(|(_, said)| said.line).max() else {
        return State::new(NAME, Outcome::Missing, "none was given");
    };
    // A title may be made of the conversation's own words, so it is counted and not shown.
    let each: Vec<String> = found
        .iter()
        .map(|(kind, said)| match said.word.as_deref() {
            None | Some("") => format!("{kind} cleared"),
            Some(_) if said.rows > 1 => format!("{kind} (the last of {})", said.rows),
            Some(_) => (*kind).to_owned(),
        })
        .collect();
    let cleared = found.iter().all(|(_, said)| said.word.as_deref().is_none_or(str::is_empty));
    let outcome = if cleared { Outcome::Missing } else { Outcome::Restored };
    State::new(NAME, outcome, each.join(", ")).at(line)
}

/// Stretches that the client shows folded. The open loader brings them back unfolded.
fn collapse(session: &Session, rows: &Rows) -> State {
    const NAME: &str = "context collapse";
    let Some(last) = rows.folds.last() else {
        return State::new(NAME, Outcome::Missing, "nothing was folded away");
    };
    let found = |id: Option<Id>| id.is_some_and(|id| session.graph.find(id, &session.facts).is_some());
    let lost = rows.folds.iter().find(|fold| !found(fold.first) || !found(fold.last));
    let count = counted(rows.folds.len(), "stretch").replace("stretchs", "stretches");
    match lost {
        Some(fold) => State::new(
            NAME,
            Outcome::Failed,
            format!("{count}; the one of this row names a record that is not in the file"),
        )
        .at(fold.line),
        None => State::new(
            NAME,
            Outcome::Unknown,
            format!("{count}; the client folds them again, the open loader brings them back whole"),
        )
        .at(last.line),
    }
}

fn permission_mode(session: &Session, rows: &Rows) -> State {
    /// How far back a prompt is looked for that tells a mode.
    const FAR: usize = 64;
    const UNKNOWN: &str = "no open reader shows whether it comes back";
    if let Some((said, mode)) = rows.word_of("permission-mode") {
        return State::new(PERMISSION_MODE, Outcome::Unknown, format!("{}; {UNKNOWN}", quoted(mode))).at(said.line);
    }
    let prompts = session.chain.adopted.iter().rev().map(|&n| session.record(n)).filter(|r| r.kind == Kind::User);
    let told = prompts.take(FAR).find_map(|r| {
        let mode = reread::field(&session.source, r, &["permissionMode"])?;
        Some((mode.lossy(), r.line))
    });
    match told {
        Some((mode, line)) => {
            State::new(PERMISSION_MODE, Outcome::Unknown, format!("{}; {UNKNOWN}", quoted(&mode))).at(line)
        }
        None => State::new(PERMISSION_MODE, Outcome::Missing, "none is stored"),
    }
}
