//! Claude Code: where its homes are and how their files lie.

use super::Claude;
use crate::dialect::Dialect;
use crate::store::agent::Home;

impl Home for Claude {
    fn dialect(&self) -> Dialect {
        Dialect::Claude
    }
}
