//! Sessions that are being written to while they are read: a thread appends whole turns, cut at any byte, each piece
//! written on its own, as a slow or busy agent does.

use super::claude::{Session, Version};
use super::random::Rng;
use super::temp::write;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

/// A session with a thread that goes on writing it until it is stopped.
#[derive(Debug)]
pub struct Writer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<u64>>,
}

impl Writer {
    /// Starts a healthy session of Claude Code in this home and goes on appending to it. `widest`: the largest piece
    /// that is written at once, in bytes.
    pub fn start(home: &Path, seed: u64, widest: u64) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_millis() as i64);
        let mut session = Session::new(Rng::new(seed), Version(220), "/home/dev/live", now - 60_000);
        session.open();
        session.turn();
        let folder = home.join("projects").join(super::claude::slug(&session.project));
        let path = folder.join(format!("{}.jsonl", session.id));
        back_up(home, &mut session);
        write(&path, session.bytes());
        session.rows.clear();
        let stop = Arc::new(AtomicBool::new(false));
        let thread = {
            let (home, stop) = (home.to_owned(), Arc::clone(&stop));
            std::thread::spawn(move || append(&home, &path, session, widest, &stop))
        };
        Writer { stop, thread: Some(thread) }
    }

    /// Stops at the end of a record and says how many bytes were appended.
    pub fn stop(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).expect("the writer did its work")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The client writes a backup before the row that names it.
fn back_up(home: &Path, session: &mut Session) {
    for (name, text) in std::mem::take(&mut session.backups) {
        write(&home.join("file-history").join(&session.id).join(name), text);
    }
}

fn append(home: &Path, path: &Path, mut session: Session, widest: u64, stop: &AtomicBool) -> u64 {
    let mut file = OpenOptions::new().append(true).open(path).expect("our own file");
    let (mut rng, mut written) = (Rng::new(99), 0);
    while !stop.load(Ordering::Relaxed) {
        session.turn();
        back_up(home, &mut session);
        let bytes = session.bytes();
        session.rows.clear();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let piece = (rng.range(1, widest) as usize).min(rest.len());
            file.write_all(&rest[..piece]).expect("our own file");
            written += piece as u64;
            rest = &rest[piece..];
            std::thread::sleep(Duration::from_micros(rng.range(50, 2_000)));
        }
    }
    written
}
