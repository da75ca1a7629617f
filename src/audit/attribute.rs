//! What rules about the store found, put where it belongs: to the session that it is about, else to the store. And
//! parents that a file lacks and another has: C201 there becomes C212, also where it is named as a cause.

use super::SessionAudit;
use crate::agents;
use crate::finding::Finding;
use crate::rules::chain::in_other_session;
use crate::rules::gate::Gate;
use crate::rules::store::StoreReport;
use crate::store::Discovery;

/// The code of a missing parent, which only the whole store can tell from a parent in another session. A gate that keeps
/// the second and not the first must not lose it before that is known.
pub(super) const MISSING_PARENT: &str = "C201";

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
        let of = |code: &str, f: &Finding| f.rule.code == code && f.place.line == line;
        // Nothing was lost: the record is there. Where a whole run is another session's, that is why.
        let run = extra.findings.iter().find(|f| of("S508", f)).map(Finding::name_at_line);
        let Some(missing) = extra.findings.iter_mut().find(|f| of(MISSING_PARENT, f)) else { continue };
        let before = missing.name_at_line();
        *missing = Finding { cause: run, ..in_other_session(missing, &other) };
        let after = missing.name_at_line();
        for finding in extra.findings.iter_mut().filter(|f| f.cause.as_deref() == Some(&before)) {
            finding.cause = Some(after.clone());
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
    let usual = agents::of(session.dialect).usual_format();
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
