//! The ids that a session is known by: in the file, by the file's place, and among the processes that run.

use std::collections::BTreeSet;

use super::{Session, Shape};
use crate::chain::agent::Loader;
use crate::text::Text;

/// The session id that stands in the file.
pub fn session_id(session: &Session) -> Option<Text> {
    if let Some(document) = &session.document {
        return document.id.as_deref().map(Text::from);
    }
    session.agent.stated_id(&session.facts, &session.source)
}

/// The session id that a file's place gives.
pub fn implied_id(path: &std::path::Path, agent: &dyn Loader, shape: Shape) -> Text {
    agent.id_by_place(path, shape == Shape::Subagent)
}

/// Every id under which a running agent may have registered this session: that of its name, and those in its records.
pub fn all(session: &Session) -> BTreeSet<String> {
    let mut ids = BTreeSet::from([implied_id(&session.path, session.agent, session.shape).lossy()]);
    ids.extend(session_id(session).map(|id| id.lossy()));
    let facts = &session.facts;
    let mut last = 0;
    for record in &facts.records {
        if record.session != last && record.session != 0 {
            last = record.session;
            ids.insert(facts.names.text(last));
        }
    }
    ids.extend(session.agent.other_ids(facts, &session.source).into_iter().map(|id| id.lossy()));
    ids
}
