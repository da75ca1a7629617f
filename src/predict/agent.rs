//! What this room asks of an agent: what its resume does, state by state.

use crate::metrics::agent::Metering;

/// What this room has to know of an agent.
pub trait Resume: Metering {}
