//! pi and the agents that keep its records: `id` and `parentId`, versions 1 to 3.

use crate::chain::Chain;
use crate::chain::graph::Graph;
use crate::dialect::Dialect;
use crate::record::facts::{Block, Facts, Record};
use crate::session::Session;
use std::collections::HashMap;

mod files;
mod home;
pub(crate) mod load;
mod loader;
mod meter;
mod records;
mod request;
mod resume;
mod rules;
mod writer;

/// pi, or an agent that is pi with other values.
#[derive(Debug)]
pub(super) struct Pi {
    dialect: Dialect,
    /// Whether a `leaf` record says which leaf is resumed.
    leaf_records: bool,
    /// Where the two loaders differ.
    loader: LoaderRules,
}

/// What pi's loader and OpenClaw's do each in its own way.
#[derive(Debug)]
struct LoaderRules {
    load: fn(&Facts, &Graph) -> Chain,
    load_from: fn(&Facts, &Graph, u32) -> Chain,
    /// Whether a record of this kind is no part of the chain without an id.
    needs_id: fn(&Record) -> bool,
    /// What context edits put in the place of a record's content.
    edited: fn(&Session) -> HashMap<u32, Vec<Block>>,
    /// Whether a record without the key for its parent is broken.
    needs_parent_key: fn(&Record) -> bool,
}

/// pi itself.
pub(super) static PI: Pi = Pi { dialect: Dialect::Pi, leaf_records: false, loader: load::PI };

/// OpenClaw: pi's records, its own leaf rule.
pub(super) static OPENCLAW: Pi = Pi { dialect: Dialect::Openclaw, leaf_records: true, loader: load::OPENCLAW };
