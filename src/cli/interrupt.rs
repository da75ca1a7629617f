//! Ctrl-C: the first one asks all workers to stop, and what was finished is reported. A program that only reads and has
//! not ended soon after is ended: it may be in the middle of one very large session. The second one ends the program at
//! once, because a report may be waiting for a reader that never comes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::status::Status;
use crate::commit::output;
use crate::report::format::number;
use crate::report::out;
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

/// How long a program that only reads has to report what it has finished.
const GRACE: Duration = Duration::from_millis(700);

/// Held while sessions are written: whether something was done that has to be told.
static WRITING: Mutex<bool> = Mutex::new(false);

/// To be held while sessions are written, so that an interrupt comes between two of them. What sets it to true reports
/// what it has done, however long that takes.
pub(super) fn writing() -> MutexGuard<'static, bool> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
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
            end();
        }
        handled.stop();
        // Without the thread only a second interrupt ends what goes on too long.
        let _ = std::thread::Builder::new().name("interrupt".to_owned()).spawn(end_what_only_reads);
    })?;
    Ok(meter)
}

fn end_what_only_reads() {
    std::thread::sleep(GRACE);
    // Held to the end, so that no writing begins meanwhile.
    let to_be_told = writing();
    if !*to_be_told {
        out::complain("interrupted", "ended before it was done", &[], None);
        end();
    }
}

fn end() -> ! {
    // Held to the end, so that no report begins meanwhile.
    let _unfinished = output::abandon();
    #[expect(clippy::disallowed_methods, clippy::exit, reason = "an interrupt ends what does not end by itself")]
    std::process::exit(i32::from(Status::Interrupted.number()));
}
