//! Claude Code: from the leaf to what is brought back.

use super::Claude;
use crate::chain::agent::Loader;

impl Loader for Claude {}
