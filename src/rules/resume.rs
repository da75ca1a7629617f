//! The RESUME verdict: made from findings and from the recovered session, never beside them.

use super::Context;
use crate::chain::recover::Recovered;
use crate::chain::walk::Inherited;
use crate::finding::{Finding, Loss};
use crate::record::facts::{Kind, flag};
use crate::verdict::{Lawful, Resume, ResumeVerdict};

/// The verdict on one session, from its findings and from what an undamaged file would bring back.
pub fn judge(context: &Context<'_>, findings: &[Finding], recovered: Option<&Recovered>) -> Resume {
    let session = context.session;
    let loaded = count(session.chain.messages.len());
    let mended = recovered.filter(|h| h.chain.refusal.is_none()).map_or(0, |h| count(h.expected(&session.chain)));
    let verdict = match findings.iter().map(|f| f.loss).max().unwrap_or(Loss::Nothing) {
        Loss::All => ResumeVerdict::None,
        Loss::Some => ResumeVerdict::Partial,
        Loss::Nothing => ResumeVerdict::Full,
    };
    let named = findings.iter().map(|f| f.expected).max().unwrap_or(0);
    let expected = match verdict {
        ResumeVerdict::Full => loaded,
        _ => mended.max(loaded).max(named),
    };
    // Where the agent ends before anything can be typed, nothing is loaded, whatever its loader returned.
    let loaded = if verdict == ResumeVerdict::None { 0 } else { loaded };
    let (cleaned, shown) = context.agent.shown(context).map_or((u32::MAX, u32::MAX), |(n, m)| (count(n), count(m)));
    Resume { verdict, loaded, expected, cleaned, shown, lawful: lawful(context) }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// What is left out by right, of the messages that are neither adopted nor lost.
fn lawful(context: &Context<'_>) -> Lawful {
    let session = context.session;
    let (facts, graph) = (&session.facts, &session.graph);
    let mut lawful = Lawful::default();
    if session.document.is_some() || matches!(session.chain.mode, crate::chain::Mode::Linear | crate::chain::Mode::None)
    {
        return lawful;
    }
    let mut adopted = vec![false; facts.records.len()];
    for &n in &session.chain.adopted {
        adopted[n as usize] = true;
    }
    // Whether the way up from a record meets the adopted chain.
    let own = adopted.iter().map(|&adopted| adopted.then_some(true)).collect();
    let mut meets = Inherited::new(own, None, Some(false));
    let first = session.chain.adopted.first().copied();
    let cut = first.is_some_and(|n| session.record(n).any(flag::BOUNDARY | flag::CLEARED));
    for (n, record) in facts.records.iter().enumerate() {
        if !record.is_message() || !graph.has_kind(record) {
            continue;
        }
        if record.any(flag::SIDECHAIN | flag::TEAM) {
            lawful.sidechain += 1;
        } else if record.has(flag::META) {
            lawful.meta += 1;
        } else if !adopted[n] {
            let meeting = meets.of(graph, n as u32, |_, _| Some(false)) == Some(true);
            if meeting {
                lawful.other_branches += 1;
            } else if cut && first.is_some_and(|f| (n as u32) < f) {
                lawful.before_boundary += 1;
            } else if record.kind == Kind::User || record.kind == Kind::Assistant || record.kind == Kind::ToolMessage {
                lawful.other_branches += u32::from(session.chain.stop == crate::chain::Stop::Root);
            }
        }
    }
    lawful
}
