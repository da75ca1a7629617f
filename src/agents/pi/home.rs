//! pi and OpenClaw: where its homes are and how their files lie.

use super::Pi;
use crate::dialect::Dialect;
use crate::store::agent::Home;

impl Home for Pi {
    fn dialect(&self) -> Dialect {
        self.dialect
    }
}
