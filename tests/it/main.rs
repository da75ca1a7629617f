//! Every test that looks at the program or the library from outside, as one program: linked once, and with one copy of
//! what the tests share. `tests/README.md` says what is where; `cases::` and the like choose a part.
//!
//! Under `cargo test` all of them run in one process: a test that would change its environment, its folder or its limits
//! does that in a child.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests make stores, record what came out, and fail"
)]

mod cases;
#[cfg(unix)]
mod chaos;
mod checkpoint_agent;
mod checkpoint_hostile;
mod checkpoint_laws;
mod checkpoint_rules;
mod cli_chain;
mod cli_chain_views;
mod cli_checkpoints;
mod cli_files;
mod cli_help;
#[cfg(unix)]
mod cli_repair;
mod cli_reports;
mod cli_status;
#[cfg(unix)]
mod commit_room;
mod demo;
#[cfg(unix)]
mod endless;
mod exports;
mod healthy;
#[cfg(unix)]
mod hostile;
mod house;
mod library;
mod loaders;
mod metrics;
mod predict;
mod reading_laws;
#[cfg(unix)]
mod readme;
#[cfg(unix)]
mod repair_branches;
mod repair_laws;
#[cfg(unix)]
mod repair_named;
mod rule_texts;
mod rules_store;
mod rules_tm;
mod store_discovery;
#[cfg(unix)]
mod store_hostile;
#[path = "../support/mod.rs"]
mod support;
