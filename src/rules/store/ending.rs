//! How a session stopped: with a question nobody answered (S501), or with results nobody answered (S502).
//!
//! Judged on what would be sent next (`request`), so after the agent's own cleaning: a call that was never answered is
//! dropped first, and what stood before it is then the end. How the *process* ended is another question with another
//! answer.

use super::{Context, NAMED};
use crate::finding::{Rule, Severity};
use crate::record::facts::NO_TIME;
use crate::record::time;
use crate::request::Interruption;
use crate::rules::Collector;
use crate::session::Shape;

pub(super) static INTERRUPTED_PROMPT: Rule =
    Rule { code: "S501", name: "interrupted-prompt", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) static INTERRUPTED_TURN: Rule =
    Rule { code: "S502", name: "interrupted-turn", severity: Severity::Info, fix: None, since: "0.1.0" };

pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    if !matches!(session.shape, Shape::Main | Shape::Legacy) || is_closed(context) {
        return;
    }
    let loader = session.agent_id.loader();
    let interruption = &context.request.interruption;
    let (n, finding) = match interruption {
        Interruption::None => return,
        Interruption::Prompt(n) => {
            let what = context.agent.store_words().open_prompt;
            (*n, INTERRUPTED_PROMPT.at(context.place(*n)).effect(format!("{loader}: {what}")))
        }
        Interruption::Turn(n, _) => {
            let mut tools = interruption.tools(&session.facts.names);
            tools.sort();
            tools.dedup();
            tools.truncate(NAMED);
            let finding = INTERRUPTED_TURN
                .at(context.place(*n))
                .effect(format!("{loader}: the results come back, and no answer to them"))
                .fact("tools", tools);
            (*n, finding)
        }
    };
    let at = session.record(n).time;
    let finding = if at == NO_TIME { finding } else { finding.fact("at", time::format(at)) };
    found.add(if context.live { finding.fact("state", "in flight") } else { finding });
}

/// Whether the person had the last word in another way: an interrupt, or a command of the client's own.
fn is_closed(context: &Context<'_>) -> bool {
    let (session, closing) = (context.session, context.agent.closing());
    session.chain.messages.last().is_some_and(|&n| session.record(n).any(closing))
}
