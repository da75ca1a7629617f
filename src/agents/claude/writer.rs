//! Claude Code: what a repair writes.

use super::Claude;
use crate::repair::agent::Writer;

impl Writer for Claude {}
