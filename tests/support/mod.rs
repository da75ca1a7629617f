//! What the tests and the benchmark share: stores of our own making, and the program run as a user runs it.
//!
//! | file | what it gives |
//! | --- | --- |
//! | [`random`], [`time`], [`temp`] | fixed seeds, fixed times, folders that go away |
//! | [`store`] | a home of each agent with one file of each kind, for what finds them |
//! | [`claude`], [`sid`], [`pi`] | healthy homes of each agent: an audit must stay silent about them |
//! | [`damage`] | what happens to session files |
//! | [`bench`], [`indexes`], [`cost`] | what speed is measured on, and what a pass over it costs |
//! | [`writer`] | sessions that are being written to while they are read |
//! | [`run`] | the binary with a time limit, a clean environment and parsed JSON |
//!
//! The benchmarks use a part of it; what no test calls either, beside what is theirs alone, is dead.

#![allow(unreachable_pub)]
#![allow(clippy::needless_pass_by_value, reason = "a record is written as a literal where it is handed over")]

pub mod bench;
pub mod claude;
#[allow(dead_code, reason = "only the benchmarks measure")]
pub mod cost;
pub mod damage;
#[allow(dead_code, reason = "only a benchmark writes them")]
pub mod indexes;
pub mod pi;
pub mod random;
pub mod run;
pub mod sid;
pub mod store;
pub mod temp;
pub mod time;
pub mod writer;
