//! What this room asks of an agent: where its homes are, how their files lie, what it keeps and for how long, and which signs say that it is running.

use std::fmt;

use crate::dialect::Dialect;

/// What this room has to know of an agent.
pub trait Home: fmt::Debug + Send + Sync {
    /// Which agent it is, for the rooms that still ask that.
    fn dialect(&self) -> Dialect;
}
