//! `chain`: how one session hangs together.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use clap::Args;

use super::failure::{Failure, written};
use super::input::Input;
use super::interrupt;
use super::options::{Form, OneFile, Output, Policy, Reading};
use super::status::Status;
use crate::agents;
use crate::agents::registry;
use crate::audit::id_lookup::{self, Seen};
use crate::audit::mend::{self, Again};
use crate::audit::{self, PLACES, layers, summary};
use crate::chain::survey::{Gap, Survey};
use crate::chain::{Chain, Mode, Stop, linear};
use crate::checkpoint::anchors::{self, Anchor};
use crate::finding::{Family, Rule};
use crate::record::facts::Id;
use crate::record::reread::Reread;
use crate::report::chain_autopsy::{self, Autopsy};
use crate::report::out::Out;
use crate::report::{chain_anchors, chain_json, chain_table, chain_tree, chain_views, html};
use crate::request::tail::Tail;
use crate::rules::{Context, Examined};
use crate::session::{Session, Shape};
use crate::store::liveness;
use crate::store::meter::Meter;
use crate::store::{self, Environment};

/// How one session hangs together: what a resume brings back, and what it leaves.
///
/// Heads are records without a parent, leaves records without a child. The agent's own loader takes one leaf and walks
/// up from it; what it does not meet does not come back. Shown are its path, the branches that it leaves, and each break
/// with both ends.
#[derive(Args, Debug)]
pub struct Arguments {
    #[command(flatten)]
    session: OneFile,
    /// Draw it: the adopted chain as a trunk, branches where they part
    #[arg(long, group = "view")]
    tree: bool,
    /// Print the adopted records as they stand in the file
    #[arg(long, group = "view", conflicts_with = "format")]
    emit: bool,
    /// List the messages that come back, with kinds and sizes of their blocks
    #[arg(long, group = "view")]
    messages: bool,
    /// Show what another kind of reader would have mixed in
    #[arg(long, group = "view", value_enum, value_name = "READER")]
    compare: Option<Reader>,
    /// The last N messages that stand by themselves, and what a plain cut would have broken
    #[arg(long, group = "view", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tail: Option<u32>,
    /// Lay out the records around each place of a finding, with how calls and results are paired there; no message text
    #[arg(long, group = "view", value_name = "CODE", conflicts_with = "leaf")]
    autopsy: Option<String>,
    /// The last 30 prompts, each with the snapshot that a rewind goes to, and whether it brings every file back
    #[arg(long, group = "view")]
    anchors: bool,
    /// Follow the chain of this record instead of the loader's leaf
    ///
    /// Fails when there is no such record, when its path meets a missing parent or a loop, or when any id of the file
    /// is borne by two different records: no path is certain then. Damage elsewhere does not matter.
    #[arg(long, value_name = "ID")]
    leaf: Option<String>,
    #[command(flatten)]
    form: Form<Format>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    policy: Policy,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Format {
    /// a page for people
    #[default]
    Table,
    /// one document
    Json,
    /// one page with a drawing, for a browser
    Html,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Reader {
    /// every message in the order of the file, whichever branch it is on
    Linear,
}

/// Runs the command.
///
/// # Errors
/// When the input cannot be read or the report cannot be written; findings are no error.
pub fn run(arguments: &Arguments) -> anyhow::Result<Status> {
    let (gate, known) = (arguments.policy.gate()?, arguments.policy.known()?);
    let rule = arguments.autopsy.as_deref().map(finding_named).transpose()?;
    let meter = interrupt::meter()?;
    let mut input = Input::find(std::slice::from_ref(&arguments.session.file), &arguments.reading)?;
    let session = match input.session(&arguments.session.file, &meter) {
        Err(_) if meter.stopped() => return Ok(Status::Interrupted),
        read => read?,
    };
    let now = arguments.reading.now();
    let (registrations, _) = liveness::registrations(&input.discovery);
    let live = audit::is_live(&session, &registrations)?;
    let agent = agents::of_session(&session);
    let again = Again::of(&session, agent);
    let mut examined = Examined::of(session, agent);
    let mut audit = summary::judge(0, &Context::new(&examined, live, now, PLACES), &gate);
    if mend::has_open(audit.findings(), &examined.session.path) {
        audit.try_mends((again.read(&meter)?, agent), now, &meter)?;
    }
    if let Some(id) = &arguments.leaf {
        let chain = other_chain(&examined.session, id)?;
        examined = examined.following(chain);
    }
    let Examined { session, request, .. } = &examined;
    let survey = Survey::new(session.agent, &session.facts, &session.graph, &session.chain);
    let seen = seen_elsewhere(&input, session, &survey, arguments, &meter)?;
    let mut versions = BTreeSet::new();
    summary::versions(session, &mut versions);
    let tail = arguments.tail.map(|n| Tail::new(&session.facts, request, n as usize));
    let linear = arguments.compare.map(|_| linear::compare(&session.facts, &session.chain));
    let below = match input.discovery.files.first() {
        Some(file) => audit::below_store(&input.discovery, file, &session.path),
        None => Path::new(""),
    };
    let home = input.discovery.roots.first().and_then(|root| root.store.as_deref());
    let beside = match rule {
        Some(rule) if rule.family() == Family::Checkpoints => layers::of_session(session, agent, home, PLACES)?,
        _ => Vec::new(),
    };
    let autopsy = rule.map(|rule| Autopsy::new(rule, session, request, audit.findings().iter().chain(&beside)));
    let anchors = if arguments.anchors { Some(anchors_of(session, home)?) } else { None };
    let content = arguments.output.show_content;
    let report = chain_json::Report {
        session,
        audit: &audit,
        other_leaf: arguments.leaf.is_some(),
        survey: &survey,
        seen: &seen,
        below,
        versions: &versions,
        known: &known,
        taken_at: now,
        tail: tail.as_ref(),
        autopsy: autopsy.as_ref(),
        anchors: anchors.as_deref(),
        linear: linear.as_ref(),
        verbose: arguments.output.verbose,
        blocks: (arguments.messages || arguments.tail.is_some()).then_some(content),
    };
    let fails = |finding: &crate::finding::Finding| arguments.policy.fail_on.fails(finding.severity);
    let failing = known.unknown(audit.findings(), below).any(fails);
    let status = Status::worst([
        if failing { Status::Findings } else { Status::Clean },
        if meter.stopped() { Status::Interrupted } else { Status::Clean },
    ]);
    if arguments.output.quiet {
        return Ok(status);
    }
    let mut out = arguments.output.open(&input.stores())?;
    let done = print(&mut out, arguments, &report).and_then(|()| out.finish());
    written(done, status)
}

fn print(out: &mut Out, arguments: &Arguments, report: &chain_json::Report<'_>) -> std::io::Result<()> {
    let content = arguments.output.show_content;
    if arguments.emit {
        return chain_views::emit(out, report.session);
    }
    if arguments.form.format == Format::Json {
        return chain_json::document(out, report);
    }
    if arguments.form.format == Format::Html {
        return html::chain::page(out, report);
    }
    if let Some(autopsy) = report.autopsy {
        return chain_autopsy::page(out, report, autopsy);
    }
    if let Some(anchors) = report.anchors {
        return chain_anchors::page(out, report, anchors);
    }
    match (report.tail, report.linear) {
        (Some(tail), _) => chain_views::tail(out, report, tail, content),
        (None, Some(linear)) => chain_views::compare(out, report, linear),
        (None, None) if arguments.messages => chain_views::messages(out, report, content),
        (None, None) if arguments.tree => chain_tree::page(out, report),
        (None, None) => chain_table::page(out, report),
    }
}

fn finding_named(code: &str) -> Result<&'static Rule, Failure> {
    registry::find(code)
        .ok_or_else(|| Failure::new(format!("there is no finding '{code}'")).hint("`sid-audit explain` lists them"))
}

/// The last prompts with their snapshots.
fn anchors_of(session: &Session, home: Option<&Path>) -> anyhow::Result<Vec<Anchor>> {
    anchors::anchors(session, agents::of_session(session), home)?
        .ok_or_else(|| Failure::new(format!("{} keeps no snapshots of files", session.agent_id.agent())).into())
}

/// The chain of another record.
fn other_chain(session: &Session, id: &str) -> Result<Chain, Failure> {
    let (facts, graph) = (&session.facts, &session.graph);
    let listed = || format!("`{}` names the leaves", command(&session.path));
    if matches!(session.shape, Shape::Legacy | Shape::Sidechain) || session.chain.mode == Mode::Linear {
        return Err(Failure::new(format!(
            "{} reads '{}' in the order of the file, so it has no other leaf",
            session.agent_id.loader(),
            session.path.display()
        )));
    }
    let Some(leaf) = graph.find(Id::of(id.as_bytes()), facts) else {
        return Err(Failure::new(format!("no record of '{}' has the id '{id}'", session.path.display())).hint(listed()));
    };
    let mut again = Reread::new(&session.source, session.agent);
    if let Some((earlier, later)) = conflict(session) {
        let both = again.id(session.record(later)).map(|id| id.lossy()).unwrap_or_default();
        return Err(Failure::new(format!(
            "the id '{both}' stands on line {} and, with other content, on line {}: no path is certain",
            session.record(earlier).line,
            session.record(later).line
        ))
        .hint(format!("`{}` shows both", command(&session.path))));
    }
    let chain = session.agent.load_from(facts, graph, leaf);
    let (at, gap) = match chain.stop {
        Stop::Root => return Ok(chain),
        Stop::MissingParent(n) => (n, Gap::Missing),
        Stop::Repeat(n) if session.record(n).id == session.record(n).parent => (n, Gap::Own),
        Stop::Repeat(n) => (n, Gap::Loop),
        Stop::ParentBelow(n) => (n, Gap::Below),
    };
    let parent = again.parent(session.record(at)).map(|id| id.lossy()).unwrap_or_default();
    let own = again.id(session.record(at)).map(|id| id.lossy()).unwrap_or_default();
    let what = match gap {
        Gap::Missing => "which no record of this file bears",
        Gap::Own => "which is itself",
        Gap::Loop => "which leads back to it",
        Gap::Below => "which stands below it",
    };
    Err(Failure::new(format!(
        "the path to '{id}' breaks on line {}: '{own}' names '{parent}' as its parent, {what}",
        session.record(at).line
    ))
    .hint(format!("`{}` shows every break", command(&session.path))))
}

fn command(path: &Path) -> String {
    crate::report::suggest::with_path("sid-audit chain", path).unwrap_or_else(|| "sid-audit chain FILE".to_owned())
}

/// Two records with one id and different content.
fn conflict(session: &Session) -> Option<(u32, u32)> {
    let text = |n: u32| crate::record::reread::text(&session.source, session.record(n)).ok();
    session.graph.repeats.iter().copied().find(|&(a, b)| {
        let (first, second) = (session.record(a), session.record(b));
        first.length != second.length || text(a) != text(b)
    })
}

/// Where parents that no record of the session bears were last seen, in the store that it belongs to.
fn seen_elsewhere(
    input: &Input,
    session: &Session,
    survey: &Survey,
    arguments: &Arguments,
    meter: &Meter,
) -> anyhow::Result<HashMap<Id, Seen>> {
    let missing = survey.breaks.iter().filter(|broken| broken.gap == Gap::Missing);
    let wanted: HashSet<Id> = missing.map(|broken| session.record(broken.child).parent).collect();
    let store = input.discovery.roots.first().and_then(|root| root.store.clone());
    let (false, Some(store), false) = (wanted.is_empty(), store, arguments.emit) else { return Ok(HashMap::new()) };
    let discovery =
        store::discover(&[store], arguments.reading.agent, &Environment::of_process(agents::HOMES), agents::HOMES);
    arguments.reading.with_jobs(|| id_lookup::seen_in(&discovery, &session.path, &wanted, meter))
}
