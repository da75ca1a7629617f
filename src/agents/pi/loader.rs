//! pi and OpenClaw: from the leaf to what is brought back.

use super::Pi;
use crate::chain::agent::Loader;

impl Loader for Pi {}
