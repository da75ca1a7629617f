//! Points in time as the agents write them: milliseconds since 1970, and RFC 3339 with milliseconds and a Z.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A day in milliseconds.
pub const DAY: i64 = 86_400_000;

/// 2026-09-01T00:00:00Z: the moment at which generated stores are looked at.
pub const NOW: i64 = 1_788_220_800_000;

/// [`NOW`] as an argument of `--now`.
pub const NOW_TEXT: &str = "2026-09-01T00:00:00Z";

/// As `Date.prototype.toISOString` writes it.
pub fn iso(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).expect("a time of our own making");
    format!("{time:.3}")
}

/// The milliseconds of a time that we wrote ourselves.
pub fn parse(text: &str) -> i64 {
    text.parse::<jiff::Timestamp>().expect("a time of our own making").as_millisecond()
}

/// Gives a file the time of its last change; a folder too, where a folder can be opened.
pub fn touch(path: &Path, ms: i64) {
    let folder = path.is_dir();
    let opened = if folder { File::open(path) } else { File::options().append(true).open(path) };
    let file = match opened {
        Err(_) if folder && cfg!(windows) => return,
        opened => opened.expect("a file that was just written"),
    };
    let at = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).expect("after 1970"));
    file.set_modified(at).expect("our own file");
}
