//! Claude Code: records with `uuid` and `parentUuid`, read as the open SDK reads them.

mod anchors;
mod files;
mod home;
mod layers;
mod layout;
mod loader;
mod meter;
mod records;
mod request;
mod resume;
mod rules;
mod sniff;
mod writer;

/// Claude Code.
#[derive(Debug)]
pub(super) struct Claude;
