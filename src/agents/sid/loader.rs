//! sid-code: from the leaf to what is brought back. The loader itself is in `load`.

use std::path::{Path, PathBuf};

use super::{Sid, load};
use crate::chain::agent::Loader;
use crate::chain::format::{Format, FormatBy};
use crate::chain::graph::{Graph, NO_PARENT};
use crate::chain::recover::Broken;
use crate::chain::survey::Reason;
use crate::chain::{Chain, Mode};
use crate::record::facts::{Facts, Id, Kind, Record, flag};
use crate::record::reread;
use crate::store::Source;
use crate::text::Text;

impl Loader for Sid {
    fn format(&self, stated: Option<&str>, mode: Mode) -> Format {
        // The last line decides how the file is read, whatever the version field says.
        let (effective, by) = match (mode, stated) {
            (Mode::File, _) => (stated, FormatBy::Extension),
            (Mode::Chain, Some("3.0")) => (stated, FormatBy::Field),
            (Mode::Chain, _) => (Some("3.0"), FormatBy::TailShape),
            (Mode::Linear, None) => (Some("2.0"), FormatBy::Absence),
            (Mode::Linear, Some("3.0")) => (Some("2.0"), FormatBy::TailShape),
            _ => (stated, FormatBy::Field),
        };
        Format { stated: stated.map(str::to_owned), effective: effective.map(str::to_owned), by }
    }

    fn usual_format(&self) -> Format {
        self.format(Some("3.0"), Mode::Chain)
    }

    fn load(&self, facts: &Facts, _graph: &Graph) -> Chain {
        load::load(facts)
    }

    fn load_from(&self, facts: &Facts, _graph: &Graph, leaf: u32) -> Chain {
        load::load_from(facts, leaf)
    }

    fn load_transcript(&self, facts: &Facts, _graph: &Graph) -> Chain {
        load::load_side(facts)
    }

    fn is_transcript(&self, facts: &Facts) -> bool {
        load::is_side(facts)
    }

    fn stated_id(&self, facts: &Facts, _source: &Source) -> Option<Text> {
        let start = facts.records.iter().rev().find(|r| r.kind == Kind::Start && r.session != 0);
        let named = start.or_else(|| facts.records.iter().find(|r| r.session != 0))?;
        facts.names.get(named.session).map(Text::from)
    }

    fn id_by_place(&self, path: &Path, _transcript: bool) -> Text {
        Text::from(path.file_stem().unwrap_or_default().as_encoded_bytes())
    }

    /// A resumed session is registered under the id of the process that resumed it.
    fn other_ids(&self, facts: &Facts, source: &Source) -> Vec<Text> {
        let trace = facts.names.find(b"trace_session_id");
        let traces = facts.records.iter().filter(|r| trace != 0 && r.kind == Kind::Metadata && r.agent == trace);
        traces.filter_map(|r| reread::field(source, r, &["value"])).collect()
    }

    fn summary(&self, session: &Path) -> Option<PathBuf> {
        Some(session.parent()?.join("summaries").join(session.file_stem()?).with_extension("json"))
    }

    /// Every object with an id (`docs/formats/sid-code.md`, section 4).
    fn is_node(&self, record: &Record) -> bool {
        record.kind != Kind::NonObject && !record.id.is_none()
    }

    fn begins(&self, record: &Record) -> bool {
        load::is_fork_start(record)
    }

    fn is_shown(&self, record: &Record) -> bool {
        record.is_message()
    }

    /// The first record of a chain names its start: the id that is lost is the one it names.
    fn lost_head(&self, records: &[Record]) -> Option<Id> {
        if records.iter().any(|r| r.kind == Kind::Start && r.has(flag::SESSION_ID)) {
            return None;
        }
        Some(records.iter().find(|r| self.is_node(r)).map_or(Id::NONE, |r| r.parent))
    }

    fn lacks_id(&self, record: &Record) -> bool {
        !matches!(record.kind, Kind::Other | Kind::NonObject) && !record.has(flag::ID_STRING)
    }

    fn lacks_parent_key(&self, record: &Record) -> bool {
        !record.has(flag::PARENT_KEY)
    }

    /// It has one root, and looks for a parent upwards only.
    fn breaks(&self, n: u32, parent: u32, first: u32, _facts: &Facts) -> Option<Broken> {
        match parent {
            NO_PARENT => (n != first).then_some(Broken::ExtraRoot),
            _ => (parent > n).then_some(Broken::ParentBelow),
        }
    }

    fn subagent(&self, _record: &Record) -> u16 {
        0
    }

    fn walked(&self, _facts: &Facts, _graph: &Graph, chain: &Chain) -> Vec<u32> {
        chain.adopted.clone()
    }

    fn is_put_back(&self, _n: u32, _below: u32, _graph: &Graph) -> bool {
        false
    }

    fn passes_over(&self, _record: &Record) -> Option<Reason> {
        None
    }

    fn misses_for_its_id(&self, chain: &Chain, record: &Record) -> bool {
        chain.mode == Mode::Chain && !self.is_node(record)
    }
}
