//! What this room asks of an agent: what one response is, which of its figures are stocks, and what a fork copies.

use crate::checkpoint::agent::FileLayer;

/// What this room has to know of an agent.
pub trait Metering: FileLayer {}
