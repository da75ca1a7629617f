//! What is kept of a session once it is judged, and what is let go: its id, its format, its verdicts.

use std::collections::BTreeSet;

use super::{Counts, Extra, FormatBy, SessionAudit};
use crate::chain::Mode;
use crate::dialect::Dialect;
use crate::record::agent::Cut;
use crate::rules::gate::Gate;
use crate::rules::{self, Context, legal, resume};
use crate::session::{Session, Shape, ids};

/// How many versions of an agent are named for one root.
const VERSIONS: usize = 100;

/// Judges a session by its findings and keeps what reports need. The verdicts are made from all findings, whatever the
/// gate then lets through.
pub fn judge(file: u32, context: &Context<'_>, gate: &Gate) -> SessionAudit {
    let (session, live) = (context.session, context.live);
    let (mut findings, healed) = rules::session_findings(context);
    let resume = resume::judge(context, &findings, healed.as_ref());
    drop(healed);
    let (api, api_codes) = legal::api(context, &findings);
    findings.retain(|finding| gate.keeps(finding) || finding.rule.code == super::join::MISSING_PARENT);
    findings.shrink_to_fit();
    let lines = &session.facts.lines;
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let format = Format::of(session);
    let session_id =
        ids::session_id(session).filter(|id| *id != ids::implied_id(&session.path, session.agent, session.shape));
    let usual = format == Format::usual(session.dialect) && session_id.is_none();
    let extra = (!usual || !api_codes.is_empty() || !findings.is_empty()).then(|| {
        Box::new(Extra {
            session_id,
            stated: format.stated,
            effective: format.effective,
            by: Some(format.by),
            api_codes,
            findings,
            mends: Vec::new(),
        })
    });
    SessionAudit {
        file,
        dialect: session.dialect,
        shape: session.shape,
        mode: session.chain.mode,
        live,
        stream: session.agent.cut(session.source.size()) == Cut::Separators,
        api,
        counts: Counts::of(
            session.dialect,
            resume,
            [lines.physical, lines.records, lines.blank, lines.bad, lines.torn].map(small),
        ),
        extra,
    }
}

/// The format version that a session states and the one that its loader takes it for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Format {
    /// What a field says.
    pub stated: Option<String>,
    /// What its loader takes it for.
    pub effective: Option<String>,
    /// How that is known.
    pub by: FormatBy,
}

impl Format {
    /// Of a session that was read.
    pub fn of(session: &Session) -> Self {
        let stated = session.facts.version.clone();
        let (effective, by) = match session.dialect {
            Dialect::Sid if session.shape == Shape::Legacy => (stated.clone(), FormatBy::Extension),
            // The last line decides how sid-code reads the file, whatever the version field says.
            Dialect::Sid => match (session.chain.mode, stated.as_deref()) {
                (Mode::Chain, Some("3.0")) => (stated.clone(), FormatBy::Field),
                (Mode::Chain, _) => (Some("3.0".to_owned()), FormatBy::TailShape),
                (Mode::Linear, None) => (Some("2.0".to_owned()), FormatBy::Absence),
                (Mode::Linear, Some("3.0")) => (Some("2.0".to_owned()), FormatBy::TailShape),
                _ => (stated.clone(), FormatBy::Field),
            },
            Dialect::Claude => (None, FormatBy::Absence),
            Dialect::Pi | Dialect::Openclaw => match &stated {
                Some(version) => (Some(version.clone()), FormatBy::Field),
                None => (Some("1".to_owned()), FormatBy::Absence),
            },
        };
        Format { stated, effective, by }
    }

    /// What nearly every session of this agent has, so that nothing need be kept of it.
    pub fn usual(dialect: Dialect) -> Self {
        let (version, by) = match dialect {
            Dialect::Sid => (Some("3.0"), FormatBy::Field),
            Dialect::Claude => (None, FormatBy::Absence),
            Dialect::Pi | Dialect::Openclaw => (Some("3"), FormatBy::Field),
        };
        let version = version.map(str::to_owned);
        Format { stated: version.clone(), effective: version, by }
    }
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
