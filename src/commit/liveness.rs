//! Who has a file open. Reading only. Which processes live, and what the agents' registries say of them, is in
//! `store::liveness`.
//!
//! An answer is only as good as what could be asked: processes of other users cannot be looked into, and only Linux
//! shows open files at all. Both are in the answer, so that nobody takes silence for proof.
//!
//! This program itself is nobody: it opens sessions to read them, and writes only under the lock of the journal. If it
//! were counted, two repairs that start together would both refuse, and a scan would stop every repair.

use std::path::Path;

/// The processes that have a file open.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Openers {
    /// Their numbers, without those that run this program.
    pub pids: Vec<u32>,
    /// How many processes could not be looked into (other users').
    pub unread: usize,
    /// Whether there is a way to ask on this system.
    pub known: bool,
}

/// Which other processes have the file at this path open (the file that the path leads to now, under whatever name they
/// opened it). A path that leads nowhere is open nowhere.
pub fn open_elsewhere(path: &Path) -> Openers {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        match std::fs::metadata(path) {
            Ok(meta) => openers(meta.dev(), meta.ino()),
            Err(_) => Openers { known: cfg!(target_os = "linux"), ..Openers::default() },
        }
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Openers::default()
    }
}

/// The same, by device and inode.
#[cfg(target_os = "linux")]
pub(super) fn openers(dev: u64, ino: u64) -> Openers {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    let Ok(processes) = std::fs::read_dir("/proc") else { return Openers::default() };
    let mut found = Openers { known: true, ..Openers::default() };
    let program = |process: &Path| std::fs::metadata(process.join("exe")).map(|m| (m.dev(), m.ino())).ok();
    let own = program(Path::new("/proc/self"));
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() {
            continue;
        }
        match std::fs::read_dir(process.path().join("fd")) {
            Ok(descriptors) => {
                let open = descriptors.flatten().any(|fd| {
                    // Sockets and pipes have no path; to ask only about paths keeps us off their file systems.
                    std::fs::read_link(fd.path()).is_ok_and(|to| to.as_os_str().as_bytes().starts_with(b"/"))
                        && std::fs::metadata(fd.path()).is_ok_and(|m| (m.dev(), m.ino()) == (dev, ino))
                });
                if open && (own.is_none() || program(&process.path()) != own) {
                    found.pids.push(pid);
                }
            }
            // It has ended meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => found.unread += 1,
        }
    }
    found.pids.sort_unstable();
    found
}

/// The same, by device and inode: not known here.
#[cfg(not(target_os = "linux"))]
pub(super) fn openers(_dev: u64, _ino: u64) -> Openers {
    Openers::default()
}
