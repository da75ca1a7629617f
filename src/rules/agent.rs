//! What this room asks of an agent: what only its sessions can have, and what it does with what others have too.

use super::store::agent::Stored;

/// What this room has to know of an agent.
pub trait Judged: Stored {
    /// What the agent does with what this rule finds, as `explain` tells it. None where it does nothing of its own.
    fn text(&self, code: &str) -> Option<&'static str>;
}
