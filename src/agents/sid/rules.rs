//! sid-code: what only its sessions can have.

use super::Sid;
use crate::rules::agent::Judged;

impl Judged for Sid {}
