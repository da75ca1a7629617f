//! pi and OpenClaw: what only its sessions can have.

use super::Pi;
use crate::rules::agent::Judged;

impl Judged for Pi {}
