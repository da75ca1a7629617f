//! Figures that say what they count: stock and flow, usage, distributions, the readers side by side, the field census.

pub mod agent;
pub mod catalogue;
pub mod census;
pub mod checkpoints;
pub mod cross_check;
pub mod figure;
pub mod paths;
pub mod readers;
pub mod records;
pub mod scanner;
pub mod self_check;
pub mod turns;
pub mod usage;
