//! Records of positions, moves and results, which are sorted and grouped to form the entries of a
//! book.

use super::BuildOptions;
use crate::chess::position::{Color, Move};
#[cfg(feature = "parquet")]
use crate::games::book::facets::GameFacets;
use crate::games::book::format::counts::Counts;
use crate::games::book::format::entry::BookEntry;
use crate::games::book::format::writer::Block;
use crate::games::pgn::GameResult;

#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    pub key: u64,
    pub pawn_key: u64,
    pub side: Color,
    pub mv: Option<Move>,
    /// Whether another visit already counts the position for this game. This is the case if the
    /// position occurred earlier in the game, or if the game has variations, which produce separate
    /// visits for positions and moves.
    pub again: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CountedGame {
    pub result: GameResult,
    /// The index of the game in its thread's game log; 0 if there is no log.
    pub number: u32,
    /// The facets of the game. Set only for [`OfGame::Facets`].
    #[cfg(feature = "parquet")]
    pub facets: GameFacets,
}

impl CountedGame {
    pub(super) fn new(result: GameResult, number: u32) -> Self {
        CountedGame {
            result,
            number,
            #[cfg(feature = "parquet")]
            facets: GameFacets::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfGame {
    Result,
    Number,
    #[cfg(feature = "parquet")]
    Facets,
}

/// A record of one or more games that visited a position. Records are sorted by position, and equal
/// ones are merged. Some record types also store the game's index or its facets.
pub(super) trait PositionRecord: Copy + PartialEq + Send + Sync {
    /// The empty record, which has no games. Every other record has at least one.
    const EMPTY: Self;
    const JOINS: bool;
    /// What a record stores about its game.
    const OF_GAME: OfGame;
    const BYTES: usize;
    type Bytes: AsRef<[u8]>;

    fn of(visit: &Visit, game: &CountedGame) -> Self;
    fn key(&self) -> u64;
    /// Returns the key by which records are sorted. Its most significant bits are the position key.
    fn rank(&self) -> u128;
    /// Returns the record's slot in a cache of `2^bits` slots. Records that can be merged map to
    /// the same slot.
    fn slot(&self, bits: u32) -> usize;
    /// Adds the games of another record to this one. Returns false if the two differ in more than
    /// their game counts or if the sum would overflow.
    fn join(&mut self, other: &Self) -> bool;
    /// Replaces the game's index in the log of its thread by the game's number in the book. Returns
    /// false if the game is not in the book.
    fn renumber(&mut self, numbers: &[u32]) -> bool;
    fn to_bytes(self) -> Self::Bytes;
    fn read_all(bytes: &[u8], records: &mut Vec<Self>);

    #[inline]
    fn partition(&self) -> usize {
        partition_of(self.key())
    }

    /// Returns the index of the record's bucket within its partition, which is divided into
    /// `2^bits` buckets in key order.
    #[inline]
    fn bucket(&self, bits: u32) -> usize {
        // Shift twice, because a single shift by 64 bits (for one bucket) would overflow.
        (self.key() << PARTITION_BITS >> 1 >> (63 - bits)) as usize
    }
}

pub(super) trait BookRecord: PositionRecord {
    /// Sorts the records of a partition, groups them into book entries, and encodes the entries
    /// that remain after pruning. `sorted` is scratch space. `games` is the total number of games
    /// in the book.
    fn encode(
        records: &[Self],
        sorted: &mut Vec<Self>,
        options: &BuildOptions,
        games: u32,
    ) -> Block;
}

/// Counts the games with the same result that reached a position and continued with the same move
/// (or with none). To save memory, a record takes only 12 bytes. It is sorted as a single integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, packed(4))]
pub(super) struct Record {
    key: u64,
    /// A bit field. From the highest bit: [`AGAIN`], move (15 bits, 0 for none), [`BLACK_TO_MOVE`],
    /// result (2), number of games (13).
    rest: u32,
}

const _: () = assert!(size_of::<Record>() == RECORD_BYTES);

const RECORD_BYTES: usize = 12;
/// The base-2 logarithm of the number of partitions. The top bits of the key select the partition.
/// With this number, a partition still fits into a second-level cache when 250 MB of PGN text, that
/// is, 16 million records, are processed.
pub(super) const PARTITION_BITS: u32 = 8;
pub(in crate::games::book) fn partition_of(key: u64) -> usize {
    (key >> (u64::BITS - PARTITION_BITS)) as usize
}

pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;
/// Set in `rest` if the games count only for the move, because another visit already counts the
/// position for them (see [`Visit::again`]).
const AGAIN: u32 = 1 << 31;
const MOVE_SHIFT: u32 = 16;
const BLACK_TO_MOVE: u32 = 1 << 15;
const RESULT_SHIFT: u32 = 13;
const MAX_GAMES: u32 = (1 << RESULT_SHIFT) - 1;
pub(super) const RESULTS: [GameResult; 4] =
    [GameResult::White, GameResult::Draw, GameResult::Black, GameResult::Undecided];

#[cfg(feature = "parquet")]
impl Record {
    pub(super) const MAX_GAMES: u32 = MAX_GAMES;

    /// Creates a record for a visit by `games` games with the same result. `games` must be between
    /// 1 and [`Record::MAX_GAMES`].
    pub(super) fn of_games(visit: &Visit, result: GameResult, games: u32) -> Self {
        let once = Record::of(visit, &CountedGame::new(result, 0));
        Record { rest: once.rest - 1 + games, ..once }
    }

    /// Returns the bits of `rest` above the result, which together with the key identify a partial
    /// row.
    pub(super) fn group_key(&self) -> u32 {
        self.rest >> RESULT_SHIFT >> 2
    }

    pub(super) fn parts(&self) -> (Visit, GameResult, u32) {
        let side = if self.rest & BLACK_TO_MOVE != 0 { Color::Black } else { Color::White };
        let again = self.rest & AGAIN != 0;
        let visit = Visit { key: self.key, pawn_key: 0, side, mv: self.mv(), again };
        (visit, RESULTS[(self.kind() & 3) as usize], self.games())
    }
}

impl Record {
    #[inline]
    fn kind(&self) -> u32 {
        self.rest >> RESULT_SHIFT
    }

    #[inline]
    fn games(&self) -> u32 {
        self.rest & MAX_GAMES
    }

    #[inline]
    fn mv(&self) -> Option<Move> {
        Move::from_polyglot(((self.rest & !AGAIN) >> MOVE_SHIFT) as u16)
    }

    #[inline]
    fn counts(&self) -> Counts {
        Counts::of(RESULTS[(self.kind() & 3) as usize], self.games())
    }
}

impl PositionRecord for Record {
    const EMPTY: Record = Record { key: 0, rest: 0 };
    const JOINS: bool = true;
    const OF_GAME: OfGame = OfGame::Result;
    const BYTES: usize = RECORD_BYTES;
    type Bytes = [u8; RECORD_BYTES];

    #[inline]
    fn of(visit: &Visit, game: &CountedGame) -> Self {
        let word = visit.mv.map_or(0, Move::to_polyglot);
        let side = if visit.side == Color::Black { BLACK_TO_MOVE } else { 0 };
        let again = if visit.again { AGAIN } else { 0 };
        let rest = again | u32::from(word) << MOVE_SHIFT | side;
        Record { key: visit.key, rest: rest | (game.result as u32) << RESULT_SHIFT | 1 }
    }

    #[inline]
    fn key(&self) -> u64 {
        self.key
    }

    /// Comparing single integers avoids a branch.
    #[inline]
    fn rank(&self) -> u128 {
        u128::from(self.key) << 32 | u128::from(self.rest)
    }

    #[inline]
    fn slot(&self, bits: u32) -> usize {
        // Mix in the move and result. Otherwise all moves from a position would share one slot and
        // evict each other.
        let mixed = self.key ^ u64::from(self.kind()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - bits)) as usize
    }

    #[inline]
    fn join(&mut self, other: &Record) -> bool {
        let alike = self.key == other.key && self.kind() == other.kind();
        let fits = alike && self.games() + other.games() <= MAX_GAMES;
        if fits {
            self.rest += other.games();
        }
        fits
    }

    fn renumber(&mut self, _numbers: &[u32]) -> bool {
        true
    }

    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes.copy_from_slice(&self.rank().to_le_bytes()[..RECORD_BYTES]);
        bytes
    }

    fn read_all(bytes: &[u8], records: &mut Vec<Self>) {
        let read = |&[a, b, c, d, ref key @ ..]: &[u8; RECORD_BYTES]| Record {
            key: u64::from_le_bytes(*key),
            rest: u32::from_le_bytes([a, b, c, d]),
        };
        records.extend(bytes.as_chunks().0.iter().map(read));
    }
}

impl BookRecord for Record {
    fn encode(
        records: &[Self],
        sorted: &mut Vec<Self>,
        options: &BuildOptions,
        _games: u32,
    ) -> Block {
        let mut block = Block::default();
        group(records, sorted, |entry, side| {
            if options.prune(entry, side) {
                block.push(entry);
            }
        });
        block
    }
}

/// Target for the mean number of records per bucket. It is small enough for insertion sort.
const BUCKET_RECORDS: usize = 6;
/// The base-2 logarithm of the maximum number of buckets in a partition. With more buckets, their
/// write positions in memory would no longer all fit into the cache.
const MAX_BUCKET_BITS: u32 = 11;

/// Sorts the records of a partition into `sorted`. Records are first distributed to buckets by the
/// highest key bits below the partition bits, which are uniformly distributed. Each bucket is then
/// sorted separately. Source: P. McIlroy, K. Bostic and M. McIlroy, "Engineering Radix Sort"
/// (1993).
pub(super) fn sort<R: PositionRecord>(records: &[R], sorted: &mut Vec<R>) {
    let buckets = (records.len() / BUCKET_RECORDS).max(1);
    let bits = buckets.ilog2().min(MAX_BUCKET_BITS);
    let mut ends = vec![0; 1 << bits];
    records.iter().for_each(|record| ends[record.bucket(bits)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    sorted.clear();
    sorted.resize(records.len(), R::EMPTY);
    for record in records {
        let end = &mut ends[record.bucket(bits)];
        *end -= 1;
        sorted[*end] = *record;
    }
    // Each element of `ends` is now the start of its bucket, because it was decremented for every
    // record.
    let mut rest = &mut sorted[..];
    for start in ends.into_iter().rev() {
        let (before, bucket) = rest.split_at_mut(start);
        bucket.sort_unstable_by_key(R::rank);
        rest = before;
    }
}

/// Sorts the records of a partition into `sorted` and merges records that differ only in their game
/// counts.
pub(super) fn combine<R: PositionRecord>(records: &[R], sorted: &mut Vec<R>) {
    sort(records, sorted);
    if R::JOINS {
        sorted.dedup_by(|next, kept| kept.join(next));
    }
}

/// Sorts the records of a partition and builds an entry for each position. Calls `take` with each
/// entry and the side to move, in ascending key order. `sorted` is scratch space.
pub(super) fn group(
    records: &[Record],
    sorted: &mut Vec<Record>,
    mut take: impl FnMut(&mut BookEntry, Color),
) {
    sort(records, sorted);
    let mut entry = BookEntry::default();
    for same_position in sorted.chunk_by(|a, b| a.key == b.key) {
        entry.key = same_position[0].key;
        entry.reached = Counts::default();
        entry.moves.clear();
        for record in same_position {
            let counts = record.counts();
            if record.rest & AGAIN == 0 {
                entry.reached += counts;
            }
            if let Some(mv) = record.mv() {
                entry.add_move(mv, counts);
            }
        }
        // First and repeated visits to a position are sorted into two groups, each in move order. A
        // move can occur in both groups, so its counts must be added up.
        if same_position.last().is_some_and(|record| record.rest & AGAIN != 0) {
            entry.join_moves();
        }
        let black = same_position[0].rest & BLACK_TO_MOVE != 0;
        take(&mut entry, if black { Color::Black } else { Color::White });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(text: &str) -> Option<Move> {
        Some(text.parse().expect(text))
    }

    fn new(key: u64, side: Color, mv: Option<Move>, result: GameResult) -> Record {
        let visit = Visit { key, pawn_key: 0, side, mv, again: false };
        Record::of(&visit, &CountedGame::new(result, 0))
    }

    fn again(key: u64, side: Color, mv: Option<Move>, result: GameResult) -> Record {
        let visit = Visit { key, pawn_key: 0, side, mv, again: true };
        Record::of(&visit, &CountedGame::new(result, 0))
    }

    #[test]
    fn records_round_trip() {
        for record in [
            new(u64::MAX, Color::White, mv("a7a8q"), GameResult::Undecided),
            again(1, Color::White, mv("e2e4"), GameResult::White),
            new(0, Color::Black, None, GameResult::Black),
        ] {
            let mut read = Vec::new();
            Record::read_all(&record.to_bytes(), &mut read);
            assert_eq!(read, [record]);
        }
        assert_eq!(again(1, Color::White, mv("e2e4"), GameResult::Draw).mv(), mv("e2e4"));
    }

    #[test]
    fn counts_beyond_the_record_limit_are_split() {
        let once = new(9, Color::White, mv("e2e4"), GameResult::Draw);
        let records = vec![once; 20_000];
        let mut combined = Vec::new();
        combine(&records, &mut combined);
        assert_eq!(combined.len(), 3);
        group(&combined, &mut Vec::new(), |entry, _| {
            assert_eq!(entry.reached, Counts::new(0, 20_000, 0));
            assert_eq!(entry.moves.len(), 1);
        });
    }

    #[test]
    fn grouping_does_not_depend_on_order() {
        let records = [
            new(5, Color::Black, mv("e2e4"), GameResult::White),
            new(5, Color::Black, mv("d2d4"), GameResult::Draw),
            again(5, Color::Black, mv("d2d4"), GameResult::White),
            new(5, Color::Black, None, GameResult::Black),
            new(5, Color::Black, mv("e2e4"), GameResult::White),
            new(3, Color::White, mv("e2e4"), GameResult::Undecided),
        ];
        let mut combined = Vec::new();
        combine(&records, &mut combined);
        assert_eq!(combined.len(), 5);
        for records in [records.to_vec(), records.iter().rev().copied().collect(), combined] {
            let mut entries = Vec::new();
            let mut sides = Vec::new();
            group(&records, &mut Vec::new(), |entry, side| {
                entries.push(entry.clone());
                sides.push(side);
            });
            assert_eq!(sides, [Color::White, Color::Black]);
            assert_eq!(entries.iter().map(|entry| entry.key).collect::<Vec<_>>(), [3, 5]);
            assert_eq!(entries[1].reached, Counts::new(2, 1, 1));
            let d4 = (mv("d2d4").expect("a move"), Counts::new(1, 1, 0));
            let e4 = (mv("e2e4").expect("a move"), Counts::new(2, 0, 0));
            assert_eq!(entries[1].moves, [d4, e4]);
        }
    }
}
