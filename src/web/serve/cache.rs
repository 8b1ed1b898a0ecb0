//! A size-limited cache for responses.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;

/// Caches responses by a text key, such as the path and query of a request. Each shard has a newer
/// and an older half; when the newer half is full, the older half is dropped and the newer half
/// becomes the older one. There are many shards so that few requests wait while a shard drops its
/// entries.
#[derive(Debug)]
pub(crate) struct AnswerCache {
    shards: Vec<Mutex<Halves>>,
    /// The maximum size of one half of a shard, in bytes.
    room: usize,
    shard_of: RandomState,
}

#[derive(Debug, Default)]
struct Halves {
    young: HashMap<String, Bytes>,
    old: HashMap<String, Bytes>,
    used: usize,
}

/// The approximate memory overhead of a cache entry, in bytes, excluding its key and its response.
const OVERHEAD: usize = 100;
/// The number of shards. With a single shard of 32 MiB, one request in a hundred waited several
/// milliseconds while the cache dropped tens of thousands of responses at once.
const SHARDS: usize = 64;

impl AnswerCache {
    pub(crate) fn new(bytes: usize) -> Self {
        Self::with_shards(bytes, SHARDS)
    }

    fn with_shards(bytes: usize, shards: usize) -> Self {
        AnswerCache {
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            room: bytes / 2 / shards,
            shard_of: RandomState::new(),
        }
    }

    pub(crate) fn get(&self, address: &str) -> Option<Bytes> {
        let mut halves = self.shard(address);
        if let Some(answer) = halves.young.get(address) {
            return Some(answer.clone());
        }
        let answer = halves.old.remove(address)?;
        halves.put(address.to_owned(), answer.clone(), self.room);
        Some(answer)
    }

    pub(crate) fn put(&self, address: String, answer: Bytes) {
        let mut halves = self.shard(&address);
        halves.put(address, answer, self.room);
    }

    fn shard(&self, address: &str) -> MutexGuard<'_, Halves> {
        let number = self.shard_of.hash_one(address) as usize % self.shards.len();
        self.shards[number].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Halves {
    fn put(&mut self, address: String, answer: Bytes, room: usize) {
        self.used += address.len() + answer.len() + OVERHEAD;
        self.young.insert(address, answer);
        if self.used > room {
            self.old = mem::take(&mut self.young);
            self.used = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_used_answers_are_kept() {
        let cache = AnswerCache::with_shards(20 * (OVERHEAD + 10), 1);
        for number in 0..1000 {
            cache.put(format!("/{number}"), Bytes::from_static(b"12345678"));
            assert!(cache.get("/0").is_some() || number == 0, "{number}");
        }
        assert!(cache.get("/500").is_none());
        let halves = cache.shard("/0");
        assert!(halves.young.len() + halves.old.len() <= 21);
    }

    #[test]
    fn sharded_cache_keeps_the_same_total() {
        let room = 64 * 20 * (OVERHEAD + 10);
        let cache = AnswerCache::new(room);
        for number in 0..10_000 {
            cache.put(format!("/{number}"), Bytes::from_static(b"12345678"));
        }
        let lengths = cache.shards.iter().map(|shard| {
            let halves = shard.lock().expect("sound");
            halves.young.len() + halves.old.len()
        });
        let kept: usize = lengths.sum();
        assert!((500..=1300).contains(&kept), "{kept}");
    }
}
