//! What a plan leaves, and why: the class that would mend it is named only after it was tried.

use std::collections::BTreeMap;

use crate::finding::{Finding, Fix};
use crate::repair::plan;
use crate::repair::worse::TakenBack;

/// What a repair up to another class would leave, by code.
pub(super) struct Further {
    up_to: Fix,
    left: BTreeMap<&'static str, u64>,
}

impl Further {
    /// Of that class, with what its plan leaves.
    pub(super) fn new(up_to: Fix, left: &[Finding]) -> Self {
        Further { up_to, left: counts(left) }
    }
}

/// The classes beyond the chosen one, where something is left that has a class. What they would mend is tried, not promised:
/// a consequence goes with its cause, and an index without a whole snapshot has nothing to salvage.
pub(super) fn beyond(left: &[Finding], up_to: Fix) -> impl Iterator<Item = Fix> + use<> {
    let mends = left.iter().any(|f| f.rule.fix.is_some());
    [Fix::Links, Fix::Content].into_iter().filter(move |class| mends && *class > up_to)
}

/// Findings by code, those not listed included.
pub(super) fn counts(findings: &[Finding]) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for f in findings {
        *counts.entry(f.rule.code).or_default() += 1 + f.more.unwrap_or(0);
    }
    counts
}

/// Why a finding stays, in words that name what would answer it.
pub(super) fn why_left(
    finding: &Finding,
    counts: &BTreeMap<&'static str, u64>,
    further: &[Further],
    taken_back: &[TakenBack],
    options: &plan::Options,
) -> String {
    let code = finding.rule.code;
    let fewer = |f: &&Further| f.left.get(code) < counts.get(code);
    if let Some(further) = further.iter().find(fewer) {
        return format!("it takes --up-to {}", further.up_to.name());
    }
    match finding.rule.fix {
        None => "repair has no answer to it".to_owned(),
        Some(_) => match taken_back.iter().find(|t| t.code == code) {
            Some(TakenBack { worse, .. }) => format!("its answer was taken back: {}", worse.why),
            None if finding.rule.fix > Some(options.up_to) => "nothing in the file answers it".to_owned(),
            None => "no answer is sure enough".to_owned(),
        },
    }
}
