//! sid-code: what a repair writes.

use super::Sid;
use crate::repair::agent::Writer;

impl Writer for Sid {}
