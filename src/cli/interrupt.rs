//! Ctrl-C: the first one asks all workers to stop, and what was finished is reported; the second one ends the program at
//! once, because a report may be waiting for a reader that never comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::status::Status;
use crate::store::meter::Meter;

/// A meter that an interrupt stops.
///
/// # Errors
/// When the system takes no handler.
pub fn meter() -> anyhow::Result<Arc<Meter>> {
    let meter = Arc::new(Meter::default());
    let (handled, again) = (Arc::clone(&meter), AtomicBool::new(false));
    ctrlc::set_handler(move || {
        if again.swap(true, Ordering::Relaxed) {
            #[expect(clippy::disallowed_methods, clippy::exit, reason = "a second interrupt ends the program at once")]
            std::process::exit(i32::from(Status::Interrupted.number()));
        }
        handled.stop();
    })?;
    Ok(meter)
}
