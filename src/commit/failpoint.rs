//! One gate for every call that changes something on disk: it retries what a signal interrupted, and in test builds it
//! counts, crashes and fails.
//!
//! In a shipped build `failpoint` is the retry loop and nothing else; the hooks exist only under the feature `test-hooks`.
//! Calls that only read do not pass here. A call must be safe to repeat when it was interrupted before it began, which
//! is when the hooks interrupt it; `std` and the kernel finish what had begun.

use std::io;

/// Makes a call that changes something, again for as long as a signal interrupts it.
///
/// # Errors
/// Whatever the call says, except that it was interrupted.
#[inline]
pub(crate) fn step<T>(name: &'static str, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match around(name, &mut call) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

#[cfg(not(feature = "test-hooks"))]
#[inline]
fn around<T>(_name: &'static str, call: &mut impl FnMut() -> io::Result<T>) -> io::Result<T> {
    call()
}

#[cfg(feature = "test-hooks")]
fn around<T>(name: &'static str, call: &mut impl FnMut() -> io::Result<T>) -> io::Result<T> {
    match hooks::ask(name) {
        hooks::Act::Go => call(),
        hooks::Act::Fail(errno) => Err(io::Error::from_raw_os_error(errno)),
        hooks::Act::CrashBefore => std::process::abort(),
        hooks::Act::CrashAfter => {
            let _ = call();
            std::process::abort()
        }
    }
}

/// What tests do to the steps.
///
/// In the test's own process: [`hooks::watch`], for the steps of the calling thread. For a program that a test starts,
/// by environment: `SID_AUDIT_CRASH_AT=<n>` aborts before the n-th step (from 1) and `<n>:after` behind it,
/// `SID_AUDIT_FAIL_AT=<n>:<errno>` fails it once, `SID_AUDIT_STEPS=<file>` appends each step's number and name.
#[cfg(feature = "test-hooks")]
pub mod hooks {
    #![allow(clippy::disallowed_methods, reason = "the list of steps is a file that a test asked for")]

    use std::cell::RefCell;
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// What becomes of one step.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Act {
        /// It is made.
        Go,
        /// It is not made; this error number is its answer.
        Fail(i32),
        /// The process ends before it.
        CrashBefore,
        /// The process ends behind it.
        CrashAfter,
    }

    type Watcher = Box<dyn FnMut(u64, &'static str) -> Act>;

    thread_local! {
        static WATCHER: RefCell<Option<(u64, Watcher)>> = const { RefCell::new(None) };
    }

    /// Asks `watcher` about every step of this thread (its number from 1, its name) until the answer is dropped.
    pub fn watch(watcher: impl FnMut(u64, &'static str) -> Act + 'static) -> Watching {
        WATCHER.with(|slot| *slot.borrow_mut() = Some((0, Box::new(watcher))));
        Watching(())
    }

    /// Ends the watching when it is dropped.
    #[derive(Debug)]
    pub struct Watching(());

    impl Drop for Watching {
        fn drop(&mut self) {
            WATCHER.with(|slot| *slot.borrow_mut() = None);
        }
    }

    #[derive(Default)]
    struct FromEnvironment {
        crash: Option<(u64, bool)>,
        fail: Option<(u64, i32)>,
        list: Option<std::ffi::OsString>,
    }

    static ENVIRONMENT: OnceLock<FromEnvironment> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);

    fn environment() -> FromEnvironment {
        let var = |name: &str| std::env::var(name).ok();
        FromEnvironment {
            crash: var("SID_AUDIT_CRASH_AT").and_then(|v| match v.strip_suffix(":after") {
                Some(n) => n.parse().ok().map(|n| (n, true)),
                None => v.parse().ok().map(|n| (n, false)),
            }),
            fail: var("SID_AUDIT_FAIL_AT")
                .and_then(|v| v.split_once(':').and_then(|(n, e)| Some((n.parse().ok()?, e.parse().ok()?)))),
            list: std::env::var_os("SID_AUDIT_STEPS"),
        }
    }

    pub(super) fn ask(name: &'static str) -> Act {
        // The watcher is taken out while it runs: it may itself write through this room.
        if let Some((n, mut watcher)) = WATCHER.with(|slot| slot.borrow_mut().take()) {
            let act = watcher(n + 1, name);
            WATCHER.with(|slot| slot.borrow_mut().get_or_insert((n + 1, watcher)).0 = n + 1);
            return act;
        }
        let wanted = ENVIRONMENT.get_or_init(environment);
        let n = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(list) = &wanted.list
            && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(list)
        {
            let _ = writeln!(file, "{n} {name}");
        }
        match (wanted.crash, wanted.fail) {
            (Some((at, false)), _) if at == n => Act::CrashBefore,
            (Some((at, true)), _) if at == n => Act::CrashAfter,
            (_, Some((at, errno))) if at == n => Act::Fail(errno),
            _ => Act::Go,
        }
    }
}
