//! What a person or a tool reads; the only room that prints.
//!
//! One file for each document and form: `scan_table`, `scan_json`, `chain_json`; what they share stands beside them.
//! `out` is the only place that writes to a stream, `neutral` decides what a stream may be shown, `style` knows colours.

pub mod chain_json;
pub mod chain_table;
pub mod chain_tree;
pub mod chain_views;
pub mod checkpoints_json;
pub mod checkpoints_table;
pub mod cross_check_json;
pub mod envelope;
pub mod explain;
pub mod fields_json;
pub mod fields_table;
pub mod finding_json;
pub mod json;
pub mod metrics_json;
pub mod neutral;
pub mod next;
pub mod out;
pub mod progress;
pub mod scan_json;
pub mod scan_table;
pub mod style;
pub mod table;
pub mod usage_json;
pub mod verdict;
pub mod words;
pub mod wrap;
