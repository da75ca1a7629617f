//! What this room asks of an agent: how its loader goes from a leaf to what it brings back.

use super::{Chain, Mode, Reading};
use std::path::{Path, PathBuf};

use super::format::Format;
use super::graph::Graph;
use super::recover::Broken;
use super::survey::Reason;
use crate::record::agent::Records;
use crate::record::facts::{Facts, Id, Record};
use crate::record::reread::Reread;
use crate::store::Source;
use crate::text::Text;

/// What this room has to know of an agent. Numbers are places in [`Facts::records`].
pub trait Loader: Records {
    /// What its loader makes of these records.
    fn load(&self, facts: &Facts, graph: &Graph) -> Chain;

    /// What its loader would make of these records if it took this one for its leaf.
    fn load_from(&self, facts: &Facts, graph: &Graph, leaf: u32) -> Chain;

    /// Loaders of the agent beside the one that judges, by name.
    fn other_loaders(&self) -> &'static [&'static str] {
        &[]
    }

    /// What they make of the file, in that order; none of those that cannot be asked because the file cannot be read again.
    fn other_readings(&self, _source: &Source, _facts: &Facts, _graph: &Graph) -> Vec<Reading> {
        Vec::new()
    }

    /// The id and the role under which one of them shows a record.
    fn shown_as(&self, again: &mut Reread<'_>, record: &Record) -> (Option<Text>, Option<String>) {
        (again.id(record), again.role(record))
    }

    /// What it makes of a subagent's transcript.
    fn load_transcript(&self, facts: &Facts, graph: &Graph) -> Chain;

    /// Whether the records alone say that they are a subagent's transcript, whose records are no chain.
    fn is_transcript(&self, facts: &Facts) -> bool;

    /// The format version that its loader takes a session for that states this one and was read in this way.
    fn format(&self, stated: Option<&str>, mode: Mode) -> Format;

    /// What nearly every session of the agent has, so that nothing need be kept of it.
    fn usual_format(&self) -> Format;

    /// The session id that stands in the file.
    fn stated_id(&self, facts: &Facts, source: &Source) -> Option<Text>;

    /// The session id that the file's place gives, of a subagent's transcript that of its session.
    fn id_by_place(&self, path: &Path, transcript: bool) -> Text;

    /// Other ids under which a running process may have registered the session.
    fn other_ids(&self, facts: &Facts, source: &Source) -> Vec<Text>;

    /// Where it keeps a summary that it shows in place of a long session's beginning.
    fn summary(&self, session: &Path) -> Option<PathBuf>;

    /// Whether a record takes part in the chain.
    fn is_node(&self, record: &Record) -> bool;

    /// Whether a record begins the file though it names a parent: what it names stands in another file.
    fn begins(&self, record: &Record) -> bool;

    /// Whether a record is a message that it shows in its main line.
    fn is_shown(&self, record: &Record) -> bool;

    /// The id that the record had which stands before all others (a header, a start) when these records lack it:
    /// [`Id::NONE`] where no record names it. None where it is there, or the agent has none.
    fn lost_head(&self, records: &[Record]) -> Option<Id>;

    /// Whether a record lacks the id that its kind has.
    fn lacks_id(&self, record: &Record) -> bool;

    /// Whether a record lacks the key for its parent, where every record has to have one.
    fn lacks_parent_key(&self, record: &Record) -> bool;

    /// What is wrong with a link that only this loader cannot follow. `parent` is the parent's number or
    /// [`super::graph::NO_PARENT`], `first` the first record that takes part in the chain.
    fn breaks(&self, n: u32, parent: u32, first: u32, facts: &Facts) -> Option<Broken>;

    /// Which subagent a record belongs to, by the number of its name; 0 for none.
    fn subagent(&self, record: &Record) -> u16;

    /// The adopted records in the order in which it walks them, root first: without what it puts back beside the way up.
    fn walked(&self, facts: &Facts, graph: &Graph, chain: &Chain) -> Vec<u32>;

    /// Whether a record of the chain was put back beside the way up from the record below it.
    fn is_put_back(&self, n: u32, below: u32, graph: &Graph) -> bool;

    /// Why a record that stands on the way up does not come back, where its loader passes it over.
    fn passes_over(&self, record: &Record) -> Option<Reason>;

    /// Whether a record would have been part of the chain, had it an id.
    fn misses_for_its_id(&self, chain: &Chain, record: &Record) -> bool;
}
