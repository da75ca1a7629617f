//! Claude Code: records with `uuid` and `parentUuid`, read as the open SDK reads them.

mod backups;
mod cleanup;
mod file_history;
mod files;
pub(crate) mod home;
mod layout;
mod list;
pub(crate) mod load;
mod loader;
mod meter;
mod names;
mod records;
mod recount;
mod request;
mod resume;
mod rules;
mod rules_calls;
mod rules_chain;
mod rules_foreign;
mod rules_queue;
mod rules_store;
mod sniff;
mod writer;

/// Claude Code.
#[derive(Debug)]
pub(super) struct Claude;
