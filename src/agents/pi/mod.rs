//! pi and the agents that keep its records (OpenClaw, oh-my-pi): `id` and `parentId`, versions 1 to 3.

use std::collections::HashMap;

use crate::chain::Chain;
use crate::chain::graph::Graph;
use crate::identity::{AgentId, Identity};
use crate::predict::State;
use crate::record::facts::{Block, Facts, Record};
use crate::rules::store::agent::StoreWords;
use crate::session::Session;

mod files;
mod home;
mod layout;
pub(crate) mod load;
mod loader;
mod meter;
mod names;
mod records;
mod recount;
mod request;
mod resume;
mod rules;
mod rules_chain;
mod rules_screens;
mod rules_store;
mod sniff;
mod writer;

/// pi, or an agent that is pi with other values.
#[derive(Debug)]
pub(super) struct Pi {
    pub(super) id: AgentId,
    layout: &'static layout::Layout,
    /// Whether a `leaf` record says which leaf is resumed.
    leaf_records: bool,
    /// Where the two loaders differ.
    loader: LoaderRules,
    /// Where their resumes differ.
    resume: ResumeRules,
    /// What it does with what is wrong.
    habits: &'static rules::Habits,
    /// What it does with what other agents' stores have, too.
    store_words: &'static StoreWords,
    /// Whether its list of sessions is one that pi's reader makes.
    lists_as_pi: bool,
    /// Roles of messages that only it has.
    own_roles: &'static [&'static [u8]],
    /// The flag of its `reset_boundary` entries.
    reset_boundary: u64,
    /// Whether it writes a title row before the header.
    title_row: bool,
    /// Whether pi's own screens show its sessions.
    pi_screens: bool,
    /// What the fields of its records are for.
    catalogue: &'static str,
    /// The id that a file's name gives.
    named_id: fn(&[u8]) -> Option<&[u8]>,
}

/// What pi's loader and OpenClaw's do each in its own way.
#[derive(Debug)]
struct LoaderRules {
    load: fn(&Facts, &Graph) -> Chain,
    load_from: fn(&Facts, &Graph, u32) -> Chain,
    /// Whether a record of this kind is no part of the chain without an id.
    needs_id: fn(&Record) -> bool,
    /// Whether the version alone tells whether entries have ids: a header without one gives every entry a new id.
    by_version: bool,
    /// What context edits put in the place of a record's content.
    edited: fn(&Session) -> HashMap<u32, Vec<Block>>,
    /// Whether a record without the key for its parent is broken.
    needs_parent_key: fn(&Record) -> bool,
}

/// What a resume of pi and of OpenClaw does each in its own way.
#[derive(Debug)]
struct ResumeRules {
    /// How the leaf is found.
    leaf: &'static str,
    /// What becomes of context edits.
    edits: fn(&Session) -> State,
    /// What is put in for an open call.
    made_up: &'static str,
    /// What is said of the results of a failed turn, behind what is said of the turn.
    results_of_failed: &'static str,
}

impl Pi {
    /// The file's header, where its agent looks for it.
    fn header(&self, records: &[Record]) -> Option<u32> {
        if self.title_row { load::header_below_title(records) } else { load::header(records) }
    }
}

static PI_ITSELF: Identity = Identity {
    name: "pi",
    agent: "pi",
    loader: "pi 1.6.0",
    formats: "formats 1 to 3",
    about: "pi: `id`/`parentId`, versions 1 to 3",
    place: 2,
};

static OMP_ITSELF: Identity = Identity {
    name: "omp",
    agent: "oh-my-pi",
    loader: "oh-my-pi 18.2.3",
    formats: "pi's format 3, a title row first",
    about: "oh-my-pi: pi's entries, a title row first",
    place: 4,
};

static OPENCLAW_ITSELF: Identity = Identity {
    name: "openclaw",
    agent: "OpenClaw",
    loader: "openclaw 2026.7.35",
    formats: "pi's format 3, with its own leaf rule",
    about: "OpenClaw: pi's entries, its own leaf rule",
    place: 3,
};

/// pi itself.
pub(super) static PI: Pi = Pi {
    id: AgentId::new(&PI_ITSELF),
    layout: &layout::PI,
    leaf_records: false,
    loader: load::PI,
    resume: resume::PI,
    habits: &rules::PI_HABITS,
    store_words: &rules_store::PI_WORDS,
    lists_as_pi: true,
    own_roles: &[],
    reset_boundary: 0,
    title_row: false,
    pi_screens: true,
    catalogue: include_str!("fields.json"),
    named_id: names::timed_id,
};

/// OpenClaw: pi's records, its own leaf rule.
pub(super) static OPENCLAW: Pi = Pi {
    id: AgentId::new(&OPENCLAW_ITSELF),
    layout: &layout::OPENCLAW,
    leaf_records: true,
    loader: load::OPENCLAW,
    resume: resume::OPENCLAW,
    habits: &rules::OPENCLAW,
    store_words: &rules_store::OPENCLAW_WORDS,
    lists_as_pi: false,
    own_roles: &[],
    reset_boundary: 0,
    title_row: false,
    pi_screens: false,
    catalogue: include_str!("fields.json"),
    named_id: names::uuid_or_timed_id,
};

/// oh-my-pi: pi's records below a title row, more kinds of them, other folders (`docs/formats/pi.md`, section 14).
pub(super) static OMP: Pi = Pi {
    id: AgentId::new(&OMP_ITSELF),
    layout: &layout::OMP,
    leaf_records: false,
    loader: load::OMP,
    resume: resume::PI,
    habits: &rules::OMP,
    store_words: &rules_store::PI_WORDS,
    lists_as_pi: false,
    own_roles: &[b"developer", b"fileMention"],
    reset_boundary: records::own::CONTEXT_RESET,
    title_row: true,
    pi_screens: false,
    catalogue: include_str!("fields_omp.json"),
    named_id: names::timed_id,
};
