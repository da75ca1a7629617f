//! Where records lie: homes and layouts of each agent, files, physical lines, liveness of a session.

pub mod lines;
pub mod meter;
pub mod source;

pub use lines::{Line, Lines};
pub use source::Source;
