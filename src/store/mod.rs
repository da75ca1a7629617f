//! Where records lie: homes and layouts of each agent, files, physical lines, liveness of a session.
//!
//! `discover` answers what a person asked for; `agent` is what is asked of an agent for that: `home` knows where its stores
//! are, `layout` what their folders are, `classify`, `sniff`, `probe` and `identify` what the files in them are. `walk` and
//! `links` read the folders below open `handle`s. `liveness` asks who may be writing. `source` and `lines` hand out bytes, `meter` says how far a run has
//! come. Nothing here knows what a record means, and nothing writes.

pub mod agent;
mod classify;
mod discover;
mod handle;
mod home;
mod identify;
mod layout;
pub mod lines;
mod links;
pub mod liveness;
pub mod meter;
mod name;
mod probe;
mod sniff;
pub mod source;
mod walk;

pub use classify::{FileKind, Named, Names};
pub(crate) use classify::{all_digits, all_hex, aside, copied_from, is_uuid};
pub use discover::{Discovery, FileEntry, Folder, Root, discover};
pub(crate) use handle::{EntryKind, Handle};
#[cfg(feature = "repair")]
pub(crate) use home::Recogniser;
pub use home::{Environment, HomeCandidate, default_homes, default_places};
pub use layout::{Layout, Part};
pub use lines::{Line, Lines};
pub use liveness::{Registration, State};
pub use name::FileName;
pub use probe::Probe;
pub use sniff::{Shape, recognise, sniff, sniff_document};
pub use source::Source;
