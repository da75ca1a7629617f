//! What a line means: JSON as JavaScript reads it, then records of the agents turned into one neutral view.

pub mod json;
pub mod value;
