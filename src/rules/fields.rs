//! F: the field census. What is never written in a whole store, and whether that is right.
//!
//! Nothing is counted here: what is said are the values of `metrics::census`, as `fields` shows them in full. What is right
//! or not decidable is one finding an agent; what was lost on the way is one a field, because each has its own way to look
//! for. A part of a store (one session, a project's folder) is not judged: its zeros say nothing.

use crate::finding::{Finding, Place, Rule, Severity};
use crate::identity::AgentId;
use crate::metrics::census::{FieldVerdict, Verdict};
use crate::store::{Discovery, Root};

/// The rules of this family.
pub static RULES: &[&Rule] = &[&CANNOT_OCCUR, &DID_NOT_OCCUR, &LOST_ON_THE_WAY, &UNPROVEN];

/// So many fields are named in one finding.
const NAMED: usize = 20;

/// Says what the census of a store found.
///
/// `counted_as` is the agent under whose name an agent's fields are counted.
pub fn check_store(
    verdicts: &[FieldVerdict],
    discovery: &Discovery,
    counted_as: impl Fn(AgentId) -> AgentId,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut rest = verdicts;
    while let Some(first) = rest.first() {
        let (own, others) = rest.split_at(rest.partition_point(|v| v.agent_id == first.agent_id));
        rest = others;
        let is_home =
            |root: &&Root| root.layout.is_home() && root.agent_id.is_some_and(|d| counted_as(d) == first.agent_id);
        let Some(root) = discovery.roots.iter().find(is_home) else { continue };
        let path = root.store.as_deref().unwrap_or(&root.path);
        for (rule, verdict) in [
            (&CANNOT_OCCUR, Verdict::CannotOccur),
            (&DID_NOT_OCCUR, Verdict::DidNotOccur),
            (&UNPROVEN, Verdict::Unproven),
        ] {
            let with = || own.iter().filter(|v| v.verdict == verdict);
            let fields = with().count();
            if fields > 0 {
                let named: Vec<String> = with().take(NAMED).map(|v| v.path.to_string()).collect();
                findings.push(
                    rule.at(Place::default())
                        .path(path)
                        .effect(format!("{}: `fields` lists each with its evidence", words(fields, verdict)))
                        .fact("agent", first.agent_id.name())
                        .fact("fields", fields)
                        .fact("paths", named),
                );
            }
        }
        for lost in own.iter().filter(|v| v.verdict == Verdict::LostOnTheWay) {
            findings.push(
                LOST_ON_THE_WAY
                    .at(Place::default())
                    .path(path)
                    .effect(format!(
                        "{} is never written, although {} occurred {} times",
                        lost.path,
                        lost.cause,
                        lost.cause_count.unwrap_or(0)
                    ))
                    .fact("agent", lost.agent_id.name())
                    .fact("field", &*lost.path)
                    .fact("cause", &*lost.cause)
                    .fact("cause_count", lost.cause_count.unwrap_or(0)),
            );
        }
    }
    findings.sort_by(|a, b| (a.rule.code, &a.path).cmp(&(b.rule.code, &b.path)));
    findings
}

fn words(fields: usize, verdict: Verdict) -> String {
    let what = match verdict {
        Verdict::CannotOccur => "that cannot occur",
        Verdict::DidNotOccur => "whose cause did not occur either",
        _ => "of which it cannot be told why they are not there",
    };
    format!("{fields} type{} or field{} {what}", if fields == 1 { "" } else { "s" }, if fields == 1 { "" } else { "s" })
}

static CANNOT_OCCUR: Rule =
    Rule { code: "F701", name: "cannot-occur", severity: Severity::Info, fix: None, since: "0.1.0" };

static DID_NOT_OCCUR: Rule =
    Rule { code: "F702", name: "did-not-occur", severity: Severity::Info, fix: None, since: "0.1.0" };

static LOST_ON_THE_WAY: Rule =
    Rule { code: "F703", name: "lost-on-the-way", severity: Severity::Warning, fix: None, since: "0.1.0" };

static UNPROVEN: Rule = Rule { code: "F704", name: "unproven", severity: Severity::Info, fix: None, since: "0.1.0" };
