//! Where the other half of a pair went.
//!
//! In this order, the surest first: it stands whole inside a damaged line, or its id can be read there; a damaged line
//! lies where it should be; a compaction cut it off; the chain breaks in between; the run was killed. `nowhere` says that
//! nothing in the file explains it. Where both halves are there and only out of order, a repeated or conflicting record
//! is looked for.

use std::collections::HashMap;

use super::judge::Judged;
use super::{DANGLING_TOOL_RESULT, ORPHAN_TOOL_USE, PAIR_SPLIT_BY_BOUNDARY};
use crate::chain::Stop;
use crate::finding::{Cause, Family, Finding, Rule};
use crate::record::facts::{BadLine, BlockKind, Kind, block, flag};
use crate::request::IdMap;
use crate::rules::api_verdict::Case;
use crate::rules::chain::FORKS;
use crate::rules::{Context, lines};
use crate::session::Session;

/// How many damaged lines are searched for an id, and how much of each.
const SEARCHED: usize = 64;
const SEARCHED_BYTES: u64 = 1 << 20;

/// What is known of the file beside its chain.
pub(super) struct Causes {
    /// Findings of L and C that may be causes: rule and line.
    named: Vec<(&'static Rule, u64)>,
    /// Records outside the request that hold a wanted half: by kind and id.
    elsewhere: HashMap<(bool, u64), u32>,
    /// Damaged lines that hold a wanted half whole.
    inside: HashMap<(bool, u64), u32>,
    /// Of records whose id stands twice, the line of either.
    repeated: Vec<u32>,
}

impl Causes {
    pub(super) fn new(context: &Context<'_>, judged: &Judged, so_far: &[Finding]) -> Causes {
        let session = context.session;
        let facts = &session.facts;
        let named = so_far.iter().filter(|f| matches!(f.rule.family(), Family::Lines | Family::Chain));
        let named = named.filter_map(|f| Some((f.rule, f.place.line?))).collect();
        let mut causes = Causes { named, elsewhere: HashMap::new(), inside: HashMap::new(), repeated: Vec::new() };
        let wanted: IdMap<()> = judged.cases.iter().filter_map(|c| half(context, c)).map(|(_, id)| (id, ())).collect();
        if wanted.is_empty() {
            return causes;
        }
        let sent = context.request;
        let halves = |record| {
            let blocks = facts.blocks_of(record).iter();
            blocks
                .filter(|b| matches!(b.kind, BlockKind::Call | BlockKind::Result) && b.flags & block::NO_ID == 0)
                .filter(|b| wanted.contains_key(&b.id))
                .map(|b| (b.kind == BlockKind::Call, b.id))
        };
        for (n, record) in (0..).zip(&facts.records).filter(|(n, _)| !sent.reaches(*n)) {
            for key in halves(record) {
                causes.elsewhere.entry(key).or_insert(n);
            }
        }
        for record in &facts.hidden {
            for key in halves(record) {
                causes.inside.entry(key).or_insert(record.line);
            }
        }
        let repeats = session.graph.repeats.iter().flat_map(|&(a, b)| [a, b]);
        causes.repeated = repeats.map(|n| session.record(n).line).collect();
        causes.repeated.sort_unstable();
        causes
    }

    /// The line of the other half where it stands in the file and not in the request.
    pub(super) fn other_half(&self, context: &Context<'_>, case: &Case) -> Option<u32> {
        let (call, id) = half(context, case)?;
        let parted = [&ORPHAN_TOOL_USE, &DANGLING_TOOL_RESULT, &PAIR_SPLIT_BY_BOUNDARY].contains(&case.rule);
        let n = parted.then(|| self.elsewhere.get(&(!call, id)))??;
        Some(context.session.record(*n).line)
    }

    /// The word or the finding.
    pub(super) fn of(&self, context: &Context<'_>, judged: &Judged, case: &Case) -> Cause {
        let session = context.session;
        if case.rule == &PAIR_SPLIT_BY_BOUNDARY {
            return Cause::Word("cut by a boundary");
        }
        if case.rule != &ORPHAN_TOOL_USE && case.rule != &DANGLING_TOOL_RESULT {
            return self.of_disorder(session, case);
        }
        let Some((call, id)) = half(context, case) else { return NOWHERE };
        let other = (!call, id);
        if let Some(&line) = self.inside.get(&other) {
            return self.damage_at(session, line);
        }
        if let Some(line) = legible(context, judged, case) {
            return self.damage_at(session, line);
        }
        if let Some(bad) = near(context, case, call) {
            return self.damage_at(session, bad.line);
        }
        let elsewhere = self.elsewhere.get(&other).copied();
        if let Some(n) = elsewhere
            && is_cut_off(session, n)
        {
            return Cause::Word("cut by a boundary");
        }
        if !call && session.chain.stop != Stop::Root {
            // The way up ends before the call: the break is told by C.
            let head = session.chain.adopted.first().map(|&n| u64::from(session.record(n).line));
            return self.named_at(head, Family::Chain).unwrap_or(LOST_LINE);
        }
        if let Some(n) = elsewhere {
            let line = Some(u64::from(session.record(n).line));
            return self.named_at(line, Family::Chain).or_else(|| self.branch()).unwrap_or(NOWHERE);
        }
        if call && judged.is_tail(context, case) && !context.live {
            return Cause::Word("killed in the run");
        }
        if !call && context.agent.begins_midway(session) {
            return LOST_LINE;
        }
        NOWHERE
    }

