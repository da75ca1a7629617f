//! pi and the agents that keep its records: `id` and `parentId`, versions 1 to 3.

use crate::dialect::Dialect;

mod files;
mod home;
mod loader;
mod meter;
mod records;
mod recount;
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
}

/// pi itself.
pub(super) static PI: Pi = Pi { dialect: Dialect::Pi, leaf_records: false };

/// OpenClaw: pi's records, its own leaf rule.
pub(super) static OPENCLAW: Pi = Pi { dialect: Dialect::Openclaw, leaf_records: true };
