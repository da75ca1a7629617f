//! pi: records that load and on which a screen of pi then throws: C230 at its first frame, so that the session ends before
//! anything can be typed, and C231 when `/tree` is opened (`docs/formats/pi.md`, section 11: run with its own components).

use crate::chain::graph::numbered;
use crate::finding::{Finding, Loss, Rule, Severity};
use crate::record::facts::{BlockKind, Kind, Record, block, flag};
use crate::record::reread;
use crate::record::value::Value;
use crate::rules::{Collector, Context};

use super::load::has_no_message;
use super::records::own;

/// C230. pi 1.6.0, `docs/formats/pi.md`, section 11: the footer sums the usage of every entry in the file, whatever branch
/// it is on, and trims the last name of the session.
pub(super) static FIRST_FRAME_THROWS: Rule =
    Rule { code: "C230", name: "first-frame-throws", severity: Severity::Error, fix: None, since: "0.2.0" };

/// C231. pi 1.6.0, `docs/formats/pi.md`, section 11: the rows of its tree.
pub(super) static TREE_THROWS: Rule =
    Rule { code: "C231", name: "tree-throws", severity: Severity::Warning, fix: None, since: "0.2.0" };

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    if context.session.chain.refusal.is_some() {
        return;
    }
    let records = &context.session.facts.records;
    let costed = costed(context);
    let named = records.iter().rposition(|r| context.session.facts.type_of(r) == b"session_info");
    for (n, record) in numbered(records) {
        let why = match record.kind {
            _ if has_no_message(record) => Some("the message is missing"),
            _ if record.has(own::NAME_OTHER) => {
                (named == Some(n as usize)).then_some("the name of the session is no text")
            }
            _ if costed.binary_search(&n).is_ok() => None,
            _ => usage(context, record),
        };
        if let Some(why) = why {
            add(context, found, &FIRST_FRAME_THROWS, n, why);
        }
        if let Some(why) = tree(context, record) {
            add(context, found, &TREE_THROWS, n, why);
        }
    }
}

fn add(context: &Context<'_>, found: &mut Collector, rule: &'static Rule, n: u32, why: &'static str) {
    if !found.wants(rule) {
        return;
    }
    let finding: Finding = rule.at(context.place(n)).fact("reason", why);
    found.add(match *rule == FIRST_FRAME_THROWS {
        true => finding.loses(Loss::All).effect(
            context.says("{loader} reads the context and then throws at its first frame: nothing can be typed"),
        ),
        false => finding.effect(context.says("{loader} resumes the session and throws when /tree is opened")),
    });
}

/// The records whose usage has a cost, in file order.
fn costed(context: &Context<'_>) -> Vec<u32> {
    let facts = &context.session.facts;
    let costs = |&(at, _): &(usize, _)| facts.cost_of(at).is_some();
    facts.usage.iter().enumerate().filter(costs).map(|(_, usage)| usage.record).collect()
}

/// What is wrong with the usage that the footer adds up: an answer and a usage entry need one, each that is there needs a
/// cost.
fn usage(context: &Context<'_>, record: &Record) -> Option<&'static str> {
    let session = context.session;
    let needed = match record.kind {
        Kind::Assistant => true,
        Kind::Metadata if session.facts.type_of(record) == b"usage" => true,
        Kind::ToolMessage | Kind::Compaction | Kind::BranchSummary => false,
        _ => return None,
    };
    let text = reread::text(&session.source, record).ok()?;
    let value = Value::parse(&text)?;
    let spoken = record.is_message();
    let there = |v: &Value<'_>| v.raw() != b"null";
    let usage = if spoken { value.at(&["message", "usage"]) } else { value.get("usage") };
    match usage.filter(|usage| if needed { there(usage) } else { usage.truthy() }) {
        None => needed.then_some("its usage is missing"),
        Some(usage) => usage.get("cost").filter(there).is_none().then_some("its usage has no cost"),
    }
}

/// What the tree makes one line of and cannot.
fn tree(context: &Context<'_>, record: &Record) -> Option<&'static str> {
    let session = context.session;
    match record.kind {
        Kind::BranchSummary => {
            let text = reread::text(&session.source, record).ok()?;
            let summary = Value::parse(&text)?.get("summary").and_then(|summary| summary.string());
            summary.is_none().then_some("the branch summary has no text")
        }
        Kind::Custom if session.facts.type_of(record) == b"custom_message" => {
            let content = record.any(flag::CONTENT_ARRAY | flag::CONTENT_STRING);
            (!content).then_some("the content is neither text nor a list")
        }
        Kind::Assistant if record.has(own::ERROR_OTHER) => {
            let says = |b: &crate::record::facts::Block| {
                b.kind == BlockKind::Text && b.flags & (block::EMPTY | block::BLANK) == 0
            };
            (!session.facts.blocks_of(record).iter().any(says)).then_some("the error message is no text")
        }
        _ => None,
    }
}
