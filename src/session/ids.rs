//! The ids that a session is known by: in the file, by the file's place, and among the processes that run.

use std::collections::BTreeSet;

use super::{Session, Shape};
use crate::dialect::Dialect;
use crate::record::again;
use crate::record::facts::{Kind, flag};
use crate::text::Text;

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
pub fn all(session: &Session) -> BTreeSet<String> {
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
