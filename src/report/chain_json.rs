//! One session's chain as JSON. Lists may have a million rows: each is written while the file is read again, none is
//! held.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::chain_autopsy::Autopsy;
use super::chain_readers::{Reader, readers};
use super::finding_json::{FindingJson, Under, findings};
use super::json_head::{Each, Head, IdField, PathField};
use super::scan_json::{ApiJson, ResumeJson};
use super::suggest::Next;
use super::{chain_anchors, chain_autopsy, json};
use crate::audit::SessionAudit;
use crate::audit::id_lookup::Seen;
use crate::chain::linear::Linear;
use crate::chain::survey::{Branch, Break, Survey};
use crate::checkpoint::anchors::Anchor;
use crate::record::blocks::{self, BlockView};
use crate::record::facts::{Id, NO_TIME};
use crate::record::reread::Reread;
use crate::record::{reread, time};
use crate::request::tail::Tail;
use crate::rules::baseline::Baseline;
use crate::session::Session;
use crate::text::Text;

/// What the reports of a chain are made of.
#[derive(Debug)]
pub struct Report<'a> {
    /// The session. With `--leaf` its chain is that of the leaf that was asked for.
    pub session: &'a Session,
    /// Its verdicts and findings, which are about the chain that a resume takes.
    pub audit: &'a SessionAudit,
    /// Whether another leaf than the loader's was asked for.
    pub other_leaf: bool,
    /// How it hangs together.
    pub survey: &'a Survey,
    /// Where parents that are missing here were seen.
    pub seen: &'a HashMap<Id, Seen>,
    /// Its path below its store.
    pub below: &'a Path,
    /// Versions of the agent that wrote it.
    pub versions: &'a BTreeSet<String>,
    /// Findings that are known.
    pub known: &'a Baseline,
    /// When it was taken, in milliseconds since 1970.
    pub taken_at: i64,
    /// The safe tail, when one was asked for.
    pub tail: Option<&'a Tail>,
    /// The places of one code laid out, when they were asked for.
    pub autopsy: Option<&'a Autopsy<'a>>,
    /// The last prompts and their snapshots, when they were asked for.
    pub anchors: Option<&'a [Anchor]>,
    /// The line-by-line reader, when it was asked for.
    pub linear: Option<&'a Linear>,
    /// Whether pages are to show more of each list.
    pub verbose: bool,
    /// Whether messages are listed with their blocks, and whether with their text.
    pub blocks: Option<bool>,
}

#[derive(Serialize)]
struct Document<'a, L1, L2, L3, L4, L5, L6, L7, L8, L9, L10>
where
    L1: Serialize,
    L2: Serialize,
    L3: Serialize,
    L4: Serialize,
    L5: Serialize,
    L6: Serialize,
    L7: Serialize,
    L8: Serialize,
    L9: Serialize,
    L10: Serialize,
{
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    path: PathField,
    agent: &'static str,
    versions: &'a BTreeSet<String>,
    mode: &'static str,
    loader: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    readers: Vec<Reader<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resume: Option<ResumeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<ApiJson<'a>>,
    path_stats: StatsJson,
    heads: L1,
    leaves: L2,
    leaf: Option<PlaceJson>,
    adopted: L3,
    messages: L4,
    skipped: L5,
    branches: L6,
    breaks: L7,
    #[serde(skip_serializing_if = "Option::is_none")]
    tail: Option<TailJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compare: Option<LinearJson<L8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    autopsy: Option<L9>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anchors: Option<L10>,
    findings: Vec<FindingJson<'a>>,
}

/// A record by line and id.
#[derive(Serialize)]
pub(super) struct PlaceJson {
    line: u32,
    #[serde(flatten)]
    id: IdField,
}

#[derive(Serialize)]
struct StatsJson {
    depth: u64,
    messages: u64,
    tool_calls: u64,
    error_results: u64,
}

