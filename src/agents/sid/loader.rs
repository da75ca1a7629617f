//! sid-code: from the leaf to what is brought back.

use super::Sid;
use crate::chain::agent::Loader;

impl Loader for Sid {}
