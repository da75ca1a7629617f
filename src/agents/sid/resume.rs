//! sid-code: what a resume does, state by state.

use super::Sid;
use crate::predict::agent::Resume;

impl Resume for Sid {}
