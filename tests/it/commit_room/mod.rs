//! The room that writes, against crashes, full disks, live writers and its own past. `support` has the store to
//! play in, each other file one subject.
//!
//! Steps are watched in the test's own process through `sid_audit::commit::failpoint::hooks`; what kills the process runs in
//! a child, which is this program again with one test chosen and `COMMIT_CHILD` saying what to do.

#![allow(clippy::disallowed_macros, reason = "tests print")]

mod crash;
mod faults;
mod late;
mod replace;
mod support;
mod tampered;
mod tidy;
mod undo;
