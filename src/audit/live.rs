//! Whether a session is being written to, and whether its last line may be half written just now.

use std::io;
use std::time::{Duration, SystemTime};

use crate::session::{Session, ids};
use crate::store::Source;
use crate::store::liveness::{self, Registration};

/// A tail is only waited for when the file changed this recently: a store of ten thousand old torn tails costs nothing.
const RECENT: Duration = Duration::from_secs(60);

/// Whether a registered process may be writing to it, or it grew since it was opened.
///
/// # Errors
/// I/O errors of the file.
pub fn is_live(session: &Session, registrations: &[Registration]) -> io::Result<bool> {
    if liveness::grew(&session.source)? {
        return Ok(true);
    }
    if !registrations.iter().any(Registration::may_live) {
        return Ok(false);
    }
    let ids = ids::all(session);
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    Ok(liveness::live(&session.path, &ids, registrations).is_some())
}

/// Whether its writer may be in the middle of the last line.
///
/// # Errors
/// I/O errors of the file.
pub(super) fn may_be_in_a_line(session: &Session) -> io::Result<bool> {
    Ok(!session.facts.terminated && (liveness::grew(&session.source)? || is_recent(&session.source)))
}

/// By the machine's own clock: this is about now, whatever `--now` says.
fn is_recent(source: &Source) -> bool {
    let Source::File { file, .. } = source else { return false };
    let changed = file.metadata().and_then(|meta| meta.modified());
    // A time ahead of the clock counts as recent: a shared folder's clock may be another machine's.
    changed.is_ok_and(|at| SystemTime::now().duration_since(at).map_or(true, |age| age < RECENT))
}
