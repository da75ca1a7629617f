//! Names against contents: is the id inside the one that the file's name gives (S506), and does the file lie in the
//! folder of its project (S507)?
//!
//! A folder's name cannot be turned back into a path, all three rules are many-to-one. So every directory that the
//! records name is encoded as the agent would, and compared. What cannot be judged is left alone: names that no agent
//! gives, flat folders, a folder whose name is no encoded path (a variable may choose it).

use super::Context;
use super::agent::Judges;
use crate::finding::{Finding, Place, Rule, Severity};
use crate::rules::Collector;
use crate::session::{Session, Shape};
use crate::store::Discovery;
use crate::text::lossy;

pub(super) static ID_DIFFERS_FROM_NAME: Rule =
    Rule { code: "S506", name: "id-differs-from-name", severity: Severity::Warning, fix: None, since: "0.1.0" };

pub(super) static WRONG_FOLDER: Rule =
    Rule { code: "S507", name: "wrong-folder", severity: Severity::Warning, fix: None, since: "0.1.0" };

/// An id inside that is not the one of the file's name.
#[derive(Debug)]
pub struct Differs<'a> {
    /// Where it stands.
    pub place: Place,
    /// The id inside.
    pub inside: String,
    /// The id that the name gives.
    pub named: &'a [u8],
    /// What the agent does.
    pub effect: &'static str,
}

/// The effect where the name decides.
pub(crate) const BY_NAME: &str = "the file is found by its name only, so asking for the id inside finds nothing";

/// S506: the name of the file against the ids inside.
pub(super) fn check(context: &Context<'_>, found: &mut Collector) {
    let session = context.session;
    let stem = session.path.file_stem().map(|s| s.as_encoded_bytes()).unwrap_or_default();
    let Some(Differs { place, inside, named, effect }) = context.agent.differs(session, stem) else { return };
    found.add(
        ID_DIFFERS_FROM_NAME
            .at(place)
            .effect(format!("{}: {effect}", session.agent_id.loader()))
            .fact("inside", inside)
            .fact("name", lossy(named)),
    );
}

/// S507: whether the session's directories belong to the folder it lies in.
pub(super) fn wrong_folder(session: &Session, agents: Judges, file: u32, discovery: &Discovery) -> Option<Finding> {
    if session.shape == Shape::Sidechain || session.shape == Shape::Subagent {
        return None;
    }
    let folder = discovery.folder(discovery.files.get(file as usize)?)?;
    let name = lossy(folder.path.file_name()?.as_encoded_bytes());
    let store = discovery.roots.get(folder.root as usize)?.store.as_deref();
    let laid_out = agents.of(folder.layout.agent_id()?).filter(|agent| agent.is_project(folder.layout, &name))?;
    let belongs = |cwd: &str| laid_out.belongs(cwd, &name, store);
    let cwds = directories(session);
    let (line, first) = cwds.first()?;
    if cwds.iter().any(|(_, cwd)| belongs(cwd))
        || agents.of(session.agent_id)?.origins(session).iter().any(|cwd| belongs(cwd))
    {
        return None;
    }
    let cwds: Vec<String> = cwds.iter().map(|(_, cwd)| cwd.clone()).take(super::NAMED).collect();
    Some(
        WRONG_FOLDER
            .at(line.map(|n| Place::line(u64::from(n))).unwrap_or_default())
            .effect(format!(
                "{}: listed and resumed in the project of '{name}', and not found from its own directory",
                session.agent_id.loader()
            ))
            .fact("folder", name.as_str())
            .fact("expected", laid_out.project(first))
            .fact("directories", cwds),
    )
}

/// The working directories that a session names, in the order in which they first appear, with the line.
fn directories(session: &Session) -> Vec<(Option<u32>, String)> {
    if let Some(document) = &session.document {
        return document.cwd.iter().map(|cwd| (None, cwd.clone())).collect();
    }
    let facts = &session.facts;
    let mut seen = std::collections::BTreeSet::new();
    let mut all = Vec::new();
    let mut last = 0;
    for record in facts.records.iter().filter(|r| r.cwd != 0) {
        if record.cwd != last {
            last = record.cwd;
            if seen.insert(last) {
                all.push((Some(record.line), facts.names.text(last)));
            }
        }
    }
    all.retain(|(_, cwd)| !cwd.is_empty());
    all
}

/// The directory and every folder above it: an agent started in a project may work further down.
pub(crate) fn with_parents(cwd: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(cwd);
    std::iter::from_fn(move || {
        let this = next?;
        let trimmed = this.trim_end_matches(['/', '\\']);
        next = match trimmed.rfind(['/', '\\']) {
            Some(0) if trimmed.len() > 1 => Some(&trimmed[..1]),
            Some(at) if at > 0 => Some(&trimmed[..at]),
            _ => None,
        };
        Some(this)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_all_above_it() {
        assert_eq!(with_parents("/a/b/").collect::<Vec<_>>(), ["/a/b/", "/a", "/"]);
        assert_eq!(with_parents("C:\\a").collect::<Vec<_>>(), ["C:\\a", "C:"]);
        assert_eq!(with_parents("").collect::<Vec<_>>(), [""]);
        assert_eq!(with_parents("/").collect::<Vec<_>>(), ["/"]);
    }
}
