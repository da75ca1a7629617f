//! sid-code: records with `uuid` and `parentUuid`, formats 2.0 and 3.0, whole-file JSON before that.

mod files;
mod home;
mod loader;
mod meter;
mod records;
mod recount;
mod request;
mod resume;
mod rules;
mod totals;
mod writer;

/// sid-code.
#[derive(Debug)]
pub(super) struct Sid;
