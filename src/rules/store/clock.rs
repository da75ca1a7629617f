//! S521: time that runs backwards along the conversation, or is no time.
//!
//! Only messages are compared, each with the one before it on the chain that a resume takes. Left out is what lawfully
//! bears an earlier time than its place: queued prompts (time of typing), the rows of one response and the results that
//! arrive while it streams, rows written again behind a boundary, and rows of the client's own commands.

use super::Context;
use crate::finding::{Rule, Severity};
use crate::record::facts::{BlockKind, Kind, NO_TIME, Record, flag};
use crate::record::time;
use crate::rules::{Collector, counted};
use crate::session::Shape;

pub(super) static CLOCK_BACKWARDS: Rule =
    Rule { code: "S521", name: "clock-backwards", severity: Severity::Info, fix: None, since: "0.1.0" };

/// What a clock may be behind between two processes of one machine.
const TOLERANCE_MS: i64 = 5_000;

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    if session.shape == Shape::Sidechain || session.document.is_some() {
        return;
    }
    let facts = &session.facts;
    let results = |r: &Record| facts.blocks_of(r).iter().any(|b| b.kind == BlockKind::Result);
    let (mut first, mut count, mut largest, mut unreadable) = (None, 0_u64, 0_i64, 0_u64);
    let mut before: Option<i64> = None;
    let (mut boundary, mut response) = (NO_TIME, 0_u64);
    for &n in &session.chain.adopted {
        let record = session.record(n);
        if record.any(flag::BOUNDARY | flag::MICRO_BOUNDARY) {
            boundary = record.time;
        }
        if record.has(flag::TIME_BAD) && record.kind != Kind::Other {
            unreadable += 1;
            first.get_or_insert(n);
            continue;
        }
        let spoken = matches!(record.kind, Kind::User | Kind::Assistant | Kind::ToolMessage | Kind::Custom);
        let aside = record.any(flag::LOCAL_COMMAND | flag::META | flag::QUEUED_COMMAND | flag::COMPACT_SUMMARY);
        if !spoken || aside || record.time == NO_TIME {
            continue;
        }
        let streaming = match record.kind {
            Kind::Assistant => {
                let same = record.group() != 0 && record.group() == response;
                response = record.group();
                same
            }
            _ => results(record) && context.agent.results_may_come_early(),
        };
        let again = boundary != NO_TIME && record.time < boundary;
        if let Some(last) = before
            && !streaming
            && !again
            && record.time.saturating_add(TOLERANCE_MS) < last
        {
            count += 1;
            first.get_or_insert(n);
            largest = largest.max(last.saturating_sub(record.time));
        }
        if !again {
            before = Some(if streaming { before.unwrap_or(record.time).max(record.time) } else { record.time });
        }
    }
    let Some(n) = first else { return };
    let record = session.record(n);
    let mut finding = CLOCK_BACKWARDS.at(context.place(n)).count(count + unreadable);
    let mut says = Vec::new();
    if count > 0 {
        says.push(format!("time runs back {}", counted(count, "time")));
        finding = finding.fact("backwards", count).fact("largest_ms", largest);
        if record.time != NO_TIME {
            finding = finding.fact("at", time::format(record.time));
        }
    }
    if unreadable > 0 {
        says.push(format!("{} that cannot be read", counted(unreadable, "time")));
        finding = finding.fact("unreadable", unreadable);
    }
    found.add(finding.effect(format!("{} does not go by time; {}", session.agent_id.loader(), says.join(", "))));
}
