//! What this room asks of an agent: how its loader goes from a leaf to what it brings back.

use super::Mode;
use super::format::Format;
use crate::record::agent::Records;

/// What this room has to know of an agent.
pub trait Loader: Records {
    /// The format version that its loader takes a session for that states this one and was read in this way.
    fn format(&self, stated: Option<&str>, mode: Mode) -> Format;

    /// What nearly every session of the agent has, so that nothing need be kept of it.
    fn usual_format(&self) -> Format;
}
