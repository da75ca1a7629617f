//! pi and OpenClaw: what a repair writes.

use super::Pi;
use crate::repair::agent::Writer;

impl Writer for Pi {}
