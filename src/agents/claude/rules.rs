//! Claude Code: what only its sessions can have, and what it does with what others have too.

use include_dir::{Dir, include_dir};

use super::Claude;
use crate::rules::agent::Judged;
use crate::rules::texts;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/agents/claude/texts");

impl Judged for Claude {
    fn text(&self, code: &str) -> Option<&'static str> {
        texts::file(&TEXTS, code)
    }
}
