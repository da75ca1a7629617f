//! The verdict API, made from the findings: would the next prompt be answered?
//!
//! The rules of the families T and M (and L109) say what the API objects to and what the agent heals before it sends;
//! here their severities are only read.

use crate::audit::ApiVerdict;
use crate::dialect::Dialect;
use crate::finding::{Finding, Severity};
use crate::session::Session;

/// The verdict, with the codes that make it.
pub fn judge(session: &Session, findings: &[Finding], live: bool) -> (ApiVerdict, Vec<&'static str>) {
    let at = |severity: Severity| {
        let mut codes: Vec<&'static str> =
            findings.iter().filter(|f| f.severity == severity && speaks_of_api(f)).map(|f| f.rule.code).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    };
    let refused = at(Severity::Error);
    if !refused.is_empty() {
        return (ApiVerdict::Refused, refused);
    }
    if !rules_are_known(session) {
        return (ApiVerdict::Unknown, Vec::new());
    }
    let healed = at(Severity::Warning);
    match (live, healed.is_empty()) {
        (true, _) => (ApiVerdict::InFlight, healed),
        (false, true) => (ApiVerdict::Ok, healed),
        (false, false) => (ApiVerdict::Healed, healed),
    }
}

fn speaks_of_api(finding: &Finding) -> bool {
    finding.rule.code == "L109" || finding.rule.code.starts_with(['T', 'M'])
}

/// The rules of one provider are known here. A session that names none is taken for one of its agent's own provider.
fn rules_are_known(session: &Session) -> bool {
    match session.facts.provider.as_deref() {
        Some(provider) => provider.to_ascii_lowercase().contains("anthropic") || provider == "claude",
        None => matches!(session.dialect, Dialect::Claude | Dialect::Sid),
    }
}
