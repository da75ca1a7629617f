//! Claude Code: what is sent after a resume.

use super::Claude;
use crate::request::agent::Sender;

impl Sender for Claude {}
