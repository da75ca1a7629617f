//! sid-code: copies of files, and undo.

use super::Sid;
use crate::checkpoint::agent::FileLayer;

impl FileLayer for Sid {}
