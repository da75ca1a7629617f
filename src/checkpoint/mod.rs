//! The file layer: the index of snapshots, rebuilding a file at a snapshot, and the agent's own moves, predicted.
//!
//! sid-code keeps one `checkpoints/<session>/index.json` with every snapshot and every content in it. A snapshot holds
//! files as they were *before* one batch of tools; a file is stored whole the first time and as a difference after that.
//! This room says, file by file and snapshot by snapshot, which bytes the agent rebuilds, what its undo, rewind and
//! restore would really do, and whether that is what the file was.
//!
//! | file | what it is for |
//! | --- | --- |
//! | `window`, `read`, `legacy`, `model` | the first pass: the index once from front to back, places kept, contents not |
//! | `text`, `diff` | contents and differences, decoded and applied as the agent does, and checked as it does not |
//! | `rebuild` | one file at a time from its first entry to its last: the agent's answer and the snapshots' own proof |
//! | `audit`, `report` | one index judged; its element in the JSON |
//! | `anchors` | the last prompts, and what a rewind to each finds |
//! | `moves` | undo, undo of one file, restore, rewind, as executed by sid-code 3f3215144f68 |
//! | `evict` | the agent's quotas as a pure function, with the full copies that keep the rest whole |
//! | `layers` | what a session says of this layer, as questions to an index |
//!
//! What it leaves to others: finding indexes (`store`), reading sessions (`record`, `chain`), what a defect means
//! (`rules::checkpoints`), and writing anything. It never looks at the user's files: a deletion is predicted as if the
//! file were there.
//!
//! Memory: a window of 2 to 4 MiB (more only for a larger snapshot), about 60 bytes an entry and 100 a step, one file's text twice and its difference once.
//! An index of 800 MB takes 6 MB. Caps: 256 MiB an entry and 4 GiB an index may unpack, 512 MiB of JSON one snapshot,
//! two million entries. Without `verify` the first 64 MiB of text are rebuilt, which is all of most indexes; of the rest
//! the structure is checked and every full copy is decoded.

pub mod agent;
pub mod anchors;
pub mod audit;
pub mod diff;
pub mod evict;
pub mod layers;
mod legacy;
pub mod model;
pub mod moves;
pub mod read;
pub mod rebuild;
pub mod report;
pub mod text;
mod window;

pub use audit::{Audit, Options};
