//! What the tests and the benchmark share: stores of our own making, and the program run as a user runs it.
//!
//! | file | what it gives |
//! | --- | --- |
//! | [`random`], [`time`], [`temp`] | fixed seeds, fixed times, folders that go away |
//! | [`claude`], [`sid`], [`pi`] | healthy homes of each agent: an audit must stay silent about them |
//! | [`damage`] | what happens to session files |
//! | [`bench`] | the store that speed is measured on |
//! | [`writer`] | sessions that are being written to while they are read |
//! | [`run`] | the binary with a time limit, a clean environment and parsed JSON |
//!
//! Each test crate uses a part of it, so what one of them does not call is no dead code.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::needless_pass_by_value, reason = "a record is written as a literal where it is handed over")]
#![allow(clippy::disallowed_methods, reason = "the tests make the stores that the tool only reads")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is test code outside #[test]")]

pub mod bench;
pub mod claude;
pub mod damage;
pub mod pi;
pub mod random;
pub mod run;
pub mod sid;
pub mod temp;
pub mod time;
pub mod writer;
