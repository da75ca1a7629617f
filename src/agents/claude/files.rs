//! Claude Code: copies of files, and undo.

use super::Claude;
use crate::checkpoint::agent::FileLayer;

impl FileLayer for Claude {}
