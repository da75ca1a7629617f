//! The one door: durable replace, journal, output files. Nothing else in the crate opens a file for writing.
//!
//! | file | what it answers |
//! | --- | --- |
//! | [`splice`] | edits of bytes, and the way back |
//! | [`mod@replace`] | a session file takes its repaired bytes, and no byte is lost |
//! | [`mod@settle`] | what a writer wrote to the old file in the meantime |
//! | [`journal`], [`manifest`] | what was done, and everything that is needed to take it back |
//! | [`undo`] | takes it back |
//! | [`recover`] | what a crash left |
//! | [`strangers`] | originals that no entry knows |
//! | [`gc`] | kept files and old entries go |
//! | [`liveness`] | who has a file open |
//! | [`output`] | reports and generated files |
//! | `protect` | what they never take the place of |
//! | [`refusal`] | why nothing was written |
//!
//! What is to be written is decided elsewhere: `repair` makes the plan and the proof, `cli` asks the user.

mod disk;
mod entry;
mod metadata;
mod reverse_patch;
mod swap;
mod target;

pub mod content;
pub mod failpoint;
pub mod gc;
pub mod journal;
pub mod liveness;
pub mod manifest;
pub mod output;
mod protect;
pub mod recover;
pub mod refusal;
pub mod replace;
pub mod settle;
pub mod splice;
pub mod strangers;
pub mod undo;

pub use content::{Content, Fingerprint, Sha};
pub use disk::{Kind, Stat};

pub use journal::{Journal, Locked, Run};
pub use refusal::{Error, Original, Refusal};
pub use replace::{Options, Outcome, Proof, Request, Stage, Swapped, Verify, replace, swap};
pub use settle::settle;
pub use splice::Splice;
pub use undo::{Standing, Undo, Undone};
