//! How far a run has come, on standard error: only on a terminal, and only when the work lasts longer than a moment.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::store::meter::Meter;

/// Shorter work shows nothing.
const MOMENT: Duration = Duration::from_millis(500);
/// How often it is drawn anew.
const TICK: Duration = Duration::from_millis(100);

/// A line that is drawn while work is done, and gone when this is dropped.
#[derive(Debug)]
pub struct Progress {
    work: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Follows a meter through so many bytes of so many files.
    pub fn new(meter: &Arc<Meter>, bytes: u64, files: u64, wanted: bool) -> Self {
        if !wanted || !std::io::stderr().is_terminal() {
            return Progress { work: None };
        }
        let meter = Arc::clone(meter);
        let (done, ended) = channel();
        let drawing = std::thread::Builder::new().name("progress".to_owned()).spawn(move || {
            if !matches!(ended.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout)) {
                return;
            }
            let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
            bar.set_style(style());
            loop {
                let (read, finished) = meter.so_far();
                bar.set_position(read.min(bytes));
                bar.set_message(format!("{finished}/{files} files"));
                if !matches!(ended.recv_timeout(TICK), Err(RecvTimeoutError::Timeout)) {
                    break;
                }
            }
            bar.finish_and_clear();
        });
        // Without a thread to draw it there is no progress; the work is done all the same.
        Progress { work: drawing.ok().map(|thread| (done, thread)) }
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bytes}/{total_bytes}  {msg}  {binary_bytes_per_sec}  {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.work.take() {
            drop(done);
            let _ = thread.join();
        }
    }
}
