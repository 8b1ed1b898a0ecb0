//! Hash maps that use Zobrist keys directly as hashes.

use std::hash::{BuildHasherDefault, Hasher};

/// A map from position keys to values. The key itself serves as the hash, because all bits of a
/// Zobrist key are random and `hashbrown` uses the highest and lowest bits of a hash.
pub(crate) type KeyMap<T> = hashbrown::HashMap<u64, T, BuildHasherDefault<KeyHasher>>;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    #[inline]
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn write(&mut self, bytes: &[u8]) {
        // Required by the trait but not called for keys, which are hashed with `write_u64`. Slow
        // but correct.
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
