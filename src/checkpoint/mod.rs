//! The file layer: the index of snapshots, rebuilding a file at a snapshot, and the agent's own moves, predicted.

pub mod audit;
pub mod diff;
pub mod evict;
pub mod file_history;
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
