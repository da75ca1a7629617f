//! sid-code: records with `uuid` and `parentUuid`, formats 2.0 and 3.0, whole-file JSON before that.

mod anchors;
mod clean;
mod cleanup;
mod cleanup_folders;
mod files;
mod fork;
pub(crate) mod home;
mod layout;
pub(crate) mod load;
mod loader;
mod meter;
mod names;
mod records;
mod recount;
mod recount_index;
mod request;
mod resume;
mod rules;
mod rules_beside;
mod rules_files;
mod rules_marks;
mod rules_store;
mod sniff;
mod totals;
mod view;
mod writer;

/// sid-code.
#[derive(Debug)]
pub(super) struct Sid;
