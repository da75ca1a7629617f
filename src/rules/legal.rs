//! What the API rules (T, M) share: how much a defect weighs in the next request, in which order findings are kept, and
//! the API verdict made of them.
//!
//! **How a provider is judged.** Anthropic's rules are known here. For another provider a defect is a warning and the
//! verdict is `unknown`. One thing is known whatever the provider: whether calls and results belong together as sid-code's
//! own integrity check has it, because that check is the agent's and runs on every history that it loads. So for sid-code
//! a history that is not intact after cleaning is `refused`, one that was mended by the cleaning is `healed`, and all that
//! depends on the provider (order, repeated ids, content) leaves the verdict `unknown`.

use super::{Collector, Context};
use crate::dialect::Dialect;
pub(super) use crate::finding::Weight;
use crate::finding::{Family, Finding, Place, Rule, Severity};
use crate::request::{Api, WHOLE};
use crate::verdict::ApiVerdict;

impl Weight {
    /// The weight of what reaches the API, or does not because the agent leaves it out.
    pub(super) fn sent(left_out: bool) -> Weight {
        if left_out { Weight::Healed } else { Weight::Refused }
    }

    fn severity(self, api: Api) -> Severity {
        match self {
            Weight::Noted | Weight::InFlight => Severity::Info,
            Weight::Warned | Weight::Healed => Severity::Warning,
            Weight::Refused if api == Api::Unknown => Severity::Warning,
            Weight::Refused | Weight::Breaks => Severity::Error,
        }
    }
}

/// A defect before it is made into a finding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) rule: &'static Rule,
    pub(super) weight: Weight,
    /// The record it stands in.
    pub(super) record: u32,
    /// The block's place in the record's blocks, or [`WHOLE`].
    pub(super) block: u32,
    /// Whatever the rule keeps for its words.
    pub(super) detail: u32,
}

impl Case {
    pub(super) fn new(rule: &'static Rule, weight: Weight, record: u32, block: u32) -> Case {
        Case { rule, weight, record, block, detail: u32::MAX }
    }

    /// The same case with a detail.
    pub(super) fn with(mut self, detail: u32) -> Case {
        self.detail = detail;
        self
    }
}

/// Makes findings of cases. The worst of each code come first, so that a cap on places never hides the one that decides
/// the verdict; the collector puts them into file order afterwards.
pub(super) fn settle(
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
        let mut finding = case.rule.at(place.1.clone()).severity(case.weight.severity(api)).weighs(case.weight);
        if case.block != WHOLE {
            let blocks = context.request.blocks(&context.session.facts, case.record);
            let index = blocks.get(case.block as usize).map_or(case.block, |b| u32::from(b.index));
            finding = finding.block(index);
        }
        if case.weight == Weight::Healed {
            finding = finding.fact(HEALED.0, HEALED.1);
        }
        let finding = word(case, finding, found);
        found.add(finding);
    }
}

/// What becomes of something that reaches the API as it stands.
pub(super) fn as_it_stands(context: &Context<'_>, answer: &str) -> String {
    let loader = context.session.dialect.loader();
    // The loader that was run is the SDK's; it hands on, and the client sends.
    let does = match context.session.dialect {
        Dialect::Claude => "brings it back as it stands; sent so,",
        _ => "sends it as it stands;",
    };
    match context.request.api {
        Api::Anthropic => format!("{loader} {does} {answer}"),
        Api::Unknown => format!("{loader} {does} what this provider answers is not known here"),
    }
}

/// The usual answer.
pub(super) const REFUSED: &str = "the API answers 400 to every prompt";

/// Would the next prompt be answered? Made from the findings, and for sid-code from its own integrity check; with the
/// rules that decide it.
pub fn api(context: &Context<'_>, findings: &[Finding]) -> (ApiVerdict, Vec<&'static Rule>) {
    let session = context.session;
    let sent = context.request;
    let rules = |keep: &dyn Fn(Weight) -> bool| {
        let mut rules: Vec<&'static Rule> = findings.iter().filter(|f| keep(f.api)).map(|f| f.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    };
    let refused = rules(&|weight| weight.severity(sent.api) == Severity::Error);
    if sent.ended {
        return (ApiVerdict::Ok, Vec::new());
    }
    let torn = sent.integrity.as_ref().is_some_and(|[_, cleaned]| !cleaned.intact());
    if !refused.is_empty() || torn {
        return (ApiVerdict::Refused, refused);
    }
    if session.chain.refusal.is_some() {
        // Nothing is sent of it, so there is nothing to judge.
        return (ApiVerdict::Unknown, Vec::new());
    }
    let in_flight = rules(&|weight| weight == Weight::InFlight);
    if !in_flight.is_empty() {
        return (ApiVerdict::InFlight, in_flight);
    }
    let healed = rules(&|weight| weight == Weight::Healed);
    let of_tools = |rule: &&'static Rule| rule.family() == Family::Tools;
    let pairs = match (&sent.integrity, session.dialect) {
        (Some([raw, _]), _) => !raw.intact(),
        (None, Dialect::Sid) => false,
        _ => healed.iter().any(of_tools),
    };
    match sent.api {
        Api::Anthropic if !healed.is_empty() => (ApiVerdict::Healed, healed),
        Api::Unknown if pairs => (ApiVerdict::Healed, healed.into_iter().filter(of_tools).collect()),
        _ if sent.rows.is_empty() => (ApiVerdict::Ok, Vec::new()),
        Api::Anthropic => (ApiVerdict::Ok, Vec::new()),
        Api::Unknown => (ApiVerdict::Unknown, Vec::new()),
    }
}

/// The fact that marks what the agent mends before it sends.
pub(super) const HEALED: (&str, bool) = ("healed", true);

/// The fact that marks a call whose tool is running now.
pub(super) const IN_FLIGHT: (&str, &str) = ("state", "in flight");
