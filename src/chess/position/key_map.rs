//! Hash maps keyed by Zobrist keys, which need no further hashing.

use std::hash::{BuildHasherDefault, Hasher};

/// A map from position keys. The whole key is the hash: it must not be shifted or truncated, since
/// `hashbrown` uses both its highest and lowest bits.
pub(crate) type KeyMap<T> = hashbrown::HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

/// Returns a key as its own hash.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    #[inline]
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only keys are hashed in practice; this is a slow but correct fallback.
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
