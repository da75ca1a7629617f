//! What a person or a tool reads; the only room that prints.
//!
//! One file for each document and form: `scan_table`, `scan_json`, `chain_json`, `predict_table`; what they share stands
//! beside them. `sarif` and `junit` take the findings of any command (`by_file` walks over them), `html` has pages for a
//! browser, `man` makes the manual.
//!
//! `out` is the only place that writes to a stream, `sanitize` decides what a stream may be shown, `style` knows colours.

pub mod by_file;
pub mod chain_anchors;
pub mod chain_autopsy;
pub mod chain_json;
mod chain_readers;
pub mod chain_table;
pub mod chain_tree;
pub mod chain_views;
pub mod checkpoints_json;
pub mod checkpoints_table;
pub mod cross_check_json;
pub mod cross_check_table;
pub mod explain;
pub mod fields_json;
pub mod fields_table;
pub mod finding_json;
pub mod format;
pub mod html;
pub mod journal;
pub mod json;
pub mod json_head;
pub mod junit;
pub mod man;
pub mod metrics_json;
pub mod metrics_table;
pub mod out;
pub mod predict_json;
pub mod predict_table;
pub mod progress;
pub mod repair_diff;
pub mod repair_json;
pub mod repair_listed;
pub mod repair_table;
pub mod sanitize;
pub mod sarif;
pub mod scan_json;
pub mod scan_table;
#[cfg(feature = "schema")]
pub mod schema;
pub mod style;
pub mod suggest;
pub mod table;
pub mod turns_json;
pub mod turns_table;
pub mod uri;
pub mod usage_json;
pub mod usage_table;
pub mod verdict;
pub mod version;
pub mod wrap;
