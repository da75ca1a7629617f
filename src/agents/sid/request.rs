//! sid-code: what is sent after a resume.

use super::Sid;
use crate::request::agent::Sender;

impl Sender for Sid {}
