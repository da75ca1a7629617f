//! pi and OpenClaw: from the leaf to what is brought back. The loaders themselves are in `load`.

use std::path::{Path, PathBuf};

use super::{Pi, load};
use crate::chain::agent::Loader;
use crate::chain::format::{Format, FormatBy};
use crate::chain::graph::Graph;
use crate::chain::recover::Broken;
use crate::chain::survey::{Reason, speaks};
use crate::chain::{Chain, Mode};
use crate::record::facts::{Facts, Id, Kind, Record, flag};
use crate::record::reread;
use crate::store::Source;
use crate::text::Text;

impl Loader for Pi {
    fn format(&self, stated: Option<&str>, _: Mode) -> Format {
        let (effective, by) = match stated {
            Some(version) => (version, FormatBy::Field),
            None => ("1", FormatBy::Absence),
        };
        Format { stated: stated.map(str::to_owned), effective: Some(effective.to_owned()), by }
    }

    fn usual_format(&self) -> Format {
        self.format(Some("3"), Mode::Chain)
    }

    fn load(&self, facts: &Facts, graph: &Graph) -> Chain {
        (self.loader.load)(facts, graph)
    }

    fn load_from(&self, facts: &Facts, graph: &Graph, leaf: u32) -> Chain {
        (self.loader.load_from)(facts, graph, leaf)
    }

    /// It keeps no transcripts of subagents.
    fn load_transcript(&self, facts: &Facts, graph: &Graph) -> Chain {
        self.load(facts, graph)
    }

    fn is_transcript(&self, _facts: &Facts) -> bool {
        false
    }

    fn stated_id(&self, facts: &Facts, source: &Source) -> Option<Text> {
        reread::id(source, facts.records.iter().find(|r| load::is_header(r))?)
    }

    /// The id stands behind the time in the file's name.
    fn id_by_place(&self, path: &Path, _transcript: bool) -> Text {
        let stem = path.file_stem().unwrap_or_default().as_encoded_bytes();
        Text::from(stem.rsplit(|b| *b == b'_').next().unwrap_or(stem))
    }

    fn other_ids(&self, _facts: &Facts, _source: &Source) -> Vec<Text> {
        Vec::new()
    }

    fn summary(&self, _session: &Path) -> Option<PathBuf> {
        None
    }

    /// Every entry but headers.
    fn is_node(&self, record: &Record) -> bool {
        !matches!(record.kind, Kind::NonObject | Kind::Start) && record.has(flag::ID_STRING)
    }

    fn begins(&self, _record: &Record) -> bool {
        false
    }

    fn is_shown(&self, record: &Record) -> bool {
        record.is_message()
    }

    fn lost_head(&self, records: &[Record]) -> Option<Id> {
        self.header(records).is_none().then_some(Id::NONE)
    }

    fn lacks_id(&self, record: &Record) -> bool {
        (self.loader.needs_id)(record) && !record.has(flag::ID_STRING)
    }

    fn lacks_parent_key(&self, record: &Record) -> bool {
        (self.loader.needs_parent_key)(record) && !record.has(flag::PARENT_KEY)
    }

    fn breaks(&self, _n: u32, _parent: u32, _first: u32, _facts: &Facts) -> Option<Broken> {
        None
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

    /// It stands before what the compaction kept.
    fn passes_over(&self, record: &Record) -> Option<Reason> {
        speaks(record).then_some(Reason::BeforeBoundary)
    }

    fn misses_for_its_id(&self, _chain: &Chain, record: &Record) -> bool {
        !matches!(record.kind, Kind::NonObject | Kind::Start)
    }
}
