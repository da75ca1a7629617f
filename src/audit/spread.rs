//! Files over cores: workers take the largest file that is left, hold one at a time, and let it go before they take the
//! next. They share nothing but the list; what each has is put together at the end.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::store::meter::Meter;

/// Why a file gave nothing.
#[derive(Debug)]
pub(super) enum Failed {
    /// The system would not let it be read.
    Unread(io::Error),
    /// A defect of ours: what the panic said.
    Defect(String),
}

impl Failed {
    /// Puts it where such failures are told.
    pub(super) fn tell(self, path: PathBuf, errors: &mut Vec<(PathBuf, String)>, defects: &mut Vec<(PathBuf, String)>) {
        match self {
            Failed::Unread(e) => errors.push((path, format!("cannot be read: {e}"))),
            Failed::Defect(said) => defects.push((path, said)),
        }
    }
}

/// Does `one` for each file of the list, on the threads of the pool in whose scope this is called. A file that fails goes
/// to `failed`, and the others are done all the same; only a meter that was stopped ends it early.
pub(super) fn spread<I: Sync, T: Default + Send>(
    order: &[I],
    meter: &Meter,
    one: impl Fn(&I, &mut T) -> io::Result<()> + Sync,
    failed: impl Fn(&I, Failed, &mut T) + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    rayon::broadcast(|_| {
        let mut sum = T::default();
        while let Some(n) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            if meter.stopped() {
                break;
            }
            // A defect of ours costs one file, as a bad line costs one line.
            match catch_unwind(AssertUnwindSafe(|| one(n, &mut sum))) {
                Ok(Ok(())) => {}
                Ok(Err(e)) if e.kind() == io::ErrorKind::Interrupted && meter.stopped() => break,
                Ok(Err(e)) => failed(n, Failed::Unread(e), &mut sum),
                Err(panic) => failed(n, Failed::Defect(said(panic.as_ref())), &mut sum),
            }
            meter.done();
        }
        sum
    })
}

/// What a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "no message".to_owned())
}
