//! pi and OpenClaw: what a resume does, state by state.

use super::Pi;
use crate::predict::agent::Resume;

impl Resume for Pi {}
