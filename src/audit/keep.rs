//! What is kept of a session once it is judged, and what is let go: the ids it is known by, its format, its verdicts.

use std::collections::BTreeSet;

use super::{Counts, Extra, FormatBy, SessionAudit};
use crate::chain::Mode;
use crate::dialect::Dialect;
use crate::record::again;
use crate::record::agent::Cut;
use crate::record::facts::{Kind, flag};
use crate::rules::gate::Gate;
use crate::rules::{self, Context, legal, resume};
use crate::session::{Session, Shape};
use crate::text::Text;

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
    let session_id = session_id(session).filter(|id| *id != implied_id(&session.path, session.dialect, session.shape));
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

/// The session id that stands in the file.
pub fn session_id(session: &Session) -> Option<Text> {
    if let Some(document) = &session.document {
        return document.id.as_deref().map(Text::from);
    }
    let facts = &session.facts;
    let named = |n: u16| facts.names.get(n).map(Text::from);
    match session.dialect {
        Dialect::Pi | Dialect::Openclaw => {
            let header = facts.records.iter().find(|r| r.kind == Kind::Start && r.has(flag::ID_STRING))?;
            again::id(&session.source, header)
        }
        Dialect::Sid => {
            let start = facts.records.iter().rev().find(|r| r.kind == Kind::Start && r.session != 0);
            start.or_else(|| facts.records.iter().find(|r| r.session != 0)).and_then(|r| named(r.session))
        }
        Dialect::Claude => facts.records.iter().find(|r| r.session != 0).and_then(|r| named(r.session)),
    }
}

/// The session id that a file's place gives: its name; behind the time in pi's names; for a subagent of Claude Code the
/// folder of its session.
pub fn implied_id(path: &std::path::Path, dialect: Dialect, shape: Shape) -> Text {
    let stem = path.file_stem().map(|stem| stem.as_encoded_bytes()).unwrap_or_default();
    let id = match (dialect, shape) {
        (Dialect::Claude, Shape::Subagent) => path
            .ancestors()
            .skip(1)
            .find(|above| above.file_name().is_some_and(|name| name == "subagents"))
            .and_then(|subagents| subagents.parent()?.file_name())
            .map_or(stem, |name| name.as_encoded_bytes()),
        (Dialect::Pi | Dialect::Openclaw, _) => stem.rsplit(|b| *b == b'_').next().unwrap_or(stem),
        _ => stem,
    };
    Text::from(id)
}

/// Every id under which a running agent may have registered this session: that of its name, those in its records, and
/// sid-code's `trace_session_id`s, because a resumed session is registered under the id of the resuming process.
pub fn ids(session: &Session) -> BTreeSet<String> {
    let mut ids = BTreeSet::from([implied_id(&session.path, session.dialect, session.shape).lossy()]);
    ids.extend(session_id(session).map(|id| id.lossy()));
    let facts = &session.facts;
    let mut last = 0;
    for record in &facts.records {
        if record.session != last && record.session != 0 {
            last = record.session;
            ids.insert(facts.names.text(last));
        }
    }
    let trace = facts.names.find(b"trace_session_id");
    if session.dialect == Dialect::Sid && trace != 0 {
        let traces = facts.records.iter().filter(|r| r.kind == Kind::Metadata && r.agent == trace);
        ids.extend(traces.filter_map(|r| again::field(&session.source, r, &["value"])).map(|id| id.lossy()));
    }
    ids
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
