//! pi and OpenClaw: what one response is.

use super::Pi;
use crate::metrics::agent::Metering;

impl Metering for Pi {}
