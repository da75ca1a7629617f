//! sid-code: records with `uuid` and `parentUuid`, formats 2.0 and 3.0, whole-file JSON before that.

mod clean;
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

/// sid-code.
#[derive(Debug)]
pub(super) struct Sid;
