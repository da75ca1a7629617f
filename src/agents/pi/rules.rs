//! pi and OpenClaw: what only its sessions can have, and what it does with what others have too.

use std::io;
use std::path::Path;

use include_dir::{Dir, include_dir};

use super::Pi;
use crate::finding::Finding;
use crate::rules::agent::Judged;
use crate::rules::texts;
use crate::session::Session;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/agents/pi/texts");

impl Judged for Pi {
    fn text(&self, code: &str) -> Option<&'static str> {
        texts::file(&TEXTS, code)
    }

    fn file_layer(&self, _: &Session, _: Option<&Path>, _: usize) -> io::Result<Vec<Finding>> {
        Ok(Vec::new())
    }
}
