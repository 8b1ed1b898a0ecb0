//! Hash maps keyed by Zobrist keys, which need no second hashing.

use std::hash::{BuildHasherDefault, Hasher};

/// A map from a position's key to something. The whole key is the hash: it must not be shifted or
/// cut, since `hashbrown` uses its top bits as well as its lowest.
pub(crate) type KeyMap<T> = hashbrown::HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

/// Hands a key through as its own hash.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    #[inline]
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only keys are hashed; this serves whoever puts something else in, slowly but rightly.
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
