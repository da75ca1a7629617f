//! Stub, replaced in the next commit.

use super::{Collector, Context};
use crate::finding::Rule;

/// The rules of this family.
pub static RULES: &[&Rule] = &[];

/// Finds them in one session.
pub fn check(_context: &Context<'_>, _found: &mut Collector) {}
