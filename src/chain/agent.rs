//! What this room asks of an agent: how its loader goes from a leaf to what it brings back.

use crate::record::agent::Records;

/// What this room has to know of an agent.
pub trait Loader: Records {}