#[derive(Serialize)]
struct AdoptedJson {
    #[serde(flatten)]
    place: PlaceJson,
    #[serde(rename = "type")]
    type_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
}

#[derive(Serialize)]
struct MessageJson {
    #[serde(flatten)]
    place: PlaceJson,
    role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<BlockJson>>,
}

#[derive(Serialize)]
struct BlockJson {
    #[serde(rename = "type")]
    kind: String,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl From<BlockView> for BlockJson {
    fn from(view: BlockView) -> Self {
        BlockJson { kind: view.kind, bytes: view.bytes, name: view.name, call: view.call, text: view.text }
    }
}

#[derive(Serialize)]
struct SkippedJson {
    #[serde(flatten)]
    place: PlaceJson,
    reason: &'static str,
}

#[derive(Serialize)]
struct BranchJson {
    leaf: PlaceJson,
    fork: Option<PlaceJson>,
    records: u32,
    messages: u32,
    first: Option<String>,
    last: Option<String>,
    adopted: bool,
}

#[derive(Serialize)]
struct BreakJson {
    #[serde(flatten)]
    place: PlaceJson,
    gap: &'static str,
    missing_parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_parent_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen_in: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen_in_raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen_at_line: Option<u32>,
}

#[derive(Serialize)]
struct TailJson {
    asked: usize,
    messages: usize,
    start: Option<PlaceJson>,
    plain_start: Option<PlaceJson>,
    a_plain_cut_would_break: Vec<PlaceJson>,
}

#[derive(Serialize)]
struct LinearJson<M: Serialize> {
    reader: &'static str,
    messages: u64,
    mixed: M,
    missed: Vec<PlaceJson>,
    out_of_order: u64,
}

/// Reads records again for lists that are written one after the other. Each answer is taken before the next is asked
/// for, so the reader is borrowed once at a time.
pub(super) struct Rows<'a> {
    session: &'a Session,
    again: RefCell<Reread<'a>>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Rows { session, again: RefCell::new(Reread::new(&session.source, session.agent)) }
    }

    pub(super) fn id(&self, n: u32) -> Option<Text> {
        self.again.borrow_mut().id(self.session.record(n))
    }

    pub(super) fn type_name(&self, n: u32) -> Option<String> {
        self.again.borrow_mut().type_name(self.session.record(n))
    }

    pub(super) fn role(&self, n: u32) -> Option<String> {
        self.again.borrow_mut().role(self.session.record(n))
    }

    pub(super) fn parent(&self, n: u32) -> Option<Text> {
        self.again.borrow_mut().parent(self.session.record(n))
    }

    pub(super) fn blocks(&self, n: u32, content: bool) -> Vec<BlockView> {
        let text = reread::text(&self.session.source, self.session.record(n)).unwrap_or_default();
        blocks::blocks(&text, self.session.agent, content)
    }

    pub(super) fn place(&self, n: u32) -> PlaceJson {
        let id = self.id(n);
        PlaceJson { line: self.session.record(n).line, id: IdField::from(id.as_ref()) }
    }

    fn message(&self, n: u32, blocks: Option<bool>) -> MessageJson {
        MessageJson {
            place: self.place(n),
            role: self.role(n),
            bytes: blocks.map(|_| self.session.record(n).length),
            blocks: blocks.map(|content| self.blocks(n, content).into_iter().map(BlockJson::from).collect()),
        }
    }

    fn branch(&self, branch: &Branch) -> BranchJson {
        let when = |ms: i64| (ms != NO_TIME).then(|| time::format(ms));
        BranchJson {
            leaf: self.place(branch.leaf),
            fork: branch.fork.map(|n| self.place(n)),
            records: branch.records,
            messages: branch.messages,
            first: when(branch.times.0),
            last: when(branch.times.1),
            adopted: branch.adopted,
        }
    }

    fn broken(&self, broken: &Break, seen: &HashMap<Id, Seen>) -> BreakJson {
        let parent = self.parent(broken.child);
        let seen = seen.get(&self.session.record(broken.child).parent);
        let file = seen.map(|seen| PathField::from(seen.path.as_path()));
        BreakJson {
            place: self.place(broken.child),
            gap: broken.gap.name(),
            missing_parent: parent.as_ref().map(Text::lossy),
            missing_parent_raw: parent.as_ref().and_then(Text::raw_hex),
            seen_in: file.as_ref().map(|file| file.path.clone()),
            seen_in_raw: file.and_then(|file| file.path_raw),
            seen_at_line: seen.map(|seen| seen.line),
        }
    }
}

