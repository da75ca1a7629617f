//! A prediction as a page: what the agent would do, where the conversation stopped, how the last run ended, and, apart
//! from all that, where the agent's rules err. Lists of lines are cut here; the JSON has them whole.

use std::io;

use super::format::{counted, number, paragraph, size};
use super::out::Out;
use super::predict_json::{Report, process_name};
use super::style::{Span, Style, dim, plain, span, strong};
use super::table::Grid;
use super::verdict;
use crate::agents;
use crate::predict::{Fallen, Outcome, State};
use crate::session::Shape;

/// How many lines of one layer are named.
const PLACES: usize = 6;
/// Where what is said of a state begins.
const NOTE: usize = 37;
/// Where what is said of the resume begins.
const SAID: usize = 15;

/// Prints the page.
///
/// # Errors
/// I/O errors.
pub fn page(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    head(out, report)?;
    resume(out, report)?;
    layers(out, report)?;
    stopped(out, report)?;
    ended(out, report)?;
    errs(out, report)
}

fn head(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let session = report.session;
    out.line([strong(session.path.to_string_lossy())])?;
    let mut versions: Vec<&str> = report.versions.iter().rev().take(3).map(String::as_str).collect();
    versions.reverse();
    let of = if versions.is_empty() { String::new() } else { format!(" {}", versions.join(", ")) };
    out.text(&format!(
        "  {}{of}, {}, {} on {}",
        session.agent_id.agent(),
        size(session.source.size()),
        counted(session.facts.records.len() as u64, "record"),
        counted(session.facts.lines.physical, "line"),
    ))?;
    out.text(&format!("  judged by {}", session.agent_id.loader()))?;
    out.gap()?;
    out.line([
        plain("  RESUME "),
        verdict::resume(report.audit),
        plain("   API "),
        verdict::api(report.audit),
        plain(if report.audit.live { "   in use" } else { "" }),
    ])
}

/// `loads     yes, …`: a word, and what there is to say behind it.
fn said(out: &mut Out, word: &str, text: &str) -> io::Result<()> {
    paragraph(out, vec![plain(format!("  {word:<13}"))], SAID, text)
}

fn resume(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let prediction = report.prediction;
    out.gap()?;
    out.line([strong("What the agent would do on resume")])?;
    let resume = &report.audit.resume();
    let mut loads = match &prediction.refused {
        Some(why) if prediction.loadable => format!("yes, and then gives up: {why}"),
        Some(why) => format!("no: {why}"),
        None => format!("yes: {}", counted(u64::from(resume.loaded), "message")),
    };
    if prediction.refused.is_none() && resume.cleaned != u32::MAX {
        let (cleaned, shown) = (number(u64::from(resume.cleaned)), number(prediction.shown as u64));
        loads.push_str(&format!(", {cleaned} after cleaning, {shown} shown to the model"));
    }
    said(out, "loads", &loads)?;
    said(out, "next", &prediction.interruption.next)?;
    let tail = prediction.safe_tail;
    if prediction.refused.is_none() && tail.start > 0 {
        let from = match tail.messages {
            0 => "none stands by itself".to_owned(),
            n => format!("{}, from message {} on", counted(n as u64, "message"), number(tail.start as u64 + 1)),
        };
        said(out, "safe tail", &format!("of {}: {from}", number(tail.asked as u64)))?;
    }
    out.gap()?;
    let is_absent = |state: &&State| state.outcome == Outcome::Missing && state.line.is_none() && state.path.is_none();
    prediction.states.iter().filter(|state| !is_absent(state)).try_for_each(|state| one_state(out, state))?;
    let absent: Vec<&str> = prediction.states.iter().filter(is_absent).map(|state| state.name).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let lead = vec![plain(format!("  {:<23}", "(nothing stored)")), span(Style::Dim, format!("{:<12}", "missing"))];
    paragraph(out, lead, NOTE, &absent.join(", "))
}

fn one_state(out: &mut Out, state: &State) -> io::Result<()> {
    let style = match state.outcome {
        Outcome::Restored => Style::Good,
        Outcome::Normalised => Style::Warning,
        Outcome::Failed => Style::Error,
        Outcome::Ignored | Outcome::Final => Style::Plain,
        Outcome::Missing | Outcome::Unknown => Style::Dim,
    };
    let mut text = state.note.clone().unwrap_or_default();
    if let Some(line) = state.line {
        text.push_str(&format!(" (line {line})"));
    }
    let name: Span<'_> = plain(format!("  {:<23}", state.name));
    paragraph(out, vec![name, span(style, format!("{:<12}", state.outcome.name()))], NOTE, &text)
}

