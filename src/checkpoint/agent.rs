//! What this room asks of an agent: how it keeps copies of files, and what its own undo does with them.

use crate::request::agent::Sender;

/// What this room has to know of an agent.
pub trait FileLayer: Sender {}
