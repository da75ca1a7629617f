//! T310: results of the provider's own tools (web search, advisor). Call and result stand in one turn of the model; nothing
//! of the user's may come between them.

use std::collections::HashSet;

use super::SERVER_RESULT_ALONE;
use crate::record::facts::BlockKind;
use crate::request::Role;
use crate::rules::Context;
use crate::rules::api_verdict::{Case, REFUSED};

pub(super) fn cases(context: &Context<'_>) -> Vec<Case> {
    let (session, sent) = (context.session, context.request);
    let mut cases = Vec::new();
    if !session.facts.blocks.iter().any(|b| b.kind == BlockKind::ServerResult) {
        return cases;
    }
    let (mut calls, mut turn, mut interrupted) = (HashSet::new(), None, false);
    for row in &sent.rows {
        match sent.role(session, row.record) {
            // Results that come in while a response streams do not end its turn.
            Role::Prompt | Role::Results => interrupted = true,
            Role::Model(_) => {
                if interrupted && turn != Some(row.turn) {
                    calls.clear();
                }
                (turn, interrupted) = (Some(row.turn), false);
                for (place, b) in (0..).zip(sent.blocks(&session.facts, row.record)) {
                    match b.kind {
                        BlockKind::Server => drop(calls.insert(b.id)),
                        BlockKind::ServerResult if !calls.contains(&b.id) && sent.reaches(row.record) => {
                            cases.push(Case::new(&SERVER_RESULT_ALONE, REFUSED, row.record, place));
                        }
                        _ => {}
                    }
                }
            }
            Role::Aside | Role::Failed => {}
        }
    }
    cases
}
