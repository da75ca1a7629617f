//! Ctrl-C: the first one asks all workers to stop, and what was finished is reported; the second one ends the program at
//! once, because a report may be waiting for a reader that never comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::status::Status;
use crate::report::out;
use crate::report::words::number;
use crate::store::meter::Meter;

/// Writing beyond a limit on the size of files becomes an error of that write, which is told and tidied up after, instead
/// of the end of the program.
pub(super) fn outlive_size_limits() {
    #[cfg(unix)]
    {
        let signal = rustix::process::Signal::XFSZ.as_raw();
        // That a limit was met is seen where the write fails.
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// Says what an interrupt left undone.
pub(super) fn tell(left: u64, all: u64, what: &str) {
    out::complain("interrupted", &format!("{} of {} {what}", number(left), number(all)), &[], None);
}

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
