//! How far a run has come, and whether it was asked to stop. Shared by all workers; printing is `report`'s.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counters of a run.
#[derive(Debug, Default)]
pub struct Meter {
    bytes: AtomicU64,
    files: AtomicU64,
    stop: AtomicBool,
}

impl Meter {
    /// Adds bytes that were read.
    pub fn read(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Adds a file that is done.
    pub fn done(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes read and files done so far.
    pub fn so_far(&self) -> (u64, u64) {
        (self.bytes.load(Ordering::Relaxed), self.files.load(Ordering::Relaxed))
    }

    /// Asks all workers to stop at the next line.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether they were asked to.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
