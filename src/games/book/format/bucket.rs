//! The table of buckets, used to find the entry of a position in a book.
//!
//! The top bits of a position's key, which are uniformly distributed, are the index of its bucket.
//! A bucket is one row of the table: the offset of its first entry, and a filter for its keys. A
//! lookup touches one cache line if the filter excludes the key, and usually two if the position is
//! in the book.
//!
//! The filter is one word with up to [`BITS_PER_KEY`] bits set for each key: a blocked Bloom
//! filter. Source: F. Putze, P. Sanders and J. Singler, "Cache-, Hash- and Space-Efficient Bloom
//! Filters" (2007).

use crate::support::prefetch::prefetch;

/// Size of a row in bytes: an offset (u64) and a filter (u64), little-endian.
pub(crate) const BUCKET_BYTES: u64 = 16;

/// The maximum average number of positions per bucket. The actual average may be as low as half of
/// this, because the number of buckets is a power of two. With a maximum of eight, the table would
/// be half as large, but a hit would take 1.8 times as long.
const POSITIONS_PER_BUCKET: u64 = 4;

/// Number of filter bits set per key. With up to four keys per word, the false-positive rate is at
/// most 0.5%.
const BITS_PER_KEY: u32 = 3;

const PLACE_BITS: u32 = u64::BITS.trailing_zeros();

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Bucket {
    /// The offset of the first entry whose key belongs to this bucket or to a later one.
    pub start: u64,
    filter: u64,
}

#[inline]
pub(crate) fn slot(key: u64, bits: u32) -> u64 {
    // Shift twice, because a single shift by 64 bits (for zero index bits) would overflow.
    key >> 1 >> (63 - bits)
}

/// Returns the base-2 logarithm of the number of buckets in a book with this many positions.
pub(crate) fn bucket_bits(positions: u64) -> u32 {
    positions.div_ceil(POSITIONS_PER_BUCKET).max(1).next_power_of_two().trailing_zeros()
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a>(&'a [[u8; 8]; 2]);

impl<'a> Row<'a> {
    /// A placeholder row without keys, used for positions that the pawn filter excludes. It is not
    /// part of any table.
    pub(crate) const EMPTY: Row<'static> = Row(&[[0; 8]; 2]);

    #[inline]
    pub(crate) fn of(table: &'a [u8], bits: u32, key: u64) -> Option<Self> {
        let row = usize::try_from(slot(key, bits)).ok()?;
        table.as_chunks().0.get(2 * row..)?.first_chunk().map(Row)
    }

    /// Prefetches the filter. The offset may be in another cache line, but it is needed only for
    /// the few keys that pass the filter.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(&self.0[1]);
    }

    #[inline]
    pub(crate) fn bucket(self) -> Bucket {
        let [start, filter] = self.0.map(u64::from_le_bytes);
        Bucket { start, filter }
    }
}

impl Bucket {
    pub(crate) fn empty(start: u64) -> Self {
        Bucket { start, filter: 0 }
    }

    #[inline]
    pub(crate) fn of(table: &[u8], bits: u32, key: u64) -> Option<Self> {
        Row::of(table, bits, key).map(Row::bucket)
    }

    pub(crate) fn to_bytes(self) -> [u8; BUCKET_BYTES as usize] {
        let mut bytes = [0; BUCKET_BYTES as usize];
        bytes[..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..].copy_from_slice(&self.filter.to_le_bytes());
        bytes
    }

    pub(crate) fn insert(&mut self, key: u64) {
        self.filter |= bits_of(key);
    }

    /// Returns false if the filter shows that `key` is not in this bucket. There are no false
    /// negatives.
    #[inline]
    pub(crate) fn may_hold(self, key: u64) -> bool {
        !self.filter & bits_of(key) == 0
    }
}

/// Returns the filter bits of a key. They are taken from its lowest bits, because the highest bits
/// are the same for all keys in a bucket.
#[inline]
fn bits_of(key: u64) -> u64 {
    let place = |n| key >> (n * PLACE_BITS) & u64::from(u64::BITS - 1);
    (0..BITS_PER_KEY).fold(0, |bits, n| bits | 1 << place(n))
}

pub(crate) struct TableMaker {
    bits: u32,
    bucket: Bucket,
    rows: u64,
}

impl TableMaker {
    pub(crate) fn new(bits: u32) -> Self {
        TableMaker { bits, bucket: Bucket::empty(0), rows: 0 }
    }

    /// Adds the key of an entry that starts at `offset`, and passes each completed bucket to
    /// `take`. Keys must be added in ascending order.
    #[inline]
    pub(crate) fn add<E>(
        &mut self,
        key: u64,
        offset: u64,
        take: impl FnMut(Bucket) -> Result<(), E>,
    ) -> Result<(), E> {
        let row = slot(key, self.bits);
        debug_assert!(row >= self.rows, "the key {key:016x} is out of order");
        self.go_to(row, offset, take)?;
        debug_assert!(offset >= self.bucket.start, "the entries overlap");
        self.bucket.insert(key);
        Ok(())
    }

    /// Passes the remaining buckets to `take`. `end` is the offset at which the last entry ends.
    pub(crate) fn finish<E>(
        mut self,
        end: u64,
        take: impl FnMut(Bucket) -> Result<(), E>,
    ) -> Result<(), E> {
        self.go_to(1 << self.bits, end, take)
    }

    #[inline]
    fn go_to<E>(
        &mut self,
        row: u64,
        offset: u64,
        mut take: impl FnMut(Bucket) -> Result<(), E>,
    ) -> Result<(), E> {
        while self.rows < row {
            take(self.bucket)?;
            (self.bucket, self.rows) = (Bucket::empty(offset), self.rows + 1);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::random::Random;

    #[test]
    fn slot_is_given_by_the_highest_bits() {
        assert_eq!(
            (slot(u64::MAX, 0), slot(u64::MAX, 1), slot(u64::MAX, 27)),
            (0, 1, (1 << 27) - 1)
        );
        assert_eq!(slot(1 << 63, 5), 16);
    }

    #[test]
    fn table_size_grows_with_the_book() {
        let bits = [0, 1, 4, 5, 8, 9, 10_000_000].map(bucket_bits);
        assert_eq!(bits, [0, 0, 0, 1, 1, 2, 22]);
    }

    #[test]
    fn bucket_round_trips() {
        let mut bucket = Bucket::empty(77);
        bucket.insert(0x0123_4567_89ab_cdef);
        let table = [Bucket::empty(5).to_bytes(), bucket.to_bytes()].concat();
        assert_eq!(Bucket::of(&table, 1, 1), Some(Bucket::empty(5)));
        assert_eq!(Bucket::of(&table, 1, 1 << 63), Some(bucket));
        assert_eq!(Bucket::of(&table[..31], 1, 1 << 63), None);
    }

    #[test]
    fn filter_passes_its_keys_and_few_others() {
        let mut random = Random::new(1);
        let (mut tried, mut passed) = (0, 0);
        for _ in 0..2000 {
            let keys: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
            let mut bucket = Bucket::empty(0);
            keys.iter().for_each(|&key| bucket.insert(key));
            assert!(keys.iter().all(|&key| bucket.may_hold(key)));
            assert!(!Bucket::empty(0).may_hold(keys[0]));
            tried += 10;
            passed += (0..10).filter(|_| bucket.may_hold(random.next_u64())).count();
        }
        // The expected false-positive rate for four keys of three bits each is (1 - (63/64)^12)^3 =
        // 0.5%.
        assert!((tried / 400..tried / 100).contains(&passed), "{passed} of {tried}");
    }
}
