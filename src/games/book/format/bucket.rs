//! The table of buckets that leads to the entries of a book.
//!
//! The top bits of a key say which bucket is its own; keys are uniform in every bit, so no further
//! hashing is needed, and a sorted book writes its table from front to back. A bucket is one row,
//! where the first of its entries begins and a filter of its keys, so that a probe touches one cache
//! line if it misses and, mostly, two if it hits.
//!
//! The filter is one word with [`BITS_PER_KEY`] bits set for each key: a blocked Bloom filter, see
//! F. Putze, P. Sanders and J. Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007).

use crate::support::prefetch::prefetch;

/// Bytes of a row: a place (u64) and a filter (u64), little-endian.
pub(crate) const BUCKET_BYTES: u64 = 16;

/// Buckets hold between half as many positions and as many, on average over the table. With eight a
/// probe that hits takes 1.8 times as long, since it looks at more entries on more cache lines; the
/// table is half as large then.
const POSITIONS_PER_BUCKET: u64 = 4;

/// With two to four keys in a word, three bits for each let one other in two hundred through at most.
const BITS_PER_KEY: u32 = 3;

/// Bits that tell the place of a bit in a word.
const PLACE_BITS: u32 = u64::BITS.trailing_zeros();

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Bucket {
    /// Where the first entry begins whose key belongs here or to a later bucket.
    pub start: u64,
    filter: u64,
}

/// The index that the top `bits` bits of `key` make.
#[inline]
pub(crate) fn slot(key: u64, bits: u32) -> u64 {
    // In two steps, since a shift by 64 (no bits at all) is none.
    key >> 1 >> (63 - bits)
}

/// The number of buckets, as a power of two, for so many positions.
pub(crate) fn bucket_bits(positions: u64) -> u32 {
    positions.div_ceil(POSITIONS_PER_BUCKET).max(1).next_power_of_two().trailing_zeros()
}

/// A row where it stands in its table: its place and its filter, not yet read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a>(&'a [[u8; 8]; 2]);

impl<'a> Row<'a> {
    /// That of a bucket without keys, in no table.
    pub(crate) const EMPTY: Row<'static> = Row(&[[0; 8]; 2]);

    /// The row of `key` in a table of `2^bits` of them.
    #[inline]
    pub(crate) fn of(table: &'a [u8], bits: u32, key: u64) -> Option<Self> {
        let row = usize::try_from(slot(key, bits)).ok()?;
        table.as_chunks().0.get(2 * row..)?.first_chunk().map(Row)
    }

    /// Asks the processor to fetch the filter: where a row lies on two cache lines, because tables begin
    /// anywhere in a file, the other is needed for keys that pass alone.
    #[inline]
    pub(crate) fn prefetch(self) {
        prefetch(&self.0[1]);
    }

    /// What the row says.
    #[inline]
    pub(crate) fn bucket(self) -> Bucket {
        let [start, filter] = self.0.map(u64::from_le_bytes);
        Bucket { start, filter }
    }
}

impl Bucket {
    /// A bucket without keys.
    pub(crate) fn empty(start: u64) -> Self {
        Bucket { start, filter: 0 }
    }

    /// The bucket of `key` in a table of `2^bits` of them.
    #[inline]
    pub(crate) fn of(table: &[u8], bits: u32, key: u64) -> Option<Self> {
        Row::of(table, bits, key).map(Row::bucket)
    }

    /// The bytes of the row.
    pub(crate) fn to_bytes(self) -> [u8; BUCKET_BYTES as usize] {
        let mut bytes = [0; BUCKET_BYTES as usize];
        bytes[..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..].copy_from_slice(&self.filter.to_le_bytes());
        bytes
    }

    /// Adds a key to the filter.
    pub(crate) fn insert(&mut self, key: u64) {
        self.filter |= bits_of(key);
    }

    /// Whether `key` may be here. `false` is certain.
    #[inline]
    pub(crate) fn may_hold(self, key: u64) -> bool {
        !self.filter & bits_of(key) == 0
    }
}

/// The bits of a key in its bucket's filter: told by its lowest bits, as its highest ones are the
/// same throughout the bucket.
#[inline]
fn bits_of(key: u64) -> u64 {
    let place = |n| key >> (n * PLACE_BITS) & u64::from(u64::BITS - 1);
    (0..BITS_PER_KEY).fold(0, |bits, n| bits | 1 << place(n))
}

/// Makes a table of buckets of keys that come sorted.
pub(crate) struct TableMaker {
    bits: u32,
    bucket: Bucket,
    /// Rows that are done.
    rows: u64,
}

impl TableMaker {
    /// A table of `2^bits` rows.
    pub(crate) fn new(bits: u32) -> Self {
        TableMaker { bits, bucket: Bucket::empty(0), rows: 0 }
    }

    /// Adds the key of an entry that begins at `offset`. Rows that this completes go to `take`.
    #[inline]
    pub(crate) fn add<E>(
        &mut self,
        key: u64,
        offset: u64,
        take: impl FnMut(Bucket) -> Result<(), E>,
    ) -> Result<(), E> {
        self.go_to(slot(key, self.bits), offset, take)?;
        self.bucket.insert(key);
        Ok(())
    }

    /// Hands the other rows over. The entries end at `end`.
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
    fn slots_are_monotone_and_stay_inside() {
        assert_eq!(
            (slot(u64::MAX, 0), slot(u64::MAX, 1), slot(u64::MAX, 27)),
            (0, 1, (1 << 27) - 1)
        );
        assert_eq!(slot(1 << 63, 5), 16);
    }

    #[test]
    fn tables_grow_with_the_book() {
        let bits = [0, 1, 4, 5, 8, 9, 10_000_000].map(bucket_bits);
        assert_eq!(bits, [0, 0, 0, 1, 1, 2, 22]);
    }

    #[test]
    fn a_bucket_survives_its_bytes() {
        let mut bucket = Bucket::empty(77);
        bucket.insert(0x0123_4567_89ab_cdef);
        let table = [Bucket::empty(5).to_bytes(), bucket.to_bytes()].concat();
        assert_eq!(Bucket::of(&table, 1, 1), Some(Bucket::empty(5)));
        assert_eq!(Bucket::of(&table, 1, 1 << 63), Some(bucket));
        assert_eq!(Bucket::of(&table[..31], 1, 1 << 63), None);
    }

    #[test]
    fn its_keys_pass_and_few_others() {
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
        // (1 - (63/64)^12)^3 = 0.5%.
        assert!((tried / 400..tried / 100).contains(&passed), "{passed} of {tried}");
    }
}
