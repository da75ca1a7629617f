//! sid-code: where its homes are and how their files lie.

use super::Sid;
use crate::dialect::Dialect;
use crate::store::agent::Home;

impl Home for Sid {
    fn dialect(&self) -> Dialect {
        Dialect::Sid
    }
}
