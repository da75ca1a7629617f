//! What is kept of a session once it is judged, and what is let go: its id, its format, its verdicts.

use std::collections::BTreeSet;

use super::{Counts, Extra, Reader, SessionAudit};
use crate::chain::Refusal;
use crate::record::agent::Cut;
use crate::rules::chain::MISSING_PARENT;
use crate::rules::filter::Gate;
use crate::rules::{self, Context, api_verdict, resume};
use crate::session::{Session, ids};

/// How many versions of an agent are named for one root.
const VERSIONS: usize = 100;

/// Judges a session by its findings and keeps what reports need. The verdicts are made from all findings, whatever the
/// gate then lets through.
pub fn judge(file: u32, context: &Context<'_>, gate: &Gate) -> SessionAudit {
    let (session, live) = (context.session, context.live);
    let agent = session.agent;
    let (mut findings, recovered) = rules::session_findings(context);
    let resume = resume::judge(context, &findings, recovered.as_ref());
    drop(recovered);
    let (api, api_rules) = api_verdict::api(context, resume.verdict, &findings);
    // Only the whole store can tell a missing parent from one in another session. A gate that keeps the second and not the
    // first must not lose it before that is known.
    findings.retain(|finding| gate.keeps(finding) || finding.is(&MISSING_PARENT));
    findings.shrink_to_fit();
    let lines = &session.facts.lines;
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let format = agent.format(session.facts.version.as_deref(), session.chain.mode);
    let session_id =
        ids::session_id(session).filter(|id| *id != ids::implied_id(&session.path, session.agent, session.shape));
    let usual = format == agent.usual_format() && session_id.is_none();
    let readers = readers(session, resume.loaded);
    let extra = (!usual || !readers.is_empty() || !api_rules.is_empty() || !findings.is_empty()).then(|| {
        Box::new(Extra {
            session_id,
            stated: format.stated,
            effective: format.effective,
            by: Some(format.by),
            api_rules,
            findings,
            mends: Vec::new(),
            readers,
        })
    });
    SessionAudit {
        file,
        agent_id: session.agent_id,
        shape: session.shape,
        mode: session.chain.mode,
        live,
        stream: agent.cut(session.source.size()) == Cut::Separators,
        api,
        counts: Counts::of(resume, [lines.physical, lines.records, lines.blank, lines.bad, lines.torn].map(small)),
        extra,
    }
}

/// What each known loader makes of a session, where they do not all load so many messages.
fn readers(session: &Session, loaded: u32) -> Vec<Reader> {
    let raises = session.chain.refusal.and_then(Refusal::raises);
    let mut readers = vec![Reader { loader: session.agent_id.loader(), loaded, raises }];
    readers.extend(session.other_readings().iter().map(|reading| {
        let loaded = u32::try_from(reading.messages.len()).unwrap_or(u32::MAX);
        Reader { loader: reading.loader, loaded, raises: reading.raises }
    }));
    let same = readers.iter().all(|reader| reader.loaded == loaded && reader.raises.is_none());
    if same { Vec::new() } else { readers }
}

/// Adds the versions of the agent that wrote this session.
pub fn versions(session: &Session, versions: &mut BTreeSet<String>) {
    let facts = &session.facts;
    let mut last = 0;
    for record in facts.records.iter().filter(|record| record.version != 0) {
        if record.version != last && versions.len() < VERSIONS {
            last = record.version;
            versions.insert(facts.names.text(last));
        }
    }
}
