//! Folders for one test each, below Cargo's own folder for that, removed when the test ends well.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A fresh folder. A test that fails leaves it, so that it can be looked at.
#[derive(Debug)]
pub struct Temp(PathBuf);

impl Temp {
    /// A folder whose name starts like this.
    pub fn new(name: &str) -> Self {
        Temp::within(Path::new(env!("CARGO_TARGET_TMPDIR")), name)
    }

    /// The same in this folder, where it is one: in memory, syncing costs nothing, so that races are close.
    pub fn within(folder: &Path, name: &str) -> Self {
        let folder = if folder.is_dir() { folder } else { Path::new(env!("CARGO_TARGET_TMPDIR")) };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{name}-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("Cargo's folder for tests can be written");
        Temp(path.canonicalize().expect("it is there"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A path in it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder can be made");
    fs::write(path, bytes).expect("the file can be written");
}

/// Copies a folder: plain files and folders, and nothing else.
pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("an entry");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy_tree(&source, &target);
        } else {
            fs::copy(&source, &target).expect("a fixture can be copied");
        }
    }
}

/// Every plain file below a folder, relative to it, in order.
pub fn files_below(root: &Path) -> Vec<PathBuf> {
    fn walk(root: &Path, folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                walk(root, &path, out);
            } else {
                out.push(path.strip_prefix(root).expect("below the root").to_owned());
            }
        }
    }
    let mut out = Vec::new();
    walk(root, root, &mut out);
    out.sort();
    out
}
