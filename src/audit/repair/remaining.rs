//! What a plan leaves, and why: what would answer it is named only after it was tried.

use crate::audit::mend::{Mend, answering};
use crate::finding::Finding;
use crate::repair::plan;
use crate::repair::worse::TakenBack;

/// Why a finding stays, in words that name what would answer it.
pub(super) fn why_left(finding: &Finding, mends: &[Mend], taken_back: &[TakenBack], options: &plan::Options) -> String {
    let code = finding.rule.code;
    let taken_back = taken_back.iter().find(|t| t.code == code);
    if let Some(Mend { ask, .. }) = answering(mends, code) {
        let further = (ask.up_to > options.up_to).then(|| format!("--up-to {}", ask.up_to.name()));
        return match (further, &ask.leaf, ask.nearest && !options.relink.nearest) {
            (_, Some(leaf), _) => match taken_back.filter(|t| t.worse.leaf.as_ref() == Some(leaf)) {
                Some(TakenBack { worse, .. }) => {
                    format!("it takes a decision, --leaf {leaf}: {}", worse.why)
                }
                None => format!("it takes a decision: --leaf {leaf} gives that leaf its place back"),
            },
            (Some(class), None, true) => format!("it takes {class} and a guess, --relink auto"),
            (Some(class), None, false) => format!("it takes {class}"),
            (None, None, _) => "it takes a guess: --relink auto takes the nearest link".to_owned(),
        };
    }
    match finding.rule.fix {
        None => "repair has no answer to it".to_owned(),
        Some(_) => match taken_back {
            Some(TakenBack { worse, .. }) => format!("its answer was taken back: {}", worse.why),
            None if finding.rule.fix > Some(options.up_to) => "nothing in the file answers it".to_owned(),
            None => "no answer is sure enough".to_owned(),
        },
    }
}