/// Writes the document.
///
/// # Errors
/// Whatever the writer says.
pub fn document(writer: impl Write, report: &Report<'_>) -> io::Result<()> {
    let (session, survey) = (report.session, report.survey);
    let rows = Rows::new(session);
    let messages: &[u32] = if session.chain.refusal.is_none() { &session.chain.messages } else { &[] };
    let shown = report.tail.map_or(messages, Tail::kept);
    let next = Next { path: &session.path, shape: session.shape, mends: report.audit.mends() };
    let under = Under { below: report.below, next };
    let others = if report.other_leaf { Vec::new() } else { session.other_readings() };
    let own = (!report.other_leaf).then_some(report.audit);
    let document = Document {
        head: Head::new("chain", report.taken_at),
        path: PathField::from(session.path.as_path()),
        agent: session.agent_id.name(),
        versions: report.versions,
        mode: session.chain.mode.name(),
        loader: session.agent_id.loader(),
        readers: own.map_or_else(Vec::new, |_| readers(session, &others)),
        resume: own.map(ResumeJson::new),
        api: own.map(ApiJson::new),
        path_stats: StatsJson {
            depth: survey.stats.depth,
            messages: survey.stats.messages,
            tool_calls: survey.stats.tool_calls,
            error_results: survey.stats.error_results,
        },
        heads: Each(|| survey.heads.iter().map(|&n| rows.place(n))),
        leaves: Each(|| survey.leaves.iter().map(|&n| rows.place(n))),
        leaf: session.chain.leaf.map(|n| rows.place(n)),
        adopted: Each(|| {
            session.chain.adopted.iter().map(|&n| AdoptedJson {
                place: rows.place(n),
                type_name: rows.type_name(n),
                role: rows.role(n),
            })
        }),
        messages: Each(|| shown.iter().map(|&n| rows.message(n, report.blocks))),
        skipped: Each(|| {
            survey.skipped().map(|(n, reason)| SkippedJson { place: rows.place(n), reason: reason.name() })
        }),
        branches: Each(|| survey.branches.iter().map(|branch| rows.branch(branch))),
        breaks: Each(|| survey.breaks.iter().map(|broken| rows.broken(broken, report.seen))),
        tail: report.tail.map(|tail| TailJson {
            asked: tail.asked,
            messages: shown.len(),
            start: tail.messages.get(tail.start).map(|&n| rows.place(n)),
            plain_start: tail.messages.get(tail.plain).map(|&n| rows.place(n)),
            a_plain_cut_would_break: tail.broken.iter().map(|&n| rows.place(n)).collect(),
        }),
        compare: report.linear.map(|linear| LinearJson {
            reader: "linear",
            messages: linear.messages,
            mixed: Each(|| {
                linear.mixed.iter().map(|&n| SkippedJson {
                    place: rows.place(n),
                    reason: survey.reason(n).map_or("no_message", |reason| reason.name()),
                })
            }),
            missed: linear.missed.iter().map(|&n| rows.place(n)).collect(),
            out_of_order: linear.out_of_order,
        }),
        autopsy: report.autopsy.map(|autopsy| chain_autopsy::laid_out(autopsy, &rows)),
        anchors: report.anchors.map(|anchors| chain_anchors::list(anchors, &rows)),
        findings: findings(report.audit.findings(), under, report.known),
    };
    json::document(writer, &document)
}
