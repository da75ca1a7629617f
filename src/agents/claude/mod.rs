//! Claude Code: records with `uuid` and `parentUuid`, read as the open SDK reads them.

mod records;

/// Claude Code.
#[derive(Debug)]
pub(super) struct Claude;
