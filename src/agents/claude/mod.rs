//! Claude Code: records with `uuid` and `parentUuid`, read as the open SDK reads them.

mod backups;
mod cleanup;
mod file_history;
mod files;
pub(crate) mod home;
mod layout;
mod list;

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
pub(super) struct Claude(Sdk);

/// Which of the two open SDKs reads. They take other records from an odd file, so each reads by its own rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sdk {
    Python,
    Npm,
}

/// It, with the loader that judges.
pub(super) static CLAUDE: Claude = Claude(Sdk::Python);

/// The same records, as the other loader reads them.
static NPM: Claude = Claude(Sdk::Npm);
