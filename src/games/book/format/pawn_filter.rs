//! The pawn filter, with one bit for each pawn structure that may occur in a book. Lookups test it
//! first.
//!
//! Its size in bits is a power of two, and the top bits of a pawn key select the bit. It is a
//! [Bloom filter](https://en.wikipedia.org/wiki/Bloom_filter) with one hash function.

use super::bucket::slot;
use crate::support::prefetch::prefetch;

/// The minimum number of bits per pawn structure in the book, up to the maximum filter size. On
/// average, one in twelve structures not in the book also passes.
const BITS_PER_KEY: u64 = 8;

pub(crate) fn filter_bytes(bits: u32) -> u64 {
    (1_u64 << bits).div_ceil(8)
}

fn filter_bits(keys: u64) -> u32 {
    (keys.max(1).saturating_mul(BITS_PER_KEY)).next_power_of_two().trailing_zeros()
}

#[inline]
pub(crate) fn may_hold(filter: &[u8], bits: u32, key: u64) -> bool {
    is_set(filter, slot(key, bits))
}

/// Prefetches the byte that [`may_hold`] reads.
#[inline]
pub(crate) fn prefetch_bit(filter: &[u8], bits: u32, key: u64) {
    prefetch(&filter[byte_of(slot(key, bits))]);
}

#[inline]
fn byte_of(slot: u64) -> usize {
    (slot / 8) as usize
}

#[inline]
fn is_set(filter: &[u8], slot: u64) -> bool {
    filter[byte_of(slot)] >> (slot % 8) & 1 != 0
}

fn set(filter: &mut [u8], slot: u64) {
    filter[byte_of(slot)] |= 1 << (slot % 8);
}

/// The pawn structures in a book that is being built. They are stored in a filter of the maximum
/// size, which is folded to the required size at the end. Each thread of a build has its own set.
pub(crate) struct PawnSet {
    words: Vec<u64>,
    /// Pawn filters of other books, whose individual structures are unknown. Each is stored with
    /// the base-2 logarithm of its size in bits.
    filters: Vec<(Vec<u8>, u32)>,
    /// Set if the pawns of some positions are unknown, so that any structure may occur.
    everything: bool,
}

/// The base-2 logarithm of the number of bits in a [`PawnSet`]. At 4 MB, the set stays in the cache
/// during a build. It is large enough for the four million structures of about 20 million
/// positions.
const PAWN_SET_BITS: u32 = 25;

impl PawnSet {
    pub(crate) fn new() -> Self {
        let words = vec![0; 1 << (PAWN_SET_BITS - 6)];
        PawnSet { words, filters: Vec::new(), everything: false }
    }

    /// Creates the set for a book in which some positions are known only by their keys, so that any
    /// pawn structure may occur.
    pub(crate) fn everything() -> Self {
        PawnSet { words: Vec::new(), filters: Vec::new(), everything: true }
    }

    /// Serializes the set for [`PawnSet::from_bytes`]. Filters added by [`PawnSet::insert_filter`]
    /// are not included.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let words: Vec<u64> =
            bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let is_whole =
            size_of_val(&words[..]) == bytes.len() && words.len() == Self::new().words.len();
        is_whole.then_some(PawnSet { words, ..Self::new() })
    }

    #[inline]
    pub(crate) fn insert(&mut self, pawn_key: u64) {
        if self.everything {
            return;
        }
        let slot = slot(pawn_key, PAWN_SET_BITS);
        self.words[(slot / 64) as usize] |= 1 << (slot % 64);
    }

    pub(crate) fn join(&mut self, other: &PawnSet) {
        if self.everything || other.everything {
            *self = Self::everything();
        }
        self.words.iter_mut().zip(&other.words).for_each(|(word, more)| *word |= more);
        self.filters.extend_from_slice(&other.filters);
    }

    /// Adds all structures that the filter of another book may contain. `bits` is the base-2
    /// logarithm of that filter's size in bits. The filter returned by [`Self::fold`] is then at
    /// least as large.
    pub(crate) fn insert_filter(&mut self, filter: &[u8], bits: u32) {
        if bits == 0 || bits > PAWN_SET_BITS {
            *self = Self::everything();
        } else {
            self.filters.push((filter.to_owned(), bits));
        }
    }

    /// Returns a pawn filter that is large enough for the number of structures, and the base-2
    /// logarithm of its size in bits.
    pub(crate) fn fold(&self) -> (Vec<u8>, u32) {
        if self.everything {
            return (vec![1], 0);
        }
        let structures = self.words.iter().map(|word| u64::from(word.count_ones()));
        let largest = self.filters.iter().map(|&(_, bits)| bits).max().unwrap_or(0);
        let bits = filter_bits(structures.sum()).min(PAWN_SET_BITS).max(largest);
        let mut filter = vec![0; filter_bytes(bits) as usize];
        for (index, word) in self.words.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                let wide = index as u64 * 64 + u64::from(left.trailing_zeros());
                set(&mut filter, wide >> (PAWN_SET_BITS - bits));
                left &= left - 1;
            }
        }
        for (other, narrow) in &self.filters {
            let spread = bits - narrow;
            for slot in (0..1_u64 << narrow).filter(|&slot| is_set(other, slot)) {
                let wide = slot << spread..(slot + 1) << spread;
                wide.for_each(|slot| set(&mut filter, slot));
            }
        }
        (filter, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_size_grows_with_the_keys() {
        assert_eq!((filter_bits(0), filter_bits(1), filter_bits(9)), (3, 3, 7));
        assert_eq!((filter_bytes(0), filter_bytes(3), filter_bytes(7)), (1, 1, 16));
    }

    #[test]
    fn folded_set_contains_all_inserted_keys() {
        let keys: Vec<u64> =
            (1..=1000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let (mut set, mut half) = (PawnSet::new(), PawnSet::new());
        keys[..500].iter().for_each(|&key| set.insert(key));
        keys[500..].iter().for_each(|&key| half.insert(key));
        set.join(&half);
        let (filter, bits) = set.fold();
        assert_eq!(bits, 13);
        assert!(keys.iter().all(|&key| may_hold(&filter, bits, key)));
        let false_positives = (1..=1000_u64)
            .filter(|n| may_hold(&filter, bits, n.wrapping_mul(0xd134_2543_de82_ef95)));
        assert!(false_positives.count() < 250);
        let mut again = PawnSet::new();
        again.insert_filter(&filter, bits);
        assert!(again.fold() == (filter.clone(), bits), "a single filter is unchanged");
        let mut few = PawnSet::new();
        (0..9_u64).for_each(|key| few.insert(key << 59));
        let (small, small_bits) = few.fold();
        assert!(small_bits < bits);
        again.insert_filter(&small, small_bits);
        let (both, both_bits) = again.fold();
        assert_eq!(both_bits, bits);
        assert!(keys.iter().all(|&key| may_hold(&both, both_bits, key)));
        assert!((0..9_u64).all(|key| may_hold(&both, both_bits, key << 59)));
    }
}
