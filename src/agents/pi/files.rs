//! pi and OpenClaw: copies of files, and undo.

use super::Pi;
use crate::checkpoint::agent::FileLayer;

impl FileLayer for Pi {}
