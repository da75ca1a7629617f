//! pi and the agents that keep its records: `id` and `parentId`, versions 1 to 3.

use crate::dialect::{Dialect, Identity};

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
    identity: &'static Identity,
    layout: &'static layout::Layout,
    /// Whether a `leaf` record says which leaf is resumed.
    leaf_records: bool,
}

static PI_ITSELF: Identity = Identity {
    name: "pi",
    agent: "pi",
    loader: "pi 1.6.0",
    formats: "formats 1 to 3",
    about: "pi: `id`/`parentId`, versions 1 to 3",
};

static OPENCLAW_ITSELF: Identity = Identity {
    name: "openclaw",
    agent: "OpenClaw",
    loader: "openclaw 2026.7.35",
    formats: "pi's format 3, with its own leaf rule",
    about: "OpenClaw: pi's entries, its own leaf rule",
};

/// pi itself.
pub(super) static PI: Pi = Pi { dialect: Dialect::Pi, identity: &PI_ITSELF, layout: &layout::PI, leaf_records: false };

/// OpenClaw: pi's records, its own leaf rule.
pub(super) static OPENCLAW: Pi =
    Pi { dialect: Dialect::Openclaw, identity: &OPENCLAW_ITSELF, layout: &layout::OPENCLAW, leaf_records: true };
