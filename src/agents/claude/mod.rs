//! Claude Code: records with `uuid` and `parentUuid`, read as the open SDK reads them.

mod files;
mod home;
pub(crate) mod load;
mod loader;
mod meter;
mod records;
mod request;
mod resume;
mod rules;
mod writer;

/// Claude Code.
#[derive(Debug)]
pub(super) struct Claude;
