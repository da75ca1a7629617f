//! What this room asks of an agent: what it sends after a resume: which messages, after its own trimming and cleaning.

use crate::chain::agent::Loader;

/// What this room has to know of an agent.
pub trait Sender: Loader {}
