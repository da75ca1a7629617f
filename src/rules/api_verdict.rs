//! What the API rules (T, M) share: how much a defect weighs in the next request, in which order findings are kept, and
//! the API verdict made of them.
//!
//! **How a provider is judged.** Anthropic's rules are known here. Of providers that speak OpenAI's protocol one rule is
//! known: calls and results come in pairs. `ok` says of them that the pairs are whole. For any other provider a defect is a
//! warning and the verdict is `unknown`. A history whose pairs the agent itself repairs before it sends is `healed`.

use super::messages::REQUEST_REFUSED;
use super::tools::{DANGLING_TOOL_RESULT, ORPHAN_TOOL_USE};
use super::{Collector, Context};
pub use crate::finding::Weight;
use crate::finding::{Family, Finding, Place, Rule, Severity};
use crate::provider::Api;
use crate::request::WHOLE;
use crate::verdict::{ApiVerdict, ResumeVerdict};

impl Weight {
    /// The weight of what reaches the API, or does not because the agent leaves it out.
    pub fn sent(left_out: bool) -> Weight {
        if left_out { Weight::Healed } else { Weight::Refused }
    }

    fn severity(self, api: Api, rule: &Rule) -> Severity {
        match self {
            Weight::Noted | Weight::InFlight => Severity::Info,
            Weight::Warned | Weight::Healed => Severity::Warning,
            Weight::Refused if !knows(api, rule) => Severity::Warning,
            Weight::Refused | Weight::Breaks => Severity::Error,
        }
    }
}

/// Whether it is known that this provider refuses what breaks the rule.
fn knows(api: Api, rule: &Rule) -> bool {
    let of_pairs = || *rule == ORPHAN_TOOL_USE || *rule == DANGLING_TOOL_RESULT;
    api == Api::Anthropic || *rule == REQUEST_REFUSED || api.pairs() && of_pairs()
}

/// What an agent does with a defect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    /// It does not send it.
    NotSent,
    /// This.
    Says(&'static str),
    /// It sends it as it stands, and the API answers so.
    Sends(&'static str),
}

/// How much a defect weighs for an agent, and what that does with it.
pub type Treatment = (Weight, Does);

/// It is not in the request, or of no consequence there.
pub const NOTED: Treatment = (Weight::Noted, Does::NotSent);

/// It is sent as it stands, and the API refuses the request.
pub const REFUSED: Treatment = (Weight::Refused, Does::Sends(ANSWERS_400));

/// The agent mends it before it sends.
pub const fn healed(how: &'static str) -> Treatment {
    (Weight::Healed, Does::Says(how))
}

/// A defect before it is made into a finding.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The rule that it breaks.
    pub rule: &'static Rule,
    /// How much it weighs.
    pub weight: Weight,
    /// What the agent does with it.
    pub does: Does,
    /// The record it stands in.
    pub record: u32,
    /// The block's place in the record's blocks, or [`WHOLE`].
    pub block: u32,
    /// Whatever the rule keeps for its words.
    pub detail: u32,
    /// The answer that proves that it was accepted.
    accepted: Option<u32>,
}

impl Case {
    /// A case without a detail.
    pub fn new(rule: &'static Rule, (weight, does): Treatment, record: u32, block: u32) -> Case {
        Case { rule, weight, does, record, block, detail: u32::MAX, accepted: None }
    }

    /// The same case with a detail.
    #[must_use]
    pub fn with(mut self, detail: u32) -> Case {
        self.detail = detail;
        self
    }
}

