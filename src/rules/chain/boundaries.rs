//! Compactions: C223.

use super::View;
use crate::finding::{Fix, Rule, Severity};
use crate::record::facts::Kind;
use crate::rules::Collector;

pub(super) fn check(view: &View<'_>, found: &mut Collector) {
    let session = view.context.session;
    let Some(n) = session.chain.kept_range_lost else { return };
    if session.chain.mode != crate::chain::Mode::Tree {
        return;
    }
    let record = session.record(n);
    let known = session
        .facts
        .records
        .iter()
        .any(|r| record.target() != 0 && r.id.short() == record.target() && r.kind != Kind::Start);
    let loader = view.context.loader();
    let mut finding = KEPT_RANGE_LOST
        .at(view.context.place(n))
        .effect(format!("{loader} keeps nothing before the compaction: only its summary comes back"))
        .fact("where", if known { "on another branch" } else { "nowhere" });
    if let Some(first) = view.context.agent.first_kept(session, record) {
        finding = finding.fact("first_kept", first.lossy());
    }
    found.add(finding);
}

pub(crate) static KEPT_RANGE_LOST: Rule =
    Rule { code: "C223", name: "kept-range-lost", severity: Severity::Error, fix: Some(Fix::Links), since: "0.1.0" };