    /// Both halves are there, or one is malformed: a record that stands twice may be why.
    fn of_disorder(&self, session: &Session, case: &Case) -> Cause {
        let line = session.record(case.record).line;
        if self.repeated.binary_search(&line).is_ok() {
            return self.named_at(Some(u64::from(line)), Family::Chain).unwrap_or(NOWHERE);
        }
        NOWHERE
    }

    fn named_at(&self, line: Option<u64>, family: Family) -> Option<Cause> {
        let line = line?;
        let (rule, _) = self.named.iter().find(|(rule, at)| *at == line && rule.family() == family)?;
        Some(Cause::at(rule, line))
    }

    /// The finding about a damaged line.
    fn damage_at(&self, session: &Session, line: u32) -> Cause {
        self.named_at(Some(u64::from(line)), Family::Lines).unwrap_or_else(|| {
            let bad = session.facts.bad_lines.iter().find(|b| b.line == line);
            bad.map_or(LOST_LINE, |b| Cause::at(lines::rule_of(b.kind), line))
        })
    }

    /// A finding that says why two branches lie beside each other.
    fn branch(&self) -> Option<Cause> {
        let (rule, line) = self.named.iter().find(|(rule, _)| FORKS.contains(rule))?;
        Some(Cause::at(rule, *line))
    }
}

const NOWHERE: Cause = Cause::Word("nowhere");
const LOST_LINE: Cause = Cause::Word("lost line");

/// Which half a case holds, and its id.
fn half(context: &Context<'_>, case: &Case) -> Option<(bool, u64)> {
    let session = context.session;
    let b = *context.request.blocks(&session.facts, case.record).get(case.block as usize)?;
    match b.kind {
        BlockKind::Call => Some((true, b.id)),
        BlockKind::Result => Some((false, b.id)),
        _ => None,
    }
}

/// A damaged line in whose bytes the id can be read.
fn legible(context: &Context<'_>, judged: &Judged, case: &Case) -> Option<u32> {
    let session = context.session;
    let bad = &session.facts.bad_lines;
    if bad.is_empty() {
        return None;
    }
    let id = judged.held.id(context, case.record, case.block).filter(|id| id.as_bytes().len() >= 4)?;
    let holds = |b: &&BadLine| {
        let bytes = session.source.read_range(b.offset, b.length.min(SEARCHED_BYTES)).unwrap_or_default();
        memchr::memmem::find(&bytes, id.as_bytes()).is_some()
    };
    bad.iter().take(SEARCHED).find(holds).map(|b| b.line)
}

/// A damaged line just where the other half should stand: behind a call and before the next record of the chain, or in
/// front of a result and behind the one before it.
fn near(context: &Context<'_>, case: &Case, call: bool) -> Option<BadLine> {
    let session = context.session;
    if session.facts.bad_lines.is_empty() {
        return None;
    }
    let rows = &context.request.rows;
    let at = rows.iter().position(|r| r.record == case.record)?;
    let (from, to) = if call {
        let next = rows[at + 1..].iter().map(|r| r.record).find(|&n| n > case.record);
        (case.record + 1, next.unwrap_or(session.facts.records.len() as u32))
    } else {
        let before = rows[..at].iter().rev().map(|r| r.record).find(|&n| n < case.record);
        (before.map_or(0, |n| n + 1), case.record)
    };
    session.facts.bad_lines.iter().find(|b| (from..=to).contains(&b.before)).copied()
}

/// Whether a record lies before the boundary that the chain begins with.
fn is_cut_off(session: &Session, n: u32) -> bool {
    let head = session.chain.adopted.iter().find(|&&a| {
        let r = session.record(a);
        r.any(flag::BOUNDARY | flag::CLEARED | flag::COMPACT_SUMMARY) || r.kind == Kind::Compaction
    });
    head.is_some_and(|&head| n < head)
}
