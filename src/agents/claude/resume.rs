//! Claude Code: what a resume does, state by state.

use super::Claude;
use crate::predict::agent::Resume;

impl Resume for Claude {}
