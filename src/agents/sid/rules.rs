//! sid-code: what only its sessions can have, and what it does with what others have too.

use std::io;
use std::path::Path;

use include_dir::{Dir, include_dir};

use super::{Sid, layers};
use crate::finding::Finding;
use crate::rules::agent::Judged;
use crate::rules::texts;
use crate::session::Session;

static TEXTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/agents/sid/texts");

impl Judged for Sid {
    fn text(&self, code: &str) -> Option<&'static str> {
        texts::file(&TEXTS, code)
    }

    fn file_layer(&self, session: &Session, home: Option<&Path>, places: usize) -> io::Result<Vec<Finding>> {
        layers::findings(session, home, places)
    }
}
