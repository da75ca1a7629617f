//! Files that a user asked for: reports and baselines. Written through the one door, `commit`, and never into a store.

use std::io::{self, Write};
use std::path::Path;

use super::failure::Failure;
use crate::report::out::Finish;

/// Begins a file; it gets its name when it is finished.
///
/// # Errors
/// A file that cannot be written, or that lies inside one of the stores.
pub(super) fn create(path: &Path, _stores: &[&Path]) -> Result<Box<dyn Finish>, Failure> {
    // Becomes `commit::output::create(path, stores)` when that room is joined.
    Err(Failure::new(format!("'{}' cannot be written yet: the room that writes is not joined", path.display())))
}

/// Writes a file in one go.
///
/// # Errors
/// As [`create`], and whatever the system says.
pub(super) fn write(
    path: &Path,
    stores: &[&Path],
    bytes: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let mut file = create(path, stores)?;
    let done = bytes(file.as_mut()).and_then(|()| file.finish());
    done.map_err(|e| Failure::new(format!("'{}' cannot be written: {e}", path.display())))
}
