//! Claude Code: what only its sessions can have.

use super::Claude;
use crate::rules::agent::Judged;

impl Judged for Claude {}