/// Makes findings of cases. The worst of each code come first, so that a cap on places never hides the one that decides
/// the verdict; the collector puts them into file order afterwards.
pub(super) fn emit(
    context: &Context<'_>,
    mut cases: Vec<Case>,
    found: &mut Collector,
    word: impl Fn(&Case, Finding, &Collector) -> Finding,
) {
    let api = context.request.api;
    if context.request.ended {
        // What is never sent again is nothing to the API.
        cases.iter_mut().for_each(|c| c.weight = Weight::Noted);
    }
    for case in &mut cases {
        if matches!(case.weight, Weight::Refused | Weight::Warned) {
            case.accepted = context.request.accepted(case.record);
        }
        if case.accepted.is_some() {
            case.weight = Weight::Noted;
        }
    }
    cases.sort_by_key(|c| (c.rule.code, std::cmp::Reverse(c.weight)));
    // One record may have tens of thousands of cases; its place is read once.
    let mut place = (u32::MAX, Place::default());
    for case in &cases {
        if !found.wants(case.rule) {
            continue;
        }
        if place.0 != case.record {
            place = (case.record, context.place(case.record));
        }
        let mut finding =
            case.rule.at(place.1.clone()).severity(case.weight.severity(api, case.rule)).weighs(case.weight);
        if case.block != WHOLE {
            let blocks = context.request.blocks(&context.session.facts, case.record);
            let index = blocks.get(case.block as usize).map_or(case.block, |b| u32::from(b.index));
            finding = finding.block(index);
        }
        if case.weight == Weight::Healed {
            finding = finding.fact(HEALED.0, HEALED.1);
        }
        let finding = word(case, finding, found);
        found.add(match case.accepted {
            // What an answer proves is no error, whatever the rules say.
            Some(answer) => finding
                .fact("answered_at_line", context.session.record(answer).line)
                .effect("the API accepted it: a model answered after it"),
            None => finding,
        });
    }
}

/// The sentence about what the agent does.
pub(super) fn effect(context: &Context<'_>, rule: &Rule, does: Does) -> String {
    match does {
        Does::NotSent => context.says("{loader} does not send it"),
        Does::Says(sentence) => context.says(sentence),
        Does::Sends(answer) => {
            let sends = context.says(context.agent.words().as_it_stands);
            let answer = if knows(context.request.api, rule) { answer } else { NOT_KNOWN };
            format!("{sends} {answer}")
        }
    }
}

/// What a provider answers whose rules are not known.
const NOT_KNOWN: &str = "what this provider answers is not known here";

/// The usual answer.
pub(super) const ANSWERS_400: &str = "the API answers 400 to every prompt";

/// Would the next prompt be answered? Made from the findings, and from the agent's own integrity check where it has one;
/// with the rules that decide it.
pub fn api(context: &Context<'_>, resume: ResumeVerdict, findings: &[Finding]) -> (ApiVerdict, Vec<&'static Rule>) {
    if resume == ResumeVerdict::None || context.session.chain.refusal.is_some() {
        return (ApiVerdict::NotSent, Vec::new());
    }
    let sent = context.request;
    let rules = |keep: &dyn Fn(&Finding) -> bool| {
        let mut rules: Vec<&'static Rule> = findings.iter().filter(|f| keep(f)).map(|f| f.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    };
    let refused = rules(&|f| f.api.severity(sent.api, f.rule) == Severity::Error);
    if sent.ended {
        return (ApiVerdict::Ok, Vec::new());
    }
    if !refused.is_empty() {
        return (ApiVerdict::Refused, refused);
    }
    let in_flight = rules(&|f| f.api == Weight::InFlight);
    if !in_flight.is_empty() {
        return (ApiVerdict::InFlight, in_flight);
    }
    let healed = rules(&|f| f.api == Weight::Healed);
    let of_tools = |rule: &&'static Rule| rule.family() == Family::Tools;
    let pairs = context.agent.mends_pairs(sent, healed.iter().any(of_tools));
    match sent.api {
        Api::Anthropic if !healed.is_empty() => (ApiVerdict::Healed, healed),
        Api::OpenAi | Api::Unknown if pairs => (ApiVerdict::Healed, healed.into_iter().filter(of_tools).collect()),
        _ if sent.rows.is_empty() => (ApiVerdict::Ok, Vec::new()),
        Api::Anthropic | Api::OpenAi => (ApiVerdict::Ok, Vec::new()),
        Api::Unknown => (ApiVerdict::Unknown, Vec::new()),
    }
}

/// The fact that marks what the agent mends before it sends.
pub(super) const HEALED: (&str, bool) = ("healed", true);

/// The fact that marks a call whose tool is running now.
pub(super) const IN_FLIGHT: (&str, &str) = ("state", "in flight");
