//! sid-code: what one response is.

use super::Sid;
use crate::metrics::agent::Metering;

impl Metering for Sid {}
