//! What makes a finding the same one tomorrow: for baselines, and for sites that track findings over time.
//!
//! Made from the code, the file's path below its store, the record's id (else its offset) and an ordinal among equals. A
//! session only grows at its end, so none of these moves when lines are appended; line numbers and counts are left out
//! because they do.

use std::collections::HashMap;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::finding::Finding;

/// Hex digits of a fingerprint.
const LENGTH: usize = 20;

/// Fingerprints of the findings of one file, in their order.
#[derive(Debug)]
pub struct Fingerprints<'a> {
    below: &'a Path,
    seen: HashMap<String, u32>,
}

impl<'a> Fingerprints<'a> {
    /// For the findings listed under the file with this path below its store.
    pub fn new(below: &'a Path) -> Self {
        Fingerprints { below, seen: HashMap::new() }
    }

    /// The fingerprint of the next finding.
    pub fn of(&mut self, finding: &Finding) -> String {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(finding.rule.code.as_bytes());
        part(&spelled(self.below));
        part(finding.path.as_deref().map(spelled).unwrap_or_default().as_slice());
        match (&finding.place.id, finding.place.offset) {
            (Some(id), _) => part(id.as_bytes()),
            (None, Some(offset)) => part(&offset.to_le_bytes()),
            (None, None) => part(b""),
        }
        let base = crate::text::hex(&hash.finalize());
        let ordinal = self.seen.entry(base.clone()).or_default();
        *ordinal += 1;
        if *ordinal == 1 {
            return base[..LENGTH].to_owned();
        }
        let again = Sha256::digest(format!("{base}#{ordinal}").as_bytes());
        crate::text::hex(&again)[..LENGTH].to_owned()
    }
}

/// A path with the same separators on every system.
fn spelled(path: &Path) -> Vec<u8> {
    let parts: Vec<&[u8]> = path.iter().map(|part| part.as_encoded_bytes()).collect();
    parts.join(&b'/')
}
