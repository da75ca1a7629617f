//! A prediction as JSON. The places of a layer may be many: they are written while the file is read again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::json;
use super::json_head::{Each, Head, IdField, PathField};
use super::scan_json::ResumeJson;
use crate::audit::SessionAudit;
use crate::predict::ended::Crash;
use crate::predict::{Ended, Prediction, State, Stopped};
use crate::record::reread::Reread;
use crate::session::Session;
use crate::store;

/// What the reports of a prediction are made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The session.
    pub session: &'a Session,
    /// Its verdicts, as `scan` has them.
    pub audit: &'a SessionAudit,
    /// What a resume would do.
    pub prediction: &'a Prediction,
    /// Versions of the agent that wrote it.
    pub versions: &'a BTreeSet<String>,
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
}

#[derive(Serialize)]
struct Document<'a, L: Serialize> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    path: PathField,
    agent: &'static str,
    versions: &'a BTreeSet<String>,
    loader: &'static str,
    loadable: bool,
    /// Why it is not loadable, or why the agent gives up after loading it.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'a str>,
    resume: ResumeJson,
    interruption: InterruptionJson<'a>,
    ended: EndedJson<'a>,
    states: Vec<StateJson<'a>>,
    layers: Vec<LayerJson<L>>,
    safe_tail: TailJson,
}

#[derive(Serialize)]
struct InterruptionJson<'a> {
    state: &'static str,
    tools: &'a [String],
    next: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<String>,
}

impl<'a> InterruptionJson<'a> {
    fn new(stopped: &'a Stopped) -> Self {
        let doubt = (!stopped.doubts.is_empty()).then(|| stopped.doubts.join("; "));
        InterruptionJson { state: stopped.state, tools: &stopped.tools, next: &stopped.next, doubt }
    }
}

#[derive(Serialize)]
struct EndedJson<'a> {
    /// null for agents and formats that write no end mark.
    end_mark: Option<bool>,
    process: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    crash: Option<CrashJson<'a>>,
}

#[derive(Serialize)]
struct CrashJson<'a> {
    #[serde(flatten)]
    path: PathField,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_stop_reason: Option<&'a str>,
    terminal_closed: bool,
}

impl<'a> EndedJson<'a> {
    fn new(ended: &'a Ended) -> Self {
        EndedJson {
            end_mark: ended.end_mark,
            process: process_name(ended.process),
            crash: ended.crash.as_ref().map(|crash: &Crash| CrashJson {
                path: PathField::from(crash.path.as_path()),
                session_id: crash.session_id.as_deref(),
                timestamp: crash.timestamp.as_deref(),
                signal: crash.signal.as_deref(),
                last_tool: crash.last_tool.as_deref(),
                last_stop_reason: crash.last_stop_reason.as_deref(),
                terminal_closed: crash.terminal_closed,
            }),
        }
    }
}

/// The word for a registered process.
pub(super) fn process_name(state: store::State) -> &'static str {
    match state {
        store::State::Alive => "alive",
        store::State::Dead => "dead",
        store::State::Recycled => "recycled",
        store::State::Unknown => "unknown",
    }
}

#[derive(Serialize)]
struct StateJson<'a> {
    name: &'static str,
    outcome: &'static str,
    #[serde(flatten)]
    path: Option<PathField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

impl<'a> StateJson<'a> {
    fn new(state: &'a State) -> Self {
        StateJson {
            name: state.name,
            outcome: state.outcome.name(),
            path: state.path.as_deref().map(PathField::from),
            line: state.line,
            note: state.note.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct LayerJson<L: Serialize> {
    name: &'static str,
    messages_dropped: u32,
    blocks_dropped: u32,
    places: L,
}

#[derive(Serialize)]
struct PlaceJson {
    line: u32,
    #[serde(flatten)]
    id: IdField,
}

#[derive(Serialize)]
struct TailJson {
    asked: usize,
    start: usize,
    messages: usize,
}

/// Writes the document.
///
/// # Errors
/// Whatever the writer says.
pub fn document(writer: impl Write, report: &Report<'_>) -> io::Result<()> {
    let (session, prediction) = (report.session, report.prediction);
    let reread = RefCell::new(Reread::new(&session.source, session.agent));
    // Each answer is taken before the next is asked for: two borrows at once would be a defect.
    let place = |n: &u32| {
        let id = reread.borrow_mut().id(session.record(*n));
        PlaceJson { line: session.record(*n).line, id: IdField::from(id.as_ref()) }
    };
    let layers = prediction.layers.iter().map(|layer| LayerJson {
        name: layer.name,
        messages_dropped: layer.messages,
        blocks_dropped: layer.blocks,
        places: Each(|| layer.records.iter().map(place)),
    });
    let tail = prediction.safe_tail;
    json::document(
        writer,
        &Document {
            head: Head::new("predict", report.taken_at),
            path: PathField::from(session.path.as_path()),
            agent: session.agent_id.name(),
            versions: report.versions,
            loader: session.agent_id.loader(),
            loadable: prediction.loadable,
            refused: prediction.refused.as_deref(),
            resume: ResumeJson::new(report.audit),
            interruption: InterruptionJson::new(&prediction.interruption),
            ended: EndedJson::new(&prediction.ended),
            states: prediction.states.iter().map(StateJson::new).collect(),
            layers: layers.collect(),
            safe_tail: TailJson { asked: tail.asked, start: tail.start, messages: tail.messages },
        },
    )
}
