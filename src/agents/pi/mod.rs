//! pi and the agents that keep its records: `id` and `parentId`, versions 1 to 3.

use crate::dialect::Dialect;

mod files;
mod home;
mod layout;
mod loader;
mod meter;
mod records;
mod request;
mod resume;
mod rules;
mod sniff;
mod writer;

/// pi, or an agent that is pi with other values.
#[derive(Debug)]
pub(super) struct Pi {
    dialect: Dialect,
    layout: &'static layout::Layout,
    /// Whether a `leaf` record says which leaf is resumed.
    leaf_records: bool,
}

/// pi itself.
pub(super) static PI: Pi = Pi { dialect: Dialect::Pi, layout: &layout::PI, leaf_records: false };

/// OpenClaw: pi's records, its own leaf rule.
pub(super) static OPENCLAW: Pi = Pi { dialect: Dialect::Openclaw, layout: &layout::OPENCLAW, leaf_records: true };