fn layers(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let layers = &report.prediction.layers;
    if layers.is_empty() {
        return Ok(());
    }
    out.gap()?;
    out.line([strong("What its cleaning drops")])?;
    let fallen: Vec<&Fallen> = layers.iter().filter(|layer| !layer.records.is_empty()).collect();
    if fallen.is_empty() {
        return match layers.len() {
            1 => out.text("  nothing"),
            n => out.text(&format!("  nothing: none of its {n} layers finds anything")),
        };
    }
    let mut grid = Grid::new(&["LAYER", "MESSAGES", "BLOCKS", "LINES"]).right(&[1, 2]);
    for layer in fallen {
        let line = |n: &u32| report.session.record(*n).line.to_string();
        let mut lines: Vec<String> = layer.records.iter().take(PLACES).map(line).collect();
        if layer.records.len() > PLACES {
            lines.push(format!("and {} more", number((layer.records.len() - PLACES) as u64)));
        }
        let (messages, blocks) = (number(layer.messages.into()), number(layer.blocks.into()));
        grid.row(Style::Warning, [layer.name.to_owned(), messages, blocks, lines.join(", ")]);
    }
    grid.print(out, |_, _| Ok(()))
}

fn stopped(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let stopped = &report.prediction.interruption;
    out.gap()?;
    out.line([strong("Where the conversation stopped")])?;
    let line = stopped.record.map(|n| format!(", line {}", report.session.record(n).line)).unwrap_or_default();
    let text = match stopped.state {
        _ if report.prediction.refused.is_some() => {
            "the rule is never asked: the session is not brought back".to_owned()
        }
        "interrupted_prompt" => format!("at a prompt that nobody answered{line}"),
        "interrupted_turn" if stopped.tools.is_empty() => format!("at results that nobody answered{line}"),
        "interrupted_turn" => format!("at the results of {}, which nobody answered{line}", stopped.tools.join(", ")),
        _ if report.session.chain.messages.is_empty() => "before the first message".to_owned(),
        _ => "at an answer of the model".to_owned(),
    };
    said(out, "by its rule", &format!("{}: {text}", stopped.state))
}

fn ended(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let ended = &report.prediction.ended;
    out.gap()?;
    out.line([strong("How the last run ended")])?;
    let mark = match (ended.end_mark, ended.end_line, report.session.shape) {
        (Some(true), Some(line), _) => format!("on line {line}: it ended in good order"),
        (Some(true), None, _) => "there: it ended in good order".to_owned(),
        (Some(false), ..) => "none behind its last message: it did not end in good order, or has not ended".to_owned(),
        (None, _, Shape::Legacy) => "this format has none".to_owned(),
        (None, ..) => format!("{} writes none", report.session.agent_id.agent()),
    };
    said(out, "end mark", &mark)?;
    let pid = ended.registration.as_ref().and_then(|r| r.pid).map(|pid| format!(" (number {pid})")).unwrap_or_default();
    let agent = agents::of(report.session.agent_id);
    let unregistered = agent.registry().is_none() && agent.lock(&report.session.path).is_none();
    let process = match (&ended.registration, unregistered) {
        (Some(_), _) => format!("{}{pid}", process_name(ended.process)),
        (None, true) => format!("{} keeps no register of its processes", report.session.agent_id.agent()),
        (None, _) if !ended.registry => "the agent's home, where it would be registered, is not known".to_owned(),
        (None, _) => "none is registered: one that ends in good order takes itself off".to_owned(),
    };
    said(out, "process", &process)?;
    let Some(crash) = &ended.crash else { return Ok(()) };
    let facts = [
        crash.timestamp.as_deref().map(|at| format!("at {at}")),
        crash.signal.as_deref().map(|signal| format!("signal {signal}")),
        crash.last_tool.as_deref().map(|tool| format!("last tool {tool}")),
        crash.last_stop_reason.as_deref().map(|reason| format!("last stop {reason}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let what = if crash.terminal_closed { "no crash, the terminal was closed" } else { "a crash left its snapshot" };
    let more = if facts.is_empty() { String::new() } else { format!(": {}", facts.join(", ")) };
    said(out, "crash", &format!("{what}{more}"))?;
    out.line([dim(format!("  {:<13}{}", "", crash.path.display()))])
}

fn errs(out: &mut Out, report: &Report<'_>) -> io::Result<()> {
    let prediction = report.prediction;
    out.gap()?;
    out.line([strong("Where its rules err")])?;
    let resume = &report.audit.resume();
    let mut all = prediction.interruption.doubts.clone();
    let lost = resume.expected.saturating_sub(resume.loaded);
    if lost > 0 {
        all.push(format!(
            "{} of {} do not come back, though the file holds them: `sid-audit chain` shows where it breaks",
            number(lost.into()),
            counted(resume.expected.into(), "message"),
        ));
    }
    let cleaned = if resume.cleaned == u32::MAX { 0 } else { u64::from(resume.cleaned) };
    let unseen = cleaned.saturating_sub(prediction.shown as u64);
    if unseen > 0 && !report.session.has_summary() {
        let of = counted(cleaned, "message");
        all.push(format!("{} of {of} are not shown to the model, and nothing stands for them", number(unseen)));
    }
    if all.is_empty() {
        return out.text("  nowhere that this file shows");
    }
    all.iter().try_for_each(|text| paragraph(out, vec![span(Style::Warning, "  - ")], 4, text))
}
