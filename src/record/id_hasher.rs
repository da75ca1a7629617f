//! Tables whose keys are hashes already: hashing them again would cost more than the look-up. Only for keys that are keyed
//! by the process ([`super::facts::Id`]), so that no input can make a table degenerate.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// A table by hash.
pub type ByHash<V> = HashMap<u64, V, AsItIs>;

/// Takes a key for its own hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct AsItIs;

impl BuildHasher for AsItIs {
    type Hasher = Same;
    fn build_hasher(&self) -> Same {
        Same(0)
    }
}

/// See [`AsItIs`].
#[derive(Debug)]
pub struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        // Never called for a u64; folding what comes keeps it a hasher all the same.
        for b in bytes {
            self.0 = self.0.rotate_left(5) ^ u64::from(*b);
        }
    }
    fn write_u64(&mut self, n: u64) {
        // Id::short() always has its lowest bit set; the table takes its place from the low bits.
        self.0 = n.rotate_right(7);
    }
}
