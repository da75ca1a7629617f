//! pi and OpenClaw: what is sent after a resume.

use super::Pi;
use crate::request::agent::Sender;

impl Sender for Pi {}
