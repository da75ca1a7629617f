//! Files that a user asked for: reports and baselines. Written through the one door, `commit`, and never into a store.

use std::io::{self, Write};
use std::path::Path;

use super::failure::Failure;
use crate::agents;
use crate::commit::output;
use crate::report::by_file::Listed;
use crate::report::json;
use crate::report::out::Finish;
use crate::rules::baseline::{Baseline, Document, Entry};

/// Begins a file; it gets its name when it is finished.
///
/// # Errors
/// A file that cannot be written, or that lies inside one of the stores.
pub(super) fn create(path: &Path, stores: &[&Path]) -> Result<Box<dyn Finish>, Failure> {
    match output::create(path, stores, agents::HOMES) {
        Ok(file) => Ok(Box::new(Report(file))),
        Err(e) => {
            let failure = Failure::new(e.to_string());
            Err(match e.hint() {
                Some(hint) => failure.hint(hint),
                None => failure,
            })
        }
    }
}

/// Writes a file in one go.
///
/// # Errors
/// As [`create`]; I/O errors of the file.
fn write(path: &Path, stores: &[&Path], bytes: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut file = create(path, stores)?;
    let done = bytes(file.as_mut()).and_then(|()| file.finish());
    done.map_err(|e| Failure::new(format!("'{}' cannot be written: {e}", path.display())))
}

/// A report's file, as the room that prints knows it.
struct Report(output::Output);

impl Write for Report {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Finish for Report {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish().map_err(io::Error::other)
    }
}

/// Writes the findings of these files as a baseline.
///
/// # Errors
/// A file that cannot be written, or that lies inside one of the stores.
pub(super) fn baseline<'a>(
    path: &Path,
    stores: &[&Path],
    files: impl Iterator<Item = Listed<'a>>,
) -> Result<(), Failure> {
    let mut entries = Vec::new();
    for file in files {
        entries.extend(file.told(&Baseline::default()).map(|told| Entry {
            code: told.finding.rule.code.to_owned(),
            path: told.finding.path.as_deref().unwrap_or(&file.below).to_string_lossy().into_owned(),
            fingerprint: told.fingerprint,
        }));
    }
    if path.as_os_str() == "-" {
        return Err(Failure::new("a baseline is written to a file, not to standard output"));
    }
    let document = Document::new(entries);
    write(path, stores, |file| json::document(file, &document))
}
