//! Answers that were given, to be given again.

use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;

/// Keeps answers by their address, those asked for lately: when the younger half of the room is full,
/// the older half is thrown away.
#[derive(Debug)]
pub(crate) struct AnswerCache {
    halves: Mutex<Halves>,
    /// Bytes that one half may have.
    room: usize,
}

#[derive(Debug, Default)]
struct Halves {
    young: HashMap<String, Bytes>,
    old: HashMap<String, Bytes>,
    /// Bytes of the younger half.
    used: usize,
}

/// What an entry takes besides its texts, about.
const OVERHEAD: usize = 100;

impl AnswerCache {
    /// An empty one of so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        AnswerCache { halves: Mutex::default(), room: bytes / 2 }
    }

    /// The answer that was given to this address.
    pub(crate) fn get(&self, address: &str) -> Option<Bytes> {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = halves.young.get(address) {
            return Some(answer.clone());
        }
        let answer = halves.old.remove(address)?;
        halves.put(address.to_owned(), answer.clone(), self.room);
        Some(answer)
    }

    /// Keeps an answer.
    pub(crate) fn put(&self, address: String, answer: Bytes) {
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        halves.put(address, answer, self.room);
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
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let cache = AnswerCache::new(20 * (OVERHEAD + 10));
        for number in 0..1000 {
            cache.put(format!("/{number}"), Bytes::from_static(b"12345678"));
            assert!(cache.get("/0").is_some() || number == 0, "{number}");
        }
        assert!(cache.get("/500").is_none());
        let halves = cache.halves.lock().expect("sound");
        assert!(halves.young.len() + halves.old.len() <= 21);
    }
}
