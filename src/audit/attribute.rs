//! What rules about the store found, put where it belongs: to the session that it is about, else to the store. And
//! parents that a file lacks and another has: C201 there becomes C212, also where it is named as a cause.

use super::SessionAudit;
use crate::agents;
use crate::finding::{Finding, Rule};
use crate::rules::chain::{MISSING_PARENT, in_other_session};
use crate::rules::filter::Gate;
use crate::rules::store::{FOREIGN_RECORDS, StoreReport};
use crate::store::Discovery;

/// Puts each where it belongs. Returns what belongs to no session. `sessions` are sorted by file.
pub(super) fn attribute(
    sessions: &mut [SessionAudit],
    report: StoreReport,
    discovery: &Discovery,
    gate: &Gate,
) -> Vec<Finding> {
    let at = |sessions: &[SessionAudit], file: u32| sessions.binary_search_by_key(&file, |s| s.file).ok();
    for found in &report.elsewhere {
        let Some(n) = at(sessions, found.file) else { continue };
        let Some(extra) = sessions[n].extra.as_mut() else { continue };
        let Some(other) = discovery.files.get(found.other as usize).map(|file| discovery.path(file)) else { continue };
        let line = Some(u64::from(found.line));
        let of = |rule: &Rule, f: &Finding| f.is(rule) && f.place.line == line;
        // Nothing was lost: the record is there. Where a whole run is another session's, that is why.
        let run = extra.findings.iter().find(|f| of(&FOREIGN_RECORDS, f)).map(Finding::as_cause);
        let Some(missing) = extra.findings.iter_mut().find(|f| of(&MISSING_PARENT, f)) else { continue };
        let before = missing.as_cause();
        *missing = Finding { cause: run, ..in_other_session(missing, &other) };
        let after = missing.as_cause();
        for finding in extra.findings.iter_mut().filter(|f| f.cause == Some(before)) {
            finding.cause = Some(after);
        }
    }
    for extra in sessions.iter_mut().filter_map(|s| s.extra.as_mut()) {
        extra.findings.retain(|finding| gate.keeps(finding));
    }
    let mut store = Vec::new();
    for (file, finding) in report.findings {
        if !gate.keeps(&finding) {
            continue;
        }
        match file.and_then(|file| at(sessions, file)) {
            Some(n) => add(&mut sessions[n], finding),
            None => store.push(finding),
        }
    }
    store
}

/// Adds a finding to a session, behind its own of the same line.
pub(super) fn add(session: &mut SessionAudit, finding: Finding) {
    let usual = agents::of(session.agent_id).usual_format();
    let extra = session.extra.get_or_insert_with(|| {
        Box::new(super::Extra {
            stated: usual.stated,
            effective: usual.effective,
            by: Some(usual.by),
            ..super::Extra::default()
        })
    });
    let place = extra.findings.partition_point(|f| f.place.line <= finding.place.line);
    extra.findings.insert(place, finding);
}
