//! Records found again by their ids, in a file that is read a second time: only when a candidate is known.
//!
//! Lines are searched for the id's key as text, and what follows is hashed: no record is parsed. A key inside a string
//! is not met, its quotes are escaped there; one inside an object below the record may be, and is then compared like any
//! other and found to be another id.

use std::collections::HashSet;
use std::io;

use crate::record::facts::Id;
use crate::record::json::decode;
use crate::store::Source;
use crate::text::Text;

/// A record that was looked for.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) id: Text,
}

/// The first record of each wanted id (64 bits of its hash), in file order; or only the first of them all. `key` is that
/// of the id, quoted.
pub(super) fn scan_ids(source: &Source, key: &str, mut wanted: HashSet<u64>, only_first: bool) -> io::Result<Vec<Hit>> {
    /// No agent's ids are longer.
    const LONGEST: usize = 256;
    let key = format!("{key}:");
    let finder = memchr::memmem::Finder::new(&key);
    let mut hits = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next_line()? {
        if wanted.is_empty() || (only_first && !hits.is_empty()) {
            break;
        }
        for at in finder.find_iter(line.bytes) {
            let rest = line.bytes.get(at + key.len()..).unwrap_or_default().trim_ascii_start();
            let Some(value) = rest.strip_prefix(b"\"") else { continue };
            let value = &value[..value.len().min(LONGEST)];
            let Some(end) = memchr::memchr(b'"', value) else { continue };
            let id = decode(&value[..end]);
            if wanted.remove(&Id::of(&id).short()) {
                hits.push(Hit { line: line.number, offset: line.offset, length: line.length, id: Text::new(id) });
            }
        }
    }
    Ok(hits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_by_their_ids() {
        let text = "{\"uuid\":\"a\",\"x\":\"\\\"uuid\\\":\\\"b\\\"\"}\n\n{\"parentUuid\":\"c\",\"uuid\": \"b\"}\n";
        let wanted = [Id::of(b"b").short(), Id::of(b"c").short()].into();
        let hits = scan_ids(&Source::from_bytes(text), "\"uuid\"", wanted, false).unwrap();
        let places: Vec<_> = hits.iter().map(|h| (h.line, h.id.lossy())).collect();
        assert_eq!(places, [(3, "b".to_owned())]);
    }
}
