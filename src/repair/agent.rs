//! What this room asks of an agent: what a repair writes for it.

use crate::rules::agent::Judged;

/// What this room has to know of an agent.
pub trait Writer: Judged {}
