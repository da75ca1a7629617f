//! What the client itself put into a session, or its loader takes out of a message: M413, M415, M416.

use super::{FAILED_TURN, RETIRED_PERMISSION_MODE, SYNTHETIC_TAIL};
use crate::dialect::Dialect;
use crate::finding::Finding;
use crate::record::facts::{Kind, block, flag};
use crate::request::{CleanupPass, WHOLE};
use crate::rules::Context;
use crate::rules::legal::{Case, Weight};
use crate::session::Session;

pub(super) fn judge(context: &Context<'_>, cases: &mut Vec<Case>) {
    let session = context.session;
    let sent = context.request;
    match session.dialect {
        Dialect::Claude => cases.extend(synthetic_tail(session)),
        Dialect::Sid => {
            let retired = sent.drops.iter().filter(|d| d.pass == CleanupPass::PermissionMode);
            cases.extend(
                retired.map(|d| {
                    Case::new(&RETIRED_PERMISSION_MODE, Weight::Noted, sent.rows[d.row as usize].record, WHOLE)
                }),
            );
        }
        Dialect::Pi | Dialect::Openclaw => {
            for (n, record) in (0..).zip(&session.facts.records) {
                let void =
                    || session.facts.blocks_of(record).iter().all(|b| b.flags & (block::EMPTY | block::BLANK) != 0);
                if record.kind == Kind::Assistant && record.has(flag::FAILED) && void() {
                    cases.push(Case::new(&FAILED_TURN, Weight::Noted, n, WHOLE));
                }
            }
        }
    }
}

/// The made-up records that the chain ends in, the last one first. Rows between them that the client writes beside its
/// notices (meta rows, attachments, its own system rows) do not end the run; a prompt that a person typed does.
pub fn made_up_tail(session: &Session) -> Vec<u32> {
    let mut tail = Vec::new();
    for &n in session.chain.adopted.iter().rev() {
        let record = session.record(n);
        match record.kind {
            Kind::Assistant if record.any(flag::SYNTHETIC | flag::API_ERROR) => tail.push(n),
            Kind::User if !record.has(flag::META) => break,
            Kind::Assistant => break,
            _ => {}
        }
    }
    tail
}

fn synthetic_tail(session: &Session) -> Option<Case> {
    let tail = made_up_tail(session);
    let replies = tail.iter().any(|&n| !session.record(n).has(flag::API_ERROR));
    let weight = if tail.len() > 1 || replies { Weight::Warned } else { Weight::Noted };
    tail.last()
        .map(|&n| Case::new(&SYNTHETIC_TAIL, weight, n, WHOLE).with(u32::try_from(tail.len()).unwrap_or(u32::MAX)))
}

pub(super) fn word(context: &Context<'_>, case: &Case, finding: Finding) -> Finding {
    let loader = context.session.dialect.loader();
    match case.rule.code {
        "M413" => {
            let reply = !context.session.record(case.record).has(flag::API_ERROR);
            finding
                .fact("records", case.detail)
                .fact("kind", if reply { "reply" } else { "notice" })
                .effect(format!("{loader} shows it as the last answer; clients go on from it"))
        }
        "M415" => finding.effect(format!("{loader} clears the mode and keeps the message")),
        _ => finding.effect(format!("{loader} leaves the turn out of the request")),
    }
}
