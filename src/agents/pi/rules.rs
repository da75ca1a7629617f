//! pi and OpenClaw: what only its sessions can have, and what it does with what others have too.

use include_dir::{Dir, include_dir};

use super::Pi;
use crate::rules::agent::Judged;
use crate::rules::texts;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/agents/pi/texts");

impl Judged for Pi {
    fn text(&self, code: &str) -> Option<&'static str> {
        texts::file(&TEXTS, code)
    }
}
