//! Claude Code: what one response is.

use super::Claude;
use crate::metrics::agent::Metering;

impl Metering for Claude {}
