//! sid-code: what only its sessions can have, and what it does with what others have too.

use include_dir::{Dir, include_dir};

use super::Sid;
use crate::rules::agent::Judged;
use crate::rules::texts;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/agents/sid/texts");

impl Judged for Sid {
    fn text(&self, code: &str) -> Option<&'static str> {
        texts::file(&TEXTS, code)
    }
}
