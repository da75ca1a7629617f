//! The marks that only sid-code writes: the start of a session (S505), its end (S504), the end of a subagent (S510).

use crate::chain::Mode;
use crate::finding::Place;
use crate::record::facts::Kind;
use crate::record::{reread, time};
use crate::rules::store::markers::{END_NOT_LAST, REPEATED_START, UNFINISHED_SIDECHAIN};
use crate::rules::{Collector, Context};
use crate::session::Shape;

/// Finds what is wrong with them in a session.
pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    match context.session.shape {
        Shape::Main => {
            repeated_start(context, found);
            end_not_last(context, Kind::End, found);
        }
        Shape::Sidechain => {
            unfinished(context, found);
            end_not_last(context, Kind::TranscriptEnd, found);
        }
        _ => {}
    }
}

fn end_not_last(context: &Context<'_>, mark: Kind, found: &mut Collector) {
    let records = &context.session.facts.records;
    let Some(first) = records.iter().position(|r| r.kind == mark) else { return };
    let behind = records[first + 1..].iter().filter(|r| r.kind != Kind::NonObject).count();
    if behind == 0 {
        return;
    }
    let marks = records[first..].iter().filter(|r| r.kind == mark).count();
    found.add(
        END_NOT_LAST
            .at(context.place(first as u32))
            .effect(format!("{} does not look where the mark stands", context.session.agent_id.loader()))
            .fact("end_marks", marks)
            .fact("records_behind", behind),
    );
}

fn repeated_start(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let records = &session.facts.records;
    let mut starts = (0..).zip(records).filter(|(_, r)| r.kind == Kind::Start).map(|(n, _)| n);
    let Some(first) = starts.next() else { return };
    let before = records[..first as usize].iter().position(|r| r.kind != Kind::NonObject);
    let Some(at) = starts.clone().next().or(before.map(|n| n as u32)) else { return };
    let more = starts.count();
    let what = match (more, session.chain.mode) {
        (0, Mode::Linear) => "takes what stands before the start along",
        (0, _) => "does not go above the start record",
        (_, Mode::Linear) => "lets the last start overwrite id and directory, and keeps the messages before it",
        _ => "takes the nearest start above the tail, and nothing above it",
    };
    found.add(
        REPEATED_START
            .at(context.place(at))
            .effect(format!("{} {what}", session.agent_id.loader()))
            .fact("starts", more + 1)
            .fact("records_before_first", first)
            .fact("first_start_line", session.record(first).line),
    );
}

fn unfinished(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let facts = &session.facts;
    if facts.size == 0 || facts.records.iter().any(|r| r.kind == Kind::TranscriptEnd) {
        return;
    }
    let start = (0..).zip(&facts.records).find(|(_, r)| r.kind == Kind::TranscriptStart);
    let messages = facts.records.iter().filter(|r| r.kind == Kind::TranscriptMessage).count();
    let last = facts.records.iter().rev().find(|r| r.kind == Kind::TranscriptMessage);
    let mut finding = UNFINISHED_SIDECHAIN
        .at(start.map_or_else(Place::default, |(n, _)| context.place(n)))
        .effect(format!("{} lists it as unfinished, and its clean-up deletes it", session.agent_id.loader()))
        .fact("messages", messages);
    if let Some((_, start)) = start {
        finding = finding.fact("agent", facts.names.text(start.agent));
        if let Some(kind) = reread::field(&session.source, start, &["agentType"]) {
            finding = finding.fact("agent_type", &kind);
        }
    }
    if let Some(last) = last.filter(|r| r.time != crate::record::facts::NO_TIME) {
        finding = finding.fact("last", time::format(last.time));
    }
    found.add(if context.live { finding.fact("state", "in flight") } else { finding });
}
