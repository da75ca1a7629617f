//! Claude Code: from the leaf to what is brought back. Two open loaders are known: `sdk_python`, which judges, and `sdk_npm`,
//! which is newer.

mod kept;
pub(super) mod parallel;
mod queued;
mod sdk_npm;
pub(super) mod sdk_python;

use std::path::{Path, PathBuf};

use super::Claude;
use crate::chain::agent::Loader;
use crate::chain::format::{Format, FormatBy};
use crate::chain::graph::{Graph, MISSING};
use crate::chain::recover::Broken;
use crate::chain::shape::is_prompt;
use crate::chain::survey::Reason;
use crate::chain::{Chain, Mode, Reading};
use crate::record::facts::{Facts, Id, Kind, Record, flag};
use crate::record::reread::Reread;
use crate::store::Source;
use crate::text::Text;

impl Loader for Claude {
    fn format(&self, stated: Option<&str>, _: Mode) -> Format {
        Format { stated: stated.map(str::to_owned), effective: None, by: FormatBy::Absence }
    }

    fn usual_format(&self) -> Format {
        self.format(None, Mode::Chain)
    }

    fn load(&self, facts: &Facts, graph: &Graph) -> Chain {
        sdk_python::load(facts, graph)
    }

    fn load_from(&self, facts: &Facts, graph: &Graph, leaf: u32) -> Chain {
        sdk_python::load_from(facts, graph, leaf)
    }

    fn other_loaders(&self) -> &'static [&'static str] {
        &[sdk_npm::LOADER]
    }

    fn other_readings(&self, source: &Source, facts: &Facts, graph: &Graph) -> Vec<Reading> {
        sdk_npm::read(source, facts, graph).into_iter().collect()
    }

    fn shown_as(&self, again: &mut Reread<'_>, record: &Record) -> (Option<Text>, Option<String>) {
        let (id, role) = sdk_npm::shown_as(again, record);
        (id, Some(role.to_owned()))
    }

    fn load_transcript(&self, facts: &Facts, graph: &Graph) -> Chain {
        sdk_python::load_subagent(facts, graph)
    }

    /// Subagents lie in files of their own, and their records are a chain.
    fn is_transcript(&self, _facts: &Facts) -> bool {
        false
    }

    fn stated_id(&self, facts: &Facts, _source: &Source) -> Option<Text> {
        let named = facts.records.iter().find(|r| r.session != 0)?;
        facts.names.get(named.session).map(Text::from)
    }

    fn id_by_place(&self, path: &Path, transcript: bool) -> Text {
        let folder = || {
            let subagents = path.ancestors().skip(1).find(|at| at.file_name().is_some_and(|n| n == "subagents"))?;
            subagents.parent()?.file_name()
        };
        let name = if transcript { folder() } else { None };
        Text::from(name.or_else(|| path.file_stem()).unwrap_or_default().as_encoded_bytes())
    }

    fn other_ids(&self, _facts: &Facts, _source: &Source) -> Vec<Text> {
        Vec::new()
    }

    fn summary(&self, _session: &Path) -> Option<PathBuf> {
        None
    }

    fn is_node(&self, record: &Record) -> bool {
        sdk_python::is_node(record)
    }

    fn begins(&self, _record: &Record) -> bool {
        false
    }

    fn is_shown(&self, record: &Record) -> bool {
        sdk_python::is_visible(record)
    }

    fn lost_head(&self, _records: &[Record]) -> Option<Id> {
        None
    }

    fn lacks_id(&self, record: &Record) -> bool {
        matches!(record.kind, Kind::User | Kind::Assistant | Kind::System | Kind::Attachment)
            && !record.has(flag::ID_STRING)
    }

    fn lacks_parent_key(&self, _record: &Record) -> bool {
        false
    }

    fn breaks(&self, n: u32, parent: u32, _first: u32, facts: &Facts) -> Option<Broken> {
        let leads =
            parent < MISSING && is_side_link(&facts.records[n as usize], &facts.records[parent as usize], facts);
        leads.then_some(Broken::SideParent)
    }

    fn subagent(&self, record: &Record) -> u16 {
        record.agent
    }

    fn walked(&self, facts: &Facts, graph: &Graph, chain: &Chain) -> Vec<u32> {
        chain.leaf.map_or_else(Vec::new, |leaf| sdk_python::walk(facts, graph, leaf).0)
    }

    /// Rows of parallel calls are put back beside the way up.
    fn is_put_back(&self, n: u32, below: u32, graph: &Graph) -> bool {
        graph.parent[below as usize] != n
    }

    fn passes_over(&self, _record: &Record) -> Option<Reason> {
        None
    }

    fn misses_for_its_id(&self, _chain: &Chain, record: &Record) -> bool {
        matches!(record.kind, Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress)
    }
}

/// A typed prompt below a subagent's progress row, or a record of the main line below one of a sidechain.
fn is_side_link(child: &Record, parent: &Record, facts: &Facts) -> bool {
    if child.any(flag::SIDECHAIN | flag::TEAM) {
        return false;
    }
    parent.has(flag::SIDECHAIN) || (parent.has(flag::AGENT_PROGRESS) && is_prompt(facts, child))
}
